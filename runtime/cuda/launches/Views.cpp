//===- Views.cpp - Tensors as kernels take them ---------------------------===//

#include "Views.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>

using namespace kv;
using namespace kv::cuda;

using kernels::RowChunk;
using kernels::ScaleChunk;

bool kv::cuda::aligned(const KvTensorView &view) {
  return reinterpret_cast<uintptr_t>(firstElement(view)) %
             kernels::RowAlignment ==
         0;
}

int64_t kv::cuda::elementsOf(const KvTensorView &view) {
  int64_t elements = 1;
  for (int64_t d = 0; d < view.rank; ++d)
    elements *= view.sizes[d];
  return elements;
}

bool kv::cuda::isDense(const KvTensorView &view) {
  int64_t stride = 1;
  for (int64_t d = view.rank - 1; d >= 0; --d) {
    if (view.sizes[d] > 1 && view.strides[d] != stride)
      return false;
    stride *= view.sizes[d];
  }
  return true;
}

std::string kv::cuda::strides(const KvTensorView &view) {
  std::string text = "strides [";
  for (int64_t d = 0; d < view.rank; ++d)
    text += concat(d ? ", " : "", view.strides[d]);
  return text + "]";
}

bool kv::cuda::rowsOf(Call &call, std::string_view argument,
                      const KvTensorView &view, Rows &rows) {
  auto refuse = [&](const std::string &why) {
    call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                     ": ", why);
    return false;
  };
  if (!kernels::isRowType(view.dtype))
    return refuse("its elements must be " + kernels::rowTypes("or"));
  if (view.rank < 1)
    return refuse("it must have rows");
  int64_t last = view.rank - 1;
  rows = {firstElement(view), 0, 1, view.sizes[last], int32_t(view.dtype)};
  if (rows.width > 1 && view.strides[last] != 1)
    return refuse("a row must be contiguous");
  for (int64_t d = last - 1; d >= 0; --d) {
    if (view.sizes[d] == 1)
      continue;
    if (rows.count == 1)
      rows.stride = view.strides[d];
    else if (view.strides[d] != rows.stride * rows.count)
      return refuse("rows must lie at equal distances");
    rows.count *= view.sizes[d];
  }
  if (rows.count <= 1)
    rows.stride = rows.width;
  if (rows.stride < rows.width)
    return refuse("rows must not overlap");
  if (rows.width % RowChunk || rows.stride % RowChunk || !aligned(view))
    return refuse("rows and their distances must be multiples of 8 elements, "
                  "and their beginning aligned to 16 bytes");
  if (rows.count > INT32_MAX || rows.width > INT32_MAX)
    return refuse("there are at most 2147483647 rows and elements of a row");
  return true;
}

bool kv::cuda::checkHeads(Call &call, std::string_view argument,
                          const KvTensorView &view) {
  if (kernels::isRowType(view.dtype) && view.rank == 3 &&
      view.strides[2] == 1 && view.sizes[2] % RowChunk == 0 &&
      view.strides[0] % RowChunk == 0 && view.strides[1] % RowChunk == 0 &&
      aligned(view))
    return true;
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": it must be [tokens, heads, dim] of ",
                   kernels::rowTypes("or"),
                   ", chunks of 8 elements that are aligned to 16 bytes");
  return false;
}

bool kv::cuda::checkIntegers(Call &call, std::string_view argument,
                             const KvTensorView &view) {
  if (view.dtype == KV_DTYPE_I32 && view.rank == 1 &&
      (view.sizes[0] <= 1 || view.strides[0] == 1))
    return true;
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": it must be contiguous i32 of rank 1");
  return false;
}

/// Records an error that names the blocks or scales of a cache. Returns false.
static bool refuse(Call &call, std::string_view argument,
                   const KvTensorView &view, const std::string &why) {
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": ", why);
  return false;
}

bool kv::cuda::poolOf(Call &call, const KvTensorView &blocks, Cache &cache) {
  if (blocks.rank != 6 || (blocks.sizes[5] > 1 && blocks.strides[5] != 1) ||
      !aligned(blocks))
    return refuse(call, "blocks", blocks,
                  "it must be [pages, planes, layers, tokens, heads, dim] with "
                  "contiguous rows");
  if (blocks.sizes[0] > INT32_MAX || blocks.sizes[3] > INT32_MAX)
    return refuse(call, "blocks", blocks,
                  "there are at most 2147483647 pages and tokens of a page");
  if (blocks.sizes[1] < 1 || blocks.sizes[1] > 2 ||
      std::any_of(blocks.sizes + 2, blocks.sizes + 6,
                  [](int64_t size) { return size < 1; }))
    return refuse(call, "blocks", blocks,
                  "it must have one or two planes, and no page may be empty");
  const int64_t *s = blocks.strides;
  cache = {{firstElement(blocks), s[0], s[1], s[2], s[3], s[4],
            int32_t(blocks.sizes[0]), int32_t(blocks.sizes[3])},
           blocks.sizes[1],
           blocks.sizes[2],
           blocks.sizes[4],
           blocks.sizes[5],
           KvDType(blocks.dtype)};
  return true;
}

bool kv::cuda::cacheOf(Call &call, const KvTensorView &blocks, Cache &cache) {
  if (!poolOf(call, blocks, cache))
    return false;
  if (!kernels::queryTypeOf(blocks.dtype))
    return refuse(call, "blocks", blocks,
                  "there are kernels for " + kernels::cacheTypes());
  int64_t bytes = int64_t(dtypeBytes(static_cast<DType>(blocks.dtype)));
  for (int64_t d = 0; d < 5; ++d)
    if (blocks.sizes[d] > 1 &&
        blocks.strides[d] * bytes % kernels::RowAlignment)
      return refuse(call, "blocks", blocks,
                    "its rows must be aligned to 16 bytes");
  return true;
}

bool kv::cuda::scalesOf(Call &call, const KvTensorView *scales,
                        const KvTensorView &blocks, ScalesView &view) {
  view = {};
  if (!scales)
    return true;
  bool powers = scales->dtype == KV_DTYPE_F8E8M0FNU;
  if ((!powers && scales->dtype != KV_DTYPE_F32) || scales->rank != 6 ||
      blocks.rank != 6 ||
      !std::equal(blocks.sizes, blocks.sizes + 5, scales->sizes) ||
      scales->sizes[5] < 1 || blocks.sizes[5] % scales->sizes[5] ||
      (scales->sizes[5] > 1 && scales->strides[5] != 1))
    return refuse(
        call, "scales", *scales,
        "it must be f32 or f8E8M0FNU like blocks, with a divisor of " +
            std::to_string(blocks.sizes[5]) + " contiguous scales a row");
  int64_t groups = scales->sizes[5], chunks = blocks.sizes[5] / ScaleChunk;
  if (groups > 1 && (blocks.sizes[5] / groups % ScaleChunk ||
                     groups > kernels::mostGroups(int(blocks.sizes[5]))))
    return refuse(call, "scales", *scales,
                  "of several a row there are at most 4 (of 256 elements 2), "
                  "of a multiple of 16 "
                  "elements each");
  const int64_t *s = scales->strides;
  view = {firstElement(*scales), s[0], s[1], s[2], s[3], s[4], powers,
          int32_t(groups),       0};
  while ((chunks / groups) >> (view.groupShift + 1))
    ++view.groupShift;
  return true;
}

bool kv::cuda::batchOf(Call &call, const KvTensorView &cacheLengths,
                       const KvTensorView &rowOffsets, int64_t tokens,
                       kv::plan::Batch &batch) {
  if (!checkIntegers(call, "cache_lengths", cacheLengths) ||
      !checkIntegers(call, "row_offsets", rowOffsets))
    return false;
  int64_t sequences = cacheLengths.sizes[0];
  if (rowOffsets.sizes[0] != sequences + 1 || rowOffsets.sizes[0] > INT32_MAX ||
      tokens > INT32_MAX) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "cache_lengths is ",
              describe(cacheLengths), ", row_offsets ", describe(rowOffsets),
              " for ", tokens,
              " rows: they must be i32 [B] and [B + 1], below "
              "2147483648 rows");
    return false;
  }
  batch = {static_cast<const int32_t *>(firstElement(cacheLengths)),
           static_cast<const int32_t *>(firstElement(rowOffsets)),
           int32_t(sequences), int32_t(tokens), /*capacity=*/0};
  return true;
}

bool kv::cuda::tableOf(Call &call, const KvTensorView &cacheLengths,
                       const KvTensorView &lookupTable,
                       const KvTensorView &rowOffsets, int64_t tokens,
                       const Cache &cache, Table &table,
                       kv::plan::Batch &batch) {
  if (!batchOf(call, cacheLengths, rowOffsets, tokens, batch))
    return false;
  bool paged = lookupTable.rank == 2;
  if (lookupTable.dtype != KV_DTYPE_I32 || (!paged && lookupTable.rank != 1) ||
      (paged && ((lookupTable.sizes[1] > 1 && lookupTable.strides[1] != 1) ||
                 lookupTable.sizes[1] > INT32_MAX))) {
    call.unsupported("lookup_table is ", describe(lookupTable),
                     ": CUDA kernels take i32 [B, pitch], rows of page ids, or "
                     "i32 [B], slots of a continuous cache");
    return false;
  }
  if (lookupTable.sizes[0] != batch.sequences) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "lookup_table is ",
              describe(lookupTable), ", cache_lengths ", describe(cacheLengths),
              ": each sequence has a row of pages");
    return false;
  }
  table = {static_cast<const int32_t *>(firstElement(lookupTable)),
           lookupTable.strides[0], paged ? int32_t(lookupTable.sizes[1]) : 1,
           paged ? 1 : 0};
  batch.capacity = int64_t(table.columns) * cache.view.pageSize;
  return true;
}

bool kv::cuda::treeOf(Call &call, const KvTensorView &ancestors, int64_t tokens,
                      const int64_t *&words) {
  words = static_cast<const int64_t *>(firstElement(ancestors));
  if (ancestors.dtype == KV_DTYPE_I64 && ancestors.rank == 1 &&
      ancestors.sizes[0] == tokens && (tokens < 2 || ancestors.strides[0] == 1))
    return true;
  call.fail(KV_STATUS_INVALID_ARGUMENT, "ancestors are ", describe(ancestors),
            ", needed: contiguous i64 of the step's ", tokens, " tokens");
  return false;
}
