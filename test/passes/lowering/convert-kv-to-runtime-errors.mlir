// RUN: kv-opt --convert-kv-to-runtime --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @handle(%ctx: !llvm.ptr, %kv: !kv, %ro: memref<?xi32>, %p: memref<?xi32>) {
  // expected-error @+1 {{has a handle: run kv-resolve-collections before}}
  kv.positions %kv, %ro outs(%p) : !kv, memref<?xi32> outs memref<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @positions(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %p: memref<?xi32>) {
  // expected-error @+1 {{has no runtime function: run kv-decompose before}}
  kv.positions (%b, %l, %t, %m), %ro outs(%p)
      : (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?xi32>
  return
}

// -----

func.func private @copy_pages(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %s: memref<?xi32>) {
  // expected-error @+1 {{has no runtime function: run kv-decompose before}}
  kv.copy_pages %b from %s to %s : memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @tensors(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>, %layer: index) {
  // expected-error @+1 {{is on tensors: bufferize before}}
  kv.print (%b, %l, %t, %m)[%layer]
      : (memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @no_context(%b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %layer: index) {
  // expected-error @+1 {{is in a function without the context: run kv-thread-context before}}
  kv.print (%b, %l, %t, %m)[%layer]
      : (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @plan(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %q: memref<?x1x8xf32>, %p: memref<?x4xi32>, %layer: index) {
  // expected-error @+1 {{has a plan, which the runtime function does not take: run kv-select-kernel before}}
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %p outs(%q) mask <causal> scale 1.0
      : memref<?x1x8xf32> in (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x1x8xf32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @kernel(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %q: memref<?x1x8xf32>, %layer: index) {
  // expected-error @+1 {{has the kernel 'decomposition': run kv-decompose before}}
  kv.store %q, %q into (%b, %l, %t, %m)[%layer] rows %ro {kv.kernel = #kv.kernel<decomposition>}
      : memref<?x1x8xf32>, memref<?x1x8xf32>
        into (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
  return
}

// -----

func.func private @launch(%ctx: !llvm.ptr, %x: tensor<4xf32>) {
  // expected-error @+1 {{is on tensors: bufferize before}}
  %y = kv.rt.launch "cast"(%x) outs(%x) : tensor<4xf32> outs tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>

func.func private @no_launch(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x64xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %q: memref<?x1x64xbf16>, %o: memref<?x1x64xbf16>, %layer: index) {
  // expected-error @+1 {{has the kernel 'cuda': run kv-form-launches before bufferization}}
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro outs(%o) mask <causal> scale 1.0 {kv.kernel = #kv.kernel<cuda>}
      : memref<?x1x64xbf16> in (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?x1x64xbf16>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func private @not_vectorized(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %q: memref<?x1x8xf32>, %p: memref<?x4xi32>, %layer: index) {
  // expected-error @+1 {{has the kernel 'vector': run kv-outline-kernels and kv-vectorize before}}
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %p outs(%q) mask <causal> scale 1.0
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x1x8xf32> in (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x1x8xf32>
  return
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 1, dim = 32, page = 16>

func.func private @products(%ctx: !llvm.ptr, %b: memref<?x2x2x16x1x32xf8E4M3FN>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %q: memref<?x1x32xf32>, %o: memref<?x1x32xf32>, %layer: index) {
  // expected-error @+1 {{has products of f8E4M3FN, which no function of the runtime makes: run kv-decompose before}}
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro outs(%o) mask <causal> scale 1.0 products f8E4M3FN
      : memref<?x1x32xf32> in (memref<?x2x2x16x1x32xf8E4M3FN>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32> outs memref<?x1x32xf32>
  return
}
