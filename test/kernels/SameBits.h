//===- SameBits.h - Whether results have the same bits ----------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_SAMEBITS_H
#define KV_TEST_KERNELS_SAMEBITS_H

#include <cstring>
#include <vector>

namespace kv::cuda::test {

/// Also of NaNs, which equal no number.
template <class T>
bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_SAMEBITS_H
