//===- KVValueOps.td - Operations on rows ------------------*- tablegen -*-===//
//
// Pure operations that touch no cache: those before and after attention.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVVALUEOPS_TD
#define KV_DIALECT_KVVALUEOPS_TD

include "kv/Dialect/KVOpBase.td"

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

#endif // KV_DIALECT_KVVALUEOPS_TD
