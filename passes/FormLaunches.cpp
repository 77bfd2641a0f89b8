//===- FormLaunches.cpp - Computations become launches --------------------===//

#include "kv/Passes/Passes.h"

#include "DeviceKernels.h"
#include "ElementPrograms.h"
#include "ExpertLaunches.h"
#include "FoldCasts.h"
#include "HostSizes.h"
#include "Launches.h"
#include "MatchLaunches.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

namespace kv {
#define GEN_PASS_DEF_KVFORMLAUNCHES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static remark::RemarkOpts remarkOpts(StringRef name) {
  return remark::RemarkOpts::name(name).category("kv-form-launches");
}

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
struct FormLaunches : kv::impl::KVFormLaunchesBase<FormLaunches> {
  using KVFormLaunchesBase::KVFormLaunchesBase;

  void runOnOperation() override {
    // Nothing is left of the module before.
    images.clear();
    orders = ExpertOrders();
    names.clear();
    if (failed(checkChips()) || failed(formLaunches()) ||
        failed(formElementwise()))
      return signalPassFailure();
    FailureOr<int64_t> casts = foldCasts(getOperation());
    if (failed(casts) || failed(checkRest()))
      return signalPassFailure();
    numCasts += *casts;
    noteDeviceCode();
  }

private:
  LogicalResult checkChips() {
    for (StringRef chip : chips) {
      StringRef number = chip;
      unsigned capability = 0;
      if (!number.consume_front("sm_") ||
          number.consumeInteger(10, capability) || capability < 80 ||
          !(number.empty() || number == "a" || number == "f"))
        return emitError(getOperation().getLoc())
               << "chip '" << chip
               << "': expected sm_80 or later, such as sm_80 or sm_90a";
    }
    return success();
  }

  LogicalResult formLaunches() {
    foldSizes(getOperation());
    SmallVector<Operation *> gathers, positions, others;
    getOperation().walk([&](Operation *op) {
      if (isa<GatherOp>(op))
        gathers.push_back(op);
      else if (isa<PositionsOp>(op))
        positions.push_back(op);
      else if (isa<linalg::LinalgOp, RopeOp, RmsNormOp, AttentionOp, StoreOp,
                   MatmulOp, DequantizeOp, RouteOp, KeepGroupsOp,
                   ExpertMatmulOp, SampleOp>(op))
        others.push_back(op);
    });
    // Sizes are traced through launches.
    for (Operation *op : gathers)
      if (failed(convert(cast<GatherOp>(op))))
        return failure();
    // Ropes tell how many positions there are.
    for (Operation *op : positions)
      if (failed(convert(cast<PositionsOp>(op))))
        return failure();
    // In order: what stands before is a launch already, and is not looked into.
    for (Operation *op : others) {
      LogicalResult converted =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<RopeOp, RmsNormOp, AttentionOp, StoreOp, MatmulOp,
                    DequantizeOp, RouteOp, KeepGroupsOp, ExpertMatmulOp,
                    SampleOp, linalg::LinalgOp>(
                  [&](auto each) { return convert(each); })
              .Default([](Operation *) { return success(); });
      if (failed(converted))
        return failure();
    }
    return success();
  }

  /// What is left of elementwise computations, from the last on: parts of
  /// others are used no more.
  LogicalResult formElementwise() {
    SmallVector<linalg::GenericOp> left;
    getOperation().walk([&](linalg::GenericOp op) { left.push_back(op); });
    for (linalg::GenericOp op : llvm::reverse(left)) {
      if (isOpTriviallyDead(op)) {
        names.erase(op);
        op.erase();
        continue;
      }
      std::optional<ElementProgram> program = matchElementwise(op);
      if (program && failed(replace(op, *program)))
        return failure();
    }
    return success();
  }

  LogicalResult replace(linalg::GenericOp op, const ElementProgram &program) {
    StringRef callee = "elementwise";
    SmallVector<Value> moved(program.tensors);
    moved.push_back(op.getResult(0));
    if (failed(checkRows(op, callee, moved)))
      return failure();
    Emitter b(op);
    Value text = TextOp::create(b, LLVM::LLVMPointerType::get(&getContext()),
                                program.text);
    Value a = toRows(b, program.tensors[0]), second = program.tensors.back();
    if (cast<RankedTensorType>(second.getType()).getRank() > 1 ||
        program.tensors.size() == 1)
      second = toRows(b, second);
    Value made = launch(b, callee, {text, a, second}, a,
                        getElementTypeOrSelf(op.getResult(0)));
    replaceBy(op, op->getResult(0), callee,
              fromRows(b, made, program.tensors[0]));
    return success();
  }

  /// `made`, by `callee`, is the result.
  void replaceBy(linalg::GenericOp op, OpResult result, StringRef callee,
                 Value made) {
    Emitter b(op);
    if (made.getType() != result.getType())
      made = tensor::CastOp::create(b, result.getType(), made);
    remarkLaunch(op, callee, result.getType());
    result.replaceAllUsesWith(made);
    names.erase(op);
    op.erase();
  }

  void remarkLaunch(Operation *op, StringRef callee, Type type) {
    ++numLaunches;
    remark::passed(op->getLoc(), remarkOpts("Launch"))
        << remark::add("'{0}' makes {1}", callee.str(), spell(type));
  }

  /// A cast that a kernel asks for.
  Value castFor(Emitter &b, Value tensor, Type element, StringRef why) {
    if (getElementTypeOrSelf(tensor) != element)
      remark::passed(b.getLoc(), remarkOpts("Cast"))
          << remark::add("{0} to {1}: {2}", spell(tensor.getType()),
                         spell(element), why.str());
    return castTo(b, tensor, element);
  }

  LogicalResult convert(PositionsOp op) {
    Emitter b(op);
    auto cache = cast<CacheOpInterface>(op.getOperation());
    if (isOnTensors(op) != true || !cache.isResolved())
      return op.emitOpError("must be resolved and on tensors: run "
                            "kv-resolve-collections before");
    HostSize rows = traceSize(op.getResult(), 0);
    if (!rows.isConstant()) {
      std::optional<HostSize> used = rowsOfUsers(op.getResult());
      if (!used && llvm::any_of(op->getUsers(), [](Operation *user) {
            return isa<tensor::ExtractOp, linalg::LinalgOp>(user);
          }))
        return op.emitOpError(
            "is computed with: kv-cuda has kernels that rotate by positions "
            "(kv.rope), and none for other arithmetic with them, as graphs "
            "that kv-raise takes have it; kv-import without --from writes a "
            "model for GPUs");
      if (!used || !(used->isConstant() ||
                     DominanceInfo().properlyDominates(used->value, op)))
        return op.emitOpError(
            "has as many rows as row_offsets say, which lies on the device: "
            "give a static size, or rotate by it what stands before");
      rows = *used;
    }
    auto type = cast<RankedTensorType>(op.getResult().getType());
    OpFoldResult size = b.getIndexAttr(rows.number);
    if (!rows.isConstant())
      size = rows.materialize(b, b.getLoc());
    Value out = tensor::EmptyOp::create(b, SmallVector<OpFoldResult>{size},
                                        type.getElementType());
    SmallVector<Value> arguments = {cache.getCacheLengths(),
                                    op.getRowOffsets()};
    StringRef callee = "positions";
    if (Value tree = op.getAncestors()) {
      arguments.push_back(tree);
      callee = "treePositions";
    }
    Value made =
        LaunchOp::create(b, out.getType(), callee, arguments, out).getResult();
    if (made.getType() != type)
      made = tensor::CastOp::create(b, type, made);
    remarkLaunch(op, callee, type);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  LogicalResult convert(GatherOp op) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t dim = op.getDim(), inner = op.getInner();
    if (type.isDynamicDim(dim))
      return op.emitOpError() << "gathers runs along dimension " << dim
                              << ", of unknown size: kv-cuda takes "
                                 "dimensions of known size";
    if (!kv::isMoved(type.getElementType()) ||
        op.getShard() * inner % kernels::RowChunk ||
        op.getSize() * inner % kernels::RowChunk)
      return op.emitOpError()
             << "makes " << type << " of " << op.getX().getType()
             << ": kv-cuda gathers " << kernels::rowTypes()
             << ", by multiples of " << kernels::RowChunk << " elements";
    Emitter b(op);
    SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getX());
    sizes[dim] = b.getIndexAttr(type.getDimSize(dim));
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, b.getI64Type(), value);
    };
    Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
    Value arguments[] = {op.getX(), number(op.getShard() * inner),
                         number(op.getSize() * inner), number(op.getRanks()),
                         number(op.getCopies())};
    Value made = LaunchOp::create(b, out.getType(), "gather", arguments, out)
                     .getResult();
    if (made.getType() != type)
      made = tensor::CastOp::create(b, type, made);
    remarkLaunch(op, "gather", type);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  LogicalResult convert(RopeOp op) {
    auto x = cast<ShapedType>(op.getX().getType());
    if (cast<ShapedType>(op.getPositions().getType()).getRank() != 1)
      return op.emitOpError("has a position an angle: kv-cuda has a kernel for "
                            "one a row");
    if (x.getDimSize(2) % kernels::RowChunk)
      return op.emitOpError()
             << "has heads of " << x.getDimSize(2)
             << " elements: kv-cuda has a kernel for multiples of "
             << kernels::RowChunk;
    Emitter b(op);
    Value interleaved =
        arith::ConstantIntOp::create(b, op.getInterleaved() ? 1 : 0, 32);
    Value made = launch(
        b, "rope", {op.getX(), op.getPositions(), op.getFreqs(), interleaved},
        op.getX(), x.getElementType());
    remarkLaunch(op, "rope", made.getType());
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  LogicalResult convert(RmsNormOp op) {
    Value tensors[] = {op.getX(), op.getWeight(), op.getResult()};
    if (failed(checkRows(op, "norm", tensors)))
      return failure();
    Emitter b(op);
    auto constant = [&](const APFloat &value) {
      return b.constant(b.getF32Type(), value.convertToDouble());
    };
    auto type = op.getResult().getType();
    Value x = toRows(b, op.getX());
    Value made = launch(
        b, "norm",
        {x, op.getWeight(), constant(op.getEps()), constant(op.getOffset())}, x,
        type.getElementType());
    made = fromRows(b, made, op.getX());
    if (made.getType() != type)
      made = tensor::CastOp::create(b, type, made);
    remarkLaunch(op, "norm", type);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  /// Rows of 8 bits.
  static Value roundRows(Emitter &b, Value x) {
    SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), x);
    int64_t depth = cast<ShapedType>(x.getType()).getDimSize(1);
    sizes.back() = b.getIndexAttr(kernels::roundedRowBytes(depth));
    Value bytes = tensor::EmptyOp::create(b, sizes, b.getI8Type());
    return LaunchOp::create(b, bytes.getType(), "roundRows", x, bytes)
        .getResult();
  }

  /// `made`, by `callee`, is a result of an operation that goes.
  void replaceResult(Emitter &b, Value result, StringRef callee, Value made) {
    if (made.getType() != result.getType())
      made = tensor::CastOp::create(b, result.getType(), made);
    remarkLaunch(result.getDefiningOp(), callee, result.getType());
    result.replaceAllUsesWith(made);
  }

  LogicalResult convert(RouteOp op) {
    if (isOnTensors(op) != true)
      return success(); // named, as it is left
    Emitter b(op);
    auto [experts, shares] = launchRoute(b, op);
    replaceResult(b, op.getExperts(), "route", experts);
    replaceResult(b, op.getShares(), "shares", shares);
    op.erase();
    return success();
  }

  LogicalResult convert(KeepGroupsOp op) {
    if (isOnTensors(op) != true)
      return success();          // named, as it is left
    constexpr int64_t most = 32; // a lane of a warp each
    if (static_cast<int64_t>(op.getGroups()) > most)
      return noKernel(op) << ": 'keepGroups' is for at most " << most
                          << " groups, not " << op.getGroups();
    Emitter b(op);
    replaceResult(b, op.getResult(), "keepGroups", launchKeepGroups(b, op));
    op.erase();
    return success();
  }

  /// Each product by itself, of rows that are rounded once a type.
  LogicalResult convert(ExpertMatmulOp op) {
    Value x = op.getX();
    if (isOnTensors(op) != true)
      return success(); // named, as it is left
    if (failed(checkRows(op, "expertMatmul", x)))
      return failure();
    Emitter b(op);
    Value order = orders.orderOf(op.getExperts(), op.getNumExperts());
    Value rounded;
    for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
      auto type = cast<RankedTensorType>(weight.getType());
      bool quantised = op.getFormat(i).has_value();
      if (!quantised && type.getRank() == 3)
        return noKernel(op)
               << ": 'expertMatmul' is for row-major weights, not " << type;
      if (!quantised && failed(checkActivations(op, type.getElementType())))
        return failure();
      if (quantised && !rounded)
        rounded = roundRows(b, toRows(b, x));
      Value rows = quantised ? rounded
                             : castFor(b, x, type.getElementType(),
                                       "the rows of an expert's product");
      replaceResult(b, op.getProducts()[i],
                    quantised ? "expertQuantMatmul" : "expertMatmul",
                    launchExpertProduct(b, op, i, rows, order));
    }
    op.erase();
    return success();
  }

  /// Of quantised weights: each product by itself, of rows that are rounded
  /// once.
  LogicalResult convert(MatmulOp op) {
    Value x = op.getX();
    // On buffers, or of dense weights: named, as it is left.
    if (isOnTensors(op) != true)
      return success();
    for (size_t i = 0; i < op.getWeights().size(); ++i)
      if (!op.getFormat(i))
        return success();
    if (failed(checkRows(op, "roundRows", x)))
      return failure();
    Emitter b(op);
    Value rounded = roundRows(b, x);
    SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), x);
    for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
      Value product = op.getProducts()[i];
      auto type = cast<RankedTensorType>(product.getType());
      sizes.back() = b.getIndexAttr(type.getDimSize(1));
      Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
      Value arguments[] = {rounded, weight, formatOf(b, *op.getFormat(i))};
      Value made =
          LaunchOp::create(b, out.getType(), "quantMatmul", arguments, out)
              .getResult();
      if (made.getType() != type)
        made = tensor::CastOp::create(b, type, made);
      remarkLaunch(op, "quantMatmul", type);
      product.replaceAllUsesWith(made);
    }
    op.erase();
    return success();
  }

  /// Rows of a quantised table.
  LogicalResult convert(DequantizeOp op) {
    if (!op.getRows() || !op.getFormat() || isOnTensors(op) != true)
      return success(); // named, as it is left
    Emitter b(op);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getRows());
    sizes.push_back(b.getIndexAttr(type.getDimSize(1)));
    Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
    Value arguments[] = {op.getRows(), op.getWeight(),
                         formatOf(b, *op.getFormat())};
    Value made =
        LaunchOp::create(b, out.getType(), "quantEmbedding", arguments, out)
            .getResult();
    if (made.getType() != type)
      made = tensor::CastOp::create(b, type, made);
    remarkLaunch(op, "quantEmbedding", type);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  LogicalResult convert(SampleOp op) {
    if (isOnTensors(op) != true)
      return success(); // named, as it is left
    if (failed(checkRows(op, "sample", op.getLogits())))
      return failure();
    Emitter b(op);
    auto type = op.getResult().getType();
    Value made = launch(b, "sample", op->getOperands(), op.getTemperature(),
                        type.getElementType());
    if (made.getType() != type)
      made = tensor::CastOp::create(b, type, made);
    remarkLaunch(op, "sample", type);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    return success();
  }

  static Value formatOf(Emitter &b, QuantFormat format) {
    return arith::ConstantIntOp::create(b, static_cast<int64_t>(format), 32);
  }

  /// Keys and values have one type.
  LogicalResult convert(StoreOp op) {
    if (!op.getV() ||
        getElementTypeOrSelf(op.getK()) == getElementTypeOrSelf(op.getV()))
      return success();
    Emitter b(op);
    StringRef why = "keys and values of one type";
    Value k = castFor(b, op.getK(), b.getF32Type(), why);
    Value v = castFor(b, op.getV(), b.getF32Type(), why);
    op.getKMutable().assign(k);
    op.getVMutable().assign(v);
    return success();
  }

  /// Queries have the kernel's type, and so has the result.
  LogicalResult convert(AttentionOp op) {
    if (!op.getResult())
      return op.emitOpError("is on buffers: run kv-form-launches before "
                            "bufferization");
    if (KernelAttr kernel = getKernel(op);
        !kernel || kernel.getKind() != KernelKind::Cuda)
      return op.emitOpError("is not by the kernel 'cuda': run "
                            "kv-select-kernel{target=cuda} before");
    if (failed(checkAttention(op)))
      return failure();
    for (StringRef image : attentionImages(op))
      images.insert(image.str());
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Type query = queryType(op.getCollectionType().getElementType());
    if (type.getElementType() == query)
      return success();
    Emitter b(op);
    op.getQMutable().assign(
        castFor(b, op.getQ(), query, "the queries of an attention"));
    op.getResult().setType(type.clone(query));
    b.setInsertionPointAfter(op);
    Value wide = launch(b, "cast", op.getResult(), /*like=*/op.getQ(),
                        type.getElementType());
    op.getResult().replaceAllUsesExcept(wide, wide.getDefiningOp());
    return success();
  }

  LogicalResult convert(linalg::LinalgOp op) {
    if (isa<linalg::FillOp>(op.getOperation()) || !op.hasPureTensorSemantics())
      return success();
    StringRef name = op->getName().getStringRef();
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      IRRewriter rewriter(op);
      FailureOr<linalg::GenericOp> made =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return success(); // named as it is, if it stays
      generic = *made;
      names[generic] = name;
    }
    if (std::optional<LaunchMatch> match = matchLaunch(generic))
      return replace(generic, *match);
    if (mayBecomePart(generic))
      return success();
    std::optional<ElementProgram> program = matchElementwise(generic);
    if (!program || !isMoved(generic.getResult(0)))
      return success();
    return replace(generic, *program);
  }

  /// Whether the only user computes element by element, too.
  static bool mayBecomePart(linalg::GenericOp op) {
    if (op.getNumResults() != 1 || !op.getResult(0).hasOneUse())
      return false;
    auto user = dyn_cast<linalg::LinalgOp>(*op.getResult(0).user_begin());
    return user && user.getNumParallelLoops() == user.getNumLoops();
  }

  /// Whether a kernel can move the tensor's rows.
  static bool isMoved(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t width = type.getShape().back();
    return kv::isMoved(type.getElementType()) &&
           !ShapedType::isDynamic(width) && width % kernels::RowChunk == 0;
  }

  /// Whether rows of all tensors can be moved in chunks.
  LogicalResult checkRows(Operation *op, StringRef callee, ValueRange tensors) {
    for (Value tensor : tensors) {
      auto type = cast<RankedTensorType>(tensor.getType());
      if (!kv::isMoved(type.getElementType()))
        return noKernel(op) << ": '" << callee << "' is for "
                            << kernels::rowTypes() << ", not " << type;
      if (!isMoved(tensor))
        return noKernel(op)
               << ": '" << callee << "' is for rows of a multiple of "
               << kernels::RowChunk << " elements, not " << type;
    }
    return success();
  }

  /// Rows that are multiplied have the weight's type, whatever it costs of f32;
  /// another type that the module asks for would be something else. i8 is for
  /// quantised weights only.
  LogicalResult checkActivations(Operation *op, Type weight) {
    auto wanted = getOperation()->getAttrOfType<TypeAttr>(
        KVDialect::getActivationsAttrName());
    if (!wanted || wanted.getValue().isF32() ||
        wanted.getValue().isInteger(8) || wanted.getValue() == weight)
      return success();
    return noKernel(op) << ": 'kv.activations' is " << wanted.getValue()
                        << ", and 'matmul' rounds rows to its weight's "
                        << weight;
  }

  LogicalResult replace(linalg::GenericOp op, const LaunchMatch &match) {
    Emitter b(op);
    OpResult result = op->getResult(match.result);
    Value like = op.getDpsInits()[match.result];
    Type element = getElementTypeOrSelf(result);
    Value first = match.tensors[0];
    auto constant = [&](double value) {
      return b.constant(b.getF32Type(), value);
    };
    SmallVector<Value> moved(match.tensors);
    moved.push_back(result);
    StringRef callee;
    Value made;
    switch (match.kind) {
    case LaunchMatch::Matmul: {
      callee = "matmul";
      Value weight = match.tensors[1];
      Type narrow = getElementTypeOrSelf(weight);
      if (!isMultiplied(narrow))
        return noKernel(op)
               << ": 'matmul' is for weights of " << kernels::multipliedTypes()
               << ", not " << weight.getType();
      if (element != narrow && !element.isF32())
        return noKernel(op) << ": 'matmul' makes f32 or the weight's " << narrow
                            << ", not " << element;
      if (failed(checkRows(op, callee, moved)) ||
          failed(checkActivations(op, narrow)))
        return failure();
      Value x = castFor(b, first, narrow, "the rows of a matrix product");
      made = launch(b, callee, {x, weight}, like, element);
      break;
    }
    case LaunchMatch::Norm: {
      bool weighted = match.tensors.size() > 1;
      callee = weighted ? "norm" : "unitNorm";
      if (failed(checkRows(op, callee, moved)))
        return failure();
      Value x = toRows(b, first);
      Value whole = partsOf(x);
      SmallVector<Value> arguments = {whole};
      if (weighted)
        arguments.push_back(match.tensors[1]);
      llvm::append_values(arguments, constant(match.epsilon),
                          constant(match.offset));
      if (whole == x) {
        made = launch(b, callee, arguments, x, element);
      } else {
        // Without the rows themselves, whose size nobody must ask for.
        int64_t width = cast<ShapedType>(x.getType()).getDimSize(1);
        int64_t count = cast<ShapedType>(whole.getType()).getDimSize(1) / width;
        OpFoldResult rows = hostSizes(b, b.getLoc(), whole)[0];
        if (auto number = getConstantIntValue(rows))
          rows = b.getIndexAttr(*number * count);
        else
          rows = b.mul(cast<Value>(rows), b.index(count));
        Value out = tensor::EmptyOp::create(
            b, {rows, OpFoldResult(b.getIndexAttr(width))}, element);
        made = LaunchOp::create(b, out.getType(), callee, arguments, out)
                   .getResult();
      }
      made = fromRows(b, made, first);
      break;
    }
    case LaunchMatch::Pair: {
      callee = "pair";
      if (failed(checkRows(op, callee, moved)))
        return failure();
      Value function = arith::ConstantIntOp::create(b, match.function, 32);
      Value x = toRows(b, first), y = match.tensors[1];
      if (cast<RankedTensorType>(y.getType()).getRank() > 1)
        y = toRows(b, y);
      made =
          fromRows(b, launch(b, callee, {function, x, y}, x, element), first);
      break;
    }
    case LaunchMatch::Embedding:
      callee = "embedding";
      if (failed(checkRows(op, callee, ValueRange(moved).drop_front())))
        return failure();
      made = launch(b, callee, match.tensors, like, element);
      break;
    case LaunchMatch::Cast:
      callee = "cast";
      if (getElementTypeOrSelf(first) == element) {
        made = first;
        break;
      }
      if (failed(checkRows(op, callee, moved)))
        return failure();
      made = castTo(b, first, element);
      break;
    case LaunchMatch::SumChoices:
      callee = "sumChoices";
      if (failed(checkRows(op, callee, {first, result})))
        return failure();
      made = launch(b, callee, {first, match.tensors[1], constant(match.scale)},
                    like, element);
      break;
    case LaunchMatch::ExpertBias: {
      callee = "pair";
      if (failed(checkRows(op, callee, {first, match.tensors[2], result})))
        return failure();
      made = launchExpertBias(b, first, match.tensors[1], match.tensors[2],
                              element);
      break;
    }
    case LaunchMatch::Argmax:
      callee = "argmax";
      if (failed(checkRows(op, callee, first)))
        return failure();
      made = launch(b, callee, first, like, element);
      break;
    }
    replaceBy(op, result, callee, made);
    return success();
  }

  /// Rows that are parts of wider ones, which are columns of others: those. As
  /// rows of their own they would have to be copied.
  static Value partsOf(Value rows) {
    auto collapsed = rows.getDefiningOp<tensor::CollapseShapeOp>();
    auto expanded =
        collapsed ? collapsed.getSrc().getDefiningOp<tensor::ExpandShapeOp>()
                  : tensor::ExpandShapeOp();
    if (!expanded || expanded.getSrcType().getRank() != 2 ||
        expanded.getReassociationIndices()[0].size() != 1 ||
        !expanded.getSrc().getDefiningOp<tensor::ExtractSliceOp>())
      return rows;
    return expanded.getSrc();
  }

  InFlightDiagnostic noKernel(Operation *op) {
    auto it = names.find(op);
    StringRef name =
        it == names.end() ? op->getName().getStringRef() : it->second;
    return emitError(op->getLoc())
           << "'" << name << "' op has no kernel on a GPU";
  }

  /// Sizes, views, scalars, calls, loops, and what is launched.
  static bool isHostCode(Operation *op) {
    if (isOnRowsOrStates(op))
      return !!getKernel(op); // kv-select-kernel has checked it
    if (isa<func::FuncOp, func::CallOp, func::ReturnOp, tensor::EmptyOp,
            tensor::DimOp, tensor::CastOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, memref::DimOp, memref::CastOp,
            memref::TransposeOp, scf::ForOp, scf::IfOp, scf::YieldOp, LaunchOp,
            TextOp, PlanBytesOp, StoreOp, AttentionOp, CopyPagesOp, AssertOp,
            CheckStepOp, RankOp>(op))
      return true;
    return isa<arith::ArithDialect>(op->getDialect()) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }

  /// What is left must be host code.
  LogicalResult checkRest() {
    bool failed = false;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation() || isHostCode(op))
        return WalkResult::advance();
      failed = true;
      if (isOnRowsOrStates(op)) {
        op->emitOpError("is not by the kernel 'cuda': run "
                        "kv-select-kernel{target=cuda} before");
        return WalkResult::skip();
      }
      noKernel(op)
          << ": kv-cuda has kernels for products with a weight [N, K], "
             "x / sqrt(mean(x * x) + epsilon) * weight, elementwise arithmetic "
             "on one or two tensors (one may be a row for all), rows of a "
             "table, casts, argmax, kv.sample, kv.positions, kv.rope, "
             "kv.store, kv.attention, kv.copy_pages, kv.load, kv.update, "
             "kv.state_read, kv.state_write, kv.state_convolution, "
             "kv.state_scan, kv.route, kv.keep_groups, "
             "kv.expert_matmul, and quantised weights with kv.activations = i8";
      return WalkResult::skip();
    });
    return failure(failed);
  }

  void noteDeviceCode() {
    Builder b(&getContext());
    images.emplace(kernels::MoversImage);
    SmallVector<StringRef> imageNames(images.begin(), images.end());
    SmallVector<StringRef> chipNames(chips.begin(), chips.end());
    getOperation()->setAttr(
        KVDialect::getDeviceCodeAttrName(),
        b.getDictionaryAttr(
            {b.getNamedAttr("chips", b.getStrArrayAttr(chipNames)),
             b.getNamedAttr("images", b.getStrArrayAttr(imageNames))}));
  }

  std::set<std::string> images;
  ExpertOrders orders;
  /// What generics were before they were generalised.
  llvm::DenseMap<Operation *, StringRef> names;
};
} // namespace
