//===- kv-reduce.cpp - mlir-reduce with the kv dialect --------------------===//

#include "kv/Registration/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kv::registerDialects(registry);
  kv::registerPasses();
  kv::registerVersion("kv-reduce");
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
