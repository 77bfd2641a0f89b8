// RUN: kv-opt %s --kv-shard=ranks=2 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: kv-opt %s --kv-shard=ranks=4 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: kv-opt %s --kv-shard=ranks=1 --canonicalize | FileCheck %s --check-prefix=ONE
// RUN: kv-opt %s --kv-shard=ranks=2 -o /dev/null --remarks-filter="kv-shard" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Three KV heads with two query heads each. Rank 0 of two has two of them, and of four ranks the
// last has none. `heads = ?` is what the store says.

!kv = !kv.collection<paged, bf16, layers = 2, heads = ?, dim = 16, page = 16>

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// REMARK-DAG: a rank has 64 of each 96 rows of wq
// REMARK-DAG: every rank has all of norm
// REMARK-DAG: a rank has 48 of each 80 rows of table

// ONE-NOT: kv.ranks
// ONE: heads = 3
// ONE-NOT: kv.gather
// TWO: kv.ranks = 2
// FOUR: kv.ranks = 4

// CHECK-LABEL: func.func private @layer(
// TWO-SAME: !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 16, page = 16>
// TWO-SAME: tensor<64x64xbf16>, %{{.*}}: tensor<32x64xbf16>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<32x96xbf16>
// FOUR-SAME: heads = 1
// FOUR-SAME: tensor<32x64xbf16>, %{{.*}}: tensor<16x64xbf16>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<16x96xbf16>
func.func private @layer(%x: tensor<?x64xf32>, %kv: !kv, %layer: index, %offsets: tensor<?xi32>,
                         %positions: tensor<?xi32>, %freqs: tensor<64x16xf32>,
                         %wq: tensor<96x64xbf16>, %wk: tensor<48x64xbf16>,
                         %bias: tensor<64xf32>, %wo: tensor<64x96xbf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  // Rows are whole, columns are the rank's.
  // TWO: linalg.matmul {{.*}} ins(%{{.*}} : tensor<?x64xf32>, tensor<64x64xbf16>) {{.*}} -> tensor<?x64xf32>
  // FOUR: linalg.matmul {{.*}} ins(%{{.*}} : tensor<?x64xf32>, tensor<32x64xbf16>) {{.*}} -> tensor<?x32xf32>
  %q_empty = tensor.empty(%rows) : tensor<?x96xf32>
  %q_zero = linalg.fill ins(%zero : f32) outs(%q_empty : tensor<?x96xf32>) -> tensor<?x96xf32>
  %q = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %wq : tensor<?x64xf32>, tensor<96x64xbf16>)
      outs(%q_zero : tensor<?x96xf32>) -> tensor<?x96xf32>
  %k_empty = tensor.empty(%rows) : tensor<?x48xf32>
  %k_zero = linalg.fill ins(%zero : f32) outs(%k_empty : tensor<?x48xf32>) -> tensor<?x48xf32>
  %k = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %wk : tensor<?x64xf32>, tensor<48x64xbf16>)
      outs(%k_zero : tensor<?x48xf32>) -> tensor<?x48xf32>
  // TWO: tensor.expand_shape {{.*}} output_shape [%{{.*}}, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [%rows, 6, 16]
      : tensor<?x96xf32> into tensor<?x6x16xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [%rows, 3, 16]
      : tensor<?x48xf32> into tensor<?x3x16xf32>
  // TWO: kv.rope {{.*}} : tensor<?x4x16xf32>
  // FOUR: kv.rope {{.*}} : tensor<?x2x16xf32>
  %q_rope = kv.rope %q3, %positions, %freqs : tensor<?x6x16xf32>, tensor<?xi32>, tensor<64x16xf32>
  // TWO: kv.store {{.*}} : tensor<?x2x16xf32>, tensor<?x2x16xf32> into
  // FOUR: kv.store {{.*}} : tensor<?x1x16xf32>, tensor<?x1x16xf32> into
  kv.store %k3, %k3 into %kv[%layer] rows %offsets
      : tensor<?x3x16xf32>, tensor<?x3x16xf32> into !kv, tensor<?xi32>
  %o3 = kv.attention %q_rope in %kv[%layer] rows %offsets mask <causal> scale 0.25
      : tensor<?x6x16xf32> in !kv, tensor<?xi32> -> tensor<?x6x16xf32>
  // What the next product takes is gathered, as the heads are: six, not eight.
  // TWO: kv.gather %{{.*}} dim 1 shard 64 of 96 ranks 2 : tensor<?x64xf32> -> tensor<?x96xf32>
  // FOUR: kv.gather %{{.*}} dim 1 shard 32 of 96 ranks 4 : tensor<?x32xf32> -> tensor<?x96xf32>
  %o = tensor.collapse_shape %o3 [[0], [1, 2]] : tensor<?x6x16xf32> into tensor<?x96xf32>
  %y_empty = tensor.empty(%rows) : tensor<?x64xf32>
  %y_zero = linalg.fill ins(%zero : f32) outs(%y_empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  // TWO: linalg.matmul {{.*}} tensor<32x96xbf16>) {{.*}} -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%o, %wo : tensor<?x96xf32>, tensor<64x96xbf16>)
      outs(%y_zero : tensor<?x64xf32>) -> tensor<?x64xf32>
  // A bias is cut, and not the product gathered.
  // CHECK: kv.rank
  // CHECK: linalg.generic
  // TWO: } -> tensor<32xf32>
  // TWO: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x32xf32>, tensor<32xf32>)
  // FOUR: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x16xf32>, tensor<16xf32>)
  %biased = linalg.generic {indexing_maps = [#ij, #j, #ij],
                            iterator_types = ["parallel", "parallel"]}
      ins(%y, %bias : tensor<?x64xf32>, tensor<64xf32>) outs(%y_empty : tensor<?x64xf32>) {
  ^bb0(%value: f32, %b: f32, %unused: f32):
    %sum = arith.addf %value, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x64xf32>
  // The residual is whole: so is the sum.
  // TWO: kv.gather %{{.*}} dim 1 shard 32 of 64 ranks 2
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x64xf32>, tensor<?x64xf32>)
  %sum = linalg.generic {indexing_maps = [#ij, #ij, #ij],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x, %biased : tensor<?x64xf32>, tensor<?x64xf32>) outs(%y_empty : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %added = arith.addf %a, %b : f32
    linalg.yield %added : f32
  } -> tensor<?x64xf32>
  return %sum : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @forward(
// TWO-SAME: tensor<48x64xbf16> {kv.shard = {copies = 1 : i64, runs = 1 : i64, shard = 48 : i64, size = 80 : i64}, kv.weight = "table"}
func.func @forward(%tokens: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]},
                   %offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]},
                   %kv: !kv {kv.name = "kv"},
                   %freqs: tensor<64x16xf32> {kv.weight = "freqs"},
                   %table: tensor<80x64xbf16> {kv.weight = "table"},
                   %wq: tensor<96x64xbf16> {kv.weight = "wq"},
                   %wk: tensor<48x64xbf16> {kv.weight = "wk"},
                   %bias: tensor<64xf32> {kv.weight = "norm"},
                   %wo: tensor<64x96xbf16> {kv.weight = "wo"})
    -> (tensor<?x80xf32> {kv.name = "logits", kv.dims = ["T"]}) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %tokens, %c0 : tensor<?xi32>
  %positions = kv.positions %kv, %offsets : !kv, tensor<?xi32> -> tensor<?xi32>
  // Every rank looks up what it has; of the gathered rows that of the owner is taken.
  // TWO: %[[RAW:.*]] = linalg.generic
  // TWO: tensor.extract %{{.*}} : tensor<48x64xbf16>
  // TWO: } -> tensor<?x64xbf16>
  // TWO: %[[ALL:.*]] = kv.gather %[[RAW]] dim 1 shard 64 of 128 ranks 2 : tensor<?x64xbf16> -> tensor<?x128xbf16>
  // TWO: %[[OWNER:.*]] = arith.divui %{{.*}}, %c48
  // TWO: tensor.extract %[[ALL]]
  %x_empty = tensor.empty(%rows) : tensor<?x64xf32>
  %x = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%x_empty : tensor<?x64xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<80x64xbf16>
    %wide = arith.extf %value : bf16 to f32
    linalg.yield %wide : f32
  } -> tensor<?x64xf32>
  %y = call @layer(%x, %kv, %c0, %offsets, %positions, %freqs, %wq, %wk, %bias, %wo)
      : (tensor<?x64xf32>, !kv, index, tensor<?xi32>, tensor<?xi32>, tensor<64x16xf32>,
         tensor<96x64xbf16>, tensor<48x64xbf16>, tensor<64xf32>, tensor<64x96xbf16>)
      -> tensor<?x64xf32>
  // TWO: %[[LOGITS:.*]] = linalg.matmul {{.*}} tensor<48x64xbf16>) {{.*}} -> tensor<?x48xf32>
  // TWO: kv.gather %[[LOGITS]] dim 1 shard 48 of 80 ranks 2
  %empty = tensor.empty(%rows) : tensor<?x80xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %logits = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%y, %table : tensor<?x64xf32>, tensor<80x64xbf16>)
      outs(%zeros : tensor<?x80xf32>) -> tensor<?x80xf32>
  return %logits : tensor<?x80xf32>
}
