// RUN: kv-opt %s --convert-kv-to-runtime | FileCheck %s

// The sizes of runs are told in elements.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[X:[^:]*]]: memref<?x2x8xbf16>, %[[Y:[^:]*]]:
// CHECK-DAG: %[[SHARD:.*]] = arith.constant 16 : i64
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 24 : i64
// CHECK-DAG: %[[RANKS:.*]] = arith.constant 4 : i64
// CHECK-DAG: %[[COPIES:.*]] = arith.constant 2 : i64
// CHECK: kv.rt.call "gather"(%[[CTX]], %[[X]], %[[SHARD]], %[[SIZE]], %[[RANKS]], %[[COPIES]], %[[Y]])
// CHECK-NOT: kv.gather
// CHECK: %[[RANK:.*]] = kv.rt.call "rank"(%[[CTX]]) : () -> i64
// CHECK: arith.index_cast %[[RANK]] : i64 to index
func.func @f(%ctx: !llvm.ptr, %x: memref<?x2x8xbf16>, %y: memref<?x3x8xbf16>) -> index {
  kv.gather %x dim 1 shard 2 of 3 ranks 4 copies 2 outs(%y)
      : memref<?x2x8xbf16> outs memref<?x3x8xbf16>
  %rank = kv.rank
  return %rank : index
}
