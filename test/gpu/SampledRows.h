//===- SampledRows.h - Some rows of a step in double precision --*- C++ -*-===//

#ifndef KV_TEST_GPU_SAMPLEDROWS_H
#define KV_TEST_GPU_SAMPLEDROWS_H

#include "Step.h"

namespace kv::cuda::test {

/// Compares the query heads of `count` pairs of a token and a KV head with a
/// softmax in double precision, over the numbers that the step's noise says,
/// with `threads` threads. The first and the last token of the step are among
/// them. Empty, or the first difference that rounding does not explain.
///
/// Weights are rounded to the query's type before they are summed, each on its
/// own: errors of many keys grow as the root of the sum of squares. So bounds
/// are narrow enough to see one leaf among 32 thousand keys that is missing or
/// doubled. Heads are of different sharpness: some average all keys, some take
/// few.
std::string checkSampledRows(const Step &step, int count, int threads);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_SAMPLEDROWS_H
