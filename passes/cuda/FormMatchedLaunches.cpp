//===- FormMatchedLaunches.cpp - Launches of what linalg computes --------===//

#include "DeviceKernels.h"
#include "ElementPrograms.h"
#include "ExpertLaunches.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "MatchLaunches.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

/// Whether the only user computes element by element, too.
static bool mayBecomePart(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || !op.getResult(0).hasOneUse())
    return false;
  auto user = dyn_cast<linalg::LinalgOp>(*op.getResult(0).user_begin());
  return user && user.getNumParallelLoops() == user.getNumLoops();
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

LogicalResult LaunchFormer::replace(linalg::GenericOp op,
                                    const ElementProgram &program) {
  constexpr RuntimeFunction callee = RuntimeFunction::elementwise;
  SmallVector<Value> moved(program.tensors);
  moved.push_back(op.getResult(0));
  if (failed(checkRows(op, callee, moved)))
    return failure();
  Emitter b(op);
  Value text = TextOp::create(
      b, LLVM::LLVMPointerType::get(module.getContext()), program.text);
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

LogicalResult LaunchFormer::toLaunch(linalg::LinalgOp op) {
  if (isa<linalg::FillOp>(op.getOperation()) || !op.hasPureTensorSemantics())
    return success();
  StringRef name = op->getName().getStringRef();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    IRRewriter rewriter(op);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
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

LogicalResult LaunchFormer::checkMatmul(linalg::GenericOp op,
                                        ValueRange tensors) {
  Value weight = tensors[1];
  Type narrow = getElementTypeOrSelf(weight);
  Type element = getElementTypeOrSelf(tensors.back());
  if (!isMultiplied(narrow))
    return noKernel(op) << ": 'matmul' is for weights of "
                        << kernels::multipliedTypes() << ", not "
                        << weight.getType();
  if (element != narrow && !element.isF32())
    return noKernel(op) << ": 'matmul' makes f32 or the weight's " << narrow
                        << ", not " << element;
  if (failed(checkRows(op, RuntimeFunction::matmul, tensors)))
    return failure();
  return checkActivations(op, narrow);
}

static Value launchNorm(Emitter &b, RuntimeFunction callee,
                        const LaunchMatch &match, Type element) {
  Value x = toRows(b, match.tensors[0]);
  Value whole = partsOf(x);
  SmallVector<Value> arguments = {whole};
  if (match.tensors.size() > 1)
    arguments.push_back(match.tensors[1]);
  for (double value : {match.epsilon, match.offset})
    arguments.push_back(b.constant(b.getF32Type(), value));
  if (whole == x)
    return fromRows(b, launch(b, callee, arguments, x, element),
                    match.tensors[0]);
  // Without the rows themselves, whose size nobody must ask for.
  int64_t width = cast<ShapedType>(x.getType()).getDimSize(1);
  int64_t count = cast<ShapedType>(whole.getType()).getDimSize(1) / width;
  OpFoldResult rows = hostSizes(b, b.getLoc(), whole)[0];
  if (auto number = getConstantIntValue(rows))
    rows = b.getIndexAttr(*number * count);
  else
    rows = b.mul(cast<Value>(rows), b.index(count));
  Value made = launch(b, callee, arguments,
                      {rows, OpFoldResult(b.getIndexAttr(width))}, element);
  return fromRows(b, made, match.tensors[0]);
}

static Value launchPair(Emitter &b, const LaunchMatch &match, Type element) {
  Value function = b.i32(match.function);
  Value x = toRows(b, match.tensors[0]), y = match.tensors[1];
  if (cast<RankedTensorType>(y.getType()).getRank() > 1)
    y = toRows(b, y);
  Value made = launch(b, RuntimeFunction::pair, {function, x, y}, x, element);
  return fromRows(b, made, match.tensors[0]);
}

LogicalResult LaunchFormer::replace(linalg::GenericOp op,
                                    const LaunchMatch &match) {
  Emitter b(op);
  OpResult result = op->getResult(match.result);
  Value like = op.getDpsInits()[match.result];
  Type element = getElementTypeOrSelf(result);
  Value first = match.tensors[0];
  SmallVector<Value> moved(match.tensors);
  moved.push_back(result);
  RuntimeFunction callee;
  Value made;
  switch (match.kind) {
  case LaunchMatch::Matmul: {
    callee = RuntimeFunction::matmul;
    if (failed(checkMatmul(op, moved)))
      return failure();
    Value x = castFor(b, first, getElementTypeOrSelf(match.tensors[1]),
                      "the rows of a matrix product");
    made = launch(b, callee, {x, match.tensors[1]}, like, element);
    break;
  }
  case LaunchMatch::Norm:
    callee = match.tensors.size() > 1 ? RuntimeFunction::norm
                                      : RuntimeFunction::unitNorm;
    if (failed(checkRows(op, callee, moved)))
      return failure();
    made = launchNorm(b, callee, match, element);
    break;
  case LaunchMatch::Pair:
    callee = RuntimeFunction::pair;
    if (failed(checkRows(op, callee, moved)))
      return failure();
    made = launchPair(b, match, element);
    break;
  case LaunchMatch::Embedding:
    callee = RuntimeFunction::embedding;
    if (failed(checkRows(op, callee, ValueRange(moved).drop_front())))
      return failure();
    made = launch(b, callee, match.tensors, like, element);
    break;
  case LaunchMatch::Cast:
    callee = RuntimeFunction::cast;
    if (getElementTypeOrSelf(first) != element &&
        failed(checkRows(op, callee, moved)))
      return failure();
    made = castTo(b, first, element);
    break;
  case LaunchMatch::SumChoices:
    callee = RuntimeFunction::sumChoices;
    if (failed(checkRows(op, callee, {first, result})))
      return failure();
    made = launch(
        b, callee,
        {first, match.tensors[1], b.constant(b.getF32Type(), match.scale)},
        like, element);
    break;
  case LaunchMatch::GateRows:
    callee = RuntimeFunction::gateRows;
    if (failed(checkRows(op, callee, moved)))
      return failure();
    made = launch(b, callee, match.tensors, like, element);
    break;
  case LaunchMatch::ExpertBias:
    callee = RuntimeFunction::pair;
    if (failed(checkRows(op, callee, {first, match.tensors[2], result})))
      return failure();
    made =
        launchExpertBias(b, first, match.tensors[1], match.tensors[2], element);
    break;
  case LaunchMatch::Argmax:
    callee = RuntimeFunction::argmax;
    if (failed(checkRows(op, callee, first)))
      return failure();
    made = launch(b, callee, first, like, element);
    break;
  }
  replaceBy(op, result, callee, made);
  return success();
}

void LaunchFormer::replaceBy(linalg::GenericOp op, OpResult result,
                             RuntimeFunction callee, Value made) {
  Emitter b(op);
  if (made.getType() != result.getType())
    made = tensor::CastOp::create(b, result.getType(), made);
  remarkLaunch(op, callee, result.getType());
  result.replaceAllUsesWith(made);
  names.erase(op);
  op.erase();
}

LogicalResult LaunchFormer::formElementwise() {
  SmallVector<linalg::GenericOp> left;
  module.walk([&](linalg::GenericOp op) { left.push_back(op); });
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
