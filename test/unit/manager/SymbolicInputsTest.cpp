//===- SymbolicInputsTest.cpp - Graph and managers take the same inputs ---===//
//
// What kv-expand-collections makes of a collection argument, against what a
// manager says that it gives: names, kinds, element types, dimensions and
// their symbols, for every geometry.
//
//===----------------------------------------------------------------------===//

#include "ManagerInputs.h"

#include "kv/Dialect/KV.h"
#include "kv/Passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using kv::CacheGeometry;
using kv::test::Input;
using kv::test::NamedCache;

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
  OwningOpRef<ModuleOp> expand(ArrayRef<NamedCache> caches) {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types;
    for (const NamedCache &cache : caches)
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

  /// An argument of the expanded entry, as a manager would describe it.
  static Input describe(func::FuncOp function, unsigned i) {
    auto text = [&](StringRef name) {
      return function.getArgAttrOfType<StringAttr>(i, name).str();
    };
    auto type = cast<ShapedType>(function.getArgumentTypes()[i]);
    auto symbols = function.getArgAttrOfType<ArrayAttr>(i, "kv.dims");
    Input input;
    input.name = text("kv.name");
    input.kind = "kv." + text("kv.component");
    input.dtype = *kv::dtypeOf(type.getElementType());
    input.host = static_cast<bool>(function.getArgAttr(i, "kv.host"));
    size_t symbol = 0;
    for (int64_t size : type.getShape()) {
      kv::test::InputDimension dimension;
      if (ShapedType::isDynamic(size))
        dimension.symbol = cast<StringAttr>(symbols[symbol++]).str();
      else
        dimension.size = size;
      input.shape.push_back(dimension);
    }
    return input;
  }

  /// The graph's arguments are `wanted`, but for a device's prefix in names.
  void expectArguments(func::FuncOp function, ArrayRef<Input> wanted,
                       const std::string &prefix) {
    ASSERT_EQ(function.getNumArguments(), wanted.size());
    for (auto [i, want] : llvm::enumerate(wanted)) {
      Input have = describe(function, i);
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
    NamedCache cache{"cache", geometry};
    std::string problem;
    std::vector<Input> wanted = kv::test::inputsOfParams(cache, problem);
    ASSERT_EQ(problem, "");
    auto module = expand(cache);
    ASSERT_TRUE(module);
    expectArguments(*module->getOps<func::FuncOp>().begin(), wanted, "");
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
      std::vector<NamedCache> caches = {{"full", geometry},
                                        {"window", geometry}};
      caches[1].geometry.layers = 5;
      std::string problem;
      auto devices =
          kv::test::inputsOfManager(caches, replicas, shards, problem);
      ASSERT_EQ(problem, "");
      auto module = expand(caches);
      ASSERT_TRUE(module);
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
