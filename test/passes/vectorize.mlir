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
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: {kv.grain =
// CHECK-NOT: kv.matmul
func.func private @matmul(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  return
}

// Several weights: one loop over the tiles of all, in the order of the weights;
// equal types share their code, which takes the weight of its tile.
// CHECK-LABEL: func.func private @weights(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x24xf32>, %[[Q:[a-z0-9]*]]: memref<4x24x16xbf16>, %[[K:[a-z0-9]*]]: memref<3x24x16xf32>, %[[V:[a-z0-9]*]]: memref<4x24x16xbf16>, %[[QY:[a-z0-9]*]]: memref<?x64xf32>, %[[KY:[a-z0-9]*]]: memref<?x48xf32>, %[[VY:[a-z0-9]*]]: memref<?x64xf32>)
// CHECK: scf.forall (%[[TILE:.*]]) in (%c3
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %[[TILE]], %[[TWO]]
// CHECK: scf.if %[[HERE]]
// CHECK: %[[SECOND:.*]] = arith.cmpi eq
// CHECK: %[[W:.*]] = arith.select %[[SECOND]], %[[V]], %[[Q]] : memref<4x24x16xbf16>
// CHECK: %[[Y:.*]] = arith.select %[[SECOND]], %[[VY]], %[[QY]] : memref<?x64xf32>
// CHECK: vector.load %[[W]]
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: } else {
// CHECK: arith.subi %[[TILE]], %[[TWO]]
// CHECK: vector.load %[[K]]
// CHECK: vector.store %{{.*}}, %[[KY]]
func.func private @weights(%x: memref<?x24xf32>, %q: memref<4x24x16xbf16>, %k: memref<3x24x16xf32>,
    %v: memref<4x24x16xbf16>, %a: memref<?x64xf32>, %b: memref<?x48xf32>, %c: memref<?x64xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %q, %k, %v outs(%a, %b, %c)
      : memref<?x24xf32>, memref<4x24x16xbf16>, memref<3x24x16xf32>, memref<4x24x16xbf16>
        outs memref<?x64xf32>, memref<?x48xf32>, memref<?x64xf32>
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
