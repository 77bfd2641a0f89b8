// RUN: kv-opt %s --kv-raise-weights --canonicalize --split-input-file | FileCheck %s
// RUN: kv-opt %s "--kv-raise-weights=dtype=bf16" --canonicalize --split-input-file | FileCheck %s --check-prefix=BF16
// RUN: not kv-opt %s "--kv-raise-weights=dtype=f16" --split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: kv-raise: weights is 'f16', expected f32 or bf16

// [K, N] is read transposed; [N, H, D] by heads that stand between, as [H D, N].
// CHECK-LABEL: func.func @products
// CHECK-SAME: %arg1: tensor<32x16xf32> {kv.stored = {order = [1, 0], shape = [16, 32]}, kv.weight = "plain"}
// CHECK-SAME: %arg2: tensor<16x32xf32> {kv.stored = {order = [0, 2, 1], shape = [4, 32, 4]}, kv.weight = "heads"}
// CHECK-SAME: %arg3: tensor<16x32xf32> {kv.weight = "lies"}
// CHECK-NOT: linalg.transpose
// CHECK: linalg.matmul indexing_maps = [{{.*}}] ins(%arg0, %arg1
// CHECK: linalg.matmul indexing_maps = [{{.*}}] ins(%{{.*}}, %arg2
// CHECK: linalg.matmul indexing_maps = [{{.*}}] ins(%{{.*}}, %arg3
// BF16-LABEL: func.func @products
// BF16-SAME: %arg1: tensor<32x16xbf16>
// BF16: linalg.matmul indexing_maps = [{{.*}}] ins(%arg0, %arg1 : tensor<?x16xf32>, tensor<32x16xbf16>)
func.func @products(%x: tensor<?x16xf32>, %plain: tensor<16x32xf32> {kv.weight = "plain"},
                    %heads: tensor<4x32x4xf32> {kv.weight = "heads"},
                    %lies: tensor<16x32xf32> {kv.weight = "lies"}, %to: tensor<?x32xf32>,
                    %back: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %a = linalg.matmul ins(%x, %plain : tensor<?x16xf32>, tensor<16x32xf32>) outs(%to : tensor<?x32xf32>) -> tensor<?x32xf32>
  %e = tensor.empty() : tensor<32x4x4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(k, n, d) -> (n, k, d)>, affine_map<(k, n, d) -> (k, n, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%heads : tensor<4x32x4xf32>) outs(%e : tensor<32x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x4x4xf32>
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<32x4x4xf32> into tensor<32x16xf32>
  %b = linalg.matmul ins(%a, %c : tensor<?x32xf32>, tensor<32x16xf32>) outs(%back : tensor<?x16xf32>) -> tensor<?x16xf32>
  %f = tensor.empty() : tensor<32x16xf32>
  %u = linalg.transpose ins(%lies : tensor<16x32xf32>) outs(%f : tensor<32x16xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%a, %u : tensor<?x32xf32>, tensor<32x16xf32>) outs(%back : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %b, %g : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// One that is also looked up, and is multiplied from its other side, stays; one that is looked up only may be bf16;
// a weight of 10 columns would not be packed; a vector stays f32.
// CHECK-LABEL: func.func @others
// CHECK-SAME: %arg1: tensor<32x16xf32> {kv.weight = "embed"}
// CHECK-SAME: %arg2: tensor<16x10xf32> {kv.weight = "narrow"}
// BF16-LABEL: func.func @others
// BF16-SAME: %arg1: tensor<32x16xf32> {kv.weight = "embed"}, %arg2: tensor<16x10xf32> {kv.weight = "narrow"}, %arg3: tensor<64x16xbf16> {kv.weight = "table"}, %arg4: tensor<16xf32>
// BF16: tensor.extract %arg3[%{{.*}}] : tensor<64x16xbf16>
// BF16: arith.extf
func.func @others(%ids: tensor<?xi32>, %embed: tensor<32x16xf32> {kv.weight = "embed"},
                  %narrow: tensor<16x10xf32> {kv.weight = "narrow"}, %table: tensor<64x16xf32> {kv.weight = "table"},
                  %vector: tensor<16xf32> {kv.weight = "vector"}, %rows: tensor<?x16xf32>, %wide: tensor<?x32xf32>,
                  %to: tensor<?x10xf32>) -> (tensor<?x16xf32>, tensor<?x10xf32>) {
  %x = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (d)>, affine_map<(t, d) -> (t, d)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids, %vector : tensor<?xi32>, tensor<16xf32>) outs(%rows : tensor<?x16xf32>) {
  ^bb0(%id: i32, %v: f32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %d = linalg.index 1 : index
    %a = tensor.extract %embed[%i, %d] : tensor<32x16xf32>
    %b = tensor.extract %table[%i, %d] : tensor<64x16xf32>
    %s = arith.addf %a, %b : f32
    %m = arith.mulf %s, %v : f32
    linalg.yield %m : f32
  } -> tensor<?x16xf32>
  %y = linalg.matmul ins(%wide, %embed : tensor<?x32xf32>, tensor<32x16xf32>) outs(%x : tensor<?x16xf32>) -> tensor<?x16xf32>
  %z = linalg.matmul ins(%y, %narrow : tensor<?x16xf32>, tensor<16x10xf32>) outs(%to : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %y, %z : tensor<?x16xf32>, tensor<?x10xf32>
}
