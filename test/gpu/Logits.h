//===- Logits.h - Two runs of a model compared ------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_LOGITS_H
#define KV_TEST_GPU_LOGITS_H

#include <string>
#include <vector>

namespace kv::cuda::test {

/// Two sums of the same 16-bit products in different orders differ by up to
/// 0.13 in SmolLM2's logits (docs/performance.md); twice that is a mistake.
constexpr double LogitTolerance = 0.26;

/// Empty when all logits differ by at most the tolerance, else one sentence.
/// `largest` becomes the largest difference.
std::string compareLogits(const std::vector<float> &expected,
                          const std::vector<float> &got, double &largest);

/// The same of two files of raw f32.
std::string compareLogitFiles(const std::string &expected,
                              const std::string &got, double &largest);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_LOGITS_H
