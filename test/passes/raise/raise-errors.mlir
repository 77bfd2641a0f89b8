// What cannot be proven is refused, by the operation.
//
// RUN: %rows %s | kv-opt --allow-unregistered-dialect --kv-raise --split-input-file --verify-diagnostics

// -----

// A token sees later ones: an encoder.
func.func @encoder(%ids: tensor<1x?xi64>, %x: tensor<2x4xf32>) -> tensor<1x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %e = tensor.empty(%t) : tensor<2x?x4xf32>
  %q = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %me = tensor.empty(%t, %t) : tensor<2x?x?xi1>
  %m = linalg.fill ins(%true : i1) outs(%me : tensor<2x?x?xi1>) -> tensor<2x?x?xi1>
  // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask shows later tokens, the query at 0 and the key at 1 of 2 tokens: no cache can have them}}
  %o = "tm_tensor.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 4, 1>}> : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x?xi1>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %oe = tensor.empty(%t) : tensor<?x2x4xf32>
  %ot = linalg.transpose ins(%o : tensor<2x?x4xf32>) outs(%oe : tensor<?x2x4xf32>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %l = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, %t, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  return %l : tensor<1x?x8xf32>
}

// -----

// The mean of all tokens.
func.func @pools(%ids: tensor<1x?xi64>) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %ids [[0, 1]] : tensor<1x?xi64> into tensor<?xi64>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{'linalg.generic' op kv-raise: combines the rows of the sequence}}
  %s = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (d)>], iterator_types = ["reduction", "parallel"]}
      ins(%flat : tensor<?xi64>) outs(%f : tensor<8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %v = arith.sitofp %in : i64 to f32
    %a = arith.addf %v, %out : f32
    linalg.yield %a : f32
  } -> tensor<8xf32>
  %re = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (d)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8xf32>) outs(%re : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Divides by the number of tokens.
func.func @reads_length(%ids: tensor<?xi64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %i = arith.index_cast %t : index to i64
  %re = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%re : tensor<?x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    // expected-error @below {{'arith.divsi' op kv-raise: reads the length of the sequence (T)}}
    %d = arith.divsi %in, %i : i64
    %v = arith.sitofp %d : i64 to f32
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// The length reaches a computation as the element of a tensor.
func.func @hides_length(%ids: tensor<?xi64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %i = arith.index_cast %t : index to i64
  // expected-error @below {{'tensor.from_elements' op kv-raise: reads the length of the sequence (T)}}
  %n = tensor.from_elements %i : tensor<1xi64>
  %re = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (0)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids, %n : tensor<?xi64>, tensor<1xi64>) outs(%re : tensor<?x8xf32>) {
  ^bb0(%in: i64, %n1: i64, %out: f32):
    %d = arith.divsi %in, %n1 : i64
    %v = arith.sitofp %d : i64 to f32
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Reads the token before its own.
func.func @shifts(%ids: tensor<?xi64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %re = tensor.empty(%t) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      outs(%re : tensor<?x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %i, %c1 : index
    %k = arith.maxsi %j, %c0 : index
    // expected-error @below {{'tensor.extract' op kv-raise: reads other rows than its own}}
    %id = tensor.extract %ids[%k] : tensor<?xi64>
    %v = arith.sitofp %id : i64 to f32
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Takes the first tokens.
func.func @part(%ids: tensor<?xi64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %u = arith.subi %t, %c1 : index
  // expected-error @below {{'tensor.extract_slice' op kv-raise: the size of dimension 0 of 'tensor<?xi64>' is T + -1; only the length of the sequence may be dynamic}}
  %s = tensor.extract_slice %ids[0] [%u] [1] : tensor<?xi64> to tensor<?xi64>
  %re = tensor.empty(%u) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?xi64>) outs(%re : tensor<?x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %v = arith.sitofp %in : i64 to f32
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// A check that some lengths fail.
func.func @asserts(%ids: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %small = arith.cmpi slt, %t, %c9 : index
  // expected-error @below {{'cf.assert' op kv-raise: "short" is not true of every length}}
  cf.assert %small, "short"
  return %ids : tensor<?xi64>
}

// -----

// expected-error @below {{kv-raise: the graph has no attention (tm_tensor.attention)}}
func.func @no_attention(%ids: tensor<?xi64>) -> tensor<?xi64> {
  return %ids : tensor<?xi64>
}

// -----

// expected-error @below {{kv-raise: argument 1 of type 'tensor<?xf32>' has a dynamic size; only the tokens may, integers [1, T] or [T], once}}
func.func @two_lengths(%ids: tensor<?xi64>, %w: tensor<?xf32>) -> tensor<?xi64> {
  return %ids : tensor<?xi64>
}

// -----

func.func @unknown(%ids: tensor<?xi64>) -> tensor<?xi64> {
  // expected-error @below {{'x.sort' op kv-raise: the size of dimension 0 of 'tensor<?xi64>' is not known; only the length of the sequence may be dynamic}}
  %s = "x.sort"(%ids) : (tensor<?xi64>) -> tensor<?xi64>
  return %s : tensor<?xi64>
}

// -----

// A softmax that does not divide by its own sum is no attention.
func.func @no_softmax(%ids: tensor<1x?xi64>) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%t) : tensor<1x?x8xf32>
  %v = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %we = tensor.empty(%t, %t) : tensor<1x?x?xf32>
  %w = linalg.fill ins(%zero : f32) outs(%we : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  // expected-error @below {{'linalg.batch_matmul' op kv-raise: combines the rows of the sequence}}
  %o = linalg.batch_matmul ins(%w, %v : tensor<1x?x?xf32>, tensor<1x?x8xf32>) outs(%v : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %r = tensor.collapse_shape %o [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Softmax over all keys but the last, of which the sum is taken over a slice.
func.func @part_of_softmax(%ids: tensor<1x?xi64>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %t1 = arith.subi %t, %c1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %qe = tensor.empty(%t) : tensor<1x?x4xf32>
  %q = linalg.fill ins(%zero : f32) outs(%qe : tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  %ke = tensor.empty(%t) : tensor<1x4x?xf32>
  %k = linalg.fill ins(%zero : f32) outs(%ke : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %se = tensor.empty(%t, %t) : tensor<1x?x?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  %s1 = linalg.batch_matmul ins(%q, %k : tensor<1x?x4xf32>, tensor<1x4x?xf32>) outs(%s0 : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s1 : tensor<1x?x?xf32>) outs(%se : tensor<1x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c = arith.cmpi sle, %j, %i : index
    %v = arith.select %c, %in, %low : f32
    linalg.yield %v : f32
  } -> tensor<1x?x?xf32>
  %re = tensor.empty(%t) : tensor<1x?xf32>
  %r0 = linalg.fill ins(%low : f32) outs(%re : tensor<1x?xf32>) -> tensor<1x?xf32>
  // expected-error @below {{'linalg.generic' op kv-raise: combines the rows of the sequence}}
  %m = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (h, q)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x?x?xf32>) outs(%r0 : tensor<1x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.maximumf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<1x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (h, q)>, affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<1x?x?xf32>, tensor<1x?xf32>) outs(%se : tensor<1x?x?xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %d = arith.subf %in, %most : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  } -> tensor<1x?x?xf32>
  %xs = tensor.extract_slice %x[0, 0, 0] [1, %t, %t1] [1, 1, 1] : tensor<1x?x?xf32> to tensor<1x?x?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%re : tensor<1x?xf32>) -> tensor<1x?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (h, q)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs : tensor<1x?x?xf32>) outs(%z0 : tensor<1x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<1x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (h, q)>, affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %z : tensor<1x?x?xf32>, tensor<1x?xf32>) outs(%se : tensor<1x?x?xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %v = arith.divf %in, %sum : f32
    linalg.yield %v : f32
  } -> tensor<1x?x?xf32>
  %o = linalg.batch_matmul ins(%p, %q : tensor<1x?x?xf32>, tensor<1x?x4xf32>) outs(%q : tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  %y = tensor.collapse_shape %o [[0, 1], [2]] : tensor<1x?x4xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// More rows than a table of positions has.
module attributes {kv.model = {name = "m", max_seq_len = 65 : i64}} {
  func.func @short_table(%tokens: tensor<?xi32>, %table: tensor<64x8xf32> {kv.weight = "p"}) -> tensor<?x8xf32> {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    // expected-error @+1 {{kv-raise: takes a row for each token of a table with 64, and max_seq_len is 65}}
    %rows = tensor.extract_slice %table[0, 0] [%t, 8] [1, 1] : tensor<64x8xf32> to tensor<?x8xf32>
    return %rows : tensor<?x8xf32>
  }
}

// -----

// A number that is added to some keys alone is no multiple of the position.
func.func @adds_to_some(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%t) : tensor<2x?x4xf32>
  %q = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %me = tensor.empty(%t, %t) : tensor<2x?x?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%me : tensor<2x?x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %first = arith.cmpi slt, %j, %c3 : index
    %more = arith.select %first, %two, %zero : f32
    %later = arith.cmpi sgt, %j, %i : index
    %v = arith.select %later, %low, %more : f32
    linalg.yield %v : f32
  } -> tensor<2x?x?xf32>
  // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask adds a number at the query at 3 and the key at 3 of 4 tokens that is not linear in the positions}}
  %o = "tm_tensor.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 4, 1>}> : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x?xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %oe = tensor.empty(%t) : tensor<?x2x4xf32>
  %ot = linalg.transpose ins(%o : tensor<2x?x4xf32>) outs(%oe : tensor<?x2x4xf32>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %l = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, %t, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  return %l : tensor<1x?x8xf32>
}

// -----

// Positions of 16 bits are not those that a cache has.
like @adds_to_some
- func.func @adds_to_some(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @rounds_positions(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %two = arith.constant 2.0 : f32
+
- %c3 = arith.constant 3 : index
- %first = arith.cmpi slt, %j, %c3 : index
- %more = arith.select %first, %two, %zero : f32
+ %k = arith.index_cast %j : index to i64
+ // expected-note @below {{'arith.sitofp': computes with positions other than linearly}}
+ %short = arith.sitofp %k : i64 to bf16
+ %number = arith.extf %short : bf16 to f32
- %v = arith.select %later, %low, %more : f32
+ %v = arith.select %later, %low, %number : f32
- // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask adds a number at the query at 3 and the key at 3 of 4 tokens that is not linear in the positions}}
+ // expected-error @below {{'tm_tensor.attention' op kv-raise: cannot prove what its mask shows}}

// -----

// The first four keys are seen always: a window and its beginning.
func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%t) : tensor<2x?x4xf32>
  %q = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %me = tensor.empty(%t, %t) : tensor<2x?x?xi1>
  %m = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%me : tensor<2x?x?xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %first = arith.cmpi slt, %j, %c4 : index
    %far = arith.subi %i, %j : index
    %near = arith.cmpi slt, %far, %c8 : index
    %some = arith.ori %first, %near : i1
    %seen = arith.cmpi sle, %j, %i : index
    %v = arith.andi %some, %seen : i1
    linalg.yield %v : i1
  } -> tensor<2x?x?xi1>
  // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask is neither causal nor a window nor chunks: see the query at}}
  %o = "tm_tensor.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 4, 1>}> : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x?xi1>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %oe = tensor.empty(%t) : tensor<?x2x4xf32>
  %ot = linalg.transpose ins(%o : tensor<2x?x4xf32>) outs(%oe : tensor<?x2x4xf32>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %l = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, %t, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  return %l : tensor<1x?x8xf32>
}

// -----

// A prefix of four tokens that see each other: the first one would have to wait for the fourth.
like @keeps_first
- func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @prefix(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %far = arith.subi %i, %j : index
- %near = arith.cmpi slt, %far, %c8 : index
- %some = arith.ori %first, %near : i1
+
- %v = arith.andi %some, %seen : i1
+ %v = arith.ori %first, %seen : i1
- // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask is neither causal nor a window nor chunks: see the query at}}
+ // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask shows later tokens, the query at 0 and the key at 1 of 2 tokens: no cache can have them}}

// -----

// The own chunk and the one before.
like @keeps_first
- func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @two_chunks(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %c8 = arith.constant 8 : index
- %first = arith.cmpi slt, %j, %c4 : index
- %far = arith.subi %i, %j : index
- %near = arith.cmpi slt, %far, %c8 : index
- %some = arith.ori %first, %near : i1
+ %qc = arith.divui %i, %c4 : index
+ %kc = arith.divui %j, %c4 : index
+ %c1_0 = arith.constant 1 : index
+ %last = arith.subi %qc, %c1_0 : index
+ // expected-note @below {{'arith.cmpi': compares chunks of positions other than by their difference}}
+ %same = arith.cmpi sle, %last, %kc : index
- %v = arith.andi %some, %seen : i1
+ %v = arith.andi %same, %seen : i1
- // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask is neither causal nor a window nor chunks: see the query at}}
+ // expected-error @below {{'tm_tensor.attention' op kv-raise: cannot prove what its mask shows}}

// -----

// The own chunk, and all keys at the beginning of one.
like @keeps_first
- func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @chunk_beginnings(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %c8 = arith.constant 8 : index
- %first = arith.cmpi slt, %j, %c4 : index
- %far = arith.subi %i, %j : index
- %near = arith.cmpi slt, %far, %c8 : index
- %some = arith.ori %first, %near : i1
+ %qc = arith.divui %i, %c4 : index
+ // expected-note @below {{'arith.divui': is not known of a mask}}
+ %kc = arith.divui %j, %c4 : index
+ %same = arith.cmpi eq, %qc, %kc : index
+ %b = arith.muli %kc, %c4 : index
+ %is = arith.cmpi eq, %b, %j : index
+ %some = arith.ori %same, %is : i1
- // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask is neither causal nor a window nor chunks: see the query at}}
+ // expected-error @below {{'tm_tensor.attention' op kv-raise: cannot prove what its mask shows}}

// -----

// The own chunk, but of the first one none.
like @keeps_first
- func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @not_first_chunk(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %c8 = arith.constant 8 : index
- %first = arith.cmpi slt, %j, %c4 : index
- %far = arith.subi %i, %j : index
- %near = arith.cmpi slt, %far, %c8 : index
- %some = arith.ori %first, %near : i1
+ %qc = arith.divui %i, %c4 : index
+ %kc = arith.divui %j, %c4 : index
+ %c0 = arith.constant 0 : index
+ %same = arith.cmpi eq, %qc, %kc : index
+ %later = arith.cmpi ne, %qc, %c0 : index
+ %some = arith.andi %same, %later : i1

// -----

// The whole chunk: later tokens.
like @keeps_first
- func.func @keeps_first(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
+ func.func @whole_chunk(%ids: tensor<1x?xi64>) -> tensor<1x?x8xf32> {
- %c8 = arith.constant 8 : index
- %first = arith.cmpi slt, %j, %c4 : index
- %far = arith.subi %i, %j : index
- %near = arith.cmpi slt, %far, %c8 : index
- %some = arith.ori %first, %near : i1
- %seen = arith.cmpi sle, %j, %i : index
- %v = arith.andi %some, %seen : i1
+ %qc = arith.divui %i, %c4 : index
+ %kc = arith.divui %j, %c4 : index
+ %v = arith.cmpi eq, %qc, %kc : index
- // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask is neither causal nor a window nor chunks: see the query at}}
+ // expected-error @below {{'tm_tensor.attention' op kv-raise: its mask shows later tokens}}

// -----

// The mean of a batch.
func.func @mixes_batch(%ids: tensor<2x6xi64>) -> tensor<6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  // expected-error @below {{'linalg.generic' op kv-raise: in a graph of 2 x 6 tokens, combines the batch}}
  %s = linalg.generic {indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (t, d)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%ids : tensor<2x6xi64>) outs(%f : tensor<6x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %v = arith.sitofp %in : i64 to f32
    %a = arith.addf %v, %out : f32
    linalg.yield %a : f32
  } -> tensor<6x8xf32>
  return %s : tensor<6x8xf32>
}

// -----

// Each member of the batch has a weight of its own.
func.func @differs_in_batch(%ids: tensor<2x6xi64>, %w: tensor<2x8xf32>) -> tensor<2x6x8xf32> {
  %e = tensor.empty() : tensor<2x6x8xf32>
  // expected-error @below {{'linalg.generic' op kv-raise: in a graph of 2 x 6 tokens, reads what may differ between the members of the batch}}
  %s = linalg.generic {indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (b, d)>, affine_map<(b, t, d) -> (b, t, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids, %w : tensor<2x6xi64>, tensor<2x8xf32>) outs(%e : tensor<2x6x8xf32>) {
  ^bb0(%in: i64, %weight: f32, %out: f32):
    %v = arith.sitofp %in : i64 to f32
    %a = arith.addf %v, %weight : f32
    linalg.yield %a : f32
  } -> tensor<2x6x8xf32>
  return %s : tensor<2x6x8xf32>
}

// -----

// The number of a member of the batch.
func.func @numbers_batch(%ids: tensor<2x6xi64>) -> tensor<2x6x8xf32> {
  %e = tensor.empty() : tensor<2x6x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (b, t, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<2x6xi64>) outs(%e : tensor<2x6x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %b = linalg.index 0 : index
    // expected-error @below {{'arith.index_cast' op kv-raise: in a graph of 2 x 6 tokens, tells the members of the batch apart}}
    %i = arith.index_cast %b : index to i64
    %n = arith.addi %in, %i : i64
    %v = arith.sitofp %n : i64 to f32
    linalg.yield %v : f32
  } -> tensor<2x6x8xf32>
  return %s : tensor<2x6x8xf32>
}

// -----

// Tokens of half of the length.
func.func @halves(%ids: tensor<1x6xi64>) -> tensor<1x3xi64> {
  // expected-error @below {{'tensor.extract_slice' op kv-raise: in a graph of 1 x 6 tokens, takes a part of the sequence, or of the batch}}
  %s = tensor.extract_slice %ids[0, 0] [1, 3] [1, 1] : tensor<1x6xi64> to tensor<1x3xi64>
  return %s : tensor<1x3xi64>
}

// -----

// An order of a whole vocabulary: too many to compare each with all others.
func.func @orders_many(%ids: tensor<?xi64>, %w: tensor<8x2000xf32>) -> tensor<?x2000xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x2000xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x2000xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %w[%i, %j] : tensor<8x2000xf32>
    linalg.yield %v : f32
  } -> tensor<?x2000xf32>
  // expected-error @below {{'tm_tensor.sort' op kv-raise: is none of the operations whose rows can be told apart}}
  %s = "tm_tensor.sort"(%x) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf oge, %a, %b : f32
    "tm_tensor.yield"(%c) : (i1) -> ()
  }) : (tensor<?x2000xf32>) -> tensor<?x2000xf32>
  return %s : tensor<?x2000xf32>
}

// -----

// A sum into memory that nothing has written.
func.func @unwritten(%ids: tensor<?xi64>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %w[%i, %j] : tensor<8x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  // expected-error @below {{kv-raise: reads a tensor that nothing has written}}
  %s = linalg.add ins(%x, %e : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

// -----

// The same where nobody takes what an attention gives: it stays, with what it takes.
func.func @unwritten_and_unused(%ids: tensor<?xi64>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi64>
  %zero = arith.constant 0.0 : f32
  %le = tensor.empty(%t) : tensor<?x4xf32>
  %l = linalg.fill ins(%zero : f32) outs(%le : tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = tensor.empty(%t) : tensor<2x?x4xf32>
  // expected-error @below {{kv-raise: reads a tensor that nothing has written}}
  %q = linalg.exp ins(%e : tensor<2x?x4xf32>) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %me = tensor.empty(%t, %t) : tensor<2x?x?xi1>
  %m = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%me : tensor<2x?x?xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    linalg.yield %seen : i1
  } -> tensor<2x?x?xi1>
  %o = "tm_tensor.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 4, 1>}> : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x?xi1>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %l : tensor<?x4xf32>
}
