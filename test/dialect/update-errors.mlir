// Every message of the verifiers of kv.update, kv.plan and of an attention's plan.
//
// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
!cache = !kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
!blocks = memref<?x2x2x16x2x8xf32>
func.func @f(%c: !cache, %ro: tensor<?xi32>, %x: tensor<?x2x8xf32>, %i: index, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %kv: !kv, %q: tensor<?x2x8xf32>) {

// -----

// expected-error @+1 {{'add' takes no 'interleaved'}}
kv.update %c rows %ro add(%x) interleaved : !cache, tensor<?xi32>, tensor<?x2x8xf32>

// -----

(%x: tensor<8xf32>)
// expected-error @+1 {{'rms_norm' needs 'eps'}}
kv.update %c rows %ro rms_norm(%x) : !cache, tensor<?xi32>, tensor<8xf32>

// -----

(%x: tensor<64x8xf32>)
// expected-error @+1 {{'rope' takes no 'eps'}}
kv.update %c rows %ro rope(%x) eps 1.0 : !cache, tensor<?xi32>, tensor<64x8xf32>

// -----

// expected-error @+1 {{'add' takes no 'eps'}}
kv.update %c rows %ro add(%x) eps 1.0 : !cache, tensor<?xi32>, tensor<?x2x8xf32>

// -----

(%x: tensor<8xf32>)
// expected-error @+1 {{eps must be finite and not negative in f32, not -1}}
kv.update %c rows %ro rms_norm(%x) eps -1.0 : !cache, tensor<?xi32>, tensor<8xf32>

// -----

(%x: tensor<8xf32>)
// expected-error @+1 {{eps must be finite and not negative in f32, not nan}}
kv.update %c rows %ro rms_norm(%x) eps 0x7FF8000000000000 : !cache, tensor<?xi32>, tensor<8xf32>

// -----

(%x: tensor<8xf32>)
// expected-error @+1 {{eps must be finite and not negative in f32, not inf}}
kv.update %c rows %ro rms_norm(%x) eps 0x7FF0000000000000 : !cache, tensor<?xi32>, tensor<8xf32>

// -----

(%x: tensor<8xf32>)
// expected-error @+1 {{'rope' takes freqs, f32 [max, W] with a static W, not 'tensor<8xf32>'}}
kv.update %c rows %ro rope(%x) : !cache, tensor<?xi32>, tensor<8xf32>

// -----

(%x: tensor<64x8xbf16>)
// expected-error @+1 {{'rope' takes freqs, f32 [max, W] with a static W, not 'tensor<64x8xbf16>'}}
kv.update %c rows %ro rope(%x) : !cache, tensor<?xi32>, tensor<64x8xbf16>

// -----

(%x: tensor<64x?xf32>)
// expected-error @+1 {{'rope' takes freqs, f32 [max, W] with a static W, not 'tensor<64x?xf32>'}}
kv.update %c rows %ro rope(%x) : !cache, tensor<?xi32>, tensor<64x?xf32>

// -----

(%x: tensor<64x7xf32>)
// expected-error @+1 {{freqs must hold pairs for at most the head dimension 8, not 7 numbers}}
kv.update %c rows %ro rope(%x) : !cache, tensor<?xi32>, tensor<64x7xf32>

// -----

(%x: tensor<64x10xf32>)
// expected-error @+1 {{freqs must hold pairs for at most the head dimension 8, not 10 numbers}}
kv.update %c rows %ro rope(%x) : !cache, tensor<?xi32>, tensor<64x10xf32>

// -----

(%x: tensor<2x8xf32>)
// expected-error @+1 {{'rms_norm' takes a weight, a static f32 [W], not 'tensor<2x8xf32>'}}
kv.update %c rows %ro rms_norm(%x) eps 0.0 : !cache, tensor<?xi32>, tensor<2x8xf32>

// -----

(%x: tensor<?xf32>)
// expected-error @+1 {{'rms_norm' takes a weight, a static f32 [W], not 'tensor<?xf32>'}}
kv.update %c rows %ro rms_norm(%x) eps 0.0 : !cache, tensor<?xi32>, tensor<?xf32>

// -----

(%x: tensor<8xf16>)
// expected-error @+1 {{'rms_norm' takes a weight, a static f32 [W], not 'tensor<8xf16>'}}
kv.update %c rows %ro rms_norm(%x) eps 0.0 : !cache, tensor<?xi32>, tensor<8xf16>

// -----

(%x: tensor<9xf32>)
// expected-error @+1 {{weight must have 1 to 8 numbers, the head dimension, not 9}}
kv.update %c rows %ro rms_norm(%x) eps 0.0 : !cache, tensor<?xi32>, tensor<9xf32>

// -----

(%x: tensor<0xf32>)
// expected-error @+1 {{weight must have 1 to 8 numbers, the head dimension, not 0}}
kv.update %c rows %ro rms_norm(%x) eps 0.0 : !cache, tensor<?xi32>, tensor<0xf32>

// -----

(%x: tensor<?x1x8xf32>)
// expected-error @+1 {{'rows' must be [T, 2, 8] as the collection says, not 'tensor<?x1x8xf32>'}}
kv.update %c rows %ro add(%x) : !cache, tensor<?xi32>, tensor<?x1x8xf32>

// -----

(%x: tensor<?x2x4xf32>)
// expected-error @+1 {{'rows' must be [T, 2, 8] as the collection says, not 'tensor<?x2x4xf32>'}}
kv.update %c rows %ro add(%x) : !cache, tensor<?xi32>, tensor<?x2x4xf32>

// -----

(%x: tensor<2x8xf32>)
// expected-error @+1 {{'add' takes rows, [T, heads, dim], not 'tensor<2x8xf32>'}}
kv.update %c rows %ro add(%x) : !cache, tensor<?xi32>, tensor<2x8xf32>

// -----

(%x: memref<?x2x8xf32>)
// expected-error @+1 {{mixes tensors and buffers}}
kv.update %c rows %ro add(%x) : !cache, tensor<?xi32>, memref<?x2x8xf32>

// -----

// expected-error @+1 {{takes [layer, plane] with components, and only then}}
kv.update %c[%i, %i] rows %ro add(%x) : !cache, tensor<?xi32>, tensor<?x2x8xf32>

// -----

// expected-error @+1 {{takes [layer, plane] with components, and only then}}
kv.update (%b, %l, %t, %m) rows %l add(%x) : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<?x2x8xf32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
kv.update (%b, %l, %t, %m)[%c2, %i] rows %l add(%x) : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<?x2x8xf32>

// -----

%c2 = arith.constant 2 : index
// expected-error @+1 {{plane must be 0 (keys) or 1 (values), not 2}}
kv.update (%b, %l, %t, %m)[%i, %c2] rows %l add(%x) : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<?x2x8xf32>

// -----

// expected-error @+1 {{'collection' must give the collection's type}}
"kv.update"(%b, %l, %t, %m, %i, %i, %l, %x) {kind = 2 : i32, operandSegmentSizes = array<i32: 4, 2, 1, 1>} : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, index, index, tensor<?xi32>, tensor<?x2x8xf32>) -> ()

// -----

// expected-error @+1 {{result must be [T, 4], not 'tensor<?x3xi32>'}}
%p = kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32> -> tensor<?x3xi32>

// -----

// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32>

// -----

(%ro: memref<?xi32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
%p = kv.plan %kv rows %ro mask <causal> : !kv, memref<?xi32> -> tensor<?x4xi32>

// -----

(%p: tensor<?x2xi32>)
// expected-error @+1 {{plan must be [T, 4], not 'tensor<?x2xi32>'}}
%o = kv.attention %q in %kv[%i] rows %ro plan %p mask <causal> scale 1.0 : tensor<?x2x8xf32> in !kv, tensor<?xi32> plan tensor<?x2xi32> -> tensor<?x2x8xf32>

// -----

(%q: tensor<3x2x8xf32>, %p: tensor<5x4xi32>)
// expected-error @+1 {{'q' has 3 rows, 'plan' has 5}}
%o = kv.attention %q in %kv[%i] rows %ro plan %p mask <causal> scale 1.0 : tensor<3x2x8xf32> in !kv, tensor<?xi32> plan tensor<5x4xi32> -> tensor<3x2x8xf32>

// -----

(%p: tensor<?x4xi32>)
// expected-error @+1 {{has a plan, which the kernel 'reference' does not take}}
%o = kv.attention %q in %kv[%i] rows %ro plan %p mask <causal> scale 1.0 {kv.kernel = #kv.kernel<reference>} : tensor<?x2x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x2x8xf32>

// -----

%p = kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32> -> tensor<?x4xi32>
// expected-error @+1 {{has the mask #kv.mask<none>, its plan is for #kv.mask<causal>}}
%o = kv.attention %q in %kv[%i] rows %ro plan %p mask <none> scale 1.0 : tensor<?x2x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x2x8xf32>

// -----

!kv = !kv.collection<paged, f32, layers = 2, latent, dim = 8, v_dim = 4, page = 16>
!blocks = memref<?x1x2x16x1x8xf32>
(%x: tensor<?x1x8xf32>)
%c1 = arith.constant 1 : index
// expected-error @+1 {{plane must be 0 (latent rows), not 1}}
kv.update (%b, %l, %t, %m)[%i, %c1] rows %l add(%x) : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<?x1x8xf32>
