//===- RuntimeOps.cpp - Verifiers of the lowered form ---------------------===//

#include "Verification.h"
#include "kv/Dialect/KV.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace kv;

LogicalResult RuntimeCallOp::verify() {
  int64_t total = getArguments().size() + getAbsent().size();
  for (int64_t position : getAbsent())
    if (position < 0 || position >= total)
      return emitOpError() << "absent argument " << position << " of " << total;
  return success();
}

LogicalResult CheckStepOp::verify() {
  if (failed(verifyOneForm(*this)))
    return failure();
  if (getSequences() && static_cast<int64_t>(*getSequences()) < 0)
    return emitOpError() << "sequences must be at least 0, not "
                         << static_cast<int64_t>(*getSequences());
  if (getPage() && static_cast<int64_t>(*getPage()) < 1)
    return emitOpError() << "page must be at least 1 token, not "
                         << static_cast<int64_t>(*getPage());
  if (getBands() && (!getPage() || static_cast<int64_t>(*getBands()) < 1))
    return emitOpError() << "bands must be at least 1, beside a page, not "
                         << static_cast<int64_t>(*getBands());
  return success();
}

LogicalResult CheckIndicesOp::verify() { return verifyOneForm(*this); }

LogicalResult ParallelForOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getBodyAttr()))
    return emitOpError() << "no function @" << getBody();
  return success();
}

/// An assertion of a true constant is erased.
LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
