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
