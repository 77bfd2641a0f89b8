//===- KVViewOps.td - Views of a cache ---------------------*- tablegen -*-===//
//
// Operations that open a collection or read its facts. No such operation owns
// or touches memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVVIEWOPS_TD
#define KV_DIALECT_KVVIEWOPS_TD

include "kv/Dialect/KVOpBase.td"

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

class KV_PlaneOp<string mnemonic, string plane> : KV_Op<mnemonic, [Pure,
    TypesMatchWith<"the cache has the collection's parameters", "collection",
                   "cache", "::kv::CacheType::get("
                   "::llvm::cast<::kv::CollectionType>($_self))">]> {
  let summary = "the " # plane # " of one layer as a cache";
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

def KV_KeyCacheOp : KV_PlaneOp<"key_cache", "keys">;
def KV_ValueCacheOp : KV_PlaneOp<"value_cache", "values">;

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

#endif // KV_DIALECT_KVVIEWOPS_TD
