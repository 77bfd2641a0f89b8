//===- SymbolicInputsTest.cpp - Graph and managers take the same inputs ---===//
//
// What kv-expand-collections makes of a collection argument, against what a
// manager says that it gives: names, kinds, element types, dimensions and
// their symbols, for every geometry.
//
//===----------------------------------------------------------------------===//

#include "kv/Dialect/KV.h"
#include "kv/Passes/Passes.h"
#include "kv/Runtime/Manager/KVCacheParams.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using kv::Argument;
using kv::CacheGeometry;

namespace {

class SymbolicInputs : public testing::Test {
protected:
  SymbolicInputs() {
    DialectRegistry registry;
    kv::registerKVDialect(registry);
    registry.insert<func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// An entry that takes these collections, expanded.
  OwningOpRef<ModuleOp> expand(ArrayRef<kv::KVCacheParams> caches) {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types;
    for (const kv::KVCacheParams &cache : caches)
      types.push_back(kv::CollectionType::get(&context, cache.geometry));
    auto function = func::FuncOp::create(
        b, loc, "f", FunctionType::get(&context, types, {}));
    function->setAttr("kv.entry", b.getUnitAttr());
    for (auto [i, cache] : llvm::enumerate(caches))
      function.setArgAttr(i, "kv.name", b.getStringAttr(cache.name));
    b.setInsertionPointToEnd(function.addEntryBlock());
    func::ReturnOp::create(b, loc);
    PassManager pm(&context);
    pm.addPass(kv::createKVExpandCollections());
    if (failed(pm.run(*module)))
      return {};
    return module;
  }

  /// An argument of the expanded entry, as the manifest would describe it.
  static Argument describe(func::FuncOp function, unsigned i) {
    auto text = [&](StringRef name) {
      return function.getArgAttrOfType<StringAttr>(i, name).str();
    };
    auto type = cast<ShapedType>(function.getArgumentTypes()[i]);
    auto symbols = function.getArgAttrOfType<ArrayAttr>(i, "kv.dims");
    Argument argument;
    argument.name = text("kv.name");
    argument.dtype =
        static_cast<kv::DType>(*kv::dtypeOf(type.getElementType()));
    size_t symbol = 0;
    for (int64_t size : type.getShape()) {
      kv::Dimension dimension;
      if (ShapedType::isDynamic(size))
        dimension.symbol = cast<StringAttr>(symbols[symbol++]).str();
      else
        dimension.size = size;
      argument.shape.push_back(dimension);
    }
    argument.host = static_cast<bool>(function.getArgAttr(i, "kv.host"));
    for (auto kind : {kv::ArgumentKind::Blocks, kv::ArgumentKind::CacheLengths,
                      kv::ArgumentKind::LookupTable,
                      kv::ArgumentKind::MaxLengths, kv::ArgumentKind::Scales})
      if (kv::argumentKindName(kind) == "kv." + text("kv.component"))
        argument.kind = kind;
    return argument;
  }

  /// The graph's arguments are `wanted`, but for a device's prefix in names.
  void expectArguments(func::FuncOp function, ArrayRef<Argument> wanted,
                       const std::string &prefix) {
    ASSERT_EQ(function.getNumArguments(), wanted.size());
    for (auto [i, want] : llvm::enumerate(wanted)) {
      Argument have = describe(function, i);
      EXPECT_EQ(prefix + have.name, want.name);
      EXPECT_EQ(have.kind, want.kind) << want.name;
      EXPECT_EQ(have.dtype, want.dtype) << want.name;
      EXPECT_EQ(have.host, want.host) << want.name;
      ASSERT_EQ(have.shape.size(), want.shape.size()) << want.name;
      for (size_t d = 0; d < have.shape.size(); ++d) {
        EXPECT_EQ(have.shape[d].size, want.shape[d].size) << want.name;
        // Symbols bind within one device's entry: prefixes are free there.
        StringRef symbol = want.shape[d].symbol;
        EXPECT_TRUE(symbol.ends_with(have.shape[d].symbol))
            << want.name << ": " << symbol.str() << ", "
            << have.shape[d].symbol;
      }
    }
  }

  MLIRContext context;
};

/// Every geometry of a few sizes.
std::vector<CacheGeometry> geometries() {
  std::vector<CacheGeometry> result;
  for (auto strategy :
       {kv::CacheStrategy::Paged, kv::CacheStrategy::Continuous})
    for (KvDType dtype : {KV_DTYPE_F32, KV_DTYPE_F16, KV_DTYPE_BF16,
                          KV_DTYPE_F8E4M3FN, KV_DTYPE_F8E5M2, KV_DTYPE_I8})
      for (int64_t vDim : {0, 32})
        for (auto layout :
             {kv::CacheLayout::NHD, kv::CacheLayout::HND, kv::CacheLayout::CPU})
          for (int64_t group : {0, 16})
            for (KvDType scale : {KV_DTYPE_F32, KV_DTYPE_F8E8M0FNU}) {
              CacheGeometry geometry;
              geometry.strategy = strategy;
              geometry.dtype = dtype;
              geometry.layers = 3;
              geometry.heads = vDim ? 1 : 2;
              geometry.dim = 48;
              geometry.page = 64;
              geometry.vDim = vDim;
              geometry.layout = layout;
              geometry.scaleGroup = group;
              geometry.scaleDType = scale;
              if (geometry.problem().empty())
                result.push_back(geometry);
            }
  return result;
}

TEST_F(SymbolicInputs, EveryGeometry) {
  size_t count = 0;
  for (const CacheGeometry &geometry : geometries()) {
    kv::KVCacheParams params;
    params.name = "cache";
    params.geometry = geometry;
    ASSERT_TRUE(params.validate());
    auto module = expand(params);
    ASSERT_TRUE(module);
    expectArguments(*module->getOps<func::FuncOp>().begin(),
                    params.symbolicInputs(), "");
    ++count;
  }
  // 2 strategies x 2 kinds x 3 layouts x (3 plain types twice, f8 thrice each,
  // i8 twice); the scale's type repeats where there is none.
  EXPECT_EQ(count, 2u * 2 * 3 * (3 * 2 + 2 * 4 + 2));
}

/// Two caches of one manager, on each device of every degree of parallelism.
TEST_F(SymbolicInputs, SeveralCachesAndDevices) {
  for (const CacheGeometry &geometry : geometries())
    for (auto [replicas, shards] : {std::pair(1, 1), {1, 2}, {2, 1}, {2, 4}}) {
      if (!(geometry.isPaged() || (replicas == 1 && shards == 1)))
        continue;
      std::vector<kv::KVCacheParams> caches(2);
      for (size_t i = 0; i < caches.size(); ++i) {
        caches[i].name = i == 0 ? "full" : "window";
        caches[i].geometry = geometry;
        caches[i].numDevices = replicas * shards;
        caches[i].dataParallelDegree = replicas;
      }
      caches[1].geometry.layers = 5;
      auto params = kv::MultiKVCacheParams::fromParams(caches);
      ASSERT_TRUE(params) << params.error().message;
      kv::NullKVCacheManager::Options options;
      for (int i = 0; i < replicas * shards; ++i)
        options.devices.push_back({kv::Device::Kind::Virtual, i, "any"});
      auto created = kv::NullKVCacheManager::create(*params, options);
      ASSERT_TRUE(created) << created.error().message;
      auto module = expand(caches);
      ASSERT_TRUE(module);
      auto devices = (*created)->symbolicInputs();
      ASSERT_EQ(devices.size(), size_t(replicas * shards));
      for (auto [device, wanted] : llvm::enumerate(devices)) {
        std::string prefix;
        if (replicas * shards > 1)
          prefix = "replica_" + std::to_string(device / shards) + ".";
        if (shards > 1)
          prefix += "shard_" + std::to_string(device % shards) + ".";
        expectArguments(*module->getOps<func::FuncOp>().begin(), wanted,
                        prefix);
      }
    }
}
} // namespace
