//===- kv-opt.cpp - mlir-opt with the kv dialect and its passes -----------===//

#include "kv/Passes/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  kv::registerKVDialect(registry);
  kv::registerKVPasses();
  kv::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kv-mlir optimizer driver\n", registry));
}
