//===- Noise.h - Numbers that host and device know --------------*- C++ -*-===//
//
// Element i of a seed's noise, without the ones before it: a device fills
// gigabytes, and a host asks for those that it wants to see. No two places hold
// the same, so that a wrong page, key or head is seen.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_NOISE_H
#define KV_TEST_GPU_NOISE_H

#include "kernels/block/Numbers.h"

namespace kv::cuda::test {

/// Of (-1, 1), and of different magnitudes, so that sums are rounded.
KV_HD float noise(uint64_t seed, uint64_t i) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + i;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  float value = float(int32_t(x >> 40) - (1 << 23)) * 0x1p-23f;
  return value / float(1 << (x & 3));
}

/// kv_test_noise: element i of `count` is noise(seed, i % period) times 4^(row
/// % 4), where a row has `width` elements; a width of 0 leaves it as it is. All
/// of it times 2^power, and where `isScale`, of [0.5, 1.5) before.
struct NoiseParams {
  void *out;
  int64_t count, period;
  uint64_t seed;
  int32_t type; // a KvDType
  int32_t width;
  int32_t power = 0, isScale = 0;
};

KV_HD float noiseAt(const NoiseParams &p, int64_t i) {
  float value = noise(p.seed, i % p.period);
  if (p.isScale)
    value = 1 + value / 2;
  if (p.power)
    value *= bitsAs<float>(uint32_t(127 + p.power) << 23);
  return p.width ? value * float(1 << (i / p.width % 4 * 2)) : value;
}

/// Calls f(T()) with the C++ type of a KvDType that caches and rows have.
template <class Function> KV_HD void withElement(int32_t type, Function f) {
  if (type == KV_DTYPE_BF16)
    f(Bf16());
  else if (type == KV_DTYPE_F16)
    f(F16());
  else if (type == KV_DTYPE_F8E4M3FN)
    f(F8E4M3());
  else if (type == KV_DTYPE_F8E5M2)
    f(F8E5M2());
  else if (type == KV_DTYPE_I8)
    f(I8());
  else
    f(float());
}

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_NOISE_H
