//===- Dialects.cpp - Every dialect ---------------------------------------===//

#include "kv/Registration/Registration.h"

#include "kv/Dialect/KV.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void kv::registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerKVDialect(registry);
}

void kv::registerDialectsAndTranslations(mlir::DialectRegistry &registry) {
  registerDialects(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
}
