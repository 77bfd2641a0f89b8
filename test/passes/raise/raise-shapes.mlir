// A graph of two sequences of 12 tokens is one for each sequence of up to 12: tables and masks are made for
// as many, and heads of the batch are those of one member.
//
// RUN: kv-opt --allow-unregistered-dialect --kv-raise-shapes --canonicalize %s | FileCheck %s
// RUN: kv-opt --allow-unregistered-dialect "--kv-raise=dtype=f32 page=16" %s | FileCheck %s --check-prefix=RAISED

// CHECK: module attributes {kv.model = {max_seq_len = 12 : i64, name = "t"}}
// CHECK: func.func @forward(%{{.*}}: tensor<1x?xi64>
// CHECK-SAME: -> tensor<1x?x32xf32>
// CHECK-NOT: x12
// CHECK: "tm_tensor.attention"
// CHECK-SAME: (tensor<4x?x16xf32>, tensor<4x?x16xf32>, tensor<4x?x16xf32>, tensor<4x?x?xi1>, tensor<4x?x16xf32>) -> tensor<4x?x16xf32>

// RAISED: func.func @forward(%{{.*}}: tensor<?xi32>
// RAISED: kv.positions
// RAISED: kv.attention %{{.*}} mask <causal>
// RAISED: -> tensor<?x32xf32>

#both = affine_map<(b, t, e) -> (b, t, e)>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func @forward(%ids: tensor<2x12xi64>, %embed: tensor<32x64xf32> {kv.weight = "embed"},
                     %head: tensor<32x64xf32>, %places: tensor<12x64xf32> {kv.weight = "places"}) -> tensor<2x12x32xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x12x64xf32>
    %x = linalg.generic {indexing_maps = [affine_map<(b, t, e) -> (b, t)>, affine_map<(b, t, e) -> (t, e)>, #both], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%ids, %places : tensor<2x12xi64>, tensor<12x64xf32>) outs(%e : tensor<2x12x64xf32>) {
    ^bb0(%id: i64, %place: f32, %out: f32):
      %i = arith.index_cast %id : i64 to index
      %j = linalg.index 2 : index
      %v = tensor.extract %embed[%i, %j] : tensor<32x64xf32>
      %s = arith.addf %v, %place : f32
      linalg.yield %s : f32
    } -> tensor<2x12x64xf32>
    %q3 = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [2, 12, 4, 16] : tensor<2x12x64xf32> into tensor<2x12x4x16xf32>
    %qe = tensor.empty() : tensor<2x4x12x16xf32>
    %q4 = linalg.transpose ins(%q3 : tensor<2x12x4x16xf32>) outs(%qe : tensor<2x4x12x16xf32>) permutation = [0, 2, 1, 3]
    %q = tensor.collapse_shape %q4 [[0, 1], [2], [3]] : tensor<2x4x12x16xf32> into tensor<8x12x16xf32>
    %me = tensor.empty() : tensor<12x12xi1>
    %mask2 = linalg.generic {indexing_maps = [affine_map<(q, k) -> (q, k)>], iterator_types = ["parallel", "parallel"]}
        outs(%me : tensor<12x12xi1>) {
    ^bb0(%out: i1):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %v = arith.cmpi sle, %j, %i : index
      linalg.yield %v : i1
    } -> tensor<12x12xi1>
    %m3e = tensor.empty() : tensor<8x12x12xi1>
    %mask = linalg.broadcast ins(%mask2 : tensor<12x12xi1>) outs(%m3e : tensor<8x12x12xi1>) dimensions = [0]
    %ie = tensor.empty() : tensor<8x12x16xf32>
    %init = linalg.fill ins(%zero : f32) outs(%ie : tensor<8x12x16xf32>) -> tensor<8x12x16xf32>
    %o = "tm_tensor.attention"(%q, %q, %q, %mask, %init) <{operandSegmentSizes = array<i32: 4, 1>, scale = 2.5e-01 : f64}>
        : (tensor<8x12x16xf32>, tensor<8x12x16xf32>, tensor<8x12x16xf32>, tensor<8x12x12xi1>, tensor<8x12x16xf32>) -> tensor<8x12x16xf32>
    %o4 = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 12, 16] : tensor<8x12x16xf32> into tensor<2x4x12x16xf32>
    %oe = tensor.empty() : tensor<2x12x4x16xf32>
    %ot = linalg.transpose ins(%o4 : tensor<2x4x12x16xf32>) outs(%oe : tensor<2x12x4x16xf32>) permutation = [0, 2, 1, 3]
    // Rows of all members as those of one matrix.
    %r = tensor.collapse_shape %ot [[0, 1], [2, 3]] : tensor<2x12x4x16xf32> into tensor<24x64xf32>
    %he = tensor.empty() : tensor<64x32xf32>
    %ht = linalg.transpose ins(%head : tensor<32x64xf32>) outs(%he : tensor<64x32xf32>) permutation = [1, 0]
    %le = tensor.empty() : tensor<24x32xf32>
    %lz = linalg.fill ins(%zero : f32) outs(%le : tensor<24x32xf32>) -> tensor<24x32xf32>
    %l = linalg.matmul ins(%r, %ht : tensor<24x64xf32>, tensor<64x32xf32>) outs(%lz : tensor<24x32xf32>) -> tensor<24x32xf32>
    %logits = tensor.expand_shape %l [[0, 1], [2]] output_shape [2, 12, 32] : tensor<24x32xf32> into tensor<2x12x32xf32>
    return %logits : tensor<2x12x32xf32>
  }
}
