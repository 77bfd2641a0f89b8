// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, latent, dim = 8, v_dim = 4, page = 16>
func.func @f(%l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %kv: !kv, %i: index, %x: tensor<?x1x8xf32>, %rows: tensor<?xi32>, %q: tensor<?x2x8xf32>) {

// -----

!kv = !kv.collection<paged, i8, layers = 2, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>>
(%b: memref<?x2x2x16x2x8xi8>)
// expected-error @+1 {{takes 5 components of its collection, not 4}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

!kv = !kv.collection<paged, i8, layers = 2, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>>
// expected-error @+1 {{component 'scales' of '!kv.collection<paged, i8, layers = 2, heads = 2, dim = 8, page = 16, scale = #kv.scale<f32, group = 4>>' must be like 'memref<?x2x2x16x2x2xf32>', not 'memref<?x2x2x16x2x8xf32>'}}
%b, %l, %t, %m, %s = kv.unpack %kv : !kv -> memref<?x2x2x16x2x8xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x2x8xf32>

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = hnd>
(%b: memref<?x2x2x16x2x8xf32>)
// expected-error @+1 {{component 'blocks' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = hnd>' must be like 'memref<?x2x2x2x16x8xf32>', not 'memref<?x2x2x16x2x8xf32>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

// expected-error @+1 {{a latent cache has no values of its own: they are the first v_dim elements of its keys}}
%c = kv.value_cache %kv[%i] : !kv

// -----

// expected-error @+1 {{a latent cache takes its rows as k, and no v}}
kv.store %x, %x into %kv[%i] rows %rows : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
// expected-error @+1 {{needs v: only a latent cache goes without}}
kv.store %x into %kv[%i] rows %rows : tensor<?x1x8xf32> into !kv, tensor<?xi32>

// -----

// expected-error @+1 {{result must be [T, 2, 4] of 'f32', not 'tensor<?x2x8xf32>'}}
%o = kv.attention %q in %kv[%i] rows %rows mask <causal> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>

// -----

!blocks = memref<?x1x2x16x1x8xf32>
(%b: !blocks)
%one = arith.constant 1 : index
// expected-error @+1 {{plane must be 0 (latent rows), not 1}}
%d, %n = kv.load (%b, %l, %t, %m)[%i, %one] rows %rows : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
    tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>

// -----

(%b: memref<?x2x2x2x16x8xf32>, %p: tensor<?xi32>)
%i = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the blocks' 2 layers}}
kv.copy_pages %b from %p to %p layer %i layout cpu : memref<?x2x2x2x16x8xf32>, tensor<?xi32>, tensor<?xi32>

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
(%rows: tensor<3xi32>, %keys: tensor<4xi32>)
// expected-error @+1 {{'rows' has 3 rows, 'keys' has 4}}
%o = kv.attention %q in %kv[%i] rows %rows keys %keys mask <none> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<3xi32> keys tensor<4xi32> -> tensor<?x2x8xf32>

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
(%plan: tensor<?x4xi32>)
// expected-error @+1 {{takes a plan or 'keys', not both: a plan's keys are those of its rows}}
%o = kv.attention %q in %kv[%i] rows %rows keys %rows plan %plan mask <none> scale 0.1 : tensor<?x2x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x2x8xf32>

// -----

(%p: tensor<3x?xi32>, %freqs: tensor<9x8xf32>)
// expected-error @+1 {{positions must be [T], or [4, T]: one of each angle, not 'tensor<3x?xi32>'}}
%r = kv.rope %x, %p, %freqs : tensor<?x1x8xf32>, tensor<3x?xi32>, tensor<9x8xf32>
