//===- KVDialect.cpp - Registration and discardable attributes ------------===//

#include "kv/Dialect/KV.h"
#include "kv/Dialect/StoredWeight.h"

#include "kv/Dialect/Bytecode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "kv/Dialect/KVDialect.cpp.inc"
#include "kv/Dialect/KVEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kv/Dialect/KVAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kv/Dialect/KVTypes.cpp.inc"

namespace {
/// Operations of the dialect may be inlined. Without this interface, no
/// function that contains one of them would ever be inlined.
struct KVInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *op, Region *, bool, IRMapping &) const final {
    // kv.check_arguments checks against an attribute of its function.
    return !isa<kv::CheckArgumentsOp>(op);
  }
};
} // namespace

void kv::KVDialect::initialize() {
  // The lowered form uses pointers of the LLVM dialect, and may be parsed from
  // a text that does not load that dialect by itself.
  getContext()->loadDialect<LLVM::LLVMDialect>();
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
  addBytecodeInterface(*this);
  addInterfaces<KVInlinerInterface>();
}

LogicalResult kv::KVDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() == getEntryAttrName()) {
    if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'kv.entry' is a unit attribute of a function");
    if (!cast<SymbolOpInterface>(op).isPublic())
      return op->emitOpError("an entry must be a public function");
  }
  if (attr.getName() == getKernelAttrName()) {
    if (isa<FunctionOpInterface>(op) && !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("'kv.kernel' is a unit attribute of a function");
    if (!isa<FunctionOpInterface>(op) &&
        !(isa<KernelAttr>(attr.getValue()) &&
          isa<AttentionOp, StoreOp, CopyPagesOp, ExpertMatmulOp, LoadOp,
              UpdateOp, StateReadOp, StateWriteOp, StateConvolutionOp,
              StateScanOp>(op)))
      return op->emitOpError("'kv.kernel' is the #kv.kernel of a kv.attention, "
                             "kv.store, kv.load, kv.update, kv.copy_pages, "
                             "kv.expert_matmul, kv.state_read, kv.state_write, "
                             "kv.state_convolution or kv.state_scan");
    auto kernel = dyn_cast<KernelAttr>(attr.getValue());
    if (isa<ExpertMatmulOp>(op) && kernel.getKind() != KernelKind::Vector &&
        kernel.getKind() != KernelKind::Decomposition)
      return op->emitOpError() << "'kv.kernel' of a kv.expert_matmul is "
                                  "'vector' or 'decomposition', not '"
                               << stringifyKernelKind(kernel.getKind()) << "'";
  }
  if (attr.getName() == getDeviceCodeAttrName()) {
    auto code = dyn_cast<DictionaryAttr>(attr.getValue());
    for (StringRef field : {"chips", "images"}) {
      auto names = code ? code.getAs<ArrayAttr>(field) : ArrayAttr();
      if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
        return op->emitOpError("'kv.device_code' is a dictionary with 'chips' "
                               "and 'images', arrays of strings");
    }
  }
  if (attr.getName() == getModelAttrName()) {
    auto model = dyn_cast<DictionaryAttr>(attr.getValue());
    if (!model)
      return op->emitOpError("'kv.model' is a dictionary attribute");
    // Cache managers and servers read these keys; others are the user's.
    if (Attribute name = model.get("name"); name && !isa<StringAttr>(name))
      return op->emitOpError("'name' of 'kv.model' is a string, not ") << name;
    if (Attribute length = model.get("max_seq_len")) {
      auto number = dyn_cast<IntegerAttr>(length);
      if (!number || !number.getValue().isStrictlyPositive() ||
          number.getValue().getSignificantBits() > 64)
        return op->emitOpError("'max_seq_len' of 'kv.model' is a positive "
                               "integer, not ")
               << length;
    }
  }
  if (attr.getName() == getRanksAttrName()) {
    auto ranks = dyn_cast<IntegerAttr>(attr.getValue());
    if (!isa<ModuleOp>(op) || !ranks || ranks.getInt() < 1)
      return op->emitOpError("'kv.ranks' is a positive integer, of a module");
  }
  if (attr.getName() == getActivationsAttrName()) {
    auto type = dyn_cast<TypeAttr>(attr.getValue());
    if (!isa<ModuleOp>(op) || !type ||
        !(type.getValue().isF32() || type.getValue().isBF16() ||
          type.getValue().isF16() || type.getValue().isInteger(8)))
      return op->emitOpError("'kv.activations' is f32, bf16, f16 or i8, of a "
                             "module");
  }
  return success();
}

static bool isStoredForm(Type type, Attribute attribute) {
  auto stored = dyn_cast<DictionaryAttr>(attribute);
  auto shape = stored ? stored.getAs<ArrayAttr>("shape") : ArrayAttr();
  auto order = stored ? stored.getAs<ArrayAttr>("order") : ArrayAttr();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shape || !order || shape.size() != order.size() || !shaped ||
      !shaped.hasStaticShape() ||
      !llvm::all_of(shape, llvm::IsaPred<IntegerAttr>) ||
      !llvm::all_of(order, llvm::IsaPred<IntegerAttr>))
    return false;
  llvm::SmallBitVector seen(shape.size());
  int64_t elements = 1;
  for (auto [size, dim] : llvm::zip(shape.getAsRange<IntegerAttr>(),
                                    order.getAsRange<IntegerAttr>())) {
    if (dim.getInt() < 0 || dim.getInt() >= int64_t(shape.size()) ||
        seen.test(dim.getInt()) || size.getInt() < 1)
      return false;
    seen.set(dim.getInt());
    elements *= size.getInt();
  }
  return elements == shaped.getNumElements();
}

/// Verifies an attribute of an argument or a result; `what` says which of them.
static LogicalResult verifyValueAttribute(Operation *op, StringRef what,
                                          unsigned index, Type type,
                                          NamedAttribute attr) {
  StringRef name = attr.getName();
  auto fail = [&](const Twine &message) {
    return op->emitOpError()
           << what << " " << index << ": '" << name << "' " << message;
  };
  using kv::KVDialect;
  if (name == KVDialect::getWeightAttrName() ||
      name == KVDialect::getNameAttrName() ||
      name == KVDialect::getLayoutAttrName() ||
      name == KVDialect::getComponentAttrName()) {
    auto text = dyn_cast<StringAttr>(attr.getValue());
    if (!text || text.empty())
      return fail("must be a string that is not empty");
  }
  if (name == KVDialect::getDimsAttrName()) {
    auto dims = dyn_cast<ArrayAttr>(attr.getValue());
    if (!dims || !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
      return fail("must be an array of strings");
    auto shaped = dyn_cast<ShapedType>(type);
    int64_t dynamic =
        shaped && shaped.hasRank() ? shaped.getNumDynamicDims() : 0;
    if (static_cast<int64_t>(dims.size()) != dynamic)
      return fail("names " + Twine(dims.size()) + " dimensions, the type has " +
                  Twine(dynamic) + " dynamic ones");
  }
  if (name == KVDialect::getShardAttrName()) {
    auto shard = dyn_cast<DictionaryAttr>(attr.getValue());
    for (StringRef field : {"runs", "size", "shard", "copies"}) {
      auto number = shard ? shard.getAs<IntegerAttr>(field) : IntegerAttr();
      if (!number || number.getInt() < 1)
        return fail("is a dictionary with 'runs', 'size', 'shard' and "
                    "'copies', positive integers");
    }
  }
  if (name == kv::kStoredAttrName && !isStoredForm(type, attr.getValue()))
    return fail("is a dictionary with 'shape', and an 'order' of its "
                "dimensions, with as many elements as the argument");
  if (name == KVDialect::getCollectionAttrName()) {
    auto collection = dyn_cast<TypeAttr>(attr.getValue());
    if (!collection || !isa<kv::CollectionType>(collection.getValue()))
      return fail("must be a collection's type");
  }
  return success();
}

LogicalResult kv::KVDialect::verifyRegionArgAttribute(Operation *op,
                                                      unsigned regionIndex,
                                                      unsigned argIndex,
                                                      NamedAttribute attr) {
  auto function = cast<FunctionOpInterface>(op);
  if (failed(verifyValueAttribute(op, "argument", argIndex,
                                  function.getArgumentTypes()[argIndex], attr)))
    return failure();
  // The argument's name must be that of the collection, followed by the
  // component's.
  if (attr.getName() == getComponentAttrName()) {
    std::string suffix = "." + cast<StringAttr>(attr.getValue()).str();
    auto name =
        function.getArgAttrOfType<StringAttr>(argIndex, getNameAttrName());
    if (!name || !name.getValue().ends_with(suffix) ||
        !function.getArgAttr(argIndex, getCollectionAttrName()))
      return op->emitOpError()
             << "argument " << argIndex << ": '" << attr.getName().getValue()
             << "' needs 'kv.collection' and a 'kv.name' that ends in '"
             << suffix << "'";
  }
  return success();
}

LogicalResult kv::KVDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned regionIndex,
                                                         unsigned resultIndex,
                                                         NamedAttribute attr) {
  auto function = cast<FunctionOpInterface>(op);
  return verifyValueAttribute(op, "result", resultIndex,
                              function.getResultTypes()[resultIndex], attr);
}

void kv::registerKVDialect(DialectRegistry &registry) {
  registry.insert<KVDialect>();
  registerBufferizationModels(registry);
  registerConvertToLLVMModel(registry);
}
