// RUN: kv-opt %s --split-input-file --kv-shard="ranks=2 target=cuda" --verify-diagnostics
// RUN: not kv-opt %s --split-input-file --kv-shard="ranks=2 target=gpu" 2>&1 | FileCheck %s

// CHECK: target must be cpu or cuda, not 'gpu'

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Of 48 rows rank 0 has 32, rank 1 has 16: so it is with the bias.
func.func @f(%x: tensor<?x64xf32>, %w: tensor<48x64xbf16> {kv.weight = "w"},
             %bias: tensor<48xf32> {kv.weight = "bias"}) -> tensor<?x48xf32>
    attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x48xf32>) -> tensor<?x48xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x64xf32>, tensor<48x64xbf16>)
      outs(%zeros : tensor<?x48xf32>) -> tensor<?x48xf32>
  // expected-error @+1 {{2 ranks on GPUs would cut 32 elements each out of dimension 0 of 'tensor<48xf32>': they take equal parts of the whole dimension}}
  %z = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y, %bias : tensor<?x48xf32>, tensor<48xf32>) outs(%empty : tensor<?x48xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %sum = arith.addf %p, %q : f32
    linalg.yield %sum : f32
  } -> tensor<?x48xf32>
  return %z : tensor<?x48xf32>
}
