//===- DeviceOps.cpp - Operations of a device's host code -----------------===//

#include "OpSyntax.h"

using namespace mlir;
using namespace kv;

static ParseResult parseName(AsmParser &parser, RuntimeFunctionAttr &callee) {
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<RuntimeFunction> function = symbolizeRuntimeFunction(name);
  if (!function)
    return parser.emitError(loc) << "'" << name << "' is no runtime function";
  callee = RuntimeFunctionAttr::get(parser.getContext(), *function);
  return success();
}

ParseResult kv::parseCallee(OpAsmParser &parser, RuntimeFunctionAttr &callee) {
  return parseName(parser, callee);
}

void kv::printCallee(OpAsmPrinter &p, Operation *, RuntimeFunctionAttr callee) {
  p.printString(stringifyRuntimeFunction(callee.getValue()));
}

Attribute RuntimeFunctionAttr::parse(AsmParser &parser, Type) {
  RuntimeFunctionAttr callee;
  if (parser.parseLess() || parseName(parser, callee) || parser.parseGreater())
    return {};
  return callee;
}

void RuntimeFunctionAttr::print(AsmPrinter &p) const {
  p << "<\"" << stringifyRuntimeFunction(getValue()) << "\">";
}

void LaunchOp::build(OpBuilder &b, OperationState &state,
                     RuntimeFunction callee, ValueRange arguments,
                     ValueRange outs, ArrayRef<int64_t> absent) {
  SmallVector<Type> made =
      llvm::filter_to_vector(outs.getTypes(), llvm::IsaPred<TensorType>);
  build(b, state, made, callee, arguments, outs, absent);
}

SmallVector<OpOperand *> LaunchOp::getParameters() {
  auto kinds = rowOf(getCallee()).parameters.drop_front();
  MutableArrayRef<OpOperand> operands = getOperation()->getOpOperands();
  unsigned argument = 0, out = getArguments().size();
  return llvm::map_to_vector(llvm::enumerate(kinds), [&](auto each) {
    if (llvm::is_contained(getAbsent(), static_cast<int64_t>(each.index())))
      return static_cast<OpOperand *>(nullptr);
    return &operands[isOut(each.value()) ? out++ : argument++];
  });
}

/// Whether there is an operand for each parameter that is not absent.
static LogicalResult verifyCounts(LaunchOp op) {
  auto kinds = rowOf(op.getCallee()).parameters.drop_front();
  size_t outs = llvm::count_if(kinds, isOut), arguments = kinds.size() - outs;
  for (int64_t place : op.getAbsent()) {
    if (place < 0 || place >= static_cast<int64_t>(kinds.size()) ||
        !isView(kinds[place]) || llvm::count(op.getAbsent(), place) > 1)
      return op.emitOpError()
             << "parameter " << place << " of '"
             << stringifyRuntimeFunction(op.getCallee()) << "' is no "
             << "view that may be absent once";
    --(isOut(kinds[place]) ? outs : arguments);
  }
  if (op.getArguments().size() != arguments || op.getOuts().size() != outs)
    return op.emitOpError()
           << "'" << stringifyRuntimeFunction(op.getCallee()) << "' takes "
           << arguments << " arguments and " << outs << " outs, not "
           << op.getArguments().size() << " and " << op.getOuts().size();
  return success();
}

LogicalResult LaunchOp::verify() {
  StringRef name = stringifyRuntimeFunction(getCallee());
  const RuntimeFunctionRow &row = rowOf(getCallee());
  if (!row.runsOnDevices())
    return emitOpError() << "'" << name << "' does not run on a device";
  if (row.result != ParameterKind::Void)
    return emitOpError() << "'" << name << "' has a result";
  if (failed(verifyCounts(*this)))
    return failure();
  auto kinds = row.parameters.drop_front();
  for (auto [i, operand] : llvm::enumerate(getParameters())) {
    if (!operand)
      continue;
    Type type = operand->get().getType();
    bool fits = isView(kinds[i]) ? isa<RankedTensorType, MemRefType>(type)
                                 : type == typeOfKind(getContext(), kinds[i]);
    if (!fits)
      return emitOpError() << "argument " << i << " of '" << name
                           << "' must be "
                           << (isView(kinds[i])
                                   ? "a tensor or a buffer"
                                   : stringifyParameterKind(kinds[i]))
                           << ", not " << type;
  }
  bool tensors = !getMade().empty();
  for (Type out : getOuts().getTypes())
    if (tensors != isa<TensorType>(out))
      return emitOpError() << "returns its 'outs', " << out
                           << ", on tensors, and nothing on buffers";
  if (tensors && getMade().getTypes() != getOuts().getTypes())
    return emitOpError("returns tensors of other types than its 'outs'");
  if (!tensors && !getOuts().empty() &&
      llvm::any_of(getArguments().getTypes(), llvm::IsaPred<TensorType>))
    return emitOpError("mixes tensors and buffers");
  return success();
}
