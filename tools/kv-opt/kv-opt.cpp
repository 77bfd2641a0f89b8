//===- kv-opt.cpp - mlir-opt with the kv dialect and its passes -----------===//

#include "kv/Registration/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kv::registerDialects(registry);
  kv::registerPasses();
  kv::registerVersion("kv-opt");
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kv-mlir optimizer driver\n", registry));
}
