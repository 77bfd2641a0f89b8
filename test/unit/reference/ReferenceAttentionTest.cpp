//===- ReferenceAttentionTest.cpp - Against softmax by the book -----------===//

#include "PagedFixture.h"

#include <functional>
#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

using Sees = std::function<bool(int64_t p, int64_t k)>;

struct Variant {
  const char *name;
  int32_t mask;
  int64_t window;
  float softcap;
  Sees sees;
};

const Variant Variants[] = {
    {"causal", KV_MASK_CAUSAL, 0, 0,
     [](int64_t p, int64_t k) { return k <= p; }},
    {"none", KV_MASK_NONE, 0, 0, [](int64_t, int64_t) { return true; }},
    {"sliding", KV_MASK_SLIDING, 7, 0,
     [](int64_t p, int64_t k) { return p - 7 < k && k <= p; }},
    {"sliding wide", KV_MASK_SLIDING, 64, 0,
     [](int64_t p, int64_t k) { return p - 64 < k && k <= p; }},
    {"chunked", KV_MASK_CHUNKED, 20, 0,
     [](int64_t p, int64_t k) { return k / 20 == p / 20; }},
    {"sliding noncausal", KV_MASK_SLIDING_NONCAUSAL, 9, 0,
     [](int64_t p, int64_t k) { return p - 9 < k; }},
    {"chunked causal", KV_MASK_CHUNKED_CAUSAL, 20, 0,
     [](int64_t p, int64_t k) { return k <= p && k / 20 == p / 20; }},
    {"causal softcap", KV_MASK_CAUSAL, 0, 2.5f,
     [](int64_t p, int64_t k) { return k <= p; }},
};

/// Compares every (token, head) with a two-pass softmax in double.
void compare(const PagedFixture &fixture, const Variant &variant) {
  const Shape &s = fixture.shape;
  SCOPED_TRACE(concat(variant.name, ", page ", s.page, ", group ", s.group,
                      ", dim ", s.dim, ", cache ", dtypeName(s.cacheType)));
  Buffer out = fixture.makeOut(), lse = fixture.makeLse();
  reference::AttentionArguments args = fixture.arguments(out, &lse);
  args.mask = variant.mask;
  args.window = variant.window;
  args.softcap = variant.softcap;
  auto failure = reference::validate(args);
  ASSERT_FALSE(failure) << failure->message;
  reference::attention(args, 0, reference::attentionItems(args));

  int64_t t = 0, row = s.heads * s.dim;
  for (size_t b = 0; b < s.batch.size(); ++b)
    for (int64_t i = 0; i < s.batch[b].added; ++i, ++t)
      for (int64_t h = 0; h < fixture.queryHeads(); ++h) {
        int64_t p = s.batch[b].cached + i, length = s.batch[b].length();
        const float *q =
            &fixture.queries[(t * fixture.queryHeads() + h) * s.dim];
        std::vector<double> scores(length, -INFINITY);
        for (int64_t k = 0; k < length; ++k) {
          if (!variant.sees(p, k))
            continue;
          const float *key = &fixture.keys[b][k * row + h / s.group * s.dim];
          double dot = 0;
          for (int64_t d = 0; d < s.dim; ++d)
            dot += double(q[d]) * double(key[d]);
          dot *= 0.125;
          scores[k] = variant.softcap > 0
                          ? variant.softcap * std::tanh(dot / variant.softcap)
                          : dot;
        }
        double maximum = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        std::vector<double> expected(s.dim);
        for (int64_t k = 0; k < length; ++k) {
          double weight = std::exp(scores[k] - maximum);
          sum += weight;
          for (int64_t d = 0; d < s.dim; ++d)
            expected[d] +=
                weight * fixture.values[b][k * row + h / s.group * s.dim + d];
        }
        const float *got =
            out.as<float>() + (t * fixture.queryHeads() + h) * s.dim;
        for (int64_t d = 0; d < s.dim; ++d)
          ASSERT_NEAR(got[d], expected[d] / sum,
                      1e-7 * (1 + std::fabs(expected[d] / sum)))
              << "sequence " << b << " position " << p << " head " << h
              << " element " << d;
        double expectedLse = maximum + std::log(sum);
        ASSERT_NEAR(lse.as<float>()[t * fixture.queryHeads() + h], expectedLse,
                    1e-7 * (1 + std::fabs(expectedLse)));
      }
}

const std::vector<Sequence> Mixed = {{0, 37}, {70, 1}, {5, 9},
                                     {0, 0},  {95, 1}, {31, 34}};

TEST(ReferenceAttention, PageSizes) {
  for (int64_t page : {1, 3, 16, 128})
    for (const Variant &variant : Variants)
      compare(PagedFixture({.batch = Mixed, .page = page}), variant);
}

TEST(ReferenceAttention, QueryGroups) {
  for (int64_t group : {1, 3, 4, 8})
    for (const Variant &variant : Variants)
      compare(PagedFixture({.batch = Mixed, .group = group, .seed = 2}),
              variant);
}

TEST(ReferenceAttention, HeadDimensions) {
  for (int64_t dim : {1, 7, 64, 80, 128, 256})
    for (DType dtype : {DType::F32, DType::BF16, DType::F16})
      compare(PagedFixture({.batch = {{0, 35}, {50, 2}},
                            .page = 3,
                            .dim = dim,
                            .cacheType = dtype}),
              Variants[0]);
}

TEST(ReferenceAttention, ElementTypes) {
  for (DType cache : {DType::F32, DType::BF16, DType::F16})
    for (DType query : {DType::F32, DType::BF16, DType::F16})
      for (const Variant &variant : Variants)
        compare(PagedFixture({.batch = {{0, 19}, {44, 1}},
                              .cacheType = cache,
                              .queryType = query}),
                variant);
}

TEST(ReferenceAttention, LargeScoresDoNotOverflow) {
  PagedFixture fixture({.batch = {{40, 30}}});
  Buffer out = fixture.makeOut();
  auto args = fixture.arguments(out, nullptr);
  args.scale = 1000;
  reference::attention(args, 0, reference::attentionItems(args));
  for (int64_t i = 0; i < out.elements(); ++i)
    ASSERT_LE(std::fabs(out.as<float>()[i]), 4.0f) << i;
}

TEST(ReferenceAttention, NarrowOutput) {
  PagedFixture fixture({.batch = {{3, 30}}});
  Buffer wide = fixture.makeOut();
  auto args = fixture.arguments(wide, nullptr);
  reference::attention(args, 0, reference::attentionItems(args));
  for (DType dtype : {DType::BF16, DType::F16}) {
    Buffer narrow = *Buffer::create({}, dtype, wide.shape());
    args = fixture.arguments(narrow, nullptr);
    reference::attention(args, 0, reference::attentionItems(args));
    for (int64_t i = 0; i < wide.elements(); ++i) {
      // Halfway between two neighbours is the most that rounding may move.
      uint16_t bits = narrow.as<uint16_t>()[i];
      float value;
      if (dtype == DType::BF16) {
        uint32_t word = uint32_t(bits) << 16;
        std::memcpy(&value, &word, 4);
      } else {
        value =
            std::ldexp(float((bits & 0x3ff) | 0x400), ((bits >> 10) & 31) - 25);
        if (((bits >> 10) & 31) == 0)
          value = std::ldexp(float(bits & 0x3ff), -24);
        value = bits & 0x8000 ? -value : value;
      }
      double unit = dtype == DType::BF16 ? 0x1p-9 : 0x1p-12;
      ASSERT_NEAR(value, wide.as<float>()[i],
                  unit * 2 * std::fabs(value) + 1e-7)
          << i;
    }
  }
}

// Every mask lets a query see its own position, so the only row with nothing to
// see is one whose scores are all minus infinity.
TEST(ReferenceAttention, NothingToSee) {
  PagedFixture fixture({.batch = {{0, 3}}});
  std::fill_n(fixture.q.as<float>(), fixture.q.elements(), INFINITY);
  for (int64_t p = 0; p < 3; ++p)
    std::fill_n(fixture.blocks.as<float>() + fixture.index(0, 0, p),
                fixture.shape.heads * fixture.shape.dim, -1.0f);
  Buffer out = fixture.makeOut(), lse = fixture.makeLse();
  std::fill_n(out.as<float>(), out.elements(), 5.0f);
  auto args = fixture.arguments(out, &lse);
  reference::attention(args, 0, reference::attentionItems(args));
  for (int64_t i = 0; i < out.elements(); ++i)
    ASSERT_EQ(out.as<float>()[i], 0.0f);
  for (int64_t i = 0; i < lse.elements(); ++i)
    ASSERT_EQ(lse.as<float>()[i], -INFINITY);
}

// One more logit a head: the result shrinks by its share of the denominator. A
// sink of minus infinity changes no bit.
TEST(ReferenceAttention, Sinks) {
  for (const Variant &variant : Variants) {
    SCOPED_TRACE(variant.name);
    PagedFixture fixture({.batch = Mixed, .dim = 16});
    Buffer out = fixture.makeOut(), lse = fixture.makeLse();
    auto args = fixture.arguments(out, &lse);
    args.mask = variant.mask;
    args.window = variant.window;
    args.softcap = variant.softcap;
    reference::attention(args, 0, reference::attentionItems(args));

    Buffer sinks = *Buffer::create({}, DType::F32, {fixture.queryHeads()});
    const float values[] = {-INFINITY, -40, -1, 0.5, 3, 200};
    ASSERT_EQ(fixture.queryHeads(), 6);
    std::copy_n(values, 6, sinks.as<float>());
    Buffer out2 = fixture.makeOut(), lse2 = fixture.makeLse();
    args.out = &out2.view();
    args.lse = &lse2.view();
    args.sinks = &sinks.view();
    ASSERT_FALSE(reference::validate(args));
    reference::attention(args, 0, reference::attentionItems(args));
    for (int64_t i = 0; i < lse.elements(); ++i) {
      double own = lse.as<float>()[i], sink = values[i % 6];
      double larger = std::max(own, sink);
      double sum = std::exp(own - larger) + std::exp(sink - larger);
      if (i % 6 == 0) {
        ASSERT_EQ(lse2.as<float>()[i], lse.as<float>()[i]);
      }
      ASSERT_NEAR(lse2.as<float>()[i], larger + std::log(sum),
                  1e-6 * (1 + std::fabs(larger)));
      double share = std::exp(own - larger) / sum;
      for (int64_t d = i * 16; d < (i + 1) * 16; ++d)
        ASSERT_NEAR(out2.as<float>()[d], out.as<float>()[d] * share, 4e-6) << i;
    }
  }
}

// Nothing but the sink: its weight is the whole denominator.
TEST(ReferenceAttention, SinkAlone) {
  PagedFixture fixture({.batch = {{0, 3}}});
  std::fill_n(fixture.q.as<float>(), fixture.q.elements(), INFINITY);
  for (int64_t p = 0; p < 3; ++p)
    std::fill_n(fixture.blocks.as<float>() + fixture.index(0, 0, p),
                fixture.shape.heads * fixture.shape.dim, -1.0f);
  Buffer out = fixture.makeOut(), lse = fixture.makeLse();
  Buffer sinks = *Buffer::create({}, DType::F32, {fixture.queryHeads()});
  std::fill_n(sinks.as<float>(), sinks.elements(), 1.5f);
  auto args = fixture.arguments(out, &lse);
  args.sinks = &sinks.view();
  reference::attention(args, 0, reference::attentionItems(args));
  for (int64_t i = 0; i < out.elements(); ++i)
    ASSERT_EQ(out.as<float>()[i], 0.0f);
  for (int64_t i = 0; i < lse.elements(); ++i)
    ASSERT_EQ(lse.as<float>()[i], 1.5f);
}

// What a mask hides must not reach the result, even as NaN times zero.
TEST(ReferenceAttention, HiddenNaNs) {
  PagedFixture fixture({.batch = {{0, 40}}, .page = 3});
  Buffer clean = fixture.makeOut(), poisoned = fixture.makeOut();
  auto args = fixture.arguments(clean, nullptr);
  args.mask = KV_MASK_SLIDING;
  args.window = 5;
  reference::attention(args, 0, reference::attentionItems(args));
  for (int64_t plane : {0, 1})
    std::fill_n(fixture.blocks.as<float>() + fixture.index(0, plane, 20),
                fixture.shape.heads * fixture.shape.dim, NAN);
  args.out = &poisoned.view();
  reference::attention(args, 0, reference::attentionItems(args));
  int64_t row = fixture.queryHeads() * fixture.shape.dim;
  for (int64_t t = 0; t < 40; ++t) {
    bool sees = t >= 20 && t < 25;
    for (int64_t i = t * row; i < (t + 1) * row; ++i)
      if (sees)
        ASSERT_TRUE(std::isnan(poisoned.as<float>()[i])) << t;
      else
        ASSERT_EQ(poisoned.as<float>()[i], clean.as<float>()[i]) << t;
  }
}

// One plane: the values are the first Dv elements of the keys.
TEST(ReferenceAttention, LatentCache) {
  constexpr int64_t Length = 40, Dim = 24, ValueDim = 16, Heads = 4;
  std::mt19937 random(3);
  auto draw = [&] { return (int(random() % 127) - 63) / 16.0f; };
  Buffer blocks = *Buffer::create({}, DType::F32, {6, 1, 1, 8, 1, Dim});
  Buffer lengths = *Buffer::create({}, DType::I32, {1});
  Buffer table = *Buffer::create({}, DType::I32, {1, 5});
  Buffer offsets = *Buffer::create({}, DType::I32, {2});
  Buffer q = *Buffer::create({}, DType::F32, {1, Heads, Dim});
  Buffer out = *Buffer::create({}, DType::F32, {1, Heads, ValueDim});
  lengths.as<int32_t>()[0] = Length - 1;
  offsets.as<int32_t>()[1] = 1;
  for (int32_t i = 0; i < 5; ++i)
    table.as<int32_t>()[i] = 5 - i;
  for (int64_t i = 0; i < blocks.elements(); ++i)
    blocks.as<float>()[i] = draw();
  for (int64_t i = 0; i < q.elements(); ++i)
    q.as<float>()[i] = draw();
  reference::AttentionArguments args{&blocks.view(),
                                     /*scales=*/nullptr,
                                     &lengths.view(),
                                     &table.view(),
                                     &offsets.view(),
                                     0,
                                     &q.view(),
                                     &out.view(),
                                     nullptr,
                                     0.25f,
                                     0,
                                     KV_MASK_CAUSAL,
                                     0};
  auto failure = reference::validate(args);
  ASSERT_FALSE(failure) << failure->message;
  reference::attention(args, 0, reference::attentionItems(args));
  for (int64_t h = 0; h < Heads; ++h) {
    double sum = 0;
    std::vector<double> expected(ValueDim);
    for (int64_t k = 0; k < Length; ++k) {
      const float *key = blocks.as<float>() + ((5 - k / 8) * 8 + k % 8) * Dim;
      double dot = 0;
      for (int64_t d = 0; d < Dim; ++d)
        dot += double(q.as<float>()[h * Dim + d]) * key[d];
      double weight = std::exp(dot * 0.25);
      sum += weight;
      for (int64_t d = 0; d < ValueDim; ++d)
        expected[d] += weight * key[d];
    }
    for (int64_t d = 0; d < ValueDim; ++d)
      ASSERT_NEAR(out.as<float>()[h * ValueDim + d], expected[d] / sum, 1e-6);
  }
}

} // namespace
