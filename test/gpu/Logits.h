//===- Logits.h - Two runs of a model compared ------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_LOGITS_H
#define KV_TEST_GPU_LOGITS_H

#include <string>
#include <vector>

namespace kv::cuda::test {

/// A GPU's artifact rounds more to bf16 than a CPU's: on the fake driver
/// SmolLM2's logits differ by 0.42 on the prompts of test/data/smollm2 (its
/// README.md). Twice that is a mistake.
constexpr double LogitTolerance = 0.84;

/// Empty when all logits differ by at most the tolerance, else one sentence.
/// `largest` becomes the largest difference.
std::string compareLogits(const std::vector<float> &expected,
                          const std::vector<float> &got, double &largest);

/// The same of two files of raw f32.
std::string compareLogitFiles(const std::string &expected,
                              const std::string &got, double &largest);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_LOGITS_H
