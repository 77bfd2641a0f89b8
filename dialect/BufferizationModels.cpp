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
#include "mlir/IR/IRMapping.h"

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

namespace {

/// What all have in common: tensors are read, none is written or returned.
template <typename Model, typename Op>
struct ReadOnlyModel : BufferizableOpInterface::ExternalModel<Model, Op> {
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

  /// The dynamic sizes of a result's buffer; by default those of the first
  /// operand's leading dimensions.
  void resultSizes(Op op, OpBuilder &builder, ArrayRef<Value> buffers,
                   OpResult result, SmallVectorImpl<Value> &sizes) const {
    auto type = cast<ShapedType>(result.getType());
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        sizes.push_back(
            memref::DimOp::create(builder, op.getLoc(), buffers.front(), i));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> buffers =
        bufferizeOperands(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    IRMapping mapping;
    for (auto [operand, buffer] : llvm::zip(op->getOperands(), *buffers))
      mapping.map(operand, buffer);

    SmallVector<Value> outs;
    for (OpResult result : op->getResults()) {
      auto tensor = cast<RankedTensorType>(result.getType());
      auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
      SmallVector<Value> sizes;
      static_cast<const Model *>(this)->resultSizes(cast<Op>(op), rewriter,
                                                    *buffers, result, sizes);
      FailureOr<Value> alloc =
          options.createAlloc(rewriter, op->getLoc(), type, sizes);
      if (failed(alloc))
        return failure();
      outs.push_back(*alloc);
    }
    static_cast<const Model *>(this)->createOnBuffers(cast<Op>(op), rewriter,
                                                      mapping, outs);
    // What passes have noted on the operation stays.
    std::prev(rewriter.getInsertionPoint())
        ->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};

/// mapping.lookup for a range.
SmallVector<Value> mapped(const IRMapping &mapping, ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values)
    result.push_back(mapping.lookup(value));
  return result;
}

/// The i-th buffer of the results, null when there is none.
Value outAt(ArrayRef<Value> outs, size_t i) {
  return i < outs.size() ? outs[i] : Value();
}

struct StoreModel : ReadOnlyModel<StoreModel, StoreOp> {
  void createOnBuffers(StoreOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value>) const {
    StoreOp::create(rewriter, op.getLoc(), mapping.lookup(op.getK()),
                    op.getV() ? mapping.lookup(op.getV()) : Value(),
                    mapped(mapping, op.getCache()), op.getLayer(),
                    mapping.lookup(op.getRowOffsets()), op.getCollectionAttr());
  }
};

struct AttentionModel : ReadOnlyModel<AttentionModel, AttentionOp> {
  void createOnBuffers(AttentionOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    AttentionOp::create(
        rewriter, op.getLoc(), /*result=*/Type(), /*lse=*/Type(),
        mapping.lookup(op.getQ()), mapped(mapping, op.getCache()),
        op.getLayer(), mapping.lookup(op.getRowOffsets()),
        op.getSinks() ? mapping.lookup(op.getSinks()) : Value(), outs[0],
        outAt(outs, 1), op.getPlan() ? mapping.lookup(op.getPlan()) : Value(),
        op.getKvRowOffsets() ? mapping.lookup(op.getKvRowOffsets()) : Value(),
        op.getMaskAttr(), op.getScaleAttr(), op.getSoftcapAttr(),
        op.getCollectionAttr());
  }
};

/// The number of tokens is the last row offset.
Value tokenCount(OpBuilder &builder, Location loc, Value offsets) {
  Value size = memref::DimOp::create(builder, loc, offsets, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, size, one);
  Value tokens = memref::LoadOp::create(builder, loc, offsets, last);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      tokens);
}

struct PositionsModel : ReadOnlyModel<PositionsModel, PositionsOp> {
  void resultSizes(PositionsOp op, OpBuilder &builder, ArrayRef<Value> buffers,
                   OpResult, SmallVectorImpl<Value> &sizes) const {
    if (op.getResult().getType().isDynamicDim(0))
      sizes.push_back(
          tokenCount(builder, op.getLoc(), buffers[op.getCache().size()]));
  }
  void createOnBuffers(PositionsOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    PositionsOp::create(rewriter, op.getLoc(), /*result=*/Type(),
                        mapped(mapping, op.getCache()),
                        mapping.lookup(op.getRowOffsets()), outs[0],
                        op.getCollectionAttr());
  }
};

struct RopeModel : ReadOnlyModel<RopeModel, RopeOp> {
  void createOnBuffers(RopeOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    RopeOp::create(rewriter, op.getLoc(), /*result=*/Type(),
                   mapping.lookup(op.getX()), mapping.lookup(op.getPositions()),
                   mapping.lookup(op.getFreqs()), outs[0],
                   op.getInterleavedAttr());
  }
};

struct RowOffsetsModel : ReadOnlyModel<RowOffsetsModel, RowOffsetsOp> {
  void resultSizes(RowOffsetsOp op, OpBuilder &builder, ArrayRef<Value> buffers,
                   OpResult, SmallVectorImpl<Value> &sizes) const {
    Value offsets = buffers[op.getCache().size()];
    if (op.getResult().getType().isDynamicDim(0))
      sizes.push_back(memref::DimOp::create(builder, op.getLoc(), offsets, 0));
  }
  void createOnBuffers(RowOffsetsOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    RowOffsetsOp::create(rewriter, op.getLoc(), /*result=*/Type(),
                         mapped(mapping, op.getCache()),
                         mapping.lookup(op.getRowOffsets()), outs[0],
                         op.getCollectionAttr());
  }
};

struct LoadModel : ReadOnlyModel<LoadModel, LoadOp> {
  /// As many rows as there are cache lengths, of max_lengths[0, 1] keys.
  void resultSizes(LoadOp op, OpBuilder &builder, ArrayRef<Value> buffers,
                   OpResult result, SmallVectorImpl<Value> &sizes) const {
    Location loc = op.getLoc();
    auto type = cast<ShapedType>(result.getType());
    if (type.isDynamicDim(0))
      sizes.push_back(memref::DimOp::create(builder, loc, buffers[1], 0));
    if (type.getRank() == 1 || !type.isDynamicDim(1))
      return;
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value most =
        memref::LoadOp::create(builder, loc, buffers[3], ValueRange{zero, one});
    sizes.push_back(arith::IndexCastUIOp::create(builder, loc,
                                                 builder.getIndexType(), most));
  }
  void createOnBuffers(LoadOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    LoadOp::create(rewriter, op.getLoc(), /*result=*/Type(), /*lengths=*/Type(),
                   mapped(mapping, op.getCache()), op.getPlace(),
                   mapping.lookup(op.getRowOffsets()), outs[0], outs[1],
                   op.getCollectionAttr());
  }
};

struct PrintModel : ReadOnlyModel<PrintModel, PrintOp> {
  void createOnBuffers(PrintOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value>) const {
    PrintOp::create(
        rewriter, op.getLoc(), mapped(mapping, op.getCache()), op.getLayer(),
        op.getRowOffsets() ? mapping.lookup(op.getRowOffsets()) : Value(),
        op.getCollectionAttr());
  }
};

struct CopyPagesModel : ReadOnlyModel<CopyPagesModel, CopyPagesOp> {
  void createOnBuffers(CopyPagesOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value>) const {
    CopyPagesOp::create(
        rewriter, op.getLoc(), op.getBlocks(), mapping.lookup(op.getSource()),
        mapping.lookup(op.getDestination()), op.getLayer(), op.getLayout());
  }
};

struct MergeModel : ReadOnlyModel<MergeModel, MergeOp> {
  void createOnBuffers(MergeOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    MergeOp::create(rewriter, op.getLoc(), /*result=*/Type(), /*lse=*/Type(),
                    mapping.lookup(op.getA()), mapping.lookup(op.getALse()),
                    mapping.lookup(op.getB()), mapping.lookup(op.getBLse()),
                    outs[0], outs[1]);
  }
};

struct MatmulModel : ReadOnlyModel<MatmulModel, MatmulOp> {
  void createOnBuffers(MatmulOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    MatmulOp::create(rewriter, op.getLoc(), /*products=*/TypeRange(),
                     mapping.lookup(op.getX()),
                     mapped(mapping, op.getWeights()), outs);
  }
};

struct UpdateModel : ReadOnlyModel<UpdateModel, UpdateOp> {
  void createOnBuffers(UpdateOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value>) const {
    UpdateOp::create(rewriter, op.getLoc(), mapped(mapping, op.getCache()),
                     op.getPlace(), mapping.lookup(op.getRowOffsets()),
                     mapping.lookup(op.getOperand()), op.getKindAttr(),
                     op.getInterleavedAttr(), op.getEpsAttr(),
                     op.getCollectionAttr());
  }
};

struct PlanModel : ReadOnlyModel<PlanModel, PlanOp> {
  void resultSizes(PlanOp op, OpBuilder &builder, ArrayRef<Value> buffers,
                   OpResult, SmallVectorImpl<Value> &sizes) const {
    if (op.getResult().getType().isDynamicDim(0))
      sizes.push_back(
          tokenCount(builder, op.getLoc(), buffers[op.getCache().size()]));
  }
  void createOnBuffers(PlanOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value> outs) const {
    PlanOp::create(rewriter, op.getLoc(), /*result=*/Type(),
                   mapped(mapping, op.getCache()),
                   mapping.lookup(op.getRowOffsets()), outs[0],
                   op.getMaskAttr(), op.getCollectionAttr());
  }
};

struct CheckStepModel : ReadOnlyModel<CheckStepModel, CheckStepOp> {
  void createOnBuffers(CheckStepOp op, RewriterBase &rewriter,
                       const IRMapping &mapping, ArrayRef<Value>) const {
    CheckStepOp::create(
        rewriter, op.getLoc(), mapping.lookup(op.getRowOffsets()),
        mapping.lookup(op.getCacheLengths()),
        mapping.lookup(op.getLookupTable()),
        op.getMaxLengths() ? mapping.lookup(op.getMaxLengths()) : Value(),
        op.getRows(), op.getSequencesAttr(), op.getPageAttr());
  }
};

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
    Value out = buffers->pop_back_val();
    LaunchOp::create(rewriter, op->getLoc(), /*result=*/Type(),
                     cast<LaunchOp>(op).getCallee(), *buffers, out);
    replaceOpWithBufferizedValues(rewriter, op, out);
    return success();
  }
};

} // namespace

void kv::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KVDialect *) {
    StoreOp::attachInterface<StoreModel>(*context);
    AttentionOp::attachInterface<AttentionModel>(*context);
    PositionsOp::attachInterface<PositionsModel>(*context);
    RopeOp::attachInterface<RopeModel>(*context);
    RowOffsetsOp::attachInterface<RowOffsetsModel>(*context);
    LoadOp::attachInterface<LoadModel>(*context);
    PrintOp::attachInterface<PrintModel>(*context);
    CopyPagesOp::attachInterface<CopyPagesModel>(*context);
    MergeOp::attachInterface<MergeModel>(*context);
    MatmulOp::attachInterface<MatmulModel>(*context);
    UpdateOp::attachInterface<UpdateModel>(*context);
    PlanOp::attachInterface<PlanModel>(*context);
    CheckStepOp::attachInterface<CheckStepModel>(*context);
    LaunchOp::attachInterface<LaunchModel>(*context);
    context->loadDialect<memref::MemRefDialect, arith::ArithDialect>();
  });
}
