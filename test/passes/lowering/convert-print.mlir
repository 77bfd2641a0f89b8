// RUN: kv-opt --convert-kv-to-runtime %s | FileCheck %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// CHECK-LABEL: func.func private @prints(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr, %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>, %[[RO:[a-z0-9]*]]: memref<?xi32>, %[[LAYER:[a-z0-9]*]]: index)
// CHECK: %[[I:.*]] = arith.index_cast %[[LAYER]] : index to i64
// CHECK: kv.rt.call "print"(%[[CTX]], %[[B]], %[[L]], %[[T]], %[[RO]], %[[I]]) absent [1] :
// CHECK: kv.rt.call "print"(%[[CTX]], %[[B]], %[[L]], %[[T]], %{{.*}}) absent [1, 4] :
func.func private @prints(%ctx: !llvm.ptr, %b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %layer: index) {
  kv.print (%b, %l, %t, %m)[%layer] rows %ro
      : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
  kv.print (%b, %l, %t, %m)[%layer]
      : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv
  return
}
