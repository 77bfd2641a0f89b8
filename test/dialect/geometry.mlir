// Every parameter of a collection, and the operations on caches of every kind.
// RUN: kv-opt %s | FileCheck %s
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
//
// As version 2 of the dialect wrote it.
// RUN: kv-opt %s -o %t.mlir
// RUN: kv-opt %S/Inputs/version-2.mlirbc | cmp - %t.mlir

// CHECK-LABEL: func.func private @types(
// CHECK-SAME: !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 16, max_seq = 256>
// CHECK-SAME: !kv.collection<paged, f8E4M3FN, layers = 32, heads = 8, dim = 128, page = 64, scale = #kv.scale<f32, group = 128>, layout = hnd>
// CHECK-SAME: !kv.collection<paged, bf16, layers = 61, latent, dim = 576, v_dim = 512, page = 64>
// CHECK-SAME: !kv.collection<paged, f8E5M2, layers = 2, heads = ?, dim = 16, page = 1, layout = cpu>
// CHECK-SAME: !kv.cache<continuous, i8, layers = 2, latent, dim = 16, v_dim = 16, max_seq = 7, scale = #kv.scale<f8E8M0FNU, group = 4>>
func.func private @types(
    !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 16, max_seq = 256>,
    // In any order, and nhd said.
    !kv.collection<paged, f8E4M3FN, page = 64, layout = hnd, scale = #kv.scale<f32, group = 128>, dim = 128, heads = 8, layers = 32>,
    !kv.collection<paged, bf16, layers = 61, latent, dim = 576, v_dim = 512, page = 64, layout = nhd>,
    !kv.collection<paged, f8E5M2, layers = 2, heads = ?, dim = 16, page = 1, layout = cpu>,
    !kv.cache<continuous, i8, layers = 2, latent, dim = 16, v_dim = 16, max_seq = 7, scale = #kv.scale<f8E8M0FNU, group = 4>>)

!scaled = !kv.collection<paged, i8, layers = 2, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>, layout = cpu>
// CHECK-LABEL: func.func @scaled(
func.func @scaled(%b: memref<?x2x2x2x16x8xi8>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
                  %s: memref<?x2x2x2x16x2xf32>, %x: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %i: index) {
  // CHECK: kv.fetch %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?x2x2x2x16x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x2x16x2xf32> ->
  %kv = kv.fetch %b, %l, %t, %m, %s
      : memref<?x2x2x2x16x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x2x16x2xf32> -> !scaled
  // CHECK: kv.unpack %{{.*}} -> memref<?x2x2x2x16x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x2x16x2xf32>
  %b2, %l2, %t2, %m2, %s2 = kv.unpack %kv : !scaled
      -> memref<?x2x2x2x16x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x2x16x2xf32>
  // CHECK: kv.store %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}}] rows
  kv.store %x, %x into %kv[%i] rows %rows : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !scaled, tensor<?xi32>
  // CHECK: kv.store %{{.*}}, %{{.*}} into (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})[
  kv.store %x, %x into (%b, %l, %t, %m, %s)[%i] rows %rows : tensor<?x2x8xf32>, tensor<?x2x8xf32>
      into (memref<?x2x2x2x16x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x2x16x2xf32>) as !scaled, tensor<?xi32>
  // CHECK: kv.copy_pages %{{.*}} from %{{.*}} to %{{.*}} layer %{{.*}} layout cpu : memref<?x2x2x2x16x2xf32>
  kv.copy_pages %s from %rows to %rows layer %i layout cpu : memref<?x2x2x2x16x2xf32>, tensor<?xi32>, tensor<?xi32>
  return
}

!latent = !kv.collection<continuous, bf16, layers = 2, latent, dim = 24, v_dim = 16, max_seq = 64>
// CHECK-LABEL: func.func @latent(
func.func @latent(%kv: !latent, %rows: tensor<?xi32>, %x: tensor<?x1x24xbf16>, %q: tensor<?x4x24xf32>) -> tensor<?x4x16xf32> {
  %i = arith.constant 1 : index
  // CHECK: kv.store %{{.*}} into %{{.*}}[%{{.*}}] rows %{{.*}} : tensor<?x1x24xbf16> into
  kv.store %x into %kv[%i] rows %rows : tensor<?x1x24xbf16> into !latent, tensor<?xi32>
  // CHECK: kv.attention {{.*}} -> tensor<?x4x16xf32>
  %o = kv.attention %q in %kv[%i] rows %rows mask <causal> scale 0.1
      : tensor<?x4x24xf32> in !latent, tensor<?xi32> -> tensor<?x4x16xf32>
  %c = kv.key_cache %kv[%i] : !latent
  // CHECK: kv.load {{.*}} -> tensor<?x?x1x24xf32>, tensor<?xi32>
  %d, %n = kv.load %c rows %rows : !kv.cache<continuous, bf16, layers = 2, latent, dim = 24, v_dim = 16, max_seq = 64>,
      tensor<?xi32> -> tensor<?x?x1x24xf32>, tensor<?xi32>
  return %o : tensor<?x4x16xf32>
}

// Before sharding nobody knows the heads of a device.
!unsharded = !kv.collection<paged, f32, layers = 2, heads = ?, dim = 8, page = 16>
// CHECK-LABEL: func.func @unsharded(
func.func @unsharded(%kv: !unsharded, %rows: tensor<?xi32>, %k: tensor<?x?x8xf32>, %q: tensor<?x6x8xf32>) -> tensor<?x6x8xf32> {
  %i = arith.constant 1 : index
  kv.store %k, %k into %kv[%i] rows %rows : tensor<?x?x8xf32>, tensor<?x?x8xf32> into !unsharded, tensor<?xi32>
  // CHECK: kv.unpack {{.*}} -> memref<?x2x2x16x?x8xf32>
  %b, %l, %t, %m = kv.unpack %kv : !unsharded -> memref<?x2x2x16x?x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  %o = kv.attention %q in %kv[%i] rows %rows mask <causal> scale 0.1
      : tensor<?x6x8xf32> in !unsharded, tensor<?xi32> -> tensor<?x6x8xf32>
  return %o : tensor<?x6x8xf32>
}
