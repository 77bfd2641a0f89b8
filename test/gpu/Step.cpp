//===- Step.cpp - The attention of a step on a GPU ------------------------===//

#include "Step.h"
#include "Ceilings.h"
#include "GpuBackend.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

using namespace kv::cuda;
using namespace kv::cuda::test;
using namespace kv::plan;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

StepShape kv::cuda::test::uniform(int count, int cached, int added) {
  return {std::to_string(count) + "x" + std::to_string(cached) + "+" +
              std::to_string(added),
          std::vector<Lengths>(count, {cached, added})};
}

std::string StepShape::name() const {
  return type + " " + lengths + " " + std::to_string(heads * group) + "/" +
         std::to_string(heads) + " d" + std::to_string(dim) +
         (vDim ? "/" + std::to_string(vDim) : "") + " page " +
         std::to_string(page) + (headsFirst ? " hnd" : "") +
         (tiles ? "" : " no tiles");
}

int64_t StepShape::tokens() const {
  int64_t sum = 0;
  for (const Lengths &s : sequences)
    sum += s.added;
  return sum;
}

/// Whether a device has one kernel for all rows: that of decode would have
/// other bits.
static bool takesAllRows(const AttentionKernel &kernel) {
  return kernel.tiles && kernel.eightBitProducts;
}

int64_t StepShape::longestRows() const {
  int64_t most = 0;
  for (const Lengths &s : sequences)
    most = std::max(most, int64_t(s.added) * group);
  return most;
}

/// The first of TileKernels for the rows of `plain` that `is` and this device
/// has.
template <class Is>
static const AttentionKernel *specialOf(const AttentionKernel &plain, Is is) {
  for (const AttentionKernel &kernel : TileKernels)
    if (plain.prefill && kernel.type == plain.type &&
        kernel.headDim == plain.headDim && kernel.vDim == plain.vDim &&
        is(kernel) && canRun(kernel.name))
      return &kernel;
  return nullptr;
}

const AttentionKernel *
kv::cuda::test::tileKernelOf(const AttentionKernel &plain, int partBlocks) {
  return specialOf(plain, [&](const AttentionKernel &kernel) {
    return kernel.tiles && !kernel.drafts && kernel.partBlocks == partBlocks;
  });
}

const AttentionKernel *
kv::cuda::test::draftKernelOf(const AttentionKernel &plain, bool tiles) {
  return specialOf(plain, [&](const AttentionKernel &kernel) {
    return kernel.drafts && kernel.tiles == tiles;
  });
}

std::vector<const AttentionKernel *> StepShape::kernels() const {
  auto hasRowsFor = [&](const AttentionKernel &kernel) {
    return std::any_of(
        sequences.begin(), sequences.end(), [&](const Lengths &s) {
          return s.added && (s.added * group > DecodeRows) == kernel.prefill;
        });
  };
  std::vector<const AttentionKernel *> all;
  for (const AttentionKernel &kernel : TileKernels)
    if (eightBitProducts() && kernel.type == type && kernel.headDim == dim &&
        (takesAllRows(kernel) || hasRowsFor(kernel)) && canRun(kernel.name))
      all.push_back(&kernel);
  for (const AttentionKernel &kernel : AttentionKernels) {
    if (kernel.type != type || kernel.headDim != dim || kernel.vDim != vDim ||
        !hasRowsFor(kernel))
      continue;
    const AttentionKernel *other = tiles ? tileKernelOf(kernel) : nullptr;
    if (other && takesPairs(*other, tokens() * group, sequences.size()))
      if (const AttentionKernel *pairs = tileKernelOf(kernel, 2))
        other = pairs;
    for (bool copied : {true, false}) // the latter has the fewer rows
      if (const AttentionKernel *drafts =
              tiles ? draftKernelOf(kernel, copied) : nullptr;
          drafts && longestRows() <= drafts->rows)
        other = drafts;
    all.push_back(other ? other : &kernel);
  }
  return all;
}

int64_t StepShape::columns() const {
  int64_t most = 1;
  for (const Lengths &s : sequences)
    most = std::max<int64_t>(most, ceilDivide(s.cached + s.added, page));
  return most;
}

static int elementBytes(int type) {
  return type == KV_DTYPE_F32                            ? 4
         : type == KV_DTYPE_BF16 || type == KV_DTYPE_F16 ? 2
                                                         : 1;
}

/// Elements with scales are as large as their type has room for.
static int rawPower(int type) {
  return type == KV_DTYPE_F8E5M2 ? 13 : type == KV_DTYPE_I8 ? 6 : 7;
}

double StepShape::keyBytes() const {
  double keys = 0;
  for (const Lengths &s : sequences)
    keys += s.cached + s.added;
  return (vDim ? 1 : 2) * keys * heads * dim *
         (type == "bf16" || type == "f16" ? 2 : 1);
}

double StepShape::operations() const {
  double pairs = 0;
  for (const Lengths &s : sequences)
    pairs += s.added * (s.cached + (s.added + 1) / 2.0);
  return 2 * pairs * heads * group * (dim + valueDim());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Buffers::~Buffers() {
  for (void *data : all)
    gpu.free(data);
}

void *Buffers::make(size_t bytes, unsigned char byte) {
  all.push_back(gpu.allocate(bytes));
  gpu.fill(all.back(), byte, bytes);
  return all.back();
}

void *Buffers::makeNoise(NoiseParams &p) {
  all.push_back(gpu.allocate(p.count * elementBytes(p.type)));
  p.out = all.back();
  gpu.launch("kv_test_noise", gpu.multiprocessors * 4, &p);
  return p.out;
}

Step::Step(Gpu &gpu, const StepShape &given)
    : shape(given), gpu(gpu), buffers(gpu) {
  int64_t columns = shape.columns(), pages = 1;
  std::vector<int32_t> lengths;
  offsets.push_back(0);
  for (const Lengths &s : shape.sequences) {
    pages += ceilDivide(s.cached + s.added, shape.page);
    cached.push_back(s.cached);
    lengths.push_back(s.cached + s.added);
    offsets.push_back(offsets.back() + s.added);
  }
  std::vector<int32_t> ids(pages - 1);
  std::iota(ids.begin(), ids.end(), 1);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(1));
  table.assign(columns * cached.size(), 0);
  for (size_t b = 0, next = 0; b < cached.size(); ++b)
    for (int64_t i = 0; i * shape.page < lengths[b]; ++i)
      table[b * columns + i] = ids[next++];
  deviceTable = buffers.copyOf(table);
  deviceCached = buffers.copyOf(cached);
  deviceOffsets = buffers.copyOf(offsets);
  deviceLengths = buffers.copyOf(lengths);

  fillCache(pages);
  setParams(columns);
}

/// The cache with noise in it, and the noise of the queries.
void Step::fillCache(int64_t pages) {
  int64_t plane = int64_t(shape.page) * shape.heads * shape.dim;
  cache.pageStride = plane * (shape.vDim ? 1 : 2);
  cache.planeStride = cache.layerStride = plane;
  cache.tokenStride =
      shape.headsFirst ? shape.dim : int64_t(shape.heads) * shape.dim;
  cache.headStride =
      shape.headsFirst ? int64_t(shape.page) * shape.dim : shape.dim;
  cache.pages = int32_t(pages);
  cache.pageSize = shape.page;
  for (const AttentionKernel *kernel : shape.kernels())
    launches.push_back({kernel, {}});
  const AttentionKernel &any = *launches.at(0).kernel;
  int64_t elements = cache.pageStride * pages;
  cacheNoise = {nullptr, elements, elements, 1, any.cache, 0};
  groups = any.scales == Scales::Groups ? 2 : any.scales == Scales::Row ? 1 : 0;
  if (groups) {
    cacheNoise.power = rawPower(any.cache);
    elements = elements / shape.dim * groups;
    scaleNoise = {nullptr,      elements, elements,          3,
                  KV_DTYPE_F32, 0,        -cacheNoise.power, 1};
  }
  int64_t queries = shape.tokens() * shape.heads * shape.group * shape.dim;
  queryNoise = {nullptr, queries, queries, 2, any.query, shape.dim};
  cache.data = buffers.makeNoise(cacheNoise);
}

void Step::setParams(int64_t columns) {
  int64_t row = int64_t(shape.heads) * shape.group * shape.dim;
  int64_t outRow = int64_t(shape.heads) * shape.group * shape.valueDim();
  int64_t tokens = shape.tokens();
  void *q = buffers.makeNoise(queryNoise);
  ScalesView scales{};
  if (groups) {
    auto ofScales = [&](int64_t stride) { return stride / shape.dim * groups; };
    scales = {
        buffers.makeNoise(scaleNoise),
        ofScales(cache.pageStride),
        ofScales(cache.planeStride),
        ofScales(cache.layerStride),
        ofScales(cache.tokenStride),
        ofScales(cache.headStride),
        /*powers=*/0,
        groups,
        /*groupShift=*/std::countr_zero(unsigned(shape.dim / groups / 16))};
  }
  out = buffers.make(tokens * outRow * 2, 0xff);
  lse = static_cast<float *>(
      buffers.make(tokens * shape.heads * shape.group * 4, 0xff));
  for (auto &[kernel, p] : launches) {
    bool all = takesAllRows(*kernel);
    p.cache = cache;
    p.scales = scales;
    p.table = deviceTable;
    p.tablePitch = columns;
    p.tableColumns = int32_t(columns);
    p.q = q;
    p.out = out;
    p.qTokenStride = row;
    p.qHeadStride = shape.dim;
    p.outTokenStride = outRow;
    p.outHeadStride = shape.valueDim();
    p.lse = lse;
    p.lseTokenStride = int64_t(shape.heads) * shape.group;
    p.lseHeadStride = 1;
    p.scale = 1 / std::sqrt(float(shape.dim));
    p.shape = {shape.heads,
               shape.group,
               kernel->rows,
               kernel->leaf,
               KV_MASK_CAUSAL,
               0,
               kernel->prefill && !all ? DecodeRows + 1 : 0,
               kernel->prefill ? INT64_MAX : DecodeRows + 1,
               0,
               0};
    p.batch = {deviceCached, deviceOffsets, int32_t(cached.size()),
               int32_t(tokens), columns * shape.page};
    if (!kernel->tiles)
      continue;
    int size = elementBytes(kernel->cache);
    if (!canTile(cache, size, shape.heads, shape.dim)) {
      std::fprintf(stderr, "gpu-verify: no boxes can copy %s\n",
                   shape.name().c_str());
      std::_Exit(ExitFailed);
    }
    p = tileParams(p, kernel->partBlocks);
    for (int plane = 0; plane < kernel->planes(); ++plane)
      p.maps[plane] = gpu.encode(
          describeTiles(cache, size, shape.heads, shape.dim, 0, plane,
                        kernel->partBlocks, kernel->eightBitProducts));
  }
}

std::string Step::whyLeftOut() const {
  for (const Launch &launch : launches)
    if (std::string why = kv::cuda::test::whyLeftOut(launch.kernel->name);
        !why.empty())
      return why;
  return "";
}

int64_t Step::place(int64_t sequence, int plane, int64_t position,
                    int head) const {
  int64_t page = table[sequence * shape.columns() + position / shape.page];
  return page * cache.pageStride + plane * cache.planeStride +
         position % shape.page * cache.tokenStride + head * cache.headStride;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Step::HostPlan Step::hostPlan(const Launch &launch) const {
  const AttentionParams &p = launch.params;
  kv::plan::Batch batch = p.batch;
  batch.cacheLengths = cached.data();
  batch.rowOffsets = offsets.data();
  HostPlan plan;
  plan.tiles.resize(maxTiles(p.shape, batch.sequences, batch.tokens));
  plan.cuts.resize(p.shape.parts + 1);
  plan.header = {makePlan(p.shape, batch, plan.tiles.data(), plan.cuts.data())};
  return plan;
}

void Step::plan(int parts) {
  planBuffers = std::make_unique<Buffers>(gpu);
  planParams.clear();
  for (Launch &launch : launches) {
    const AttentionKernel &kernel = *launch.kernel;
    AttentionParams &p = launch.params;
    p.shape.parts = parts ? parts
                          : gpu.multiprocessors * gpu.blocksPerSM(kernel.name) /
                                kernel.partBlocks;
    p.shape.slots = slotsOf(kernel, p.shape, p.batch);
    p.mergesApart = mergesApart(kernel, p.shape, p.batch);
    HostPlan made = hostPlan(launch);
    p.header = planBuffers->copyOf(made.header);
    p.tiles = planBuffers->copyOf(made.tiles);
    p.cuts = planBuffers->copyOf(made.cuts);
    AttentionWorkspace needed =
        workspace(kernel, p.shape, p.batch.sequences, p.batch.tokens);
    p.scratch = static_cast<float *>(planBuffers->make(needed.scratch, 0xff));
    p.totals = static_cast<float *>(planBuffers->make(needed.totals, 0xff));
    p.counters = static_cast<uint32_t *>(planBuffers->make(needed.counters, 0));
  }
}

void Step::launch() {
  for (const Launch &launch : launches) {
    const AttentionParams &p = launch.params;
    gpu.launch(launch.kernel->name, p.shape.parts, &p,
               launch.kernel->partBlocks);
    if (!p.mergesApart)
      continue;
    MergeParams merge{p, launch.kernel->valueDim(), launch.kernel->query};
    gpu.launch("kv_merge", p.shape.parts, &merge);
  }
}

void Step::launchPlans() {
  for (size_t i = planParams.size(); i < launches.size(); ++i) {
    const AttentionParams &p = launches[i].params;
    AttentionWorkspace needed = workspace(*launches[i].kernel, p.shape,
                                          p.batch.sequences, p.batch.tokens);
    planParams.push_back(
        {p.batch, p.shape,
         static_cast<Header *>(planBuffers->make(needed.header, 0xff)),
         static_cast<Tile *>(planBuffers->make(needed.tiles, 0xff)),
         static_cast<Cut *>(planBuffers->make(needed.cuts, 0xff)),
         /*errors=*/nullptr});
  }
  for (const PlanParams &p : planParams)
    gpu.launch("kv_plan", 1, &p);
}

std::string Step::checkPlans() {
  launchPlans();
  for (size_t i = 0; i < launches.size(); ++i) {
    HostPlan expected = hostPlan(launches[i]), got = expected;
    auto differs = [&](const auto &wanted, auto &data, const void *from,
                       size_t count) {
      gpu.copyOut(data.data(), from, count * sizeof(data[0]));
      return std::memcmp(wanted.data(), data.data(), count * sizeof(data[0]));
    };
    size_t tiles = expected.header[0].tiles;
    const char *what =
        differs(expected.header, got.header, planParams[i].header, 1) ? "header"
        : differs(expected.tiles, got.tiles, planParams[i].tiles, tiles)
            ? "tiles"
        : differs(expected.cuts, got.cuts, planParams[i].cuts,
                  expected.cuts.size())
            ? "cuts"
            : nullptr;
    if (what)
      return std::string("the ") + what + " of " +
             std::string(launches[i].kernel->name) +
             "'s plan are not the host's";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::vector<uint16_t> Step::readOut() const {
  std::vector<uint16_t> data(queryNoise.count / shape.dim * shape.valueDim());
  gpu.copyOut(data.data(), out, data.size() * sizeof(data[0]));
  return data;
}

std::vector<float> Step::readLse() const {
  std::vector<float> data(queryNoise.count / shape.dim);
  gpu.copyOut(data.data(), lse, data.size() * sizeof(data[0]));
  return data;
}
