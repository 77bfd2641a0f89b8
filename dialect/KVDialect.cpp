//===- KVDialect.cpp - Registration and discardable attributes ------------===//

#include "kv/Dialect/KV.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "kv/Dialect/KVDialect.cpp.inc"
#include "kv/Dialect/KVEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kv/Dialect/KVAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kv/Dialect/KVTypes.cpp.inc"

void kv::KVDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kv/Dialect/KVAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "kv/Dialect/KVTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kv/Dialect/KVOps.cpp.inc"
      >();
}

LogicalResult kv::KVDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() == getEntryAttrName()) {
    if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'kv.entry' is a unit attribute of a function");
    if (!cast<SymbolOpInterface>(op).isPublic())
      return op->emitOpError("an entry must be a public function");
  }
  if (attr.getName() == getModelAttrName() &&
      !isa<DictionaryAttr>(attr.getValue()))
    return op->emitOpError("'kv.model' is a dictionary attribute");
  return success();
}

LogicalResult kv::KVDialect::verifyRegionArgAttribute(Operation *op,
                                                      unsigned regionIndex,
                                                      unsigned argIndex,
                                                      NamedAttribute attr) {
  StringRef name = attr.getName();
  auto fail = [&](const Twine &what) {
    return op->emitOpError() << "argument " << argIndex << ": '" << name
                             << "' " << what;
  };
  if (name == getWeightAttrName() || name == getNameAttrName() ||
      name == getLayoutAttrName() || name == getComponentAttrName()) {
    auto text = dyn_cast<StringAttr>(attr.getValue());
    if (!text || text.empty())
      return fail("must be a string that is not empty");
  }
  if (name == getDimsAttrName()) {
    auto dims = dyn_cast<ArrayAttr>(attr.getValue());
    if (!dims || !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
      return fail("must be an array of strings");
    auto function = cast<FunctionOpInterface>(op);
    auto shaped = dyn_cast<ShapedType>(function.getArgumentTypes()[argIndex]);
    int64_t dynamic = shaped && shaped.hasRank() ? shaped.getNumDynamicDims() : 0;
    if (static_cast<int64_t>(dims.size()) != dynamic)
      return fail("names " + Twine(dims.size()) + " dimensions, the type has " +
                  Twine(dynamic) + " dynamic ones");
  }
  return success();
}

void kv::registerKVDialect(DialectRegistry &registry) {
  registry.insert<KVDialect>();
  registerBufferizationModels(registry);
  registerConvertToLLVMModel(registry);
}
