// RUN: kv-opt --split-input-file --verify-diagnostics %s

// T7
// expected-error @+1 {{collection: a recurrent collection has layers, heads, dim and page alone: a state is no keys}}
func.func private @f() -> !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16, window = 8>

// -----

// expected-error @+1 {{collection: a recurrent collection has layers, heads, dim and page alone: a state is no keys}}
func.func private @f() -> !kv.collection<recurrent, f32, layers = 3, latent, dim = 32, v_dim = 8, page = 16>

// -----

// expected-error @+1 {{collection: a recurrent collection has layers, heads, dim and page alone: a state is no keys}}
func.func private @f() -> !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16, layout = hnd>

// -----

// expected-error @+1 {{collection: the element type of a state must be f32, f16 or bf16}}
func.func private @f() -> !kv.collection<recurrent, f8E4M3FN, layers = 3, heads = 4, dim = 32, page = 16>

// -----

// expected-error @+1 {{collection: 'page_layers' is for paged caches, not for recurrent ones}}
func.func private @f() -> !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16, page_layers = 1>

// -----

// expected-error @+1 {{cache: a recurrent collection has no keys and no values, only states}}
func.func private @f() -> !kv.cache<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>
func.func @no_keys(%st: !st, %layer: index) {
  // expected-error @+1 {{is on the recurrent collection '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', which has states and no keys: kv.state_read and kv.state_write take it}}
  %k = kv.key_cache %st[%layer] : !st
  return
}

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>
func.func @attention(%st: !st, %layer: index, %ro: tensor<?xi32>, %q: tensor<?x4x32xf32>) {
  // expected-error @+1 {{is on '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', which holds states, and no keys and values}}
  %o = kv.attention %q in %st[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x4x32xf32> in !st, tensor<?xi32> -> tensor<?x4x32xf32>
  return
}

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>
func.func @advance(%st: !st, %ro: tensor<?xi32>) {
  // expected-error @+1 {{is on the recurrent collection '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', whose table is of one step}}
  %n = kv.advance %st rows %ro : !st, tensor<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 3, heads = 4, dim = 32, page = 16>
func.func @paged(%kv: !kv, %layer: index, %ro: tensor<?xi32>) {
  // expected-error @+1 {{is on '!kv.collection<paged, f32, layers = 3, heads = 4, dim = 32, page = 16>', which holds keys and values, and no states}}
  %s = kv.state_read %kv[%layer] rows %ro : !kv, tensor<?xi32> -> tensor<?x4x32xf32>
  return
}

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
func.func @shape(%st: !st, %layer: index, %ro: tensor<?xi32>) {
  // expected-error @+1 {{result must be [B, 4, 32] of 'bf16' or f32, not 'tensor<?x4x31xf32>'}}
  %s = kv.state_read %st[%layer] rows %ro : !st, tensor<?xi32> -> tensor<?x4x31xf32>
  return
}

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
func.func @element(%st: !st, %layer: index, %ro: tensor<?xi32>, %s: tensor<?x4x32xf16>) {
  // expected-error @+1 {{state must be [B, 4, 32] of 'bf16' or f32, not 'tensor<?x4x32xf16>'}}
  kv.state_write %s into %st[%layer] rows %ro : tensor<?x4x32xf16> into !st, tensor<?xi32>
  return
}

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
func.func @layer(%st: !st, %ro: tensor<?xi32>, %s: tensor<?x4x32xf32>) {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{layer 3 is outside the collection's 3 layers}}
  kv.state_write %s into %st[%c3] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  return
}
