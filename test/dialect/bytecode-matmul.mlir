// A kv.matmul of files that were written when it had one weight and no segments,
// and when it had no formats.
//
// RUN: kv-opt %S/Inputs/version-1-matmul.mlirbc | FileCheck %s
// RUN: kv-opt %S/Inputs/version-3-matmul.mlirbc | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s

// CHECK: kv.matmul %{{.*}}, %{{.*}} : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>
// CHECK: kv.matmul %{{.*}}, %{{.*}} outs(%{{.*}}) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
func.func @f(%x: tensor<?x24xf32>, %w: tensor<2x24x16xbf16>, %a: memref<?x24xf32>,
    %b: memref<2x24x16xbf16>, %c: memref<?x32xf32>) -> tensor<?x32xf32> {
  %y = kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>
  kv.matmul %a, %b outs(%c) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  return %y : tensor<?x32xf32>
}
