//===- KVTypes.td - Types and attributes of the kv dialect -*- tablegen -*-===//

#ifndef KV_DIALECT_KVTYPES_TD
#define KV_DIALECT_KVTYPES_TD

include "kv/Dialect/KVDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// The values are those of KvMask in the ABI (checked where they are lowered).
def KV_MaskKind : I32Enum<"MaskKind", "which keys a query sees", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"Causal", 1, "causal">,
    I32EnumCase<"Sliding", 2, "sliding">,
    I32EnumCase<"Chunked", 3, "chunked">,
    I32EnumCase<"SlidingNoncausal", 4, "sliding_noncausal">]> {
  let cppNamespace = "::kv";
}

def KV_Strategy : I32Enum<"Strategy", "how a cache is laid out", [
    I32EnumCase<"Paged", 0, "paged">]> {
  let cppNamespace = "::kv";
}

def KV_MaskAttr : AttrDef<KV_Dialect, "Mask"> {
  let mnemonic = "mask";
  let summary = "which keys a query sees, by absolute positions";
  let description = [{
    A query at position p sees the key at position k of its sequence when

    | mask | sees |
    | --- | --- |
    | `none` | always |
    | `causal` | k <= p |
    | `sliding = W` | p - W < k <= p |
    | `chunked = W` | k / W == p / W |
    | `sliding_noncausal = W` | p - W < k |
  }];
  let parameters = (ins EnumParameter<KV_MaskKind>:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$window);
  let assemblyFormat = "`<` $kind (`=` $window^)? `>`";
  let genVerifyDecl = 1;
}

def KV_KernelKind : I32Enum<"KernelKind", "who computes an operation", [
    I32EnumCase<"Decomposition", 0, "decomposition">,
    I32EnumCase<"Reference", 1, "reference">]> {
  let cppNamespace = "::kv";
}

def KV_KernelAttr : AttrDef<KV_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "the kernel that `kv-select-kernel` chose for an operation";
  let description = [{
    The attribute `kv.kernel` of a `kv.attention` or `kv.store`. No front end
    writes it.

    | kernel | what it is | takes a plan |
    | --- | --- | --- |
    | `decomposition` | upstream operations, by `kv-decompose` | yes |
    | `reference` | the runtime's function, by `convert-kv-to-runtime` | no |
  }];
  let parameters = (ins EnumParameter<KV_KernelKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

def KV_UpdateKindAttr : I32EnumAttr<"UpdateKind", "what becomes of a row", [
    I32EnumAttrCase<"Rope", 0, "rope">,
    I32EnumAttrCase<"RmsNorm", 1, "rms_norm">,
    I32EnumAttrCase<"Add", 2, "add">]> {
  let cppNamespace = "::kv";
}

def KV_CollectionType : TypeDef<KV_Dialect, "Collection"> {
  let mnemonic = "collection";
  let summary = "one step's non-owning view of a KV cache for a batch";
  let description = [{
    ```mlir
    !kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>
    ```
    The only source of the cache's geometry: the manifest, and through it the
    manager, is derived from it. `heads` counts KV heads per device, `dim` is
    the head dimension, `page` the tokens of a page.

    Runtime inputs (P usable pages, B sequences):

    | component | type |
    | --- | --- |
    | blocks | memref `[P + 1, 2, layers, page, heads, dim]`, mutable |
    | cache_lengths | tensor i32 `[B]`: tokens already cached |
    | lookup_table | tensor i32 `[B, pitch]`: page ids |
    | max_lengths | tensor i32 `[steps, 2]`, host |
  }];
  let parameters = (ins
    EnumParameter<KV_Strategy>:$strategy,
    "::mlir::Type":$elementType,
    "int64_t":$layers,
    "int64_t":$heads,
    "int64_t":$dim,
    "int64_t":$page);
  let assemblyFormat = [{
    `<` $strategy `,` $elementType `,` struct($layers, $heads, $dim, $page) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The types of the runtime inputs, in the order of kv.fetch's operands.
    llvm::SmallVector<::mlir::Type> getComponentTypes();
    /// Their names in the same order: "blocks", "cache_lengths", ...
    static llvm::ArrayRef<llvm::StringRef> getComponentNames();
  }];
}

def KV_CacheType : TypeDef<KV_Dialect, "Cache"> {
  let mnemonic = "cache";
  let summary = "the keys or the values of one layer of a collection";
  let description = [{
    Taken from a collection by `kv.key_cache` or `kv.value_cache`; owns nothing,
    like the collection, whose parameters it has.
    ```mlir
    !kv.cache<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>
    ```
  }];
  let parameters = (ins
    EnumParameter<KV_Strategy>:$strategy,
    "::mlir::Type":$elementType,
    "int64_t":$layers,
    "int64_t":$heads,
    "int64_t":$dim,
    "int64_t":$page);
  let assemblyFormat = [{
    `<` $strategy `,` $elementType `,` struct($layers, $heads, $dim, $page) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The cache of a collection, and back.
    static CacheType get(CollectionType collection);
    CollectionType getCollectionType();
  }];
}

#endif // KV_DIALECT_KVTYPES_TD
