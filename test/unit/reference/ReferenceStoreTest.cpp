//===- ReferenceStoreTest.cpp - Writing into the cache --------------------===//

#include "PagedFixture.h"
#include "kv/Runtime/Device/ExecutionContext.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

/// The value of f16 bits, from the definition of the format.
double halfValue(uint16_t bits) {
  int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

double bfloatValue(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

/// Stores `k` as one token of one head into page 1 of an empty cache and
/// returns the bits that the K plane then holds.
std::vector<uint16_t> storeAs(DType dtype, std::span<const float> k) {
  int64_t dim = k.size();
  Buffer blocks = *Buffer::create({}, dtype, {2, 2, 1, 1, 1, dim});
  Buffer lengths = *Buffer::create({}, DType::I32, {1});
  Buffer table = *Buffer::create({}, DType::I32, {1, 1});
  Buffer offsets = *Buffer::create({}, DType::I32, {2});
  table.as<int32_t>()[0] = 1;
  offsets.as<int32_t>()[1] = 1;
  KvTensorView view =
      makeView(const_cast<float *>(k.data()), DType::F32, {1, 1, dim});
  reference::StoreArguments args{&blocks.view(),  /*scales=*/nullptr,
                                 &lengths.view(), &table.view(),
                                 &offsets.view(), 0,
                                 &view,           &view};
  EXPECT_FALSE(reference::validate(args));
  reference::store(args, 0, 1);
  const uint16_t *row = blocks.as<uint16_t>() + 2 * dim;
  return {row, row + dim};
}

/// Every finite value of the type, its midpoints with its neighbour, and the
/// floats beside those, against a search for the nearest even.
void checkRounding(DType dtype, double (*value)(uint16_t), uint16_t infinity) {
  std::vector<float> inputs;
  std::vector<uint16_t> expected;
  auto add = [&](float x, uint16_t bits) {
    inputs.push_back(x);
    expected.push_back(bits);
    inputs.push_back(-x);
    expected.push_back(bits | 0x8000);
  };
  for (uint16_t bits = 0; bits < infinity; ++bits) {
    add(float(value(bits)), bits);
    // Above the largest finite value the next step would be.
    double next = bits + 1 < infinity ? value(bits + 1)
                                      : 2 * value(bits) - value(bits - 1);
    float middle = float((value(bits) + next) / 2);
    uint16_t even = bits & 1 ? bits + 1 : bits;
    if (double(middle) != (value(bits) + next) / 2)
      continue; // beyond what a float can hold
    add(middle, even);
    add(std::nextafter(middle, 0.0f), bits);
    add(std::nextafter(middle, INFINITY), bits + 1);
  }
  add(INFINITY, infinity);
  std::vector<uint16_t> got = storeAs(dtype, inputs);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], expected[i]) << inputs[i];
  float nan = NAN;
  EXPECT_TRUE(std::isnan(value(storeAs(dtype, {&nan, 1})[0])));
}

TEST(ReferenceStore, RoundsToF16) {
  checkRounding(DType::F16, halfValue, 0x7c00);
}

TEST(ReferenceStore, RoundsToBF16) {
  checkRounding(DType::BF16, bfloatValue, 0x7f80);
}

/// Stores the new tokens of a fixture whose cache had them erased, and
/// compares the whole cache with the fixture's own filling.
void checkPlaces(DType dtype, int64_t page, unsigned threads) {
  PagedFixture fixture({.batch = {{0, 70}, {17, 1}, {5, 0}, {30, 90}},
                        .page = page,
                        .cacheType = dtype});
  const Shape &s = fixture.shape;
  std::vector<char> before(fixture.blocks.as<char>(),
                           fixture.blocks.as<char>() + fixture.blocks.bytes());
  Buffer k = *Buffer::create({}, DType::F32, {fixture.tokens, s.heads, s.dim});
  Buffer v = *Buffer::create({}, DType::F32, {fixture.tokens, s.heads, s.dim});
  int64_t row = s.heads * s.dim, t = 0;
  for (size_t b = 0; b < s.batch.size(); ++b)
    for (int64_t p = s.batch[b].cached; p < s.batch[b].length(); ++p, ++t) {
      std::copy_n(&fixture.keys[b][p * row], row, k.as<float>() + t * row);
      std::copy_n(&fixture.values[b][p * row], row, v.as<float>() + t * row);
      for (int64_t plane : {0, 1})
        std::memset(
            PagedFixture::element(fixture.blocks, fixture.index(b, plane, p)),
            0x55, row * dtypeBytes(dtype));
    }
  ASSERT_NE(0,
            std::memcmp(before.data(), fixture.blocks.data(), before.size()));
  ThreadPool pool(threads);
  auto context = std::move(*ExecutionContext::create(pool, 1 << 20));
  context->abi()->functions->store(
      context->abi(), &fixture.blocks.view(), /*scales=*/nullptr,
      &fixture.cacheLengths.view(), &fixture.lookupTable.view(),
      &fixture.rowOffsets.view(), PagedFixture::Layer, &k.view(), &v.view());
  auto result = context->result();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(0,
            std::memcmp(before.data(), fixture.blocks.data(), before.size()));
}

TEST(ReferenceStore, WritesItsRowsAndNothingElse) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (int64_t page : {1, 3, 16, 128})
      for (unsigned threads : {1, 3})
        checkPlaces(dtype, page, threads);
}

TEST(ReferenceStore, NullPageIsDropped) {
  PagedFixture fixture({.batch = {{0, 5}}, .page = 2});
  std::fill_n(fixture.lookupTable.as<int32_t>(), 3, 0);
  Buffer k = *Buffer::create({}, DType::F32, {5, 2, 64});
  std::vector<char> before(fixture.blocks.as<char>(),
                           fixture.blocks.as<char>() + fixture.blocks.bytes());
  reference::StoreArguments args{&fixture.blocks.view(),
                                 /*scales=*/nullptr,
                                 &fixture.cacheLengths.view(),
                                 &fixture.lookupTable.view(),
                                 &fixture.rowOffsets.view(),
                                 PagedFixture::Layer,
                                 &k.view(),
                                 &k.view()};
  ASSERT_FALSE(reference::validate(args));
  reference::store(args, 0, 5);
  EXPECT_EQ(0,
            std::memcmp(before.data(), fixture.blocks.data(), before.size()));
}

// Generated code may pass k and v as parts of one wider tensor.
TEST(ReferenceStore, StridedSource) {
  PagedFixture fixture({.batch = {{0, 3}}, .page = 2});
  std::vector<float> wide(3 * 2 * 200, -9);
  KvTensorView k = makeView(wide.data(), DType::F32, {3, 2, 64});
  k.offset = 10;
  k.strides[0] = 400;
  k.strides[1] = 200;
  KvTensorView v = k;
  v.offset = 100;
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t i = 0; i < 128; ++i) {
      wide[10 + t * 400 + i / 64 * 200 + i % 64] = t * 128 + i;
      wide[100 + t * 400 + i / 64 * 200 + i % 64] = -(t * 128 + i);
    }
  reference::StoreArguments args{&fixture.blocks.view(),
                                 /*scales=*/nullptr,
                                 &fixture.cacheLengths.view(),
                                 &fixture.lookupTable.view(),
                                 &fixture.rowOffsets.view(),
                                 PagedFixture::Layer,
                                 &k,
                                 &v};
  ASSERT_FALSE(reference::validate(args));
  reference::store(args, 0, 3);
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t i = 0; i < 128; ++i) {
      ASSERT_EQ(fixture.blocks.as<float>()[fixture.index(0, 0, t) + i],
                t * 128 + i);
      ASSERT_EQ(fixture.blocks.as<float>()[fixture.index(0, 1, t) + i],
                -(t * 128 + i));
    }
}

} // namespace
