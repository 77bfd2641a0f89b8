//===- Chunks.h - Eight elements at a time ----------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_MOVERS_CHUNKS_H
#define KV_KERNELS_CUDA_MOVERS_CHUNKS_H

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"
#include "kv/ABI/DeviceKernels.h"

namespace kv::cuda {

constexpr int Eight = 8;
static_assert(Eight == kernels::RowChunk &&
              ChunkBytes == kernels::RowAlignment);

template <class B>
KV_BODY void loadEight(B &b, const float *from, float (&x)[Eight]) {
  KV_UNROLL for (int i = 0; i < 2; ++i) {
    FloatQuad four = b.load(reinterpret_cast<const FloatQuad *>(from) + i);
    x[i * 4] = four.x;
    x[i * 4 + 1] = four.y;
    x[i * 4 + 2] = four.z;
    x[i * 4 + 3] = four.w;
  }
}

template <class B, class T>
KV_BODY void loadEight(B &b, const T *from, float (&x)[Eight]) {
  Chunk chunk = b.load(reinterpret_cast<const Chunk *>(from));
  KV_UNROLL for (int i = 0; i < Eight; ++i)
    x[i] = widenHalf<T>(chunk.words[i / 2], i % 2);
}

template <class B>
KV_BODY void storeEight(B &b, float *to, const float (&x)[Eight]) {
  KV_UNROLL for (int i = 0; i < 2; ++i)
    b.store(reinterpret_cast<FloatQuad *>(to) + i,
            FloatQuad{x[i * 4], x[i * 4 + 1], x[i * 4 + 2], x[i * 4 + 3]});
}

template <class B, class T>
KV_BODY void storeEight(B &b, T *to, const float (&x)[Eight]) {
  Chunk chunk;
  KV_UNROLL for (int i = 0; i < 4; ++i)
    chunk.words[i] = narrowPair<T>(x[i * 2], x[i * 2 + 1]);
  b.store(reinterpret_cast<Chunk *>(to), chunk);
}

/// To T of 8 bits.
template <class T, class B>
KV_BODY void storeEightBytes(B &b, void *data, int64_t at,
                             const float (&x)[Eight]) {
  IntPair words{0, 0};
  KV_UNROLL for (int i = 0; i < 4; ++i) {
    words.x |= int32_t(uint32_t(narrow<T>(x[i]).bits) << i * 8);
    words.y |= int32_t(uint32_t(narrow<T>(x[i + 4]).bits) << i * 8);
  }
  b.store(reinterpret_cast<IntPair *>(static_cast<T *>(data) + at), words);
}

/// Loads and stores eight elements of a KvDType, from element `at` of `data`
/// on.
static_assert(std::size(kernels::RowTypes) == 3 &&
                  kernels::isRowType(KV_DTYPE_F32) &&
                  kernels::isRowType(KV_DTYPE_F16) &&
                  kernels::isRowType(KV_DTYPE_BF16),
              "rows have the types that are told apart here");
template <class B>
KV_BODY void loadEight(B &b, const void *data, int64_t at, int32_t type,
                       float (&x)[Eight]) {
  if (type == KV_DTYPE_F32)
    loadEight(b, static_cast<const float *>(data) + at, x);
  else if (type == KV_DTYPE_F16)
    loadEight(b, static_cast<const F16 *>(data) + at, x);
  else
    loadEight(b, static_cast<const Bf16 *>(data) + at, x);
}

template <class B>
KV_BODY void storeEight(B &b, void *data, int64_t at, int32_t type,
                        const float (&x)[Eight]) {
  if (type == KV_DTYPE_F32)
    storeEight(b, static_cast<float *>(data) + at, x);
  else if (type == KV_DTYPE_F16)
    storeEight(b, static_cast<F16 *>(data) + at, x);
  else if (type == KV_DTYPE_F8E4M3FN)
    storeEightBytes<F8E4M3>(b, data, at, x);
  else if (type == KV_DTYPE_F8E5M2)
    storeEightBytes<F8E5M2>(b, data, at, x);
  else if (type == KV_DTYPE_I8)
    storeEightBytes<I8>(b, data, at, x);
  else
    storeEight(b, static_cast<Bf16 *>(data) + at, x);
}

template <class B>
KV_BODY float loadOne(B &b, const void *data, int64_t at, int32_t type) {
  if (type == KV_DTYPE_F32)
    return b.load(static_cast<const float *>(data) + at);
  if (type == KV_DTYPE_F16)
    return widen(b.load(static_cast<const F16 *>(data) + at));
  return widen(b.load(static_cast<const Bf16 *>(data) + at));
}

template <class B>
KV_BODY void storeOne(B &b, void *data, int64_t at, int32_t type, float x) {
  if (type == KV_DTYPE_F32)
    b.store(static_cast<float *>(data) + at, x);
  else if (type == KV_DTYPE_F16)
    b.store(static_cast<F16 *>(data) + at, narrow<F16>(x));
  else if (type == KV_DTYPE_F8E4M3FN)
    b.store(static_cast<F8E4M3 *>(data) + at, narrow<F8E4M3>(x));
  else
    b.store(static_cast<Bf16 *>(data) + at, narrow<Bf16>(x));
}

/// Loads `count` elements, at most eight, from anywhere; the rest of x is
/// zeros.
template <class B>
KV_BODY void loadSpan(B &b, const void *data, int64_t at, int32_t type,
                      int count, float (&x)[Eight]) {
  if (count == Eight && at % Eight == 0)
    return loadEight(b, data, at, type, x);
  KV_UNROLL for (int i = 0; i < Eight; ++i)
    x[i] = i < count ? loadOne(b, data, at + i, type) : 0.0f;
}

template <class B>
KV_BODY void storeSpan(B &b, void *data, int64_t at, int32_t type, int count,
                       const float (&x)[Eight]) {
  if (count == Eight && at % Eight == 0)
    return storeEight(b, data, at, type, x);
  KV_UNROLL for (int i = 0; i < Eight; ++i)
    if (i < count)
      storeOne(b, data, at + i, type, x[i]);
}

/// The numbers below `count` that this thread takes: firstItem(), then at equal
/// distances.
template <class B> KV_BODY int64_t firstItem(B &b, int threads) {
  return int64_t(b.block()) * threads + b.thread();
}
template <class B> KV_BODY int64_t itemStep(B &b, int threads) {
  return int64_t(b.blocks()) * threads;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_CHUNKS_H
