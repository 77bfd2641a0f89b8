// RUN: kv-opt %s | kv-opt | FileCheck %s
// RUN: kv-opt %s --mlir-print-op-generic | kv-opt | FileCheck %s
// RUN: kv-opt %s --canonicalize --cse | FileCheck %s --check-prefix=EFFECT
// RUN: kv-opt %s --one-shot-bufferize="bufferize-function-boundaries" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=BUFFER

// A gather that nobody uses stays where it is: the other ranks wait for this one.
// CHECK-LABEL: func.func @gathers(
// EFFECT-LABEL: func.func @gathers(
// BUFFER-LABEL: func.func @gathers(
func.func @gathers(%x: tensor<?x16xf32>, %heads: tensor<?x2x8xbf16>, %runs: tensor<?x8xf32>)
    -> (tensor<?x30xf32>, tensor<?x8xf32>) {
  // CHECK: kv.gather %{{.*}} dim 1 shard 16 of 30 ranks 2 : tensor<?x16xf32> -> tensor<?x30xf32>
  // EFFECT-COUNT-4: kv.gather
  // BUFFER: %[[T:.*]] = memref.dim %{{.*}}, %c0
  // BUFFER: %[[OUT:.*]] = memref.alloc(%[[T]]) {{.*}}: memref<?x30xf32>
  // BUFFER: kv.gather %{{.*}} dim 1 shard 16 of 30 ranks 2 outs(%[[OUT]])
  // BUFFER: kv.gather
  %y = kv.gather %x dim 1 shard 16 of 30 ranks 2 : tensor<?x16xf32> -> tensor<?x30xf32>
  %z = kv.gather %x dim 1 shard 16 of 30 ranks 2 : tensor<?x16xf32> -> tensor<?x30xf32>
  // CHECK: dim 1 shard 2 of 4 ranks 4 copies 2 : tensor<?x2x8xbf16> -> tensor<?x4x8xbf16>
  %h = kv.gather %heads dim 1 shard 2 of 4 ranks 4 copies 2
      : tensor<?x2x8xbf16> -> tensor<?x4x8xbf16>
  // As many runs of 3 rows as there are of 2.
  // BUFFER: %[[ROWS:.*]] = memref.dim %arg2, %c0
  // BUFFER: %[[RUNS:.*]] = arith.divui %[[ROWS]], %c2
  // BUFFER: %[[ALL:.*]] = arith.muli %[[RUNS]], %c3
  // BUFFER: memref.alloc(%[[ALL]]) {{.*}}: memref<?x8xf32>
  %r = kv.gather %runs dim 0 shard 2 of 3 ranks 2 : tensor<?x8xf32> -> tensor<?x8xf32>
  return %y, %r : tensor<?x30xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @rank(
// CHECK: kv.rank
// EFFECT-LABEL: func.func @rank(
// EFFECT-COUNT-1: kv.rank
// EFFECT-NOT: kv.rank
func.func @rank() -> (index, index) {
  %a = kv.rank
  %b = kv.rank
  return %a, %b : index, index
}
