// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%x: tensor<4xf32>, %n: i64, %q: tensor<?x1x64xbf16>, %kv: !kv, %ro: tensor<?xi32>, %layer: index) {

// -----

// expected-error @+1 {{'transpose' is no runtime function}}
%y = kv.rt.launch "transpose"(%x) outs(%x) : tensor<4xf32> outs tensor<4xf32> -> tensor<4xf32>

// -----

// expected-error @+1 {{'arenaRelease' does not run on a device}}
kv.rt.launch "arenaRelease"(%n) : i64

// -----

(%b: memref<?x2x2x16x3x64xbf16>)
// expected-error @+1 {{'planBytes' has a result}}
kv.rt.launch "planBytes"(%b, %n, %n, %n) : memref<?x2x2x16x3x64xbf16>, i64, i64, i64

// -----

(%x: memref<4x64xf32>, %f: f32, %m: i32)
// expected-error @+1 {{'attention' does not run on a device}}
kv.rt.launch "attention"(%x, %x, %x, %x, %x, %n, %x, %f, %f, %m, %n, %x, %x) outs(%x, %x)
    : memref<4x64xf32>, memref<4x64xf32>, memref<4x64xf32>, memref<4x64xf32>, memref<4x64xf32>, i64, memref<4x64xf32>, f32, f32, i32, i64, memref<4x64xf32>, memref<4x64xf32> outs memref<4x64xf32>, memref<4x64xf32>

// -----

// expected-error @+1 {{'cast' takes 1 arguments and 1 outs, not 2 and 1}}
%y = kv.rt.launch "cast"(%x, %x) outs(%x) : tensor<4xf32>, tensor<4xf32> outs tensor<4xf32> -> tensor<4xf32>

// -----

(%x: tensor<4x64xf32>)
// expected-error @+1 {{argument 0 of 'pair' must be I32, not 'i64'}}
%y = kv.rt.launch "pair"(%n, %x, %x) outs(%x) : i64, tensor<4x64xf32>, tensor<4x64xf32> outs tensor<4x64xf32> -> tensor<4x64xf32>

// -----

(%x: tensor<4x64xf32>)
// expected-error @+1 {{argument 0 of 'cast' must be a tensor or a buffer, not 'i64'}}
%y = kv.rt.launch "cast"(%n) outs(%x) : i64 outs tensor<4x64xf32> -> tensor<4x64xf32>

// -----

// expected-error @+1 {{returns its 'outs', 'tensor<4xf32>', on tensors, and nothing on buffers}}
kv.rt.launch "cast"(%x) outs(%x) : tensor<4xf32> outs tensor<4xf32>

// -----

// expected-error @+1 {{returns tensors of other types than its 'outs'}}
%y = "kv.rt.launch"(%x, %x) {callee = #kv.function<"cast">, operandSegmentSizes = array<i32: 1, 1>}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xbf16>

// -----

(%y: memref<4xf32>)
// expected-error @+1 {{mixes tensors and buffers}}
kv.rt.launch "cast"(%x) outs(%y) : tensor<4xf32> outs memref<4xf32>

// -----

(%x: memref<4x64xf32>)
// expected-error @+1 {{parameter 0 of 'pair' is no view that may be absent once}}
kv.rt.launch "pair"(%x, %x) absent [0] outs(%x) : memref<4x64xf32>, memref<4x64xf32> outs memref<4x64xf32>

// -----

(%x: memref<4x64xf32>, %f: i32)
// expected-error @+1 {{parameter 1 of 'pair' is no view that may be absent once}}
kv.rt.launch "pair"(%f, %x) absent [1, 1] outs(%x) : i32, memref<4x64xf32> outs memref<4x64xf32>

// -----

// The plan of a kernel that takes another one.
(%p: tensor<?x4xi32>)
// expected-error @+1 {{has the plan 'tensor<?x4xi32>', the kernel 'cuda' takes i8 [bytes]}}
%o = kv.attention %q in %kv[%layer] rows %ro plan %p mask <causal> scale 1.0 {kv.kernel = #kv.kernel<cuda>}
    : tensor<?x1x64xbf16> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x64xbf16>

// -----

(%p: tensor<?xi8>)
// expected-error @+1 {{has the plan 'tensor<?xi8>', the kernel 'decomposition' takes i32 [T, 4]}}
%o = kv.attention %q in %kv[%layer] rows %ro plan %p mask <causal> scale 1.0 {kv.kernel = #kv.kernel<decomposition>}
    : tensor<?x1x64xbf16> in !kv, tensor<?xi32> plan tensor<?xi8> -> tensor<?x1x64xbf16>
