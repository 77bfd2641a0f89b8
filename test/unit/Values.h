//===- Values.h - Prompts and what calls answered ---------------*- C++ -*-===//

#ifndef KV_TEST_UNIT_VALUES_H
#define KV_TEST_UNIT_VALUES_H

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kv::test {

using Tokens = std::vector<int32_t>;

inline Tokens iota(int32_t count, int32_t first = 0) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

/// The error of an Expected.
template <class Result> std::string text(const Result &result) {
  return result ? "no error" : result.error().message;
}

} // namespace kv::test

#endif // KV_TEST_UNIT_VALUES_H
