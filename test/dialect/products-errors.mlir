// RUN: kv-opt --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 64, page = 16>
func.func @type(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{products must be f8E4M3FN, not 'f8E5M2'}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E5M2
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 64, page = 16>
func.func @cache(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{has products of f8E4M3FN, which are for keys and values of f8E4M3FN without a scale, not for '!kv.collection<paged, bf16, layers = 2, heads = 2, dim = 64, page = 16>'}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E4M3FN
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 64, page = 16, scale = #kv.scale<f32, group = 64>>
func.func @scale(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{which are for keys and values of f8E4M3FN without a scale, not for}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E4M3FN
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 80, page = 16>
func.func @dim(%q: tensor<?x4x80xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x80xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{has products of f8E4M3FN, which are for a head dimension that is a multiple of 32, not for 80}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E4M3FN
      : tensor<?x4x80xf32> in !kv, tensor<?xi32> -> tensor<?x4x80xf32>
  return %o : tensor<?x4x80xf32>
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 64, page = 16>
func.func @mask(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{has products of f8E4M3FN and the mask #kv.mask<none>: it must be causal or sliding}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <none> scale 0.125 products f8E4M3FN
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 64, page = 16>
func.func @kernel(%q: tensor<?x4x64xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{has products of f8E4M3FN, which the kernel 'vector' does not make}}
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E4M3FN {kv.kernel = #kv.kernel<vector>}
      : tensor<?x4x64xf32> in !kv, tensor<?xi32> -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}
