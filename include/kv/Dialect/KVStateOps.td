//===- KVStateOps.td - Recurrent states --------------------*- tablegen -*-===//
//
// Operations on a collection whose pages are states: a sequence has one state,
// not one per token.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVSTATEOPS_TD
#define KV_DIALECT_KVSTATEOPS_TD

include "kv/Dialect/KVOpBase.td"

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

#endif // KV_DIALECT_KVSTATEOPS_TD
