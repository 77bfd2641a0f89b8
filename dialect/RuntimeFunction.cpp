//===- RuntimeFunction.cpp - Symbols.def as data --------------------------===//

#include "kv/Dialect/RuntimeFunction.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace kv;

namespace parameters {
using enum ParameterKind;
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  constexpr ParameterKind Name[] = {__VA_ARGS__};
#include "kv/ABI/Symbols.def"
} // namespace parameters

static constexpr RuntimeFunctionRow kRows[] = {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  {#Name, ParameterKind::Result, FunctionPlace::Where, parameters::Name},
#include "kv/ABI/Symbols.def"
};

const RuntimeFunctionRow &kv::rowOf(RuntimeFunction function) {
  return kRows[static_cast<size_t>(function)];
}

llvm::StringRef kv::stringifyRuntimeFunction(RuntimeFunction function) {
  return rowOf(function).name;
}

std::optional<RuntimeFunction>
kv::symbolizeRuntimeFunction(llvm::StringRef name) {
  const auto *row = llvm::find_if(
      kRows, [&](const RuntimeFunctionRow &each) { return each.name == name; });
  if (row == std::end(kRows))
    return std::nullopt;
  return static_cast<RuntimeFunction>(row - kRows);
}

llvm::StringRef kv::stringifyParameterKind(ParameterKind kind) {
  switch (kind) {
  case ParameterKind::Void:
    return "Void";
  case ParameterKind::I32:
    return "I32";
  case ParameterKind::I64:
    return "I64";
  case ParameterKind::F32:
    return "F32";
  case ParameterKind::Ctx:
    return "Ctx";
  case ParameterKind::Ptr:
    return "Ptr";
  default:
    return "View";
  }
}

Type kv::typeOfKind(MLIRContext *context, ParameterKind kind) {
  switch (kind) {
  case ParameterKind::Void:
    return LLVM::LLVMVoidType::get(context);
  case ParameterKind::I32:
    return IntegerType::get(context, 32);
  case ParameterKind::I64:
    return IntegerType::get(context, 64);
  case ParameterKind::F32:
    return Float32Type::get(context);
  default:
    return LLVM::LLVMPointerType::get(context);
  }
}
