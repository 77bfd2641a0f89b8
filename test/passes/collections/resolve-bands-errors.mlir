// RUN: kv-opt --kv-resolve-bands --verify-diagnostics --split-input-file %s
// RUN: not kv-opt --kv-decompose --split-input-file %s 2>&1 | FileCheck %s --check-prefix=DECOMPOSE

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, page_layers = 1>
func.func @handle(%kv: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @+1 {{has a handle: run kv-resolve-collections before}}
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, page_layers = 1>
!blocks = memref<?x2x1x16x1x8xf32>
func.func @buffers(%b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>, %i: index) {
  // expected-error @+1 {{is on buffers: run kv-resolve-bands before bufferization}}
  kv.print (%b, %l, %t, %m)[%i] : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv
  return
}

// -----

// What comes later says what is missing.
!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, page_layers = 1>
!blocks = memref<?x2x1x16x1x8xf32>
func.func @unresolved(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>) -> tensor<?xi32> {
  // DECOMPOSE: error: 'kv.positions' op has a collection with 'page_layers': run kv-resolve-bands before
  %p = kv.positions (%b, %l, %t, %m), %ro : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}
