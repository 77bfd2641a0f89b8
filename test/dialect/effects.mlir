// What an operation reads and writes, before and after bufferization: an
// operation with an effect stays, one without is dropped when nobody uses it,
// and reads are merged only when nothing is written between them.
//
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s
// RUN: kv-opt --kv-resolve-collections --canonicalize --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --canonicalize --cse %s | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// CHECK-LABEL: func.func @unused(
// CHECK-NOT: kv.
// CHECK: return
// BUFFER-LABEL: func.func @unused(
// BUFFER-NOT: kv.
// BUFFER: return
func.func @unused(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>, %f: tensor<64x8xf32>, %x: tensor<?x24xf32>,
    %w: tensor<2x24x16xf32>, %sinks: tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %u:4 = kv.unpack %kv : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  %r = kv.rope %q, %p, %f : tensor<?x1x8xf32>, tensor<?xi32>, tensor<64x8xf32>
  %y = kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
  %o = kv.attention %q in (%b, %l, %t, %m)[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x1x8xf32>
  %o2, %lse = kv.attention %q in (%b, %l, %t, %m)[%c0] rows %ro sinks %sinks mask <causal> scale 1.0
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> sinks tensor<1xf32> -> tensor<?x1x8xf32>, tensor<?x1xf32>
  %o3, %lse3 = kv.merge (%o2, %lse), (%q, %lse) : tensor<?x1x8xf32>, tensor<?x1xf32>
  return
}

// Every result of this one is used: all stay, as buffers too, where they have
// no results but write their `outs`.
// CHECK-LABEL: func.func @used(
// CHECK: kv.positions
// CHECK: kv.rope
// CHECK: kv.store
// CHECK: kv.attention
// CHECK: kv.matmul
// BUFFER-LABEL: func.func @used(
// BUFFER: kv.positions {{.*}} outs(
// BUFFER: kv.rope {{.*}} outs(
// BUFFER: kv.store
// BUFFER: kv.attention {{.*}} outs(
// BUFFER: kv.matmul {{.*}} outs(
func.func @used(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>, %f: tensor<64x8xf32>, %w: tensor<2x8x16xf32>)
    -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  %r = kv.rope %q, %p, %f : tensor<?x1x8xf32>, tensor<?xi32>, tensor<64x8xf32>
  kv.store %r, %q into (%b, %l, %t, %m)[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32>
        into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  %o = kv.attention %r in (%b, %l, %t, %m)[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x1x8xf32>
  %flat = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
  %y = kv.matmul %flat, %w : tensor<?x8xf32>, tensor<2x8x16xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// One result of two is enough.
// CHECK-LABEL: func.func @used_lse(
// CHECK: kv.attention
// CHECK: kv.merge
// BUFFER-LABEL: func.func @used_lse(
// BUFFER: kv.attention {{.*}} outs(%[[O:[^,]*]], %[[L:.*]]) mask
// BUFFER: kv.merge (%[[O]], %[[L]]), {{.*}} outs(
func.func @used_lse(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>, %q_lse: tensor<?x1xf32>, %sinks: tensor<1xf32>)
    -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %o, %lse = kv.attention %q in (%b, %l, %t, %m)[%c0] rows %ro sinks %sinks mask <causal> scale 1.0
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> sinks tensor<1xf32> -> tensor<?x1x8xf32>, tensor<?x1xf32>
  %o2, %lse2 = kv.merge (%o, %lse), (%q, %q_lse) : tensor<?x1x8xf32>, tensor<?x1xf32>
  return %lse2 : tensor<?x1xf32>
}

// CHECK-LABEL: func.func @merged(
// CHECK: %[[O:.*]] = kv.attention
// CHECK-NOT: kv.attention
// CHECK: return %[[O]], %[[O]]
func.func @merged(%kv: !kv, %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %0 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %1 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %0, %1 : tensor<?x1x8xf32>, tensor<?x1x8xf32>
}

// CHECK-LABEL: func.func @not_merged(
// CHECK: %[[O:.*]] = kv.attention
// CHECK: kv.store
// CHECK: %[[P:.*]] = kv.attention
// CHECK: return %[[O]], %[[P]]
func.func @not_merged(%kv: !kv, %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %0 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  kv.store %q, %q into %kv[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %1 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %0, %1 : tensor<?x1x8xf32>, tensor<?x1x8xf32>
}

// A store of another view of the same blocks counts as well.
// CHECK-LABEL: func.func @two_views(
// CHECK: kv.attention
// CHECK: kv.store
// CHECK: kv.attention
func.func @two_views(%b: !blocks, %l: tensor<?xi32>, %l2: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>, %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %kv2 = kv.fetch %b, %l2, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %0 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  kv.store %q, %q into %kv2[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %1 = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %0, %1 : tensor<?x1x8xf32>, tensor<?x1x8xf32>
}
