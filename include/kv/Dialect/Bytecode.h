//===- Bytecode.h - kv modules as versioned bytecode ------------*- C++ -*-===//
//
// A bytecode file says which version of the dialect wrote it. This library
// reads its own version and every older one, and refuses newer ones. This
// promise holds for modules as a front end writes them. The lowered form
// (kv.rt) lives within a compilation: only the version that wrote it need read
// it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_BYTECODE_H
#define KV_DIALECT_BYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace kv {
class KVDialect;

/// The version of the dialect's encoding and meaning in bytecode.
///
/// | version | what changed |
/// | --- | --- |
/// | none, 0 | types and attributes as text |
/// | 1 | operations as of 0.1; !kv.collection, !kv.cache, #kv.mask in numbers |
/// | 2 | quantised, latent, continuous caches, layouts; kv.store without v;
/// kv.matmul with several weights, kv.update, kv.plan, #kv.kernel |
/// | 3 | `window` and `page_layers` of collections and caches |
/// | 4 | !kv.quant, #kv.quant, kv.dequantize; `formats` of kv.matmul |
/// | 5 | recurrent collections, kv.state_read, kv.state_write |
/// | 6 | `tree` of kv.attention, kv.positions and kv.plan |
/// | 7 | `by` and `sigmoid` of kv.route; `products` of kv.attention |
struct BytecodeVersion : mlir::DialectVersion {
  static constexpr uint64_t kCurrent = 7;

  explicit BytecodeVersion(uint64_t number = kCurrent) : number(number) {}

  uint64_t number;
};

/// The version of the file that is read; one without a version is 0.
uint64_t versionOf(mlir::DialectBytecodeReader &reader);

/// The version to write: the current one, or what the writer was told.
uint64_t versionToWrite(mlir::DialectBytecodeWriter &writer);

/// Gives the dialect its BytecodeDialectInterface. A writer's configuration may
/// name another BytecodeVersion to write (BytecodeWriterConfig's
/// setDialectVersion<KVDialect>).
void addBytecodeInterface(KVDialect &dialect);

} // namespace kv

#endif // KV_DIALECT_BYTECODE_H
