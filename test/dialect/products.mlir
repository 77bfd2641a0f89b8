// RUN: kv-opt %s -o %t.mlir && kv-opt %t.mlir | cmp - %t.mlir
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | cmp - %t.mlir
// RUN: kv-opt --emit-bytecode %s | kv-opt | cmp - %t.mlir
// RUN: FileCheck %s < %t.mlir
//
// A file of version 6 knows of no products: it is read as it was meant.
// RUN: kv-opt %S/Inputs/version-6-attention.mlirbc | FileCheck %s --check-prefix=OLD
// OLD: kv.attention %{{.*}} mask <causal> scale 1.250000e-01 softcap 3.000000e+01 : tensor<?x4x64xf32>
// OLD: kv.attention %{{.*}} sinks %{{.*}} mask <sliding = 9> scale 2.500000e-01 : tensor<?x4x64xf32>

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 64, page = 16>

// CHECK-LABEL: func.func @tensors
// CHECK: kv.attention %{{.*}} mask <causal> scale 1.250000e-01 softcap 3.000000e+01 products f8E4M3FN : tensor<?x4x64xf32>
// CHECK: kv.attention %{{.*}} sinks %{{.*}} mask <sliding = 9> scale 2.500000e-01 products f8E4M3FN : tensor<?x4x64xf32>
func.func @tensors(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>, %sinks: tensor<4xf32>)
    -> (tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x4xf32>) {
  %l = arith.constant 1 : index
  %a = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 softcap 30.0 products f8E4M3FN
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  %b, %lse = kv.attention %q in %kv[%l] rows %rows sinks %sinks mask <sliding = 9> scale 0.25 products f8E4M3FN
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> sinks tensor<4xf32> -> tensor<?x4x64xf32>, tensor<?x4xf32>
  return %a, %b, %lse : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @buffers
// CHECK: kv.attention {{.*}} outs(%{{.*}}) mask <causal> scale 1.250000e-01 products f8E4M3FN : memref<?x4x64xbf16>
func.func @buffers(%q: memref<?x4x64xbf16>, %kv: !kv, %rows: memref<?xi32>, %o: memref<?x4x64xbf16>) {
  %l = arith.constant 1 : index
  kv.attention %q in %kv[%l] rows %rows outs(%o) mask <causal> scale 0.125 products f8E4M3FN
      : memref<?x4x64xbf16> in !kv, memref<?xi32> outs memref<?x4x64xbf16>
  return
}
