//===- Attention.cpp - The plan and attention -----------------------------===//
//
// The buffer of an attention plan holds a header, tiles and cuts for the decode
// kernel, and after them the same for the prefill kernel. The decode kernel
// takes the sequences with at most DecodeRows packed rows, a prefill kernel
// takes the others. There are several prefill kernels. One copies tiles, where
// the pages allow it. One for drafts serves steps in which no sequence has more
// rows than one of its tiles. One by pairs of blocks serves sequences that have
// more rows than one of its blocks has of a tile. From max_lengths and the
// numbers of rows and sequences, the host decides whether a step needs a
// prefill kernel, and which. The choice is the same for the plan and for every
// layer. The number of parts depends on the device and the kernel only, so that
// a captured graph stays valid. No bit of a result depends on it.
//
// Attentions with products of 8 bits have kernels of their own: decode and
// prefill, or one that copies tiles for all rows, whose plan is the only one.
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"
#include "Views.h"
#include "kv/ABI/CacheGeometry.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace kv;
using namespace kv::cuda;
using namespace kv::plan;

static constexpr int64_t PlanAlignment = 64;

namespace {

/// The purpose of an attention kernel of the tables.
enum Use {
  Decode,
  Prefill,
  Tiles, // instead of Prefill, where tiles of the cache can be copied
  Drafts,
  DraftTiles,
  Pairs, // of blocks of a cluster
  NumUses
};

} // namespace

/// The attention kernel of a row of KernelLaunches; null: it has another one.
static const AttentionKernel *attentionKernel(size_t row) {
  if (row < FirstMover)
    return &AttentionKernels[row];
  return row < FirstTile ? nullptr : &TileKernels[row - FirstTile];
}

static Use useOf(const AttentionKernel &kernel) {
  if (!kernel.prefill)
    return Decode;
  if (kernel.partBlocks > 1)
    return Pairs;
  if (kernel.drafts)
    return kernel.tiles ? DraftTiles : Drafts;
  return kernel.tiles ? Tiles : Prefill;
}

namespace {

/// The kernel of one use for a cache; false where the artifact has none, or
/// none that this GPU and the cache's pages allow.
struct Kernel {
  static constexpr size_t None = KernelLaunches.size();
  size_t row = None;         // in KernelLaunches
  size_t listed = None;      // the same, whether or not the artifact has it
  int32_t parts = INT32_MAX; // that the device runs at once, each PartBlocks
                             // thread blocks

  explicit operator bool() const { return row != None; }
  const AttentionKernel &traits() const { return *attentionKernel(row); }
};

struct Kernels {
  std::array<Kernel, NumUses> of;                     // by Use
  const Kernel &decode() const { return of[Decode]; } // none: of no rows
  const Kernel &prefill() const { return of[of[Tiles] ? Tiles : Prefill]; }

  /// The prefill kernel of a step whose sequences have at most `longest` rows
  /// each, and `rows` in all.
  const Kernel &prefillFor(int64_t longest, int64_t rows,
                           int64_t sequences) const {
    for (Use few : {Drafts, DraftTiles})
      if (of[few] && longest <= of[few].traits().rows)
        return of[few];
    bool isPaired =
        of[Pairs] && takesPairs(prefill().traits(), rows, sequences);
    return isPaired ? of[Pairs] : prefill();
  }
};

/// Offsets in bytes from the beginning of a plan's buffer.
struct PlanPlaces {
  int64_t header, tiles, cuts, end;
};

} // namespace

static bool tilesCanBeCopied(Call &call, const Cache &cache) {
  return Context::of(call.state).backend().driver().tensorMapEncodeTiled &&
         canTile(cache.view, int(elementBytes(cache.type)), int(cache.heads),
                 int(cache.dim));
}

/// The kernels for a cache, whose rows have `scales` if that is given, with
/// these products. A plan does not know the scales: kernels that differ in them
/// only have tiles of one size, and as many parts as the one with the fewest
/// blocks.
static Kernels kernelsOf(Call &call, const Cache &cache,
                         std::optional<Scales> scales, bool eightBitProducts) {
  Context &context = Context::of(call.state);
  bool copiesTiles = tilesCanBeCopied(call, cache);
  bool knowsClusters = context.backend().driver().launchKernelEx;
  Kernels kernels;
  for (size_t row = 0; row < KernelLaunches.size(); ++row) {
    const AttentionKernel *kernel = attentionKernel(row);
    if (!kernel || kernel->cache != cache.type ||
        kernel->headDim != cache.dim || kernel->planes() != cache.planes ||
        kernel->eightBitProducts != eightBitProducts ||
        (kernel->tiles && !copiesTiles) ||
        (kernel->partBlocks > 1 && !knowsClusters))
      continue;
    Kernel &own = kernels.of[useOf(*kernel)];
    bool fits = eightBitProducts || !scales || kernel->scales == *scales;
    if (fits)
      own.listed = row;
    const LoadedKernel *loaded = context.findKernel(row);
    if (loaded)
      own.parts = std::min(
          own.parts, loaded->parts(call.multiprocessors(), kernel->partBlocks));
    if (loaded && fits)
      own.row = row;
  }
  return kernels;
}

/// Whether kernels with products of 8 bits take all rows: those that copy tiles
/// need no decode kernel.
static bool takeAllRows(const Kernels &kernels) {
  return kernels.of[Tiles] || (kernels.of[Decode] && kernels.of[Prefill]);
}

/// Whether there are kernels for all rows. If not, records an error.
static bool checkKernels(Call &call, const Cache &cache,
                         std::optional<Scales> scales, bool eightBitProducts,
                         const Kernels &kernels) {
  std::string_view type = dtypeName(static_cast<DType>(cache.type));
  if (eightBitProducts) {
    if (!takeAllRows(kernels))
      call.unsupported(
          "there is no kernel for this device with products of "
          "f8E4M3FN and a cache of ",
          type, " with ", cache.planes, " planes, a head dimension of ",
          cache.dim, " and pages of ", int32_t(cache.view.pageSize), " tokens");
    return takeAllRows(kernels);
  }
  for (Use use : {Decode, Prefill}) {
    if (kernels.of[use])
      continue;
    if (kernels.of[use].listed != Kernel::None)
      (void)Context::of(call.state).kernel(call.state, kernels.of[use].listed);
    else
      call.unsupported("there is no kernel for a cache of ", type, " with ",
                       cache.planes, " planes and a head dimension of ",
                       cache.dim,
                       !scales || *scales == Scales::None ? ""
                       : *scales == Scales::Row ? " and a scale a row"
                                                : " and several scales a row");
    return false;
  }
  return true;
}

/// The shape without mask, window and slots, on which the size of a plan does
/// not depend. `apart`: whether a decode kernel takes the short sequences.
static Shape shapeOf(const Kernel &kernel, const Cache &cache, int64_t group,
                     bool apart) {
  bool prefill = kernel.traits().prefill;
  Shape shape{};
  shape.heads = int32_t(cache.heads);
  shape.group = int32_t(group);
  shape.tileRows = kernel.traits().rows;
  shape.leaf = kernel.traits().leaf;
  shape.rowsFrom = prefill && apart ? DecodeRows + 1 : 0;
  shape.rowsTo = prefill ? INT64_MAX : DecodeRows + 1;
  shape.parts = kernel.parts;
  return shape;
}

/// The places of a kernel's part of the plan's buffer, which begins at `begin`.
static PlanPlaces placesOf(const Kernel &kernel, const Shape &shape,
                           int64_t sequences, int64_t tokens, int64_t begin) {
  AttentionWorkspace bytes =
      workspace(kernel.traits(), shape, sequences, tokens);
  auto after = [](int64_t place, int64_t size) {
    return ceilDivide(place + size, PlanAlignment) * PlanAlignment;
  };
  PlanPlaces places{begin, 0, 0, 0};
  places.tiles = after(places.header, bytes.header);
  places.cuts = after(places.tiles, bytes.tiles);
  places.end = after(places.cuts, bytes.cuts);
  return places;
}

int64_t rows::planBytes(KvContext *context, const KvTensorView *blocks,
                        int64_t queryHeads, int64_t sequences, int64_t tokens) {
  Call call(context, "planBytes");
  Cache cache;
  if (call.failed() || !cacheOf(call, *blocks, cache))
    return 0;
  int64_t group = queryHeads / cache.heads;
  auto bytesOf = [&](const Kernels &kernels) {
    bool apart(kernels.decode());
    auto behind = [&](const Kernel &kernel, int64_t begin) {
      return placesOf(kernel, shapeOf(kernel, cache, group, apart), sequences,
                      tokens, begin)
          .end;
    };
    int64_t begin = apart ? behind(kernels.decode(), 0) : 0,
            end = behind(kernels.prefill(), begin);
    for (Use use : {Drafts, DraftTiles, Pairs})
      if (const Kernel &kernel = kernels.of[use])
        end = std::max(end, behind(kernel, begin));
    return end;
  };
  // Who asks does not say which products: an artifact may have the kernels of
  // both kinds, or of one.
  Kernels bytes = kernelsOf(call, cache, std::nullopt, true),
          plain = kernelsOf(call, cache, std::nullopt, false);
  int64_t size = takeAllRows(bytes) ? bytesOf(bytes) : 0;
  bool hasPlain = plain.of[Decode] || plain.of[Prefill];
  if (takeAllRows(bytes) && !hasPlain)
    return size;
  if (!checkKernels(call, cache, std::nullopt, /*eightBitProducts=*/false,
                    plain))
    return 0;
  return std::max(bytesOf(plain), size);
}

namespace {

/// The arguments that `plan` and `plannedAttention` share, checked.
struct AttentionStep {
  Cache cache;
  Table table;
  Batch batch;
  int64_t group; // query heads that share a KV head
  Kernel decode, prefill;
  bool decodeOnly; // no sequence needs the prefill kernel
  char *plan;      // the plan's buffer

  /// In the order of their parts of the plan.
  std::vector<Kernel> kernels() const {
    return decode ? std::vector{decode, prefill} : std::vector{prefill};
  }

  /// Calls fn(kernel, shape, places) for each kernel that the step needs.
  template <class Fn>
  void forEachKernel(int32_t mask, int64_t window, bool trees, Fn fn) {
    int64_t begin = 0;
    for (const Kernel &kernel : kernels()) {
      Shape shape = shapeOf(kernel, cache, group, bool(decode));
      shape.mask = mask;
      shape.window = window;
      shape.trees = trees;
      shape.slots = slotsOf(kernel.traits(), shape, batch);
      PlanPlaces places =
          placesOf(kernel, shape, batch.sequences, batch.tokens, begin);
      begin = places.end;
      if (!kernel.traits().prefill || !decodeOnly)
        fn(kernel, shape, places);
    }
  }
};

} // namespace

static bool checkMask(Call &call, int32_t mask, int64_t window,
                      bool eightBitProducts) {
  bool windowed = mask != KV_MASK_NONE && mask != KV_MASK_CAUSAL;
  if (mask < KV_MASK_NONE || mask > KV_MASK_CHUNKED_CAUSAL ||
      (windowed && window < 1)) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "mask ", mask, " with the window ",
              window, ": masks are 0 to 5, a window is at least 1");
    return false;
  }
  if (eightBitProducts &&
      (mask == KV_MASK_CHUNKED || mask == KV_MASK_CHUNKED_CAUSAL)) {
    call.unsupported("products of 8 bits with the mask ", mask,
                     ": allowed are masks without chunks");
    return false;
  }
  return true;
}

/// Fills `step`, and takes what it says of products from the mask. False, and
/// an error in the call, if an argument is wrong.
static bool
stepOf(Call &call, const KvTensorView &blocks, const KvTensorView &cacheLengths,
       const KvTensorView &lookupTable, const KvTensorView &rowOffsets,
       const KvTensorView *maxLengths, int64_t queryHeads, int64_t tokens,
       int32_t &mask, int64_t window, const KvTensorView &plan,
       std::optional<Scales> scales, AttentionStep &step) {
  bool eightBitProducts = mask & KV_MASK_EIGHT_BIT_PRODUCTS;
  mask &= ~KV_MASK_EIGHT_BIT_PRODUCTS;
  if (!cacheOf(call, blocks, step.cache) ||
      !tableOf(call, cacheLengths, lookupTable, rowOffsets, tokens, step.cache,
               step.table, step.batch))
    return false;
  if (!checkMask(call, mask, window, eightBitProducts))
    return false;
  if (queryHeads < 1 || queryHeads % step.cache.heads) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, queryHeads, " query heads over ",
              step.cache.heads, " of the cache");
    return false;
  }
  Kernels kernels = kernelsOf(call, step.cache, scales, eightBitProducts);
  if (!checkKernels(call, step.cache, scales, eightBitProducts, kernels))
    return false;
  step.group = queryHeads / step.cache.heads;
  if (tokens > INT32_MAX / step.group) {
    call.unsupported(tokens, " rows of ", step.group,
                     " query heads a KV head: at most 2147483647 in all");
    return false;
  }
  if (maxLengths && (maxLengths->dtype != KV_DTYPE_I32 ||
                     maxLengths->rank != 2 || maxLengths->sizes[1] != 2)) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "max_lengths is ",
              describe(*maxLengths), ", needed: i32 [steps, 2] of a step");
    return false;
  }
  int64_t longest =
      maxLengths && maxLengths->sizes[0] > 0
          ? *static_cast<const int32_t *>(firstElement(*maxLengths))
          : tokens;
  step.decode = kernels.decode();
  step.decodeOnly = step.decode && longest * step.group <= DecodeRows;
  step.prefill = kernels.prefillFor(longest * step.group, tokens * step.group,
                                    step.batch.sequences);
  step.plan = static_cast<char *>(firstElement(plan));
  int64_t end = 0;
  for (const Kernel &kernel : step.kernels())
    end = placesOf(kernel,
                   shapeOf(kernel, step.cache, step.group, bool(step.decode)),
                   step.batch.sequences, tokens, end)
              .end;
  if (plan.dtype == KV_DTYPE_I8 && plan.rank == 1 && plan.sizes[0] >= end &&
      reinterpret_cast<uintptr_t>(step.plan) % PlanAlignment == 0)
    return true;
  call.fail(KV_STATUS_INVALID_ARGUMENT, "plan is ", describe(plan),
            ", needed: i8 of ", end, " bytes, aligned to ", PlanAlignment);
  return false;
}

/// Of a narrow window, or of chunks, nodes of a path would not see all others.
static bool checkTreeMask(Call &call, int32_t mask, int64_t window) {
  if (mask == KV_MASK_CAUSAL ||
      (mask == KV_MASK_SLIDING && window >= KV_TREE_ROWS))
    return true;
  call.unsupported("trees with the mask ", mask, " and the window ", window,
                   ": allowed are causal, and sliding of at least ",
                   KV_TREE_ROWS, " tokens");
  return false;
}

void rows::plan(KvContext *context, const KvTensorView *blocks,
                const KvTensorView *cacheLengths,
                const KvTensorView *lookupTable, const KvTensorView *rowOffsets,
                const KvTensorView *maxLengths, int64_t queryHeads,
                int64_t tokens, int32_t mask, int64_t window,
                const KvTensorView *plan) {
  Call call(context, "plan");
  AttentionStep step;
  bool trees = mask & KV_MASK_TREE;
  mask &= ~KV_MASK_TREE;
  if (call.failed() ||
      !stepOf(call, *blocks, *cacheLengths, *lookupTable, *rowOffsets,
              maxLengths, queryHeads, tokens, mask, window, *plan, std::nullopt,
              step) ||
      (trees && !checkTreeMask(call, mask, window)))
    return;
  step.forEachKernel(
      mask, window, trees,
      [&](const Kernel &, const Shape &shape, PlanPlaces places) {
        PlanParams p{step.batch,
                     shape,
                     reinterpret_cast<Header *>(step.plan + places.header),
                     reinterpret_cast<Tile *>(step.plan + places.tiles),
                     reinterpret_cast<Cut *>(step.plan + places.cuts),
                     Context::of(call.state).stepErrors()};
        launch(call.state, kernelRow("kv_plan"), 1, &p);
      });
}

/// `valueDim`: elements of a head of `out`.
static bool checkAttention(Call &call, const Cache &cache, int64_t valueDim,
                           int64_t layer, const KvTensorView &q,
                           const KvTensorView &out, const KvTensorView *lse,
                           const KvTensorView *sinks) {
  if (!checkHeads(call, "q", q) || !checkHeads(call, "out", out))
    return false;
  KvDType query = *kernels::queryTypeOf(cache.type);
  if (q.dtype != query || out.dtype != query || q.sizes[2] != cache.dim ||
      out.sizes[0] != q.sizes[0] || out.sizes[1] != q.sizes[1] ||
      out.sizes[2] != valueDim || layer < 0 || layer >= cache.layers) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "layer ", layer, " of ", cache.layers,
              ", q ", describe(q), ", out ", describe(out),
              ", needed: ", dtypeName(static_cast<DType>(query)), " of ",
              cache.dim, " elements a head and out of ", valueDim);
    return false;
  }
  if ((lse && (lse->dtype != KV_DTYPE_F32 || lse->rank != 2 ||
               lse->sizes[0] != q.sizes[0] || lse->sizes[1] != q.sizes[1])) ||
      (sinks && (sinks->dtype != KV_DTYPE_F32 || sinks->rank != 1 ||
                 sinks->sizes[0] != q.sizes[1] ||
                 (sinks->sizes[0] > 1 && sinks->strides[0] != 1)))) {
    call.fail(KV_STATUS_INVALID_ARGUMENT,
              "lse and sinks must be f32 [T, Hq] "
              "and contiguous [Hq] of q ",
              describe(q));
    return false;
  }
  return true;
}

namespace {
/// The operands of a call of `plannedAttention`.
struct Operands {
  const KvTensorView *blocks, *scales, *cacheLengths, *lookupTable, *rowOffsets,
      *maxLengths, *plan;
  int64_t layer;
  const KvTensorView *q, *out, *lse;
  float scale, softcap;
  int32_t mask;
  int64_t window;
  const KvTensorView *sinks;
  const KvTensorView *ancestors = nullptr;
};
} // namespace

/// Checks the operands, takes what they say of products from the mask, and
/// fills `step` and of `p` what all kernels of the step share. False: there is
/// an error in the call, or nothing to compute.
static bool paramsOf(Call &call, Operands &of, AttentionStep &step,
                     AttentionParams &p) {
  const KvTensorView &q = *of.q, &out = *of.out;
  if (call.failed() || !scalesOf(call, of.scales, *of.blocks, p.scales) ||
      !stepOf(call, *of.blocks, *of.cacheLengths, *of.lookupTable,
              *of.rowOffsets, of.maxLengths, q.sizes[1], q.sizes[0], of.mask,
              of.window, *of.plan,
              kernels::scalesFor(of.blocks->dtype, p.scales.groups), step) ||
      !checkAttention(call, step.cache, step.prefill.traits().valueDim(),
                      of.layer, q, out, of.lse, of.sinks) ||
      (of.ancestors &&
       (!checkTreeMask(call, of.mask, of.window) ||
        !treeOf(call, *of.ancestors, q.sizes[0], p.ancestors))) ||
      q.sizes[0] == 0)
    return false;
  if (!of.scales) { // and where the kernels take some, one for all
    p.scales.data = Context::of(call.state).one();
    p.scales.groups = 1;
  }
  p.cache = step.cache.view;
  p.layer = of.layer;
  p.table = step.table.entries;
  p.tablePitch = step.table.pitch;
  p.tableColumns = step.table.columns;
  p.batch = step.batch;
  p.q = firstElement(q);
  p.qTokenStride = q.strides[0];
  p.qHeadStride = q.strides[1];
  p.out = firstElement(out);
  p.outTokenStride = out.strides[0];
  p.outHeadStride = out.strides[1];
  if (of.lse) {
    p.lse = static_cast<float *>(firstElement(*of.lse));
    p.lseTokenStride = of.lse->strides[0];
    p.lseHeadStride = of.lse->strides[1];
  }
  if (of.sinks)
    p.sinks = static_cast<const float *>(firstElement(*of.sinks));
  p.scale = of.scale;
  p.softcap = of.softcap;
  p.counters = Context::of(call.state).counters();
  return true;
}

/// Launches a kernel that copies tiles. Their maps are the same for all layers
/// but for the layer: not worth keeping.
static void launchTiles(Call &call, const Cache &cache, const Kernel &kernel,
                        const AttentionParams &p) {
  Backend &backend = Context::of(call.state).backend();
  const int blocks = kernel.traits().partBlocks;
  TileParams tiles = tileParams(p, blocks);
  for (int plane = 0; plane < kernel.traits().planes(); ++plane)
    if (!backend.check(
            encodeTensor(backend.driver(),
                         describeTiles(p.cache, int(elementBytes(cache.type)),
                                       int(cache.heads), int(cache.dim),
                                       p.layer, plane, blocks,
                                       kernel.traits().eightBitProducts),
                         tiles.maps[plane]),
            "cuTensorMapEncodeTiled"))
      return call.fail(KV_STATUS_INTERNAL, backend.status().error().message);
  launch(call.state, kernel.row, kernel.parts, &tiles, blocks);
}

/// Gives `p` memory of the arena. False, and an error in the call: the arena
/// has not enough. The arena gets the memory back before the kernel has run:
/// the next use of the memory is queued after the kernel.
static bool borrowScratch(Call &call, const AttentionWorkspace &bytes,
                          AttentionParams &p) {
  Arena &arena = call.state.arena;
  int64_t mark = arena.mark();
  p.scratch = static_cast<float *>(arena.allocate(bytes.scratch));
  p.totals = static_cast<float *>(arena.allocate(bytes.totals));
  bool isEnough = p.scratch && p.totals;
  if (!isEnough)
    call.fail(KV_STATUS_OUT_OF_MEMORY, bytes.scratch + bytes.totals,
              " bytes of the arena asked for, ",
              arena.capacity() - arena.used(), " of ", arena.capacity(),
              " are free");
  arena.release(mark);
  return isEnough;
}

static void attend(Call &call, Operands operands) {
  AttentionStep step;
  AttentionParams p{};
  if (!paramsOf(call, operands, step, p))
    return;
  step.forEachKernel(
      operands.mask, operands.window, /*trees=*/operands.ancestors != nullptr,
      [&](const Kernel &kernel, const Shape &shape, PlanPlaces places) {
        if (call.failed() ||
            !borrowScratch(call,
                           workspace(kernel.traits(), shape,
                                     step.batch.sequences, step.batch.tokens),
                           p))
          return;
        p.shape = shape;
        p.header = reinterpret_cast<const Header *>(step.plan + places.header);
        p.tiles = reinterpret_cast<const Tile *>(step.plan + places.tiles);
        p.cuts = reinterpret_cast<const Cut *>(step.plan + places.cuts);
        const LoadedKernel *merge =
            mergesApart(kernel.traits(), shape, step.batch)
                ? Context::of(call.state).findKernel(kernelRow("kv_merge"))
                : nullptr; // of an artifact that is older, too
        p.mergesApart = merge != nullptr;
        if (kernel.traits().tiles)
          launchTiles(call, step.cache, kernel, p);
        else
          launch(call.state, kernel.row, kernel.parts, &p);
        if (!merge)
          return;
        MergeParams apart{p, kernel.traits().valueDim(), kernel.traits().query};
        launch(call.state, kernelRow("kv_merge"),
               call.multiprocessors() * merge->blocks, &apart);
      });
}

void rows::plannedAttention(
    KvContext *context, const KvTensorView *blocks, const KvTensorView *scales,
    const KvTensorView *cacheLengths, const KvTensorView *lookupTable,
    const KvTensorView *rowOffsets, const KvTensorView *maxLengths,
    const KvTensorView *plan, int64_t layer, const KvTensorView *q,
    const KvTensorView *out, const KvTensorView *lse, float scale,
    float softcap, int32_t mask, int64_t window, const KvTensorView *sinks) {
  Call call(context, "plannedAttention");
  attend(call,
         {blocks, scales, cacheLengths, lookupTable, rowOffsets, maxLengths,
          plan, layer, q, out, lse, scale, softcap, mask, window, sinks});
}

void rows::plannedTreeAttention(
    KvContext *context, const KvTensorView *blocks, const KvTensorView *scales,
    const KvTensorView *cacheLengths, const KvTensorView *lookupTable,
    const KvTensorView *rowOffsets, const KvTensorView *maxLengths,
    const KvTensorView *plan, int64_t layer, const KvTensorView *q,
    const KvTensorView *out, const KvTensorView *lse, float scale,
    float softcap, int32_t mask, int64_t window, const KvTensorView *sinks,
    const KvTensorView *ancestors) {
  Call call(context, "plannedTreeAttention");
  attend(call, {blocks, scales, cacheLengths, lookupTable, rowOffsets,
                maxLengths, plan, layer, q, out, lse, scale, softcap, mask,
                window, sinks, ancestors});
}
