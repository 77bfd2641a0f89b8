// Calls of small functions on tensors become their bodies.
//
// RUN: kv-opt --kv-inline-helpers %s | FileCheck %s
// RUN: kv-opt --kv-inline-helpers="max-operations=1" %s | FileCheck %s --check-prefix=ONE

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// ONE-LABEL: func.func @forward(
// ONE: kv.matmul
// ONE: call @twice

// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x16xf32>, %[[W:[a-z0-9]*]]: tensor<1x16x16xf32>
// CHECK: %[[A:.*]] = kv.matmul %[[X]], %[[W]]
// CHECK: %[[D:.*]] = arith.addf %[[A]], %[[A]]
// CHECK: %[[M:.*]] = arith.mulf %[[D]], %[[A]]
// CHECK-NOT: call @linear
// CHECK-NOT: call @twice
// Not: what has effects, calls, or control flow; what others may call too; what
// has no body.
// CHECK: call @store(
// CHECK: call @layer(%[[M]]
// CHECK: call @branches(
// CHECK: call @exported(
// CHECK: call @external(
func.func @forward(%x: tensor<?x16xf32>, %w: tensor<1x16x16xf32>, %kv: !kv, %ro: tensor<?xi32>,
    %k: tensor<?x1x8xf32>, %c: i1) -> tensor<?x16xf32> {
  %a = call @linear(%x, %w) : (tensor<?x16xf32>, tensor<1x16x16xf32>) -> tensor<?x16xf32>
  %m = call @twice(%a) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  call @store(%kv, %ro, %k) : (!kv, tensor<?xi32>, tensor<?x1x8xf32>) -> ()
  %l = call @layer(%m, %w) : (tensor<?x16xf32>, tensor<1x16x16xf32>) -> tensor<?x16xf32>
  %b = call @branches(%l, %c) : (tensor<?x16xf32>, i1) -> tensor<?x16xf32>
  %e = call @exported(%b) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %f = call @external(%e) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %f : tensor<?x16xf32>
}

func.func private @linear(%x: tensor<?x16xf32>, %w: tensor<1x16x16xf32>) -> tensor<?x16xf32> {
  %y = kv.matmul %x, %w : tensor<?x16xf32>, tensor<1x16x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

func.func private @twice(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = arith.addf %x, %x : tensor<?x16xf32>
  %z = arith.mulf %y, %x : tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

func.func private @store(%kv: !kv, %ro: tensor<?xi32>, %k: tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  kv.store %k, %k into %kv[%c0] rows %ro : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  return
}

// What a helper calls is inlined in it all the same.
// CHECK-LABEL: func.func private @layer(
// CHECK: kv.matmul
// CHECK-NOT: call
// CHECK: return
func.func private @layer(%x: tensor<?x16xf32>, %w: tensor<1x16x16xf32>) -> tensor<?x16xf32> {
  %y = call @linear(%x, %w) : (tensor<?x16xf32>, tensor<1x16x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

func.func private @branches(%x: tensor<?x16xf32>, %c: i1) -> tensor<?x16xf32> {
  %y = scf.if %c -> tensor<?x16xf32> {
    %s = arith.addf %x, %x : tensor<?x16xf32>
    scf.yield %s : tensor<?x16xf32>
  } else {
    scf.yield %x : tensor<?x16xf32>
  }
  return %y : tensor<?x16xf32>
}

func.func @exported(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}

func.func private @external(%x: tensor<?x16xf32>) -> tensor<?x16xf32>
