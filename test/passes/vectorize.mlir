// RUN: kv-opt --kv-vectorize="rows=6 blocks=1" %s | FileCheck %s

// A work item is a tile of columns for all rows; register tiles of 6, 4 and 1
// rows; explicit fma, k ascending, weights widened once a block.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[X:.*]]: memref<?x24xf32>, %[[W:.*]]: memref<2x24x16xbf16>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: %[[WV:.*]] = vector.load %[[W]]{{.*}} : memref<2x24x16xbf16>, vector<16xbf16>
// CHECK: arith.extf %[[WV]] : vector<16xbf16> to vector<16xf32>
// CHECK: memref.load %[[X]]
// CHECK: vector.broadcast
// CHECK: vector.fma
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: {kv.grain =
// CHECK-NOT: kv.matmul
func.func private @matmul(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  return
}

// CHECK-LABEL: func.func private @add(
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.load
// CHECK: arith.addf
// CHECK: memref.store
// CHECK-NOT: linalg
func.func private @add(%x: memref<?x24xf32>, %y: memref<?x24xf32>) attributes {kv.kernel} {
  linalg.add ins(%x, %x : memref<?x24xf32>, memref<?x24xf32>) outs(%y : memref<?x24xf32>)
  return
}

// Only kernels.
// CHECK-LABEL: func.func @other(
// CHECK: linalg.add
func.func @other(%x: memref<?x24xf32>, %y: memref<?x24xf32>) {
  linalg.add ins(%x, %x : memref<?x24xf32>, memref<?x24xf32>) outs(%y : memref<?x24xf32>)
  return
}
