// A model of two equal layers goes through both pipelines to the LLVM dialect.
//
// RUN: kv-opt --kv-reference %s | FileCheck %s --implicit-check-not=unrealized_conversion_cast
// RUN: kv-opt --kv-cpu %s | FileCheck %s --implicit-check-not=unrealized_conversion_cast

// CHECK: llvm.func @kv_entry_forward(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32) -> i32

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 16, page = 16>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func private @layer(%x: tensor<?x64xf32>, %kv: !kv, %layer: index, %ro: tensor<?xi32>, %pos: tensor<?xi32>,
      %freqs: tensor<64x16xf32>, %w: tensor<64x64xbf16>, %wk: tensor<32x64xbf16>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %t = tensor.dim %x, %c0 : tensor<?x64xf32>
    %e = tensor.empty(%t) : tensor<?x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
    %q = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %w : tensor<?x64xf32>, tensor<64x64xbf16>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
    %e2 = tensor.empty(%t) : tensor<?x32xf32>
    %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %k = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %wk : tensor<?x64xf32>, tensor<32x64xbf16>) outs(%f2 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
    %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
    %qr = kv.rope %q3, %pos, %freqs : tensor<?x4x16xf32>, tensor<?xi32>, tensor<64x16xf32>
    %kr = kv.rope %k3, %pos, %freqs : tensor<?x2x16xf32>, tensor<?xi32>, tensor<64x16xf32>
    kv.store %kr, %k3 into %kv[%layer] rows %ro : tensor<?x2x16xf32>, tensor<?x2x16xf32> into !kv, tensor<?xi32>
    %o = kv.attention %qr in %kv[%layer] rows %ro mask <causal> scale 0.25 : tensor<?x4x16xf32> in !kv, tensor<?xi32> -> tensor<?x4x16xf32>
    %o2 = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
    %r = linalg.add ins(%o2, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
  func.func @forward(%x: tensor<?x64xf32> {kv.name = "x", kv.dims = ["T"]}, %ro: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]}, %kv: !kv {kv.name = "kv"},
     %freqs: tensor<64x16xf32> {kv.weight = "freqs"}, %w: tensor<64x64xbf16> {kv.weight = "w"}, %wk: tensor<32x64xbf16> {kv.weight = "wk"}) -> (tensor<?x64xf32> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
    %pos = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = call @layer(%x, %kv, %c0, %ro, %pos, %freqs, %w, %wk) : (tensor<?x64xf32>, !kv, index, tensor<?xi32>, tensor<?xi32>, tensor<64x16xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>) -> tensor<?x64xf32>
    %b = call @layer(%a, %kv, %c1, %ro, %pos, %freqs, %w, %wk) : (tensor<?x64xf32>, !kv, index, tensor<?xi32>, tensor<?xi32>, tensor<64x16xf32>, tensor<64x64xbf16>, tensor<32x64xbf16>) -> tensor<?x64xf32>
    return %b : tensor<?x64xf32>
  }
}
