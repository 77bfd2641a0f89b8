//===- ExpandCopies.cpp - Copies of slices become computations ------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDCOPIES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;

static bool isOnePiece(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.getLayout().isIdentity();
}

namespace {
struct ExpandCopies : kv::impl::KVExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      // A copy onto itself comes from a loop whose result is in place already.
      if (copy.getSource() == copy.getTarget())
        return copy.erase();
      if (isOnePiece(copy.getSource()) && isOnePiece(copy.getTarget()))
        return;
      OpBuilder b(copy);
      linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace
