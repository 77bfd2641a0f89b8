//===- kv-lsp-server.cpp - mlir-lsp-server with the kv dialect ------------===//

#include "kv/Registration/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kv::registerDialects(registry);
  kv::registerVersion("kv-lsp-server");
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
