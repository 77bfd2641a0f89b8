// RUN: kv-opt --kv-decompose --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func @handle(%kv: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @+1 {{has a handle: run kv-resolve-collections before}}
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

func.func @buffers(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %y: memref<?x32xf32>) {
  // expected-error @+1 {{is on buffers: run kv-decompose before bufferization}}
  kv.matmul %x, %w outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  return
}
