// The choices are ordered by expert; then a work item is a tile of columns of an
// expert that some row has chosen, for the rows that have: six at a time, then
// fewer, as in a kv.matmul.
//
// RUN: kv-opt --kv-vectorize="rows=6 blocks=1" %s | FileCheck %s
// RUN: kv-opt --kv-outline-kernels %s | FileCheck %s --check-prefix=NAME

// CHECK-LABEL: func.func private @dense(
// CHECK-SAME: %[[X:.*]]: memref<?x24xf32>, %[[W:.*]]: memref<8x24x16xbf16>, %[[E:.*]]: memref<?x3xi32>, %[[Y:.*]]: memref<?x3x32xf32>)
// CHECK: %[[ORDER:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[BOUNDS:.*]] = memref.alloc() : memref<5xi32>
// CHECK: %[[CHOSEN:.*]] = memref.alloc() : memref<4xi32>
// How many choices each has; where they begin; their order.
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[BOUNDS]]
// CHECK: scf.for
// CHECK: memref.load %[[E]]
// CHECK: memref.store %{{.*}}, %[[BOUNDS]]
// CHECK: %[[COUNT:.*]]:2 = scf.for
// CHECK: memref.store %{{.*}}, %[[CHOSEN]]
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[ORDER]]
// One tile of two blocks an expert.
// CHECK: %[[ITEMS:.*]] = arith.muli %[[COUNT]]#0, %
// CHECK: scf.forall (%{{.*}}) in (%[[ITEMS]])
// CHECK: memref.load %[[CHOSEN]]
// CHECK-COUNT-2: memref.load %[[BOUNDS]]
// CHECK: scf.for %{{.*}} step %c6
// CHECK-COUNT-6: memref.load %[[ORDER]]
// CHECK-COUNT-6: memref.load %[[X]]
// CHECK-COUNT-6: vector.store %{{.*}}, %[[Y]]
// CHECK: scf.for %{{.*}} step %c4
// CHECK: scf.for %{{.*}} step %c2
// CHECK: scf.for %{{.*}} step %c1{{[_0-9]*}} {
// CHECK: memref.load %[[ORDER]]
// CHECK: memref.prefetch %[[W]]
// CHECK: vector.load %[[W]]
// CHECK: kv.grain
// CHECK-NOT: kv.expert_matmul
func.func private @dense(%x: memref<?x24xf32>, %w: memref<8x24x16xbf16>, %e: memref<?x3xi32>,
    %y: memref<?x3x32xf32>) attributes {kv.kernel} {
  kv.expert_matmul %x, %w experts(%e) outs(%y) {kv.kernel = #kv.kernel<vector>}
      : memref<?x24xf32>, memref<8x24x16xbf16> experts memref<?x3xi32> outs memref<?x3x32xf32>
  return
}

// Every row of x is rounded once, whoever chose it.
// CHECK-LABEL: func.func private @blocks(
// CHECK-SAME: %[[X:.*]]: memref<?x3x32xf32>, %[[W:.*]]: memref<8x1x288xi8>
// CHECK: %[[T:.*]] = memref.dim %[[X]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[T]], %
// CHECK: memref.alloc(%[[ROWS]]) : memref<?x32xi8>
// CHECK: scf.forall (%{{.*}}) in (%[[ROWS]])
// CHECK: vector.load %[[X]][%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: scf.forall
// CHECK: vector.load %[[W]]
func.func private @blocks(%x: memref<?x3x32xf32>, %w: memref<8x1x288xi8>, %e: memref<?x3xi32>,
    %y: memref<?x3x32xf32>) attributes {kv.kernel} {
  kv.expert_matmul %x, %w experts(%e) outs(%y) {formats = [#kv.quant<q4_0>], kv.kernel = #kv.kernel<vector>}
      : memref<?x3x32xf32>, memref<8x1x288xi8> experts memref<?x3xi32> outs memref<?x3x32xf32>
  return
}

// NAME-LABEL: func.func @named(
// NAME: call @kernel_expert_matmul_24x32_bf16_0(
func.func @named(%x: memref<?x24xf32>, %w: memref<8x24x16xbf16>, %e: memref<?x3xi32>,
    %y: memref<?x3x32xf32>) {
  kv.expert_matmul %x, %w experts(%e) outs(%y) {kv.kernel = #kv.kernel<vector>}
      : memref<?x24xf32>, memref<8x24x16xbf16> experts memref<?x3xi32> outs memref<?x3x32xf32>
  return
}
