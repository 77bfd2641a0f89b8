// What the other passes of kv-raise have not made is refused, by a sentence.
//
// RUN: kv-opt --kv-raise-rows --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 4>

// expected-error @+1 {{kv-raise: 'entry' has a cache and is no graph of kv-raise: it has a kv.entry, no tokens or no attention}}
func.func @entry(%q: tensor<?x2x16xf32>, %tokens: tensor<?xi32>, %offsets: tensor<?xi32>, %kv: !kv)
    -> tensor<?x2x16xf32> attributes {kv.entry} {
  %layer = arith.constant 0 : index
  %o = kv.attention %q in %kv[%layer] rows %offsets mask <causal> scale 0.25
      : tensor<?x2x16xf32> in !kv, tensor<?xi32> -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 4>

// expected-error @+1 {{kv-raise: 'no_tokens' has a cache}}
func.func @no_tokens(%q: tensor<4x2x16xf32>, %offsets: tensor<2xi32>, %kv: !kv) -> tensor<4x2x16xf32> {
  %layer = arith.constant 0 : index
  %o = kv.attention %q in %kv[%layer] rows %offsets mask <causal> scale 0.25
      : tensor<4x2x16xf32> in !kv, tensor<2xi32> -> tensor<4x2x16xf32>
  return %o : tensor<4x2x16xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 4>

// expected-error @+1 {{kv-raise: 'no_attention' has a cache}}
func.func @no_attention(%tokens: tensor<?xi32>, %kv: !kv) -> tensor<?xi32> {
  return %tokens : tensor<?xi32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 16, page = 4>

// expected-error @+1 {{kv-raise: 'declared' has a cache}}
func.func private @declared(%tokens: tensor<?xi32>, %kv: !kv) -> tensor<?xi32>
