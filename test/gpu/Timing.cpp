//===- Timing.cpp - Kernels beside the ceilings ---------------------------===//

#include "Timing.h"
#include "../../kernels/cuda/KernelTable.h"
#include "../kernels/Backend.h"
#include "Peer.h"
#include "RandomFill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <random>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Device memory until the end of a measurement.
class Buffers {
public:
  explicit Buffers(Gpu &gpu) : gpu(gpu) {}
  ~Buffers() {
    for (void *data : all)
      gpu.free(data);
  }
  void *make(size_t bytes, unsigned char byte) {
    all.push_back(gpu.allocate(bytes));
    gpu.fill(all.back(), byte, bytes);
    return all.back();
  }
  template <class T> T *copyOf(const std::vector<T> &data) {
    void *copy = make(data.size() * sizeof(T), 0);
    gpu.copyIn(copy, data.data(), data.size() * sizeof(T));
    return static_cast<T *>(copy);
  }

private:
  Gpu &gpu;
  std::vector<void *> all;
};

/// Twice or four times this byte is a number of every type.
constexpr unsigned char FillByte = 0x3c;

/// So many sequences, each with `cached` keys and `added` rows.
struct Shape {
  const char *type;
  int sequences, cached, added;
  int heads = 8, group = 4, dim = 128, page = 16;

  int length() const { return cached + added; }
  int64_t tokens() const { return int64_t(sequences) * added; }
  int columns() const { return (length() + page - 1) / page; }
  int pages() const { return sequences * columns() + 1; }
  int cacheBytes() const { return std::string_view(type) == "f8" ? 1 : 2; }
  std::string name(const char *what) const {
    return std::string(what) + " " + type + " " + std::to_string(sequences) +
           "x" + std::to_string(cached) + "+" + std::to_string(added) + " " +
           std::to_string(heads * group) + "/" + std::to_string(heads) + " d" +
           std::to_string(dim) + " page " + std::to_string(page);
  }
};

/// A batch of a shape in a cache of one layer, its pages in random order, all
/// its values the same.
struct Batch {
  Batch(Gpu &gpu, const Shape &s) : buffers(gpu) {
    std::vector<int32_t> pages(s.pages() - 1), lengths, sums, starts;
    std::iota(pages.begin(), pages.end(), 1);
    std::shuffle(pages.begin(), pages.end(), std::mt19937(1));
    for (int b = 0; b <= s.sequences; ++b) {
      offsets.push_back(b * s.added);
      cached.push_back(s.cached);
      lengths.push_back(s.length());
    }
    int64_t plane = int64_t(s.page) * s.heads * s.dim;
    cacheBytes = plane * 2 * s.pages() * s.cacheBytes();
    cache = {
        buffers.make(cacheBytes, FillByte), plane * 2, plane,     plane * 2,
        int64_t(s.heads) * s.dim,           s.dim,     s.pages(), s.page};
    table = buffers.copyOf(pages);
    deviceOffsets = buffers.copyOf(offsets);
    deviceCached = buffers.copyOf(cached);
    deviceLengths = buffers.copyOf(lengths);
  }

  void *values() const { return const_cast<void *>(cache.data); }

  Buffers buffers;
  CacheView cache;
  size_t cacheBytes;
  std::vector<int32_t> cached, offsets;
  int32_t *table, *deviceCached, *deviceOffsets, *deviceLengths;
};

double seconds(Gpu &gpu, int repeats, const std::function<void()> &work) {
  return median(gpu.time(repeats, work)) / 1000;
}

AttentionParams attentionOf(Gpu &gpu, Batch &batch, const Shape &s,
                            const AttentionKernel &kernel) {
  AttentionParams p{};
  p.cache = batch.cache;
  p.table = batch.table;
  p.tablePitch = p.tableColumns = s.columns();
  p.batch = {batch.cached.data(), batch.offsets.data(), s.sequences,
             int32_t(s.tokens()), int64_t(s.columns()) * s.page};
  int parts = gpu.multiprocessors * kernel.blocksPerSM(gpu.sm());
  p.shape = {s.heads,        s.group, kernel.rows, kv::plan::GpuLeaf,
             KV_MASK_CAUSAL, 0,       0,           INT64_MAX,
             parts,          0};
  std::vector<kv::plan::Tile> tiles(
      kv::plan::maxTiles(p.shape, s.sequences, s.tokens()));
  std::vector<kv::plan::Cut> cuts(parts + 1);
  p.shape.slots = slotsOf(kernel, p.shape, p.batch);
  std::vector<kv::plan::Header> header = {
      kv::plan::makePlan(p.shape, p.batch, tiles.data(), cuts.data())};
  AttentionWorkspace needed =
      workspace(kernel, p.shape, s.sequences, s.tokens());
  Buffers &buffers = batch.buffers;
  p.batch.cacheLengths = batch.deviceCached;
  p.batch.rowOffsets = batch.deviceOffsets;
  p.header = buffers.copyOf(header);
  p.tiles = buffers.copyOf(tiles);
  p.cuts = buffers.copyOf(cuts);
  int64_t row = int64_t(s.heads) * s.group * s.dim;
  void *q = buffers.make(s.tokens() * row * 2, 0);
  if (std::string_view(s.type) == "f16")
    fillRandom<F16>(gpu, q, s.tokens() * row * 2);
  else
    fillRandom<Bf16>(gpu, q, s.tokens() * row * 2);
  p.q = q;
  p.out = buffers.make(s.tokens() * row * 2, 0xff);
  p.qTokenStride = p.outTokenStride = row;
  p.qHeadStride = p.outHeadStride = s.dim;
  p.scale = 1 / std::sqrt(float(s.dim));
  p.scratch = static_cast<float *>(buffers.make(needed.scratch, 0xff));
  p.totals = static_cast<float *>(buffers.make(needed.totals, 0xff));
  p.counters = static_cast<uint32_t *>(buffers.make(needed.counters, 0));
  return p;
}

/// A measurement with its ratio to a ceiling, which may be unknown.
Row ratioRow(std::string name, const char *metric, const char *unit,
             double value, const char *baseline, double ceiling,
             std::optional<double> aim) {
  Row row{std::move(name), metric, unit, value / (unit[0] == 'T' ? 1e12 : 1e9),
          baseline,        {},     aim};
  if (ceiling > 0)
    row.ratio = value / ceiling;
  return row;
}

using PeerFunction = int (*)(const KvPeerAttention *, void *);

void measurePeers(Gpu &gpu, const std::vector<std::string> &peers,
                  const Shape &s, const Batch &batch, const AttentionParams &p,
                  double ours, Report &report) {
  int64_t plane = batch.cache.planeStride;
  KvPeerAttention problem{p.q,
                          p.out,
                          batch.cache.data,
                          static_cast<const char *>(batch.cache.data) +
                              plane * 2,
                          batch.cache.pageStride,
                          batch.table,
                          batch.deviceLengths,
                          batch.deviceOffsets,
                          s.sequences,
                          s.added,
                          s.length(),
                          s.columns(),
                          s.heads,
                          s.group,
                          s.dim,
                          s.page,
                          s.pages(),
                          p.scale};
  for (const std::string &peer : peers) {
    size_t at = peer.find('=');
    std::string name = peer.substr(0, at);
    void *library = dlopen(peer.substr(at + 1).c_str(), RTLD_NOW | RTLD_LOCAL);
    auto call =
        library
            ? reinterpret_cast<PeerFunction>(dlsym(library, "kvPeerAttention"))
            : nullptr;
    if (!call) {
      report.left.push_back("peer " + peer + ": " + dlerror());
      continue;
    }
    if (call(&problem, gpu.stream())) {
      report.left.push_back("peer " + name + ": not " + s.name("attention"));
      continue;
    }
    double theirs = seconds(gpu, 20, [&] { call(&problem, gpu.stream()); });
    report.rows.push_back({s.name(s.added == 1 ? "decode" : "prefill"),
                           "time",
                           "us",
                           theirs * 1e6,
                           name + "'s speed",
                           theirs / ours,
                           {}});
  }
}

/// A mean of equal values is that value, but for the rounding of weights.
template <class Cache, class Query>
void checkMean(Gpu &gpu, const Shape &s, const AttentionParams &p,
               Report &report) {
  Cache value;
  std::memset(&value, FillByte, sizeof(value));
  std::vector<Query> out(s.tokens() * s.heads * s.group * s.dim);
  gpu.copyOut(out.data(), p.out, out.size() * sizeof(Query));
  float expected = widen(value), worst = 0;
  for (Query x : out)
    worst = std::fmax(worst, std::isnan(widen(x))
                                 ? INFINITY
                                 : std::fabs(widen(x) / expected - 1));
  bool right = worst <= 1.0f / 64;
  report.checks.push_back(
      {"Timing." + s.name("attention"), right,
       right ? "" : "results are off by " + std::to_string(worst), 0});
}

/// The kernel once more, on equal values.
void checkResults(Gpu &gpu, const Shape &s, const Batch &batch,
                  const AttentionKernel &kernel, const AttentionParams &p,
                  Report &report) {
  gpu.fill(batch.values(), FillByte, batch.cacheBytes);
  gpu.launch(kernel.name, p.shape.parts, &p);
  std::string_view type = s.type;
  if (type == "bf16")
    checkMean<Bf16, Bf16>(gpu, s, p, report);
  else if (type == "f16")
    checkMean<F16, F16>(gpu, s, p, report);
  else
    checkMean<F8E4M3, Bf16>(gpu, s, p, report);
}

void measureAttention(Gpu &gpu, const Ceilings &ceilings,
                      const std::vector<std::string> &peers, const Shape &s,
                      Report &report) {
  bool decode = s.added * s.group <= DecodeRows;
  const AttentionKernel *kernel = nullptr;
  for (const AttentionKernel &k : AttentionKernels)
    if (k.type == s.type && k.headDim == s.dim && k.prefill == !decode)
      kernel = &k;
  if (!canRun(kernel->name))
    return;
  Batch batch(gpu, s);
  AttentionParams p = attentionOf(gpu, batch, s, *kernel);
  std::string_view type = s.type;
  if (type == "bf16")
    fillRandom<Bf16>(gpu, batch.values(), batch.cacheBytes);
  else if (type == "f16")
    fillRandom<F16>(gpu, batch.values(), batch.cacheBytes);
  else
    fillRandom<F8E4M3>(gpu, batch.values(), batch.cacheBytes);
  double time =
      seconds(gpu, 20, [&] { gpu.launch(kernel->name, p.shape.parts, &p); });
  double bytes =
      2.0 * s.sequences * s.length() * s.heads * s.dim * s.cacheBytes();
  // Keys that the causal mask lets the rows see.
  double pairs = s.sequences * s.added * (s.cached + (s.added + 1) / 2.0);
  double operations = 4 * pairs * s.heads * s.group * s.dim;
  std::string name = s.name(decode ? "decode" : "prefill");
  report.rows.push_back({name, "time", "us", time * 1e6, "", {}, {}});
  if (decode)
    report.rows.push_back(ratioRow(
        name, "K and V read once", "GB/s", bytes / time, "the read ceiling",
        ceilings.read, bytes >= 256e6 ? std::optional(0.88) : std::nullopt));
  else
    report.rows.push_back(
        ratioRow(name, "operations", "TFLOP/s", operations / time,
                 "the GEMM ceiling", ceilings.multiply,
                 gpu.sm() == 90 ? std::optional(0.42) : std::nullopt));
  if (type == "bf16")
    measurePeers(gpu, peers, s, batch, p, time, report);
  checkResults(gpu, s, batch, *kernel, p, report);
}

/// Rope of q and k, and the store of k and v: a step's two movers of rows.
void measureStore(Gpu &gpu, const Ceilings &ceilings, const Shape &s,
                  Report &report) {
  Batch batch(gpu, s);
  Buffers &buffers = batch.buffers;
  int heads = s.heads * (s.group + 1), width = s.dim;
  int64_t row = int64_t(heads + s.heads) * s.dim; // q, k, v of a token
  void *rows = buffers.make(s.tokens() * row * 2, FillByte);
  std::vector<int32_t> positions(s.tokens());
  for (int64_t t = 0; t < s.tokens(); ++t)
    positions[t] = s.cached + t % s.added;
  RopeParams rope{rows,
                  rows,
                  row,
                  s.dim,
                  row,
                  s.dim,
                  int32_t(s.tokens()),
                  heads,
                  s.dim,
                  width,
                  buffers.copyOf(positions),
                  static_cast<const float *>(
                      buffers.make(size_t(s.length()) * width * 4, FillByte)),
                  s.length(),
                  false,
                  KV_DTYPE_BF16,
                  KV_DTYPE_BF16,
                  /*errors=*/nullptr};
  const auto *k =
      static_cast<const uint16_t *>(rows) + s.heads * s.group * s.dim;
  StoreParams store{batch.cache,
                    0,
                    batch.table,
                    s.columns(),
                    s.columns(),
                    {batch.deviceCached, batch.deviceOffsets, s.sequences,
                     int32_t(s.tokens()), 0},
                    s.heads,
                    s.dim,
                    k,
                    k + s.heads * s.dim,
                    row,
                    s.dim,
                    row,
                    s.dim,
                    KV_DTYPE_BF16,
                    KV_DTYPE_BF16};
  int blocks = gpu.multiprocessors * 8;
  double time = seconds(gpu, 20, [&] {
    gpu.launch("kv_rope", blocks, &rope);
    gpu.launch("kv_store", blocks, &store);
  });
  // Read and written: q, k; then k, v. Angles are read as well.
  double bytes = s.tokens() * (2.0 * heads * s.dim * 2 + width * 4.0 +
                               2.0 * 2 * s.heads * s.dim * 2);
  report.rows.push_back(
      ratioRow(s.name("rope + store"), "read and written", "GB/s", bytes / time,
               "the copy ceiling", ceilings.copy,
               s.tokens() >= 4096 ? std::optional(0.85) : std::nullopt));
}

} // namespace

void kv::cuda::test::measureKernels(Gpu &gpu, const Ceilings &ceilings,
                                    const std::vector<std::string> &peers,
                                    bool small, Report &report) {
  std::vector<Shape> attention = {
      {"bf16", 1, 8191, 1},  {"bf16", 1, 32767, 1}, {"bf16", 16, 4095, 1},
      {"bf16", 64, 4095, 1}, {"f16", 64, 4095, 1},  {"f8", 64, 4095, 1},
      {"bf16", 1, 0, 2048},  {"bf16", 1, 0, 8192},  {"bf16", 4, 8192, 2048}};
  std::vector<Shape> stores = {
      {"bf16", 64, 1023, 1}, {"bf16", 4, 0, 1024}, {"bf16", 8, 0, 2048}};
  if (small) {
    attention = {{"bf16", 2, 130, 1, 1},
                 {"f16", 1, 40, 1, 2, 1},
                 {"f8", 1, 1200, 1, 1},
                 {"bf16", 1, 70, 1, 1, 4, 256},
                 {"bf16", 1, 0, 40, 1}};
    stores = {{"bf16", 2, 20, 1, 1}, {"bf16", 1, 0, 33, 2, 3}};
  }
  for (const Shape &s : attention)
    measureAttention(gpu, ceilings, peers, s, report);
  for (const Shape &s : stores)
    measureStore(gpu, ceilings, s, report);
}
