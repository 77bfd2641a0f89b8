//===- PagedFixture.h - A paged cache filled by the test --------*- C++ -*-===//

#ifndef KV_TEST_UNIT_REFERENCE_PAGEDFIXTURE_H
#define KV_TEST_UNIT_REFERENCE_PAGEDFIXTURE_H

#include "kv/Kernels/Reference.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kv::test {

/// Encodes a value that the type holds exactly.
inline void encode(DType dtype, float value, void *target) {
  if (dtype == DType::F32) {
    std::memcpy(target, &value, 4);
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint16_t half = 0;
  if (dtype == DType::BF16) {
    half = bits >> 16;
  } else if (std::isnan(value)) {
    half = 0x7e00;
  } else if (value != 0) {
    int exponent;
    float fraction = std::frexp(std::fabs(value), &exponent); // [0.5, 1)
    half = uint16_t((std::signbit(value) << 15) | ((exponent + 14) << 10) |
                    (int(fraction * 2048) - 1024));
  }
  std::memcpy(target, &half, 2);
}

struct Sequence {
  int64_t cached;
  int64_t added;
  int64_t length() const { return cached + added; }
};

struct Shape {
  std::vector<Sequence> batch;
  int64_t page = 16;
  int64_t heads = 2;
  int64_t group = 3;
  int64_t dim = 64;
  DType cacheType = DType::F32;
  DType queryType = DType::F32;
  uint32_t seed = 1;
};

/// Random sequences in a cache whose pages are shuffled and whose every other
/// element, table entry and layer is poison. Values are multiples of 1/16
/// below 4, exact in every type; they depend on (seed, sequence, position)
/// only, not on the cache's geometry.
struct PagedFixture {
  static constexpr int64_t Layers = 3, Layer = 1;

  Shape shape;
  int64_t tokens = 0;
  std::vector<std::vector<float>> keys, values; // [b][position][head][d]
  std::vector<float> queries;                   // [t][query head][d]
  Buffer blocks, cacheLengths, lookupTable, rowOffsets, q;

  explicit PagedFixture(const Shape &s) : shape(s) {
    int64_t batch = s.batch.size(), pages = 0, pitch = 2;
    for (const Sequence &sequence : s.batch) {
      int64_t used = (sequence.length() + s.page - 1) / s.page;
      pages += used;
      pitch = std::max(pitch, used + 1);
      tokens += sequence.added;
    }
    Device cpu;
    blocks = *Buffer::create(cpu, s.cacheType,
                             {pages + 1, 2, Layers, s.page, s.heads, s.dim});
    cacheLengths = *Buffer::create(cpu, DType::I32, {batch});
    lookupTable = *Buffer::create(cpu, DType::I32, {batch, pitch});
    rowOffsets = *Buffer::create(cpu, DType::I32, {batch + 1});
    q = *Buffer::create(cpu, s.queryType, {tokens, queryHeads(), s.dim});
    for (int64_t i = 0; i < blocks.elements(); ++i)
      encode(s.cacheType, std::numeric_limits<float>::quiet_NaN(),
             element(blocks, i));
    std::fill_n(lookupTable.as<int32_t>(), batch * pitch, -12345);

    std::vector<int32_t> ids(pages);
    std::iota(ids.begin(), ids.end(), 1);
    std::shuffle(ids.begin(), ids.end(), std::mt19937(s.seed + 99));
    size_t nextPage = 0;
    int64_t token = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const Sequence &sequence = s.batch[b];
      cacheLengths.as<int32_t>()[b] = sequence.cached;
      rowOffsets.as<int32_t>()[b] = token;
      for (int64_t i = 0; i * s.page < sequence.length(); ++i)
        lookupTable.as<int32_t>()[b * pitch + i] = ids[nextPage++];
      // A generator each, so that a longer sequence only adds.
      std::mt19937 random[3];
      for (uint32_t i = 0; i < 3; ++i)
        random[i].seed(s.seed * 1000 + b * 3 + i);
      int64_t row = s.heads * s.dim;
      keys.push_back(draw(random[0], sequence.length() * row));
      values.push_back(draw(random[1], sequence.length() * row));
      std::vector<float> drawn =
          draw(random[2], sequence.length() * queryHeads() * s.dim);
      queries.insert(queries.end(),
                     drawn.begin() + sequence.cached * queryHeads() * s.dim,
                     drawn.end());
      token += sequence.added;
      for (int64_t p = 0; p < sequence.length(); ++p)
        for (int64_t i = 0; i < row; ++i) {
          encode(s.cacheType, keys[b][p * row + i],
                 element(blocks, index(b, 0, p) + i));
          encode(s.cacheType, values[b][p * row + i],
                 element(blocks, index(b, 1, p) + i));
        }
    }
    rowOffsets.as<int32_t>()[batch] = token;
    for (int64_t i = 0; i < q.elements(); ++i)
      encode(s.queryType, queries[i], element(q, i));
  }

  int64_t queryHeads() const { return shape.heads * shape.group; }

  /// The element at which (head 0, d 0) of a position begins.
  int64_t index(int64_t b, int64_t plane, int64_t position) const {
    int64_t page =
        lookupTable
            .as<int32_t>()[b * lookupTable.shape()[1] + position / shape.page];
    return (((page * 2 + plane) * Layers + Layer) * shape.page +
            position % shape.page) *
           shape.heads * shape.dim;
  }

  static void *element(const Buffer &buffer, int64_t i) {
    return buffer.as<char>() + i * dtypeBytes(buffer.dtype());
  }

  reference::AttentionArguments arguments(const Buffer &out,
                                          const Buffer *lse) const {
    return {&blocks.view(),
            /*scales=*/nullptr,
            &cacheLengths.view(),
            &lookupTable.view(),
            &rowOffsets.view(),
            Layer,
            &q.view(),
            &out.view(),
            lse ? &lse->view() : nullptr,
            0.125f,
            0.0f,
            KV_MASK_CAUSAL,
            0};
  }

  Buffer makeOut() const {
    return *Buffer::create({}, DType::F32, {tokens, queryHeads(), shape.dim});
  }
  Buffer makeLse() const {
    return *Buffer::create({}, DType::F32, {tokens, queryHeads()});
  }

private:
  static std::vector<float> draw(std::mt19937 &random, int64_t count) {
    std::vector<float> result(count);
    for (float &x : result)
      x = (int(random() % 127) - 63) / 16.0f;
    return result;
  }
};

} // namespace kv::test

#endif // KV_TEST_UNIT_REFERENCE_PAGEDFIXTURE_H
