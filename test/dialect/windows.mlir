// Collections with windows, and with pages of some of the layers.
// RUN: kv-opt %s | FileCheck %s
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
//
// As version 3 of the dialect wrote it.
// RUN: kv-opt %s -o %t.mlir
// RUN: kv-opt %S/Inputs/version-3.mlirbc | cmp - %t.mlir

// CHECK-LABEL: func.func private @types(
// CHECK-SAME: !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128, page_layers = 4>
// CHECK-SAME: !kv.collection<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, layout = hnd, window = 1>
// CHECK-SAME: !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 16, max_seq = 256, window = 7>
// CHECK-SAME: !kv.collection<paged, bf16, layers = 3, latent, dim = 12, v_dim = 8, page = 4, page_layers = 3>
// CHECK-SAME: !kv.cache<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, window = 2147483647, page_layers = 2>
func.func private @types(
    !kv.collection<paged, bf16, page_layers = 4, layers = 24, window = 128, heads = 8, dim = 64, page = 16>,
    !kv.collection<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, window = 1, layout = hnd>,
    !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 16, max_seq = 256, window = 7>,
    // As many as there are is not the same type as none said.
    !kv.collection<paged, bf16, layers = 3, latent, dim = 12, v_dim = 8, page = 4, page_layers = 3>,
    !kv.cache<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, window = 2147483647, page_layers = 2>)

!kv = !kv.collection<paged, i8, layers = 5, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>, window = 8, page_layers = 2>
// A page has the rows of two layers.
// CHECK-LABEL: func.func @components(
func.func @components(%b: memref<?x2x2x16x2x8xi8>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
                      %s: memref<?x2x2x16x2x2xf32>) -> !kv {
  // CHECK: kv.fetch {{.*}} : memref<?x2x2x16x2x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x2x2xf32> ->
  %kv = kv.fetch %b, %l, %t, %m, %s
      : memref<?x2x2x16x2x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x2x2xf32> -> !kv
  return %kv : !kv
}

// Layers are those of the collection, whatever a page holds; masks see no
// further back than the window.
// CHECK-LABEL: func.func @operations(
func.func @operations(%kv: !kv, %rows: tensor<?xi32>, %x: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %i = arith.constant 4 : index
  kv.store %x, %x into %kv[%i] rows %rows : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  // CHECK: kv.plan {{.*}} mask <sliding = 8>
  %p = kv.plan %kv rows %rows mask <sliding = 8> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  // CHECK: kv.attention {{.*}} mask <sliding = 8>
  %a = kv.attention %x in %kv[%i] rows %rows plan %p mask <sliding = 8> scale 0.1
      : tensor<?x2x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x2x8xf32>
  // CHECK: kv.attention {{.*}} mask <chunked = 3>
  %b = kv.attention %a in %kv[%i] rows %rows mask <chunked = 3> scale 0.1
      : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>
  // CHECK: kv.attention {{.*}} mask <sliding_noncausal = 1>
  %c = kv.attention %b in %kv[%i] rows %rows mask <sliding_noncausal = 1> scale 0.1
      : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>
  // CHECK: kv.key_cache {{.*}} : !kv.collection<paged, i8, layers = 5, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>, window = 8, page_layers = 2>
  %keys = kv.key_cache %kv[%i] : !kv
  return %c : tensor<?x2x8xf32>
}
