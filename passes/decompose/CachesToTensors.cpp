//===- CachesToTensors.cpp - Caches as tensors, for other compilers -------===//
//
// Other compilers know no memory that a graph writes in place. The blocks of a
// cache become a tensor that an entry takes and returns: each store makes the
// next one. What reads the cache has the same meaning as in kv-decompose, which
// asks CacheAccess for elements, and CacheAccess knows blocks that are tensors.
//
// While the pass runs, operations have tensors where the dialect wants memrefs;
// none of them is left at its end.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "RaggedRows.h"
#include "passes/common/CacheAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace kv {
#define GEN_PASS_DEF_KVCACHESTOTENSORS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// for t: blocks[place of t] = row t, where it may be written
static Value storeRows(Emitter &b, StoreOp op) {
  auto cacheOp = cast<CacheOpInterface>(*op);
  CacheAccess cache(b, op);
  Value layer = cache.checkLayer(b, op.getLayer());
  SmallVector<Value> planes = storedRows(b, op);
  auto storeRow = [&](Emitter &b, const CachePlace &place, Value row,
                      Value blocks) {
    OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
    for (auto [plane, rows] : llvm::enumerate(planes)) {
      auto type = cast<RankedTensorType>(rows.getType());
      OpFoldResult heads = b.getIndexAttr(type.getDimSize(1));
      OpFoldResult dim = b.getIndexAttr(type.getDimSize(2));
      Value slice = tensor::ExtractSliceOp::create(
          b, type.clone(type.getShape().drop_front()), rows,
          ArrayRef<OpFoldResult>{row, zero, zero},
          ArrayRef<OpFoldResult>{one, heads, dim},
          ArrayRef<OpFoldResult>{one, one, one});
      OpFoldResult at = b.getIndexAttr(static_cast<int64_t>(plane));
      blocks = tensor::InsertSliceOp::create(
          b, slice, blocks,
          ArrayRef<OpFoldResult>{place.page, at, layer, place.slot, zero, zero},
          ArrayRef<OpFoldResult>{one, one, one, one, heads, dim},
          SmallVector<OpFoldResult>(6, one));
    }
    return blocks;
  };
  return forEachRow(
      b, op.getRowOffsets(), cacheOp.getCacheLengths(), cacheOp.getBlocks(),
      [](Emitter &, const StepSequence &) {},
      [&](Emitter &b, const StepRow &row) -> SmallVector<Value> {
        Value blocks = row.carried.front();
        auto [writable, place] =
            cache.writePlace(b, row.sequence.index, row.position);
        auto stored = scf::IfOp::create(
            b, writable,
            [&](OpBuilder &nested, Location loc) {
              Emitter b(loc, nested);
              scf::YieldOp::create(b, storeRow(b, place, row.index, blocks));
            },
            [&](OpBuilder &nested, Location loc) {
              scf::YieldOp::create(nested, loc, blocks);
            });
        return {stored.getResult(0)};
      })[0];
}

/// The positions of all rows.
static Value positionsOfRows(Emitter &b, PositionsOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Value offsets = op.getRowOffsets();
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  OpFoldResult count = b.getIndexAttr(type.getDimSize(0));
  if (type.isDynamicDim(0))
    count = b.extractIndex(offsets, b.dim(lengths, 0));
  RaggedRows ragged(b, offsets, lengths, count);
  AffineExpr t = b.getAffineDimExpr(0);
  return generic(b, ragged.sequences(), {{t}},
                 emptyTensor(b, count, b.getI32Type()), {t}, 1,
                 [&](Emitter &b, ValueRange args) -> Value {
                   Value at = linalg::IndexOp::create(b, 0);
                   return b.asI32(ragged.row(b, args[0], at).position);
                 });
}

/// What other dialects' attention has no place for; empty if nothing.
static StringRef beyondDense(AttentionOp op) {
  if (op.getSinks())
    return "sinks";
  if (op.getSoftcap())
    return "a softcap";
  if (op.getLse())
    return "a second result";
  if (op.getAncestors())
    return "a tree";
  if (op.getKvRowOffsets())
    return "row offsets of keys";
  if (op.getProducts())
    return "8-bit products";
  return "";
}

/// Why a collection cannot be a tensor; empty if it can.
static StringRef notATensor(CollectionType type) {
  CacheGeometry geometry = type.getGeometry();
  if (!geometry.isPaged())
    return "that is not paged";
  if (geometry.bands() > 1)
    return "with 'page_layers'";
  if (type.getLayout() != Layout::NHD)
    return "whose layout is not nhd";
  if (type.getElementType().getIntOrFloatBitWidth() < 16)
    return "of 8-bit elements";
  return "";
}

namespace {
struct CachesToTensors : kv::impl::KVCachesToTensorsBase<CachesToTensors> {
  using KVCachesToTensorsBase::KVCachesToTensorsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    KVCachesToTensorsBase::getDependentDialects(registry);
    addDecompositions(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (target != "iree" && target != "linalg" && target != "tm_tensor") {
      emitError(module.getLoc()) << "kv-to-attention: the target is '" << target
                                 << "', allowed: iree, linalg, tm_tensor";
      return signalPassFailure();
    }
    if (target != "linalg" && !getContext().allowsUnregisteredDialects()) {
      emitError(module.getLoc())
          << "kv-to-attention: target=" << target
          << " writes operations of another project's dialect: add "
             "--allow-unregistered-dialect";
      return signalPassFailure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(convert(function)))
        return signalPassFailure();
    // Other compilers have no place for the runtime's errors.
    module.walk([](AssertOp op) { op.erase(); });
    WalkResult left = module.walk([](Operation *op) {
      if (!isa_and_present<KVDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("has no form for other compilers");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Arguments that were blocks, and the tensor that each is at this point.
  using Blocks = llvm::MapVector<Value, Value>;

  LogicalResult convert(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("has branches: kv-to-attention takes "
                                  "straight-line code");
    Block &body = function.getBody().front();
    Blocks blocks;
    for (BlockArgument argument : body.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type)
        continue;
      argument.setType(
          RankedTensorType::get(type.getShape(), type.getElementType()));
      blocks[argument] = argument;
    }
    SmallVector<Operation *> work;
    for (Operation &op : body.without_terminator())
      work.push_back(&op);
    for (Operation *op : work)
      if (failed(convert(op, blocks)))
        return failure();
    returnBlocks(function, blocks);
    return success();
  }

  LogicalResult convert(Operation *op, Blocks &blocks) {
    auto cacheOp = dyn_cast<CacheOpInterface>(op);
    Value argument;
    if (cacheOp) {
      if (!cacheOp.isResolved())
        return op->emitOpError("has a handle: run kv-resolve-collections "
                               "before");
      argument = cacheOp.getBlocks();
      CollectionType type = cacheOp.getCollectionType();
      if (StringRef reason = notATensor(type); !reason.empty())
        return op->emitOpError("has a collection ")
               << reason << ": " << type << " has no form for other compilers";
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<QuantType>(getElementTypeOrSelf(operand.get().getType())))
        return op->emitOpError("has a quantised weight, which has no form for "
                               "other compilers: use dense weights");
      auto found = blocks.find(operand.get());
      if (found == blocks.end())
        continue;
      if (operand.get() != argument)
        return op->emitOpError("takes the blocks of a cache: only what reads "
                               "or stores rows has a form for other compilers");
      operand.set(found->second);
    }
    if (cacheOp && !blocks.contains(argument))
      return op->emitOpError("has blocks that are no argument of its function");
    if (!isa_and_present<KVDialect>(op->getDialect()))
      return checkRegions(op);
    return replace(op, argument, blocks);
  }

  static LogicalResult checkRegions(Operation *op) {
    WalkResult nested = op->walk([&](CacheOpInterface inner) {
      inner.emitOpError("is within ")
          << op->getName() << ": kv-to-attention takes straight-line code";
      return WalkResult::interrupt();
    });
    return failure(nested.wasInterrupted());
  }

  LogicalResult replace(Operation *op, Value argument, Blocks &blocks) {
    IRRewriter rewriter(op);
    Emitter b(op->getLoc(), rewriter);
    auto cacheOp = dyn_cast<CacheOpInterface>(op);
    bool iree = target == "iree";
    if (auto store = dyn_cast<StoreOp>(op)) {
      blocks[argument] = iree ? scatterRows(b, store) : storeRows(b, store);
      op->erase();
      return success();
    }
    if (auto positions = dyn_cast<PositionsOp>(op);
        positions && !positions.getAncestors()) {
      rewriter.replaceOp(op, positionsOfRows(b, positions));
      return success();
    }
    if (auto attention = dyn_cast<AttentionOp>(op);
        attention && target != "linalg") {
      if (StringRef what = beyondDense(attention); !what.empty())
        return op->emitOpError("has ")
               << what << ": " << (iree ? "iree_linalg_ext" : "tm_tensor")
               << ".attention has no place for it; target=linalg takes it";
      if (int64_t dim = cacheOp.getCollectionType().getDim(); iree && dim > 128)
        op->emitWarning("has heads of ")
            << dim << " elements: IREE 3.13 computes wrong results of more "
            << "than 128 on CPUs";
      rewriter.replaceOp(
          op, attendDensely(b, attention,
                            iree ? DenseForm::Iree : DenseForm::TorchMlir));
      return success();
    }
    auto meaning = dyn_cast<linalg::AggregatedOpInterface>(op);
    if (!meaning || (cacheOp && cacheOp.writesCache()))
      return success(); // reported at the end, unless it goes until then
    FailureOr<SmallVector<Value>> values = meaning.decomposeOperation(rewriter);
    if (failed(values))
      return op->emitOpError("has no plain meaning");
    rewriter.replaceOp(op, *values);
    return success();
  }

  /// The function returns what its blocks have become, in the order of its
  /// arguments, after its own results: of `kv.blocks` it is `kv.blocks.next`.
  static void returnBlocks(func::FuncOp function, const Blocks &blocks) {
    Block &body = function.getBody().front();
    Operation *end = body.getTerminator();
    SmallVector<DictionaryAttr> results;
    function.getAllResultAttrs(results);
    for (auto [argument, last] : blocks) {
      unsigned i = cast<BlockArgument>(argument).getArgNumber();
      NamedAttrList attributes;
      if (auto name = function.getArgAttrOfType<StringAttr>(
              i, KVDialect::getNameAttrName()))
        attributes.set(
            KVDialect::getNameAttrName(),
            StringAttr::get(name.getContext(), name.getValue() + ".next"));
      if (Attribute dims = function.getArgAttr(i, KVDialect::getDimsAttrName()))
        attributes.set(KVDialect::getDimsAttrName(), dims);
      end->insertOperands(end->getNumOperands(), last);
      results.push_back(attributes.getDictionary(function.getContext()));
    }
    function.setType(FunctionType::get(function.getContext(),
                                       body.getArgumentTypes(),
                                       end->getOperandTypes()));
    function.setAllResultAttrs(results);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (StringRef name :
           {KVDialect::getComponentAttrName(),
            KVDialect::getCollectionAttrName(), StringRef("kv.host")})
        function.removeArgAttr(i, name);
  }
};
} // namespace
