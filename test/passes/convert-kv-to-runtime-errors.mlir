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
