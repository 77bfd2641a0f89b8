//===- Movers.h - Arguments of the kernels that move rows -------*- C++ -*-===//
//
// Rows are contiguous; strides between them count elements. Row lengths and
// strides are multiples of 8 elements, and pointers are aligned to 16 bytes:
// everything is read and written in chunks. A grid may have any size.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_H
#define KV_KERNELS_CUDA_MOVERS_H

#include "Attention.h"

namespace kv::cuda {

constexpr int MoverThreads = 256;

/// This step's rows into one layer of the cache. Page 0 is the null page: what
/// is stored to it is dropped, and so is what no page holds.
struct StoreParams {
  CacheView cache; // written
  int64_t layer;
  const int32_t *table;
  int64_t tablePitch;
  int32_t tableColumns;
  kv::plan::Batch batch;
  int32_t heads, dim;
  const void *k, *v; // [tokens, heads, dim]; v null: a cache with one plane
  int64_t kTokenStride, kHeadStride, vTokenStride, vHeadStride;
};

/// x [tokens, heads, dim] rotated by the angles of its positions: row p of
/// freqs [positions, width] holds pairs (cos, sin). Element i < width / 2 is
/// rotated with i + width / 2 or, interleaved, 2 i with 2 i + 1; elements from
/// width on pass through. width is a multiple of 16. A position that freqs does
/// not have gives NaN.
struct RopeParams {
  const void *x;
  void *out;
  int64_t xTokenStride, xHeadStride, outTokenStride, outHeadStride;
  int32_t tokens, heads, dim, width;
  const int32_t *positions; // [tokens]
  const float *freqs;
  int32_t freqRows;
  bool interleaved;
};

/// out = x / sqrt(mean(x^2) + epsilon) * (weight + offset), row by row.
struct NormParams {
  const void *x;
  void *out;
  int64_t xStride, outStride;
  int32_t rows, width;
  const void *weight; // [width]
  float epsilon, offset;
};

/// out = f(a, b), row by row.
struct PairParams {
  const void *a, *b;
  void *out;
  int64_t aStride, bStride, outStride;
  int32_t rows, width;
};

/// Row i of out is row ids[i] of the table; NaN where the table has none.
struct EmbeddingParams {
  const int32_t *ids;
  const void *table;
  void *out;
  int64_t tableStride, outStride;
  int32_t rows, width, tableRows;
};

struct CastParams {
  const void *x;
  void *out;
  int64_t xStride, outStride;
  int32_t rows, width;
};

/// The first of the largest elements of each row; NaN is smaller than all.
struct ArgmaxParams {
  const void *x;
  int32_t *out; // [rows]
  int64_t xStride;
  int32_t rows, width;
};

/// Whole pages, each `pageBytes` contiguous bytes, a multiple of 16. No page is
/// both a source and a target. Pairs with an id that is no page are dropped.
struct CopyPagesParams {
  void *data;
  int64_t pageBytes;
  int32_t pages;
  const int32_t *pairs; // [count][2]: from, to
  int32_t count;
};

/// Makes the plan of a step: makePlan's results, by one block.
struct PlanParams {
  kv::plan::Batch batch;
  kv::plan::Shape shape;
  kv::plan::Header *header;
  kv::plan::Tile *tiles; // maxTiles
  kv::plan::Cut *cuts;   // parts + 1
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_H
