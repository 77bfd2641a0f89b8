// RUN: kv-opt %s -o %t.mlir && kv-opt %t.mlir | cmp - %t.mlir
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | cmp - %t.mlir
// RUN: kv-opt --emit-bytecode %s | kv-opt | cmp - %t.mlir
// RUN: FileCheck %s < %t.mlir
//
// A file of version 5, whose plans know nothing of trees, is read as it was meant.
// RUN: kv-opt %S/Inputs/version-5-plan.mlirbc | FileCheck %s --check-prefix=OLD
// OLD: kv.positions %{{.*}}, %{{.*}} : !kv
// OLD: kv.plan %{{.*}} rows %{{.*}} mask <sliding = 7> : !kv
// OLD: kv.attention %{{.*}} plan %{{.*}} mask <sliding = 7> scale 1.250000e-01 : tensor

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>

// CHECK-LABEL: func.func @tensors
// CHECK: kv.positions %{{.*}}, %[[ROWS:.*]] tree %[[TREE:.*]] : !kv.collection<{{.*}}>, tensor<?xi32> tree tensor<?xi64> -> tensor<?xi32>
// CHECK: kv.plan %{{.*}} rows %[[ROWS]] mask <causal> tree : !kv
// CHECK: kv.attention %{{.*}} in %{{.*}}[%{{.*}}] rows %[[ROWS]] tree %[[TREE]] plan %{{.*}} mask <causal> scale 5.000000e-01 : tensor<?x4x8xf32> in !kv.collection<{{.*}}>, tensor<?xi32> tree tensor<?xi64> plan tensor<?x4xi32> -> tensor<?x4x8xf32>
func.func @tensors(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %tree: tensor<?xi64>)
    -> (tensor<?x4x8xf32>, tensor<?xi32>) {
  %l = arith.constant 1 : index
  %p = kv.positions %kv, %rows tree %tree : !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?xi32>
  %plan = kv.plan %kv rows %rows mask <causal> tree : !kv, tensor<?xi32> -> tensor<?x4xi32>
  %o = kv.attention %q in %kv[%l] rows %rows tree %tree plan %plan mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> tree tensor<?xi64> plan tensor<?x4xi32> -> tensor<?x4x8xf32>
  return %o, %p : tensor<?x4x8xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @buffers
// CHECK: kv.positions {{.*}} tree %{{.*}} outs(%{{.*}}) :
// CHECK: kv.attention {{.*}} tree %{{.*}} sinks %{{.*}} outs(%{{.*}}) mask <sliding = 3>
func.func @buffers(%q: memref<?x4x8xf32>, %kv: !kv, %rows: memref<?xi32>, %tree: memref<?xi64>,
                   %sinks: memref<4xf32>, %o: memref<?x4x8xf32>, %p: memref<?xi32>) {
  %l = arith.constant 1 : index
  kv.positions %kv, %rows tree %tree outs(%p) : !kv, memref<?xi32> tree memref<?xi64> outs memref<?xi32>
  kv.attention %q in %kv[%l] rows %rows tree %tree sinks %sinks outs(%o) mask <sliding = 3> scale 0.5
      : memref<?x4x8xf32> in !kv, memref<?xi32> tree memref<?xi64> sinks memref<4xf32> outs memref<?x4x8xf32>
  return
}
