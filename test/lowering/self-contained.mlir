// A function that the module only declares is in no artifact.
// RUN: not kv-compile %s -o %t.so 2>&1 | FileCheck %s
// RUN: not test -e %t.so
// CHECK: the graph needs the function 'elsewhere', and an artifact has none but mem*

module {
  llvm.func @elsewhere(f32) -> f32
  func.func @forward(%x: tensor<?x8xf32> {kv.name = "x", kv.dims = ["T"]})
      -> (tensor<?x8xf32> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
    %y = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t, d)>], iterator_types = ["parallel", "parallel"]}
        outs(%x : tensor<?x8xf32>) {
    ^bb0(%in: f32):
      %v = llvm.call @elsewhere(%in) : (f32) -> f32
      linalg.yield %v : f32
    } -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
