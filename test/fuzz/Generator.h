//===- Generator.h - Random modules of the kv dialect -----------*- C++ -*-===//
//
// Modules are built from what the operations themselves ask for: each operand
// is a value of a type and a role that the verifier allows, found among the
// values at hand or made. What is built must verify; what is wrong with it
// after that is a fault of the dialect or of a pass.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_FUZZ_GENERATOR_H
#define KV_TEST_FUZZ_GENERATOR_H

#include "Batch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kv::fuzz {

struct GeneratorOptions {
  /// A module whose meaning is defined: one entry @f, sizes that fit together
  /// at run time (below), no operation that prints.
  bool executable = false;
};

/// The module of a seed; the same on every machine.
mlir::OwningOpRef<mlir::ModuleOp>
generateModule(mlir::MLIRContext *context, uint64_t seed,
               const GeneratorOptions &options);

/// Loads the dialects that generated modules use.
void loadGeneratorDialects(mlir::MLIRContext *context);

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_GENERATOR_H
