// RUN: kv-opt --kv-pack-weights %s | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// A tied embedding: one weight is multiplied and gathered.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x24xf32>, %[[W:[a-z0-9]*]]: tensor<2x24x16xbf16> {kv.layout = "n16k", kv.weight = "w"}
// CHECK: %[[Y:.*]] = kv.matmul %[[X]], %[[W]] : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROW:.*]], %[[C16]]
// CHECK: %[[LANE:.*]] = arith.remui %[[ROW]], %[[C16]]
// CHECK: tensor.extract %[[W]][%[[BLOCK]], %{{.*}}, %[[LANE]]]
func.func @tied(%x: tensor<?x24xf32>, %w: tensor<32x24xbf16> {kv.weight = "w"},
    %init: tensor<?x32xf32>, %row: index, %column: index) -> (tensor<?x32xf32>, bf16) {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<32x24xbf16>) outs(%fill : tensor<?x32xf32>) -> tensor<?x32xf32>
  %e = tensor.extract %w[%row, %column] : tensor<32x24xbf16>
  return %y, %e : tensor<?x32xf32>, bf16
}

// N is no multiple of 16.
// CHECK-LABEL: func.func @odd(
// CHECK-SAME: tensor<24x24xf32> {kv.weight = "w"}
// CHECK: linalg.matmul
func.func @odd(%x: tensor<?x24xf32>, %w: tensor<24x24xf32> {kv.weight = "w"}, %init: tensor<?x24xf32>)
    -> tensor<?x24xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x24xf32>) -> tensor<?x24xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<24x24xf32>) outs(%fill : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// A use that cannot take the packed form keeps the whole weight as it is.
// CHECK-LABEL: func.func @other_use(
// CHECK-SAME: tensor<32x24xf32> {kv.weight = "w"}
// CHECK: linalg.matmul
// CHECK: linalg.add
func.func @other_use(%x: tensor<?x24xf32>, %w: tensor<32x24xf32> {kv.weight = "w"}, %init: tensor<?x32xf32>)
    -> (tensor<?x32xf32>, tensor<32x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<32x24xf32>) outs(%fill : tensor<?x32xf32>) -> tensor<?x32xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %s = linalg.add ins(%w, %w : tensor<32x24xf32>, tensor<32x24xf32>) outs(%e : tensor<32x24xf32>)
      -> tensor<32x24xf32>
  return %y, %s : tensor<?x32xf32>, tensor<32x24xf32>
}

// Only a sum that starts at zero is kv.matmul; not transposed is another thing.
// CHECK-LABEL: func.func @accumulates(
// CHECK-SAME: tensor<32x24xf32> {kv.weight = "w"}
// CHECK: linalg.matmul
func.func @accumulates(%x: tensor<?x24xf32>, %w: tensor<32x24xf32> {kv.weight = "w"}, %init: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<32x24xf32>) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @not_transposed(
// CHECK-SAME: tensor<32x16xf32> {kv.weight = "w"}
// CHECK: linalg.matmul
func.func @not_transposed(%x: tensor<?x32xf32>, %w: tensor<32x16xf32> {kv.weight = "w"}, %init: tensor<?x16xf32>)
    -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x32xf32>, tensor<32x16xf32>) outs(%fill : tensor<?x16xf32>)
      -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// Two weights through one callee are packed together.
// CHECK-LABEL: func.func private @shared(
// CHECK-SAME: tensor<1x24x16xf32>
// CHECK: kv.matmul
func.func private @shared(%x: tensor<?x24xf32>, %w: tensor<16x24xf32>, %init: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<16x24xf32>) outs(%fill : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
// CHECK-LABEL: func.func @callers(
// CHECK-SAME: tensor<1x24x16xf32> {kv.layout = "n16k", kv.weight = "a"}
// CHECK-SAME: tensor<1x24x16xf32> {kv.layout = "n16k", kv.weight = "b"}
// CHECK-COUNT-2: call @shared({{.*}}) : (tensor<?x24xf32>, tensor<1x24x16xf32>, tensor<?x16xf32>)
func.func @callers(%x: tensor<?x24xf32>, %a: tensor<16x24xf32> {kv.weight = "a"},
    %b: tensor<16x24xf32> {kv.weight = "b"}, %init: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %0 = call @shared(%x, %a, %init) : (tensor<?x24xf32>, tensor<16x24xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = call @shared(%x, %b, %init) : (tensor<?x24xf32>, tensor<16x24xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %0, %1 : tensor<?x16xf32>, tensor<?x16xf32>
}

// One caller's other use keeps the callee and both weights row-major.
// CHECK-LABEL: func.func private @blocked(
// CHECK-SAME: tensor<16x24xf32>
// CHECK: linalg.matmul
func.func private @blocked(%x: tensor<?x24xf32>, %w: tensor<16x24xf32>, %init: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x24xf32>, tensor<16x24xf32>) outs(%fill : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
// CHECK-LABEL: func.func @blocking(
// CHECK-SAME: tensor<16x24xf32> {kv.weight = "a"}
// CHECK-SAME: tensor<16x24xf32> {kv.weight = "b"}
func.func @blocking(%x: tensor<?x24xf32>, %a: tensor<16x24xf32> {kv.weight = "a"},
    %b: tensor<16x24xf32> {kv.weight = "b"}, %init: tensor<?x16xf32>)
    -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<16x24xf32>) {
  %0 = call @blocked(%x, %a, %init) : (tensor<?x24xf32>, tensor<16x24xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = call @blocked(%x, %b, %init) : (tensor<?x24xf32>, tensor<16x24xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %0, %1, %b : tensor<?x16xf32>, tensor<?x16xf32>, tensor<16x24xf32>
}

// Gathered only: nothing to gain.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME: tensor<32x24xf32> {kv.weight = "w"}
func.func @gathered(%w: tensor<32x24xf32> {kv.weight = "w"}, %row: index) -> f32 {
  %e = tensor.extract %w[%row, %row] : tensor<32x24xf32>
  return %e : f32
}
