// RUN: not kv-opt --kv-select-kernel="target=tpu" %s 2>&1 | FileCheck %s
// CHECK: kv-select-kernel: no target 'tpu', only cpu, decomposition, cuda
//
// RUN: kv-opt --kv-select-kernel --verify-diagnostics %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func @buffers(%b: memref<?x2x2x16x1x8xf32>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %layer: index, %k: memref<?x1x8xf32>) {
  // expected-error @+1 {{is on buffers: run kv-select-kernel before bufferization}}
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro
      : memref<?x1x8xf32>, memref<?x1x8xf32>
        into (memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
  return
}
