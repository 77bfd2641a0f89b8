//===- ReferenceBitsTest.cpp - What may not change a bit of the result ----===//

#include "PagedFixture.h"
#include "kernels/reference/Tile.h"
#include "kv/Runtime/Device/ExecutionContext.h"

#include <functional>
#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

/// The rows of one sequence: out, then lse.
using Rows = std::vector<float>;

struct Options {
  int32_t mask = KV_MASK_CAUSAL;
  int64_t window = 0;
  float softcap = 0;
};

using Runner = std::function<void(const reference::AttentionArguments &)>;

void runWhole(const reference::AttentionArguments &args) {
  reference::attention(args, 0, reference::attentionItems(args));
}

/// Rows `first` .. of sequence `b` of the fixture.
Rows rowsOf(const PagedFixture &fixture, size_t b, const Options &options,
            const Runner &run = runWhole) {
  Buffer out = fixture.makeOut(), lse = fixture.makeLse();
  auto args = fixture.arguments(out, &lse);
  args.mask = options.mask;
  args.window = options.window;
  args.softcap = options.softcap;
  auto failure = reference::validate(args);
  EXPECT_FALSE(failure) << failure->message;
  run(args);
  int64_t first = fixture.rowOffsets.as<int32_t>()[b];
  int64_t last = fixture.rowOffsets.as<int32_t>()[b + 1];
  int64_t heads = fixture.queryHeads(), row = heads * fixture.shape.dim;
  Rows rows;
  for (int64_t t = first; t < last; ++t) {
    rows.insert(rows.end(), out.as<float>() + t * row,
                out.as<float>() + (t + 1) * row);
    rows.insert(rows.end(), lse.as<float>() + t * heads,
                lse.as<float>() + (t + 1) * heads);
  }
  return rows;
}

bool sameBits(const Rows &a, const Rows &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

constexpr int64_t Length = 150;

const Options AllOptions[] = {{},
                              {KV_MASK_SLIDING, 33, 0},
                              {KV_MASK_SLIDING, 1, 3.0f},
                              {KV_MASK_CAUSAL, 0, 4.0f}};

class ReferenceBits : public ::testing::TestWithParam<Options> {
protected:
  Shape whole() const {
    return {.batch = {{0, Length}}, .cacheType = DType::BF16};
  }
  Rows expected = rowsOf(PagedFixture(whole()), 0, GetParam());
};

TEST_P(ReferenceBits, PageSize) {
  for (int64_t page : {1, 3, 5, 32, 128}) {
    Shape shape = whole();
    shape.page = page;
    EXPECT_TRUE(sameBits(expected, rowsOf(PagedFixture(shape), 0, GetParam())))
        << page;
  }
}

TEST_P(ReferenceBits, Chunking) {
  for (int64_t chunk : {1, 7, 16, 32, 100}) {
    Rows rows;
    for (int64_t done = 0; done < Length; done += chunk) {
      Shape shape = whole();
      shape.batch = {{done, std::min(chunk, Length - done)}};
      Rows part = rowsOf(PagedFixture(shape), 0, GetParam());
      rows.insert(rows.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(sameBits(expected, rows)) << chunk;
  }
}

TEST_P(ReferenceBits, Batch) {
  Shape shape = whole();
  shape.batch = {{0, Length}, {77, 1}, {0, 0}, {3, 61}};
  EXPECT_TRUE(sameBits(expected, rowsOf(PagedFixture(shape), 0, GetParam())));
}

TEST_P(ReferenceBits, Ranges) {
  for (int64_t step : {1, 13, 64}) {
    Runner run = [&](const reference::AttentionArguments &args) {
      int64_t items = reference::attentionItems(args);
      for (int64_t lo = 0; lo < items; lo += step)
        reference::attention(args, lo, std::min(lo + step, items));
    };
    EXPECT_TRUE(
        sameBits(expected, rowsOf(PagedFixture(whole()), 0, GetParam(), run)))
        << step;
  }
}

TEST_P(ReferenceBits, Threads) {
  for (unsigned threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    auto context = std::move(*ExecutionContext::create(pool, 1 << 20));
    Runner run = [&](const reference::AttentionArguments &args) {
      context->abi()->functions->attention(
          context->abi(), args.blocks, /*scales=*/nullptr, args.cacheLengths,
          args.lookupTable, args.rowOffsets, args.layer, args.q, args.out,
          args.lse, args.scale, args.softcap, args.mask, args.window,
          args.sinks, nullptr);
      EXPECT_TRUE(context->result());
    };
    EXPECT_TRUE(
        sameBits(expected, rowsOf(PagedFixture(whole()), 0, GetParam(), run)))
        << threads;
  }
}

// Vectors that the machine lacks cannot be tried.
TEST_P(ReferenceBits, VectorWidth) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16})
    for (int lanes = 2; lanes <= reference::machineLanes(); lanes *= 2) {
      Shape shape = whole();
      shape.cacheType = dtype;
      shape.dim = 88;
      PagedFixture fixture(shape);
      Runner narrow = [&](const reference::AttentionArguments &args) {
        reference::attentionWithLanes(args, 0, reference::attentionItems(args),
                                      lanes);
      };
      EXPECT_TRUE(sameBits(rowsOf(fixture, 0, GetParam()),
                           rowsOf(fixture, 0, GetParam(), narrow)))
          << dtypeName(dtype) << " " << lanes;
    }
}

INSTANTIATE_TEST_SUITE_P(Masks, ReferenceBits, ::testing::ValuesIn(AllOptions));

} // namespace
