// Functions with operations of the dialect are inlined, handles and loops
// included; one that checks the arguments of its own interface is not.
//
// RUN: kv-opt --inline --symbol-dce %s | FileCheck %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// CHECK-NOT: func.func private @layer
func.func private @layer(%x: tensor<?x1x8xf32>, %kv: !kv, %layer: index, %ro: tensor<?xi32>)
    -> (tensor<?x1x8xf32>, !kv) {
  kv.store %x, %x into %kv[%layer] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %x in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %next = kv.advance %kv rows %ro : !kv, tensor<?xi32>
  return %o, %next : tensor<?x1x8xf32>, !kv
}

// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x1x8xf32>, %[[KV:[a-z0-9]*]]: !kv.collection
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: kv.store %[[X]], %[[X]] into %[[KV]][%[[C0]]]
// CHECK: %[[Y:.*]] = kv.attention %[[X]] in %[[KV]][%[[C0]]]
// CHECK: %[[NEXT:.*]] = kv.advance %[[KV]]
// CHECK: kv.store %[[Y]], %[[Y]] into %[[NEXT]][%[[C1]]]
// CHECK-NOT: call
func.func @layers(%x: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %next = call @layer(%x, %kv, %c0, %ro)
      : (tensor<?x1x8xf32>, !kv, index, tensor<?xi32>) -> (tensor<?x1x8xf32>, !kv)
  %z, %last = call @layer(%y, %next, %c1, %ro)
      : (tensor<?x1x8xf32>, !kv, index, tensor<?xi32>) -> (tensor<?x1x8xf32>, !kv)
  return %z : tensor<?x1x8xf32>
}

// CHECK: func.func private @entry(
func.func private @entry(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32
    attributes {kv.interface = {inputs = [], name = "f", outputs = []}} {
  %status = kv.rt.check_arguments %ctx, %args, %count
  return %status : i32
}

// CHECK-LABEL: func.func @caller(
// CHECK: call @entry
func.func @caller(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32 {
  %status = call @entry(%ctx, %args, %count) : (!llvm.ptr, !llvm.ptr, i32) -> i32
  return %status : i32
}
