// The copy of a slice is a computation: upstream's runtime, which would copy it, is in no artifact.
// RUN: kv-compile %s -o %t.so
// RUN: kv-compile %s -o %t.so --pipeline kv-reference
// RUN: kv-opt --kv-expand-copies %s | FileCheck %s

module {
  func.func @forward(%x: tensor<?x8xf32> {kv.name = "x", kv.dims = ["T"]})
      -> (tensor<?x4xf32> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?x8xf32>
    %y = tensor.extract_slice %x[0, 0] [%t, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }

  // CHECK-LABEL: @copies
  // CHECK: linalg.generic {{.*}}ins(%{{.*}} : memref<?x4xf32, strided<[8, 1]>>) outs(%{{.*}} : memref<?x4xf32>)
  // CHECK: memref.copy %{{.*}}, %{{.*}} : memref<?x4xf32> to memref<?x4xf32>
  func.func private @copies(%a: memref<?x4xf32, strided<[8, 1]>>, %b: memref<?x4xf32>, %c: memref<?x4xf32>) {
    memref.copy %a, %b : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32>
    memref.copy %b, %c : memref<?x4xf32> to memref<?x4xf32>
    return
  }
}
