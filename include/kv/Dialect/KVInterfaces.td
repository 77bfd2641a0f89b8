//===- KVInterfaces.td - What all cache operations share ---*- tablegen -*-===//

#ifndef KV_DIALECT_KVINTERFACES_TD
#define KV_DIALECT_KVINTERFACES_TD

include "mlir/IR/OpBase.td"

def KV_TwoFormOpInterface : OpInterface<"TwoFormOpInterface"> {
  let cppNamespace = "::kv";
  let description = [{
    An operation that stands on tensors and returns its results, or on buffers
    and writes them to its `outs`. Its effects and its bufferization follow from
    what is said here.
  }];
  let methods = [
    InterfaceMethod<"The operands that are written on buffers, one a result.",
      "::llvm::SmallVector<::mlir::MutableOperandRange>", "getOutRanges">,
    InterfaceMethod<[{
        The size of a dynamic dimension of a result, from the operands, which may
        be tensors or buffers: that of the first operand unless the operation
        says otherwise.
      }],
      "::mlir::Value", "getResultSize",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$result,
           "int64_t":$dimension), "", [{
        return ::kv::sizeOf(builder, $_op.getLoc(), $_op->getOperand(0),
                            dimension);
      }]>,
    InterfaceMethod<"Whether that is not so.", "bool", "hasOwnSizes", (ins),
      "", "return false;">
  ];
  let extraSharedClassDeclaration = [{
    /// The values of the out ranges; none on tensors.
    ::llvm::SmallVector<::mlir::Value> getOutValues() {
      ::llvm::SmallVector<::mlir::Value> values;
      for (::mlir::MutableOperandRange range : $_op.getOutRanges())
        ::llvm::append_range(values, ::mlir::OperandRange(range));
      return values;
    }
  }];
}

def KV_CacheOpInterface : OpInterface<"CacheOpInterface"> {
  let cppNamespace = "::kv";
  let description = [{
    An operation on a collection or a cache of one. It names its cache either by
    a handle, or, once resolved, by the collection's components in the order of
    kv.fetch.
  }];
  let methods = [
    InterfaceMethod<"The collection's type, handle or not.",
      "::kv::CollectionType", "getCollectionType">,
    InterfaceMethod<"The handle, or the components.",
      "::mlir::OperandRange", "getCacheOperands">,
    InterfaceMethod<"The layer that a resolved operation is on; null where it "
                    "is on none in particular.",
      "::mlir::OpOperand *", "getLayerOperand">,
    InterfaceMethod<"Says anew what the type of the collection is whose "
                    "components the operation has.",
      "void", "setCollectionType", (ins "::kv::CollectionType":$type)>,
    InterfaceMethod<"Replaces the handle by what it was resolved to.",
      "void", "setComponents", (ins "::mlir::ValueRange":$components,
                                    "::kv::CollectionType":$type)>,
    InterfaceMethod<"Whether the operation writes the cache.",
      "bool", "writesCache">,
    InterfaceMethod<"Whether the operation reads the cache's contents.",
      "bool", "readsCache">,
    InterfaceMethod<[{
      The offsets that say which rows belong to which sequence, each with what
      must agree with them at run time: the operation's lowering trusts all of
      it, and `kv-check-steps` has it checked.
    }], "::llvm::SmallVector<::kv::StepRows>", "getStepRows">
  ];
  let extraSharedClassDeclaration = [{
    /// Whether the cache is named by its components.
    bool isResolved() {
      return !::llvm::isa<::kv::CollectionType, ::kv::CacheType>(
          $_op.getCacheOperands().front().getType());
    }
    /// The blocks; only when resolved.
    ::mlir::Value getBlocks() { return $_op.getCacheOperands()[0]; }
    ::mlir::Value getCacheLengths() { return $_op.getCacheOperands()[1]; }
    ::mlir::Value getLookupTable() { return $_op.getCacheOperands()[2]; }
    void setLookupTable(::mlir::Value table) {
      $_op->setOperand($_op.getCacheOperands().getBeginOperandIndex() + 2,
                       table);
    }
    ::mlir::Value getMaxLengths() { return $_op.getCacheOperands()[3]; }
    /// The scales; null when the collection has none.
    ::mlir::Value getScales() {
      return $_op.getCacheOperands().size() > 4 ? $_op.getCacheOperands()[4]
                                                : ::mlir::Value();
    }
  }];
}

#endif // KV_DIALECT_KVINTERFACES_TD
