// RUN: kv-opt %s --split-input-file | kv-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @logical(
// CHECK-SAME: tensor<32x256x!kv.quant<q4_k>>
// CHECK: kv.dequantize %{{.*}} : tensor<32x256x!kv.quant<q4_k>> -> tensor<32x256xf32>
// CHECK: kv.dequantize %{{.*}} rows(%{{.*}}) : tensor<32x256x!kv.quant<q4_k>>, tensor<?xi32> -> tensor<?x256xf32>
func.func @logical(%w: tensor<32x256x!kv.quant<q4_k>>, %rows: tensor<?xi32>)
    -> (tensor<32x256xf32>, tensor<?x256xf32>) {
  %all = kv.dequantize %w : tensor<32x256x!kv.quant<q4_k>> -> tensor<32x256xf32>
  %some = kv.dequantize %w rows(%rows)
      : tensor<32x256x!kv.quant<q4_k>>, tensor<?xi32> -> tensor<?x256xf32>
  return %all, %some : tensor<32x256xf32>, tensor<?x256xf32>
}

// Packed, on tensors and on buffers.
// CHECK-LABEL: func.func @packed(
// CHECK: kv.dequantize %{{.*}} rows(%{{.*}}) format <q4_k> : tensor<2x1x2368xi8>, tensor<?xi32> -> tensor<?x256xf32>
// CHECK: kv.matmul {{.*}} {formats = [#kv.quant<q4_k>, unit]}
// CHECK: kv.dequantize %{{.*}} format <q4_k> outs(%{{.*}}) : memref<2x1x2368xi8> outs memref<32x256xf32>
// CHECK: kv.matmul %{{.*}}, %{{.*}} outs(%{{.*}}) {formats = [#kv.quant<q4_k>]} : memref<?x256xf32>, memref<2x1x2368xi8> outs memref<?x32xf32>
func.func @packed(%w: tensor<2x1x2368xi8>, %v: tensor<2x256x16xbf16>, %x: tensor<?x256xf32>,
    %rows: tensor<?xi32>, %bw: memref<2x1x2368xi8>, %bx: memref<?x256xf32>, %bd: memref<32x256xf32>,
    %by: memref<?x32xf32>) -> (tensor<?x256xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %some = kv.dequantize %w rows(%rows) format <q4_k>
      : tensor<2x1x2368xi8>, tensor<?xi32> -> tensor<?x256xf32>
  %y, %z = kv.matmul %x, %w, %v {formats = [#kv.quant<q4_k>, unit]}
      : tensor<?x256xf32>, tensor<2x1x2368xi8>, tensor<2x256x16xbf16> -> tensor<?x32xf32>, tensor<?x32xf32>
  kv.dequantize %bw format <q4_k> outs(%bd) : memref<2x1x2368xi8> outs memref<32x256xf32>
  kv.matmul %bx, %bw outs(%by) {formats = [#kv.quant<q4_k>]}
      : memref<?x256xf32>, memref<2x1x2368xi8> outs memref<?x32xf32>
  return %some, %y, %z : tensor<?x256xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// Floats of 8 bits: a scale of f32 for 128 elements of each of 16 rows.
// CHECK-LABEL: func.func @floats(
// CHECK: kv.dequantize %{{.*}} : tensor<32x256x!kv.quant<f8e4m3>> -> tensor<32x256xf32>
// CHECK: kv.matmul %{{.*}} {formats = [#kv.quant<f8e5m2>]} : tensor<?x256xf32>, tensor<2x2x2112xi8> -> tensor<?x32xf32>
func.func @floats(%w: tensor<32x256x!kv.quant<f8e4m3>>, %v: tensor<2x2x2112xi8>, %x: tensor<?x256xf32>)
    -> (tensor<32x256xf32>, tensor<?x32xf32>) {
  %all = kv.dequantize %w : tensor<32x256x!kv.quant<f8e4m3>> -> tensor<32x256xf32>
  %y = kv.matmul %x, %v {formats = [#kv.quant<f8e5m2>]} : tensor<?x256xf32>, tensor<2x2x2112xi8> -> tensor<?x32xf32>
  return %all, %y : tensor<32x256xf32>, tensor<?x32xf32>
}
