//===- ResolveCollections.cpp - Handles to components, everywhere ---------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/common/Emitter.h"

namespace kv {
#define GEN_PASS_DEF_KVRESOLVECOLLECTIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// A component as the collection's type has it: sizes that are static at a
/// fetch are forgotten, so that all handles of a type expand alike.
static Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<MemRefType>(type))
    return memref::CastOp::create(b, loc, type, value);
  return tensor::CastOp::create(b, loc, type, value);
}

static SmallVector<Value> castAll(OpBuilder &b, Location loc, ValueRange values,
                                  TypeRange types) {
  SmallVector<Value> result;
  for (auto [value, type] : llvm::zip(values, types))
    result.push_back(castTo(b, loc, value, type));
  return result;
}

namespace {

struct ResolveFetch : OpConversionPattern<FetchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(FetchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> components =
        castAll(rewriter, op.getLoc(), adaptor.getOperands(),
                op.getType().getComponentTypes());
    rewriter.replaceOpWithMultiple(op, {ValueRange(components)});
    return success();
  }
};

struct ResolveUnpack : OpConversionPattern<UnpackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnpackOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       castAll(rewriter, op.getLoc(), adaptor.getCollection(),
                               op.getResultTypes()));
    return success();
  }
};

/// A cache is a collection's components, a layer and a plane.
template <typename Op, int64_t plane>
struct ResolvePart : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op,
                  typename OpConversionPattern<Op>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values(adaptor.getCollection());
    values.push_back(op.getLayer());
    values.push_back(
        arith::ConstantIndexOp::create(rewriter, op.getLoc(), plane));
    rewriter.replaceOpWithMultiple(op, {ValueRange(values)});
    return success();
  }
};

/// One component.
template <typename Op, int64_t index>
struct ResolveComponent : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op,
                  typename OpConversionPattern<Op>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       castTo(rewriter, op.getLoc(),
                              adaptor.getCollection()[index], op.getType()));
    return success();
  }
};

/// Longer sequences, and one step less to go.
struct ResolveAdvance : OpConversionPattern<AdvanceOp> {
  ResolveAdvance(const TypeConverter &converter, MLIRContext *context,
                 bool onDevice)
      : OpConversionPattern(converter, context), onDevice(onDevice) {}

  LogicalResult
  matchAndRewrite(AdvanceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op.getLoc(), rewriter);
    SmallVector<Value> components(adaptor.getCollection());
    CheckStepOp::create(b, adaptor.getRowOffsets().front(), components[1],
                        components[2], /*max_lengths=*/Value(),
                        /*rows=*/Value(), /*sequences=*/IntegerAttr(),
                        /*page=*/IntegerAttr(), /*bands=*/IntegerAttr());
    Value offsets = adaptor.getRowOffsets().front();
    components[1] = onDevice ? growOnDevice(b, components[1], offsets)
                             : grow(b, components[1], offsets);
    // A tensor of the host that a device's code computes has nowhere to lie:
    // without a row it says nothing.
    components[3] =
        onDevice
            ? tensor::EmptyOp::create(b, components[3].getType(), b.index(0))
            : dropRow(b, components[3]);
    rewriter.replaceOpWithMultiple(op, {ValueRange(components)});
    return success();
  }

  static Value growOnDevice(Emitter &b, Value lengths, Value offsets) {
    Value out =
        tensor::EmptyOp::create(b, lengths.getType(), b.dim(lengths, 0));
    Value sign = b.i32(1);
    Value arguments[] = {lengths, offsets, sign};
    return LaunchOp::create(b, RuntimeFunction::growLengths, arguments, out)
        .getResult();
  }

  /// result[b] = lengths[b] + row_offsets[b + 1] - row_offsets[b]
  static Value grow(Emitter &b, Value lengths, Value offsets) {
    Value one = b.index(1), batch = b.dim(lengths, 0);
    Value empty = tensor::EmptyOp::create(b, lengths.getType(), batch);
    auto loop = scf::ForOp::create(
        b, b.index(0), batch, one, empty,
        [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
          Emitter b(loc, nested);
          Value length = tensor::ExtractOp::create(b, lengths, i);
          Value first = tensor::ExtractOp::create(b, offsets, i);
          Value end = tensor::ExtractOp::create(b, offsets, b.add(i, one));
          Value longer = b.add(length, b.sub(end, first));
          Value next = tensor::InsertOp::create(b, longer, carried.front(), i);
          scf::YieldOp::create(b, next);
        });
    return loop.getResult(0);
  }

  /// All rows but the first; the last row stays. A new tensor, not a slice: its
  /// buffer is contiguous.
  static Value dropRow(Emitter &b, Value rows) {
    Value zero = b.index(0), one = b.index(1), count = b.dim(rows, 0);
    Value dropped = b.select(b.less(one, count), one, zero);
    Value left = b.sub(count, dropped);
    Value empty = tensor::EmptyOp::create(b, rows.getType(), left);
    auto loop = scf::ForOp::create(
        b, zero, left, one, empty,
        [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
          Emitter b(loc, nested);
          Value next = carried.front();
          for (Value column : {zero, one}) {
            Value element = tensor::ExtractOp::create(
                b, rows, ValueRange{b.add(i, dropped), column});
            next = tensor::InsertOp::create(b, element, next,
                                            ValueRange{i, column});
          }
          scf::YieldOp::create(b, next);
        });
    return loop.getResult(0);
  }

private:
  bool onDevice;
};

struct ResolveCacheOp : OpInterfaceConversionPattern<CacheOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(CacheOpInterface op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    CollectionType type = op.getCollectionType();
    unsigned first = op.getCacheOperands().getBeginOperandIndex();
    rewriter.modifyOpInPlace(op,
                             [&] { op.setComponents(operands[first], type); });
    return success();
  }
};

/// Upstream's conversion leaves argument attributes where they were; they must
/// move with their argument, or a weight binds to the wrong one.
struct ResolveFunction : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(func::FuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<DictionaryAttr> inputAttrs, resultAttrs;
    auto none = DictionaryAttr::get(getContext());
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      SmallVector<Type> types;
      if (failed(getTypeConverter()->convertType(input, types)))
        return failure();
      signature.addInputs(i, types);
      bool same = types.size() == 1 && types.front() == input;
      DictionaryAttr own = op.getArgAttrDict(i);
      inputAttrs.append(types.size(), same && own ? own : none);
    }
    SmallVector<Type> results;
    for (auto [i, result] : llvm::enumerate(type.getResults())) {
      size_t before = results.size();
      if (failed(getTypeConverter()->convertType(result, results)))
        return failure();
      bool same = results.size() == before + 1 && results.back() == result;
      DictionaryAttr own = op.getResultAttrDict(i);
      resultAttrs.append(results.size() - before, same && own ? own : none);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.setType(FunctionType::get(getContext(), signature.getConvertedTypes(),
                                   results));
      op.setAllArgAttrs(inputAttrs);
      op.setAllResultAttrs(resultAttrs);
    });
    if (op.isExternal())
      return success();
    return rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(),
                                       &signature);
  }
};

struct ResolveCollections
    : kv::impl::KVResolveCollectionsBase<ResolveCollections> {
  using KVResolveCollectionsBase::KVResolveCollectionsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // Conversions append: types of values before may stand there already.
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](CollectionType type, SmallVectorImpl<Type> &out) {
          llvm::append_range(out, type.getComponentTypes());
          return success();
        });
    converter.addConversion([](CacheType type, SmallVectorImpl<Type> &out) {
      llvm::append_range(out, type.getCollectionType().getComponentTypes());
      out.append(2, IndexType::get(type.getContext()));
      return success();
    });

    auto noHandles = [&](Operation *op) { return converter.isLegal(op); };
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal(noHandles);
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType()) &&
             converter.isLegal(&op.getBody());
    });

    RewritePatternSet patterns(context);
    patterns
        .add<ResolveFetch, ResolveUnpack, ResolvePart<KeyCacheOp, 0>,
             ResolvePart<ValueCacheOp, 1>, ResolveComponent<CacheLengthsOp, 1>,
             ResolveComponent<MaxLengthsOp, 3>, ResolveCacheOp,
             ResolveFunction>(converter, context);
    patterns.add<ResolveAdvance>(converter, context, device.getValue());
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns),
                                   config)))
      signalPassFailure();
  }
};

} // namespace
