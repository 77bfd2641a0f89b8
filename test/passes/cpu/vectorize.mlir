// RUN: kv-opt --kv-vectorize="rows=6 blocks=1" %s | FileCheck %s

// A work item is a tile of two blocks of columns for all rows: register tiles of
// 6 x 1 and 4 x 1, and of 1 x 2 for the rows that are left. Explicit fma, k
// ascending, by 4; weights widened once a block.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[X:.*]]: memref<?x24xf32>, %[[W:.*]]: memref<2x24x16xbf16>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK: scf.forall (%{{.*}}) in (%c1
// Six rows of one block, then of the other.
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c6{{[_0-9]*}} {
// CHECK: %[[A:.*]]:6 = scf.for %[[K:.*]] = %{{.*}} to %c24{{[_0-9]*}} step %c4{{[_0-9]*}} iter_args(%[[SUM:[a-z0-9]*]] =
// CHECK: %[[WV:.*]] = vector.load %[[W]][%{{.*}}, %[[K]], %{{.*}}] : memref<2x24x16xbf16>, vector<16xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[WV]] : vector<16xbf16> to vector<16xf32>
// CHECK: %[[XV:.*]] = memref.load %[[X]][%[[ROW]], %[[K]]]
// CHECK: %[[SPREAD:.*]] = vector.broadcast %[[XV]]
// CHECK: %[[FIRST:.*]] = math.fma %[[SPREAD]], %[[WIDE]], %[[SUM]] : vector<16xf32>
// CHECK-COUNT-5: math.fma {{.*}}, %[[WIDE]], {{.*}} : vector<16xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c1
// CHECK: vector.load %[[W]][%{{.*}}, %[[NEXT]], %{{.*}}]
// CHECK: math.fma {{.*}}, %[[FIRST]] : vector<16xf32>
// CHECK-COUNT-6: vector.store %[[A]]#{{[0-5]}}, %[[Y]]
// CHECK-NOT: vector.store
// CHECK: %[[B:.*]]:6 = scf.for
// CHECK-COUNT-6: vector.store %[[B]]#{{[0-5]}}, %[[Y]]
// Four rows, likewise.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4{{[_0-9]*}} {
// CHECK: %[[C:.*]]:4 = scf.for
// CHECK-COUNT-4: vector.store %[[C]]#{{[0-3]}}, %[[Y]]
// CHECK-NOT: vector.store
// CHECK: %[[D:.*]]:4 = scf.for
// CHECK-COUNT-4: vector.store %[[D]]#{{[0-3]}}, %[[Y]]
// One row of both blocks.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1{{[_0-9]*}} {
// CHECK: %[[E:.*]]:2 = scf.for
// CHECK-COUNT-2: vector.store %[[E]]#{{[01]}}, %[[Y]]
// CHECK-NOT: vector.store
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
