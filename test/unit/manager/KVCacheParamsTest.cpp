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

TEST(KVCacheParams, ShapesHaveTheLayoutsOrder) {
  using Shape = std::array<int64_t, 6>;
  KVCacheParams params = quantizedParams();
  EXPECT_EQ(params.blockShape(10), (Shape{11, 2, 4, 64, 8, 128}));
  EXPECT_EQ(params.scaleShape(10), (Shape{11, 2, 4, 64, 8, 4}));
  params.geometry.layout = CacheLayout::HND;
  EXPECT_EQ(params.blockShape(10), (Shape{11, 2, 4, 8, 64, 128}));
  params.geometry.layout = CacheLayout::CPU;
  EXPECT_EQ(params.blockShape(10), (Shape{11, 4, 8, 2, 64, 128}));
  EXPECT_EQ(params.scaleShape(10), (Shape{11, 4, 8, 2, 64, 4}));
  params.geometry.strategy = CacheStrategy::Continuous;
  EXPECT_EQ(params.blockShape(10)[0], 10); // no null slot
  EXPECT_EQ(latentParams().blockShape(1), (Shape{2, 1, 61, 64, 1, 576}));
}

TEST(KVCacheParams, Bytes) {
  KVCacheParams params = fakeParams(128);
  params.geometry.layers = 17;
  params.geometry.dim = 24;
  EXPECT_EQ(params.bytesPerPage(), 417792); // MAX: f32, 1 head, dim 24
  params.numDevices = 4;
  params.dataParallelDegree = 2;
  EXPECT_EQ(params.bytesPerBlock(), 2 * 417792);

  // MAX: eight bits with scales are less than f32, and more than a quarter.
  KVCacheParams quantized = quantizedParams(), plain = quantizedParams();
  plain.geometry.dtype = KV_DTYPE_F32;
  plain.geometry.scaleGroup = 0;
  EXPECT_LT(quantized.bytesPerPage(), plain.bytesPerPage());
  EXPECT_GT(quantized.bytesPerPage(), plain.bytesPerPage() / 4);
  EXPECT_EQ(quantized.bytesPerPage(), 2 * 4 * 64 * 8 * (128 + 4 * 4));
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

TEST(KVCacheParams, HeadsOfAShard) {
  EXPECT_EQ(*shardHeads(8, 4), 2);
  EXPECT_EQ(*shardHeads(2, 4, true), 1);
  EXPECT_EQ(text(shardHeads(2, 4)),
            "2 KV heads on 4 devices: the number of heads must be a multiple "
            "of the number of devices");
  EXPECT_EQ(text(shardHeads(3, 4, true)),
            "3 KV heads on 4 devices: the number of heads must be a multiple "
            "of the number of devices, or divide it");
  EXPECT_EQ(text(shardHeads(0, 4)),
            "0 KV heads on 4 devices: both must be positive");
}

TEST(KVCacheParams, ValidateNamesTheField) {
  auto check = [](auto change) {
    KVCacheParams params = fakeParams(2);
    change(params);
    return text(params.validate());
  };
  using Params = KVCacheParams &;
  EXPECT_EQ(check([](Params) {}), "no error");
  EXPECT_EQ(check([](Params p) { p.geometry.dim = 0; }),
            "collection kv: 'dim' must be positive, not 0");
  EXPECT_EQ(check([](Params p) { p.geometry.dtype = KV_DTYPE_I64; }),
            "collection kv: the element type must be f32, f16, bf16, f8E4M3FN, "
            "f8E5M2 or i8");
  EXPECT_EQ(check([](Params p) { p.geometry.heads = CacheGeometry::Unknown; }),
            "collection kv: 'heads' must be known to make a cache");
  EXPECT_EQ(check([](Params p) { p.numDevices = 0; }),
            "collection kv: n_devices is 0, allowed: 1 to 65536");
  EXPECT_EQ(check([](Params p) { p.dataParallelDegree = 2; }),
            "collection kv: data_parallel_degree is 2, allowed: 1 to n_devices "
            "= 1");
  EXPECT_EQ(check([](Params p) { p.dataParallelDegree = 0; }),
            "collection kv: data_parallel_degree is 0, allowed: 1 to n_devices "
            "= 1");
  EXPECT_EQ(check([](Params p) {
              p.numDevices = 4;
              p.dataParallelDegree = 3;
            }),
            "collection kv: data_parallel_degree is 3, allowed: a divisor of "
            "n_devices = 4");
  EXPECT_EQ(
      check([](Params p) { p.geometry.strategy = CacheStrategy::Continuous; }),
      "collection kv: enable_prefix_caching is true, allowed: false, "
      "since the strategy is continuous");
  EXPECT_EQ(check([](Params p) { p.geometry.window = -1; }),
            "collection kv: 'window' must be 0 to 2147483647, not -1");
  EXPECT_EQ(check([](Params p) { p.geometry.pageLayers = 2; }),
            "collection kv: 'page_layers' must be 1 to layers = 1, not 2");
  EXPECT_EQ(check([](Params p) { p.numDraftTokens = -1; }),
            "collection kv: num_draft_tokens is -1, allowed: 0 to 1024");
  EXPECT_EQ(check([](Params p) { p.numDraftTokens = 2; }),
            "collection kv: num_draft_tokens is 2, allowed: 0, since "
            "speculative_method is none");
  EXPECT_EQ(
      check([](Params p) { p.speculativeMethod = SpeculativeMethod::MTP; }),
      "no error")
      << "a method has no draft tokens unless some are asked for";
  EXPECT_EQ(check([](Params p) { p.hostSwapSpaceGB = -1; }),
            "collection kv: host_kvcache_swap_space_gb is -1.000000, allowed: "
            "a positive number");
  EXPECT_EQ(check([](Params p) { p.connector = KVConnector::Host; }),
            "collection kv: kv_connector is host, host_kvcache_swap_space_gb "
            "is not given: the connector needs it");
  EXPECT_EQ(check([](Params p) {
              p.connector = KVConnector::Tiered;
              p.hostSwapSpaceGB = 1;
              p.enablePrefixCaching = false;
            }),
            "collection kv: kv_connector is tiered, enable_prefix_caching is "
            "false: the connector needs it");
  EXPECT_EQ(check([](Params p) {
              p.connector = KVConnector::Host;
              p.hostSwapSpaceGB = 0.5;
            }),
            "no error");
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

TEST(MultiKVCacheParams, ReplicatesOnlyIfAllDo) {
  KVCacheParams latent = latentParams(), heads = quantizedParams();
  latent.numDevices = heads.numDevices = 2;
  EXPECT_TRUE(MultiKVCacheParams(latent).replicatesKVAcrossTP());
  auto both = MultiKVCacheParams::fromParams({latent, heads});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_FALSE(both->replicatesKVAcrossTP());
  EXPECT_EQ(both->tensorParallelDegree(), 2);
  EXPECT_EQ(both->bytesPerBlock(), 2 * both->bytesPerPage());
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
