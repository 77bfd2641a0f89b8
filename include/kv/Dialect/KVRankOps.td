//===- KVRankOps.td - Operations of several processes ------*- tablegen -*-===//
//
// A model that several processes, the ranks, compute together. All of them run
// the same code on their own share of the heads and of the weights' rows.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVRANKOPS_TD
#define KV_DIALECT_KVRANKOPS_TD

include "kv/Dialect/KVOpBase.td"

def KV_RankOp : KV_Op<"rank", [Pure]> {
  let summary = "which of the ranks this process is";
  let description = [{
    From 0 to the module's `kv.ranks` - 1; 0 where one process computes alone.
  }];
  let results = (outs Index:$rank);
  let assemblyFormat = "attr-dict";
}

def KV_GatherOp : KV_TwoFormOp<"gather", ["Out"], [],
    ["::kv::RankResource"], /*ownSizes=*/1> {
  let summary = "the shards of all ranks, one after the other";
  let description = [{
    Dimension `dim` of `x` consists of runs of `shard` elements, this rank's of the
    `size` elements that each run has in the result. One run is usual: then these
    are the sizes of the dimension. Rank r holds the elements from
    (r / copies) * shard on: `copies` neighbouring ranks hold the same ones. What
    the last ranks hold beyond `size` is left out. Every rank gets the whole
    result, bit by bit what the ranks had.

    ```mlir
    %y = kv.gather %x dim 1 shard 160 of 576 ranks 4
        : tensor<?x160xf32> -> tensor<?x576xf32>
    ```
    All ranks take part in every gather, in the same order: it has an effect, so
    that none is moved or repeated. Dimensions after `dim` are static.
  }];
  let arguments = (ins KV_ShapedOf<[KV_Float, I32, I8], [1, 2, 3, 4]>:$x,
                       Optional<MemRefOf<[KV_Float, I32, I8]>>:$out,
                       I64Attr:$dim, I64Attr:$shard, I64Attr:$size,
                       I64Attr:$ranks,
                       DefaultValuedAttr<I64Attr, "1">:$copies);
  let results = (outs
    Optional<TensorRankOf<[KV_Float, I32, I8], [1, 2, 3, 4]>>:$result);
  let assemblyFormat = [{
    $x `dim` $dim `shard` $shard `of` $size `ranks` $ranks (`copies` $copies^)?
    (`outs` `(` $out^ `)`)? attr-dict `:` type($x) (`outs` type($out)^)?
    (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    /// Elements after `dim`, for each of its indices.
    int64_t getInner();
  }];
}

#endif // KV_DIALECT_KVRANKOPS_TD
