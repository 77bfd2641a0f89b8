// Every message of the verifiers of views and of what takes one.
//
// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!cache = !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>
func.func @f(%kv: !kv, %ro: tensor<?xi32>, %k: !cache, %i: index, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %s: tensor<?xi32>) {

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
%k = kv.key_cache %kv[%c2] : !kv

// -----

%c = arith.constant -1 : index
// expected-error @+1 {{layer -1 is outside the collection's 2 layers}}
%v = kv.value_cache %kv[%c] : !kv

// -----

(%layer: index)
// expected-error @+1 {{failed to verify that the cache has the collection's parameters}}
%v = "kv.value_cache"(%kv, %layer) : (!kv, index) -> !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 8>

// -----

// expected-error @+1 {{must be 1D tensor of 32-bit signless integer values, but got 'tensor<?xi64>'}}
%l = kv.cache_lengths %kv : !kv -> tensor<?xi64>

// -----

// expected-error @+1 {{component 'max_lengths' of '!kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>' must be like 'tensor<?x2xi32>', not 'tensor<?x3xi32>'}}
%l = kv.max_lengths %kv : !kv -> tensor<?x3xi32>

// -----

// expected-error @+1 {{failed to verify that all of {collection, next} have same type}}
%n = "kv.advance"(%kv, %ro) : (!kv, tensor<?xi32>) -> !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 8>

// -----

(%ro: tensor<4xi32>)
// expected-error @+1 {{'row_offsets' has 4 rows, 'result' has 5}}
%o = kv.row_offsets %kv, %ro : !kv, tensor<4xi32> -> tensor<5xi32>

// -----

// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.row_offsets %kv, %ro : !kv, tensor<?xi32>

// -----

// expected-error @+1 {{takes [layer, plane] with components, and only then}}
%d, %n = kv.load %k[%i, %i] rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>

// -----

// expected-error @+1 {{takes [layer, plane] with components, and only then}}
%d, %n = kv.load (%b, %l, %t, %m)[%i] rows %l : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
%d, %n = kv.load (%b, %l, %t, %m)[%c2, %i] rows %l : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{plane must be 0 (keys) or 1 (values), not 2}}
%d, %n = kv.load (%b, %l, %t, %m)[%i, %c2] rows %l : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>

// -----

// expected-error @+1 {{result must be [B, S, 1, 8] of 'f32' or f32, not 'tensor<?x?x2x8xf32>'}}
%d, %n = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x2x8xf32>, tensor<?xi32>

// -----

// expected-error @+1 {{result must be [B, S, 1, 8] of 'f32' or f32, not 'tensor<?x?x1x8xbf16>'}}
%d, %n = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xbf16>, tensor<?xi32>

// -----

// expected-error @+1 {{'result' has 3 rows, 'lengths' has 4}}
%d, %n = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<3x?x1x8xf32>, tensor<4xi32>

// -----

(%ro: memref<?xi32>, %d: memref<?x?x1x8xf32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
"kv.load"(%k, %ro, %d) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 0, 0>} : (!cache, memref<?xi32>, memref<?x?x1x8xf32>) -> ()

// -----

(%s: tensor<3xi32>, %d: tensor<4xi32>)
// expected-error @+1 {{'source' has 3 rows, 'destination' has 4}}
kv.copy_pages %b from %s to %d : !blocks, tensor<3xi32>, tensor<4xi32>

// -----

(%d: memref<?xi32>)
// expected-error @+1 {{mixes tensors and buffers}}
kv.copy_pages %b from %s to %d : !blocks, tensor<?xi32>, memref<?xi32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the blocks' 2 layers}}
kv.copy_pages %b from %s to %s layer %c2 : !blocks, tensor<?xi32>, tensor<?xi32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
kv.print %kv[%c2] : !kv

// -----

(%ro: memref<?xi32>)
// expected-error @+1 {{mixes tensors and buffers}}
kv.print (%b, %l, %t, %m)[%i] rows %ro : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, memref<?xi32>
