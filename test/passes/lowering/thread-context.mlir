// RUN: kv-opt --kv-thread-context %s | FileCheck %s

// An entry has the context already; everything else gets it first.
// CHECK-LABEL: func.func @kv_entry_f(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32) -> i32
// CHECK: call @temporary(%[[CTX]], %{{.*}}) : (!llvm.ptr, index) -> ()
func.func @kv_entry_f(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32
    attributes {kv.interface = {inputs = [], name = "f", outputs = []}} {
  %n = arith.constant 8 : index
  call @temporary(%n) : (index) -> ()
  return %count : i32
}

// What a function takes it gives back.
// CHECK-LABEL: func.func private @temporary(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[N:.*]]: index)
// CHECK-NEXT: %[[MARK:.*]] = kv.rt.arena_mark %[[CTX]]
// CHECK-NEXT: kv.rt.arena_alloc %[[CTX]](%[[N]]) : memref<?xf32>
// CHECK: call @result(%[[CTX]], %[[N]])
// CHECK: kv.rt.arena_release %[[CTX]], %[[MARK]]
// CHECK-NEXT: return
func.func private @temporary(%n: index) {
  %t = memref.alloc(%n) : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%t : memref<?xf32>)
  %r = call @result(%n) : (index) -> memref<?xf32>
  return
}

// A returned buffer is moved down to the mark, and that one is returned.
// CHECK-LABEL: func.func private @result(
// CHECK: %[[MARK:.*]] = kv.rt.arena_mark
// CHECK: %[[A:.*]] = kv.rt.arena_alloc
// CHECK: %[[B:.*]] = kv.rt.arena_alloc
// CHECK: %[[MOVED:.*]] = kv.rt.arena_return %{{.*}}, %[[MARK]], %[[B]] : memref<?xf32> -> memref<?xf32>
// CHECK-NEXT: return %[[MOVED]]
func.func private @result(%n: index) -> memref<?xf32> {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  return %b : memref<?xf32>
}

// Takes nothing: no calls.
// CHECK-LABEL: func.func private @nothing(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: memref<?xf32>)
// CHECK-NEXT: return
func.func private @nothing(%x: memref<?xf32>) { return }

// A callee's results are this function's to give back.
// CHECK-LABEL: func.func private @passes_on(
// CHECK: kv.rt.arena_mark
// CHECK: call @result
// CHECK: kv.rt.arena_release
func.func private @passes_on(%n: index) {
  %r = call @result(%n) : (index) -> memref<?xf32>
  return
}

// The third temporary takes the buffer of the first, which nothing reads any more, also through a view;
// the fourth one is of another size, and the second is still read.
// CHECK-LABEL: func.func private @reuse(
// CHECK: %[[FIRST:.*]] = kv.rt.arena_alloc %{{.*}}(%[[N:.*]]) : memref<?xf32>
// CHECK: %[[SECOND:.*]] = kv.rt.arena_alloc %{{.*}}(%[[N]]) : memref<?xf32>
// CHECK: memref.copy %{{.*}}, %[[FIRST]]
// CHECK: %[[VIEW:.*]] = memref.subview %[[FIRST]]
// CHECK: memref.copy %[[VIEW]], %{{.*}}
// CHECK: memref.copy %[[SECOND]], %[[FIRST]]
// CHECK: %[[OTHER:.*]] = kv.rt.arena_alloc %{{.*}}(%{{.*}}) : memref<?xf32>
// CHECK: memref.copy %[[FIRST]], %[[OTHER]]
// CHECK: memref.copy %[[OTHER]], %[[SECOND]]
func.func private @reuse(%n: index, %m: index, %in: memref<?xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %in, %a : memref<?xf32> to memref<?xf32>
  %v = memref.subview %a[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  memref.copy %v, %b : memref<?xf32, strided<[1]>> to memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  memref.copy %b, %c : memref<?xf32> to memref<?xf32>
  %d = memref.alloc(%m) : memref<?xf32>
  memref.copy %c, %d : memref<?xf32> to memref<?xf32>
  memref.copy %d, %b : memref<?xf32> to memref<?xf32>
  return
}

// A loop hands its buffer on: it is in use as long as the loop's result.
// CHECK-LABEL: func.func private @carried(
// CHECK: %[[FIRST:.*]] = kv.rt.arena_alloc
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: kv.rt.arena_alloc
// CHECK: return
func.func private @carried(%n: index, %in: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (memref<?xf32>) {
    scf.yield %x : memref<?xf32>
  }
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %in, %b : memref<?xf32> to memref<?xf32>
  memref.copy %r, %in : memref<?xf32> to memref<?xf32>
  return
}

// A size that is read of a reshaped temporary is the one that it was made with: one buffer for both.
// CHECK-LABEL: func.func private @reshaped(
// CHECK: %[[FIRST:.*]] = kv.rt.arena_alloc %{{.*}}(%[[N:.*]]) : memref<?x8xf32>
// CHECK-NOT: memref.dim
// CHECK: %[[SECOND:.*]] = kv.rt.arena_alloc %{{.*}}(%[[N]]) : memref<1x?x8xf32>
// CHECK-NOT: kv.rt.arena_alloc
// CHECK: memref.copy %{{.*}}, %[[FIRST]]
func.func private @reshaped(%n: index, %in: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%n) : memref<?x8xf32>
  memref.copy %in, %a : memref<?x8xf32> to memref<?x8xf32>
  %wide = memref.alloc(%n) : memref<1x?x8xf32>
  %flat = memref.collapse_shape %wide [[0, 1], [2]] : memref<1x?x8xf32> into memref<?x8xf32>
  memref.copy %a, %flat : memref<?x8xf32> to memref<?x8xf32>
  %size = memref.dim %flat, %c0 : memref<?x8xf32>
  %b = memref.alloc(%size) : memref<?x8xf32>
  memref.copy %flat, %b : memref<?x8xf32> to memref<?x8xf32>
  memref.copy %b, %in : memref<?x8xf32> to memref<?x8xf32>
  return
}
