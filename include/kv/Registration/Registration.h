//===- Registration.h - Everything that a tool knows ------------*- C++ -*-===//
//
// Compiled once for all tools: the headers that name every dialect and pass of
// MLIR take a minute.
//
//===----------------------------------------------------------------------===//

#ifndef KV_REGISTRATION_REGISTRATION_H
#define KV_REGISTRATION_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kv {

/// kv and all of MLIR's dialects, with their extensions and external models.
void registerDialects(mlir::DialectRegistry &registry);

/// The same and what translates to LLVM IR.
void registerDialectsAndTranslations(mlir::DialectRegistry &registry);

/// The passes and pipelines of kv-mlir and of MLIR, by their names.
void registerPasses();

} // namespace kv

#endif // KV_REGISTRATION_REGISTRATION_H
