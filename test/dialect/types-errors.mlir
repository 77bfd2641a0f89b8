// RUN: kv-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{collection: 'layers' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 0, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection: 'heads' must be positive, not -1}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = -1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection: 'dim' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 0, page = 16>)

// -----

// expected-error @+1 {{collection: 'page' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 8, page = 0>)

// -----

// expected-error @+1 {{collection: the element type must be f32, f16, bf16, f8E4M3FN, f8E5M2 or i8}}
func.func private @f(!kv.collection<paged, f64, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection: i8 elements need a 'scale'}}
func.func private @f(!kv.collection<paged, i8, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{expected one of [paged, continuous, recurrent] for how a cache is laid out, got: striped}}
func.func private @f(!kv.collection<striped, f32, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+2 {{expected one of [none, causal, sliding, chunked, sliding_noncausal, chunked_causal] for which keys a query sees, got: diagonal}}
// expected-error @+1 {{failed to parse}}
func.func private @f() attributes {mask = #kv.mask<diagonal>}

// -----

// expected-error @+1 {{mask 'sliding' needs a positive window, not 0}}
func.func private @f() attributes {mask = #kv.mask<sliding>}

// -----

// expected-error @+1 {{mask 'chunked' needs a positive window, not -4}}
func.func private @f() attributes {mask = #kv.mask<chunked = -4>}

// -----

// expected-error @+1 {{mask 'causal' takes no window}}
func.func private @f() attributes {mask = #kv.mask<causal = 4>}

// -----

// A handle is never inside a shaped type.
// expected-error @+1 {{invalid memref element type}}
func.func private @f(memref<2x!kv.collection<paged, f32, layers = 1, heads = 1, dim = 8, page = 16>>)

// -----

// expected-error @+1 {{cache: 'page' must be positive, not 0}}
func.func private @f(!kv.cache<paged, f32, layers = 1, heads = 1, dim = 8, page = 0>)

// -----

// expected-error @+1 {{cache: the element type must be f32, f16, bf16, f8E4M3FN, f8E5M2 or i8}}
func.func private @f(!kv.cache<paged, f64, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{'layers' must be at most 1048576, not 1048577}}
func.func private @f(!kv.collection<paged, bf16, layers = 1048577, heads = 3, dim = 8, page = 16>)

// -----

// expected-error @+1 {{a page must be at most 2^40 bytes}}
func.func private @f(!kv.collection<paged, f32, layers = 1024, heads = 1024, dim = 1024, page = 1024>)

// -----

// expected-error @+1 {{'layers' is given twice}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, layers = 2, heads = 3, dim = 8, page = 16>)

// -----

// expected-error @+1 {{'dim' is missing}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, page = 16>)

// -----

// expected-error @+1 {{'page' is missing}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, dim = 8>)

// -----

// expected-error @+1 {{no parameter 'max_seq' in a paged cache, only layers, heads, latent, dim, v_dim, page, scale, layout, window, page_layers}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, dim = 8, max_seq = 16>)

// -----

// expected-error @+1 {{no parameter 'page' in a continuous cache, only layers, heads, latent, dim, v_dim, max_seq, scale, layout, window, page_layers}}
func.func private @f(!kv.collection<continuous, bf16, layers = 2, heads = 3, dim = 8, page = 16>)

// -----

// expected-error @+1 {{'heads' is missing}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, dim = 8, page = 16>)

// -----

// expected-error @+1 {{a latent cache has no 'heads'}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, latent, heads = 1, dim = 8, v_dim = 4, page = 16>)

// -----

// expected-error @+1 {{'v_dim' is missing}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, latent, dim = 8, page = 16>)

// -----

// expected-error @+1 {{'v_dim' must be positive, not 0}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, latent, dim = 8, v_dim = 0, page = 16>)

// -----

// expected-error @+1 {{only a latent cache has a 'v_dim'}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, dim = 8, page = 16, v_dim = 4>)

// -----

// expected-error @+1 {{collection: 'v_dim' must be 1 to dim = 8, not 9}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, latent, dim = 8, v_dim = 9, page = 16>)

// -----

// expected-error @+1 {{a 'scale' needs an element type of 8 bits}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, dim = 8, page = 16, scale = #kv.scale<f32, group = 8>>)

// -----

// expected-error @+1 {{the scale's type must be f32 or f8E8M0FNU}}
func.func private @f(!kv.collection<paged, i8, layers = 2, heads = 3, dim = 8, page = 16, scale = #kv.scale<f16, group = 8>>)

// -----

// expected-error @+1 {{'group' must be a divisor of dim = 8, not 3}}
func.func private @f(!kv.collection<paged, i8, layers = 2, heads = 3, dim = 8, page = 16, scale = #kv.scale<f32, group = 3>>)

// -----

// expected-error @+1 {{'group' must be positive, not 0}}
func.func private @f(!kv.cache<paged, i8, layers = 2, heads = 3, dim = 8, page = 16, scale = #kv.scale<f32, group = 0>>)

// -----

// expected-error @+1 {{expected one of [nhd, hnd, cpu] for the order of blocks in memory, got: dnh}}
func.func private @f(!kv.collection<paged, bf16, layers = 2, heads = 3, dim = 8, page = 16, layout = dnh>)
