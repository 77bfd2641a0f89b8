//===- KVOps.td - Operations of the kv dialect -------------*- tablegen -*-===//
//
// Every operation has two forms. On tensors it returns its result; after
// bufferization the result is the buffer operand `out` and the operation
// returns nothing. Effects are computed from the operands, never static: an
// operation that kept its tensor effects after bufferization would be deleted.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVOPS_TD
#define KV_DIALECT_KVOPS_TD

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

// An operation with two forms (KV_TwoFormOpInterface). `outs` names the operands
// that it writes on buffers, in the order of the results; `resources` are what it
// writes beside, in either form; `ownSizes`: it says what its results' sizes are.
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

// The same of the keys or the values of one layer: `[layer, part]` follows a
// collection's components.
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

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def KV_FetchOp : KV_Op<"fetch", [Pure]> {
  let summary = "builds the view of a cache for this step's batch";
  let description = [{
    Owns nothing and touches nothing. The components are the runtime inputs of
    the collection's type; `scales` is there when the type has a scale.

    ```mlir
    %kv = kv.fetch %blocks, %cache_lengths, %lookup_table, %max_lengths
        : memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
       -> !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
    ```
  }];
  let arguments = (ins KV_Blocks:$blocks, KV_I32Vector:$cache_lengths,
                       KV_ShapedOf<[I32], [1, 2]>:$lookup_table,
                       KV_ShapedOf<[I32], [2]>:$max_lengths,
                       Optional<KV_Blocks>:$scales);
  let results = (outs KV_CollectionType:$collection);
  let assemblyFormat = [{
    $blocks `,` $cache_lengths `,` $lookup_table `,` $max_lengths
    (`,` $scales^)? attr-dict `:` qualified(type(operands)) `->` qualified(type($collection))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KV_UnpackOp : KV_Op<"unpack", [Pure]> {
  let summary = "opens the view: a collection's components";
  let description = [{
    The inverse of `kv.fetch`, and folds with it. The components other than
    the blocks must not be written.

    ```mlir
    %b, %l, %t, %m = kv.unpack %kv : !kv.collection<...>
        -> memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
    ```
  }];
  let arguments = (ins KV_CollectionType:$collection);
  let results = (outs KV_Blocks:$blocks, 1DTensorOf<[I32]>:$cache_lengths,
                      TensorRankOf<[I32], [1, 2]>:$lookup_table,
                      2DTensorOf<[I32]>:$max_lengths,
                      Optional<KV_Blocks>:$scales);
  let assemblyFormat = [{
    $collection attr-dict `:` qualified(type($collection)) `->`
    type($blocks) `,` type($cache_lengths) `,` type($lookup_table) `,`
    type($max_lengths) (`,` type($scales)^)?
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

class KV_PartOp<string mnemonic, string part> : KV_Op<mnemonic, [Pure,
    TypesMatchWith<"the cache has the collection's parameters", "collection",
                   "cache", "::kv::CacheType::get("
                   "::llvm::cast<::kv::CollectionType>($_self))">]> {
  let summary = "the " # part # " of one layer as a cache";
  let description = "Owns nothing and touches nothing, like `kv.fetch`.\n\n"
    "```mlir\n"
    "%cache = kv." # mnemonic # " %kv[%layer] : !kv.collection<...>\n"
    "```";
  let arguments = (ins KV_CollectionType:$collection, Index:$layer);
  let results = (outs KV_CacheType:$cache);
  let assemblyFormat = [{
    $collection `[` $layer `]` attr-dict `:`
    qualified(type($collection))
  }];
  let hasVerifier = 1;
}

def KV_KeyCacheOp : KV_PartOp<"key_cache", "keys">;
def KV_ValueCacheOp : KV_PartOp<"value_cache", "values">;

class KV_LengthsOp<string mnemonic, Type type, string text>
    : KV_Op<mnemonic, [Pure]> {
  let summary = "the component " # mnemonic # " of a collection";
  let description = text # " Folds with `kv.fetch`; must not be written.";
  let arguments = (ins KV_CollectionType:$collection);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $collection attr-dict `:` qualified(type($collection)) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KV_CacheLengthsOp : KV_LengthsOp<"cache_lengths", 1DTensorOf<[I32]>,
    "i32 `[B]`: the tokens of each sequence that are cached already.">;
def KV_MaxLengthsOp : KV_LengthsOp<"max_lengths", 2DTensorOf<[I32]>,
    "i32 `[steps, 2]`: a row a step with the longest prompt and the most keys "
    "of a sequence.">;

def KV_AdvanceOp : KV_Op<"advance", [Pure,
    AllTypesMatch<["collection", "next"]>]> {
  let summary = "the view of the next step";
  let description = [{
    The same cache after a step of the rows `row_offsets` (i32 `[B + 1]`): each
    sequence is longer by its tokens, and the first row of max_lengths is gone.
    The last row stays, so that there is one. Not of a recurrent collection,
    whose table says where one step's states are. Touches nothing: a handle that was
    taken before still means its own step.

    ```mlir
    %last = scf.for %i = %c0 to %steps step %c1 iter_args(%now = %kv) -> !kv {
      ...
      %next = kv.advance %now rows %row_offsets : !kv, tensor<?xi32>
      scf.yield %next : !kv
    }
    ```
  }];
  let arguments = (ins KV_CollectionType:$collection,
                       1DTensorOf<[I32]>:$row_offsets);
  let results = (outs KV_CollectionType:$next);
  let assemblyFormat = [{
    $collection `rows` $row_offsets attr-dict `:`
    qualified(type($collection)) `,` type($row_offsets)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operations on the cache
//===----------------------------------------------------------------------===//

def KV_PositionsOp : KV_CacheOp<"positions", /*writes=*/0, /*reads=*/0, ["Out"],
    [AttrSizedOperandSegments], /*resources=*/[], /*ownSizes=*/1> {
  let summary = "the absolute positions of this step's tokens";
  let description = [{
    Token `t` of sequence `b` lies at `cache_lengths[b] + t - row_offsets[b]`.
    The result has `row_offsets[B]` elements.

    With a `tree` (`kv.attention` has its meaning) a node's position is that of
    the tree's first row and its depth: as many more as it has ancestors.

    ```mlir
    %p = kv.positions %kv, %row_offsets tree %ancestors
        : !kv.collection<...>, tensor<?xi32> tree tensor<?xi64> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Variadic<KV_CacheOperand>:$cache,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[I32], [1]>>:$out,
                       Optional<KV_Tree>:$ancestors,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<1DTensorOf<[I32]>>:$result);
  let assemblyFormat = [{
    custom<Cache>($cache) `,` $row_offsets (`tree` $ancestors^)?
    (`outs` `(` $out^ `)`)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
    (`tree` type($ancestors)^)? (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_RowOffsetsOp : KV_CacheOp<"row_offsets", /*writes=*/0, /*reads=*/0,
    ["Out"], [AttrSizedOperandSegments], /*resources=*/[], /*ownSizes=*/1> {
  let summary = "the row offsets of all keys";
  let description = [{
    i32 `[B + 1]`: sequence `b` has the keys `result[b] .. result[b + 1]`,
    cached ones and this step's, when the keys of all sequences stand one after
    the other. `row_offsets`, of the same shape, are those of this step's rows.
  }];
  let arguments = (ins Variadic<KV_CacheOperand>:$cache,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[I32], [1]>>:$out,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<1DTensorOf<[I32]>>:$result);
  let assemblyFormat = [{
    custom<Cache>($cache) `,` $row_offsets (`outs` `(` $out^ `)`)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
    (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_StoreOp : KV_CacheOp<"store", /*writes=*/1, /*reads=*/0, /*outs=*/[],
    [AttrSizedOperandSegments], layer = "&getLayerMutable()"> {
  let summary = "writes this step's keys and values of one layer";
  let description = [{
    `k` and `v` are `[T, heads, dim]`: ragged rows, sequence `b` owns
    `row_offsets[b] .. row_offsets[b + 1]`. Row t lands at its position's slot of
    its sequence's page; a row whose page is the null page 0 is dropped.
    Elements are rounded to the collection's type, to nearest even; 8-bit ones
    are scaled as `#kv.scale` says, or clamped to what they can hold. A latent
    cache takes its rows as `k` and no `v`.

    ```mlir
    kv.store %k, %v into %kv[%layer] rows %row_offsets
        : tensor<?x3x64xf32>, tensor<?x3x64xf32> into !kv, tensor<?xi32>
    kv.store %latent into %kv[%layer] rows %row_offsets
        : tensor<?x1x576xbf16> into !latent, tensor<?xi32>
    ```
  }];
  let arguments = (ins KV_Rows:$k, Optional<KV_Rows>:$v,
                       Variadic<KV_CacheOperand>:$cache, Index:$layer,
                       KV_I32Vector:$row_offsets,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let assemblyFormat = [{
    $k (`,` $v^)? `into` custom<Cache>($cache) `[` $layer `]` `rows` $row_offsets
    attr-dict `:` type($k) (`,` type($v)^)? `into`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
  }];
  // Files of version 1 have stores without operand segments (Bytecode.h).
  let useCustomPropertiesEncoding = 1;
}

def KV_AttentionOp : KV_CacheOp<"attention", /*writes=*/0, /*reads=*/1,
    ["Out", "OutLse"], [AttrSizedOperandSegments, AttrSizedResultSegments],
    layer = "&getLayerMutable()"> {
  let summary = "attention of ragged query rows over one layer of a cache";
  let description = [{
    `q` is `[T, Hq, dim]` with Hq a multiple of the collection's heads (GQA):
    query head h reads KV head `h / (Hq / heads)`. On a latent collection this is
    absorbed MLA: every query head reads the one latent row of a token, whose
    first `v_dim` elements are its value, and the result is `[T, Hq, v_dim]`.
    For each row
    `out = softmax(scale * q . K) . V` over the keys of its sequence (cached
    ones and this step's, which must be stored before) that the mask shows, by
    absolute positions. With `softcap` c > 0 a score s becomes c * tanh(s / c).
    Sums accumulate in f32 or better; a row that sees nothing gives 0. A
    collection with `window = W` needs the mask `sliding`, `sliding_noncausal`,
    `chunked` or `chunked_causal`, of at most W tokens: earlier pages may be gone.
    Prefill and decode rows may stand in one batch.

    `sinks` f32 `[Hq]` is one more logit a head, without a value: it takes part
    in the softmax's denominator alone, unscaled and uncapped.

    The second result, `lse` f32 `[T, Hq]`, is the logarithm of the softmax's
    denominator, the sink included; -inf where that is 0. `kv.merge` takes it.

    `keys` are the row offsets of this step's keys where they are not those of the
    queries (cross attention): sequence b then has `cache_lengths[b] + keys[b + 1] -
    keys[b]` keys.

    `plan` is the `kv.plan` of the same cache, rows and mask: a kernel that takes
    it need not find out again in every layer what a row sees. The kernel `cuda`
    takes bytes that its runtime's `plan` made, i8 `[bytes]`.

    `tree` i64 `[T]` says that the last rows of a sequence, all or 64 of them, are
    nodes of a tree (drafts of several continuations): bit j of a row's word says
    that the j-th of these rows is its ancestor. Ancestors stand before their
    descendants. A row sees what it would see if its path, the ancestors in order
    and the row itself, stood alone behind the tokens before the tree, at
    consecutive positions: the mask, which must be `causal`, `sliding` or
    `chunked_causal`, is that of these positions. Its own bit and those of later
    rows are not looked at, so that -1 everywhere is no tree at all; nor are the
    words of rows before the last 64.

    `products f8E4M3FN` says that the attention's two products are of 8 bits, as GPUs
    multiply them twice as fast: rows of q and the weights of the softmax are rounded
    to f8E4M3FN too, as `docs/products.md` says. Without it only what is in the cache
    is rounded. The collection must be of f8E4M3FN without a scale, its heads of a
    multiple of 32 elements, the mask causal or sliding.

    ```mlir
    %o, %lse = kv.attention %q in %kv[%layer] rows %row_offsets sinks %sinks
        mask <causal> scale 0.125
        : tensor<?x9x64xf32> in !kv, tensor<?xi32> sinks tensor<9xf32>
          -> tensor<?x9x64xf32>, tensor<?x9xf32>
    ```
  }];
  let arguments = (ins KV_Rows:$q, Variadic<KV_CacheOperand>:$cache,
                       Index:$layer, KV_I32Vector:$row_offsets,
                       Optional<KV_ShapedOf<[F32], [1]>>:$sinks,
                       Optional<MemRefRankOf<[KV_Float], [3]>>:$out,
                       Optional<MemRefRankOf<[F32], [2]>>:$out_lse,
                       Optional<AnyTypeOf<[KV_ShapedOf<[I32], [2]>,
                                           KV_ShapedOf<[I8], [1]>]>>:$plan,
                       Optional<KV_I32Vector>:$kv_row_offsets,
                       Optional<KV_Tree>:$ancestors,
                       KV_MaskAttr:$mask, F64Attr:$scale,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<TypeAttr>:$products,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<TensorRankOf<[KV_Float], [3]>>:$result,
                      Optional<TensorRankOf<[F32], [2]>>:$lse);
  let assemblyFormat = [{
    $q `in` custom<Cache>($cache) `[` $layer `]` `rows` $row_offsets
    (`keys` $kv_row_offsets^)? (`tree` $ancestors^)? (`plan` $plan^)?
    (`sinks` $sinks^)? (`outs` `(` $out^ (`,` $out_lse^)? `)`)?
    `mask` $mask `scale` $scale (`softcap` $softcap^)?
    (`products` $products^)? attr-dict `:` type($q) `in` custom<CacheType>(type($cache), $collection) `,`
    type($row_offsets) (`keys` type($kv_row_offsets)^)?
    (`tree` type($ancestors)^)? (`plan` type($plan)^)? (`sinks` type($sinks)^)?
    (`outs` type($out)^ (`,` type($out_lse)^)?)?
    (`->` type($result)^ (`,` type($lse)^)?)?
  }];
  // Files of version 6 have no products (Bytecode.h).
  let useCustomPropertiesEncoding = 1;
}

def KV_LoadOp : KV_PartOfCacheOp<"load", /*writes=*/0, /*reads=*/1,
    ["Out", "OutLengths"], [AttrSizedOperandSegments, AttrSizedResultSegments],
    /*ownSizes=*/1> {
  let summary = "the keys or values of one layer as a dense tensor";
  let description = [{
    `[B, S, heads, dim]` and i32 `[B]`: the first `lengths[b]` rows of sequence
    `b` are its cached ones and this step's, which must be stored before; the
    rows beyond are 0. A dynamic S is max_lengths[0, 1]; rows that a static one
    has no room for are left out. Elements are f32 or, of 16 and 32 bits, the
    cache's own; the keys of a latent cache are its whole rows. In a collection
    with `window = W`, rows that no query of this step sees, those up to position
    cache_lengths[b] - W, are 0 whether their pages are still there or not.

    ```mlir
    %keys = kv.key_cache %kv[%layer] : !kv.collection<...>
    %dense, %lengths = kv.load %keys rows %row_offsets
        : !kv.cache<...>, tensor<?xi32> -> tensor<?x?x3x64xf32>, tensor<?xi32>
    ```
    Resolved, the cache is the components and `[layer, part]`, part 0 for keys
    and 1 for values.
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[KV_CacheType, KV_Component]>>:$cache,
    Variadic<Index>:$place, KV_I32Vector:$row_offsets,
    Optional<MemRefRankOf<[KV_Float], [4]>>:$out,
    Optional<MemRefRankOf<[I32], [1]>>:$out_lengths,
    OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<TensorRankOf<[KV_Float], [4]>>:$result,
                      Optional<1DTensorOf<[I32]>>:$lengths);
  let assemblyFormat = [{
    custom<Cache>($cache) (`[` $place^ `]`)? `rows` $row_offsets
    (`outs` `(` $out^ `,` $out_lengths `)`)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
    (`outs` type($out)^ `,` type($out_lengths))?
    (`->` type($result)^ `,` type($lengths))?
  }];
}

def KV_StateReadOp : KV_CacheOp<"state_read", /*writes=*/0, /*reads=*/1,
    ["Out"], [AttrSizedOperandSegments], /*resources=*/[], /*ownSizes=*/1,
    layer = "&getLayerMutable()"> {
  let summary = "the states that one layer of a step begins with";
  let description = [{
    `[B, heads, dim]`: for each sequence what the layer's last `kv.state_write`
    left, in an earlier step or for another sequence that begins alike; zeros for
    a sequence without tokens (its state is the null state). Elements are f32 or
    the collection's own. A layer's states are read once a step, before they are
    written.

    ```mlir
    %s = kv.state_read %kv[%layer] rows %row_offsets
        : !kv.collection<recurrent, ...>, tensor<?xi32> -> tensor<?x4x256xf32>
    ```
  }];
  let arguments = (ins Variadic<KV_CacheOperand>:$cache, Index:$layer,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[KV_Float], [3]>>:$out,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<TensorRankOf<[KV_Float], [3]>>:$result);
  let assemblyFormat = [{
    custom<Cache>($cache) `[` $layer `]` `rows` $row_offsets
    (`outs` `(` $out^ `)`)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
    (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_StateWriteOp : KV_CacheOp<"state_write", /*writes=*/1, /*reads=*/0,
    /*outs=*/[], /*traits=*/[], layer = "&getLayerMutable()"> {
  let summary = "the states that one layer of a step ends with";
  let description = [{
    `state` is `[B, heads, dim]`: what the layer's next step reads of each
    sequence, rounded to the collection's type, to nearest even. A sequence whose
    place is the null state is passed over.

    ```mlir
    kv.state_write %s into %kv[%layer] rows %row_offsets
        : tensor<?x4x256xf32> into !kv.collection<recurrent, ...>, tensor<?xi32>
    ```
  }];
  let arguments = (ins KV_Rows:$state, Variadic<KV_CacheOperand>:$cache,
                       Index:$layer, KV_I32Vector:$row_offsets,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let assemblyFormat = [{
    $state `into` custom<Cache>($cache) `[` $layer `]` `rows` $row_offsets
    attr-dict `:` type($state) `into`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
  }];
}

def KV_StateConvolutionOp : KV_CacheOp<"state_convolution", /*writes=*/1,
    /*reads=*/1, ["Out"], [AttrSizedOperandSegments],
    layer = "&getLayerMutable()"> {
  let summary = "a causal convolution whose last rows are a state";
  let description = [{
    Each of C channels by itself, over the rows `x`, `[T, C]`, of its sequence:
    `y[t, c] = silu(sum over i < K of weight[i, c] * x[t - K + 1 + i, c] + bias[c])`,
    with the oldest row first in the sum and silu(s) = s / (1 + exp(-s)). The rows
    before the step's are the layer's state `[K - 1, C]`, the oldest first, and the
    last K - 1 rows become the state that the step ends with, as by `kv.state_read`
    and `kv.state_write`. All but the collection is f32.

    ```mlir
    %y = kv.state_convolution %x, %weight bias %bias in %kv[%layer] rows %row_offsets
        : tensor<?x64xf32>, tensor<4x64xf32>, tensor<64xf32>
          in !kv.collection<recurrent, ...>, tensor<?xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2]>:$x, KV_ShapedOf<[F32], [2]>:$weight,
                       Optional<KV_ShapedOf<[F32], [1]>>:$bias,
                       Variadic<KV_CacheOperand>:$cache, Index:$layer,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[F32], [2]>>:$out,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<TensorRankOf<[F32], [2]>>:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? `in` custom<Cache>($cache) `[` $layer `]`
    `rows` $row_offsets (`outs` `(` $out^ `)`)? attr-dict `:`
    type($x) `,` type($weight) (`,` type($bias)^)? `in`
    custom<CacheType>(type($cache), $collection) `,` type($row_offsets)
    (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_StateScanOp : KV_CacheOp<"state_scan", /*writes=*/1, /*reads=*/1,
    ["Out"], [AttrSizedOperandSegments], layer = "&getLayerMutable()"> {
  let summary = "a linear recurrence over a step's rows, whose state is a matrix";
  let description = [{
    Each of the G * R value heads has a state S, a matrix `[N, P]` of the layer's
    state `[G * R, N * P]`. A sequence's rows go through it in their order:
    `S = decay * S + k (x) u` and `out = q . S`, summed over N, where u, of P
    elements, is `strength * v`, and `out` has `skip * v` more where `skip` is
    given: Mamba-2. With `delta` u is `strength * (v - k . (decay * S))`: the gated
    delta rule. q and k are `[T, G, N]`, v and the result `[T, G, R, P]`, decay and
    strength `[T, G, R]`, skip `[G, R]`. The state is what `kv.state_read` gives,
    and what is left of it as by `kv.state_write`. All but the collection is f32.

    ```mlir
    %o = kv.state_scan %q, %k, %v decay %d strength %s in %kv[%layer] rows %row_offsets {delta}
        : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x4x16xf32>,
          tensor<?x2x4xf32>, tensor<?x2x4xf32>
          in !kv.collection<recurrent, ...>, tensor<?xi32> -> tensor<?x2x4x16xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [3]>:$q, KV_ShapedOf<[F32], [3]>:$k,
                       KV_ShapedOf<[F32], [4]>:$v, KV_ShapedOf<[F32], [3]>:$decay,
                       KV_ShapedOf<[F32], [3]>:$strength,
                       Optional<KV_ShapedOf<[F32], [2]>>:$skip,
                       Variadic<KV_CacheOperand>:$cache, Index:$layer,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[F32], [4]>>:$out,
                       UnitAttr:$delta,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<TensorRankOf<[F32], [4]>>:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v `decay` $decay `strength` $strength (`skip` $skip^)? `in`
    custom<Cache>($cache) `[` $layer `]` `rows` $row_offsets
    (`outs` `(` $out^ `)`)? attr-dict `:`
    type($q) `,` type($k) `,` type($v) `,` type($decay) `,` type($strength)
    (`,` type($skip)^)? `in` custom<CacheType>(type($cache), $collection) `,`
    type($row_offsets) (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_PrintOp : KV_CacheOp<"print", /*writes=*/0, /*reads=*/1, /*outs=*/[],
    [AttrSizedOperandSegments], ["::kv::OutputResource"],
    layer = "&getLayerMutable()"> {
  let summary = "prints one layer of a cache, for debugging";
  let description = [{
    The cached rows of each sequence, with `rows` also this step's, go to the
    runtime's standard error, a few elements each. Of a position whose page the
    table no longer has, as behind a window, it says `null page`; with
    `page_layers` it names the layer by its place in the page. Reads the cache and
    has an effect of its own: it stays where it is between the stores.

    ```mlir
    kv.print %kv[%layer] : !kv.collection<...>
    kv.print %kv[%layer] rows %row_offsets : !kv.collection<...>, tensor<?xi32>
    ```
  }];
  let arguments = (ins Variadic<KV_CacheOperand>:$cache, Index:$layer,
                       Optional<KV_I32Vector>:$row_offsets,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let assemblyFormat = [{
    custom<Cache>($cache) `[` $layer `]` (`rows` $row_offsets^)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) (`,` type($row_offsets)^)?
  }];
}

def KV_CopyPagesOp : KV_TwoFormOp<"copy_pages"> {
  let summary = "copies pages of a cache within it";
  let description = [{
    Page `source[i]` is copied to page `destination[i]` for i = 0, 1, ..., of
    all layers or of one. Nothing is copied to the null page 0, and ids that
    name no page are skipped. With `page_layers` the ids are those of any band,
    and `layer` counts within the page. `layout` is that of the blocks; the scales of a
    quantised cache are copied like them, by an operation of their own.

    ```mlir
    kv.copy_pages %blocks from %source to %destination layer %layer
        : memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?xi32>
    ```
  }];
  let arguments = (ins KV_Blocks:$blocks, KV_I32Vector:$source,
                       KV_I32Vector:$destination, Optional<Index>:$layer,
                       DefaultValuedAttr<KV_LayoutAttr, "::kv::Layout::NHD">:$layout);
  let assemblyFormat = [{
    $blocks `from` $source `to` $destination (`layer` $layer^)?
    (`layout` $layout^)? attr-dict `:`
    type($blocks) `,` type($source) `,` type($destination)
  }];
}

//===----------------------------------------------------------------------===//
// Pure operations
//===----------------------------------------------------------------------===//

def KV_RopeOp : KV_TwoFormOp<"rope", ["Out"]> {
  let summary = "rotates rows by their positions";
  let description = [{
    `x` is `[T, H, D]`, `positions` i32 `[T]`, row p of `freqs` `[max, W]` (W even,
    W <= D) holds the pairs (cos, sin) of the W / 2 angles of position p. The first
    W elements of each head are rotated: element i with i + W / 2, or, when
    `interleaved`, 2i with 2i + 1. The rest passes through. A position outside
    `freqs` is an error at run time.

    `positions` may also be `[W / 2, T]`: a position for each angle, as the
    multi-section rotations of images and video have them.
  }];
  let arguments = (ins KV_Rows:$x, KV_ShapedOf<[I32], [1, 2]>:$positions,
                       KV_ShapedOf<[F32], [2]>:$freqs,
                       Optional<MemRefRankOf<[KV_Float], [3]>>:$out,
                       UnitAttr:$interleaved);
  let results = (outs Optional<TensorRankOf<[KV_Float], [3]>>:$result);
  let assemblyFormat = [{
    $x `,` $positions `,` $freqs (`outs` `(` $out^ `)`)? (`interleaved` $interleaved^)?
    attr-dict `:`
    custom<ValueTypes>(type($x), type($positions), type($freqs), type($out),
                       type($result))
  }];
}

def KV_RmsNormOp : KV_TwoFormOp<"rms_norm", ["Out"]> {
  let summary = "rows divided by their root mean square, times a weight";
  let description = [{
    `x / sqrt(mean(x * x) + eps) * (weight + offset)`, the mean over the last
    dimension of `x`, `[T, W]` or, head by head, `[T, H, W]`; `weight` is `[W]`.
    Computed in f32 and rounded to the elements of x. `offset` is 0 unless given:
    1 where a model stores what its weights differ from 1.

    ```mlir
    %y = kv.rms_norm %x, %weight eps 1.0e-6
        : tensor<?x576xf32>, tensor<576xbf16> -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[KV_Float], [2, 3]>:$x,
                       KV_ShapedOf<[KV_Float], [1]>:$weight,
                       Optional<MemRefRankOf<[KV_Float], [2, 3]>>:$out,
                       F64Attr:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset);
  let results = (outs Optional<TensorRankOf<[KV_Float], [2, 3]>>:$result);
  let assemblyFormat = [{
    $x `,` $weight (`outs` `(` $out^ `)`)? `eps` $eps (`offset` $offset^)?
    attr-dict `:` type($x) `,` type($weight) (`outs` type($out)^)?
    (`->` type($result)^)?
  }];
}

def KV_SampleOp : KV_TwoFormOp<"sample", ["Out"]> {
  let summary = "draws a token from each row of logits";
  let description = [{
    `logits` is f32 `[R, V]`; the other inputs have one number a row, `[R]`. A row
    with the temperature 0 gives its largest logit's index, of equal ones the
    lowest. In any other the logits are divided by the temperature; the `top_k`
    largest are kept (0: all; of equal ones those of lower index); of these the
    fewest that have `top_p` of the probability, the largest first (1: all); of
    these those with at least `min_p` of the largest probability (0: all). One of
    those is drawn by its share, with random numbers that depend on the row's
    `seed` and `index` only. Every target gives the same tokens for the same
    logits: probabilities are integers, in units of 2^-40 of the largest.

    A row without a finite logit gives -1, and one with a logit that is NaN or
    +infinity -2 - t, of the first such index t.

    ```mlir
    %tokens = kv.sample %logits temperature %t top_k %k top_p %p min_p %m
        seed %s index %i
        : tensor<?x32000xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>,
          tensor<?xf32>, tensor<?xi64>, tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2]>:$logits,
                       KV_ShapedOf<[F32], [1]>:$temperature,
                       KV_I32Vector:$top_k, KV_ShapedOf<[F32], [1]>:$top_p,
                       KV_ShapedOf<[F32], [1]>:$min_p,
                       KV_ShapedOf<[I64], [1]>:$seed, KV_I32Vector:$index,
                       Optional<MemRefRankOf<[I32], [1]>>:$out);
  let results = (outs Optional<TensorRankOf<[I32], [1]>>:$result);
  let assemblyFormat = [{
    $logits `temperature` $temperature `top_k` $top_k `top_p` $top_p
    `min_p` $min_p `seed` $seed `index` $index (`outs` `(` $out^ `)`)?
    attr-dict `:` type($logits) `,` type($temperature) `,` type($top_k) `,`
    type($top_p) `,` type($min_p) `,` type($seed) `,` type($index)
    (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_MergeOp : KV_TwoFormOp<"merge", ["Out", "OutLse"],
    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "two attentions over different keys as one over all of them";
  let description = [{
    Each side is rows f32 `[T, Hq, D]` with the logarithms of their softmax's
    denominators, f32 `[T, Hq]`: the two results of `kv.attention`. The results
    are what one attention over the keys of both sides gives:
    `(a * exp(a_lse) + b * exp(b_lse)) / (exp(a_lse) + exp(b_lse))` and the
    logarithm of that denominator, without overflow. A side with -inf counts
    nothing, whatever its rows hold; with both, the result is 0 and -inf.

    ```mlir
    %o, %lse = kv.merge (%a, %a_lse), (%b, %b_lse)
        : tensor<?x9x64xf32>, tensor<?x9xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [3]>:$a,
                       KV_ShapedOf<[F32], [2]>:$a_lse,
                       KV_ShapedOf<[F32], [3]>:$b,
                       KV_ShapedOf<[F32], [2]>:$b_lse,
                       Optional<MemRefRankOf<[F32], [3]>>:$out,
                       Optional<MemRefRankOf<[F32], [2]>>:$out_lse);
  let results = (outs Optional<TensorRankOf<[F32], [3]>>:$result,
                      Optional<TensorRankOf<[F32], [2]>>:$lse);
  let assemblyFormat = [{
    ` ` `(` $a `,` $a_lse `)` `,` `(` $b `,` $b_lse `)`
    (`outs` `(` $out^ `,` $out_lse `)`)? attr-dict `:`
    custom<MergeTypes>(type($a), type($a_lse), type($b), type($b_lse),
                       type($out), type($out_lse), type($result), type($lse))
  }];
}

def KV_DequantizeOp : KV_TwoFormOp<"dequantize", ["Out"],
    [AttrSizedOperandSegments], [], /*ownSizes=*/1> {
  let summary = "a quantised weight in f32";
  let description = [{
    All rows of `weight`, or those whose numbers `rows`, i32 `[T]`, holds; a
    number outside stands for the nearest row. Exact but for one rounding to f32.

    ```mlir
    %w = kv.dequantize %wq : tensor<576x1536x!kv.quant<q4_0>> -> tensor<576x1536xf32>
    %x = kv.dequantize %table rows(%tokens)
        : tensor<49152x576x!kv.quant<q8_0>>, tensor<?xi32> -> tensor<?x576xf32>
    ```
    A product with all rows is what a front end writes for a quantised linear
    layer: no pipeline that knows the format makes the matrix.

    `kv-pack-quantized` gives the weight as bytes `[N / 16, K / group, bytes]`,
    whose `format` the operation then names.
  }];
  let arguments = (ins AnyTypeOf<[TensorRankOf<[KV_QuantType], [2]>,
                                  KV_ShapedOf<[I8], [3]>]>:$weight,
                       Optional<KV_I32Vector>:$rows,
                       Optional<MemRefRankOf<[F32], [2]>>:$out,
                       OptionalAttr<KV_QuantFormatAttr>:$format);
  let results = (outs Optional<TensorRankOf<[F32], [2]>>:$result);
  let assemblyFormat = [{
    $weight (`rows` `(` $rows^ `)`)? (`format` $format^)? (`outs` `(` $out^ `)`)?
    attr-dict `:` type($weight) (`,` type($rows)^)? (`outs` type($out)^)?
    (`->` type($result)^)?
  }];
}

def KV_MatmulOp : KV_TwoFormOp<"matmul", ["Outs"],
    [AttrSizedOperandSegments]> {
  let summary = "rows times packed weights";
  let description = [{
    `product[t, n] = sum over k of x[t, k] * w[n, k]` with `x` f32 `[T, K]`, for
    each of the weights one product. A row's bits depend on nothing but the row,
    whatever T, the threads and the weights beside, nor on the machine but for
    the one case below.

    A weight of f32 or bf16 is `[N / 16, K, 16]` (the layout `n16k`, w[n, k] =
    weight[n / 16, k, n % 16]). The sum starts at 0 and is one chain of fused
    multiply-adds in f32 with k ascending; on a machine that multiplies matrices
    of bf16, for rows that are rounded to it (`kv.activations`), for every 32 k
    the sum of two such chains, of the even and of the odd ones.

    A weight of i8 is packed blocks `[N / 16, K / group, bytes]` of its entry in
    `formats`, a `#kv.quant`. The row is rounded first: each 32 elements x to i8
    q = round(x / d), ties to even, with d = max |x| / 127 in f32. For each
    sub-block that has a scale of its own the products of v and q are summed as
    integers; the product is the chain, from 0 and with k ascending, of the fused
    multiply-adds `f32(sum) * (scale * d) + before` and, where the format has
    minima, `minimum * (d * f32(sum of q)) + before`. `scale`, `minimum` and v,
    without its constant offset, are those of `QuantFormats.def`.

    Made by `kv-pack-weights` and `kv-pack-quantized`; several weights by
    `kv-fuse`, which writes `unit` in `formats` for one of f32 or bf16.

    ```mlir
    %q, %k, %v = kv.matmul %x, %wq, %wk, %wv
        : tensor<?x64xf32>, tensor<4x64x16xbf16>, tensor<2x64x16xbf16>, tensor<2x64x16xbf16>
       -> tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>
    %y = kv.matmul %x, %w {formats = [#kv.quant<q4_0>]}
        : tensor<?x64xf32>, tensor<4x2x288xi8> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2]>:$x,
                       Variadic<KV_ShapedOf<[F32, BF16, I8], [3]>>:$weights,
                       Variadic<MemRefRankOf<[F32], [2]>>:$outs,
                       OptionalAttr<ArrayAttr>:$formats);
  let results = (outs Variadic<TensorRankOf<[F32], [2]>>:$products);
  let assemblyFormat = [{
    $x `,` $weights (`outs` `(` $outs^ `)`)? attr-dict
    `:` type($x) `,` type($weights)
    (`outs` type($outs)^)? (`->` type($products)^)?
  }];
  // dialect/Bytecode.cpp: older files have no formats.
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// The format of weight `i`; nothing for one of f32 or bf16.
    std::optional<::kv::QuantFormat> getFormat(size_t i);
    /// The columns of product `i`.
    int64_t getWidth(size_t i);
  }];
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

def KV_RouteOp : KV_TwoFormOp<"route", ["OutExperts", "OutShares"],
    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "the experts of each row, with their shares";
  let description = [{
    `logits` is f32 `[T, E]`: what a router gives each of E experts. `experts`,
    i32 `[T, C]`, has the numbers of the C greatest of a row, the greatest first
    and of equal ones the lowest number first; a NaN counts as -inf. With `by`, f32
    `[T, E]`, the greatest of those are chosen, and the shares are still of the
    logits. `shares`, f32 `[T, C]`, has their parts of the softmax over all logits of
    the row, or, when `normalised`, over those of its C experts: then they add up
    to 1. When `sigmoid`, each is the logistic function of the logit, and when
    `normalised` too, its part of their sum (plus 1.0e-20).

    ```mlir
    %experts, %shares = kv.route %logits normalised
        : tensor<?x128xf32> -> tensor<?x8xi32>, tensor<?x8xf32>
    %kept = kv.keep_groups %corrected groups 8 keep 4 best 2 :
        tensor<?x256xf32> -> tensor<?x256xf32>
    %e, %s = kv.route %logits by %kept sigmoid normalised
        : tensor<?x256xf32> by tensor<?x256xf32>
       -> tensor<?x8xi32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2]>:$logits,
                       Optional<MemRefRankOf<[I32], [2]>>:$out_experts,
                       Optional<MemRefRankOf<[F32], [2]>>:$out_shares,
                       Optional<KV_ShapedOf<[F32], [2]>>:$by,
                       UnitAttr:$sigmoid, UnitAttr:$normalised);
  let results = (outs Optional<TensorRankOf<[I32], [2]>>:$experts,
                      Optional<TensorRankOf<[F32], [2]>>:$shares);
  let assemblyFormat = [{
    $logits (`by` $by^)? (`outs` `(` $out_experts^ `,` $out_shares `)`)?
    (`sigmoid` $sigmoid^)? (`normalised` $normalised^)? attr-dict
    `:` type($logits) (`by` type($by)^)?
    (`outs` type($out_experts)^ `,` type($out_shares))?
    (`->` type($experts)^ `,` type($shares))?
  }];
  // Files up to version 6 have neither `by` nor `sigmoid` (Bytecode.h).
  let useCustomPropertiesEncoding = 1;
}

def KV_KeepGroupsOp : KV_TwoFormOp<"keep_groups", ["Out"]> {
  let summary = "rows of which the best groups of columns are kept";
  let description = [{
    The columns of `x`, f32 `[T, E]`, are `groups` groups of equally many, one behind
    the other. A group's score is the sum of its `best` greatest elements, the
    greatest first; a NaN, also as a sum, counts as -inf. The `keep` groups of the
    greatest score, of equal ones those that come first, keep their elements; the
    elements of all others become -inf.

    ```mlir
    %y = kv.keep_groups %x groups 8 keep 4 best 2 : tensor<?x256xf32>
       -> tensor<?x256xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2]>:$x,
                       Optional<MemRefRankOf<[F32], [2]>>:$out,
                       I64Attr:$groups, I64Attr:$keep, I64Attr:$best);
  let results = (outs Optional<TensorRankOf<[F32], [2]>>:$result);
  let assemblyFormat = [{
    $x (`outs` `(` $out^ `)`)? `groups` $groups `keep` $keep `best` $best
    attr-dict `:` type($x) (`outs` type($out)^)? (`->` type($result)^)?
  }];
}

def KV_ExpertMatmulOp : KV_TwoFormOp<"expert_matmul", ["Outs"],
    [AttrSizedOperandSegments]> {
  let summary = "rows times the weights of the experts that they chose";
  let description = [{
    A weight holds E matrices `[N, K]`, one below the other: `[E * N, K]`, N a
    multiple of 16. For each weight
    `product[t, c, n] = sum over k of x[t, k] * w[e * N + n, k]` with
    e = `experts[t, c]`; a number outside stands for the nearest expert. `x` is f32
    `[T, K]`, or `[T, C, K]`: a row for each choice.

    A product has the bits that `kv.matmul` gives with that expert's matrix
    alone, by one chain, whatever the other rows have chosen. `kv-pack-weights` and
    `kv-pack-quantized` give weights the forms that `kv.matmul` takes,
    `[E * N / 16, ...]`, with entries of `formats` as there.

    The rows are ordered by their experts, so that in a step the matrix of an
    expert is read once, and only if a row has chosen it.

    ```mlir
    %g, %u = kv.expert_matmul %x, %gate, %up experts(%experts)
        : tensor<?x2048xf32>, tensor<98304x2048xbf16>, tensor<98304x2048xbf16>
          experts tensor<?x8xi32>
       -> tensor<?x8x768xf32>, tensor<?x8x768xf32>
    ```
  }];
  let arguments = (ins KV_ShapedOf<[F32], [2, 3]>:$x,
                       Variadic<AnyTypeOf<[TensorRankOf<[KV_QuantType], [2]>,
                                           KV_ShapedOf<[F32, BF16], [2, 3]>,
                                           KV_ShapedOf<[I8], [3]>]>>:$weights,
                       KV_ShapedOf<[I32], [2]>:$experts,
                       Variadic<MemRefRankOf<[F32], [3]>>:$outs,
                       OptionalAttr<ArrayAttr>:$formats);
  let results = (outs Variadic<TensorRankOf<[F32], [3]>>:$products);
  let assemblyFormat = [{
    $x `,` $weights `experts` `(` $experts `)` (`outs` `(` $outs^ `)`)?
    attr-dict `:` type($x) `,` type($weights) `experts` type($experts)
    (`outs` type($outs)^)? (`->` type($products)^)?
  }];
  let extraClassDeclaration = [{
    /// The format of weight `i`; nothing for one of f32 or bf16.
    std::optional<::kv::QuantFormat> getFormat(size_t i);
    /// The columns of product `i`.
    int64_t getWidth(size_t i);
    /// How many experts each row has.
    int64_t getChoices();
    /// E.
    int64_t getNumExperts();
    /// Whether all weights have the forms that `kv.matmul` takes.
    bool isPacked();
  }];
}

//===----------------------------------------------------------------------===//
// Operations on this step's rows
//===----------------------------------------------------------------------===//

def KV_UpdateOp : KV_PartOfCacheOp<"update", /*writes=*/1, /*reads=*/1,
    /*outs=*/[], [AttrSizedOperandSegments]> {
  let summary = "changes this step's rows of a cache in place";
  let description = [{
    Each row of this step that is stored in `cache` (the keys or the values of
    one layer) is replaced by what `kind` makes of it, head by head, computed in
    f32 and rounded to the cache's type. Other rows are not touched, nor is the
    null page; a table entry that names no page is passed over. A row of a cache
    with scales gets new ones.

    | kind | operand | row x at position p becomes |
    | --- | --- | --- |
    | `rope` | freqs f32 `[max, W]` | x rotated by row p of freqs, as `kv.rope` does it |
    | `rms_norm` | weight f32 `[W]` | x * weight / sqrt(mean(x * x) + eps) |
    | `add` | rows `[T, heads, dim]` | x + its row |

    W <= dim: the first W elements of a head are rotated, or normalised (the mean
    is over them); the rest stays. The position of token t of sequence b is
    `cache_lengths[b] + t - row_offsets[b]`. The operand must not be the cache.

    ```mlir
    %keys = kv.key_cache %kv[%layer] : !kv.collection<...>
    kv.update %keys rows %row_offsets rms_norm(%weight) eps 1.0e-6
        : !kv.cache<...>, tensor<?xi32>, tensor<64xf32>
    kv.update %keys rows %row_offsets rope(%freqs) interleaved
        : !kv.cache<...>, tensor<?xi32>, tensor<8192x64xf32>
    ```
    Resolved, the cache is the components and `[layer, part]`, as in `kv.load`.
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[KV_CacheType, KV_Component]>>:$cache,
    Variadic<Index>:$place, KV_I32Vector:$row_offsets,
    KV_ShapedOf<[KV_Float], [1, 2, 3]>:$operand, KV_UpdateKindAttr:$kind,
    UnitAttr:$interleaved, OptionalAttr<F64Attr>:$eps,
    OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let assemblyFormat = [{
    custom<Cache>($cache) (`[` $place^ `]`)? `rows` $row_offsets
    $kind `(` $operand `)` (`interleaved` $interleaved^)? (`eps` $eps^)?
    attr-dict `:` custom<CacheType>(type($cache), $collection) `,`
    type($row_offsets) `,` type($operand)
  }];
}

def KV_PlanOp : KV_CacheOp<"plan", /*writes=*/0, /*reads=*/0, ["Out"],
    [AttrSizedOperandSegments], /*resources=*/[], /*ownSizes=*/1> {
  let summary = "what each row of this step sees";
  let description = [{
    i32 `[T, 4]`: for each row its sequence, its position, the first key that it
    sees and the end of the keys that it sees, under `mask`. A row of no sequence
    is all 0 and sees nothing. The same for all layers: on tensors it is pure,
    and one is left of many. A dynamic T is `row_offsets[B]`.

    With `tree` it is the plan of attentions with any tree: of the last 64 rows of
    a sequence the first key is that of the first of them, before which none of
    them sees a key.

    Made by `kv-select-kernel` for kernels that take it.

    ```mlir
    %plan = kv.plan %kv rows %row_offsets mask <causal>
        : !kv.collection<...>, tensor<?xi32> -> tensor<?x4xi32>
    ```
  }];
  let arguments = (ins Variadic<KV_CacheOperand>:$cache,
                       KV_I32Vector:$row_offsets,
                       Optional<MemRefRankOf<[I32], [2]>>:$out,
                       KV_MaskAttr:$mask, UnitAttr:$tree,
                       OptionalAttr<TypeAttrOf<KV_CollectionType>>:$collection);
  let results = (outs Optional<2DTensorOf<[I32]>>:$result);
  let assemblyFormat = [{
    custom<Cache>($cache) `rows` $row_offsets (`outs` `(` $out^ `)`)?
    `mask` $mask (`tree` $tree^)? attr-dict `:`
    custom<CacheType>(type($cache), $collection) `,`
    type($row_offsets) (`outs` type($out)^)? (`->` type($result)^)?
  }];
  // Files up to version 5 have no `tree` (Bytecode.h).
  let useCustomPropertiesEncoding = 1;
}

#endif // KV_DIALECT_KVOPS_TD
