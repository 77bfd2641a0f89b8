//===- EachOperation.h - A function of every operation's class --*- C++ -*-===//
//
// A pass that does something with many operations has an overload for each.
// The operations that have one are found by the compiler: no pass lists them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_EACHOPERATION_H
#define KV_PASSES_COMMON_EACHOPERATION_H

#include "kv/Dialect/KV.h"

#include <type_traits>

namespace kv {
namespace detail {
/// The classes of all operations of the dialect.
template <class... Ops> struct OperationList {
  /// Calls each<Op>() until one returns true.
  template <class Each> static bool any(Each &&each) {
    return (each.template operator()<Ops>() || ...);
  }
};
using KVOperations = OperationList<
#define GET_OP_LIST
#include "kv/Dialect/KVOps.cpp.inc"
    >;
} // namespace detail

/// Calls visit(op) with the operation as its class, if it is a kv operation for
/// which that is possible, and returns what visit returns; else nothing.
template <class Visit>
std::optional<llvm::LogicalResult> visitOperation(mlir::Operation *op,
                                                  Visit &&visit) {
  std::optional<llvm::LogicalResult> result;
  detail::KVOperations::any([&]<class Op>() {
    if constexpr (std::is_invocable_v<Visit, Op>)
      if (auto known = llvm::dyn_cast<Op>(op))
        result = visit(known);
    return result.has_value();
  });
  return result;
}

/// The names of the kv operations for which visit(op) is possible.
template <class Visit> llvm::SmallVector<llvm::StringRef> visitedNames() {
  llvm::SmallVector<llvm::StringRef> names;
  detail::KVOperations::any([&]<class Op>() {
    if constexpr (std::is_invocable_v<Visit, Op>)
      names.push_back(Op::getOperationName());
    return false;
  });
  llvm::sort(names);
  return names;
}

} // namespace kv

#endif // KV_PASSES_COMMON_EACHOPERATION_H
