// RUN: kv-opt --canonicalize %s | FileCheck %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// CHECK-LABEL: func.func @unpack_of_fetch(
// CHECK-SAME: %[[B:.*]]: memref<{{.*}}>, %[[L:.*]]: tensor<?xi32>, %[[T:.*]]: tensor<?x?xi32>, %[[M:.*]]: tensor<?x2xi32>)
// CHECK-NEXT: return %[[B]], %[[L]], %[[T]], %[[M]] :
func.func @unpack_of_fetch(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>)
    -> (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) {
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %0:4 = kv.unpack %kv : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return %0#0, %0#1, %0#2, %0#3 : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
}

// The types differ: nothing to fold to.
// CHECK-LABEL: func.func @unpack_of_static_fetch
// CHECK: kv.fetch
// CHECK: kv.unpack
func.func @unpack_of_static_fetch(%b: memref<4x2x2x16x1x8xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>) -> !blocks {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<4x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %0:4 = kv.unpack %kv : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return %0#0 : !blocks
}

// CHECK-LABEL: func.func @fetch_of_unpack(
// CHECK-SAME: %[[KV:.*]]: !kv.collection
// CHECK-NEXT: return %[[KV]] :
func.func @fetch_of_unpack(%kv: !kv) -> !kv {
  %0:4 = kv.unpack %kv : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  %1 = kv.fetch %0#0, %0#1, %0#2, %0#3
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return %1 : !kv
}

// Other lengths make another view.
// CHECK-LABEL: func.func @fetch_of_parts
// CHECK: kv.unpack
// CHECK: %[[NEW:.*]] = kv.fetch
// CHECK: return %[[NEW]]
func.func @fetch_of_parts(%kv: !kv, %l: tensor<?xi32>) -> !kv {
  %0:4 = kv.unpack %kv : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  %1 = kv.fetch %0#0, %l, %0#2, %0#3
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return %1 : !kv
}

// What always holds needs no look; what may not hold keeps it.
// CHECK-LABEL: func.func @asserts(
// CHECK-NOT: "always"
// CHECK: kv.rt.assert %{{.*}}, 2, "perhaps"
func.func @asserts(%x: i1) {
  %true = arith.constant true
  kv.rt.assert %true, 2, "always"
  kv.rt.assert %x, 2, "perhaps"
  return
}
