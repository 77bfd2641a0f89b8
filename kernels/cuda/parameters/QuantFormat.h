//===- QuantFormat.h - Where a quantised weight's numbers lie ---*- C++ -*-===//
//
// The packed blocks of QuantFormats.def as kernels read them: in words of four
// elements of one row.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_QUANTFORMAT_H
#define KV_KERNELS_CUDA_PARAMETERS_QUANTFORMAT_H

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"

#include <type_traits>

namespace kv::cuda {

/// The formats, numbered in the order of KV_QUANT_FORMAT.
enum class QuantFormat : int32_t {
#define KV_QUANT_FORMAT(Name, ...) Name,
#include "kv/ABI/QuantFormats.def"
};

/// Rows of a block; elements that activations are rounded together.
constexpr int BlockRows = 16, QuantGroup = 32;

/// Elements of a row in a sub-block; bytes before the first one, from one to
/// the next, and of the factors at its head.
struct SubBlock {
  int elements, header, bytes, factors;
};

template <QuantFormat F>
inline constexpr SubBlock SubBlockOf = {32, 2 * BlockRows, 256, 0}; // q4_0
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::Q8_0> = {32, 2 * BlockRows,
                                                           512, 0};
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::Q4_1> = {32, 4 * BlockRows,
                                                           256, 0};
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::Q4_K> = {32, 4 * BlockRows,
                                                           288, 2 * BlockRows};
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::Q6_K> = {16, 2 * BlockRows,
                                                           208, BlockRows};
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::I8> = {32, 4 * BlockRows, 512,
                                                         0};

template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::F8E4M3> =
    SubBlockOf<QuantFormat::I8>;
template <>
inline constexpr SubBlock SubBlockOf<QuantFormat::F8E5M2> =
    SubBlockOf<QuantFormat::I8>;

/// The type of a value: integers of at most 8 bits, or floats of 8.
template <QuantFormat F> struct ValueOfFormat {
  using Type = I8;
};
template <> struct ValueOfFormat<QuantFormat::F8E4M3> {
  using Type = F8E4M3;
};
template <> struct ValueOfFormat<QuantFormat::F8E5M2> {
  using Type = F8E5M2;
};
template <QuantFormat F> using ValueOf = typename ValueOfFormat<F>::Type;
template <QuantFormat F>
inline constexpr bool HasFloats = !std::is_same_v<ValueOf<F>, I8>;

template <QuantFormat F>
inline constexpr bool HasMinimum =
    F == QuantFormat::Q4_1 || F == QuantFormat::Q4_K;

/// A weight's bytes: block b of 16 rows is `stride` bytes after b - 1.
struct QuantWeight {
  const uint8_t *data;
  int64_t stride;
  int32_t blockGroups; // groups of 32 elements in a block of a row
  int32_t blockBytes;
};

/// Elements of a sub-block are scale * value + minimum.
struct Factors {
  float scale, minimum;
};

/// A sub-block of a weight, of 16 rows. Of a group of 32 elements sub-block 0
/// or 1; most formats have one.
template <QuantFormat F> struct SubBlockView {
  const uint8_t *block, *head;

  static constexpr int PerGroup = QuantGroup / SubBlockOf<F>.elements;

  KV_BODY SubBlockView(const QuantWeight &weight, int64_t rows, int group,
                       int sub) {
    int outer = group / weight.blockGroups;
    int inner = (group - outer * weight.blockGroups) * PerGroup + sub;
    block =
        weight.data + rows * weight.stride + int64_t(outer) * weight.blockBytes;
    head = block + SubBlockOf<F>.header + int64_t(inner) * SubBlockOf<F>.bytes;
  }

  template <class B> KV_BODY float half(B &b, int at, int row) const {
    return widen(b.load(reinterpret_cast<const F16 *>(block + at) + row));
  }

  template <class B> KV_BODY Factors factors(B &b, int row) const {
    if constexpr (F == QuantFormat::I8 || HasFloats<F>)
      return {b.load(reinterpret_cast<const float *>(block) + row), 0};
    float scale = half(b, 0, row);
    if constexpr (F == QuantFormat::Q4_1)
      return {scale, half(b, 2 * BlockRows, row)};
    if constexpr (F == QuantFormat::Q4_K)
      return {scale * float(b.load(head + row)),
              -(half(b, 2 * BlockRows, row) *
                float(b.load(head + BlockRows + row)))};
    if constexpr (F == QuantFormat::Q6_K)
      return {scale * float(int8_t(b.load(head + row))), 0};
    return {scale, 0};
  }

  /// Element 16 * step + 4 * quarter of a row and the three after it, as signed
  /// bytes, a constant offset taken off, or as floats of 8 bits.
  template <class B>
  KV_BODY uint32_t values(B &b, int row, int step, int quarter) const {
    auto part = [&](int number) {
      return b.load(reinterpret_cast<const uint32_t *>(
          head + SubBlockOf<F>.factors + (number * BlockRows + row) * 4));
    };
    if constexpr (F == QuantFormat::Q8_0 || F == QuantFormat::I8 ||
                  HasFloats<F>)
      return part(4 * step + quarter);
    if constexpr (F == QuantFormat::Q6_K) {
      uint32_t low = part(quarter & 1) >> (quarter >> 1) * 4 & 0x0f0f0f0f;
      uint32_t high = part(2) >> 2 * quarter & 0x03030303;
      // Bytes from 0 to 63: 32 less without a borrow, by their upper bits.
      return flip(low | high << 4, 0x20202020);
    }
    uint32_t low = part(quarter) >> 4 * step & 0x0f0f0f0f;
    return F == QuantFormat::Q4_0 ? flip(low, 0x08080808) : low;
  }

private:
  /// x - bit in each byte, where `bit` is the highest that a byte can have.
  static KV_BODY uint32_t flip(uint32_t x, uint32_t bit) {
    // The bit becomes the sign: all above it are copies of its inverse.
    uint32_t flipped = x ^ bit, negative = flipped & bit;
    uint32_t above = negative << 1;
    // above * (2^k - 1) fills the byte upwards; k bits are free above `bit`.
    return F == QuantFormat::Q6_K
               ? flipped | above | above << 1
               : flipped | above | above << 1 | above << 2 | above << 3;
  }
};

/// Value `index` of four of T.
template <class T> KV_HD float valueIn(uint32_t word, int index) {
  return widen(T{uint8_t(word >> 8 * index)});
}

/// Two neighbouring signed bytes, which bf16 holds exactly.
KV_BODY uint32_t widenBytes(uint32_t word, int first) {
  return narrowPair<Bf16>(valueIn<I8>(word, first),
                          valueIn<I8>(word, first + 1));
}

/// Calls f with the format as a compile-time constant.
template <class Function>
KV_BODY void withFormat(QuantFormat format, Function f) {
  switch (format) {
#define KV_QUANT_FORMAT(Name, ...)                                             \
  case QuantFormat::Name:                                                      \
    return f.template operator()<QuantFormat::Name>();
#include "kv/ABI/QuantFormats.def"
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_QUANTFORMAT_H
