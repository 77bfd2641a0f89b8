//===- LaunchFormer.cpp - What launches are formed with ------------------===//

#include "LaunchFormer.h"

#include "DeviceKernels.h"
#include "Launches.h"
#include "kv/ABI/DeviceKernels.h"
#include "mlir/IR/Remarks.h"

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

void LaunchFormer::remarkLaunch(Operation *op, RuntimeFunction callee,
                                Type type) {
  ++numLaunches;
  remark::passed(op->getLoc(), remarkOpts("Launch"))
      << remark::add("'{0}' makes {1}", stringifyRuntimeFunction(callee).str(),
                     type ? spell(type) : "no tensor");
}

void LaunchFormer::replaceResult(Emitter &b, Value result,
                                 RuntimeFunction callee, Value made) {
  if (made.getType() != result.getType())
    made = tensor::CastOp::create(b, result.getType(), made);
  remarkLaunch(result.getDefiningOp(), callee, result.getType());
  result.replaceAllUsesWith(made);
}

Value LaunchFormer::castFor(Emitter &b, Value tensor, Type element,
                            StringRef why) {
  if (getElementTypeOrSelf(tensor) != element)
    remark::passed(b.getLoc(), remarkOpts("Cast")) << remark::add(
        "{0} to {1}: {2}", spell(tensor.getType()), spell(element), why.str());
  return castTo(b, tensor, element);
}

bool LaunchFormer::isMoved(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t width = type.getShape().back();
  return kv::isMoved(type.getElementType()) && !ShapedType::isDynamic(width) &&
         width % kernels::RowChunk == 0;
}

LogicalResult LaunchFormer::checkRows(Operation *op, RuntimeFunction function,
                                      ValueRange tensors) {
  StringRef callee = stringifyRuntimeFunction(function);
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!kv::isMoved(type.getElementType()))
      return noKernel(op) << ": '" << callee << "' is for "
                          << kernels::rowTypes() << ", not " << type;
    if (!isMoved(tensor))
      return noKernel(op) << ": '" << callee
                          << "' is for rows of a multiple of "
                          << kernels::RowChunk << " elements, not " << type;
  }
  return success();
}

LogicalResult LaunchFormer::checkActivations(Operation *op, Type weight) {
  auto wanted =
      module->getAttrOfType<TypeAttr>(KVDialect::getActivationsAttrName());
  if (!wanted || wanted.getValue().isF32() || wanted.getValue().isInteger(8) ||
      wanted.getValue() == weight)
    return success();
  return noKernel(op) << ": 'kv.activations' is " << wanted.getValue()
                      << ", and 'matmul' rounds rows to its weight's "
                      << weight;
}

InFlightDiagnostic LaunchFormer::noKernel(Operation *op) {
  auto it = names.find(op);
  StringRef name =
      it == names.end() ? op->getName().getStringRef() : it->second;
  return emitError(op->getLoc())
         << "'" << name << "' op has no kernel on a GPU";
}
