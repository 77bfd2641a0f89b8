//===- Logits.cpp - Two runs of a model compared --------------------------===//

#include "Logits.h"

#include <cmath>
#include <fstream>
#include <iterator>

using namespace kv::cuda::test;

std::string kv::cuda::test::compareLogits(const std::vector<float> &expected,
                                          const std::vector<float> &got,
                                          double &largest) {
  largest = 0;
  if (expected.size() != got.size() || expected.empty())
    return "there are " + std::to_string(got.size()) + " logits, expected " +
           std::to_string(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    double difference = std::fabs(double(got[i]) - expected[i]);
    if (!(difference <= LogitTolerance)) // or NaN
      return "logit " + std::to_string(i) + " is " + std::to_string(got[i]) +
             ", expected " + std::to_string(expected[i]) + " +- " +
             std::to_string(LogitTolerance);
    largest = std::fmax(largest, difference);
  }
  return "";
}

static std::vector<float> readFloats(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> floats(bytes.size() / sizeof(float));
  bytes.copy(reinterpret_cast<char *>(floats.data()),
             floats.size() * sizeof(float));
  return floats;
}

std::string kv::cuda::test::compareLogitFiles(const std::string &expected,
                                              const std::string &got,
                                              double &largest) {
  return compareLogits(readFloats(expected), readFloats(got), largest);
}
