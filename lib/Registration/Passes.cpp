//===- Passes.cpp - Every pass --------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "kv/Registration/Registration.h"
#include "mlir/InitAllPasses.h"

void kv::registerPasses() {
  mlir::registerAllPasses();
  registerKVPasses();
  registerPipelines();
}
