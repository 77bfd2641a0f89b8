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

// What a recurrence makes may be unused: its state is written.
//
// CHECK-LABEL: func.func @recurrences
// CHECK: kv.state_convolution
// CHECK: kv.state_convolution
// CHECK: kv.state_scan
// CHECK: return
// BUFFER-LABEL: func.func @recurrences
// BUFFER: kv.state_convolution {{.*}} outs(
// BUFFER: kv.state_convolution {{.*}} outs(
// BUFFER: kv.state_scan {{.*}} outs(
// BUFFER: return
!conv = !kv.collection<recurrent, f32, layers = 2, heads = 3, dim = 24, page = 16>
!scan = !kv.collection<recurrent, f32, layers = 2, heads = 6, dim = 128, page = 16>
func.func @recurrences(%conv: !conv, %scan: !scan, %layer: index, %ro: tensor<?xi32>, %x: tensor<?x24xf32>,
    %w: tensor<4x24xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x3x16xf32>, %g: tensor<?x2x3xf32>) {
  %0 = kv.state_convolution %x, %w in %conv[%layer] rows %ro
      : tensor<?x24xf32>, tensor<4x24xf32> in !conv, tensor<?xi32> -> tensor<?x24xf32>
  %1 = kv.state_convolution %x, %w in %conv[%layer] rows %ro
      : tensor<?x24xf32>, tensor<4x24xf32> in !conv, tensor<?xi32> -> tensor<?x24xf32>
  %2 = kv.state_scan %k, %k, %v decay %g strength %g in %scan[%layer] rows %ro
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
        in !scan, tensor<?xi32> -> tensor<?x2x3x16xf32>
  return
}
