// RUN: kv-opt --kv-pack-quantized %s | FileCheck %s
// RUN: kv-opt --kv-pack-quantized --remarks-filter=kv-pack-quantized %s -o /dev/null 2>&1 \
// RUN:     | FileCheck %s --check-prefix=REMARK

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
module attributes {kv.activations = i8} {

// A linear layer, through a call: bytes everywhere, one product of blocks.
// CHECK-LABEL: func.func private @linear(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x64xf32>, %[[W:[a-z0-9]*]]: tensor<2x2x288xi8>
// CHECK-NOT: kv.dequantize
// CHECK: kv.matmul %[[X]], %[[W]] {formats = [#kv.quant<q4_0>]} : tensor<?x64xf32>, tensor<2x2x288xi8> -> tensor<?x32xf32>
// CHECK-NOT: linalg.matmul
func.func private @linear(%x: tensor<?x64xf32>, %q: tensor<32x64x!kv.quant<q4_0>>, %init: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  %w = kv.dequantize %q : tensor<32x64x!kv.quant<q4_0>> -> tensor<32x64xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x64xf32>, tensor<32x64xf32>) outs(%fill : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: tensor<2x2x288xi8> {kv.layout = "q4_0x16", kv.weight = "w"}
// CHECK: call @linear({{.*}}) : (tensor<?x64xf32>, tensor<2x2x288xi8>, tensor<?x32xf32>) -> tensor<?x32xf32>
// CHECK: kv.dequantize %{{.*}} rows(%{{.*}}) format <q4_0> : tensor<2x2x288xi8>, tensor<?xi32> -> tensor<?x64xf32>
func.func @entry(%x: tensor<?x64xf32>, %w: tensor<32x64x!kv.quant<q4_0>> {kv.weight = "w"},
    %init: tensor<?x32xf32>, %rows: tensor<?xi32>) -> (tensor<?x32xf32>, tensor<?x64xf32>) {
  %y = call @linear(%x, %w, %init)
      : (tensor<?x64xf32>, tensor<32x64x!kv.quant<q4_0>>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %e = kv.dequantize %w rows(%rows) : tensor<32x64x!kv.quant<q4_0>>, tensor<?xi32> -> tensor<?x64xf32>
  return %y, %e : tensor<?x32xf32>, tensor<?x64xf32>
}

// One scale a row: a row is one block.
// CHECK-LABEL: func.func @channels(
// CHECK-SAME: tensor<2x1x1088xi8> {kv.layout = "i8x16", kv.weight = "w"}
// CHECK: kv.matmul %{{.*}} {formats = [#kv.quant<i8>]} : tensor<?x64xf32>, tensor<2x1x1088xi8> -> tensor<?x32xf32>
func.func @channels(%x: tensor<?x64xf32>, %q: tensor<32x64x!kv.quant<i8>> {kv.weight = "w"}, %init: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  %w = kv.dequantize %q : tensor<32x64x!kv.quant<i8>> -> tensor<32x64xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x64xf32>, tensor<32x64xf32>) outs(%fill : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Another use of the whole matrix makes it.
// CHECK-LABEL: func.func @other_use(
// CHECK: kv.dequantize %{{.*}} format <q8_0> : tensor<2x2x544xi8> -> tensor<32x64xf32>
// REMARK: [Missed] Dequantized | Category:kv-pack-quantized
// REMARK-SAME: a weight of q8_0 is made in f32 in each step: 'func.return' does not multiply rows with all of it
func.func @other_use(%q: tensor<32x64x!kv.quant<q8_0>>) -> tensor<32x64xf32> {
  %w = kv.dequantize %q : tensor<32x64x!kv.quant<q8_0>> -> tensor<32x64xf32>
  return %w : tensor<32x64xf32>
}
}
