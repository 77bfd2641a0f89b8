//===- Precompiled.h - The headers of most files --------------*- C++ -*-===//
//
// Parsed once for dialect/, passes/ and lib/. Here is what many files include
// and what takes long to parse; each file goes on to include what it uses.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_PRECOMPILED_H
#define KV_DIALECT_PRECOMPILED_H

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

#endif // KV_DIALECT_PRECOMPILED_H
