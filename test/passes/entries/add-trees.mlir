// RUN: kv-opt --kv-add-trees %s | FileCheck %s
// RUN: not kv-opt --kv-add-trees --kv-add-trees %s 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'func.func' op has an argument 'tree' already

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[TREE:[a-z0-9]*]]: tensor<?xi64>)
// CHECK: kv.attention {{.*}} tree %[[TREE]] mask <causal>
func.func private @layer(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x8xf32> {
  %l = arith.constant 1 : index
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[TREE:[a-z0-9]*]]: tensor<?xi64> {kv.dims = ["tree"], kv.name = "tree"})
// CHECK: kv.positions {{.*}} tree %[[TREE]]
// CHECK: call @layer({{.*}}, %[[TREE]])
// CHECK: kv.attention {{.*}} keys {{.*}} mask <none>
func.func @forward(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %keys: tensor<?xi32>)
    -> (tensor<?x4x8xf32>, tensor<?xi32>) attributes {kv.entry} {
  %l = arith.constant 0 : index
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  %x = call @layer(%q, %kv, %rows) : (tensor<?x4x8xf32>, !kv, tensor<?xi32>) -> tensor<?x4x8xf32>
  %o = kv.attention %x in %kv[%l] rows %rows keys %keys mask <none> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x4x8xf32>
  return %o, %p : tensor<?x4x8xf32>, tensor<?xi32>
}
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<?xi32>)
func.func @other(%x: tensor<?xi32>) -> tensor<?xi32> attributes {kv.entry} {
  return %x : tensor<?xi32>
}
