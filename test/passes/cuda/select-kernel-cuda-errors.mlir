// What a GPU has no kernel for.
//
// RUN: kv-opt --kv-select-kernel="target=cuda" --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 88, page = 16>
func.func @f(%b: memref<?x2x2x16x1x88xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x88xbf16>, %layer: index) -> tensor<?x1x88xbf16> {
  // expected-error @+1 {{has the head dimension 88: kv-cuda has kernels for 64, 80, 96, 112, 128, 192 and 256}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x88xbf16> in (memref<?x2x2x16x1x88xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x1x88xbf16>
  return %o : tensor<?x1x88xbf16>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%b: memref<?x2x2x16x1x64xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x64xf32>, %layer: index) -> tensor<?x1x64xf32> {
  // expected-error @+1 {{is on a cache of 'f32': kv-cuda has kernels for bf16, f16, f8E4M3FN, f8E5M2 and i8}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x64xf32> in (memref<?x2x2x16x1x64xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x1x64xf32>
  return %o : tensor<?x1x64xf32>
}

// -----

!kv = !kv.collection<paged, i8, layers = 2, heads = 1, dim = 64, page = 16, scale = #kv.scale<f32, group = 8>>
func.func @f(%b: memref<?x2x2x16x1x64xi8>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %s: memref<?x2x2x16x1x8xf32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{is on a cache with the scale #kv.scale<f32, group = 8>: kv-cuda has kernels for a scale a row of 64 elements, or for at most 4 groups a row, of a multiple of 16 elements}}
  %o = kv.attention %q in (%b, %l, %t, %m, %s)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x1x8xf32>) as !kv, tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, f8E5M2, layers = 2, heads = 1, dim = 64, page = 16, scale = #kv.scale<f32, group = 16>>
func.func @store(%b: memref<?x2x2x16x1x64xf8E5M2>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %s: memref<?x2x2x16x1x4xf32>, %ro: tensor<?xi32>,
    %k: tensor<?x1x64xbf16>, %layer: index) {
  // expected-error @+1 {{is on a cache of 'f8E5M2' with the scale #kv.scale<f32, group = 16>: kv-cuda has kernels for such a cache with a scale a row}}
  kv.store %k, %k into (%b, %l, %t, %m, %s)[%layer] rows %ro
      : tensor<?x1x64xbf16>, tensor<?x1x64xbf16>
        into (memref<?x2x2x16x1x64xf8E5M2>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x1x4xf32>) as !kv, tensor<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, i8, layers = 2, heads = 1, dim = 96, page = 16, scale = #kv.scale<f32, group = 96>>
func.func @f(%b: memref<?x2x2x16x1x96xi8>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %s: memref<?x2x2x16x1x1xf32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x96xbf16>, %layer: index) -> tensor<?x1x96xbf16> {
  // expected-error @+1 {{has the head dimension 96: kv-cuda has kernels for 64, 128 and 256 with such scales}}
  %o = kv.attention %q in (%b, %l, %t, %m, %s)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x96xbf16> in (memref<?x2x2x16x1x96xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x1x1xf32>) as !kv, tensor<?xi32> -> tensor<?x1x96xbf16>
  return %o : tensor<?x1x96xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, latent, dim = 128, v_dim = 64, page = 16>
func.func @f(%b: memref<?x1x2x16x1x128xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x4x128xbf16>, %layer: index) -> tensor<?x4x64xbf16> {
  // expected-error @+1 {{is on a latent cache of 'bf16' rows of 128/64: kv-cuda has kernels for bf16 and f16 rows of 192/128, 320/256 and 576/512}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x4x128xbf16> in (memref<?x1x2x16x1x128xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x4x64xbf16>
  return %o : tensor<?x4x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = ?, dim = 64, page = 16>
func.func @f(%b: memref<?x2x2x16x?x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{is on a cache whose number of heads is not known: give the collection's 'heads'}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x?x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{has 'keys' of their own and the mask 'causal': kv-cuda has a kernel for cross attention with 'none'}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro keys %ro mask <causal> scale 1.0
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{has the kernel 'reference', which is not the target's}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0 {kv.kernel = #kv.kernel<reference>}
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @handle(%kv: !kv, %k: tensor<?x1x64xbf16>, %ro: tensor<?xi32>, %layer: index) {
  // expected-error @+1 {{has a handle: run kv-resolve-collections before}}
  kv.store %k, %k into %kv[%layer] rows %ro : tensor<?x1x64xbf16>, tensor<?x1x64xbf16> into !kv, tensor<?xi32>
  return
}

// -----

!st = !kv.collection<recurrent, f32, layers = 2, heads = 2, dim = 20, page = 16>
func.func @f(%b: memref<?x1x2x1x2x20xf32>, %l: tensor<?xi32>, %t: tensor<?x2xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %s: tensor<?x2x20xf32>) {
  // expected-error @+1 {{is on states of 20 elements: kv-cuda has a kernel for multiples of 8}}
  kv.state_write %s into (%b, %l, %t, %m)[%layer] rows %ro : tensor<?x2x20xf32> into (memref<?x1x2x1x2x20xf32>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st, tensor<?xi32>
  return
}

// -----

!st = !kv.collection<recurrent, bf16, layers = 2, heads = 3, dim = 16, page = 16>
func.func @f(%b: memref<?x1x2x1x3x16xbf16>, %l: tensor<?xi32>, %t: tensor<?x2xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %x: tensor<?x16xf32>, %w: tensor<4x16xf32>) {
  // expected-error @+1 {{is on states of 'bf16': kv-cuda has a kernel for f32}}
  %y = kv.state_convolution %x, %w in (%b, %l, %t, %m)[%layer] rows %ro : tensor<?x16xf32>, tensor<4x16xf32> in (memref<?x1x2x1x3x16xbf16>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st, tensor<?xi32> -> tensor<?x16xf32>
  return
}

// -----

!st = !kv.collection<recurrent, f32, layers = 2, heads = 4, dim = 16, page = 16>
func.func @f(%b: memref<?x1x2x1x4x16xf32>, %l: tensor<?xi32>, %t: tensor<?x2xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %x: tensor<?x16xf32>, %w: tensor<5x16xf32>) {
  // expected-error @+1 {{has 5 taps and 16 channels: kv-cuda has a kernel for at most 4 taps, and multiples of 8 channels}}
  %y = kv.state_convolution %x, %w in (%b, %l, %t, %m)[%layer] rows %ro : tensor<?x16xf32>, tensor<5x16xf32> in (memref<?x1x2x1x4x16xf32>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st, tensor<?xi32> -> tensor<?x16xf32>
  return
}

// -----

!st = !kv.collection<recurrent, f32, layers = 2, heads = 1, dim = 2112, page = 16>
func.func @f(%b: memref<?x1x2x1x1x2112xf32>, %l: tensor<?xi32>, %t: tensor<?x2xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %q: tensor<?x1x264xf32>, %v: tensor<?x1x1x8xf32>, %g: tensor<?x1x1xf32>) {
  // expected-error @+1 {{has keys of 264 and values of 8 elements: kv-cuda has a kernel for keys of at most 256 elements, and values of multiples of 8}}
  %y = kv.state_scan %q, %q, %v decay %g strength %g in (%b, %l, %t, %m)[%layer] rows %ro : tensor<?x1x264xf32>, tensor<?x1x264xf32>, tensor<?x1x1x8xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32> in (memref<?x1x2x1x1x2112xf32>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st, tensor<?xi32> -> tensor<?x1x1x8xf32>
  return
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %part: index) {
  // expected-error @+1 {{has as many rows as max_lengths says: kv-cuda has a kernel for a static number}}
  %d, %n = kv.load (%b, %l, %t, %m)[%layer, %part] rows %ro
      : (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x?x1x64xbf16>, tensor<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, latent, dim = 576, v_dim = 512, page = 16>
func.func @f(%b: memref<?x1x2x16x1x576xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %layer: index, %part: index, %w: tensor<512xf32>) {
  // expected-error @+1 {{has the head dimension 576: kv-cuda has a kernel for at most 256}}
  kv.update (%b, %l, %t, %m)[%layer, %part] rows %ro rms_norm(%w) eps 1.0e-6
      : (memref<?x1x2x16x1x576xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>, tensor<512xf32>
  return
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 1, dim = 96, page = 16>
func.func @products(%b: memref<?x2x2x16x1x96xf8E4M3FN>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>,
    %q: tensor<?x1x96xbf16>, %layer: index) -> tensor<?x1x96xbf16> {
  // expected-error @+1 {{has products of 'f8E4M3FN' and the head dimension 96: kv-cuda has kernels for 64 and 128}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0 products f8E4M3FN
      : tensor<?x1x96xbf16> in (memref<?x2x2x16x1x96xf8E4M3FN>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?x1x96xbf16>
  return %o : tensor<?x1x96xbf16>
}
