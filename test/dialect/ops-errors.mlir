// Every message of the operations' verifiers.
//
// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
func.func @f(%b: memref<?x2x2x16x2x8xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %kv: !kv, %ro: tensor<?xi32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %q: tensor<?x4x8xf32>, %layer: index, %x: tensor<?x24xf32>, %p: tensor<?xi32>, %f: tensor<64x8xf32>, %o: memref<?x4x8xf32>, %w: tensor<2x24x16xbf16>, %ctx: !llvm.ptr, %n: i64, %a: tensor<?x4x8xf32>, %la: tensor<?x4xf32>) {

// -----

(%b: memref<?x2x2x16x2x9xf32>)
// expected-error @+1 {{component 'blocks' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'memref<?x2x2x16x2x8xf32>', not 'memref<?x2x2x16x2x9xf32>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x9xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

(%b: memref<?x2x2x16x2x8xbf16>)
// expected-error @+1 {{component 'blocks' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'memref<?x2x2x16x2x8xf32>', not 'memref<?x2x2x16x2x8xbf16>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

(%m: tensor<?x3xi32>)
// expected-error @+1 {{component 'max_lengths' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'tensor<?x2xi32>', not 'tensor<?x3xi32>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x3xi32> -> !kv

// -----

(%l: tensor<?xi64>)
// expected-error @+1 {{operand #1 must be}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xf32>, tensor<?xi64>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

(%t: tensor<?xi32>)
// expected-error @+1 {{component 'lookup_table' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'tensor<?x?xi32>', not 'tensor<?xi32>'}}
%kv = kv.fetch %b, %l, %t, %m : memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32> -> !kv

// -----

(%b: tensor<?x2x2x16x2x8xf32>)
// expected-error @+1 {{operand #0 must be 6D memref of any type values}}
%kv = kv.fetch %b, %l, %t, %m : tensor<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv

// -----

// expected-error @+1 {{component 'blocks' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'memref<?x2x2x16x2x8xf32>', not 'memref<?x1x2x16x2x8xf32>'}}
%b, %l, %t, %m = kv.unpack %kv : !kv -> memref<?x1x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>

// -----

// expected-error @+1 {{takes 4 components of its collection, not 3}}
%p = kv.positions (%b, %l, %t), %ro : (memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>

// -----

// expected-error @+1 {{component 'cache_lengths' of '!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>' must be like 'tensor<?xi32>', not 'tensor<?x?xi32>'}}
%p = kv.positions (%b, %t, %t, %m), %ro : (memref<?x2x2x16x2x8xf32>, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>

// -----

// expected-error @+1 {{names no cache}}
%p = "kv.positions"(%ro) {operandSegmentSizes = array<i32: 0, 1, 0, 0>} : (tensor<?xi32>) -> tensor<?xi32>

// -----

// expected-error @+1 {{takes one handle, or the components of one}}
%p = "kv.positions"(%kv, %kv, %ro) {operandSegmentSizes = array<i32: 2, 1, 0, 0>} : (!kv, !kv, tensor<?xi32>) -> tensor<?xi32>

// -----

// expected-error @+1 {{has a handle: 'collection' is its type and must not be given again}}
%p = kv.positions (%kv), %ro : (!kv) as !kv, tensor<?xi32> -> tensor<?xi32>

// -----

// expected-error @+1 {{names its cache by components: 'collection' must give the collection's type}}
%p = "kv.positions"(%b, %l, %t, %m, %ro) {operandSegmentSizes = array<i32: 4, 1, 0, 0>} : (memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, tensor<?xi32>) -> tensor<?xi32>

// -----

// expected-error @+1 {{attribute 'collection' failed to satisfy constraint}}
%p = kv.positions (%b, %l, %t, %m), %ro : (memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as i32, tensor<?xi32> -> tensor<?xi32>

// -----

// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.positions %kv, %ro : !kv, tensor<?xi32>

// -----

(%ro: memref<?xi32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
%p = kv.positions %kv, %ro : !kv, memref<?xi32> -> tensor<?xi32>

// -----

%c0 = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

%c0 = arith.constant -1 : index
// expected-error @+1 {{layer -1 is outside the collection's 2 layers}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

(%k: tensor<?x3x8xf32>)
%c0 = arith.constant 0 : index
// expected-error @+1 {{'k' must be [T, 2, 8] as the collection says, not 'tensor<?x3x8xf32>'}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x3x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

(%k: tensor<?x?x8xf32>)
%c0 = arith.constant 0 : index
// expected-error @+1 {{'k' must be [T, 2, 8] as the collection says, not 'tensor<?x?x8xf32>'}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x?x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

(%v: tensor<?x2x16xf32>)
%c0 = arith.constant 0 : index
// expected-error @+1 {{'v' must be [T, 2, 8] as the collection says, not 'tensor<?x2x16xf32>'}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x2x8xf32>, tensor<?x2x16xf32> into !kv, tensor<?xi32>

// -----

(%k: tensor<5x2x8xf32>, %v: tensor<6x2x8xf32>)
%c0 = arith.constant 0 : index
// expected-error @+1 {{'k' has 5 rows, 'v' has 6}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<5x2x8xf32>, tensor<6x2x8xf32> into !kv, tensor<?xi32>

// -----

(%k: tensor<?x2x8xf64>)
%c0 = arith.constant 0 : index
// expected-error @+1 {{operand #0 must be}}
kv.store %k, %v into %kv[%c0] rows %ro : tensor<?x2x8xf64>, tensor<?x2x8xf32> into !kv, tensor<?xi32>

// -----

%layer = arith.constant 2 : index
// expected-error @+1 {{layer 2 is outside the collection's 2 layers}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

(%q: tensor<?x3x8xf32>)
%layer = arith.constant 0 : index
// expected-error @+1 {{query heads must be a static multiple of the collection's 2 heads, not 'tensor<?x3x8xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x3x8xf32> in !kv, tensor<?xi32> -> tensor<?x3x8xf32>

// -----

(%q: tensor<?x?x8xf32>)
%layer = arith.constant 0 : index
// expected-error @+1 {{query heads must be a static multiple of the collection's 2 heads, not 'tensor<?x?x8xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x?x8xf32> in !kv, tensor<?xi32> -> tensor<?x?x8xf32>

// -----

(%q: tensor<?x4x16xf32>)
%layer = arith.constant 0 : index
// expected-error @+1 {{head dimension of q must be the collection's 8, not that of 'tensor<?x4x16xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x4x16xf32> in !kv, tensor<?xi32> -> tensor<?x4x16xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{result must be [T, 4, 8] of 'f32', not 'tensor<?x2x8xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{result must be [T, 4, 8] of 'f32', not 'tensor<?x4x8xbf16>'}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xbf16>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{scale must be finite and positive in f32, not 0}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 0.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{scale must be finite and positive in f32, not nan}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 0x7FF8000000000000 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{scale must be finite and positive in f32, not -0.25}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale -0.25 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{scale must be finite and positive in f32, not inf}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 0x7FF0000000000000 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

// What is computed with is f32: infinite there, or no cap at all.
%layer = arith.constant 0 : index
// expected-error @+1 {{scale must be finite and positive in f32, not 1e+39}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0e39 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{softcap must be finite and positive in f32, not 1e-60}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 softcap 1.0e-60 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{softcap must be finite and positive in f32, not 0}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 softcap 0.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{softcap must be finite and positive in f32, not nan}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 softcap 0x7FF8000000000000 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{softcap must be finite and positive in f32, not inf}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 softcap 0x7FF0000000000000 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

%layer = arith.constant 0 : index
// expected-error @+1 {{softcap must be finite and positive in f32, not -1}}
%o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 softcap -1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>

// -----

(%out: memref<?x4x8xf32>)
// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.attention %q in %kv[%layer] rows %ro outs(%out) mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> outs memref<?x4x8xf32>

// -----

(%ro: memref<?xi32>, %q: memref<?x4x8xf32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : memref<?x4x8xf32> in !kv, memref<?xi32>

// -----

(%x: tensor<4x2x8xf32>, %p: tensor<5xi32>)
// expected-error @+1 {{'x' has 4 rows, 'positions' has 5}}
%r = kv.rope %x, %p, %f : tensor<4x2x8xf32>, tensor<5xi32>, tensor<64x8xf32>

// -----

(%x: tensor<?x2x8xf32>, %f: tensor<64x?xf32>)
// expected-error @+1 {{the head dimension and the width of freqs must be static}}
%r = kv.rope %x, %p, %f : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x?xf32>

// -----

(%x: tensor<?x2x?xf32>)
// expected-error @+1 {{the head dimension and the width of freqs must be static}}
%r = kv.rope %x, %p, %f : tensor<?x2x?xf32>, tensor<?xi32>, tensor<64x8xf32>

// -----

(%x: tensor<?x2x8xf32>, %f: tensor<64x7xf32>)
// expected-error @+1 {{freqs must hold pairs for at most the head dimension 8, not 7 numbers}}
%r = kv.rope %x, %p, %f : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x7xf32>

// -----

(%x: tensor<?x2x8xf32>, %f: tensor<64x10xf32>)
// expected-error @+1 {{freqs must hold pairs for at most the head dimension 8, not 10 numbers}}
%r = kv.rope %x, %p, %f : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x10xf32>

// -----

(%x: memref<?x2x8xf32>, %p: memref<?xi32>, %f: memref<64x8xf32>)
// expected-error @+1 {{result must be like x, 'memref<?x2x8xf32>', not 'memref<?x4x8xf32>'}}
kv.rope %x, %p, %f outs(%o) : memref<?x2x8xf32>, memref<?xi32>, memref<64x8xf32> outs memref<?x4x8xf32>

// -----

(%x: tensor<?x2x8xf32>, %o: memref<?x2x8xf32>)
// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.rope %x, %p, %f outs(%o) : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x8xf32> outs memref<?x2x8xf32>

// -----

(%x: memref<?x2x8xf32>, %p: memref<?xi32>, %f: memref<64x8xf32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
"kv.rope"(%x, %p, %f) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?x2x8xf32>, memref<?xi32>, memref<64x8xf32>) -> ()

// -----

(%w: tensor<?x24x16xbf16>)
// expected-error @+1 {{weight must be a static [N / 16, K, 16], not 'tensor<?x24x16xbf16>'}}
%r = kv.matmul %x, %w : tensor<?x24xf32>, tensor<?x24x16xbf16> -> tensor<?x32xf32>

// -----

(%w: tensor<4x24x8xbf16>)
// expected-error @+1 {{weight must be a static [N / 16, K, 16], not 'tensor<4x24x8xbf16>'}}
%r = kv.matmul %x, %w : tensor<?x24xf32>, tensor<4x24x8xbf16> -> tensor<?x32xf32>

// -----

(%x: tensor<?x23xf32>)
// expected-error @+1 {{x has 23 columns, the weight takes 24}}
%r = kv.matmul %x, %w : tensor<?x23xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>

// -----

// expected-error @+1 {{result must have 32 columns, not 16}}
%r = kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x16xf32>

// -----

(%x: tensor<3x24xf32>)
// expected-error @+1 {{'x' has 3 rows, 'result' has 4}}
%r = kv.matmul %x, %w : tensor<3x24xf32>, tensor<2x24x16xbf16> -> tensor<4x32xf32>

// -----

(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
kv.matmul %x, %w : memref<?x24xf32>, memref<2x24x16xbf16>

// -----

// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xbf16>

// -----

// expected-error @+1 {{absent argument 2 of 2}}
kv.rt.call "arenaRelease"(%ctx, %n) absent [2] : (i64) -> ()

// -----

// expected-error @+1 {{absent argument -1 of 2}}
kv.rt.call "arenaRelease"(%ctx, %n) absent [-1] : (i64) -> ()

// -----

(%n: index)
// expected-error @+1 {{no function @nobody}}
kv.rt.parallel_for @nobody(%ctx) count %n grain 1

// -----

func.func @f(%x: tensor<?x24xf32>, %w: memref<2x24x16xbf16>) -> tensor<?x32xf32> {
  // expected-error @+1 {{mixes tensors and buffers}}
  %y = kv.matmul %x, %w : tensor<?x24xf32>, memref<2x24x16xbf16> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
(%k: tensor<?x1x8xf32>, %v: memref<?x1x8xf32>, %l: index)
// expected-error @+1 {{mixes tensors and buffers}}
kv.store %k, %v into %kv[%l] rows %ro : tensor<?x1x8xf32>, memref<?x1x8xf32> into !kv, tensor<?xi32>

// -----

(%s: tensor<3xf32>)
// expected-error @+1 {{sinks must be one number a query head, [4], not 'tensor<3xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro sinks %s mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> sinks tensor<3xf32> -> tensor<?x4x8xf32>

// -----

(%s: tensor<?xf32>)
// expected-error @+1 {{sinks must be one number a query head, [4], not 'tensor<?xf32>'}}
%o = kv.attention %q in %kv[%layer] rows %ro sinks %s mask <causal> scale 1.0 : tensor<?x4x8xf32> in !kv, tensor<?xi32> sinks tensor<?xf32> -> tensor<?x4x8xf32>

// -----

(%q: tensor<5x4x8xf32>)
// expected-error @+1 {{lse must be [T, Hq] of q, 'tensor<5x4x8xf32>', not 'tensor<6x4xf32>'}}
%o, %lse = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0 : tensor<5x4x8xf32> in !kv, tensor<?xi32> -> tensor<5x4x8xf32>, tensor<6x4xf32>

// -----

(%ro: memref<?xi32>, %q: memref<?x4x8xf32>, %lse: memref<?x2xf32>)
// expected-error @+1 {{lse must be [T, Hq] of q, 'memref<?x4x8xf32>', not 'memref<?x2xf32>'}}
kv.attention %q in %kv[%layer] rows %ro outs(%o, %lse) mask <causal> scale 1.0 : memref<?x4x8xf32> in !kv, memref<?xi32> outs memref<?x4x8xf32>, memref<?x2xf32>

// -----

(%lse: memref<?x4xf32>)
// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
%o = "kv.attention"(%q, %kv, %layer, %ro, %lse) {mask = #kv.mask<causal>, scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
    : (tensor<?x4x8xf32>, !kv, index, tensor<?xi32>, memref<?x4xf32>) -> tensor<?x4x8xf32>

// -----

(%la: tensor<?x2xf32>)
// expected-error @+1 {{'a_lse' must be [T, Hq] of 'a', 'tensor<?x4x8xf32>', not 'tensor<?x2xf32>'}}
%o, %l = kv.merge (%a, %la), (%a, %la) : tensor<?x4x8xf32>, tensor<?x2xf32>

// -----

(%b: tensor<5x4x8xf32>, %lb: tensor<6x4xf32>)
// expected-error @+1 {{'b_lse' must be [T, Hq] of 'b', 'tensor<5x4x8xf32>', not 'tensor<6x4xf32>'}}
%o, %l = kv.merge (%a, %la), (%b, %lb) : tensor<?x4x8xf32>, tensor<?x4xf32> and tensor<5x4x8xf32>, tensor<6x4xf32>

// -----

(%b: tensor<?x4x16xf32>)
// expected-error @+1 {{sides must be alike, not 'tensor<?x4x8xf32>' and 'tensor<?x4x16xf32>'}}
%o, %l = kv.merge (%a, %la), (%b, %la) : tensor<?x4x8xf32>, tensor<?x4xf32> and tensor<?x4x16xf32>, tensor<?x4xf32>

// -----

(%a: memref<5x4x8xf32>, %la: memref<5x4xf32>, %o: memref<6x4x8xf32>)
// expected-error @+1 {{result must be like 'a' and 'a_lse', 'memref<5x4x8xf32>' and 'memref<5x4xf32>', not 'memref<6x4x8xf32>' and 'memref<5x4xf32>'}}
kv.merge (%a, %la), (%a, %la) outs(%o, %la) : memref<5x4x8xf32>, memref<5x4xf32> outs memref<6x4x8xf32>, memref<5x4xf32>

// -----

(%a: memref<?x4x8xf32>, %la: memref<?x4xf32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
"kv.merge"(%a, %la, %a, %la, %a) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>, resultSegmentSizes = array<i32: 0, 0>}
    : (memref<?x4x8xf32>, memref<?x4xf32>, memref<?x4x8xf32>, memref<?x4xf32>, memref<?x4x8xf32>) -> ()

// -----

(%la: memref<?x4xf32>)
// expected-error @+1 {{mixes tensors and buffers}}
%o = "kv.merge"(%a, %la, %a, %la) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
    : (tensor<?x4x8xf32>, memref<?x4xf32>, tensor<?x4x8xf32>, memref<?x4xf32>) -> tensor<?x4x8xf32>

// -----

// expected-error @+1 {{takes one weight a product, not 2 weights for 1}}
%r = kv.matmul %x, %w, %w : tensor<?x24xf32>, tensor<2x24x16xbf16>, tensor<2x24x16xbf16> -> tensor<?x32xf32>

// -----

(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %y: memref<?x32xf32>)
// expected-error @+1 {{takes one weight a product, not 1 weights for 2}}
kv.matmul %x, %w outs(%y, %y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>, memref<?x32xf32>

// -----

// expected-error @+1 {{takes at least one weight}}
"kv.matmul"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x24xf32>) -> ()

// -----

// Each weight is looked at.
(%v: tensor<2x23x16xbf16>)
// expected-error @+1 {{x has 24 columns, the weight takes 23}}
%r, %s = kv.matmul %x, %w, %v : tensor<?x24xf32>, tensor<2x24x16xbf16>, tensor<2x23x16xbf16> -> tensor<?x32xf32>, tensor<?x32xf32>

// -----

(%x: tensor<?x8xf32>, %w: tensor<8xf32>)
// expected-error @+1 {{result must be like x, 'tensor<?x8xf32>', not 'tensor<?x8xbf16>'}}
%r = kv.rms_norm %x, %w eps 1.0e-6 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xbf16>

// -----

(%x: tensor<?x?xf32>, %w: tensor<8xf32>)
// expected-error @+1 {{rows of x must have a static width of at least 1, not those of 'tensor<?x?xf32>'}}
%r = kv.rms_norm %x, %w eps 1.0e-6 : tensor<?x?xf32>, tensor<8xf32> -> tensor<?x?xf32>

// -----

(%x: tensor<?x0xf32>, %w: tensor<0xf32>)
// expected-error @+1 {{rows of x must have a static width of at least 1, not those of 'tensor<?x0xf32>'}}
%r = kv.rms_norm %x, %w eps 1.0e-6 : tensor<?x0xf32>, tensor<0xf32> -> tensor<?x0xf32>

// -----

(%x: tensor<?x2x8xf32>, %w: tensor<16xf32>)
// expected-error @+1 {{weight must have the 8 elements of a row, not 'tensor<16xf32>'}}
%r = kv.rms_norm %x, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<16xf32> -> tensor<?x2x8xf32>

// -----

(%x: tensor<?x8xf32>, %w: tensor<8xf32>)
// expected-error @+1 {{eps must be finite and not negative in f32, not -1e-06}}
%r = kv.rms_norm %x, %w eps -1.0e-6 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>

// -----

(%x: tensor<?x8xf32>, %w: tensor<8xf32>)
// expected-error @+1 {{offset must be finite in f32, not inf}}
%r = kv.rms_norm %x, %w eps 1.0e-6 offset 0x7FF0000000000000 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>

// -----

(%x: memref<?x8xf32>, %w: memref<8xf32>)
// expected-error @+1 {{on buffers writes its 'outs' and returns nothing}}
kv.rms_norm %x, %w eps 1.0e-6 : memref<?x8xf32>, memref<8xf32>
