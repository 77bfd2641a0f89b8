// RUN: kv-opt --kv-form-entries %s | FileCheck %s
// RUN: kv-opt --kv-form-entries --canonicalize --eliminate-empty-tensors --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --canonicalize %s | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// The wrapper checks, and calls the body only when all is well.
// CHECK-LABEL: func.func @kv_entry_forward(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[COUNT:.*]]: i32) -> i32
// CHECK-SAME: kv.interface = {inputs = [
// CHECK-SAME: {dtype = f32, kind = "input", name = "x", shape = ["T", 4]},
// CHECK-SAME: {collection = "cache", dtype = f32, kind = "kv.blocks", name = "cache.blocks", shape = ["cache.pages", 2, 2, 16, 1, 8], type = !kv.collection<
// CHECK-SAME: {collection = "cache", dtype = i32, host, kind = "kv.max_lengths", name = "cache.max_lengths", shape = ["cache.steps", 2], type = !kv.collection<
// CHECK-SAME: {dtype = bf16, kind = "weight", layout = "n16k", name = "w", shape = [2, 4, 16]},
// CHECK-SAME: {dtype = f32, kind = "input", name = "arg4", shape = ["arg4.0", "arg4.1"]}
// CHECK-SAME: name = "forward",
// CHECK-SAME: outputs = [{dtype = f32, name = "y", shape = ["T", 4]}, {dtype = f32, name = "result1", shape = ["result1.0", "result1.1"]}]
// CHECK: %[[OK:.*]] = kv.rt.check_arguments %[[CTX]], %[[ARGS]], %[[COUNT]]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[GOOD:.*]] = arith.cmpi eq, %[[OK]], %[[ZERO]]
// CHECK: scf.if %[[GOOD]] {
// CHECK-NEXT: func.call @forward(%[[ARGS]])
// CHECK: %[[STATUS:.*]] = kv.rt.status %[[CTX]]
// CHECK: return %[[STATUS]]

// CHECK-LABEL: func.func private @forward(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr) {
// CHECK-DAG: kv.rt.argument %[[A]][0] : memref<?x4xf32>
// CHECK-DAG: kv.rt.argument %[[A]][1] : memref<?x2x2x16x1x8xf32>
// CHECK: %[[Y:.*]] = kv.rt.argument %[[A]][5] : memref<?x4xf32>
// CHECK: %[[Z:.*]] = kv.rt.argument %[[A]][6] : memref<?x?xf32>
// The second result is as large as an argument, by no name of a dimension.
// CHECK-NOT: kv.rt.check_result %[[Y]]
// CHECK: %[[ROWS:.*]] = tensor.dim %[[GIVEN:.*]], %
// CHECK: kv.rt.check_result %[[Z]] "result1"[0] is %[[ROWS]]
// CHECK: %[[COLUMNS:.*]] = tensor.dim %[[GIVEN]], %
// CHECK: kv.rt.check_result %[[Z]] "result1"[1] is %[[COLUMNS]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Y]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Z]]

// The result is computed in the caller's buffer.
// BUFFER-LABEL: func.func private @forward(
// BUFFER-NOT: memref.alloc
// BUFFER: %[[OUT:.*]] = kv.rt.argument %{{.*}}[5]
// BUFFER-NOT: memref.alloc
// BUFFER: linalg.exp ins(%{{.*}}) outs(%[[OUT]]
func.func @forward(%x: tensor<?x4xf32> {kv.name = "x", kv.dims = ["T"]},
    %b: memref<?x2x2x16x1x8xf32> {kv.name = "cache.blocks", kv.component = "blocks", kv.collection = !kv, kv.dims = ["cache.pages"]},
    %m: tensor<?x2xi32> {kv.name = "cache.max_lengths", kv.component = "max_lengths", kv.collection = !kv, kv.host, kv.dims = ["cache.steps"]},
    %w: tensor<2x4x16xbf16> {kv.weight = "w", kv.layout = "n16k"}, %z: tensor<?x?xf32>)
    -> (tensor<?x4xf32> {kv.name = "y", kv.dims = ["T"]}, tensor<?x?xf32>) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?x?xf32>
}

// A size of the graph is compared once it is known, and the result is copied: to
// compute it in the caller's buffer would be too early.
// CHECK-LABEL: func.func private @counted(
// CHECK: %[[OUT:.*]] = kv.rt.argument %{{.*}}[1] : memref<?xf32>
// CHECK: %[[MADE:.*]] = tensor.generate
// CHECK: %[[SIZE:.*]] = tensor.dim %[[MADE]],
// CHECK: kv.rt.check_result %[[OUT]] "result0"[0] is %[[SIZE]]
// CHECK: %[[RESULT:.*]] = bufferization.to_buffer %[[MADE]] read_only
// CHECK: memref.copy %[[RESULT]], %[[OUT]]
// BUFFER-LABEL: func.func private @counted(
// BUFFER: %[[ALLOC:.*]] = memref.alloc
// BUFFER: kv.rt.check_result
// BUFFER: memref.copy %[[ALLOC]],
func.func @counted(%count: tensor<1xindex>) -> tensor<?xf32> attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %count[%c0] : tensor<1xindex>
  %made = tensor.generate %n {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    tensor.yield %one : f32
  } : tensor<?xf32>
  return %made : tensor<?xf32>
}

// CHECK-LABEL: func.func private @helper(%{{.*}}: tensor<?xf32>)
func.func private @helper(%x: tensor<?xf32>) { return }
