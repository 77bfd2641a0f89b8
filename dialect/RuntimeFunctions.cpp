//===- RuntimeFunctions.cpp - Symbols.def as data -------------------------===//

#include "RuntimeFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kv;

const RuntimeFunction *kv::lookupRuntimeFunction(StringRef name) {
  static const SmallVector<RuntimeFunction> table = [] {
    SmallVector<RuntimeFunction> rows;
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  {                                                                            \
    RuntimeFunction row{#Name, #Result, #Where, {}, (int64_t)rows.size()};     \
    StringRef(#__VA_ARGS__).split(row.parameters, ',');                        \
    for (StringRef &parameter : row.parameters)                                \
      parameter = parameter.trim();                                            \
    rows.push_back(row);                                                       \
  }
#include "kv/ABI/Symbols.def"
    return rows;
  }();
  for (const RuntimeFunction &row : table)
    if (row.name == name)
      return &row;
  return nullptr;
}

Type kv::typeOfKind(MLIRContext *context, StringRef kind) {
  return llvm::StringSwitch<Type>(kind)
      .Case("I32", IntegerType::get(context, 32))
      .Case("I64", IntegerType::get(context, 64))
      .Case("F32", Float32Type::get(context))
      .Case("Void", LLVM::LLVMVoidType::get(context))
      .Default(LLVM::LLVMPointerType::get(context));
}
