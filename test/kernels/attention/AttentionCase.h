//===- AttentionCase.h - A batch, its cache, and the truth ------*- C++ -*-===//
//
// A paged cache in which everything that no sequence owns is NaN, and how a
// result compares with the truth.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_ATTENTION_ATTENTIONCASE_H
#define KV_TEST_KERNELS_ATTENTION_ATTENTIONCASE_H

#include "AttentionTruth.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "test/kernels/Backend.h"
#include "test/kernels/PlanCase.h"
#include "test/kernels/Reservation.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace kv::cuda::test {

struct SequenceLengths {
  int32_t cached;
  int32_t added;
};

struct AttentionCase {
  std::vector<SequenceLengths> sequences;
  int pageSize = 16, heads = 2, group = 4;
  int mask = KV_MASK_CAUSAL;
  int64_t window = 0;
  float softcap = 0;
  float scale = 0; // 0: 1 / sqrt(dim)
  bool sinks = false;
  bool headsFirst = false; // layout hnd, else nhd
  int parts = 3;
  int slots = 0; // 0: as many as the plan may need
  int64_t rowsFrom = 0, rowsTo = INT64_MAX;
  int groups = 4;        // scales of a row, of kernels that take several
  bool powers = false;   // scales are powers of two
  bool unscaled = false; // a kernel that takes scales gets none
  bool sparse = false;   // a pool of more than 2^31 elements
  int merges = 0;        // blocks of the kernel that merges apart; 0: none
  bool trees = false;    // the last tokens of a sequence are nodes of one
  uint32_t seed = 1;
  MachineOptions machine;
};

inline std::ostream &operator<<(std::ostream &os, const AttentionCase &c) {
  os << "page " << c.pageSize << ", heads " << c.heads << " x " << c.group
     << ", mask " << c.mask << " window " << c.window << ", softcap "
     << c.softcap << ", scale " << c.scale << ", sinks " << c.sinks << ", hnd "
     << c.headsFirst << ", parts " << c.parts << ", slots " << c.slots
     << ", merges " << c.merges << ", trees " << c.trees << ", groups "
     << c.groups << ", powers " << c.powers << ", unscaled " << c.unscaled
     << ", seed " << c.seed << ", schedule " << int(c.machine.schedule)
     << ", order " << int(c.machine.order) << ", machine seed "
     << c.machine.seed << ", sequences";
  for (const SequenceLengths &s : c.sequences)
    os << ' ' << s.cached << '+' << s.added;
  return os;
}

/// Memory whose every byte is 0xff: NaN in every type.
template <class T> std::vector<T> poisoned(size_t count) {
  std::vector<T> data(count);
  if (count)
    std::memset(static_cast<void *>(data.data()), 0xff, count * sizeof(T));
  return data;
}

struct Results {
  std::vector<float> out; // [token][query head][dim]
  std::vector<float> lse;
  std::vector<std::string> reports;
};

/// A case with the elements of one kernel's types. What runs is called
/// `kernel.name`, or is a body with that shape (kernelOf).
template <class QueryT, class CacheT> class AttentionFixture {
public:
  using Query = QueryT;
  using Cache = CacheT;
  using Truth = AttentionTruth<Query, Cache>;
  static constexpr int Layers = 2, Layer = 1;

  /// `truth` may be that of a case that differs in what it does not depend on.
  AttentionFixture(const AttentionKernel &kernel, const AttentionCase &c,
                   std::shared_ptr<Truth> shared = nullptr)
      : c(c), kernel(kernel), Dim(kernel.headDim), ValueDim(kernel.valueDim()),
        truth(std::move(shared)) {
    if (!truth)
      truth = makeTruth(kernel, c);
    if (truth->shape != truthShape(kernel, c))
      std::abort();
    std::mt19937 shuffle(c.seed);
    int64_t batch = c.sequences.size(), pages = 0;
    columns = 1;
    for (const SequenceLengths &s : c.sequences) {
      int64_t used = kv::plan::ceilDivide(s.cached + s.added, c.pageSize);
      pages += used;
      columns = std::max(columns, used);
      offsets.push_back(tokens);
      cached.push_back(s.cached);
      tokens += s.added;
    }
    offsets.push_back(tokens);
    view.tokenStride = c.headsFirst ? Dim : c.heads * Dim;
    view.headStride = c.headsFirst ? int64_t(c.pageSize) * Dim : Dim;
    view.layerStride = int64_t(c.pageSize) * c.heads * Dim;
    view.planeStride = view.layerStride * Layers;
    view.pageStride = view.planeStride * kernel.planes();
    pageCount = pages + 2;
    firstPage = 1;
    if (c.sparse) {
      // The pages in use lie around element 2^31.
      firstPage = (int64_t(1) << 31) / view.pageStride - pageCount / 2;
      pageCount += firstPage;
    }
    view.pages = pageCount;
    view.pageSize = c.pageSize;
    reservation = std::make_unique<Reservation>(pageCount * view.pageStride *
                                                sizeof(Cache));
    pool = static_cast<Cache *>(reservation->memory);
    view.data = pool;
    std::memset(static_cast<void *>(pool + (firstPage - 1) * view.pageStride),
                0xff,
                (pageCount - firstPage + 1) * view.pageStride * sizeof(Cache));
    // Beyond what a sequence uses, no entry is a page.
    table.assign(batch * columns, -7);
    std::vector<int32_t> ids(pageCount - firstPage);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = firstPage + i;
    std::shuffle(ids.begin(), ids.end(), shuffle);
    size_t next = 0;
    for (int64_t b = 0; b < batch; ++b) {
      int64_t length = c.sequences[b].cached + c.sequences[b].added;
      for (int64_t i = 0; i * c.pageSize < length; ++i)
        table[b * columns + i] = ids[next++];
      for (int64_t position = 0; position < length; ++position)
        for (int plane = 0; plane < kernel.planes(); ++plane)
          for (int head = 0; head < c.heads; ++head)
            std::memcpy(pool + place(b, plane, position, head),
                        truth->element(position, plane, head),
                        Dim * sizeof(Cache));
    }
    if (truth->shape.groups)
      makeScales();
    for (const SequenceLengths &s : c.sequences)
      for (int i = 0; i < s.added; ++i) {
        const std::vector<Query> &query = truth->query(s.cached + i);
        q.insert(q.end(), query.begin(), query.end());
      }
    if (c.trees)
      makeTrees();
    std::mt19937 random(c.seed + 1);
    for (int h = 0; c.sinks && h < queryHeads(); ++h)
      sinks.push_back(h % 5 == 4 ? -INFINITY : float(int(random() % 9) - 4));
  }

  static TruthShape truthShape(const AttentionKernel &kernel,
                               const AttentionCase &c) {
    int dim = kernel.headDim;
    return {c.seed,
            c.heads,
            c.group,
            dim,
            kernel.vDim,
            c.mask,
            c.window,
            c.scale ? c.scale : 1 / std::sqrt(float(dim)),
            kernel.scales == Scales::Groups
                ? std::min(c.groups, kernels::mostGroups(dim))
            : kernel.scales == Scales::Row && !c.unscaled ? 1
                                                          : 0,
            c.powers,
            kernel.eightBitProducts,
            byteSumOf(kernel.eightBitProducts ? kernel.name : "")};
  }
  static std::shared_ptr<Truth> makeTruth(const AttentionKernel &kernel,
                                          const AttentionCase &c) {
    return std::make_shared<Truth>(truthShape(kernel, c));
  }

  /// Random trees, with anything in the bits that nobody looks at.
  void makeTrees() {
    std::mt19937_64 random(c.seed + 2);
    for (const SequenceLengths &s : c.sequences) {
      int before = std::max(s.added - KV_TREE_ROWS, 0);
      std::vector<uint64_t> paths; // a node's ancestors and itself
      for (int i = 0; i < s.added; ++i) {
        uint64_t word = random();
        int node = i - before;
        if (node >= 0) {
          uint64_t own = uint64_t(1) << node, above = 0;
          // Mostly one of the last three: several branches grow.
          if (int parent = node - 1 - int(random() % 3); parent >= 0)
            above = paths[parent];
          paths.push_back(above | own);
          word = above | (word & ~(own - 1));
        }
        words.push_back(int64_t(word));
      }
    }
  }
  /// What a token's word says, and where the tree begins.
  std::pair<int64_t, uint64_t> treeOf(int64_t b, int i, int64_t token) const {
    const SequenceLengths &s = c.sequences[b];
    int before = std::max(s.added - KV_TREE_ROWS, 0);
    if (!c.trees || i < before)
      return {INT64_MAX, 0};
    return {s.cached + before, uint64_t(words[token])};
  }

  int queryHeads() const { return c.heads * c.group; }
  int64_t place(int64_t b, int plane, int64_t position, int head) const {
    int64_t page = table[b * columns + position / c.pageSize];
    return page * view.pageStride + plane * view.planeStride +
           Layer * view.layerStride + position % c.pageSize * view.tokenStride +
           head * view.headStride;
  }

  void makeScales() {
    int groups = truth->shape.groups;
    scalesView = {nullptr,
                  view.pageStride / Dim * groups,
                  view.planeStride / Dim * groups,
                  view.layerStride / Dim * groups,
                  view.tokenStride / Dim * groups,
                  view.headStride / Dim * groups,
                  c.powers,
                  groups,
                  0};
    while ((Dim / 16 / groups) >> (scalesView.groupShift + 1))
      ++scalesView.groupShift;
    scales = poisoned<uint8_t>(pageCount * scalesView.pageStride *
                               (c.powers ? 1 : 4));
    for (size_t b = 0; b < c.sequences.size(); ++b)
      for (int64_t i = 0; i < c.sequences[b].cached + c.sequences[b].added; ++i)
        for (int plane = 0; plane < 2; ++plane)
          for (int head = 0; head < c.heads; ++head)
            for (int g = 0; g < groups; ++g)
              setScale(place(b, plane, i, head) / Dim * groups + g,
                       truth->scale(i, plane, head, g));
  }
  void setScale(int64_t at, float scale) {
    if (c.powers)
      scales[at] = uint8_t(Truth::exponentOf(scale));
    else
      std::memcpy(&scales[at * 4], &scale, 4);
  }

  Results run() {
    auto backend = makeBackend(c.machine);
    return runBy(*backend, [&](const AttentionParams &p) {
      if (kernel.tiles) {
        TileParams tiles = tilesOf(*backend, p);
        backend->launch(kernel.name, c.parts, &tiles, kernel.partBlocks);
      } else {
        backend->launch(kernel.name, c.parts, &p);
      }
      if (c.merges) {
        MergeParams merge = mergeOf(p);
        backend->launch("kv_merge", c.merges, &merge);
      }
    });
  }

  MergeParams mergeOf(const AttentionParams &p) const {
    return {p, ValueDim,
            std::is_same_v<Query, F16> ? KV_DTYPE_F16 : KV_DTYPE_BF16};
  }

  /// What a kernel takes that copies tiles.
  TileParams tilesOf(Backend &backend, const AttentionParams &p) const {
    if (!canTile(p.cache, sizeof(Cache), c.heads, Dim))
      std::abort();
    TileParams tiles = tileParams(p, kernel.partBlocks);
    for (int plane = 0; plane < kernel.planes(); ++plane)
      tiles.maps[plane] = backend.encode(
          describeTiles(p.cache, sizeof(Cache), c.heads, Dim, p.layer, plane,
                        kernel.partBlocks, kernel.eightBitProducts));
    return tiles;
  }

  /// The batch's plan, as a host makes it.
  kv::plan::test::Planned planned() const {
    kv::plan::test::Planned plan;
    plan.cached = cached;
    plan.offsets = offsets;
    plan.batch.tokens = tokens;
    plan.batch.capacity = columns * c.pageSize;
    plan.shape = {c.heads, c.group,  kernel.rows, kernel.leaf,
                  c.mask,  c.window, c.rowsFrom,  c.rowsTo,
                  c.parts, c.slots,  c.trees};
    plan.make();
    if (!c.slots) {
      plan.shape.slots = kv::plan::slotsFor(plan.header.payload);
      plan.make();
    }
    return plan;
  }

  /// launch(parameters) runs the kernel, or a body like it, on the backend.
  template <class Launch> Results runBy(Backend &backend, Launch &&launch) {
    auto give = [&]<class T>(std::vector<T> &data, Access access) {
      return static_cast<T *>(
          backend.give(data.data(), data.size() * sizeof(T), access));
    };
    auto take = [&]<class T>(std::vector<T> &data, const void *given) {
      backend.take(data.data(), given, data.size() * sizeof(T));
    };
    AttentionParams p{};
    kv::plan::test::Planned plan = planned();
    p.batch = plan.batch;
    p.shape = plan.shape;
    std::vector<kv::plan::Header> header = {plan.header};
    auto out = poisoned<Query>(tokens * queryHeads() * ValueDim);
    auto lse = poisoned<float>(tokens * queryHeads());
    auto scratch =
        poisoned<float>(int64_t(c.parts) * p.shape.slots * kernel.slotFloats);
    auto totals = poisoned<float>(c.parts * kernel.totalFloats);
    std::vector<uint32_t> counters(2 * c.parts * kernel.partBlocks);

    size_t pageBytes = view.pageStride * sizeof(Cache);
    p.cache = view;
    p.cache.data = backend.givePool(pool, pageCount * pageBytes,
                                    (firstPage - 1) * pageBytes,
                                    (pageCount - firstPage + 1) * pageBytes);
    p.layer = Layer;
    p.scales = scalesView;
    if (c.unscaled)
      p.scales.data = give(one, Access::Read);
    else if (!scales.empty())
      p.scales.data = give(scales, Access::Read);
    p.table = give(table, Access::Read);
    p.tablePitch = columns;
    p.tableColumns = columns;
    p.batch.cacheLengths = give(cached, Access::Read);
    p.batch.rowOffsets = give(offsets, Access::Read);
    p.header = give(header, Access::Read);
    p.tiles = give(plan.tiles, Access::Read);
    p.cuts = give(plan.cuts, Access::Read);
    p.q = give(q, Access::Read);
    p.qTokenStride = int64_t(queryHeads()) * Dim;
    p.qHeadStride = Dim;
    p.outTokenStride = int64_t(queryHeads()) * ValueDim;
    p.outHeadStride = ValueDim;
    p.out = give(out, Access::Write);
    p.lse = give(lse, Access::Write);
    p.lseTokenStride = queryHeads();
    p.lseHeadStride = 1;
    p.ancestors = c.trees ? give(words, Access::Read) : nullptr;
    p.sinks = sinks.empty() ? nullptr : give(sinks, Access::Read);
    p.scale = std::ldexp(truth->shape.scale, -queryPower);
    p.softcap = c.softcap;
    p.scratch = give(scratch, Access::Write);
    p.totals = give(totals, Access::Write);
    p.counters = give(counters, Access::Write);
    p.mergesApart = c.merges > 0;
    launch(p);
    take(out, p.out);
    take(lse, p.lse);
    take(counters, p.counters);
    Results results;
    results.reports = backend.reports();
    for (uint32_t counter : counters)
      if (counter)
        results.reports.push_back("a counter is left at " +
                                  std::to_string(counter));
    for (Query x : out)
      results.out.push_back(widen(x));
    results.lse = lse;
    return results;
  }

  /// The first difference that rounding does not explain.
  ::testing::AssertionResult check(const Results &results) const {
    if (!results.reports.empty())
      return ::testing::AssertionFailure() << results.reports[0];
    // Weights and results are rounded to the query's type.
    double unit = std::is_same_v<Query, F16> ? 1.0 / 1024 : 1.0 / 128;
    // Rounded weights of 8 bits are those of the truth.
    if (kernel.eightBitProducts)
      unit = 1.0 / 256;
    int64_t token = 0;
    for (size_t b = 0; b < c.sequences.size(); ++b)
      for (int i = 0; i < c.sequences[b].added; ++i, ++token)
        for (int h = 0; h < queryHeads(); ++h) {
          if (!inClass(b))
            continue;
          auto failure = checkRow(results, b, i, token, h, unit);
          if (!failure.empty())
            return ::testing::AssertionFailure()
                   << "sequence " << b << ", token " << i << ", head " << h
                   << ": " << failure;
        }
    return ::testing::AssertionSuccess();
  }

  /// What a kernel with a mistake has left is found bad: by a report with
  /// `text` in it, "" by any, or, where that is null, by its numbers alone.
  void expectSeen(const Results &results, const char *text) const {
    if (!text) {
      EXPECT_TRUE(results.reports.empty());
      EXPECT_FALSE(check(results));
      return;
    }
    bool seen = false;
    for (const std::string &report : results.reports)
      seen |= report.find(text) != std::string::npos;
    EXPECT_TRUE(seen) << "schedule " << int(c.machine.schedule) << ": "
                      << (results.reports.empty() ? "nothing"
                                                  : results.reports[0]);
  }

  bool inClass(size_t b) const {
    int64_t rows = int64_t(c.sequences[b].added) * c.group;
    return rows >= c.rowsFrom && rows < c.rowsTo;
  }

  std::string checkRow(const Results &results, int64_t b, int i, int64_t token,
                       int h, double unit) const {
    int64_t position = c.sequences[b].cached + i;
    int64_t length = c.sequences[b].cached + c.sequences[b].added;
    auto [base, ancestors] = treeOf(b, i, token);
    const TrueRows &rows =
        truth->rows(position, length, h / c.group, c.softcap, base, ancestors);
    const TrueRow &row = rows.rows[h % c.group];
    double maximum = row.maximum, sum = row.sum, factor = 1;
    if (!sinks.empty() && sinks[h] != -INFINITY) {
      maximum = std::max<double>(maximum, sinks[h]);
      factor = std::exp(row.maximum - maximum);
      sum = sum * factor + std::exp(sinks[h] - maximum);
    }
    // Weights of an 8-bit cache are f16, too.
    bool half = std::is_same_v<Query, F16> ||
                (sizeof(Cache) == 1 && !kernel.eightBitProducts);
    double smallest = half ? 0x1p-24 : 0x1p-126;
    double lse = sum == 0 ? -INFINITY : maximum + std::log(sum);
    float gotLse = results.lse[token * queryHeads() + h];
    if (!(gotLse == lse ||
          std::fabs(gotLse - lse) < unit + row.sumSlack * factor / sum))
      return "lse " + std::to_string(gotLse) + ", expected " +
             std::to_string(lse);
    for (int d = 0; d < ValueDim; ++d) {
      double expected = sum == 0 ? 0 : row.out[d] * factor / sum;
      // What is too small for the type is lost of a weight and of the result.
      double bound = sum == 0
                         ? 0
                         : (unit * row.size[d] + row.slack[d]) * factor / sum +
                               smallest * (1 + rows.plain[d] / sum);
      float got = results.out[(token * queryHeads() + h) * ValueDim + d];
      if (!(std::fabs(got - expected) <= bound))
        return "element " + std::to_string(d) + " is " + std::to_string(got) +
               ", expected " + std::to_string(expected) + " +- " +
               std::to_string(bound);
    }
    return "";
  }

  /// Multiplies the queries by 2^power and divides the scale by it.
  void enlargeQueries(int power) {
    queryPower += power;
    for (Query &x : q)
      x = narrow<Query>(std::ldexp(widen(x), power));
  }

  const AttentionCase c;
  const AttentionKernel kernel;
  const int Dim, ValueDim;
  std::shared_ptr<Truth> truth;
  int64_t tokens = 0, columns, pageCount, firstPage;
  CacheView view{};
  ScalesView scalesView{};
  std::vector<uint8_t> scales;
  std::vector<float> one = {1}; // where there are none, with strides of 0
  std::unique_ptr<Reservation> reservation;
  Cache *pool;
  std::vector<int32_t> table, cached, offsets;
  std::vector<Query> q;
  std::vector<float> sinks;
  std::vector<int64_t> words; // [token], of trees
  int queryPower = 0;
};

/// What a host would know of a shape that is not built.
template <class Config> constexpr AttentionKernel kernelOf() {
  AttentionKernel kernel{};
  kernel.scales = Config::Shares   ? Scales::Groups
                  : Config::Scaled ? Scales::Row
                                   : Scales::None;
  kernel.headDim = Config::KeyDim;
  kernel.vDim = LatentRows<Config> || LatentTiles<Config> ? Config::HeadDim : 0;
  kernel.eightBitProducts = ByteProducts<Config>;
  kernel.leaf = Config::Leaf;
  kernel.partBlocks = PartBlocks<Config>;
  kernel.rows = PartBlocks<Config> * Config::Rows;
  kernel.slotFloats = Config::SlotFloats;
  kernel.totalFloats = PartBlocks<Config> * Config::TotalFloats;
  return kernel;
}

inline const AttentionKernel &kernelFor(std::string_view type, int headDim,
                                        bool prefill, bool latent = false) {
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.type == type && kernel.headDim == headDim &&
        kernel.prefill == prefill && (kernel.vDim != 0) == latent)
      return kernel;
  std::abort();
}

/// A chip's prefill kernel that copies tiles: of prompts, or of drafts.
inline const AttentionKernel &tileKernelFor(std::string_view type, int headDim,
                                            bool latent = false,
                                            std::string_view chip = "sm_90a",
                                            bool drafts = false) {
  for (const AttentionKernel &kernel : TileKernels)
    if (kernel.tiles && kernel.drafts == drafts && kernel.type == type &&
        kernel.headDim == headDim && (kernel.vDim != 0) == latent &&
        kernels::onlyChipOf(kernel.name) == chip)
      return kernel;
  std::abort();
}

/// A chip's kernel with products of 8 bits: of prefill or, where decode has one
/// of its own, of decode.
inline const AttentionKernel &byteKernelFor(int headDim, bool prefill,
                                            std::string_view chip = "sm_120") {
  for (const AttentionKernel &kernel : TileKernels)
    if (kernel.eightBitProducts && kernel.headDim == headDim &&
        kernel.prefill == prefill && kernels::onlyChipOf(kernel.name) == chip)
      return kernel;
  std::abort();
}

/// Calls f.operator()<Query, Cache>() with the kernel's types.
template <class Function>
auto withTypes(const AttentionKernel &kernel, Function f) {
  switch (kernel.cache) {
  case KV_DTYPE_F16:
    return f.template operator()<F16, F16>();
  case KV_DTYPE_F8E4M3FN:
    return f.template operator()<Bf16, F8E4M3>();
  case KV_DTYPE_F8E5M2:
    return f.template operator()<Bf16, F8E5M2>();
  case KV_DTYPE_I8:
    return f.template operator()<Bf16, I8>();
  default:
    return f.template operator()<Bf16, Bf16>();
  }
}

/// Calls f with the case as a fixture of the kernel's types.
template <class Function>
auto withFixture(const AttentionKernel &kernel, const AttentionCase &c,
                 Function f) {
  return withTypes(kernel, [&]<class Query, class Cache>() {
    AttentionFixture<Query, Cache> fixture(kernel, c);
    return f(fixture);
  });
}

/// Runs a case and compares it with the truth, where the kernel can run.
inline ::testing::AssertionResult check(const AttentionKernel &kernel,
                                        const AttentionCase &c) {
  if (!canRun(kernel.name))
    return ::testing::AssertionSuccess();
  return withFixture(
      kernel, c, [](auto &fixture) { return fixture.check(fixture.run()); });
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_ATTENTION_ATTENTIONCASE_H
