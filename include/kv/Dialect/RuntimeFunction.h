//===- RuntimeFunction.h - Symbols.def as data ------------------*- C++ -*-===//
//
// The functions that a compiled graph may call, and what they do with their
// parameters.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_RUNTIMEFUNCTION_H
#define KV_DIALECT_RUNTIMEFUNCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace kv {

/// A row of Symbols.def. The number of a function is its place in the context's
/// table.
enum class RuntimeFunction : uint32_t {
#define KV_FUNCTION(Name, Result, Where, ...) Name,
#include "kv/ABI/Symbols.def"
};

/// The kinds of results and parameters, as Symbols.def explains them.
enum class ParameterKind : uint8_t {
  Void,
  I32,
  I64,
  F32,
  Ctx,
  Ptr,
  View,
  Pool,
  PoolOut,
  Out,
  OutAny,
  OutAsWeight,
  OutAsInput,
};
constexpr bool isView(ParameterKind kind) {
  return kind >= ParameterKind::View;
}
/// Whether the function writes the view and does not read it.
constexpr bool isOut(ParameterKind kind) { return kind >= ParameterKind::Out; }
llvm::StringRef stringifyParameterKind(ParameterKind kind);
/// In LLVM; of views a pointer.
mlir::Type typeOfKind(mlir::MLIRContext *context, ParameterKind kind);

enum class FunctionPlace : uint8_t { Host, Cpu, Device, CpuAndDevice };

struct RuntimeFunctionRow {
  llvm::StringRef name;
  ParameterKind result;
  FunctionPlace where;
  /// The first one is the context.
  llvm::ArrayRef<ParameterKind> parameters;

  bool runsOnDevices() const {
    return where == FunctionPlace::Device ||
           where == FunctionPlace::CpuAndDevice;
  }
};

const RuntimeFunctionRow &rowOf(RuntimeFunction function);

llvm::StringRef stringifyRuntimeFunction(RuntimeFunction function);
/// Nothing when no row has this name.
std::optional<RuntimeFunction> symbolizeRuntimeFunction(llvm::StringRef name);

} // namespace kv

#endif // KV_DIALECT_RUNTIMEFUNCTION_H
