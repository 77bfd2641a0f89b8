//===- kv-plugin.cpp - The dialect and its passes for stock tools ---------===//

#include "kv/Passes/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "kv", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            kv::registerKVDialect(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "kv", LLVM_VERSION_STRING, [] {
            kv::registerKVPasses();
            kv::registerPipelines();
          }};
}
