//===- Emitter.h - Short names for what decompositions emit -----*- C++ -*-===//

#ifndef KV_PASSES_COMMON_EMITTER_H
#define KV_PASSES_COMMON_EMITTER_H

#include "kv/Dialect/KV.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kv {

/// Short names for the few operations that decompositions are made of.
class Emitter : public mlir::ImplicitLocOpBuilder {
public:
  Emitter(mlir::Operation *op) : mlir::ImplicitLocOpBuilder(op->getLoc(), op) {}
  Emitter(mlir::Location loc, mlir::OpBuilder &b)
      : mlir::ImplicitLocOpBuilder(loc, b) {}

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(*this, value);
  }
  mlir::Value constant(mlir::Type type, double value) {
    return mlir::arith::ConstantOp::create(*this, getFloatAttr(type, value));
  }
  mlir::Value i32(int64_t value) {
    return mlir::arith::ConstantIntOp::create(*this, value, 32);
  }
  mlir::Value i64(int64_t value) {
    return mlir::arith::ConstantIntOp::create(*this, value, 64);
  }
  /// A signed index as an i64.
  mlir::Value asI64(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(*this, getI64Type(), value);
  }
  mlir::Value dim(mlir::Value tensor, int64_t d) {
    return createOrFold<mlir::tensor::DimOp>(tensor, d);
  }
  /// An unsigned 32-bit element as an index.
  mlir::Value extractIndex(mlir::Value tensor, mlir::ValueRange at) {
    mlir::Value element = mlir::tensor::ExtractOp::create(*this, tensor, at);
    return mlir::arith::IndexCastUIOp::create(*this, getIndexType(), element);
  }
  /// The index below `count` that is nearest to an i32.
  mlir::Value nearestIndex(mlir::Value number, int64_t count) {
    number = mlir::arith::MaxSIOp::create(*this, number, i32(0));
    number = mlir::arith::MinSIOp::create(*this, number, i32(count - 1));
    return mlir::arith::IndexCastUIOp::create(*this, getIndexType(), number);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(*this, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubIOp::create(*this, a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivUIOp::create(*this, a, b);
  }
  mlir::Value rem(mlir::Value a, mlir::Value b) {
    return mlir::arith::RemUIOp::create(*this, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulIOp::create(*this, a, b);
  }
  mlir::Value lessOrEqual(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(*this, mlir::arith::CmpIPredicate::ule,
                                       a, b);
  }
  /// An index as an i32 element.
  mlir::Value asI32(mlir::Value value) {
    return mlir::arith::IndexCastUIOp::create(*this, getI32Type(), value);
  }
  mlir::Value minimum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MinUIOp::create(*this, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(*this, a, b);
  }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(*this, mlir::arith::CmpIPredicate::ult,
                                       a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(*this, condition, a, b);
  }
  /// Whether a logarithm is -inf.
  mlir::Value isNothing(mlir::Value logarithm) {
    return mlir::arith::CmpFOp::create(
        *this, mlir::arith::CmpFPredicate::OEQ, logarithm,
        constant(logarithm.getType(), -INFINITY));
  }
  mlir::Value toF32(mlir::Value value) {
    if (value.getType().isF32())
      return value;
    return mlir::arith::ExtFOp::create(*this, getF32Type(), value);
  }
  mlir::Value fromF32(mlir::Value value, mlir::Type type) {
    if (type.isF32())
      return value;
    return mlir::arith::TruncFOp::create(*this, type, value);
  }
};

/// A loop from `low` to `high` without values.
void forEach(Emitter &b, mlir::Value low, mlir::Value high,
             llvm::function_ref<void(Emitter &, mlir::Value)> body);

/// Builds an scf.if whose body runs when `condition` holds.
void when(Emitter &b, mlir::Value condition,
          llvm::function_ref<void(Emitter &)> body);

/// One sequence of a step: its new rows are [first, end), the first of them at
/// position `cached`.
struct StepSequence {
  mlir::Value index, first, end, cached;

  /// The sequence's keys, with those of this step.
  mlir::Value length(Emitter &b) const {
    return b.add(cached, b.sub(end, first));
  }
};

/// A row of a sequence; `carried` is what the row before made.
struct StepRow {
  const StepSequence &sequence;
  mlir::Value index, position;
  mlir::ValueRange carried;
};

/// Sequence `index` of a step.
StepSequence stepSequence(Emitter &b, mlir::Value rowOffsets,
                          mlir::Value cacheLengths, mlir::Value index);

/// for t in the sequence: carried = body(t). Returns what the last row made.
mlir::SmallVector<mlir::Value>
forEachRow(Emitter &b, const StepSequence &sequence, mlir::ValueRange inits,
           llvm::function_ref<mlir::SmallVector<mlir::Value>(Emitter &,
                                                             const StepRow &)>
               body);

/// for b: enter(b); for t in sequence b: carried = body(t). Returns what the
/// last row made. The offsets are trusted (kv.rt.check_step).
mlir::SmallVector<mlir::Value>
forEachRow(Emitter &b, mlir::Value rowOffsets, mlir::Value cacheLengths,
           mlir::ValueRange inits,
           llvm::function_ref<void(Emitter &, const StepSequence &)> enter,
           llvm::function_ref<mlir::SmallVector<mlir::Value>(Emitter &,
                                                             const StepRow &)>
               body);

} // namespace kv

#endif // KV_PASSES_COMMON_EMITTER_H
