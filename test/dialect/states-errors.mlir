// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

!st = !kv.collection<recurrent, f32, layers = 3, heads = 3, dim = 24, page = 16>
func.func @f(%st: !st, %layer: index, %ro: tensor<?xi32>, %q: tensor<?x2x8xf32>, %x: tensor<?x24xf32>, %w: tensor<4x24xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x3x16xf32>, %d: tensor<?x2x3xf32>, %g: tensor<?x2x3xf32>) {

// -----

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
// expected-error @+1 {{is on the recurrent collection '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', which has states and no keys: kv.state_read and kv.state_write take it}}
%k = kv.key_cache %st[%layer] : !st

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>
(%q: tensor<?x4x32xf32>)
// expected-error @+1 {{is on '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', which holds states, and no keys and values}}
%o = kv.attention %q in %st[%layer] rows %ro mask <causal> scale 1.0
    : tensor<?x4x32xf32> in !st, tensor<?xi32> -> tensor<?x4x32xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>
// expected-error @+1 {{is on the recurrent collection '!kv.collection<recurrent, f32, layers = 3, heads = 4, dim = 32, page = 16>', whose table is of one step}}
%n = kv.advance %st rows %ro : !st, tensor<?xi32>

// -----

!kv = !kv.collection<paged, f32, layers = 3, heads = 4, dim = 32, page = 16>
(%kv: !kv)
// expected-error @+1 {{is on '!kv.collection<paged, f32, layers = 3, heads = 4, dim = 32, page = 16>', which holds keys and values, and no states}}
%s = kv.state_read %kv[%layer] rows %ro : !kv, tensor<?xi32> -> tensor<?x4x32xf32>

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
// expected-error @+1 {{result must be [B, 4, 32] of 'bf16' or f32, not 'tensor<?x4x31xf32>'}}
%s = kv.state_read %st[%layer] rows %ro : !st, tensor<?xi32> -> tensor<?x4x31xf32>

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
(%s: tensor<?x4x32xf16>)
// expected-error @+1 {{state must be [B, 4, 32] of 'bf16' or f32, not 'tensor<?x4x32xf16>'}}
kv.state_write %s into %st[%layer] rows %ro : tensor<?x4x32xf16> into !st, tensor<?xi32>

// -----

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
(%s: tensor<?x4x32xf32>)
%c3 = arith.constant 3 : index
// expected-error @+1 {{layer 3 is outside the collection's 3 layers}}
kv.state_write %s into %st[%c3] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>

// -----

(%w: tensor<1x24xf32>)
// expected-error @+1 {{weight must have at least 2 taps, not 1}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<1x24xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

(%w: tensor<4x16xf32>)
// expected-error @+1 {{weight must be [4, 24], not 'tensor<4x16xf32>'}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<4x16xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

// expected-error @+1 {{result must be [T, 24], not 'tensor<?x16xf32>'}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<4x24xf32> in !st, tensor<?xi32> -> tensor<?x16xf32>

// -----

(%w: tensor<3x24xf32>)
// expected-error @+1 {{has states of [2, 24], as x and weight say, and the collection's are [3, 24]}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<3x24xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

(%x: tensor<?x?xf32>)
// expected-error @+1 {{must have static sizes but for the number of rows}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x?xf32>, tensor<4x24xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

!st = !kv.collection<paged, f32, layers = 3, heads = 3, dim = 24, page = 16>
// expected-error @+1 {{is on '!kv.collection<paged, f32, layers = 3, heads = 3, dim = 24, page = 16>', which holds keys and values, and no states}}
%y = kv.state_convolution %x, %w in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<4x24xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

(%b: tensor<16xf32>)
// expected-error @+1 {{bias must be [24], not 'tensor<16xf32>'}}
%y = kv.state_convolution %x, %w bias %b in %st[%layer] rows %ro : tensor<?x24xf32>, tensor<4x24xf32>, tensor<16xf32> in !st, tensor<?xi32> -> tensor<?x24xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
(%k: tensor<?x2x4xf32>)
// expected-error @+1 {{k must be [T, 2, 8], not 'tensor<?x2x4xf32>'}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x4xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
(%v: tensor<?x3x3x16xf32>)
// expected-error @+1 {{v must be [T, 2, 3, 16], not 'tensor<?x3x3x16xf32>'}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x3x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
(%d: tensor<?x2x2xf32>)
// expected-error @+1 {{decay must be [T, 2, 3], not 'tensor<?x2x2xf32>'}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
(%g: tensor<?x3x2xf32>)
// expected-error @+1 {{strength must be [T, 2, 3], not 'tensor<?x3x2xf32>'}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x3x2xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
// expected-error @+1 {{result must be [T, 2, 3, 16], not 'tensor<?x2x3x8xf32>'}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32> in !st, tensor<?xi32> -> tensor<?x2x3x8xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 64, page = 16>
// expected-error @+1 {{has states of [6, 128], as q and v say, and the collection's are [6, 64]}}
%y = kv.state_scan %q, %k, %v decay %d strength %g in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>

// -----

!st = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
(%p: tensor<3x2xf32>)
// expected-error @+1 {{skip must be [2, 3], not 'tensor<3x2xf32>'}}
%y = kv.state_scan %q, %q, %v decay %d strength %d skip %p in %st[%layer] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<3x2xf32> in !st, tensor<?xi32> -> tensor<?x2x3x16xf32>
