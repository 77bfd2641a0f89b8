// RUN: kv-opt --kv-round-activations --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: kv-opt --kv-cpu=mcpu=x86-64-v3 --split-input-file --verify-diagnostics %s -o /dev/null

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

module attributes {kv.activations = bf16} {
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<?x32xf32> {{.*}}, %[[W:.*]]: tensor<16x32xbf16>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[N:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %[[N]] : bf16 to f32
// CHECK: linalg.matmul {{.*}} ins(%[[R]], %[[W]] :
func.func @linear(%x: tensor<?x32xf32> {kv.name = "x", kv.dims = ["T"]},
                  %w: tensor<16x32xbf16> {kv.weight = "w"})
    -> (tensor<?x16xf32> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x32xf32>
  %empty = tensor.empty(%rows) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x32xf32>, tensor<16x32xbf16>)
      outs(%zeros : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
}

// -----

// Rows of experts, too.
module attributes {kv.activations = f16} {
// CHECK-LABEL: func.func @experts(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x2x32xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: kv.expert_matmul %[[R]],
func.func @experts(%x: tensor<?x2x32xf32>, %e: tensor<?x2xi32>, %w: tensor<64x32xbf16>)
    -> tensor<?x2x16xf32> {
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<?x2x32xf32>, tensor<64x32xbf16> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}
}

// -----

// And of weights that are packed already.
module attributes {kv.activations = bf16} {
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x32xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: kv.matmul %[[R]],
func.func @packed(%x: tensor<?x32xf32>, %w: tensor<1x32x16xbf16>) -> tensor<?x16xf32> {
  %y = kv.matmul %x, %w : tensor<?x32xf32>, tensor<1x32x16xbf16> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
}

// -----

// f32 is what there is without the attribute.
module attributes {kv.activations = f32} {
// CHECK-LABEL: func.func @same(
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @same(%x: tensor<4x32xf32>, %w: tensor<32x16xf32>, %y: tensor<4x16xf32>)
    -> tensor<4x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x32xf32>, tensor<32x16xf32>)
      outs(%y : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
}

// -----

// i8 is for quantised weights: these rows stay as they are.
// CHECK-LABEL: func.func @dense_beside_quantised(
// CHECK-NEXT: linalg.matmul
module attributes {kv.activations = i8} {
func.func @dense_beside_quantised(%x: tensor<4x32xf32>, %w: tensor<32x16xbf16>, %y: tensor<4x16xf32>)
    -> tensor<4x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x32xf32>, tensor<32x16xbf16>)
      outs(%y : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
}
