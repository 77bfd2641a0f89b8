//===- Registration.h - All dialects and passes of a tool -------*- C++ -*-===//
//
// Compiled once for all tools, since the headers of all dialects and passes of
// MLIR take a minute to compile.
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

/// Registers all dialects, and their translations to LLVM IR.
void registerDialectsAndTranslations(mlir::DialectRegistry &registry);

/// The passes and pipelines of kv-mlir and of MLIR, by their names.
void registerPasses();

/// Makes --version say the tool's name and the version of kv-mlir. `tool` must
/// outlive the command line's options.
void registerVersion(const char *tool);

} // namespace kv

#endif // KV_REGISTRATION_REGISTRATION_H
