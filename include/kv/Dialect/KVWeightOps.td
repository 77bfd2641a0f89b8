//===- KVWeightOps.td - Products with weights --------------*- tablegen -*-===//
//
// Weights as they are stored, products with them, and mixtures of experts.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVWEIGHTOPS_TD
#define KV_DIALECT_KVWEIGHTOPS_TD

include "kv/Dialect/KVOpBase.td"

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

#endif // KV_DIALECT_KVWEIGHTOPS_TD
