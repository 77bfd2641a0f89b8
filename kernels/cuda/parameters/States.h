//===- States.h - Arguments of the kernels of recurrent layers --*- C++ -*-===//
//
// Arguments of kernels of recurrent layers, which are launched like the movers
// of Movers.h.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_STATES_H
#define KV_KERNELS_CUDA_PARAMETERS_STATES_H

#include "Movers.h"

namespace kv::cuda {

/// The states of one layer, each of `heads` rows of `dim` elements. State 0 is
/// read as zeros and never written, and so is what a number that is none names.
struct StatesView {
  void *data;
  int64_t stride, headStride; // in elements; a head's are contiguous
  int32_t count, heads, dim;
  const int32_t *table; // [sequences, 2]: what is read, what is written
  int64_t tablePitch;
  int32_t type;
};

/// Rows from the states that sequences begin with, or `toStates` rows to those
/// that they end with.
struct CopyStatesParams {
  StatesView states;
  void *rows; // [sequences, heads, dim], without gaps
  int32_t sequences, rowsType;
  bool toStates;
};

/// kv.state_convolution of at most MostTaps taps; states are f32 of taps - 1
/// heads. The batch's capacity is not looked at.
struct StateConvolutionParams {
  StatesView states;
  kv::plan::Batch batch;
  const float *x, *weight, *bias; // bias may be null
  float *out;
  int64_t xStride, weightStride, outStride;
  int32_t width, taps;
};

/// kv.state_scan of keys of at most MostScanKeys elements. In a token nothing
/// has gaps; strides are those between tokens, in elements.
struct StateScanParams {
  StatesView states; // [value heads, keyDim * valueDim]
  kv::plan::Batch batch;
  const float *q, *k;            // [tokens, key heads, keyDim]
  const float *v;                // [tokens, value heads, valueDim]
  const float *decay, *strength; // [tokens, value heads]
  const float *skip;             // [value heads], or null
  float *out;                    // like v
  int64_t qStride, kStride, vStride, decayStride, strengthStride, outStride;
  int32_t valueHeads, perKey; // value heads of a key head
  int32_t keyDim, valueDim;
  bool delta;
};

/// Value columns of a warp, and how many rows of them a lane has: fewer columns
/// where keys are long.
constexpr int ScanColumns = 8, LongScanColumns = 4, ShortScanKeys = 128;
KV_HD constexpr int scanColumns(int keyDim) {
  return keyDim <= ShortScanKeys ? ScanColumns : LongScanColumns;
}

/// Keys or values of one layer as a dense tensor, as kv.load says it.
struct LoadParams {
  StoreParams store; // where rows lie; k and v are not looked at
  ScalesView scales; // of none: data is null
  int32_t plane, groupChunks;
  int64_t window;   // 0: none
  void *out;        // [sequences, rows, heads, dim]
  int32_t *lengths; // [sequences]
  int32_t rows, outType;
};

/// Rows of a step changed in place, as kv.update says it; heads have at most
/// MostUpdated elements.
struct UpdateParams {
  StoreScaledParams store; // where rows lie; k and v are not looked at
  bool scaled;             // whether the cache has scales
  int32_t plane, kind;     // a KvUpdate
  const void *operand;
  int64_t tokenStride, headStride; // of the rows that are added
  int32_t operandType, operandRows, width;
  float epsilon;
  bool interleaved;
};
/// Shared memory: one head per warp.
constexpr int UpdateSharedBytes = MoverWarps * kernels::MostUpdated * 4;

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_STATES_H
