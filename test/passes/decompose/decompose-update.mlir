// kv.update and kv.plan become loops, that over sequences and heads a parallel one; with `keep-kernels` what has another kernel
// than `decomposition` stays.
//
// RUN: kv-opt --kv-decompose %s | FileCheck %s --implicit-check-not="kv.{{(update|plan|attention|store) }}"
// RUN: kv-opt --kv-decompose=keep-kernels %s | FileCheck %s --check-prefix=CHOSEN

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
!blocks = memref<?x2x2x16x2x8xbf16>

// The page is in the table, on a page of the blocks, and not the null page; a
// head is read into a buffer, changed there and written back.
// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x2x8xbf16>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>
// CHECK: scf.forall
// CHECK: %[[HEAD:.*]] = memref.alloca() : memref<8xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[ENTRY:.*]] = arith.divui
// CHECK: arith.cmpi ule, %[[ENTRY]],
// CHECK: scf.if
// CHECK: tensor.extract %[[T]]
// CHECK: scf.if
// CHECK: memref.load %[[B]]
// CHECK: memref.store {{.*}}, %[[HEAD]]
// CHECK-COUNT-2: memref.load %[[HEAD]]
// CHECK-COUNT-2: memref.store {{.*}}, %[[HEAD]]
// CHECK: memref.load %[[HEAD]]
// CHECK: memref.store {{.*}}, %[[B]]
func.func @rope(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %f: tensor<64x4xf32>) {
  %c0 = arith.constant 0 : index
  kv.update (%b, %l, %t, %m)[%layer, %c0] rows %ro rope(%f)
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<64x4xf32>
  return
}

// CHECK-LABEL: func.func @attention(
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: tensor.insert
// The columns 0, 2 and 3 of the plan, and no other look at the lengths.
// CHECK-COUNT-3: tensor.extract %{{.*}} : tensor<?x4xi32>
// CHECK: linalg.generic
// CHOSEN-LABEL: func.func @attention(
// CHOSEN-NOT: kv.attention
// CHOSEN: return
func.func @attention(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %q: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %p = kv.plan (%b, %l, %t, %m) rows %ro mask <chunked = 4>
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x4xi32>
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %p mask <chunked = 4> scale 1.0
      {kv.kernel = #kv.kernel<decomposition>}
      : tensor<?x2x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x2x8xf32>
  return %o : tensor<?x2x8xf32>
}

// What another kernel computes stays.
// CHOSEN-LABEL: func.func @store(
// CHOSEN: kv.store
func.func @store(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %k: tensor<?x2x8xf32>) {
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro {kv.kernel = #kv.kernel<reference>}
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>
        into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  return
}
