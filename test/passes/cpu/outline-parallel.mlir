// RUN: kv-opt --kv-outline-parallel %s | FileCheck %s

// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[N:.*]]: index)
// CHECK-NOT: scf.forall
// CHECK: kv.rt.parallel_for @kernel_body(%[[CTX]]) count %[[N]] grain 7 captures(%[[X]], %[[Y]] : memref<?xf32>, memref<?xf32>)
// CHECK: kv.rt.parallel_for @kernel_body_0(%[[CTX]]) count %{{.*}} grain 1 captures(%[[Y]] : memref<?xf32>)
func.func private @kernel(%ctx: !llvm.ptr, %x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %two = arith.constant 2.0 : f32
  scf.forall (%i) in (%n) {
    %e = memref.load %x[%i] : memref<?xf32>
    %d = arith.mulf %e, %two : f32
    memref.store %d, %y[%i] : memref<?xf32>
  } {kv.grain = 7 : i64}
  scf.forall (%i) in (4) {
    memref.store %two, %y[%i] : memref<?xf32>
  }
  return
}

// The body opens its captures, makes its own constants, and runs its range.
// CHECK-LABEL: func.func private @kernel_body(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[ENV:.*]]: !llvm.ptr, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK: %[[C:.*]]:2 = kv.rt.captures %[[ENV]] : memref<?xf32>, memref<?xf32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[FROM:.*]] = arith.index_cast %[[LO]]
// CHECK-DAG: %[[TO:.*]] = arith.index_cast %[[HI]]
// CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]]
// CHECK: %[[E:.*]] = memref.load %[[C]]#0[%[[I]]]
// CHECK: arith.mulf %[[E]], %[[TWO]]
// CHECK: memref.store %{{.*}}, %[[C]]#1[%[[I]]]

// Memory on the stack is taken once, not in each iteration.
// CHECK-LABEL: func.func private @scratch_body(
// CHECK: %[[A:.*]] = memref.alloca() : memref<4xf32>
// CHECK: scf.for
// CHECK-NOT: alloca
// CHECK: memref.store %{{.*}}, %[[A]]
func.func private @scratch(%ctx: !llvm.ptr, %x: f32, %n: index) {
  scf.forall (%i) in (%n) {
    %a = memref.alloca() : memref<4xf32>
    %zero = arith.constant 0 : index
    memref.store %x, %a[%zero] : memref<4xf32>
  }
  return
}
