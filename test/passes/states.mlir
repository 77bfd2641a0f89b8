// The plain meaning of states; what an entry takes; the one check of a step; who refuses them.
//
// RUN: kv-opt --kv-expand-collections --kv-resolve-collections --kv-check-steps %s | FileCheck %s --check-prefix=RESOLVE
// RUN: kv-opt --kv-expand-collections --kv-resolve-collections --kv-decompose --canonicalize %s | FileCheck %s
// RUN: not kv-opt --kv-shard=ranks=2 %s 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: not kv-opt --kv-cuda %s 2>&1 | FileCheck %s --check-prefix=CUDA

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>

// SHARD: kv-shard does not cut the states of '!kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>': a module with recurrent layers is for one rank
// CUDA: 'kv.state_read' op has no kernel on a GPU

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
// CHECK: linalg.generic
// CHECK: %[[ID:.*]] = tensor.extract %[[TABLE]][%{{.*}}, %[[C0]]]
// CHECK: memref.load %[[BLOCKS]][%{{.*}}, %[[C0]], %{{.*}}, %[[C0]], %{{.*}}, %{{.*}}]
// CHECK: arith.select
// CHECK: scf.for %[[B:.*]] =
// CHECK: tensor.extract %[[TABLE]][%[[B]], %[[C1]]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[BLOCKS]][%{{.*}}, %[[C0]], %{{.*}}, %[[C0]], %{{.*}}, %{{.*}}]
func.func @step(%kv: !st, %ro: tensor<?xi32>) attributes {kv.entry} {
  %c1 = arith.constant 1 : index
  %s = kv.state_read %kv[%c1] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  kv.state_write %s into %kv[%c1] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  return
}
