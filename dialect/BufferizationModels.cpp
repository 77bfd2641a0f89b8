//===- BufferizationModels.cpp - One-Shot Bufferize for kv ----------------===//
//
// Operations read their tensors and write none of them; a result is a new
// buffer, handed to the operation as `out`. Handles must be gone by then
// (kv-resolve-collections): blocks are buffers already.
//
//===----------------------------------------------------------------------===//

#include "kv/Dialect/KV.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace kv;

/// The buffers of all operands, in order.
static FailureOr<SmallVector<Value>>
bufferizeOperands(Operation *op, RewriterBase &rewriter,
                  const BufferizationOptions &options,
                  BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      buffers.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// Sizes of results
//===----------------------------------------------------------------------===//

Value kv::sizeOf(OpBuilder &b, Location loc, Value shaped, int64_t dimension) {
  if (isa<TensorType>(shaped.getType()))
    return tensor::DimOp::create(b, loc, shaped, dimension);
  return memref::DimOp::create(b, loc, shaped, dimension);
}

/// An i32 element of a tensor or buffer, as an index.
static Value elementOf(OpBuilder &b, Location loc, Value shaped,
                       ValueRange at) {
  Value element =
      isa<TensorType>(shaped.getType())
          ? tensor::ExtractOp::create(b, loc, shaped, at).getResult()
          : memref::LoadOp::create(b, loc, shaped, at).getResult();
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), element);
}

/// The number of tokens is the last row offset.
static Value tokenCount(OpBuilder &b, Location loc, Value offsets) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, sizeOf(b, loc, offsets, 0), one);
  return elementOf(b, loc, offsets, last);
}

Value PositionsOp::getResultSize(OpBuilder &b, unsigned, int64_t) {
  return tokenCount(b, getLoc(), getRowOffsets());
}

Value PlanOp::getResultSize(OpBuilder &b, unsigned, int64_t dimension) {
  if (dimension == 1)
    return arith::ConstantIndexOp::create(b, getLoc(), kPlanWidth);
  return tokenCount(b, getLoc(), getRowOffsets());
}

Value RowOffsetsOp::getResultSize(OpBuilder &b, unsigned, int64_t) {
  return sizeOf(b, getLoc(), getRowOffsets(), 0);
}

Value StateReadOp::getResultSize(OpBuilder &b, unsigned, int64_t) {
  auto cache = cast<CacheOpInterface>(getOperation());
  return sizeOf(b, getLoc(), cache.getLookupTable(), 0);
}

/// The result has a row per cache length, of max_lengths[0, 1] keys.
Value LoadOp::getResultSize(OpBuilder &b, unsigned, int64_t dimension) {
  auto cache = cast<CacheOpInterface>(getOperation());
  if (dimension == 0)
    return sizeOf(b, getLoc(), cache.getCacheLengths(), 0);
  Value zero = arith::ConstantIndexOp::create(b, getLoc(), 0);
  Value one = arith::ConstantIndexOp::create(b, getLoc(), 1);
  return elementOf(b, getLoc(), cache.getMaxLengths(), ValueRange{zero, one});
}

Value GatherOp::getResultSize(OpBuilder &b, unsigned, int64_t dimension) {
  Value size = sizeOf(b, getLoc(), getX(), dimension);
  if (dimension != static_cast<int64_t>(getDim()))
    return size;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, getLoc(), value);
  };
  Value runs = arith::DivUIOp::create(b, getLoc(), size, constant(getShard()));
  return arith::MulIOp::create(b, getLoc(), runs, constant(getSize()));
}

namespace {

/// The model of every operation with two forms: its tensors are read, none is
/// written or returned, and its results are buffers of their own.
template <typename Op>
struct TwoFormModel
    : BufferizableOpInterface::ExternalModel<TwoFormModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  bool bufferizesToAllocation(Operation *op, Value) const {
    return op->getNumResults() != 0;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> buffers =
        bufferizeOperands(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    Operation *made = createOnBuffers(op, rewriter, *buffers);
    auto form = cast<TwoFormOpInterface>(made);
    // Sizes and memory stand before it.
    rewriter.setInsertionPoint(made);
    SmallVector<Value> outs;
    for (OpResult result : op->getResults()) {
      auto tensor = cast<RankedTensorType>(result.getType());
      auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (type.isDynamicDim(i))
          sizes.push_back(
              form.getResultSize(rewriter, result.getResultNumber(), i));
      FailureOr<Value> alloc =
          options.createAlloc(rewriter, op->getLoc(), type, sizes);
      if (failed(alloc))
        return failure();
      outs.push_back(*alloc);
    }
    // One range a result; a last variadic one takes what is left.
    for (auto [i, out] : llvm::enumerate(outs)) {
      SmallVector<MutableOperandRange> ranges = form.getOutRanges();
      ranges[std::min(i, ranges.size() - 1)].append(out);
    }
    rewriter.setInsertionPoint(op);
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }

private:
  /// The operation on buffers, without its outs; what passes have noted on it
  /// stays.
  static Operation *createOnBuffers(Operation *op, RewriterBase &rewriter,
                                    ValueRange buffers) {
    OperationState made(op->getLoc(), op->getName(), buffers, TypeRange(),
                        llvm::to_vector(op->getDiscardableAttrs()));
    NamedAttrList properties(
        dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()));
    if (auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(
            properties.get("resultSegmentSizes")))
      properties.set("resultSegmentSizes",
                     rewriter.getDenseI32ArrayAttr(
                         SmallVector<int32_t>(segments.size(), 0)));
    if (op->getPropertiesStorageSize() > 0) // else not even an empty one fits
      made.propertiesAttr = properties.getDictionary(op->getContext());
    return rewriter.create(made);
  }
};

/// Gives every operation with two forms its model.
template <typename... Ops> void attachModels(MLIRContext *context) {
  auto attach = [&]<typename Op>() {
    if constexpr (Op::template hasTrait<TwoFormOpInterface::Trait>())
      Op::template attachInterface<TwoFormModel<Op>>(*context);
  };
  (attach.template operator()<Ops>(), ...);
}

/// Writes all of its destination, and reads none of it.
struct LaunchModel
    : DstBufferizableOpInterfaceExternalModel<LaunchModel, LaunchOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<LaunchOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> buffers =
        bufferizeOperands(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    auto launch = cast<LaunchOp>(op);
    ValueRange arguments(*buffers);
    ValueRange outs = arguments.take_back(launch.getOuts().size());
    LaunchOp::create(rewriter, op->getLoc(), launch.getCallee(),
                     arguments.drop_back(outs.size()), outs,
                     launch.getAbsent());
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};

} // namespace

void kv::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KVDialect *) {
    attachModels<
#define GET_OP_LIST
#include "kv/Dialect/KVOps.cpp.inc"
        >(context);
    LaunchOp::attachInterface<LaunchModel>(*context);
    context->loadDialect<memref::MemRefDialect, arith::ArithDialect,
                         tensor::TensorDialect>();
  });
}
