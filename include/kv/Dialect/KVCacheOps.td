//===- KVCacheOps.td - Operations on the cache -------------*- tablegen -*-===//
//
// Where this step's rows stand, and what writes, reads and moves them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVCACHEOPS_TD
#define KV_DIALECT_KVCACHEOPS_TD

include "kv/Dialect/KVOpBase.td"

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
    Resolved, the cache is the components and `[layer, plane]`, plane 0 for keys
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
    Resolved, the cache is the components and `[layer, plane]`, as in `kv.load`.
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

#endif // KV_DIALECT_KVCACHEOPS_TD
