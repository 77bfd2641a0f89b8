//===- ReferenceValidateTest.cpp - What the kernels refuse ----------------===//

#include "PagedFixture.h"
#include "kv/Kernels/Reference.h"
#include "kv/Runtime/Device/ExecutionContext.h"

#include <functional>
#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

/// A valid call whose views a test spoils.
struct Call {
  PagedFixture fixture{{.batch = {{2, 3}, {0, 1}, {6, 2}}, .page = 4}};
  Buffer out = fixture.makeOut(), lse = fixture.makeLse();
  KvTensorView blocks = fixture.blocks.view();
  KvTensorView lengths = fixture.cacheLengths.view();
  KvTensorView table = fixture.lookupTable.view();
  KvTensorView offsets = fixture.rowOffsets.view();
  KvTensorView q = fixture.q.view(), outView = out.view(), lseView = lse.view();
  KvTensorView k = makeView(fixture.q.data(), DType::F32, {6, 2, 64}), v = k;
  const KvTensorView *vPointer = &v;
  int64_t layer = 1, window = 0;
  int32_t mask = KV_MASK_CAUSAL;
  ThreadPool pool{1};
  std::unique_ptr<ExecutionContext> context =
      std::move(*ExecutionContext::create(pool, 1 << 20));

  const KvTensorView *sinks = nullptr;
  int32_t *offset(int64_t i) { return fixture.rowOffsets.as<int32_t>() + i; }
  int32_t *length(int64_t i) { return fixture.cacheLengths.as<int32_t>() + i; }
  int32_t *entry(int64_t b, int64_t i) {
    return fixture.lookupTable.as<int32_t>() + b * table.sizes[1] + i;
  }

  reference::AttentionArguments attention() {
    return {.blocks = &blocks,
            .scales = nullptr,
            .cacheLengths = &lengths,
            .lookupTable = &table,
            .rowOffsets = &offsets,
            .layer = layer,
            .q = &q,
            .out = &outView,
            .lse = &lseView,
            .scale = 0.125f,
            .softcap = 0,
            .mask = mask,
            .window = window,
            .sinks = sinks};
  }
  reference::StoreArguments store() {
    return {.blocks = &blocks,
            .scales = nullptr,
            .cacheLengths = &lengths,
            .lookupTable = &table,
            .rowOffsets = &offsets,
            .layer = layer,
            .k = &k,
            .v = vPointer};
  }

  /// What generated code calls, after it has checked its step.
  void callAttention() {
    KvContext *abi = context->abi();
    reference::AttentionArguments args = attention();
    abi->functions->attention(
        abi, args.blocks, args.scales, args.cacheLengths, args.lookupTable,
        args.rowOffsets, args.layer, args.q, args.out, args.lse, args.scale,
        args.softcap, args.mask, args.window, args.sinks, args.kvRowOffsets);
  }
  void callStore() {
    KvContext *abi = context->abi();
    reference::StoreArguments args = store();
    abi->functions->store(abi, args.blocks, args.scales, args.cacheLengths,
                          args.lookupTable, args.rowOffsets, args.layer, args.k,
                          args.v);
  }
};

using Spoil = std::function<void(Call &)>;

/// What is wrong with a spoiled call.
std::string attentionError(const Spoil &spoil) {
  Call call;
  spoil(call);
  auto failure = reference::validate(call.attention());
  return failure ? failure->message : "no error";
}

std::string storeError(const Spoil &spoil) {
  Call call;
  spoil(call);
  auto failure = reference::validate(call.store());
  return failure ? failure->message : "no error";
}

TEST(ReferenceValidate, GoodCallsPass) {
  Call call;
  EXPECT_FALSE(reference::validate(call.attention()));
  EXPECT_FALSE(reference::validate(call.store()));
  call.callAttention();
  call.callStore();
  auto result = call.context->result();
  EXPECT_TRUE(result) << result.error().message;
}

// The layer and the pages are looked at in each layer; memory stays as it was.
TEST(ReferenceValidate, CallsOfGeneratedCode) {
  struct {
    Spoil spoil;
    const char *message;
  } cases[] = {
      {[](Call &c) { c.layer = 3; }, "layer 3, the cache has 3 layers"},
      {[](Call &c) { *c.entry(2, 1) = 6; },
       "lookup_table[2, 1] is 6, the cache has the pages 0 to 5"},
  };
  for (const auto &[spoil, message] : cases) {
    Call call;
    spoil(call);
    std::fill_n(call.out.as<float>(), call.out.elements(), 42.0f);
    call.callAttention();
    for (int64_t i = 0; i < call.out.elements(); ++i)
      EXPECT_EQ(call.out.as<float>()[i], 42.0f);
    EXPECT_EQ(call.context->result().error().message,
              concat("attention: ", message));

    Call storing;
    spoil(storing);
    std::vector<char> before(storing.fixture.blocks.as<char>(),
                             storing.fixture.blocks.as<char>() +
                                 storing.fixture.blocks.bytes());
    storing.callStore();
    EXPECT_EQ(0, std::memcmp(before.data(), storing.fixture.blocks.data(),
                             before.size()));
    EXPECT_EQ(storing.context->result().error().message,
              concat("store: ", message));
  }
}

TEST(ReferenceValidate, SharedChecks) {
  struct {
    Spoil spoil;
    const char *message;
  } cases[] = {
      {[](Call &c) { c.offsets.sizes[0] = 3; },
       "row_offsets has 3 elements, expected 4 (one more than cache_lengths "
       "has)"},
      {[](Call &c) { *c.offset(0) = 1; },
       "row_offsets begins with 1, expected 0"},
      {[](Call &c) { *c.offset(1) = 5; },
       "row_offsets falls from 5 to 4 at sequence 1"},
      {[](Call &c) { *c.length(1) = -2; }, "cache_lengths[1] is -2"},
      {[](Call &c) { *c.entry(2, 1) = 6; },
       "lookup_table[2, 1] is 6, the cache has the pages 0 to 5"},
      {[](Call &c) { *c.entry(0, 0) = -1; },
       "lookup_table[0, 0] is -1, the cache has the pages 0 to 5"},
      {[](Call &c) { *c.length(2) = 11; },
       "sequence 2 has 13 tokens, its table row holds 3 pages of 4"},
      {[](Call &c) { c.layer = 3; }, "layer 3, the cache has 3 layers"},
      {[](Call &c) { c.layer = -1; }, "layer -1, the cache has 3 layers"},
      {[](Call &c) { c.table.sizes[0] = 2; },
       "lookup_table has 2 rows, cache_lengths has 3"},
      {[](Call &c) { c.table.rank = 3; },
       "lookup_table has rank 3, expected 2"},
      {[](Call &c) { c.table.rank = 1; },
       "sequence 0 has 5 tokens, its slot holds 4"},
      {[](Call &c) { c.blocks.dtype = KV_DTYPE_I8; },
       "blocks of i8 need scales"},
      {[](Call &c) { c.blocks.dtype = KV_DTYPE_I32; },
       "blocks has the element type 7, expected f32, bf16, f16, f8E4M3FN, "
       "f8E5M2 or i8"},
      {[](Call &c) { c.blocks.strides[5] = 2; },
       "blocks has the stride 2 in its last dimension, expected 1"},
      {[](Call &c) { c.blocks.sizes[1] = 3; },
       "blocks has 3 planes, expected 2 (K and V) or 1 (latent)"},
      {[](Call &c) { c.lengths.dtype = KV_DTYPE_I64; },
       "cache_lengths has the element type 8, expected i32"},
  };
  for (const auto &[spoil, message] : cases) {
    EXPECT_EQ(attentionError(spoil), concat("attention: ", message));
    EXPECT_EQ(storeError(spoil), concat("store: ", message));
  }
}

TEST(ReferenceValidate, TokensMustMatch) {
  EXPECT_EQ(attentionError([](Call &c) { *c.offset(3) = 7; }),
            "attention: row_offsets ends with 7, q has 6 tokens");
  EXPECT_EQ(storeError([](Call &c) { c.k.sizes[0] = 5; }),
            "store: row_offsets ends with 6, k has 5 tokens");
}

TEST(ReferenceValidate, Attention) {
  EXPECT_EQ(attentionError([](Call &c) { c.q.sizes[1] = 5; }),
            "attention: q has 5 heads, not a multiple of the cache's 2");
  EXPECT_EQ(attentionError([](Call &c) { c.q.sizes[2] = 63; }),
            "attention: q has the size 63 in dimension 2, expected 64 (the "
            "head dimension of blocks)");
  EXPECT_EQ(attentionError([](Call &c) { c.outView.sizes[1] = 4; }),
            "attention: out has the size 4 in dimension 1, expected 6 (the "
            "heads of q)");
  EXPECT_EQ(attentionError([](Call &c) { c.lseView.sizes[0] = 4; }),
            "attention: lse has the size 4 in dimension 0, expected 6 (the "
            "tokens of q)");
  KvTensorView sinks{nullptr, 0, 1, KV_DTYPE_F32, {5}, {1}};
  EXPECT_EQ(attentionError([&](Call &c) { c.sinks = &sinks; }),
            "attention: sinks has the size 5 in dimension 0, expected 6 (the "
            "heads of q)");
  sinks.dtype = KV_DTYPE_F16;
  EXPECT_EQ(attentionError([&](Call &c) { c.sinks = &sinks; }),
            "attention: sinks has the element type 1, expected f32");
  sinks.rank = 2;
  EXPECT_EQ(attentionError([&](Call &c) { c.sinks = &sinks; }),
            "attention: sinks has rank 2, expected 1");
  EXPECT_EQ(attentionError([](Call &c) { c.mask = 6; }),
            "attention: mask 6, expected a value from 0 to 5");
  EXPECT_EQ(attentionError([](Call &c) { c.mask = KV_MASK_CHUNKED; }),
            "attention: a window of 0 tokens, expected at least 1");
}

TEST(ReferenceValidate, Store) {
  EXPECT_EQ(storeError([](Call &c) { c.vPointer = nullptr; }),
            "store: v is missing, but blocks has two planes");
  EXPECT_EQ(storeError([](Call &c) { c.blocks.sizes[1] = 1; }),
            "store: v is given, but blocks has one plane");
  EXPECT_EQ(storeError([](Call &c) { c.k.sizes[1] = 3; }),
            "store: k has the size 3 in dimension 1, expected 2 (the heads of "
            "blocks)");
  EXPECT_EQ(storeError([](Call &c) { c.v.sizes[2] = 32; }),
            "store: v has the size 32 in dimension 2, expected 64 (the head "
            "dimension of blocks)");
}

// The first error stays; later calls do nothing.
TEST(ReferenceValidate, ErrorsAreSticky) {
  Call call;
  call.layer = 9;
  call.callStore();
  call.layer = 1;
  std::fill_n(call.out.as<float>(), call.out.elements(), 42.0f);
  call.callAttention();
  EXPECT_EQ(call.out.as<float>()[0], 42.0f);
  EXPECT_EQ(call.context->result().error().message,
            "store: layer 9, the cache has 3 layers");
  EXPECT_EQ(call.context->result().error().code, KV_STATUS_OUT_OF_RANGE);
  call.context->reset();
  call.callAttention();
  EXPECT_TRUE(call.context->result());
  EXPECT_NE(call.out.as<float>()[0], 42.0f);
}

} // namespace
