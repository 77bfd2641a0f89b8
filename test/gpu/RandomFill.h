//===- RandomFill.h - Numbers to measure with -------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_RANDOMFILL_H
#define KV_TEST_GPU_RANDOMFILL_H

#include "../../kernels/cuda/Numbers.h"
#include "Gpu.h"

#include <algorithm>
#include <random>

namespace kv::cuda::test {

/// Random numbers of [-1, 1), again every 16 MiB. Equal numbers would be
/// multiplied with less power, so at a higher clock, than a model's.
template <class T> void fillRandom(Gpu &gpu, void *data, size_t bytes) {
  std::vector<T> numbers(std::min(bytes, size_t(16) << 20) / sizeof(T));
  std::mt19937 random(7);
  for (T &x : numbers)
    x = narrow<T>(float(int32_t(random())) * 0x1p-31f);
  size_t period = numbers.size() * sizeof(T);
  for (size_t at = 0; period && at < bytes; at += period)
    gpu.copyIn(static_cast<char *>(data) + at, numbers.data(),
               std::min(period, bytes - at));
}

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_RANDOMFILL_H
