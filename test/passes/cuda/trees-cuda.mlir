// Trees on a GPU: a plan that knows of them (its mask has KV_MASK_TREE, 16, in
// it), and positions by depth.
//
// RUN: kv-opt --kv-resolve-collections=device --canonicalize --kv-select-kernel="target=cuda" --cse \
// RUN:   --kv-form-launches --split-input-file --verify-diagnostics %s | FileCheck %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>

// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[TREE:[a-z0-9]*]]: tensor<?xi64>
// CHECK-DAG: %[[MASK:.*]] = arith.constant 17 : i32
// CHECK-DAG: %[[PLAN:.*]] = kv.rt.launch "plan"({{.*}}, %[[MASK]], {{.*}})
// CHECK-DAG: %[[AT:.*]] = kv.rt.launch "treePositions"(%{{.*}}, %{{.*}}, %[[TREE]])
// CHECK: kv.rt.launch "rope"({{.*}}, %[[AT]], {{.*}})
// CHECK: kv.rt.launch "plannedTreeAttention"({{.*}}, %[[PLAN]], {{.*}}, %[[TREE]]) absent
func.func @forward(%tree: tensor<?xi64>, %q: tensor<?x2x64xbf16>, %freqs: tensor<128x64xf32>, %kv: !kv, %ro: tensor<?xi32>)
    -> tensor<?x2x64xbf16> {
  %l = arith.constant 0 : index
  %p = kv.positions %kv, %ro tree %tree : !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?xi32>
  %r = kv.rope %q, %p, %freqs : tensor<?x2x64xbf16>, tensor<?xi32>, tensor<128x64xf32>
  %o = kv.attention %r in %kv[%l] rows %ro tree %tree mask <causal> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?x2x64xbf16>
  return %o : tensor<?x2x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @narrow(%tree: tensor<?xi64>, %q: tensor<?x2x64xbf16>, %kv: !kv, %ro: tensor<?xi32>) -> tensor<?x2x64xbf16> {
  %l = arith.constant 0 : index
  // expected-error @+1 {{has a tree and the mask #kv.mask<sliding = 63>: kv-cuda has kernels for trees with causal, or sliding of at least 64 tokens}}
  %o = kv.attention %q in %kv[%l] rows %ro tree %tree mask <sliding = 63> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?x2x64xbf16>
  return %o : tensor<?x2x64xbf16>
}
