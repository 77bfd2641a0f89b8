//===- ResolveCollections.cpp - Handles to components, everywhere ---------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

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
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](CollectionType type, SmallVectorImpl<Type> &out) {
          out = type.getComponentTypes();
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
    patterns.add<ResolveFetch, ResolveUnpack, ResolveCacheOp, ResolveFunction>(
        converter, context);
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
