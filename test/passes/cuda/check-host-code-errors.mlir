// RUN: kv-opt --kv-check-host-code --verify-diagnostics --split-input-file %s

func.func @reads(%x: memref<4xi32>, %i: index) -> i32 {
  // expected-error @+1 {{'memref.load' op would touch device memory on the host}}
  %y = memref.load %x[%i] : memref<4xi32>
  return %y : i32
}

// -----

func.func @computes(%x: memref<4xf32>) {
  // expected-error @+1 {{'linalg.add' op would touch device memory on the host}}
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func @copies_part(%x: memref<4x8xf32>, %y: memref<4x4xf32>) {
  %part = memref.subview %x[0, 0] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  // expected-error @+1 {{of 'memref<4x4xf32, strided<[8, 1]>>' to 'memref<4x4xf32>' has no kernel: kv-cuda copies whole tensors}}
  memref.copy %part, %y : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}

// -----

func.func private @makes(%n: index) -> memref<?xf32> {
  %y = memref.alloc(%n) : memref<?xf32>
  return %y : memref<?xf32>
}
func.func @takes(%n: index) {
  // expected-error @+1 {{returns device memory of its own: it must write what it is given}}
  %y = call @makes(%n) : (index) -> memref<?xf32>
  return
}
