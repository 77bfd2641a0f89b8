//===- Expectations.cpp - What is there after a step ----------------------===//

#include "Scenario.h"

#include <algorithm>

using namespace kv::conformance;

static const char *const Reasons[] = {
    "hit",         "never_seen",      "evicted",    "other_scope",
    "group_lacks", "always_computed", "other_tier", "without_logprobs"};

void Scenario::expect(const json &step) {
  auto check = [&](const char *name, auto &&actual) {
    if (step.contains(name))
      equal(name, actual(), step[name]);
  };
  check("cached", [&] { return allocation.cachedTokens; });
  check("new_pages", [&] { return allocation.newPages; });
  check("would_cache", [&] { return plan.cachedTokens; });
  check("would_take", [&] { return plan.pages; });
  check("fits", [&] { return plan.fits != 0; });
  check("result", [&] { return result; });
  expectInputs(step);
  if (step.contains("above"))
    equal("above", result.get<int64_t>() > step["above"].get<int64_t>(), true);
  if (step.contains("below"))
    equal("below", result.get<int64_t>() < step["below"].get<int64_t>(), true);
  auto free = [&](int32_t replica) {
    int64_t pages = 0;
    CALL(kvManagerNumFreeBlocks)(manager, replica, &pages);
    return pages;
  };
  check("free", [&] { return free(-1); });
  check("free_of", [&] {
    json pages = json::array();
    for (int32_t r = 0; r < CALL(kvManagerNumReplicas)(manager); ++r)
      pages.push_back(free(r));
    return pages;
  });
  check("used",
        [&] { return CALL(kvManagerTotalNumPages)(manager) - free(-1); });
  check("total", [&] { return CALL(kvManagerTotalNumPages)(manager); });
  check("pages_per_replica",
        [&] { return CALL(kvManagerNumPagesPerReplica)(manager); });
  check("free_pct", [&] { return CALL(kvManagerFreeBlocksPct)(manager); });
  check("used_pct", [&] { return CALL(kvManagerUsedBlocksPct)(manager); });
  check("host_pages",
        [&] { return CALL(kvManagerTotalNumHostPages)(manager); });
  check("host_committed_pct",
        [&] { return CALL(kvManagerHostCommittedBlockPct)(manager); });
  check("num_replicas", [&] { return CALL(kvManagerNumReplicas)(manager); });
  check("longest_sequence", [&] { return CALL(kvManagerMaxSeqLen)(manager); });
  check("device_names", [&] {
    json names = json::array();
    for (int32_t i = 0; i < CALL(kvManagerNumDevices)(manager); ++i) {
      const char *name = nullptr;
      if (CALL(kvManagerGetDevice)(manager, i, &name))
        bad(kvErrorMessage());
      names.push_back(name);
    }
    return names;
  });
  check("pool_bytes", [&] { return CALL(kvManagerPoolBytes)(manager); });
  check("host_bytes", [&] { return CALL(kvManagerHostBytes)(manager); });
  if (step.contains("metrics"))
    expectMetrics(step["metrics"]);
  if (step.contains("id"))
    expectRequest(step, step["id"].get<uint64_t>());
}

void Scenario::expectMetrics(const json &wanted) {
  KvMetrics metrics = {};
  CALL(kvManagerGetMetrics)(manager, &metrics);
  json actual = {{"input_tokens", metrics.inputTokens},
                 {"cached_tokens", metrics.cachedTokens},
                 {"prompt_tokens", metrics.promptTokens},
                 {"evicted_pages", metrics.evictedPages},
                 {"refusals", metrics.refusals},
                 {"peak_used_pages", metrics.peakUsedPages},
                 {"loaded_pages", metrics.loadedPages},
                 {"stored_pages", metrics.storedPages},
                 {"disk_pages_read", metrics.diskPagesRead},
                 {"disk_pages_written", metrics.diskPagesWritten}};
  for (const auto &[name, value] : wanted.items())
    if (name == "hit_rate_above")
      equal(name, metrics.cacheHitRate > value.get<double>(), true);
    else
      equal(name, actual.at(name), value);
}

void Scenario::expectRequest(const json &step, uint64_t id) {
  auto check = [&](const char *name, auto &&actual) {
    if (step.contains(name))
      equal(name, actual(), step[name]);
  };
  check("contains", [&] {
    int32_t contains = 0;
    CALL(kvManagerContains)(manager, id, &contains);
    return contains != 0;
  });
  check("processed",
        [&] { return CALL(kvRequestProcessed)(requests.at(id).handle.get()); });
  check("active",
        [&] { return CALL(kvRequestActive)(requests.at(id).handle.get()); });
  check("vouched",
        [&] { return CALL(kvRequestVouched)(requests.at(id).handle.get()); });
  check("length",
        [&] { return CALL(kvRequestLength)(requests.at(id).handle.get()); });
  check("replica_is", [&] {
    int32_t replica = -1;
    CALL(kvManagerGetReplica)(manager, id, &replica);
    return replica;
  });
  check("recommended", [&] {
    int32_t replica = -1;
    CALL(kvManagerGetOrRecommendReplica)(manager, requests.at(id).handle.get(),
                                         &replica);
    return replica;
  });
  check("why", [&] {
    std::vector<int32_t> reasons(64);
    int64_t count = 0;
    if (CALL(kvManagerExplain)(manager, requests.at(id).handle.get(),
                               reasons.data(), 64, &count))
      bad(kvErrorMessage());
    json names = json::array();
    for (int64_t i = 0; i < count; ++i)
      names.push_back(Reasons[reasons[i]]);
    return names;
  });
  check("payloads", [&] { // of each token, whose bytes are equal
    Request &own = requests.at(id);
    size_t bytes = own.payload.size() / own.tokens.size();
    json values = json::array();
    for (size_t at = 0; at < own.payload.size(); at += bytes) {
      std::span<std::byte> token = own.payload.subspan(at, bytes);
      bool areEqual = std::ranges::count(token, token[0]) == std::ssize(token);
      values.push_back(areEqual ? std::to_integer<int>(token[0]) : -1);
    }
    return values;
  });
  if (step.contains("held")) {
    const int32_t *pages = nullptr;
    int64_t count = -1;
    CALL(kvManagerGetReqBlocks)(manager, id, &pages, &count);
    equal("held", count, step["held"]);
  }
  if (step.contains("pages"))
    expectPages(step["pages"], id);
}

/// Of the first device and collection.
void Scenario::expectInputs(const json &step) {
  auto view = [&](int32_t component, int32_t device = 0) {
    KvTensorView found;
    if (CALL(kvManagerGetInput)(manager, device, 0, component, &found))
      bad(kvErrorMessage());
    return found;
  };
  auto sizes = [&](int32_t component, int32_t collection) {
    KvTensorView own;
    if (CALL(kvManagerGetInput)(manager, 0, collection, component, &own))
      bad(kvErrorMessage());
    return std::vector(own.sizes, own.sizes + own.rank);
  };
  if (step.contains("blocks"))
    equal("blocks", sizes(KV_COMPONENT_BLOCKS, 0), step["blocks"]);
  if (step.contains("last_blocks"))
    equal("last_blocks",
          sizes(KV_COMPONENT_BLOCKS, int32_t(collections.size()) - 1),
          step["last_blocks"]);
  if (step.contains("last_scales"))
    equal("last_scales",
          sizes(KV_COMPONENT_SCALES, int32_t(collections.size()) - 1),
          step["last_scales"]);
  if (step.contains("columns"))
    equal("columns", sizes(KV_COMPONENT_LOOKUP_TABLE, 0)[1], step["columns"]);
  for (auto [name, component] :
       {std::pair("lengths", KV_COMPONENT_CACHE_LENGTHS),
        {"table", KV_COMPONENT_LOOKUP_TABLE},
        {"max_lengths", KV_COMPONENT_MAX_LENGTHS}}) {
    auto values = [&](int32_t device) {
      KvTensorView own = view(component, device);
      int64_t count = own.sizes[0] * (own.rank > 1 ? own.sizes[1] : 1);
      auto *data = static_cast<const int32_t *>(own.data);
      return std::vector(data, data + count);
    };
    if (step.contains(name))
      equal(name, values(0), step[name]);
    std::string all = std::string("all_") + name;
    if (!step.contains(all))
      continue;
    json found = json::array();
    for (int32_t i = 0; i < CALL(kvManagerNumDevices)(manager); ++i)
      found.push_back(values(i));
    equal(all, found, step[all]);
  }
  if (step.contains("rows")) {
    json rows = json::array();
    for (int32_t i = 0; i < CALL(kvManagerNumDevices)(manager); ++i)
      rows.push_back(view(KV_COMPONENT_LOOKUP_TABLE, i).sizes[0]);
    equal("rows", rows, step["rows"]);
  }
  if (step.contains("cache_empty")) {
    int32_t isEmpty = -1;
    if (CALL(kvManagerIsCacheEmpty)(manager, 0, &isEmpty))
      bad(kvErrorMessage());
    equal("cache_empty", isEmpty == 1, step["cache_empty"]);
  }
}

void Scenario::expectPages(const json &wanted, uint64_t id) {
  const int32_t *pages = nullptr;
  int64_t count = 0;
  int32_t replica = 0;
  if (CALL(kvManagerGetReqBlocks)(manager, id, &pages, &count) ||
      CALL(kvManagerGetReplica)(manager, id, &replica))
    return fail(kvErrorMessage());
  // "?" is any page that has no name yet, or any at all.
  auto name = [&](int64_t at) {
    auto known = nameOf.find({replica, pages[at]});
    return known == nameOf.end() ? std::string("unnamed") : known->second;
  };
  json actual = json::array();
  for (int64_t i = 0; i < count; ++i) {
    std::string expected = i < static_cast<int64_t>(wanted.size())
                               ? wanted[i].get<std::string>()
                               : "";
    if (!expected.empty() && expected != "?" &&
        !pageOf.contains({replica, expected}) && name(i) == "unnamed") {
      pageOf[{replica, expected}] = pages[i];
      nameOf[{replica, pages[i]}] = expected;
    }
    actual.push_back(expected == "?" ? "?" : name(i));
  }
  equal("pages", actual, wanted);
}

/// A row of the table has nothing behind the request's pages.
void Scenario::expectRow(uint64_t id, const KvTensorView &table, int64_t row,
                         int64_t bands) {
  auto *ids = static_cast<const int32_t *>(table.data) + row * table.strides[0];
  const int32_t *pages = nullptr;
  int64_t held = 0, segment = table.sizes[1] / bands;
  CALL(kvManagerGetReqBlocks)(manager, id, &pages, &held);
  for (int64_t at = 0; at < table.sizes[1]; ++at)
    if (at % segment >= held && ids[at] != 0)
      fail("a row of the table has a page at " + std::to_string(at));
}

void Scenario::touchCells(const std::vector<const KvRequest *> &list) {
  std::map<int32_t, int64_t> rows; // used so far, by replica
  for (const KvRequest *one : list) {
    int32_t replica = 0;
    CALL(kvManagerGetReplica)(manager, CALL(kvRequestId)(one), &replica);
    int64_t row = rows[replica]++;
    const std::vector<int32_t> &tokens =
        requests.at(CALL(kvRequestId)(one)).tokens;
    int64_t done = CALL(kvRequestProcessed)(one),
            end = done + CALL(kvRequestActive)(one);
    for (int64_t device = replica * shards; device < (replica + 1) * shards;
         ++device)
      for (int32_t c = 0; c < static_cast<int32_t>(collections.size()); ++c) {
        KvTensorView blocks, table, lengths;
        auto get = [&](int32_t component, KvTensorView &view) {
          if (CALL(kvManagerGetInput)(manager, static_cast<int32_t>(device), c,
                                      component, &view))
            bad(kvErrorMessage());
        };
        get(KV_COMPONENT_BLOCKS, blocks);
        get(KV_COMPONENT_LOOKUP_TABLE, table);
        get(KV_COMPONENT_CACHE_LENGTHS, lengths);
        equal("cache length", static_cast<int32_t *>(lengths.data)[row], done);
        if (collections[c].dtype != KV_DTYPE_F32)
          continue; // has no room for a token
        // Layer l is layer l % layersPerPage of the pages of its band, whose
        // ids are a segment of the row.
        int64_t layersPerPage = blocks.sizes[2], layers = collections[c].layers;
        int64_t bands = (layers + layersPerPage - 1) / layersPerPage;
        if (table.rank == 2)
          expectRow(CALL(kvRequestId)(one), table, row, bands);
        if (table.rank == 2 && *static_cast<float *>(blocks.data) != 0)
          fail("the null page is not zero");
        auto cell = [&](int64_t layer, int64_t position) {
          auto *ids = static_cast<const int32_t *>(table.data);
          int64_t page = blocks.sizes[3], band = layer / layersPerPage;
          int64_t at =
              table.rank == 2
                  ? ids[row * table.strides[0] + table.sizes[1] / bands * band +
                        position / page]
                  : ids[row];
          if (at <= (table.rank == 2 ? 0 : -1) || at >= blocks.sizes[0])
            bad("position " + std::to_string(position) + " of request " +
                std::to_string(CALL(kvRequestId)(one)) + " is on page " +
                std::to_string(at));
          return static_cast<float *>(blocks.data) + at * blocks.strides[0] +
                 layer % layersPerPage * blocks.strides[2] +
                 position % page * blocks.strides[3];
        };
        // Differs by device, collection and layer: they may share memory.
        auto content = [&](int64_t layer, int64_t position) {
          return static_cast<float>(tokens[position] + 16384 * device) +
                 static_cast<float>(layer + 64 * c) / 256;
        };
        for (int64_t layer = 0; layer < layers; ++layer)
          for (int64_t position = done; position < end; ++position)
            *cell(layer, position) = content(layer, position);
        // The first new token sees least far back.
        int64_t window = collections[c].window;
        int64_t seen = window ? std::max<int64_t>(done - window + 1, 0) : 0;
        for (int64_t layer = 0; layer < layers; ++layer)
          for (int64_t position = seen; position < end; ++position) {
            ++numChecks;
            if (*cell(layer, position) != content(layer, position)) {
              fail("the cache of request " +
                   std::to_string(CALL(kvRequestId)(one)) + " holds " +
                   std::to_string(*cell(layer, position)) + " at position " +
                   std::to_string(position) + " of layer " +
                   std::to_string(layer) + ", expected " +
                   std::to_string(content(layer, position)));
              break;
            }
          }
      }
  }
}
