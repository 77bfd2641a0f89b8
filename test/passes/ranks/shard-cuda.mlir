// For GPUs a rank's part of what is whole is a view, a gather is a launch, and a table of which rows
// are looked up stays whole.
//
// RUN: kv-opt %s --kv-shard="ranks=2 target=cuda" --canonicalize --cse | FileCheck %s
// RUN: kv-opt %s --kv-shard="ranks=2 target=cuda" --kv-form-launches --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=LAUNCH
// RUN: kv-opt %s --kv-shard="ranks=2 target=cuda" -o /dev/null --remarks-filter="kv-shard" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// REMARK-DAG: a rank has 48 of each 80 rows of w
// REMARK-DAG: every rank has all of table
// REMARK-DAG: every rank has all of uneven

// The rank's half of a bias, and what the ranks have, of which the last has less.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: tensor<48x64xbf16> {kv.shard = {{.*}}: tensor<32x64xbf16> {kv.shard
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<64xf32>
// CHECK: kv.gather %{{.*}} dim 1 shard 48 of 80 ranks 2 : tensor<?x48xf32> -> tensor<?x80xf32>
// CHECK: %[[RANK:.*]] = kv.rank
// CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %c32
// CHECK: tensor.extract_slice %[[BIAS]][%[[FIRST]]] [32] [1] : tensor<64xf32> to tensor<32xf32>
// CHECK: kv.gather %{{.*}} dim 1 shard 32 of 64 ranks 2 : tensor<?x32xf32> -> tensor<?x64xf32>
//
// LAUNCH-LABEL: func.func @columns(
// LAUNCH: %[[ROWS:.*]] = tensor.dim %{{.*}}, %c0
// LAUNCH: %[[PART:.*]] = kv.rt.launch "matmul"
// LAUNCH: %[[ALL:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x80xf32>
// LAUNCH: kv.rt.launch "gather"(%[[PART]], %c48_i64, %c80_i64, %c2_i64, %c1_i64) outs(%[[ALL]])
// LAUNCH-SAME: : tensor<?x48xf32>, i64, i64, i64, i64 outs tensor<?x80xf32> -> tensor<?x80xf32>
// LAUNCH: tensor.extract_slice
// LAUNCH: kv.rt.launch "pair"
// LAUNCH: kv.rt.launch "gather"(%{{.*}}, %c32_i64, %c64_i64, %c2_i64, %c1_i64)
func.func @columns(%x: tensor<?x64xf32>, %w: tensor<80x64xbf16> {kv.weight = "w"},
                   %v: tensor<64x64xbf16> {kv.weight = "v"},
                   %bias: tensor<64xf32> {kv.weight = "bias"})
    -> (tensor<?x80xf32>, tensor<?x64xf32>) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %a_empty = tensor.empty(%rows) : tensor<?x80xf32>
  %a_zero = linalg.fill ins(%zero : f32) outs(%a_empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %a = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x64xf32>, tensor<80x64xbf16>)
      outs(%a_zero : tensor<?x80xf32>) -> tensor<?x80xf32>
  %b_empty = tensor.empty(%rows) : tensor<?x64xf32>
  %b_zero = linalg.fill ins(%zero : f32) outs(%b_empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %b = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %v : tensor<?x64xf32>, tensor<64x64xbf16>)
      outs(%b_zero : tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%b, %bias : tensor<?x64xf32>, tensor<64xf32>) outs(%b_empty : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %sum = arith.addf %p, %q : f32
    linalg.yield %sum : f32
  } -> tensor<?x64xf32>
  return %a, %c : tensor<?x80xf32>, tensor<?x64xf32>
}

// Of a table that is multiplied as well, a product takes the rank's rows, where there are equally
// many. Otherwise all ranks compute all of it. What is only cast is cast before it is exchanged.
// CHECK-LABEL: func.func @tables(
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: tensor<64x64xbf16>
// CHECK-SAME: %[[UNEVEN:[a-z0-9]+]]: tensor<80x64xbf16>
// CHECK: linalg.generic
// CHECK: tensor.extract %[[TABLE]]
// CHECK: %[[HALF:.*]] = tensor.extract_slice %[[TABLE]][%{{.*}}, 0] [32, 64] [1, 1]
// CHECK: linalg.matmul {{.*}} ins(%{{.*}}, %[[HALF]] :
// CHECK: kv.gather %{{.*}} dim 1 shard 32 of 64 ranks 2
// CHECK: tensor.extract %[[UNEVEN]]
// CHECK: linalg.matmul {{.*}} ins(%{{.*}}, %[[UNEVEN]] :
// CHECK-NOT: kv.gather
//
// LAUNCH-LABEL: func.func @tables(
// LAUNCH: %[[OWN:.*]] = kv.rt.launch "matmul"({{.*}} -> tensor<?x32xbf16>
// LAUNCH: kv.rt.launch "gather"(%[[OWN]], {{.*}} outs tensor<?x64xbf16> -> tensor<?x64xbf16>
// LAUNCH-NOT: "gather"
func.func @tables(%ids: tensor<?xi32>, %table: tensor<64x64xbf16> {kv.weight = "table"},
                  %uneven: tensor<80x64xbf16> {kv.weight = "uneven"})
    -> (tensor<?x64xbf16>, tensor<?x80xf32>) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %x_empty = tensor.empty(%n) : tensor<?x64xf32>
  %narrow_empty = tensor.empty(%n) : tensor<?x64xbf16>
  %x = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%x_empty : tensor<?x64xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %table[%at, %j] : tensor<64x64xbf16>
    %w = arith.extf %e : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x64xf32>
  %a_empty = tensor.empty(%n) : tensor<?x64xf32>
  %a_zero = linalg.fill ins(%zero : f32) outs(%a_empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %table : tensor<?x64xf32>, tensor<64x64xbf16>)
      outs(%a_zero : tensor<?x64xf32>) -> tensor<?x64xf32>
  %narrow = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x64xf32>) outs(%narrow_empty : tensor<?x64xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %y = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%x_empty : tensor<?x64xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %uneven[%at, %j] : tensor<80x64xbf16>
    %w = arith.extf %e : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x64xf32>
  %b_empty = tensor.empty(%n) : tensor<?x80xf32>
  %b_zero = linalg.fill ins(%zero : f32) outs(%b_empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %b = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%y, %uneven : tensor<?x64xf32>, tensor<80x64xbf16>)
      outs(%b_zero : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %narrow, %b : tensor<?x64xbf16>, tensor<?x80xf32>
}
