// A strided copy would call upstream's runtime.
// RUN: not kv-compile %s -o %t.so 2>&1 | FileCheck %s
// RUN: not test -e %t.so
// CHECK: the graph needs the function 'memrefCopy', and an artifact has none but mem*

module {
  func.func @forward(%x: tensor<?x8xf32> {kv.name = "x", kv.dims = ["T"]})
      -> (tensor<?x4xf32> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?x8xf32>
    %y = tensor.extract_slice %x[0, 0] [%t, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}
