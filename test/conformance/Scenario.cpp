//===- Scenario.cpp - A manager driven by a data file ---------------------===//

#include "Scenario.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

using namespace kv::conformance;

void kv::conformance::bad(const std::string &text) {
  throw std::runtime_error(text);
}

namespace {

/// "0-4,9" is 0 1 2 3 4 9; an array stands for itself.
std::vector<int32_t> readTokens(const json &value) {
  if (value.is_array())
    return value.get<std::vector<int32_t>>();
  std::vector<int32_t> tokens;
  std::istringstream text(value.get<std::string>());
  for (std::string part; std::getline(text, part, ',');) {
    size_t dash = part.find('-');
    int32_t first = std::stoi(part), last = first;
    if (dash != part.npos)
      last = std::stoi(part.substr(dash + 1));
    for (int32_t token = first; token <= last; ++token)
      tokens.push_back(token);
  }
  return tokens;
}

const char *const Refusals[] = {"none",  "wait",    "full",
                                "never", "invalid", "loading"};
std::optional<std::string> text(const json &fields, const char *name) {
  if (!fields.contains(name))
    return std::nullopt;
  return fields[name].get<std::string>();
}

constexpr int64_t Second = 1'000'000'000;

/// A field that nobody reads expects nothing: a misspelt one is an error.
/// `names` has a blank between two.
void allowOnly(const json &fields, std::string_view names) {
  std::string known = " " + std::string(names) + " ";
  for (const auto &[name, value] : fields.items())
    if (known.find(" " + name + " ") == known.npos)
      bad("unknown field \"" + name + "\"");
}

void checkStep(const json &step) {
  if (step.contains("repeat"))
    return allowOnly(step, "repeat steps");
  allowOnly(step,
            "above active adapter all_lengths all_max_lengths asynchronous "
            "asynchronous_loads at batch begin below blocks cache_empty "
            "cached cached_logprobs collections columns connector contains "
            "continuous count "
            "degree device_names devices dim disk_bytes do draft_tokens "
            "drafts dtype duration error error_in_python fits free free_of "
            "free_pct from hash heads held host_bytes host_committed_pct "
            "host_gb host_pages id images in_c_only last_blocks last_scales "
            "layers layout length lengths limit longest longest_sequence "
            "max_chunk_tokens max_lengths max_seq_len max_steps memory "
            "method metrics model n_devices names new_pages num_replicas "
            "offsets page page_layers pages payload payloads pages_per_replica "
            "pool_bytes "
            "prefix prefix_caching prefix_duration prefix_priority "
            "prefix_tokens priority processed ranks recommended refusal "
            "replica replica_is replicas replicate result reuses_prefix "
            "rounds rows salt scale_dtype scale_group seconds seed shards "
            "splits steps table to tokens total used used_pct v_dim vouched "
            "warning why window without_affinity would_cache would_take");
  for (const char *name :
       {"active", "contains", "held", "length", "pages", "processed",
        "recommended", "replica_is", "vouched", "why"})
    if (step.contains(name) && !step.contains("id") &&
        step.value("do", "") != "manager")
      bad(std::string("\"") + name + "\" needs an \"id\"");
  if (step.contains("splits") && step.value("do", "") != "splits")
    bad("\"splits\" is of the step of that name");
  if (step.contains("refusal") && step.value("do", "") != "alloc" &&
      step.value("do", "") != "serve")
    bad("\"refusal\" is of alloc and serve");
}

} // namespace

Scenario::Scenario(const json &file) : file(file) {}

Scenario::~Scenario() { forget(); }

void Scenario::forget() {
  requests.clear();
  pageOf.clear();
  nameOf.clear();
  CALL(kvManagerDestroy)(manager);
  manager = nullptr;
  if (!disk.empty())
    std::filesystem::remove_all(disk);
  disk.clear();
}

void Scenario::fail(const std::string &text) {
  found.push_back(where + ": " + text);
}

//===----------------------------------------------------------------------===//
// The manager
//===----------------------------------------------------------------------===//

void Scenario::create(const json &fields) {
  KvCacheSpec spec = readSpec(fields, {1, 1, 1});
  shards = number(fields, "shards", 1);
  if (fields.contains("host_pages")) { // keys and values of 4 bytes
    int64_t elements = 0;
    for (const KvCollectionSpec &one : collections)
      elements += 2 * one.layers * one.page;
    spec.hostSwapSpaceGB =
        std::ldexp(static_cast<double>(fields["host_pages"].get<int64_t>() *
                                       elements * 4 * shards),
                   -30);
  }
  KvManagerOptions options = {};
  options.diskBytes = number(fields, "disk_bytes");
  if (options.diskBytes) {
    std::string pattern =
        std::filesystem::temp_directory_path() / "kv-conformance-XXXXXX";
    if (!mkdtemp(pattern.data()))
      bad("no directory for a disk tier");
    disk = pattern;
    options.diskDirectory = disk.c_str();
  }
  options.asynchronousLoads =
      static_cast<int32_t>(number(fields, "asynchronous_loads"));
  std::vector<const char *> devices;
  std::vector<std::string> names;
  if (fields.contains("devices"))
    names = fields["devices"].get<std::vector<std::string>>();
  for (const std::string &name : names)
    devices.push_back(name.c_str());
  options.devices = devices.empty() ? nullptr : devices.data();
  options.numDevices = static_cast<int32_t>(devices.size());
  options.maxBatchSize = static_cast<int32_t>(number(fields, "batch", 8));
  options.maxSeqLen =
      number(fields, "max_seq_len", number(fields, "continuous") ? 0 : 1 << 10);
  options.numPages = number(fields, "pages");
  options.availableCacheMemory = number(fields, "memory");
  options.maxSteps = static_cast<int32_t>(number(fields, "max_steps"));
  options.maxChunkTokens = number(fields, "max_chunk_tokens");
  options.cachedLogprobs =
      static_cast<int32_t>(number(fields, "cached_logprobs"));
  options.enableRuntimeChecks = 1;
  options.asynchronous = static_cast<int32_t>(number(fields, "asynchronous"));
  options.withoutPrefixAffinity =
      static_cast<int32_t>(number(fields, "without_affinity"));
  std::string warning;
  options.warn = [](void *context, const char *sentence) {
    *static_cast<std::string *>(context) = sentence;
  };
  options.warnContext = &warning;
  int32_t status = CALL(kvManagerCreate)(&spec, &options, &manager);
  if (fields.contains("error"))
    equal("error", status == KV_STATUS_OK ? "none" : kvErrorMessage(),
          fields["error"]);
  else if (status != KV_STATUS_OK)
    bad(std::string("no manager: ") + kvErrorMessage());
  if (fields.contains("warning"))
    equal("warning", warning, fields["warning"]);
}

//===----------------------------------------------------------------------===//
// Steps of a file
//===----------------------------------------------------------------------===//

void Scenario::run() {
  if (file.contains("manager")) {
    json step = file["manager"];
    step["do"] = where = "manager";
    runStep(step);
  }
  int64_t at = 0;
  for (const json &step : file.at("steps")) {
    where = "step " + std::to_string(at++) + " " + step.dump();
    if (where.size() > 160)
      where = where.substr(0, 157) + "...";
    runStep(step);
  }
}

void Scenario::runStep(const json &step) {
  checkStep(step);
  if (step.contains("repeat")) {
    for (int64_t round = 0; round < step["repeat"].get<int64_t>(); ++round)
      for (const json &inner : step.at("steps"))
        runStep(inner);
    return;
  }
  if (step.value("do", "") == "manager") {
    forget();
    return create(step);
  }
  // A call that is refused has changed nothing that can be seen.
  auto figures = [&] {
    json seen = json::object();
    if (!manager)
      return seen;
    for (int32_t r = 0; r < CALL(kvManagerNumReplicas)(manager); ++r) {
      int64_t free = 0;
      CALL(kvManagerNumFreeBlocks)(manager, r, &free);
      seen["free"].push_back(free);
    }
    KvMetrics metrics = {};
    CALL(kvManagerGetMetrics)(manager, &metrics);
    seen["metrics"] = {metrics.inputTokens, metrics.cachedTokens,
                       metrics.evictedPages};
    for (const auto &[id, request] : requests)
      seen["processed"].push_back(
          CALL(kvRequestProcessed)(request.handle.get()));
    return seen;
  };
  json before = figures();
  int32_t status = KV_STATUS_OK;
  if (step.contains("do"))
    status = perform(step["do"].get<std::string>(), step);
  if (step.contains("error"))
    equal("error", status == KV_STATUS_OK ? "none" : kvErrorMessage(),
          step["error"]);
  if (step.contains("refusal"))
    equal("refusal", std::string(Refusals[allocation.refusal]),
          step["refusal"]);
  if (status != KV_STATUS_OK) {
    if (!step.contains("error") && !step.contains("refusal"))
      fail(std::string("error: ") + kvErrorMessage());
    // A reservation that waits for pages has begun.
    if (step.value("refusal", "") != "loading")
      equal("state after the error", figures(), before);
  }
  expect(step);
  if (manager && CALL(kvManagerCheck)(manager) != KV_STATUS_OK)
    fail(std::string("check: ") + kvErrorMessage());
}

int32_t Scenario::perform(const std::string &what, const json &step) {
  auto id = [&] { return step.at("id").get<uint64_t>(); };
  if (what == "claim")
    return CALL(kvManagerClaim)(
        manager, id(), static_cast<int32_t>(number(step, "replica", -1)));
  if (what == "alloc")
    return alloc(step);
  if (what == "compute")
    return compute(step);
  if (what == "inputs") {
    auto list = batch(step);
    return CALL(kvManagerRuntimeInputs)(
        manager, list.data(), list.size(),
        static_cast<int32_t>(number(step, "steps", 1)));
  }
  if (what == "increment") {
    auto offsets = step.at("offsets").get<std::vector<int32_t>>();
    return CALL(kvManagerIncrementCacheLengths)(
        manager, offsets.data(), static_cast<int64_t>(offsets.size()));
  }
  if (what == "symbolic")
    return symbolic(step);
  if (what == "blocks_for")
    return figure([&](int64_t *out) {
      return CALL(kvManagerBlocksFor)(manager, number(step, "tokens"), out);
    });
  if (what == "step") {
    auto list = batch(step);
    return CALL(kvManagerStep)(manager, list.data(), list.size());
  }
  if (what == "release")
    return CALL(kvManagerRelease)(manager, id());
  if (what == "req_blocks") {
    const int32_t *pages = nullptr;
    int64_t count = 0;
    return CALL(kvManagerGetReqBlocks)(manager, id(), &pages, &count);
  }
  if (what == "replica_of") {
    int32_t replica = 0;
    return CALL(kvManagerGetReplica)(manager, id(), &replica);
  }
  if (what == "serve")
    return serve(step);
  if (what == "fork")
    return fork(step);
  if (what == "truncate")
    return truncate(step);
  if (what == "time")
    return CALL(kvManagerSetTime)(manager, number(step, "seconds") * Second);
  if (what == "wait_for_loads")
    return figure<int32_t>([&](int32_t *came) {
      return CALL(kvManagerWaitForLoads)(manager, Second, came);
    });
  if (what == "synchronize")
    return CALL(kvManagerSynchronize)(manager);
  if (what == "reset_prefix_cache")
    return CALL(kvManagerResetPrefixCache)(manager);
  if (what == "drain")
    return drain();
  if (what == "damage")
    return damage();
  if (what == "reset_metrics")
    return CALL(kvManagerResetMetrics)(manager);
  if (what == "splits")
    return splits(step);
  if (what == "random_prompts")
    return randomPrompts(step);
  if (what.starts_with("size."))
    return formula(step);
  return performOnRequest(what, step);
}

int32_t Scenario::performOnRequest(const std::string &what, const json &step) {
  uint64_t id = step.at("id").get<uint64_t>();
  if (what == "request") {
    requests.erase(id);
    requests.emplace(id, make(id, readTokens(step.at("tokens")), step));
    return KV_STATUS_OK;
  }
  Request &own = requests.at(id);
  KvRequest *handle = own.handle.get();
  if (what == "probe")
    return CALL(kvManagerProbe)(
        manager, handle, static_cast<int32_t>(number(step, "steps", 1)), &plan);
  if (what == "prefetch")
    return figure([&](int64_t *out) {
      return CALL(kvManagerPrefetch)(manager, handle, out);
    });
  if (what == "advance")
    return CALL(kvRequestAdvance)(handle);
  if (what == "image")
    return image(handle, step);
  if (what == "append") {
    std::vector<int32_t> tokens = readTokens(step.at("tokens"));
    own.tokens.insert(own.tokens.end(), tokens.begin(), tokens.end());
    if (step.contains("drafts"))
      return CALL(kvRequestAppendDrafts)(handle, tokens.data(), tokens.size(),
                                         number(step, "drafts"));
    return CALL(kvRequestAppend)(handle, tokens.data(), tokens.size());
  }
  int64_t tokens = number(step, "tokens");
  if (what == "skip")
    return CALL(kvRequestSkip)(handle, tokens);
  if (what == "rewind")
    return CALL(kvRequestRewind)(handle, tokens);
  if (what == "limit")
    return CALL(kvRequestLimitActive)(handle, tokens);
  bad("unknown step \"" + what + "\"");
}

int32_t Scenario::splits(const json &step) {
  auto list = batch(step);
  std::vector<int64_t> splits(CALL(kvManagerNumReplicas)(manager) + 1);
  int32_t status = CALL(kvManagerGetDataParallelSplits)(
      manager, list.data(), list.size(), splits.data());
  if (status == KV_STATUS_OK && step.contains("splits"))
    equal("splits", splits, step["splits"]);
  return status;
}

/// Waits until nothing is read from a disk or written to it.
int32_t Scenario::drain() {
  for (int32_t came = 1; came;)
    if (int32_t status =
            CALL(kvManagerWaitForLoads)(manager, 20 * Second, &came))
      return status;
  return KV_STATUS_OK;
}

/// Changes a bit of everything that the disk holds.
int32_t Scenario::damage() {
  std::fstream file(disk + "/pages.bin",
                    std::ios::binary | std::ios::in | std::ios::out);
  auto bytes = static_cast<std::streamoff>(
      std::filesystem::file_size(disk + "/pages.bin"));
  for (std::streamoff at = 0; at < bytes; at += 4096) {
    file.seekg(at);
    int value = file.get();
    file.seekp(at);
    file.put(static_cast<char>(value ^ 1));
  }
  if (!file.flush())
    bad("the disk cannot be damaged");
  return KV_STATUS_OK;
}

Scenario::Request Scenario::make(uint64_t id, std::vector<int32_t> tokens,
                                 const json &fields) {
  KvRequest *handle = nullptr;
  if (CALL(kvRequestCreate)(id, tokens.data(), tokens.size(), &handle))
    bad(kvErrorMessage());
  requestFields(handle, fields);
  std::span<std::byte> payload;
  if (fields.contains("payload")) {
    auto bytes = CALL(kvManagerPayloadBytesPerToken)(manager) *
                 static_cast<int64_t>(tokens.size());
    void *memory = nullptr;
    if (CALL(kvRequestSetPayload)(handle, bytes, &memory))
      bad(kvErrorMessage());
    payload = {static_cast<std::byte *>(memory), static_cast<size_t>(bytes)};
    std::ranges::fill(payload, std::byte(number(fields, "payload")));
  }
  return {{handle, kvRequestDestroy}, std::move(tokens), payload};
}

int32_t Scenario::image(KvRequest *handle, const json &fields) {
  auto hash = fields.value("hash", "i");
  return CALL(kvRequestAddImage)(handle, number(fields, "begin"),
                                 number(fields, "length", 1), hash.data(),
                                 static_cast<int64_t>(hash.size()));
}

void Scenario::requestFields(KvRequest *handle, const json &fields) {
  auto pointer = [](const std::optional<std::string> &value) {
    return value ? value->c_str() : nullptr;
  };
  auto model = text(fields, "model"), adapter = text(fields, "adapter"),
       salt = text(fields, "salt");
  int32_t status = CALL(kvRequestSetScope)(handle, pointer(model),
                                           pointer(adapter), pointer(salt));
  if (fields.contains("images"))
    for (const json &one : fields["images"])
      status |= image(handle, one);
  KvRetention retention = {};
  retention.priority = static_cast<int32_t>(number(fields, "priority", 64));
  retention.prefixPriority =
      static_cast<int32_t>(number(fields, "prefix_priority", 64));
  retention.prefixTokens = number(fields, "prefix_tokens");
  retention.duration = number(fields, "duration") * Second;
  retention.prefixDuration = number(fields, "prefix_duration") * Second;
  status |= CALL(kvRequestSetRetention)(handle, &retention);
  if (fields.contains("reuses_prefix"))
    status |= CALL(kvRequestSetReusesPrefix)(
        handle, static_cast<int32_t>(number(fields, "reuses_prefix")));
  if (fields.contains("limit"))
    status |= CALL(kvRequestLimitActive)(handle, number(fields, "limit"));
  if (status)
    bad(kvErrorMessage());
}

std::vector<const KvRequest *> Scenario::batch(const json &step) {
  std::vector<const KvRequest *> list;
  if (step.contains("batch"))
    for (const json &id : step["batch"])
      list.push_back(request(id).handle.get());
  else
    list.push_back(request(step.at("id")).handle.get());
  return list;
}

int32_t Scenario::alloc(const json &step) {
  return CALL(kvManagerAlloc)(manager, request(step.at("id")).handle.get(),
                              static_cast<int32_t>(number(step, "steps", 1)),
                              &allocation);
}

/// request, claim, alloc, compute to the end of the prompt, release.
int32_t Scenario::serve(const json &step) {
  perform("request", step);
  uint64_t id = step.at("id").get<uint64_t>();
  KvRequest *handle = requests.at(id).handle.get();
  int32_t status = CALL(kvManagerClaim)(
      manager, id, static_cast<int32_t>(number(step, "replica", -1)));
  if (status)
    return status;
  int64_t cached = -1;
  do {
    if ((status = alloc(step)))
      break;
    if (cached < 0)
      cached = allocation.cachedTokens;
    if ((status = compute(step)))
      break;
  } while (CALL(kvRequestActive)(handle) > 0);
  allocation.cachedTokens = cached;
  int32_t released = CALL(kvManagerRelease)(manager, id);
  return status ? status : released;
}

int32_t Scenario::compute(const json &step) {
  std::vector<const KvRequest *> list = batch(step);
  int32_t status = CALL(kvManagerRuntimeInputs)(
      manager, list.data(), list.size(),
      static_cast<int32_t>(number(step, "steps", 1)));
  if (status)
    return status;
  touchCells(list);
  for (const KvRequest *one : list)
    CALL(kvRequestAdvance)(const_cast<KvRequest *>(one));
  return CALL(kvManagerStep)(manager, list.data(), list.size());
}

/// A request with the first `at` tokens of another and `tokens` behind them.
int32_t Scenario::fork(const json &step) {
  uint64_t id = step.at("id").get<uint64_t>();
  uint64_t from = step.at("from").get<uint64_t>();
  int64_t at = number(step, "at");
  int32_t status = CALL(kvManagerFork)(manager, from, id, at);
  if (status)
    return status;
  const std::vector<int32_t> &source = requests.at(from).tokens;
  std::vector<int32_t> tokens(source.begin(), source.begin() + at);
  std::vector<int32_t> more = readTokens(step.at("tokens"));
  tokens.insert(tokens.end(), more.begin(), more.end());
  requests.erase(id);
  requests.emplace(id, make(id, std::move(tokens), step));
  return CALL(kvRequestSkip)(requests.at(id).handle.get(), at);
}

/// Back to the first `to` tokens, and `tokens` behind them.
int32_t Scenario::truncate(const json &step) {
  uint64_t id = step.at("id").get<uint64_t>();
  int64_t to = number(step, "to");
  int32_t status = CALL(kvManagerTruncate)(manager, id, to);
  if (status)
    return status;
  std::vector<int32_t> tokens = request(step.at("id")).tokens;
  tokens.resize(to);
  std::vector<int32_t> more = readTokens(step.at("tokens"));
  tokens.insert(tokens.end(), more.begin(), more.end());
  requests.erase(id);
  requests.emplace(id, make(id, std::move(tokens), step));
  return CALL(kvRequestSkip)(requests.at(id).handle.get(), to);
}

/// The names of a graph's inputs, device by device.
json Scenario::namesOf(const KvSymbolicInputs *list) {
  json names = json::array();
  for (int32_t device = 0; device < CALL(kvSymbolicInputsNumDevices)(list);
       ++device) {
    int32_t count = 0;
    if (CALL(kvSymbolicInputsCount)(list, device, &count))
      bad(kvErrorMessage());
    json own = json::array();
    for (int32_t i = 0; i < count; ++i) {
      KvArgument input;
      if (CALL(kvSymbolicInputsGet)(list, device, i, &input))
        bad(kvErrorMessage());
      own.push_back(input.name);
    }
    names.push_back(own);
  }
  return names;
}

int32_t Scenario::symbolic(const json &step) {
  KvSymbolicInputs *list = nullptr;
  int32_t status = CALL(kvManagerSymbolicInputs)(
      manager, static_cast<int32_t>(number(step, "devices")),
      number(step, "layers"), &list);
  if (status)
    return status;
  if (step.contains("names"))
    equal("names", namesOf(list), step["names"]);
  if (step.contains("ranks")) {
    json ranks = json::array();
    while (ranks.size() < namesOf(list)[0].size()) {
      KvArgument input;
      if (CALL(kvSymbolicInputsGet)(list, 0, static_cast<int32_t>(ranks.size()),
                                    &input))
        bad(kvErrorMessage());
      ranks.push_back(input.rank);
    }
    equal("ranks", ranks, step["ranks"]);
  }
  KvArgument blocks;
  if (CALL(kvSymbolicInputsGet)(list, 0, 0, &blocks))
    bad(kvErrorMessage());
  if (step.contains("layers"))
    equal("layers", blocks.sizes[2], step["layers"]);
  CALL(kvSymbolicInputsDestroy)(list);
  return KV_STATUS_OK;
}

int32_t Scenario::randomPrompts(const json &step) {
  std::mt19937 random(static_cast<uint32_t>(number(step, "seed", 1)));
  for (int64_t round = 0; round < number(step, "rounds"); ++round) {
    json one = {{"do", "serve"}, {"id", 1000 + round}};
    std::vector<int32_t> tokens(1 + random() % number(step, "longest"));
    for (int32_t &token : tokens)
      token = static_cast<int32_t>(random() % 2);
    one["tokens"] = tokens;
    if (int32_t status = serve(one))
      return status;
    requests.erase(1000 + round);
  }
  return KV_STATUS_OK;
}
