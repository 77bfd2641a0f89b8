//===- PagedPromiseTest.cpp - Sizes are exact, and what they promise holds ===//
//
// 10^5 random geometries and options: what PagedSizes says against formulas
// that are written down here once more, by brute force where that is possible.
// Of some of them the manager is made, in no more memory than its sizes ask
// for, and as many requests as it was sized for run to their full length in a
// random order of chunks, steps and replicas. None may be refused, and each
// must find its own rows. KV_SIZE_CASES sets how many geometries.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "test/Environment.h"

#include "CountingDevice.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace kv;
using namespace kv::test;

namespace {

using Manager = PagedKVCacheManager;
using Words = std::array<uint32_t, 24>;

struct Case {
  MultiKVCacheParams params;
  int64_t batch = 1, maxSeqLen = 1;
  StepLimits limits;
  bool asynchronous = false;

  int64_t slots() const { return batch / params.dataParallelDegree(); }
};

Case makeCase(const Words &words) {
  size_t at = 0;
  auto below = [&](uint32_t count) {
    return static_cast<int64_t>(words[at++ % words.size()] % count);
  };
  auto one = [&](std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<uint32_t>(values.size()))];
  };
  Case made;
  KVCacheParams common;
  int64_t page = one({4, 1, 2, 3, 5, 8, 16});
  common.dataParallelDegree = one({1, 1, 2, 3});
  common.numDevices = common.dataParallelDegree * one({1, 1, 2});
  common.enablePrefixCaching = below(2);
  if (below(3) == 0) {
    common.numDraftTokens = 1 + below(5);
    common.speculativeMethod =
        below(2) ? SpeculativeMethod::Eagle : SpeculativeMethod::DFlash;
  }
  int64_t count = 1 + below(4), bands = 0;
  for (int64_t i = 0; i < count; ++i) {
    KVCacheParams added = common;
    added.name = std::string(1, static_cast<char>('a' + i));
    CacheGeometry &geometry = added.geometry;
    uint32_t shape = static_cast<uint32_t>(below(1u << 16));
    geometry = {.dtype = KV_DTYPE_F32,
                .layers = 1 + shape % 6,
                .heads = 1 + shape / 8 % 2,
                .dim = 4,
                .page = page,
                .layout = static_cast<CacheLayout>(shape / 16 % 3),
                .window = one({0, 0, 1, 3, 7, 17}) * one({1, page})};
    if (shape / 64 % 4 == 0) { // quantized
      geometry.dtype = KV_DTYPE_I8;
      geometry.scaleGroup = shape / 256 % 2 ? 4 : 2;
    } else if (shape / 64 % 4 == 1) {
      geometry.dtype = KV_DTYPE_BF16;
    }
    if (shape / 512 % 4 == 0) { // latent
      geometry.heads = 1;
      geometry.vDim = 3;
    }
    geometry.pageLayers = shape / 2048 % (geometry.layers + 1);
    // Of all collections no more bands than an engine has groups.
    if (bands + geometry.bands() + count - 1 - i > CacheGroups::Most)
      geometry.pageLayers = 0;
    bands += geometry.bands();
    made.params.params.push_back(added);
  }
  made.batch = common.dataParallelDegree * (1 + below(4)) +
               below(static_cast<uint32_t>(common.dataParallelDegree));
  made.maxSeqLen = 1 + below(70);
  made.limits = {.maxSteps = one({1, 1, 2, 4}),
                 .maxChunkTokens = one({0, 1, 2, 5, 16, 33})};
  made.asynchronous = below(2);
  return made;
}

std::string describe(const Case &of) {
  std::ostringstream text;
  const KVCacheParams &first = of.params.params[0];
  text << "batch " << of.batch << ", max_seq_len " << of.maxSeqLen
       << ", max_steps " << of.limits.maxSteps << ", max_chunk_tokens "
       << of.limits.maxChunkTokens << ", " << first.numDevices << " devices, "
       << first.dataParallelDegree << " replicas, "
       << speculativeMethodName(first.speculativeMethod) << " "
       << first.numDraftTokens << " drafts"
       << (first.enablePrefixCaching ? ", prefix caching" : "")
       << (of.asynchronous ? ", asynchronous" : "") << '\n';
  for (const KVCacheParams &one : of.params.params) {
    const CacheGeometry &g = one.geometry;
    text << "  " << one.name << ": " << dtypeName(one.dtype()) << ", layers "
         << g.layers << ", heads " << g.heads << ", dim " << g.dim << ", page "
         << g.page << ", v_dim " << g.vDim << ", layout "
         << kCacheLayoutNames[static_cast<size_t>(g.layout)] << ", group "
         << g.scaleGroup << ", window " << g.window << ", page_layers "
         << g.pageLayers << '\n';
  }
  return text.str();
}

//===----------------------------------------------------------------------===//
// The formulas once more
//===----------------------------------------------------------------------===//

int64_t ceilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Formulas {
  const Case &of;
  int64_t page, drafts;
  std::map<int64_t, int64_t> bands;             // by window: the most
  std::set<std::pair<int64_t, int64_t>> tables; // window, bands
  int64_t bytesPerPage = 0;

  explicit Formulas(const Case &of) : of(of), page(of.params.pageSize()) {
    const KVCacheParams &first = of.params.params[0];
    int64_t given = first.numDraftTokens;
    bool isBlock = first.speculativeMethod == SpeculativeMethod::DFlash;
    drafts = given == 0 ? 0 : 2 * given + (isBlock || given == 1);
    // Rows of each length that collections of one window need at once.
    std::map<int64_t, std::map<int64_t, int64_t>> needed; // by window
    std::map<int64_t, int64_t> most;                      // by length
    auto need = [&](int64_t window, int64_t bytes) {
      int64_t &count = most[bytes];
      count = std::max(count, ++needed[window][bytes]);
    };
    for (const KVCacheParams &one : of.params.params) {
      const CacheGeometry &g = one.geometry;
      int64_t layers = g.pageLayers ? g.pageLayers : g.layers;
      int64_t rows = (g.vDim ? 1 : 2) * layers * page * g.heads;
      int64_t element = g.dtype == KV_DTYPE_F32    ? 4
                        : g.dtype == KV_DTYPE_BF16 ? 2
                                                   : 1;
      need(g.window, rows * g.dim * element);
      if (g.scaleGroup)
        need(g.window, rows * (g.dim / g.scaleGroup) * 4);
      int64_t count = ceilOf(g.layers, layers);
      bands[g.window] = std::max(bands[g.window], count);
      tables.insert({g.window, count});
    }
    for (auto [bytes, count] : most)
      bytesPerPage += bytes * count;
  }

  /// At every moment of the way, for every place that chunks can lead to.
  int64_t blocksFor(int64_t length) const {
    int64_t chunk = of.limits.maxChunkTokens
                        ? of.limits.maxChunkTokens + of.limits.maxSteps - 1
                        : length;
    int64_t most = 0;
    for (int64_t at = 0; at < length; ++at) {
      int64_t end = ceilOf(std::min(at + chunk, length) + drafts, page);
      int64_t pages = 0;
      for (auto [window, count] : bands) {
        int64_t passed = window ? std::max<int64_t>(at - window + 1, 0) : 0;
        pages += count * (end - passed / page);
      }
      most = std::max(most, pages);
    }
    return most;
  }
  /// On all devices of a replica.
  int64_t bytesFor(int64_t pages, int64_t slots, int64_t maxSeqLen) const {
    int64_t row = ceilOf(maxSeqLen + drafts, page);
    if (bands.contains(0))
      row = std::min(row, pages);
    int64_t segment = ceilOf(row, 8) * 8 + 16, entries = of.limits.maxSteps;
    for (auto [window, count] : tables)
      entries += count * segment;
    return of.params.tensorParallelDegree() *
           ((pages + 1) * bytesPerPage + 2 * slots * entries * 4);
  }
  bool accepts(int64_t tokens, int64_t memory) const {
    return bytesFor(blocksFor(tokens), 1, tokens) <=
           memory / of.params.dataParallelDegree();
  }
};

std::string checkSizes(const Case &of, uint32_t word) {
  Formulas expected(of);
  int64_t replicas = of.params.dataParallelDegree();
  int64_t wanted = of.slots() * expected.blocksFor(of.maxSeqLen);
  int64_t enough =
      replicas * expected.bytesFor(wanted, of.slots(), of.maxSeqLen);
  // Mostly less than enough.
  int64_t memory = static_cast<int64_t>(word % (enough + enough / 4 + 1));
  PagedSizes sizes(of.params, of.slots(), of.maxSeqLen, of.limits);
  auto differ = [&](const char *what, auto is, auto should) {
    return concat(what, " is ", is, ", expected ", should, ", of ", memory,
                  " bytes");
  };
  if (of.params.bytesPerPage() != expected.bytesPerPage)
    return differ("bytes of a page", of.params.bytesPerPage(),
                  expected.bytesPerPage);
  int64_t blocks = expected.blocksFor(of.maxSeqLen);
  if (sizes.blocksFor(of.maxSeqLen) != blocks)
    return differ("blocksFor", sizes.blocksFor(of.maxSeqLen), blocks);

  Expected<int64_t> pages =
      Manager::numBlocks(of.params, of.batch, of.maxSeqLen, memory, of.limits);
  Expected<int64_t> bytes = Manager::estimatedMemorySize(
      of.params, of.batch, of.maxSeqLen, memory, of.limits);
  int64_t share = memory / replicas;
  auto fits = [&](int64_t count) {
    return expected.bytesFor(count, of.slots(), of.maxSeqLen) <= share;
  };
  if (!pages || !bytes)
    return !pages && !bytes && !fits(1) ? "" : "an error where a page fits";
  if (!fits(*pages) || *pages > wanted || (*pages < wanted && fits(*pages + 1)))
    return differ("numBlocks", *pages, wanted);
  int64_t held = replicas * expected.bytesFor(*pages, of.slots(), of.maxSeqLen);
  if (*bytes != held || *bytes > memory)
    return differ("estimatedMemorySize", *bytes, held);
  int64_t longest =
      Manager::maxSupportedSequenceLength(of.params, memory, of.limits);
  if ((longest > 0 && !expected.accepts(longest, memory)) ||
      longest % of.params.pageSize() != 0 ||
      expected.accepts(longest + of.params.pageSize(), memory))
    return differ("maxSupportedSequenceLength", longest, "another");
  return {};
}

//===----------------------------------------------------------------------===//
// The promise
//===----------------------------------------------------------------------===//

/// Requests of a manager that is exactly as large as its sizes say, on devices
/// that count.
class Promise {
public:
  Promise(const Case &of, uint32_t seed) : of(of), random(seed) {}

  std::string run() {
    CountedBytes before = countedBytes();
    int64_t replicas = of.params.dataParallelDegree();
    Formulas expected(of);
    int64_t wanted = of.slots() * expected.blocksFor(of.maxSeqLen);
    int64_t memory =
        replicas * expected.bytesFor(wanted, of.slots(), of.maxSeqLen);
    Manager::Options options;
    for (int64_t i = 0; i < of.params.numDevices(); ++i)
      options.devices.push_back(
          {Device::Kind::CUDA, static_cast<int>(i), /*target=*/{}});
    options.maxBatchSize = static_cast<int32_t>(of.batch);
    options.maxSeqLen = of.maxSeqLen;
    options.availableCacheMemory = memory;
    options.maxSteps = static_cast<int32_t>(of.limits.maxSteps);
    options.maxChunkTokens = of.limits.maxChunkTokens;
    options.enableRuntimeChecks = random() % 8 == 0;
    options.asynchronous = of.asynchronous;
    auto made = Manager::create(of.params, options);
    if (!made)
      return made.error().message;
    manager = std::move(*made);
    if (manager->numPagesPerReplica() != wanted)
      return concat("there are ", manager->numPagesPerReplica(),
                    " pages, expected ", wanted);
    CountedBytes now = countedBytes();
    int64_t maxima = replicas * 2 * of.limits.maxSteps * 2 * 4; // on the host
    if (manager->poolBytes() != memory ||
        now.device - before.device != memory ||
        manager->hostBytes() != now.pinned - before.pinned + maxima)
      return concat("it holds ", now.device - before.device, " bytes, and ",
                    now.pinned - before.pinned, " of the host; it says ",
                    manager->poolBytes(), " and ", manager->hostBytes(), " of ",
                    memory);
    // Again with prefixes that are cached.
    for (int round = 0; round < 2; ++round)
      if (std::string fault = serve(); !fault.empty())
        return fault;
    return {};
  }

private:
  struct Request {
    RequestId id;
    int32_t replica;
    Tokens tokens; // all that it will ever have
    int64_t known; // of those
    TextGenerationContext context;
  };

  std::string serve() {
    std::vector<Request> requests;
    int64_t replicas = of.params.dataParallelDegree(), total = of.slots();
    requests.reserve(static_cast<size_t>(total * replicas));
    for (int64_t i = 0; i < total * replicas; ++i) {
      Tokens tokens(of.maxSeqLen);
      // Few different ones, that begin alike.
      for (size_t at = 0; at < tokens.size(); ++at)
        tokens[at] = random() % 24 == 0;
      int64_t known = 1 + static_cast<int64_t>(random() % of.maxSeqLen);
      requests.push_back({nextId++,
                          static_cast<int32_t>(i / total),
                          std::move(tokens),
                          known,
                          {0, {}}});
      Request &added = requests.back();
      added.context = {added.id, std::span(added.tokens).first(known)};
      if (auto claimed = manager->claim(added.id, added.replica); !claimed)
        return claimed.error().message;
    }
    for (;;) {
      std::vector<Request *> batch;
      bool left = false;
      for (Request &one : requests)
        if (one.context.processed() < of.maxSeqLen) {
          left = true;
          if (random() % 3)
            batch.push_back(&one);
        }
      if (!left)
        break;
      if (std::string fault = step(batch); !fault.empty())
        return fault;
    }
    for (Request &one : requests)
      if (auto done = manager->release(one.id); !done)
        return done.error().message;
    return {};
  }

  std::string step(const std::vector<Request *> &batch) {
    if (batch.empty())
      return {};
    int64_t most = of.limits.maxSteps;
    for (Request *one : batch)
      most = std::min(most, of.maxSeqLen - one->context.length() + 1);
    auto steps = static_cast<int32_t>(1 + random() % most);
    std::vector<const TextGenerationContext *> contexts;
    for (Request *one : batch) {
      int64_t chunk = of.limits.maxChunkTokens;
      one->context.limitActive(1 + random() % (chunk ? chunk : of.maxSeqLen));
      if (chunk == 0 && random() % 2)
        one->context.limitActive(TextGenerationContext::NoLimit);
      auto taken = manager->alloc(one->context, steps);
      if (!taken)
        return concat("refused: ", taken.error().error.message);
      contexts.push_back(&one->context);
    }
    auto inputs = manager->runtimeInputs(contexts, steps);
    if (!inputs)
      return inputs.error().message;
    std::map<int32_t, int64_t> rows;
    for (Request *one : batch) {
      TextGenerationContext &context = one->context;
      int64_t computed = context.processed() + context.active();
      bool decodes = computed == context.length();
      // All steps' tokens, and some drafts, turn out to be right.
      int64_t end = computed;
      if (decodes) {
        end += steps - 1;
        if (steps == 1)
          end += random() % (of.params.numDraftTokens() + 1);
        end = std::min(end, of.maxSeqLen);
      }
      if (std::string fault =
              touch(*inputs, *one, rows[one->replica]++, end, decodes);
          !fault.empty())
        return fault;
      one->known = std::max(one->known, end);
      context.limitActive(end - context.processed());
      context.extend(std::span(one->tokens).first(one->known));
      context.advance();
      one->known = std::max(one->known, std::min(end + 1, of.maxSeqLen));
      context.extend(std::span(one->tokens).first(one->known));
      if (context.processed() < of.maxSeqLen &&
          context.processed() == context.length())
        return "nothing is left to compute";
    }
    if (auto done = manager->step(contexts); !done)
      return done.error().message;
    return {};
  }

  /// Stores the rows up to `end`, and drafts behind them, in every collection
  /// on every shard; then all that later queries may see must be the request's.
  std::string touch(std::span<RaggedKVCacheInputs> inputs, const Request &of,
                    int64_t row, int64_t end, bool drafts) {
    int64_t shards = this->of.params.tensorParallelDegree();
    size_t count = this->of.params.params.size();
    for (int64_t shard = 0; shard < shards; ++shard)
      for (size_t i = 0; i < count; ++i) {
        size_t device = static_cast<size_t>(of.replica * shards + shard);
        std::string fault = touchOne(inputs[device * count + i], i, shard, of,
                                     row, end, drafts);
        if (!fault.empty())
          return fault;
      }
    return {};
  }
  std::string touchOne(const RaggedKVCacheInputs &input, size_t collection,
                       int64_t shard, const Request &of, int64_t row,
                       int64_t end, bool drafts) {
    const CacheGeometry &g = this->of.params.params[collection].geometry;
    const KvTensorView &table = input.lookupTable;
    int64_t perPage = g.pageLayers ? g.pageLayers : g.layers;
    int64_t segment = table.sizes[1] / ceilOf(g.layers, perPage);
    const int32_t *ids =
        static_cast<const int32_t *>(table.data) + row * table.strides[0];
    std::array<int64_t, 6> strides; // of the logical dimensions
    for (int at = 0; at < 6; ++at)
      strides[blockOrder(g.layout)[at]] = input.blocks.strides[at];
    size_t bytes = elementBytes(g.dtype);
    auto cell = [&](int64_t layer, int64_t position) {
      int32_t id = ids[layer / perPage * segment + position / g.page];
      int64_t element = id * strides[0] + layer % perPage * strides[2] +
                        position % g.page * strides[3];
      return std::pair(id, static_cast<uint8_t *>(input.blocks.data) +
                               element * static_cast<int64_t>(bytes));
    };
    auto content = [&](int64_t layer, int64_t position) {
      uint64_t mixed = of.tokens[position] + 2 * (position + 1) +
                       256 * (layer + 8 * (collection + 8 * (shard + 1)));
      return static_cast<uint8_t>((mixed * 0x9E3779B97F4A7C15ull) >> 56);
    };
    int64_t done = of.context.processed();
    int64_t last = end + (drafts ? this->of.params.numDraftTokens() : 0);
    for (int64_t layer = 0; layer < g.layers; ++layer)
      for (int64_t position = done; position < last; ++position) {
        auto [id, at] = cell(layer, position);
        if (id <= 0 || id > manager->numPagesPerReplica())
          return concat("position ", position, " of layer ", layer, " of ",
                        this->of.params.params[collection].name, " is on page ",
                        id);
        *at = position < end ? content(layer, position) : 0xFF;
      }
    int64_t seen = g.window ? std::max<int64_t>(done - g.window + 1, 0) : 0;
    for (int64_t layer = 0; layer < g.layers; ++layer)
      for (int64_t position = seen; position < end; ++position)
        if (*cell(layer, position).second != content(layer, position))
          return concat("position ", position, " of layer ", layer, " of ",
                        this->of.params.params[collection].name,
                        " is somebody else's");
    return {};
  }

  const Case &of;
  std::mt19937 random;
  std::unique_ptr<Manager> manager;
  RequestId nextId = 1;
};

} // namespace

TEST(PagedPromise, SizesAreExactAndHold) {
  setenv("KV_CUDA_LIBRARY", KV_COUNTING_DEVICE, /*overwrite=*/1);
  int64_t wanted = environment("KV_SIZE_CASES", 100'000), cases = 0, run = 0;
  auto property = [&] {
    Words words = *rc::gen::container<Words>(
        rc::gen::resize(100, rc::gen::arbitrary<uint32_t>()));
    Case made = makeCase(words);
    RC_LOG() << describe(made);
    if (auto valid = made.params.validate(); !valid)
      RC_FAIL(valid.error().message);
    if (std::string fault = checkSizes(made, words[23]); !fault.empty())
      RC_FAIL(fault);
    ++cases;
    if (words[21] % 50 != 0)
      return;
    ++run;
    if (std::string fault = Promise(made, words[22]).run(); !fault.empty())
      RC_FAIL(fault);
  };
  rc::detail::TestParams params;
  params.seed = 1;
  params.maxSuccess = static_cast<int>(wanted);
  rc::detail::TestResult result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata(), params);
  if (!result.is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str();
  }
  EXPECT_EQ(cases, wanted);
  EXPECT_GT(run, wanted / 100);
}
