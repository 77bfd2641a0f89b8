// A graph without a cache becomes an entry: one attention of 4 query heads whose keys are 2 heads,
// each repeated, a window that is written in an unusual way, positions as numbers, and a sum that
// only the wanted rows need.
//
// RUN: kv-opt --allow-unregistered-dialect "--kv-raise=dtype=f32 page=16" %s | FileCheck %s
// RUN: kv-opt --allow-unregistered-dialect "--kv-raise=dtype=f32 page=16" --remarks-filter=kv-raise %s \
// RUN:   -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: kv-opt --allow-unregistered-dialect --kv-raise --kv-cpu %s | FileCheck %s --check-prefix=CPU

// CHECK: func.func @forward(%[[TOKENS:.*]]: tensor<?xi32> {kv.dims = ["T"], kv.name = "tokens"},
// CHECK-SAME: tensor<32x64xf32> {kv.weight = "embed"}, %{{.*}}: tensor<32x64xf32> {kv.weight = "arg2"},
// CHECK-SAME: %[[OFFSETS:.*]]: tensor<?xi32> {kv.dims = ["offsets"], kv.name = "row_offsets"},
// CHECK-SAME: %[[KV:.*]]: !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 16, window = 7> {kv.name = "kv"},
// CHECK-SAME: %[[ROWS:.*]]: tensor<?xi32> {kv.dims = ["R"], kv.name = "logit_rows"})
// CHECK-SAME: -> (tensor<?x32xf32> {kv.dims = ["R"], kv.name = "logits"}) attributes {kv.entry}
// CHECK: %[[POSITIONS:.*]] = kv.positions %[[KV]], %[[OFFSETS]]
// The position is a number, and the row of x that is read is not.
// CHECK: linalg.generic {{.*}} ins(%[[POSITIONS]], %{{.*}} : tensor<?xi32>, tensor<?x64xf32>)
// CHECK: %[[Q:.*]] = tensor.expand_shape %{{.*}} : tensor<?x64xf32> into tensor<?x4x16xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [2, %{{.*}}, 16] [2, 1, 1] : tensor<4x?x16xf32>
// CHECK: kv.store %{{.*}} into %[[KV]][%{{.*}}] rows %[[OFFSETS]] : tensor<?x2x16xf32>
// CHECK: kv.attention %[[Q]] in %[[KV]][%{{.*}}] rows %[[OFFSETS]] mask <sliding = 7> scale 5.000000e-01 : tensor<?x4x16xf32>
// CHECK-NOT: tensor<?x?
// CHECK: %[[COUNT:.*]] = tensor.dim %[[ROWS]]
// CHECK: linalg.matmul indexing_maps = [{{.*}}] ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<32x64xf32>)
// CHECK-NOT: tm_tensor
// CHECK-NOT: cf.assert

// REMARK-DAG: Tokens
// REMARK-DAG: layer 0 of !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 16, window = 7>: 4 query heads read 2 KV heads, #kv.mask<sliding = 7>, scale 0.5
// REMARK-DAG: Positions

// CPU: llvm.func @kv_entry_forward

#row = affine_map<(t, e) -> (t)>
#both = affine_map<(t, e) -> (t, e)>
#q = affine_map<(q, k) -> (q)>
#k = affine_map<(q, k) -> (k)>
#all3 = affine_map<(h, q, k) -> (h, q, k)>
#grid3 = affine_map<(h, q, k) -> (q, k)>
#all4 = affine_map<(h, g, t, d) -> (h, g, t, d)>
#one4 = affine_map<(h, g, t, d) -> (h, t, d)>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func @forward(%ids: tensor<1x?xi64>, %embed: tensor<32x64xf32> {kv.weight = "embed"},
                     %head: tensor<32x64xf32>) -> tensor<1x?x32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0_i64 = arith.constant 0 : i64
    %zero = arith.constant 0.0 : f32
    // Scores stay small, so that every key that is seen counts.
    %thirtieth = arith.constant 0.03125 : f32
    %hidden = arith.constant -3.0e38 : f32
    %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
    %t64 = arith.index_cast %t : index to i64
    %positive = arith.cmpi sgt, %t64, %c0_i64 : i64
    cf.assert %positive, "there are tokens"
    %all = arith.muli %t, %c64 : index
    %flat_size = arith.divsi %all, %c64 : index
    %ids1 = tensor.collapse_shape %ids [[0, 1]] : tensor<1x?xi64> into tensor<?xi64>
    %e = tensor.empty(%flat_size) : tensor<?x64xf32>
    %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%ids1 : tensor<?xi64>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%id: i64, %out: f32):
      %i = arith.index_cast %id : i64 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %embed[%i, %j] : tensor<32x64xf32>
      linalg.yield %v : f32
    } -> tensor<?x64xf32>
    %y = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]}
        outs(%e : tensor<?x64xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i64 = arith.index_cast %i : index to i64
      %p = arith.sitofp %i64 : i64 to f32
      %v = tensor.extract %x[%i, %j] : tensor<?x64xf32>
      %little = arith.mulf %p, %thirtieth : f32
      %s = arith.addf %v, %little : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    %q3 = tensor.expand_shape %y [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
    %qe = tensor.empty(%t) : tensor<4x?x16xf32>
    %q = linalg.transpose ins(%q3 : tensor<?x4x16xf32>) outs(%qe : tensor<4x?x16xf32>) permutation = [1, 0, 2]
    %half = tensor.extract_slice %q[0, 0, 0] [2, %t, 16] [1, 1, 1] : tensor<4x?x16xf32> to tensor<2x?x16xf32>
    %we = tensor.empty(%t) : tensor<2x2x?x16xf32>
    %wide = linalg.generic {indexing_maps = [#one4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%half : tensor<2x?x16xf32>) outs(%we : tensor<2x2x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x?x16xf32>
    %kv = tensor.collapse_shape %wide [[0, 1], [2], [3]] : tensor<2x2x?x16xf32> into tensor<4x?x16xf32>
    // Visible where not (k > q or q - 7 >= k).
    %ie = tensor.empty(%t) : tensor<?xi64>
    %iota = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>], iterator_types = ["parallel"]}
        outs(%ie : tensor<?xi64>) {
    ^bb0(%out: i64):
      %i = linalg.index 0 : index
      %v = arith.index_cast %i : index to i64
      linalg.yield %v : i64
    } -> tensor<?xi64>
    %c7 = arith.constant 7 : i64
    %me = tensor.empty(%t, %t) : tensor<?x?xf32>
    %mask2 = linalg.generic {indexing_maps = [#q, #k, affine_map<(q, k) -> (q, k)>], iterator_types = ["parallel", "parallel"]}
        ins(%iota, %iota : tensor<?xi64>, tensor<?xi64>) outs(%me : tensor<?x?xf32>) {
    ^bb0(%qi: i64, %ki: i64, %out: f32):
      %later = arith.cmpi sgt, %ki, %qi : i64
      %back = arith.subi %qi, %c7 : i64
      %gone = arith.cmpi sge, %back, %ki : i64
      %hide = arith.ori %later, %gone : i1
      %v = arith.select %hide, %hidden, %zero : f32
      linalg.yield %v : f32
    } -> tensor<?x?xf32>
    %m3e = tensor.empty(%t, %t) : tensor<4x?x?xf32>
    %mask = linalg.generic {indexing_maps = [#grid3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%mask2 : tensor<?x?xf32>) outs(%m3e : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %init = linalg.fill ins(%zero : f32) outs(%qe : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %o = "tm_tensor.attention"(%q, %kv, %kv, %mask, %init) <{operandSegmentSizes = array<i32: 4, 1>, scale = 5.0e-01 : f64}>
        : (tensor<4x?x16xf32>, tensor<4x?x16xf32>, tensor<4x?x16xf32>, tensor<4x?x?xf32>, tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %oe = tensor.empty(%t) : tensor<?x4x16xf32>
    %ot = linalg.transpose ins(%o : tensor<4x?x16xf32>) outs(%oe : tensor<?x4x16xf32>) permutation = [1, 0, 2]
    %oc = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
    %r = linalg.add ins(%oc, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
    %he = tensor.empty() : tensor<64x32xf32>
    %ht = linalg.transpose ins(%head : tensor<32x64xf32>) outs(%he : tensor<64x32xf32>) permutation = [1, 0]
    %le = tensor.empty(%t) : tensor<?x32xf32>
    %lz = linalg.fill ins(%zero : f32) outs(%le : tensor<?x32xf32>) -> tensor<?x32xf32>
    %l = linalg.matmul ins(%r, %ht : tensor<?x64xf32>, tensor<64x32xf32>) outs(%lz : tensor<?x32xf32>) -> tensor<?x32xf32>
    %logits = tensor.expand_shape %l [[0, 1], [2]] output_shape [1, %t, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %logits : tensor<1x?x32xf32>
  }
}
