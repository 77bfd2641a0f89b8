// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, window = 8>
func.func @f(%l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %kv: !kv, %rows: tensor<?xi32>, %q: tensor<?x2x8xf32>, %i: index) {

// -----

// expected-error @+1 {{'window' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, window = 0>)

// -----

// expected-error @+1 {{collection: 'window' must be 0 to 2147483647, not -1}}
func.func private @f(!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, window = -1>)

// -----

// expected-error @+1 {{cache: 'window' must be 0 to 2147483647, not 2147483648}}
func.func private @f(!kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, window = 2147483648>)

// -----

// expected-error @+1 {{'window' is given twice}}
func.func private @f(!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, window = 4, window = 4>)

// -----

// expected-error @+1 {{'page_layers' must be positive, not 0}}
func.func private @f(!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, page_layers = 0>)

// -----

// expected-error @+1 {{collection: 'page_layers' must be 1 to layers = 2, not -1}}
func.func private @f(!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, page_layers = -1>)

// -----

// expected-error @+1 {{cache: 'page_layers' must be 1 to layers = 2, not 3}}
func.func private @f(!kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, page_layers = 3>)

// -----

// expected-error @+1 {{collection: 'page_layers' is for paged caches, not for continuous ones}}
func.func private @f(!kv.collection<continuous, f32, layers = 2, heads = 2, dim = 8, max_seq = 16, page_layers = 1>)

// -----

!kv = !kv.collection<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, page_layers = 2>
(%b: memref<?x2x5x16x2x8xf32>)
// expected-error @+1 {{component 'blocks' of '!kv.collection<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, page_layers = 2>' must be like 'memref<?x2x2x16x2x8xf32>', not 'memref<?x2x5x16x2x8xf32>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x5x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

!kv = !kv.collection<paged, f32, layers = 5, heads = 2, dim = 8, page = 16, page_layers = 2>
(%x: tensor<?x2x8xf32>)
// The last band has a place that no layer uses.
%i = arith.constant 5 : index
// expected-error @+1 {{layer 5 is outside the collection's 5 layers}}
kv.store %x, %x into %kv[%i] rows %rows : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

// expected-error @+1 {{has the mask #kv.mask<causal>, but the collection has 'window = 8': the mask must be sliding, sliding_noncausal, chunked or chunked_causal, of at most 8 tokens}}
%o = kv.attention %q in %kv[%i] rows %rows mask <causal> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>

// -----

!kv = !kv.collection<continuous, f32, layers = 2, heads = 1, dim = 8, max_seq = 16, window = 8>
// expected-error @+1 {{has the mask #kv.mask<none>, but the collection has 'window = 8'}}
%o = kv.attention %q in %kv[%i] rows %rows mask <none> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>

// -----

// expected-error @+1 {{has the mask #kv.mask<sliding = 9>, but the collection has 'window = 8'}}
%o = kv.attention %q in %kv[%i] rows %rows mask <sliding = 9> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>

// -----

// Cross attention too: earlier pages are gone whoever brought the keys.
// expected-error @+1 {{has the mask #kv.mask<chunked = 9>, but the collection has 'window = 8'}}
%o = kv.attention %q in %kv[%i] rows %rows keys %rows mask <chunked = 9> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x2x8xf32>

// -----

!blocks = memref<?x2x2x16x1x8xf32>
// With components as with a handle.
(%b: !blocks)
// expected-error @+1 {{has the mask #kv.mask<sliding_noncausal = 10>, but the collection has 'window = 8'}}
%p = kv.plan (%b, %l, %t, %m) rows %rows mask <sliding_noncausal = 10> : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x4xi32>
