// RUN: kv-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{collection's 'layers' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 0, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection's 'heads' must be positive, not -1}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = -1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection's 'dim' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 0, page = 16>)

// -----

// expected-error @+1 {{collection's 'page' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 8, page = 0>)

// -----

// expected-error @+1 {{collection's element type must be f32, f16 or bf16, not 'f64'}}
func.func private @f(!kv.collection<paged, f64, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+1 {{collection's element type must be f32, f16 or bf16, not 'i8'}}
func.func private @f(!kv.collection<paged, i8, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+2 {{expected one of [paged] for how a cache is laid out, got: striped}}
// expected-error @+1 {{failed to parse}}
func.func private @f(!kv.collection<striped, f32, layers = 1, heads = 1, dim = 8, page = 16>)

// -----

// expected-error @+2 {{expected one of [none, causal, sliding, chunked, sliding_noncausal] for which keys a query sees, got: diagonal}}
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

// expected-error @+1 {{cache's 'page' must be positive, not 0}}
func.func private @f(!kv.cache<paged, f32, layers = 1, heads = 1, dim = 8, page = 0>)

// -----

// expected-error @+1 {{cache's element type must be f32, f16 or bf16, not 'f64'}}
func.func private @f(!kv.cache<paged, f64, layers = 1, heads = 1, dim = 8, page = 16>)
