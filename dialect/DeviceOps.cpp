//===- DeviceOps.cpp - Operations of a device's host code -----------------===//

#include "RuntimeFunctions.h"
#include "kv/Dialect/KV.h"

using namespace mlir;
using namespace kv;

/// Whether a value of this type can be passed as a parameter of `kind`.
static bool fits(Type type, StringRef kind) {
  if (kind == "View")
    return isa<RankedTensorType, MemRefType>(type);
  return type == typeOfKind(type.getContext(), kind);
}

LogicalResult LaunchOp::verify() {
  const RuntimeFunction *row = lookupRuntimeFunction(getCallee());
  if (!row || row->result != "Void" || row->parameters.size() < 2 ||
      row->parameters.back() != "View")
    return emitOpError() << "'" << getCallee()
                         << "' is no runtime function that writes its last "
                            "argument";
  if (!row->runsOnDevices())
    return emitOpError() << "'" << getCallee() << "' does not run on a device";
  auto kinds = ArrayRef(row->parameters).drop_front().drop_back();
  if (kinds.size() != getArguments().size())
    return emitOpError() << "'" << getCallee() << "' takes " << kinds.size()
                         << " arguments before 'outs', not "
                         << getArguments().size();
  for (auto [i, kind] : llvm::enumerate(kinds))
    if (Type type = getArguments()[i].getType(); !fits(type, kind))
      return emitOpError() << "argument " << i << " of '" << getCallee()
                           << "' must be "
                           << (kind == "View" ? "a tensor or a buffer" : kind)
                           << ", not " << type;
  Type out = getOut().getType();
  if (isa<TensorType>(out) ? !getResult() || getResult().getType() != out
                           : !!getResult())
    return emitOpError() << "returns its 'outs', " << out
                         << ", on tensors, and nothing on buffers";
  if (!isa<TensorType>(out) &&
      llvm::any_of(getArguments().getTypes(), llvm::IsaPred<TensorType>))
    return emitOpError("mixes tensors and buffers");
  return success();
}
