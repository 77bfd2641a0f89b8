// A state that is read and not used is not read; one that is written stays, on
// tensors and on buffers; reads do not move over writes.
//
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s
// RUN: kv-opt --kv-resolve-collections --canonicalize --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --canonicalize --cse %s | FileCheck %s --check-prefix=BUFFER

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>

// CHECK-LABEL: func.func @unused
// CHECK-NOT: kv.state
// CHECK: return
// BUFFER-LABEL: func.func @unused
// BUFFER-NOT: kv.state
// BUFFER: return
func.func @unused(%kv: !st, %ro: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %s = kv.state_read %kv[%c0] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  return
}

// CHECK-LABEL: func.func @used
// CHECK: kv.state_read
// CHECK: kv.state_write
// CHECK: kv.state_read
// CHECK: kv.state_write
// CHECK: return
// BUFFER-LABEL: func.func @used
// BUFFER: kv.state_read {{.*}} outs(%[[A:.*]]) :
// BUFFER: kv.state_write %[[A]] into
// BUFFER: kv.state_read {{.*}} outs(%[[B:.*]]) :
// BUFFER: kv.state_write %[[B]] into
// BUFFER: return
func.func @used(%kv: !st, %ro: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = kv.state_read %kv[%c0] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  kv.state_write %s into %kv[%c1] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  %t = kv.state_read %kv[%c0] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  kv.state_write %t into %kv[%c0] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  return
}
