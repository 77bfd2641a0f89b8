//===- RaisePasses.td - Passes of kv-raise -----------------*- tablegen -*-===//

#ifndef KV_PASSES_RAISEPASSES_TD
#define KV_PASSES_RAISEPASSES_TD

include "mlir/Pass/PassBase.td"

// The pipeline kv-raise is these in this order (docs/guides/raise.md).

def KVRaiseShapes : Pass<"kv-raise-shapes", "::mlir::ModuleOp"> {
  let summary = "a graph of one length takes every length up to it";
  let description = [{
    In a graph whose tokens have a static shape `[N]`, `[1, N]` or `[B, N]`, the
    dimensions that come from them become dynamic, and the batch one sequence: what
    does not come from the tokens is made for as many, or its first rows are
    taken. An operation that combines the batch, tells its members apart or joins
    these dimensions with others is an error. `max_seq_len` becomes N at most.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVRaiseContractions : Pass<"kv-raise-contractions", "::mlir::ModuleOp"> {
  let summary = "products of any spelling become plain or batched ones";
  let description = [{
    A contraction with maps of its own (an einsum) becomes a `linalg.batch_matmul`
    if rows meet rows in it, with a batch for each head: keys that several query
    heads read are repeated, which `kv-raise-attention` sees through. With an
    operand without rows it becomes a `linalg.matmul`, of a transposed weight
    where that is how the weight lies. Others stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numProducts", "products", "contractions that were rewritten">
  ];
}

def KVRaiseSizes : Pass<"kv-raise-sizes", "::mlir::ModuleOp"> {
  let summary = "sizes of a graph without a cache are constants or the length";
  let description = [{
    Integers that compute shapes are evaluated as polynomials in T, the length
    of the sequence, for every T from 1 to the module's `max_seq_len`: those that
    are T become one value, those that are constant constants, `tensor.reshape`
    becomes a collapse and an expansion, the first T rows of a table a look-up by
    position, and each `cf.assert` is proven and dropped. A check that is not true
    of every length is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numChecks", "checks", "assertions that were proven">
  ];
}

def KVRaiseLast : Pass<"kv-raise-last", "::mlir::ModuleOp"> {
  let summary = "what is computed of the last token alone is computed of all";
  let description = [{
    Where a graph returns no row for each token, and takes the last one's by a
    slice, what follows the slice is written for all rows: `logit_rows` says of
    which a caller wants it. An operation that cannot be is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVRaiseIndices : Pass<"kv-raise-indices", "::mlir::ModuleOp"> {
  let summary = "positions that are written in other ways are numbers of rows";
  let description = [{
    A `tm_tensor.scan` that adds one constant for each token is the position, a row
    that is read at a computed number which is proven to be the loop's is read at
    the loop's, the first T rows of a table are read at the number of each row, and
    a `tm_tensor.sort` along another dimension than the sequence counts, in each row,
    how many elements belong before one. What is not proven stays, and
    `kv-raise-tokens` says why that cannot be.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVRaiseSoftmax : Pass<"kv-raise-softmax", "::mlir::ModuleOp"> {
  let summary = "attention that is spelled out becomes one operation";
  let description = [{
    A product with what is proven, element by element, to be
    `exp(s - max(s)) / sum(exp(s - max(s)))` over the sequence, where s is a product
    of queries and keys, multiplied with constants, perhaps capped
    (`c * tanh(s / c)`), and hidden where a mask says so, becomes a
    `tm_tensor.attention`. What is not stays, and `kv-raise-tokens` says why that
    cannot be.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAttentions", "attentions", "attentions that were spelled out">
  ];
}

def KVRaiseTokens : Pass<"kv-raise-tokens", "::mlir::ModuleOp"> {
  let summary = "proves that a graph computes each token's row by itself";
  let description = [{
    Every operation but attention must be parallel in the sequence: it reads of
    other tensors of rows the row that it computes, combines no rows, takes no
    part of the sequence and does not read the length as a number. Otherwise an
    error names the operation. Changes nothing; what follows relies on it.
  }];
}

def KVRaiseAttention : Pass<"kv-raise-attention", "::mlir::ModuleOp"> {
  let summary = "attention becomes stores to a collection and attention over it";
  let description = [{
    Each `tm_tensor.attention` whose mask is proven to be causal or a window, for
    all positions, becomes a `kv.store` and a `kv.attention`. Layers with equal
    windows and heads share a collection, an argument of the function. Query
    heads whose keys and values are proven to be the same elements read one KV
    head. An attention of which this cannot be proven is an error that says
    which position, or which operation, is the reason.
  }];
  let options = [
    Option<"dtypeName", "dtype", "std::string", "\"bf16\"",
           "element type of the cache: f32, bf16 or f16">,
    Option<"page", "page", "int64_t", "128", "tokens of a page">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLayers", "layers", "attentions that were raised">
  ];
}

def KVRaisePositions : Pass<"kv-raise-positions", "::mlir::ModuleOp"> {
  let summary = "numbers of rows become positions";
  let description = [{
    Where a computation uses the index of a loop over rows as a number, it gets
    the token's position from `kv.positions`. Where the index only says which row
    of a tensor of rows is read it stays. Runs after `kv-raise-attention`.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numPositions", "positions", "row numbers that became positions">
  ];
}

def KVRaiseRows : Pass<"kv-raise-rows", "::mlir::ModuleOp"> {
  let summary = "a raised graph becomes an entry on ragged rows";
  let description = [{
    The tokens `[1, T]` become `tokens` i32 `[T]` of several sequences, one after
    the other; what follows the last attention is computed for the rows
    `logit_rows` alone; the result is `logits` `[R, vocabulary]`. Runs after
    `kv-raise-positions`.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVRaiseRotations : Pass<"kv-raise-rotations", "::mlir::ModuleOp"> {
  let summary = "heads are read where they are made, and rotated by kv.rope";
  let description = [{
    What `kv.attention` and `kv.store` read, `[T, heads, dim]`, is proven, element by
    element, to be that of a tensor from which it was moved (transposed, repeated
    and sliced), and read from there. With `tables` also what is proven to be a
    rotation of such a tensor: `x[i] * c[i] - x[j] * s[i]` and
    `x[j] * c[i] + x[i] * s[i]` of halves or of neighbours, perhaps of the first elements
    alone, perhaps times a number behind it. It becomes a `kv.rope`; c and s, which positions
    and weights alone decide, are a weight of their own, and `kv.computed` says how it is
    computed. So is a row of a weight that is one number, where elements are computed with it.
  }];
  let options = [
    Option<"tables", "tables", "bool", "false",
           "rotations read a table of angles, a weight to be computed">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numRotations", "rotations", "rotations that were found">
  ];
}

def KVRaiseForms : Pass<"kv-raise-forms", "::mlir::ModuleOp"> {
  let summary = "a raised module has rows [T, W] and no copies that only move";
  let description = [{
    Takes away dimensions of one, reads elements at a loop's own indices as operands,
    and joins conversions of integers, copies, so that transpositions which meet cancel
    each other, and what is computed for a sum alone, with what reads them. A token's
    id is inside of the table that it is looked up in: what only wraps or clamps it goes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVExpandAttention : Pass<"kv-expand-attention", "::mlir::ModuleOp"> {
  let summary = "a graph without a cache becomes an entry that has none";
  let description = [{
    Each `tm_tensor.attention` becomes products and a softmax, and the function
    an entry: `tokens` i32 `[T]` of one sequence to `logits` of all. It is what a
    raised module is compared with.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def KVRaiseProducts : Pass<"kv-raise-products", "::mlir::ModuleOp"> {
  let summary = "products with weights get the form that has kernels";
  let description = [{
    A `linalg.matmul` whose right side is a transposed matrix, or one of bf16 that
    was widened, reads that matrix itself, joined tensors become slices, and powers with small whole exponents
    products.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def KVRaiseExperts : Pass<"kv-raise-experts", "::mlir::ModuleOp"> {
  let summary = "copies of chosen matrices that are multiplied become products";
  let description = [{
    A sum over k of `x[t, k] * m[t, c, n, k]` (x perhaps by choice, m perhaps
    `[t, c, k, n]`), where m is the matrix of a weight `[E, N, K]` whose number is
    computed from row t and choice c alone, is a `kv.expert_matmul`. A weight that is
    read in another way as well stays as it is.
  }];
  let statistics = [Statistic<"numProducts", "products", "products with experts">];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def KVRaiseWeights : Pass<"kv-raise-weights", "::mlir::ModuleOp"> {
  let summary = "weights that are only multiplied become [N, K]";
  let description = [{
    A weight that the graph transposes or reshapes before it is multiplied with,
    always in the same way, becomes an argument `[N, K]`, and `kv.stored` says of
    which shape its tensor in the file is, and in which order its dimensions are
    read. With `dtype=bf16` matrices that are multiplied or looked up are bf16;
    vectors stay f32.
  }];
  let options = [
    Option<"dtypeName", "dtype", "std::string", "\"f32\"",
           "element type of matrices: f32 (as the graph has them) or bf16">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numRestored", "restored", "weights that became [N, K]">,
    Statistic<"numNarrowed", "narrowed", "matrices that became bf16">
  ];
}

#endif // KV_PASSES_RAISEPASSES_TD
