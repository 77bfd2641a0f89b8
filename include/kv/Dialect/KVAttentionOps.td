//===- KVAttentionOps.td - Attention over the cache --------*- tablegen -*-===//
//
// Attention, the plan that its kernels share, and the merge of its parts.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVATTENTIONOPS_TD
#define KV_DIALECT_KVATTENTIONOPS_TD

include "kv/Dialect/KVOpBase.td"

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
    to f8E4M3FN too, as `docs/reference/products.md` says. Without it only what is in the cache
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

#endif // KV_DIALECT_KVATTENTIONOPS_TD
