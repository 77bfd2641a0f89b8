//===- KVCacheParamsTest.cpp ----------------------------------------------===//

#include "kv/Runtime/Manager/KVCacheParams.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

KVCacheParams latentParams() {
  return {.name = "mla",
          .geometry = {.dtype = KV_DTYPE_BF16,
                       .layers = 61,
                       .heads = 1,
                       .dim = 576,
                       .page = 64,
                       .vDim = 512}};
}

KVCacheParams quantizedParams() {
  return {.name = "q",
          .geometry = {.dtype = KV_DTYPE_F8E4M3FN,
                       .layers = 4,
                       .heads = 8,
                       .dim = 128,
                       .page = 64,
                       .scaleGroup = 32}};
}

std::string spell(const std::vector<Argument> &arguments) {
  std::string result;
  for (const Argument &argument : arguments) {
    result += concat(argument.name, " ", argumentKindName(argument.kind), " ",
                     dtypeName(argument.dtype), " [");
    for (const Dimension &dim : argument.shape)
      result += concat(&dim == argument.shape.data() ? "" : ", ",
                       dim.isStatic() ? std::to_string(dim.size) : dim.symbol);
    result += concat("]", argument.host ? " host" : "", "\n");
  }
  return result;
}

} // namespace

TEST(KVCacheParams, SymbolicInputsFollowTheGeometry) {
  EXPECT_EQ(spell(fakeParams(2).symbolicInputs()),
            "kv.blocks kv.blocks f32 [kv.pages, 2, 1, 2, 1, 1]\n"
            "kv.cache_lengths kv.cache_lengths i32 [kv.batch]\n"
            "kv.lookup_table kv.lookup_table i32 [kv.batch, kv.pitch]\n"
            "kv.max_lengths kv.max_lengths i32 [kv.steps, 2] host\n");
  KVCacheParams params = quantizedParams();
  params.geometry.layout = CacheLayout::HND;
  EXPECT_EQ(spell(params.symbolicInputs("r0.", 3)),
            "r0.q.blocks kv.blocks f8E4M3FN [r0.q.pages, 2, 3, 8, 64, 128]\n"
            "r0.q.cache_lengths kv.cache_lengths i32 [r0.q.batch]\n"
            "r0.q.lookup_table kv.lookup_table i32 [r0.q.batch, r0.q.pitch]\n"
            "r0.q.max_lengths kv.max_lengths i32 [r0.q.steps, 2] host\n"
            "r0.q.scales kv.scales f32 [r0.q.pages, 2, 3, 8, 64, 4]\n");
  params = latentParams();
  params.geometry.layout = CacheLayout::CPU;
  EXPECT_EQ(spell({params.symbolicInputs()[0]}),
            "mla.blocks kv.blocks bf16 [mla.pages, 61, 1, 1, 64, 576]\n");
  params.geometry.strategy = CacheStrategy::Continuous;
  params.geometry.layout = CacheLayout::NHD;
  EXPECT_EQ(spell({params.symbolicInputs()[0], params.symbolicInputs()[2]}),
            "mla.blocks kv.blocks bf16 [mla.slots, 1, 61, 64, 1, 576]\n"
            "mla.lookup_table kv.lookup_table i32 [mla.batch]\n");
}

TEST(KVCacheParams, Degrees) {
  KVCacheParams params = latentParams();
  EXPECT_FALSE(params.replicatesKVAcrossTP());
  params.numDevices = 8;
  params.dataParallelDegree = 2;
  EXPECT_EQ(params.tensorParallelDegree(), 4);
  EXPECT_TRUE(params.replicatesKVAcrossTP());
  params.dataParallelDegree = 8;
  EXPECT_FALSE(params.replicatesKVAcrossTP());
  params = quantizedParams();
  params.numDevices = 4;
  EXPECT_FALSE(params.replicatesKVAcrossTP());

  EXPECT_EQ(params.numDraftTokensPerStep(), 0);
  params.numDraftTokens = 5;
  params.speculativeMethod = SpeculativeMethod::Eagle;
  EXPECT_EQ(params.numDraftTokensPerStep(), 1);
  params.speculativeMethod = SpeculativeMethod::DFlash;
  EXPECT_EQ(params.numDraftTokensPerStep(), 5);
}

// What the C interface cannot say, or has a default for.
TEST(KVCacheParams, ValidateNamesTheField) {
  KVCacheParams params = fakeParams(2);
  EXPECT_EQ(text(params.validate()), "no error");
  params.geometry.heads = CacheGeometry::Unknown;
  EXPECT_EQ(text(params.validate()),
            "collection kv: 'heads' must be known to make a cache");
  params = fakeParams(2);
  params.numDevices = 0;
  EXPECT_EQ(text(params.validate()),
            "collection kv: n_devices is 0, allowed: 1 to 65536");
  params = fakeParams(2);
  params.dataParallelDegree = 0;
  EXPECT_EQ(text(params.validate()),
            "collection kv: data_parallel_degree is 0, allowed: 1 to n_devices "
            "= 1");
  params = {};
  EXPECT_FALSE(params.enablePrefixCaching);
  EXPECT_EQ(params.pageSize(), 128);
  EXPECT_EQ(params.dataParallelDegree, 1);
  EXPECT_EQ(params.numDevices, 1);
  EXPECT_EQ(params.connector, KVConnector::None);
  EXPECT_FALSE(params.hostSwapSpaceGB);
}

TEST(KVCacheParams, MismatchesWithAnEntryNameTheFieldAndBothValues) {
  KVCacheParams params = fakeParams(2);
  Entry entry;
  entry.name = "forward";
  entry.inputs = params.symbolicInputs();
  EXPECT_TRUE(params.validate(entry));
  entry.inputs[0].shape[3].size = 16;
  EXPECT_EQ(text(params.validate(entry)),
            "entry forward: dimension 3 of kv.blocks is 16, the cache manager "
            "gives 2");
  entry.inputs = params.symbolicInputs();
  entry.inputs[0].dtype = DType::BF16;
  EXPECT_EQ(text(params.validate(entry)),
            "entry forward: dtype of kv.blocks is bf16, the cache manager "
            "gives f32");
  entry.inputs = params.symbolicInputs();
  entry.inputs[2].shape.pop_back();
  EXPECT_EQ(text(params.validate(entry)),
            "entry forward: rank of kv.lookup_table is 1, the cache manager "
            "gives 2");
  entry.inputs = params.symbolicInputs();
  entry.inputs.erase(entry.inputs.begin() + 1);
  EXPECT_EQ(text(params.validate(entry)),
            "entry forward has no argument of the kind kv.cache_lengths for "
            "collection kv");
  params = quantizedParams();
  entry.inputs = params.symbolicInputs();
  EXPECT_TRUE(params.validate(entry));
  entry.inputs.pop_back();
  EXPECT_EQ(text(params.validate(entry)),
            "entry forward has no argument of the kind kv.scales for "
            "collection q");
}

TEST(MultiKVCacheParams, AddsUp) {
  KVCacheParams other = quantizedParams();
  other.geometry.page = 2;
  other.enablePrefixCaching = true;
  auto both = MultiKVCacheParams::fromParams({fakeParams(2), other});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->params.size(), 2u);
  EXPECT_EQ(both->bytesPerPage(),
            fakeParams(2).bytesPerPage() + other.bytesPerPage());
  EXPECT_EQ(both->bytesPerBlock(), both->bytesPerPage());
  EXPECT_EQ(both->pageSize(), 2);
  EXPECT_EQ(both->pagesFor(5), 3);
  EXPECT_TRUE(both->enablePrefixCaching());
  EXPECT_EQ(spell(both->symbolicInputs("p.")),
            spell(fakeParams(2).symbolicInputs("p.")) +
                spell(other.symbolicInputs("p.")));
}

TEST(MultiKVCacheParams, MismatchesNameTheFieldAndBothValues) {
  EXPECT_EQ(text(MultiKVCacheParams::fromParams({})),
            "no cache parameters are given, at least one is needed");
  EXPECT_EQ(
      text(MultiKVCacheParams::fromParams({fakeParams(2), fakeParams(2)})),
      "the collection name kv is used twice");
  // Sizes are products of many factors: all of them fit 64 bits.
  KVCacheParams huge = fakeParams(1 << 20);
  huge.geometry.layers = 1 << 17;
  huge.numDevices = 1 << 16;
  std::vector<KVCacheParams> many(128, huge);
  for (size_t i = 0; i < many.size(); ++i)
    many[i].name = std::to_string(i);
  EXPECT_EQ(
      text(MultiKVCacheParams::fromParams(many)),
      "a page or a state of the 128 collections on 65536 devices takes 2^63 "
      "bytes or more");
  many.pop_back();
  EXPECT_EQ(text(MultiKVCacheParams::fromParams(many)), "no error");
  auto check = [](auto change) {
    KVCacheParams first = fakeParams(2), second = fakeParams(2);
    second.name = "draft";
    change(first, second);
    std::string message = text(MultiKVCacheParams::fromParams({first, second}));
    std::string_view start = "collections kv and draft share pages, but ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  };
  using Params = KVCacheParams &;
  EXPECT_EQ(check([](Params, Params) {}), "no error");
  EXPECT_EQ(check([](Params, Params b) { b.geometry.page = 4; }),
            "page is 2 in the first and 4 in the second");
  EXPECT_EQ(check([](Params a, Params b) {
              a.enablePrefixCaching = b.enablePrefixCaching = false;
              b.geometry.strategy = CacheStrategy::Continuous;
            }),
            "strategy is paged in the first and continuous in the second");
  EXPECT_EQ(check([](Params, Params b) { b.numDevices = 2; }),
            "n_devices is 1 in the first and 2 in the second");
  EXPECT_EQ(check([](Params a, Params b) {
              a.numDevices = b.numDevices = 2;
              a.dataParallelDegree = 2;
            }),
            "data_parallel_degree is 2 in the first and 1 in the second");
  EXPECT_EQ(check([](Params, Params b) { b.enablePrefixCaching = false; }),
            "enable_prefix_caching is true in the first and false in the "
            "second");
  EXPECT_EQ(check([](Params a, Params) { a.connector = KVConnector::Null; }),
            "kv_connector is null in the first and none in the second");
  EXPECT_EQ(check([](Params a, Params) { a.hostSwapSpaceGB = 2; }),
            "host_kvcache_swap_space_gb is 2.000000 in the first and not given "
            "in the second");
  auto drafts = [](Params params, SpeculativeMethod method, int64_t tokens) {
    params.speculativeMethod = method;
    params.numDraftTokens = tokens;
  };
  EXPECT_EQ(check([&](Params a, Params b) {
              drafts(a, SpeculativeMethod::Eagle, 2);
              drafts(b, SpeculativeMethod::MTP, 2);
            }),
            "speculative_method is eagle in the first and mtp in the second");
  EXPECT_EQ(check([&](Params a, Params b) {
              drafts(a, SpeculativeMethod::Eagle, 2);
              drafts(b, SpeculativeMethod::Eagle, 3);
            }),
            "num_draft_tokens is 2 in the first and 3 in the second");
  EXPECT_EQ(check([](Params, Params b) { b.geometry.layers = -1; }),
            "collection draft: 'layers' must be positive, not -1");
}
