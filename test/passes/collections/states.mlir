// The plain meaning of states; what an entry takes; the one check of a step; who refuses them. On a GPU: lowering/cuda-states.
//
// RUN: kv-opt --kv-expand-collections --kv-resolve-collections --kv-check-steps %s | FileCheck %s --check-prefix=RESOLVE
// RUN: kv-opt --kv-expand-collections --kv-resolve-collections --kv-decompose --canonicalize %s | FileCheck %s
// RUN: kv-opt --kv-expand-collections --kv-resolve-collections --kv-decompose --canonicalize %s | FileCheck %s --check-prefix=SCAN
// RUN: not kv-opt --kv-shard=ranks=2 %s 2>&1 | FileCheck %s --check-prefix=SHARD

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>

// SHARD: kv-shard does not cut the states of '!kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>': a module with recurrent layers is for one rank

// RESOLVE-LABEL: func.func @step
// RESOLVE-SAME: memref<?x1x3x1x4x32xbf16> {kv.collection = {{.*}}, kv.component = "blocks", kv.dims = ["kv.states"], kv.name = "kv.blocks"}
// RESOLVE-SAME: tensor<?x2xi32> {{{.*}}kv.component = "lookup_table", kv.dims = ["kv.batch"], kv.name = "kv.lookup_table"}
// RESOLVE-COUNT-1: kv.rt.check_step
// RESOLVE: kv.state_read (
// RESOLVE-NOT: kv.rt.check_step
// RESOLVE: kv.state_write

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[BLOCKS:[a-z0-9]*]]: memref<?x1x3x1x4x32xbf16>
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: tensor<?x2xi32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// Threads share the heads of both.
// CHECK: linalg.generic
// CHECK: %[[ID:.*]] = tensor.extract %[[TABLE]][%{{.*}}, %[[C0]]]
// CHECK: memref.load %[[BLOCKS]][%{{.*}}, %[[C0]], %{{.*}}, %[[C0]], %{{.*}}, %{{.*}}]
// CHECK: arith.select
// CHECK: scf.forall (%[[H:.*]]) in (4)
// CHECK: scf.for %[[B:.*]] =
// CHECK: tensor.extract %[[TABLE]][%[[B]], %[[C1]]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[BLOCKS]][%{{.*}}, %[[C0]], %{{.*}}, %[[C0]], %[[H]], %{{.*}}]
func.func @step(%kv: !st, %ro: tensor<?xi32>) attributes {kv.entry} {
  %c1 = arith.constant 1 : index
  %s = kv.state_read %kv[%c1] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  kv.state_write %s into %kv[%c1] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  return
}

// Rows one after the other, in the buffers of what is read and of the result.
//
// SCAN-LABEL: func.func @recurrences
// SCAN: %[[TAPS:.*]] = linalg.generic
// SCAN: %[[CONVOLVED:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %[[TAPS]])
// SCAN: scf.for
// SCAN: linalg.generic {{.*}}iterator_types = ["parallel"]
// SCAN: math.fma
// SCAN: arith.divf
// SCAN: scf.for
// SCAN: memref.store
// SCAN: scf.for {{.*}} iter_args(
// SCAN: scf.for
// SCAN: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
// SCAN: arith.subf
// SCAN: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// SCAN: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
// SCAN: memref.store
// SCAN-NOT: kv.state
// SCAN: return
!conv = !kv.collection<recurrent, f32, layers = 3, heads = 3, dim = 24, page = 16>
!scan = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 128, page = 16>
func.func @recurrences(%conv: !conv {kv.name = "conv"}, %scan: !scan {kv.name = "scan"},
    %ro: tensor<?xi32>, %x: tensor<?x24xf32>, %w: tensor<4x24xf32>,
    %k: tensor<?x2x8xf32>, %v: tensor<?x2x3x16xf32>, %g: tensor<?x2x3xf32>) -> (tensor<?x24xf32>, tensor<?x2x3x16xf32>) attributes {kv.entry} {
  %c1 = arith.constant 1 : index
  %y = kv.state_convolution %x, %w in %conv[%c1] rows %ro
      : tensor<?x24xf32>, tensor<4x24xf32> in !conv, tensor<?xi32> -> tensor<?x24xf32>
  %o = kv.state_scan %k, %k, %v decay %g strength %g in %scan[%c1] rows %ro {delta}
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
        in !scan, tensor<?xi32> -> tensor<?x2x3x16xf32>
  return %y, %o : tensor<?x24xf32>, tensor<?x2x3x16xf32>
}
