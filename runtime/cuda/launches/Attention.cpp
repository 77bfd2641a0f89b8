//===- Attention.cpp - The plan and attention -----------------------------===//
//
// The buffer of an attention plan holds a header, tiles and cuts for the decode
// kernel, and behind them the same for the prefill kernel. The decode kernel
// takes the sequences with at most DecodeRows packed rows, the prefill kernel
// takes the others: the one that copies tiles, where there is one and the pages
// are such that it can, or, where no sequence has more rows than one of its
// tiles, one for drafts, with tile copies or without, or, where sequences have
// more rows than one of its blocks has of a tile, the one by pairs of blocks.
// The host decides whether a step needs the prefill kernel at all, and which,
// from max_lengths and the numbers of rows and sequences, in the same way for
// the plan and for every layer. The number of parts depends on the device and
// the kernel only, not on the step, so that a captured graph stays valid; no
// bit of a result depends on it.
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
#include <optional>

using namespace kv;
using namespace kv::cuda;
using namespace kv::plan;

static constexpr int64_t PlanAlignment = 64;

namespace {

/// The decode kernel or the prefill kernel for a cache.
struct Kernel {
  size_t row;    // in KernelLaunches
  int32_t parts; // that the device runs at once, each PartBlocks thread blocks

  const AttentionKernel &traits() const {
    return row < FirstMover ? AttentionKernels[row]
                            : TileKernels[row - FirstTile];
  }
};

struct Kernels {
  std::optional<Kernel> decode; // none: `prefill` takes all rows
  Kernel prefill;
  std::optional<Kernel> drafts, draftTiles, pairs;

  /// The prefill kernel of a step whose sequences have at most so many rows,
  /// and `rows` in all.
  const Kernel &prefillFor(int64_t longest, int64_t rows,
                           int64_t sequences) const {
    for (const std::optional<Kernel> *few : {&drafts, &draftTiles})
      if (*few && longest <= (*few)->traits().rows)
        return **few;
    return pairs && takesPairs(prefill.traits(), rows, sequences) ? *pairs
                                                                  : prefill;
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

namespace {
/// A kernel of one chip for prompts, of which there are several.
struct Special {
  bool tiles = true; // copies the cache's
  bool drafts = false;
  int partBlocks = 1;
};
} // namespace

/// That kernel; nullopt where there is none for this GPU or the cache's pages
/// cannot be copied so. Where there is one, there is one of the same tiles for
/// all scales.
static std::optional<Kernel> findSpecialKernel(Call &call, const Cache &cache,
                                               std::optional<Scales> scales,
                                               Special special) {
  auto [tiles, drafts, partBlocks] = special;
  Context &context = Context::of(call.state);
  if (tiles && !tilesCanBeCopied(call, cache))
    return std::nullopt;
  // No driver that knows clusters.
  if (partBlocks > 1 && !context.backend().driver().launchKernelEx)
    return std::nullopt;
  std::optional<Kernel> found;
  int32_t parts = INT32_MAX;
  for (size_t i = 0; i < std::size(TileKernels); ++i) {
    const AttentionKernel &kernel = TileKernels[i];
    const LoadedKernel *loaded = context.findKernel(FirstTile + i);
    if (!loaded || kernel.eightBitProducts || kernel.tiles != tiles ||
        kernel.drafts != drafts || kernel.partBlocks != partBlocks ||
        kernel.cache != cache.type || kernel.headDim != cache.dim ||
        kernel.planes() != cache.planes)
      continue;
    parts = std::min(parts, loaded->parts(call.multiprocessors(), partBlocks));
    if (!found && (!scales || kernel.scales == *scales))
      found = {FirstTile + i, 0};
  }
  if (found)
    found->parts = parts;
  return found;
}

/// The kernels with products of 8 bits; nullopt where the artifact or this GPU
/// has none.
static std::optional<Kernels> findByteKernels(Call &call, const Cache &cache) {
  Context &context = Context::of(call.state);
  std::optional<Kernel> found[2];
  for (size_t i = 0; i < std::size(TileKernels); ++i) {
    const AttentionKernel &kernel = TileKernels[i];
    const LoadedKernel *loaded = context.findKernel(FirstTile + i);
    if (loaded && kernel.eightBitProducts && kernel.cache == cache.type &&
        kernel.headDim == cache.dim && kernel.planes() == cache.planes &&
        (!kernel.tiles || tilesCanBeCopied(call, cache)))
      found[kernel.prefill] = {FirstTile + i,
                               call.multiprocessors() * loaded->blocks};
  }
  if (!found[1] || (!found[0] && !found[1]->traits().tiles))
    return std::nullopt;
  return Kernels{found[0], *found[1], {}, {}, {}};
}

/// Whether the artifact has any kernel for the cache with other products.
static bool hasPlainKernel(Call &call, const Cache &cache) {
  for (size_t row = 0; row < std::size(AttentionKernels); ++row)
    if (AttentionKernels[row].cache == cache.type &&
        AttentionKernels[row].headDim == cache.dim &&
        AttentionKernels[row].planes() == cache.planes &&
        Context::of(call.state).findKernel(row))
      return true;
  return false;
}

/// The kernels for a cache, whose rows have `scales` if that is given. Without
/// any, records an error and returns nullopt. A plan does not know the scales:
/// kernels that differ in them only have tiles of one size, and as many parts
/// as the one with the fewest blocks.
static std::optional<Kernels> findKernels(Call &call, const Cache &cache,
                                          std::optional<Scales> scales,
                                          bool eightBitProducts) {
  if (eightBitProducts) {
    std::optional<Kernels> kernels = findByteKernels(call, cache);
    if (!kernels)
      call.unsupported("there is no kernel for this device with products of "
                       "f8E4M3FN and a cache of ",
                       dtypeName(static_cast<DType>(cache.type)), " with ",
                       cache.planes, " planes, a head dimension of ", cache.dim,
                       " and pages of ", int32_t(cache.view.pageSize),
                       " tokens");
    return kernels;
  }
  std::optional<Kernel> found[2];
  size_t missing[2];
  int32_t parts[2] = {INT32_MAX, INT32_MAX};
  int count = 0;
  for (size_t row = 0; row < std::size(AttentionKernels); ++row) {
    const AttentionKernel &kernel = AttentionKernels[row];
    if (kernel.cache != cache.type || kernel.headDim != cache.dim ||
        kernel.planes() != cache.planes)
      continue;
    bool wanted = !scales || kernel.scales == *scales;
    if (wanted) {
      missing[kernel.prefill] = row;
      ++count;
    }
    const LoadedKernel *loaded = Context::of(call.state).findKernel(row);
    if (!loaded)
      continue;
    int32_t &least = parts[kernel.prefill];
    least = std::min(least, call.multiprocessors() * loaded->blocks);
    if (wanted)
      found[kernel.prefill] = {row, 0};
  }
  if (count) {
    for (int prefill : {0, 1}) {
      if (!found[prefill]) {
        (void)Context::of(call.state).kernel(call.state, missing[prefill]);
        return std::nullopt;
      }
      found[prefill]->parts = parts[prefill];
    }
    auto find = [&](Special special) {
      return findSpecialKernel(call, cache, scales, special);
    };
    return Kernels{*found[0], find({}).value_or(*found[1]),
                   find({.tiles = false, .drafts = true}),
                   find({.drafts = true}), find({.partBlocks = 2})};
  }
  call.unsupported("there is no kernel for a cache of ",
                   dtypeName(static_cast<DType>(cache.type)), " with ",
                   cache.planes, " planes and a head dimension of ", cache.dim,
                   !scales || *scales == Scales::None ? ""
                   : *scales == Scales::Row ? " and a scale a row"
                                            : " and several scales a row");
  return std::nullopt;
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
    bool apart = kernels.decode.has_value();
    auto behind = [&](const Kernel &kernel, int64_t begin) {
      return placesOf(kernel, shapeOf(kernel, cache, group, apart), sequences,
                      tokens, begin)
          .end;
    };
    int64_t begin = apart ? behind(*kernels.decode, 0) : 0,
            end = behind(kernels.prefill, begin);
    for (const std::optional<Kernel> &kernel :
         {kernels.drafts, kernels.draftTiles, kernels.pairs})
      if (kernel)
        end = std::max(end, behind(*kernel, begin));
    return end;
  };
  // Who asks does not say which products: an artifact may have the kernels of
  // both kinds, or of one.
  std::optional<Kernels> bytes = findByteKernels(call, cache);
  if (bytes && !hasPlainKernel(call, cache))
    return bytesOf(*bytes);
  std::optional<Kernels> kernels =
      findKernels(call, cache, std::nullopt, /*eightBitProducts=*/false);
  if (!kernels)
    return 0;
  return std::max(bytesOf(*kernels), bytes ? bytesOf(*bytes) : 0);
}

namespace {

/// The arguments that `plan` and `plannedAttention` share, checked.
struct Step {
  Cache cache;
  Table table;
  Batch batch;
  int64_t group; // query heads that share a KV head
  std::optional<Kernel> decode;
  Kernel prefill;
  bool decodeOnly; // no sequence needs the prefill kernel
  char *plan;      // the plan's buffer

  /// In the order of their parts of the plan.
  std::vector<Kernel> kernels() const {
    return decode ? std::vector{*decode, prefill} : std::vector{prefill};
  }

  /// Calls fn(kernel, shape, places) for each kernel that the step needs.
  template <class Fn>
  void forEachKernel(int32_t mask, int64_t window, bool trees, Fn fn) {
    int64_t begin = 0;
    for (const Kernel &kernel : kernels()) {
      Shape shape = shapeOf(kernel, cache, group, decode.has_value());
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

/// Fills `step`, and takes what it says of products from the mask. False, and
/// an error in the call, if an argument is wrong.
static bool
stepOf(Call &call, const KvTensorView &blocks, const KvTensorView &cacheLengths,
       const KvTensorView &lookupTable, const KvTensorView &rowOffsets,
       const KvTensorView *maxLengths, int64_t queryHeads, int64_t tokens,
       int32_t &mask, int64_t window, const KvTensorView &plan,
       std::optional<Scales> scales, Step &step) {
  bool eightBitProducts = mask & KV_MASK_EIGHT_BIT_PRODUCTS;
  mask &= ~KV_MASK_EIGHT_BIT_PRODUCTS;
  if (!cacheOf(call, blocks, step.cache) ||
      !tableOf(call, cacheLengths, lookupTable, rowOffsets, tokens, step.cache,
               step.table, step.batch))
    return false;
  bool windowed = mask != KV_MASK_NONE && mask != KV_MASK_CAUSAL;
  if (mask < KV_MASK_NONE || mask > KV_MASK_CHUNKED_CAUSAL ||
      (windowed && window < 1)) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "mask ", mask, " with the window ",
              window, ": masks are 0 to 5, a window is at least 1");
    return false;
  }
  if (queryHeads < 1 || queryHeads % step.cache.heads) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, queryHeads, " query heads over ",
              step.cache.heads, " of the cache");
    return false;
  }
  std::optional<Kernels> kernels =
      findKernels(call, step.cache, scales, eightBitProducts);
  if (!kernels)
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
  step.decodeOnly = kernels->decode && longest * step.group <= DecodeRows;
  step.decode = kernels->decode;
  step.prefill = kernels->prefillFor(longest * step.group, tokens * step.group,
                                     step.batch.sequences);
  step.plan = static_cast<char *>(firstElement(plan));
  int64_t end = 0;
  for (const Kernel &kernel : step.kernels())
    end = placesOf(
              kernel,
              shapeOf(kernel, step.cache, step.group, step.decode.has_value()),
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
  Step step;
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
/// What a call of `plannedAttention` names.
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

static void attend(Call &call, const Operands &operands) {
  auto [blocks, scales, cacheLengths, lookupTable, rowOffsets, maxLengths, plan,
        layer, q, out, lse, scale, softcap, mask, window, sinks, ancestors] =
      operands;
  Step step;
  AttentionParams p{};
  if (call.failed() || !scalesOf(call, scales, *blocks, p.scales) ||
      !stepOf(call, *blocks, *cacheLengths, *lookupTable, *rowOffsets,
              maxLengths, q->sizes[1], q->sizes[0], mask, window, *plan,
              kernels::scalesFor(blocks->dtype, p.scales.groups), step) ||
      !checkAttention(call, step.cache, step.prefill.traits().valueDim(), layer,
                      *q, *out, lse, sinks) ||
      (ancestors && (!checkTreeMask(call, mask, window) ||
                     !treeOf(call, *ancestors, q->sizes[0], p.ancestors))) ||
      q->sizes[0] == 0)
    return;
  if (!scales) // and where the kernels take some, one for all
    p.scales = {.data = Context::of(call.state).one(), .groups = 1};
  p.cache = step.cache.view;
  p.layer = layer;
  p.table = step.table.entries;
  p.tablePitch = step.table.pitch;
  p.tableColumns = step.table.columns;
  p.batch = step.batch;
  p.q = firstElement(*q);
  p.qTokenStride = q->strides[0];
  p.qHeadStride = q->strides[1];
  p.out = firstElement(*out);
  p.outTokenStride = out->strides[0];
  p.outHeadStride = out->strides[1];
  if (lse) {
    p.lse = static_cast<float *>(firstElement(*lse));
    p.lseTokenStride = lse->strides[0];
    p.lseHeadStride = lse->strides[1];
  }
  p.sinks = sinks ? static_cast<const float *>(firstElement(*sinks)) : nullptr;
  p.scale = scale;
  p.softcap = softcap;
  p.counters = Context::of(call.state).counters();
  Backend &backend = Context::of(call.state).backend();
  // The same for all layers but for the layer: not worth keeping.
  auto launchTiles = [&](const Kernel &kernel) {
    const int blocks = kernel.traits().partBlocks;
    TileParams tiles = tileParams(p, blocks);
    for (int plane = 0; plane < kernel.traits().planes(); ++plane)
      if (!backend.check(
              encodeTensor(
                  backend.driver(),
                  describeTiles(p.cache, int(elementBytes(step.cache.type)),
                                int(step.cache.heads), int(step.cache.dim),
                                layer, plane, blocks,
                                kernel.traits().eightBitProducts),
                  tiles.maps[plane]),
              "cuTensorMapEncodeTiled"))
        return call.fail(KV_STATUS_INTERNAL, backend.status().error().message);
    launch(call.state, kernel.row, kernel.parts, &tiles, blocks);
  };
  Arena &arena = call.state.arena;
  step.forEachKernel(
      mask, window, /*trees=*/ancestors != nullptr,
      [&](const Kernel &kernel, const Shape &shape, PlanPlaces places) {
        if (call.failed())
          return;
        AttentionWorkspace bytes = workspace(
            kernel.traits(), shape, step.batch.sequences, step.batch.tokens);
        // The arena gets the memory back before the kernel has run: whatever
        // uses the memory next is queued behind the kernel.
        int64_t mark = arena.mark();
        p.scratch = static_cast<float *>(arena.allocate(bytes.scratch));
        p.totals = static_cast<float *>(arena.allocate(bytes.totals));
        if (!p.scratch || !p.totals)
          call.fail(KV_STATUS_OUT_OF_MEMORY, bytes.scratch + bytes.totals,
                    " bytes of the arena asked for, ",
                    arena.capacity() - arena.used(), " of ", arena.capacity(),
                    " are free");
        arena.release(mark);
        p.shape = shape;
        p.header = reinterpret_cast<const Header *>(step.plan + places.header);
        p.tiles = reinterpret_cast<const Tile *>(step.plan + places.tiles);
        p.cuts = reinterpret_cast<const Cut *>(step.plan + places.cuts);
        if (call.failed())
          return;
        const LoadedKernel *merge =
            mergesApart(kernel.traits(), shape, step.batch)
                ? Context::of(call.state).findKernel(kernelRow("kv_merge"))
                : nullptr; // of an artifact that is older, too
        p.mergesApart = merge != nullptr;
        if (kernel.traits().tiles)
          launchTiles(kernel);
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
