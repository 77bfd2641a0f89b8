//===- StepErrors.h - What is wrong with a step's data ----------*- C++ -*-===//
//
// Token ids, positions and row offsets lie on the device, so only kernels see
// whether they are sound. A kernel that finds one that is not goes on without
// it and raises an error: a word that is zero as long as all is well, in memory
// that the host reads too. The host looks at it when it has waited for a step,
// and so nothing waits for an error.
//
// If there are several errors, the largest word stays, so that no order of
// threads or blocks decides what is reported: the kind that comes first in a
// step, then the earliest row.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_STEPERRORS_H
#define KV_KERNELS_CUDA_PARAMETERS_STEPERRORS_H

#include "kernels/block/Body.h"
#include "kv/Definition/HostDevice.h"

namespace kv::cuda {

/// In the order in which they stay.
enum class StepErrorKind : uint8_t {
  None = 0,
  RopePosition = 1, // of a row: a position that freqs has no row for
  EmbeddingId = 2,  // of a row: an id that the table has no row for
  RowOffset = 3,    // of an entry of row_offsets: not 0 at first, less than the
                    // one before, or not the number of rows at last
};

struct StepError {
  StepErrorKind kind;
  int32_t row;   // exact below 2^24 - 1
  int32_t value; // what was found there
};

constexpr int32_t LastErrorRow = (1 << 24) - 1;

KV_HD constexpr uint64_t packStepError(StepErrorKind kind, int64_t row,
                                       int32_t value) {
  uint64_t left = uint64_t(LastErrorRow) -
                  uint64_t(kv::plan::lesser<int64_t>(row, LastErrorRow));
  return uint64_t(kind) << 56 | left << 32 | uint32_t(value);
}

constexpr StepError unpackStepError(uint64_t word) {
  return {StepErrorKind(word >> 56),
          LastErrorRow - int32_t(word >> 32 & LastErrorRow),
          int32_t(uint32_t(word))};
}

/// If `errors` is null, errors are not reported.
template <class B>
KV_BODY void raiseStepError(B &b, uint64_t *errors, StepErrorKind kind,
                            int64_t row, int32_t value) {
  if (errors)
    b.storeLargest(errors, packStepError(kind, row, value));
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_STEPERRORS_H
