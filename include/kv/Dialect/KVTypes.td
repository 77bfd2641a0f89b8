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
    I32EnumCase<"SlidingNoncausal", 4, "sliding_noncausal">,
    I32EnumCase<"ChunkedCausal", 5, "chunked_causal">]> {
  let cppNamespace = "::kv";
}

def KV_Strategy : I32Enum<"Strategy", "how a cache is laid out", [
    I32EnumCase<"Paged", 0, "paged">,
    I32EnumCase<"Continuous", 1, "continuous">,
    I32EnumCase<"Recurrent", 2, "recurrent">]> {
  let cppNamespace = "::kv";
}

// Values of CacheLayout in the ABI.
def KV_Layout : I32Enum<"Layout", "the order of blocks in memory", [
    I32EnumCase<"NHD", 0, "nhd">,
    I32EnumCase<"HND", 1, "hnd">,
    I32EnumCase<"CPU", 2, "cpu">]> {
  let cppNamespace = "::kv";
}
def KV_LayoutAttr : EnumAttr<KV_Dialect, KV_Layout, "layout">;

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
    | `chunked_causal = W` | k / W == p / W and k <= p |
  }];
  let parameters = (ins EnumParameter<KV_MaskKind>:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$window);
  let assemblyFormat = "`<` $kind (`=` $window^)? `>`";
  let genVerifyDecl = 1;
}

def KV_KernelKind : I32Enum<"KernelKind", "who computes an operation", [
    I32EnumCase<"Decomposition", 0, "decomposition">,
    I32EnumCase<"Reference", 1, "reference">,
    I32EnumCase<"Cuda", 2, "cuda">,
    I32EnumCase<"Vector", 3, "vector">]> {
  let cppNamespace = "::kv";
}

def KV_KernelAttr : AttrDef<KV_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "the kernel that `kv-select-kernel` chose for an operation";
  let description = [{
    The attribute `kv.kernel` of the operations that spec.md names (A10).
    No front end writes it.

    | kernel | what it is | takes a plan |
    | --- | --- | --- |
    | `decomposition` | upstream operations, by `kv-decompose` | yes |
    | `reference` | the runtime's function, by `convert-kv-to-runtime` | no |
    | `cuda` | a launch of the GPU runtime's function, by `kv-form-launches` | yes, of bytes |
    | `vector` | vector code, by `kv-vectorize`; of a `kv.attention` | yes |
  }];
  let parameters = (ins EnumParameter<KV_KernelKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

// The attribute has the form of the operations' syntax alone: a name in quotes.
def KV_RuntimeFunctionAttr : AttrDef<KV_Dialect, "RuntimeFunction"> {
  let mnemonic = "function";
  let summary = "a function of `kv/ABI/Symbols.def`";
  let parameters = (ins "::kv::RuntimeFunction":$value);
  let hasCustomAssemblyFormat = 1;
  let returnType = "::kv::RuntimeFunction";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall =
      "::kv::RuntimeFunctionAttr::get($_builder.getContext(), $0)";
}

def KV_UpdateKindAttr : I32EnumAttr<"UpdateKind", "what becomes of a row", [
    I32EnumAttrCase<"Rope", 0, "rope">,
    I32EnumAttrCase<"RmsNorm", 1, "rms_norm">,
    I32EnumAttrCase<"Add", 2, "add">]> {
  let cppNamespace = "::kv";
}

def KV_ScaleAttr : AttrDef<KV_Dialect, "Scale"> {
  let mnemonic = "scale";
  let summary = "how a cache of 8 bits is scaled";
  let description = [{
    `#kv.scale<f32, group = 128>`: each group of 128 neighbouring elements of a
    row has a scale of this type, f32 or f8E8M0FNU (a power of two); `group`
    divides the head dimension. A stored row becomes `x / scale`, rounded to
    nearest even and clamped, where

    | scale type | scale of a group whose largest magnitude is a |
    | --- | --- |
    | f32 | a / m |
    | f8E8M0FNU | the least power of two that is not below a / m |

    and m is the largest element: 127 of i8, 448 of f8E4M3FN, 57344 of f8E5M2.
    A group of zeros is read as zeros, one with a NaN or an infinity as NaN.
  }];
  let parameters = (ins "::mlir::Type":$type, "int64_t":$group);
  let assemblyFormat = "`<` $type `,` `group` `=` $group `>`";
}

// Values of QuantFormats.def in the ABI.
def KV_QuantFormat : I32Enum<"QuantFormat", "a format of quantised weights", [
    I32EnumCase<"Q8_0", 0, "q8_0">,
    I32EnumCase<"Q4_0", 1, "q4_0">,
    I32EnumCase<"Q4_1", 2, "q4_1">,
    I32EnumCase<"Q4_K", 3, "q4_k">,
    I32EnumCase<"Q6_K", 4, "q6_k">,
    I32EnumCase<"I8", 5, "i8">,
    I32EnumCase<"F8E4M3", 6, "f8e4m3">,
    I32EnumCase<"F8E5M2", 7, "f8e5m2">]> {
  let cppNamespace = "::kv";
}

def KV_QuantFormatAttr : EnumAttr<KV_Dialect, KV_QuantFormat, "quant"> {
  let assemblyFormat = "`<` $value `>`";
}

def KV_QuantType : TypeDef<KV_Dialect, "Quant"> {
  let mnemonic = "quant";
  let summary = "the elements of a quantised weight";
  let description = [{
    `tensor<576x1536x!kv.quant<q4_0>>` is a matrix whose rows are blocks of
    neighbouring elements that share a scale. The formats and their names are
    ggml's, but for `i8`, whose rows have one scale each, and for `f8e4m3` and
    `f8e5m2`, whose blocks are numbers of the types f8E4M3FN and f8E5M2;
    `include/kv/ABI/QuantFormats.def` says what an element's value is.

    | format | elements of a block | bits an element, scales included |
    | --- | --- | --- |
    | `q8_0` | 32 | 8.5 |
    | `q4_0` | 32 | 4.5 |
    | `q4_1` | 32 | 5 |
    | `q4_k` | 256, scales of 32 | 4.5 |
    | `q6_k` | 256, scales of 16 | 6.6 |
    | `i8` | a row | 8 |
    | `f8e4m3`, `f8e5m2` | 128 | 8.25 |

    Only `kv.dequantize` and calls take such tensors. `kv-pack-quantized` makes
    bytes of them.
  }];
  let parameters = (ins EnumParameter<KV_QuantFormat>:$format);
  let assemblyFormat = "`<` $format `>`";
}

// The parameters of a collection are those of CacheGeometry in the ABI, which
// holds their constraints.
class KV_GeometryType<string name, string typeMnemonic>
    : TypeDef<KV_Dialect, name> {
  let mnemonic = typeMnemonic;
  let parameters = (ins
    EnumParameter<KV_Strategy>:$strategy,
    "::mlir::Type":$elementType,
    "int64_t":$layers,
    "int64_t":$heads, // kDynamic before sharding
    "int64_t":$dim,
    "int64_t":$page, // tokens of a page, or max_seq
    "int64_t":$vDim, // 0 if not latent
    OptionalParameter<"::kv::ScaleAttr">:$scale,
    EnumParameter<KV_Layout>:$layout,
    "int64_t":$window, // 0: a query sees all tokens
    "int64_t":$pageLayers); // 0: a page holds all layers
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  string geometryDeclarations = [{
    /// The parameters as plain data; `heads` may be Unknown.
    ::kv::CacheGeometry getGeometry() const;
    static }] # name # [{Type get(::mlir::MLIRContext *context,
                                  const ::kv::CacheGeometry &geometry);
  }];
  let extraClassDeclaration = geometryDeclarations;
}

def KV_CollectionType : KV_GeometryType<"Collection", "collection"> {
  let summary = "one step's non-owning view of a KV cache for a batch";
  let description = [{
    ```mlir
    !kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>
    !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 16, max_seq = 256>
    !kv.collection<paged, i8, layers = 32, heads = 8, dim = 128, page = 64,
                   scale = #kv.scale<f32, group = 128>, layout = hnd>
    !kv.collection<paged, bf16, layers = 61, latent, dim = 576, v_dim = 512, page = 64>
    !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16,
                   window = 128, page_layers = 4>
    ```
    The only source of the cache's geometry: the manifest, and through it the
    manager, is derived from it. `heads` counts KV heads per device and may be
    `?` before sharding, `dim` is the head dimension, `page` the tokens of a
    page, `max_seq` those of a slot. A latent cache (MLA) has one row a token,
    of one head, whose first `v_dim` elements are the value. 8-bit elements may
    have a `scale`, i8 must. `layout` is the order of the blocks' dimensions in
    memory; operations have one meaning for all of them.

    `window = W` says that a query sees at most the last W tokens of its
    sequence, itself included: the mask of every `kv.attention` must say so too.
    The manager may then give pages to other sequences once all later queries
    have passed them; what the table has in their place is the null page.

    `page_layers = N` says that a page of a paged cache holds the rows of N
    layers, without it those of all. A sequence then has ceil(layers / N) rows of
    page ids, the bands: layer l is layer l mod N of the pages of band l / N. So
    pages of collections with different numbers of layers can have equally many
    bytes. The last band's pages may have layers that nothing uses.

    A recurrent collection holds no keys but states, of layers that carry one
    from token to token: Mamba-2, gated delta net, a causal convolution. A layer's
    state of a sequence is `[heads, dim]` numbers of f32, f16 or bf16 that a step
    reads and replaces (`kv.state_read`, `kv.state_write`):
    ```mlir
    !kv.collection<recurrent, f32, layers = 36, heads = 32, dim = 16384, page = 16>
    ```
    `page` is that of the paged collection beside it: where a page ends, a
    manager may keep the state for later sequences that begin alike.

    Runtime inputs (P usable pages, B sequences):

    | component | paged | continuous |
    | --- | --- | --- |
    | blocks | memref `[P + 1, 2, layers, page, heads, dim]`, mutable | `[slots, 2, layers, max_seq, heads, dim]` |
    | cache_lengths | tensor i32 `[B]`: tokens already cached | the same |
    | lookup_table | tensor i32 `[B, pitch]`: page ids | i32 `[B]`: slots |
    | max_lengths | tensor i32 `[steps, 2]`, host | the same |
    | scales | like blocks, `dim / group` for dim; only with `scale` | the same |

    Of a recurrent collection blocks are `[S + 1, 1, layers, 1, heads, dim]`, S
    states and the null state 0, which is never written and read as zeros;
    lookup_table is i32 `[B, 2]`: the state that a step begins with, and where the
    one that it ends with goes, which may be the same place.

    A latent cache has 1 for 2. With `layout = hnd` blocks and scales are
    `[P + 1, 2, layers, heads, page, dim]`, with `cpu`
    `[P + 1, layers, heads, 2, page, dim]`. With `page_layers = N` blocks and
    scales have N for layers, and a row of the lookup table holds the page ids of
    the bands one after the other, each pitch / ceil(layers / N) entries.
  }];
  let extraClassDeclaration = geometryDeclarations # [{
    /// The types of the runtime inputs, in the order of kv.fetch's operands.
    llvm::SmallVector<::mlir::Type> getComponentTypes();
    /// The names of the components, in the same order: "blocks",
    /// "cache_lengths", ...
    llvm::SmallVector<llvm::StringRef> getComponentNames();
    bool isLatent() const { return getVDim() != 0; }
    /// Elements of a row of attention's result.
    int64_t getValueDim() const { return isLatent() ? getVDim() : getDim(); }
  }];
}

def KV_CacheType : KV_GeometryType<"Cache", "cache"> {
  let summary = "the keys or the values of one layer of a collection";
  let description = [{
    Taken from a collection by `kv.key_cache` or `kv.value_cache`; owns nothing,
    like the collection, whose parameters it has.
    ```mlir
    !kv.cache<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>
    ```
  }];
  let extraClassDeclaration = geometryDeclarations # [{
    /// The cache of a collection, and back.
    static CacheType get(CollectionType collection);
    CollectionType getCollectionType();
  }];
}

#endif // KV_DIALECT_KVTYPES_TD
