//===- Movers.h - Arguments of the kernels that move rows -------*- C++ -*-===//
//
// Rows are contiguous; strides between them count elements. Row lengths and
// strides are multiples of 8 elements, and pointers are aligned to 16 bytes:
// everything is read and written in chunks. A grid may have any size.
//
// Types are KvDType's F32, F16 and BF16, each independent of the others;
// results may be F8E4M3FN as well. All arithmetic is in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_MOVERS_H
#define KV_KERNELS_CUDA_PARAMETERS_MOVERS_H

#include "Attention.h"
#include "QuantFormat.h"
#include "kv/ABI/DeviceKernels.h"

namespace kv::cuda {

constexpr int MoverThreads = 256, MoverWarps = MoverThreads / WarpLanes;

/// Shared memory of norm: one sum per warp. Of argmax: one candidate and its
/// place per warp. Of the plan: two buffers for sums over threads, and the ends
/// of the tiles of each thread's sequence.
constexpr int NormSharedBytes = MoverWarps * 4;
constexpr int ArgmaxSharedBytes = MoverWarps * 8;
constexpr int PlanSharedBytes = 3 * MoverThreads * 8;
/// Blocks that draw from a row together, at most.
constexpr int MostSampleBlocks = 8;
/// Shared memory of a draw, for each of a digit's 16 values: the sum of each
/// thread and whether it is of one token, the same for all threads and, in two
/// buffers, for each block.
constexpr int SampleSharedBytes =
    16 * (MoverThreads * 9 + 12) + 2 * MostSampleBlocks * 16 * 12;

/// Shared memory of a block's products. For each warp's group: the sums of 16
/// rows and 16 columns, twice if a group has two sub-blocks, and the sum of
/// each row. There are two of these, which are written and read in turn.
constexpr int QuantTileFloats = 16 * BlockRows;
constexpr int QuantWarpFloats = 2 * QuantTileFloats + 16;
constexpr int QuantSharedBytes = 2 * MoverWarps * QuantWarpFloats * 4;

using kernels::ExpertRecord, kernels::ExpertRows;
/// The tiles before those of `expert`, of whose choices `before` belong to the
/// experts before it: some of them may be empty.
KV_HD constexpr int64_t expertTilesBefore(int64_t expert, int64_t before) {
  return before / ExpertRows + kv::plan::lesser(expert, before);
}

/// Shared memory of their products: stages of 64 rows and 64 columns.
constexpr int ExpertSliceChunks = 8, ExpertStages = 3;
constexpr int ExpertSharedBytes =
    ExpertStages * 2 * ExpertRows * ExpertSliceChunks * ChunkBytes;
constexpr int OrderSharedBytes = 2 * MoverThreads * 8;

/// This step's rows into one layer of the cache. Rows for pages before the
/// first, such as the null page 0, are dropped, and so are rows that no page
/// holds.
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
  int32_t rowsType, cacheType;
  int32_t firstPage = 1;
};

/// A store to 8 bits with scales: the scale of a group is its largest magnitude
/// over the largest number of the cache's type, or the power of two above. A
/// row has at most 256 elements.
struct StoreScaledParams {
  StoreParams store;
  ScalesView scales;   // written
  int32_t groupChunks; // chunks of a group
};

/// x [tokens, heads, dim] rotated by the angles of its positions. Row p of
/// freqs [positions, width] holds pairs (cos, sin). Element i < width / 2 is
/// rotated with i + width / 2. If interleaved, 2 i is rotated with 2 i + 1.
/// Elements from width on pass through. width is even, and freqs has no gaps
/// between rows. A position that freqs does not have gives NaN and raises an
/// error.
struct RopeParams {
  const void *x;
  void *out;
  int64_t xTokenStride, xHeadStride, outTokenStride, outHeadStride;
  int32_t tokens, heads, dim, width;
  const int32_t *positions; // [tokens]
  const float *freqs;
  int32_t freqRows;
  bool interleaved;
  int32_t xType, outType;
  uint64_t *errors; // StepErrors.h
};

/// One thread of a rope handles 8 rotated pairs at a time, or 16 elements that
/// pass. The functions return the numbers of both per head.
KV_HD constexpr int ropeTurns(int width) { return (width / 2 + 7) / 8; }
KV_HD constexpr int ropeItems(int dim, int width) {
  return ropeTurns(width) + (dim - width + 15) / 16;
}

/// out = x / sqrt(mean(x^2) + epsilon) * (weight + offset), row by row.
struct NormParams {
  const void *x;
  void *out;
  int64_t xStride, outStride;
  int32_t rows, width;
  const void *weight; // [width], or null for zeros
  float epsilon, offset;
  int32_t xType, weightType, outType;
  /// Rows of the weight, [weightRows, width] without gaps: row i of x takes row
  /// i % weightRows.
  int32_t weightRows = 1;
  /// Rows of x that lie together without gaps. The next ones begin xStride
  /// after the first of these.
  int32_t together = 1;
};

/// A rope of q, and one of k, whose result is stored with v: the same numbers
/// as theirs, and as those of norms before them where weights are given. Heads
/// have at most 256 elements; dim and width are multiples of 16.
struct RopeStoreParams {
  RopeParams q;            // its angles and positions are k's as well
  StoreScaledParams store; // store.dim == q.dim; k as it is before the rope
  bool scaled;             // whether the cache has scales
  int32_t kType, vType;    // instead of store.rowsType
  const void *qWeight, *kWeight; // [dim], or null
  float epsilon, offset;
  int32_t qWeightType, kWeightType;
};

/// out = f(a, b), row by row; a bStride of 0 gives every row the same b.
struct PairParams {
  const void *a, *b;
  void *out;
  int64_t aStride, bStride, outStride;
  int32_t rows, width;
  int32_t function; // a KvPair
  int32_t aType, bType, outType;
};

enum class ElementOp : int32_t {
#define KV_ELEMENT_OP(name, ...) name,
#include "kv/ABI/ElementOps.def"
};
enum class ElementSource : int32_t { None, A, B, T, U, Number };
struct ElementStep {
  ElementOp op;
  ElementSource source;
  float number; // of the source Number
};
constexpr int MaxElementSteps = 32;

/// A program (ElementOps.def) makes each element of out from the elements of a
/// and b at its place. A stride of 0 gives every row the same a or b.
struct ElementwiseParams {
  const void *a, *b;
  void *out;
  int64_t aStride, bStride, outStride;
  int32_t rows, width;
  int32_t aType, bType, outType;
  int32_t count; // of steps
  ElementStep steps[MaxElementSteps];
};

/// Row i of out is row ids[i] of the table; NaN, and an error is raised, where
/// the table has none.
struct EmbeddingParams {
  const int32_t *ids;
  const void *table;
  void *out;
  int64_t tableStride, outStride;
  int32_t rows, width, tableRows;
  int32_t tableType, outType;
  uint64_t *errors; // StepErrors.h
};

struct CastParams {
  const void *x;
  void *out;
  int64_t xStride, outStride;
  int32_t rows, width;
  int32_t xType, outType;
};

/// Each 32 elements x of a row become round(x / d), ties to even, with d = max
/// |x| / 127. A row of out is `width` bytes and then the d's, f32. width is a
/// multiple of 32; rows begin at multiples of 8 bytes.
struct RoundRowsParams {
  const void *x;
  int8_t *out;
  int64_t xStride, outStride; // outStride: bytes
  int32_t rows, width;
  int32_t xType;
};

/// out = x * transpose(weight), as kv.matmul says it of quantised weights: x is
/// what a RoundRows makes of rows of `depth` elements.
struct QuantMatmulParams {
  const int8_t *x;
  QuantWeight weight;
  void *out;
  int64_t xStride, outStride; // xStride: bytes
  int32_t rows, columns, depth;
  int32_t outType;
  QuantFormat format;
};

/// A quantised product with a weight of experts, as ExpertMatmulParams has
/// them; `columns` are those of one expert. `rows` is not looked at.
struct ExpertQuantMatmulParams {
  QuantMatmulParams product;
  const int32_t *order; // [tiles, ExpertRecord]
  int32_t tiles, choicesPerRow;
};

/// Like EmbeddingParams, of a quantised table.
struct QuantEmbeddingParams {
  const int32_t *ids;
  QuantWeight table;
  void *out;
  int64_t outStride;
  int32_t rows, width, tableRows;
  int32_t outType;
  QuantFormat format;
  uint64_t *errors; // StepErrors.h
};

/// The first of the largest elements of each row; NaN is smaller than all.
struct ArgmaxParams {
  const void *x;
  int32_t *out; // [rows]
  int64_t xStride;
  int32_t rows, width;
  int32_t xType;
};

/// The numbers of the greatest logits of each row, the greatest first and of
/// equal ones the lowest first; a NaN counts as -inf. logits [rows, experts].
struct RouteParams {
  const float *logits;
  int32_t *out; // [rows, choices]
  int64_t stride;
  int32_t rows, experts, choices;
};

/// The parts of a softmax of what each row has chosen, the greatest first: over
/// all logits [rows, count], or, `normalised`, over the chosen ones. `sigmoid`:
/// logistic functions instead, and `normalised` their parts of their sum.
struct SharesParams {
  const float *logits;
  const int32_t *experts; // [rows, choices]
  float *out;             // [rows, choices]
  int64_t stride;
  int32_t rows, count, choices;
  bool normalised, sigmoid;
};

/// Rows [rows, groups * width] of which the `keep` best groups are kept, by the
/// sums of their `best` greatest elements; the others become -inf.
struct KeepGroupsParams {
  const float *x;
  float *out;
  int64_t xStride, outStride;
  int32_t rows, groups, width, keep, best;
};

/// out[r] = the sum over choices c of x[r * choices + c] * (share * scale), in
/// the order of the choices.
struct SumChoicesParams {
  const void *x;
  const float *shares; // [rows, choices]
  void *out;
  int64_t xStride, outStride;
  int32_t rows, choices, width;
  float scale;
  int32_t xType, outType;
};

/// kv.merge of two sides, each with rows and the logarithms of their
/// denominators. The result is the rows or, if `lse` is given, the logarithms
/// of all.
struct MergeSidesParams {
  const void *a, *b;        // [rows, width]
  const float *aLse, *bLse; // [rows]
  void *out;                // [rows, width]
  float *lse;               // [rows], or null
  int64_t aStride, bStride, outStride;
  int32_t rows, width;
  int32_t aType, bType, outType;
};

/// out = x times the logistic function of the product of a row of m and the
/// weight, row by row: x / (1 + exp(-sum of m[k] * weight[k])).
struct GateRowsParams {
  const void *x, *m;
  const void *weight; // [depth]
  void *out;
  int64_t xStride, mStride, outStride;
  int32_t rows, width, depth;
  int32_t xType, mType, weightType, outType;
};

/// Orders choices by their experts, 0 to count - 1; a number outside stands for
/// the nearest.
struct OrderExpertsParams {
  const int32_t *experts; // [choices]
  int32_t *out;           // [expertTilesBefore(count, choices), ExpertRecord]
  int32_t choices, count;
};

/// Row c of out is row c / choicesPerRow of x, times transpose(weight of c's
/// expert). A weight holds matrices of `columns` rows, one below the other,
/// without gaps. Types: x and weight have the type `type`, F32 or BF16, out F32
/// or that. columns is a multiple of 16.
struct ExpertMatmulParams {
  const void *x, *weight;
  void *out;
  const int32_t *order; // [tiles, ExpertRecord]
  int64_t xStride, outStride;
  int32_t tiles, choicesPerRow, columns, depth;
  int32_t type, outType;
};

/// The token of each row as kv.sample chooses it (sampling/Sampling.h); rows
/// have less than 2^24 elements, a multiple of 8. A row's parameters lie at its
/// index of each list. Where blocks are launched as clusters, each has a row.
struct SampleParams {
  const float *logits;
  int32_t *out; // [rows]
  int64_t stride;
  int32_t rows, width;
  const float *temperature, *topP, *minP;
  const int32_t *topK;
  const int64_t *seeds;
  const int32_t *indices; // of the token in its answer
};

/// How many blocks draw from a row together on a chip whose blocks form
/// clusters: as many as find SMs of their own and read their part in four turns
/// or more, for each digit costs them a barrier.
constexpr int sampleBlocks(int64_t rows, int64_t width, int64_t sms) {
  int blocks = 1;
  while (blocks < MostSampleBlocks && rows * blocks * 2 <= sms &&
         width >= blocks * 2 * int64_t(4 * 8 * MoverThreads))
    blocks *= 2;
  return blocks;
}

/// The position of each of batch.tokens rows in its sequence; -1 for a row
/// that lies in none. The batch's capacity is not looked at.
struct PositionsParams {
  kv::plan::Batch batch;
  int32_t *out;             // [tokens]
  const int64_t *ancestors; // [tokens] or null: words of trees
};

/// out[b] = lengths[b] + sign * (the rows of sequence b).
struct GrowLengthsParams {
  const int32_t *lengths, *rowOffsets;
  int32_t *out;
  int32_t sequences, sign;
};

/// Page source[i] to page destination[i], i < count: `runs` times `runBytes`
/// contiguous bytes, `runStride` apart, of pages `pageStride` bytes apart. All
/// layers are one run, one layer is a run a plane, `data` being moved to it.
/// Everything in bytes is a multiple of 16. No page is both a source and a
/// destination. Pairs with an id that is no page, or to page 0, are dropped.
struct CopyPagesParams {
  void *data;
  int64_t pageStride, runStride, runBytes;
  int32_t runs, pages;
  const int32_t *source, *destination;
  int32_t count;
};

/// Makes the plan of a step: makePlan's results, by one block. Row offsets that
/// are none raise an error; the plan stays within the step's rows all the same.
struct PlanParams {
  kv::plan::Batch batch;
  kv::plan::Shape shape;
  kv::plan::Header *header;
  kv::plan::Tile *tiles; // maxTiles
  kv::plan::Cut *cuts;   // parts + 1
  uint64_t *errors;      // StepErrors.h
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_MOVERS_H
