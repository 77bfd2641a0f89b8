//===- KVOpBase.td - What operations are made of -----------*- tablegen -*-===//
//
// Every operation has two forms. On tensors it returns its result; after
// bufferization the result is the buffer operand `out` and the operation
// returns nothing. Effects are computed from the operands, never static: an
// operation that kept its tensor effects after bufferization would be deleted.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVOPBASE_TD
#define KV_DIALECT_KVOPBASE_TD

include "kv/Dialect/KVTypes.td"
include "kv/Dialect/KVInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KV_Op<string mnemonic, list<Trait> traits = []>
    : Op<KV_Dialect, mnemonic, traits>;

// A tensor, or a buffer after bufferization.
class KV_ShapedOf<list<Type> elements, list<int> ranks> :
    AnyTypeOf<[TensorRankOf<elements, ranks>, MemRefRankOf<elements, ranks>]>;

def KV_Float : AnyTypeOf<[F32, BF16, F16]>;
def KV_Rows : KV_ShapedOf<[KV_Float], [3]>;
def KV_I32Vector : KV_ShapedOf<[I32], [1]>;
// For each row of a step its ancestors among the last 64 rows of its sequence.
def KV_Tree : KV_ShapedOf<[I64], [1]>;
def KV_Blocks : MemRefRankOf<[AnyType], [6]>;
def KV_Component : AnyTypeOf<[KV_Blocks, KV_ShapedOf<[I32], [1, 2]>]>;
def KV_CacheOperand : AnyTypeOf<[KV_CollectionType, KV_Component]>;

// An operation with two forms (KV_TwoFormOpInterface). `outs` names the
// operands that it writes on buffers, in the order of the results; `resources`
// are further resources that it writes, in either form; `ownSizes`: it says
// what its results' sizes are.
class KV_TwoFormOp<string mnemonic, list<string> outs = [],
                   list<Trait> traits = [], list<string> resources = [],
                   bit ownSizes = 0>
    : KV_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<KV_TwoFormOpInterface,
            !if(ownSizes, ["getResultSize", "hasOwnSizes"], []<string>)>])> {
  let hasVerifier = 1;
  string twoFormDefinition = [{
    ::llvm::SmallVector<::mlir::MutableOperandRange> $cppClass::getOutRanges() {
      return }] # "{" # !interleave(
          !foreach(out, outs, "get" # out # "Mutable()"), ", ") # "}" # [{;
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>>
            &effects) {
      ::kv::addFormEffects(*this, effects);
      }] # !interleave(!foreach(resource, resources,
          "effects.emplace_back(::mlir::MemoryEffects::Write::get(), " #
          resource # "::get());"), "\n") # [{
    }
  }] # !if(ownSizes, "bool $cppClass::hasOwnSizes() { return true; }\n", "");
  let extraClassDefinition = twoFormDefinition;
}

// An operation on one collection, whose contents it writes or reads; `layer` is
// the operand that names the layer, if there is one.
class KV_CacheOp<string mnemonic, bit writes, bit reads,
                 list<string> outs = [], list<Trait> traits = [],
                 list<string> resources = [], bit ownSizes = 0,
                 string layer = "nullptr">
    : KV_TwoFormOp<mnemonic, outs, !listconcat(traits, [
        DeclareOpInterfaceMethods<KV_CacheOpInterface>]), resources, ownSizes> {
  string accessDefinition = [{
    bool $cppClass::writesCache() { return }] # !if(writes, "true", "false") # [{; }
    bool $cppClass::readsCache() { return }] # !if(reads, "true", "false") # [{; }
    ::kv::CollectionType $cppClass::getCollectionType() {
      return ::kv::collectionOf(getCache(), getCollection());
    }
    ::mlir::OperandRange $cppClass::getCacheOperands() { return getCache(); }
    void $cppClass::setCollectionType(::kv::CollectionType type) {
      setCollection(type);
    }
    ::mlir::OpOperand *$cppClass::getLayerOperand() { return }] # layer # [{; }
  }];
  string componentsDefinition = [{
    void $cppClass::setComponents(::mlir::ValueRange components,
                                  ::kv::CollectionType type) {
      getCacheMutable().assign(components);
      setCollection(type);
    }
  }];
  let extraClassDefinition =
      twoFormDefinition # accessDefinition # componentsDefinition;
}

// An operation on the keys or the values of one layer: `[layer, plane]` follows
// a collection's components.
class KV_PartOfCacheOp<string mnemonic, bit writes, bit reads,
                       list<string> outs = [], list<Trait> traits = [],
                       bit ownSizes = 0>
    : KV_CacheOp<mnemonic, writes, reads, outs, traits, [], ownSizes,
                 "&getPlaceMutable()[0]"> {
  let componentsDefinition = [{
    void $cppClass::setComponents(::mlir::ValueRange components,
                                  ::kv::CollectionType type) {
      getCacheMutable().assign(components.drop_back(2));
      getPlaceMutable().assign(components.take_back(2));
      setCollection(type);
    }
  }];
}

#endif // KV_DIALECT_KVOPBASE_TD
