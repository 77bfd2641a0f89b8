// Every operation of the dialect that kv-cuda refuses, each with its sentence:
// the table "What is refused" of docs/explanation/cuda.md. What other operations refuse of
// their operands: form-launches-errors and select-kernel-cuda-errors.
//
// RUN: kv-opt --kv-resolve-collections=device --canonicalize --cse --kv-form-launches --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @print(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index) {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  // expected-error @+1 {{'kv.print' op has no kernel on a GPU: kv-cuda has kernels for}}
  kv.print %kv[%layer] rows %ro : !kv, tensor<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @row_offsets(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?xi32> {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  // expected-error @+1 {{'kv.row_offsets' op has no kernel on a GPU: kv-cuda has kernels for}}
  %o = kv.row_offsets %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %o : tensor<?xi32>
}

// -----

// A whole matrix of numbers, for which no product asks.
func.func @dequantize(%w: tensor<2x2x288xi8>) -> tensor<32x64xf32> {
  // expected-error @+1 {{'kv.dequantize' op has no kernel on a GPU: kv-cuda has kernels for}}
  %y = kv.dequantize %w format <q4_0> : tensor<2x2x288xi8> -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}
