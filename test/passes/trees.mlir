// What passes make of trees.
//
// RUN: kv-opt --kv-select-kernel --kv-check-steps %s | FileCheck %s --check-prefix=CPU
// RUN: kv-opt --kv-decompose %s | FileCheck %s --check-prefix=PLAIN

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>
!blocks = memref<?x2x2x4x2x8xf32>

// Two layers share a plan that knows of the tree, apart from that of the
// attention without; the words are as many as the rows, which is checked once.
// CPU-LABEL: func.func @forward
// CPU-SAME: %[[TREE:[a-z0-9]*]]: tensor<?xi64>
// CPU: %[[N:.*]] = tensor.dim %[[TREE]]
// CPU: kv.rt.check_step %{{.*}} rows %[[N]] page 4
// CPU-DAG: %[[PLAN:.*]] = kv.plan {{.*}} mask <causal> tree
// CPU-DAG: %[[OTHER:.*]] = kv.plan {{.*}} mask <causal> :
// CPU: kv.attention {{.*}} tree %[[TREE]] plan %[[PLAN]] {{.*}}kernel<vector>
// CPU: kv.attention {{.*}} tree %[[TREE]] plan %[[PLAN]] {{.*}}kernel<vector>
// CPU: kv.attention {{.*}} plan %[[OTHER]] {{.*}}kernel<vector>
// CPU-NOT: kv.plan

// The words become paths: what stands behind a row is cut off.
// PLAIN-LABEL: func.func @forward
// PLAIN: tensor.extract %{{.*}} : tensor<?xi64>
// PLAIN: math.ctpop
// PLAIN-NOT: kv.attention
func.func @forward(%tree: tensor<?xi64>, %q: tensor<?x4x8xf32>, %r: tensor<?xi32>,
    %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>)
    -> tensor<?x4x8xf32> attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %x = kv.attention %q in (%b, %l, %t, %m)[%0] rows %r tree %tree mask <causal> scale 0.5
      : tensor<?x4x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        tree tensor<?xi64> -> tensor<?x4x8xf32>
  %y = kv.attention %x in (%b, %l, %t, %m)[%1] rows %r tree %tree mask <causal> scale 0.5
      : tensor<?x4x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        tree tensor<?xi64> -> tensor<?x4x8xf32>
  %z = kv.attention %y in (%b, %l, %t, %m)[%1] rows %r mask <causal> scale 0.5
      : tensor<?x4x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        -> tensor<?x4x8xf32>
  return %z : tensor<?x4x8xf32>
}
