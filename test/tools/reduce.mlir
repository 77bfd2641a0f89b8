// What is interesting is that there is a kv.attention; the rest goes.
//
// REQUIRES: kv-reduce
// RUN: kv-reduce --reduction-tree="traversal-mode=0 test=%S/Inputs/has-attention.sh" %s | FileCheck %s

// CHECK-NOT: @other
// CHECK: func.func @attend
// CHECK-NOT: kv.store
// CHECK: kv.attention
// CHECK-NOT: @another

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 16, page = 16>
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @attend(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %row_offsets: tensor<?xi32>,
                  %kv: !kv) -> tensor<?x4x16xf32> {
  %layer = arith.constant 1 : index
  kv.store %k, %k into %kv[%layer] rows %row_offsets
      : tensor<?x2x16xf32>, tensor<?x2x16xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %row_offsets mask <causal> scale 0.25
      : tensor<?x4x16xf32> in !kv, tensor<?xi32> -> tensor<?x4x16xf32>
  return %o : tensor<?x4x16xf32>
}
func.func @another(%kv: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}
