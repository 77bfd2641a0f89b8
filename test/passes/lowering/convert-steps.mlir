// RUN: kv-opt --convert-kv-to-runtime %s | FileCheck %s
// RUN: kv-opt --kv-form-entries %s | kv-opt | FileCheck %s --check-prefix=AGAIN

// AGAIN: kv.rt.check_step %{{.*}} of %{{.*}}, %{{.*}} max %{{.*}} rows %{{.*}} sequences 3 page 16 : memref<?xi32> of memref<?xi32>, memref<?x?xi32> max memref<?x2xi32>
// AGAIN: kv.rt.check_step %{{.*}} of %{{.*}}, %{{.*}} : memref<?xi32> of memref<?xi32>, memref<?x?xi32>
// AGAIN: kv.rt.check_result %{{.*}} "logits"[1] is %{{.*}} : memref<?x?xf32>

// AGAIN: kv.rt.check_indices %{{.*}} "tokens" below %{{.*}} : memref<?xi32>

// CHECK-LABEL: func.func @steps(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr, %[[R:[a-z0-9]*]]: memref<?xi32>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>, %[[N:[a-z0-9]*]]: index, %[[O:[a-z0-9]*]]: memref<?x?xf32>)
// CHECK: %[[ROWS:.*]] = arith.index_cast %[[N]]
// CHECK: %[[THREE:.*]] = arith.constant 3 : i64
// CHECK: %[[PAGE:.*]] = arith.constant 16 : i64
// CHECK: kv.rt.call "checkStep"(%[[CTX]], %[[R]], %[[L]], %[[T]], %[[M]], %[[ROWS]], %[[THREE]], %[[PAGE]], %{{.*}})
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK-DAG: %[[ANY:.*]] = arith.constant -1 : i64
// CHECK-DAG: %[[NO:.*]] = arith.constant 0 : i64
// CHECK: kv.rt.call "checkStep"(%[[CTX]], %[[R]], %[[L]], %[[T]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) absent [3]
// CHECK: %[[NAME:.*]] = kv.rt.text "logits"
// CHECK: kv.rt.call "checkResult"(%[[CTX]], %[[O]], %[[NAME]],
// CHECK: %[[NAME:.*]] = kv.rt.text "tokens"
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[N]]
// CHECK: kv.rt.call "checkIndices"(%[[CTX]], %[[R]], %[[NAME]], %[[COUNT]])
func.func @steps(%ctx: !llvm.ptr, %r: memref<?xi32>, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>,
    %n: index, %o: memref<?x?xf32>) {
  kv.rt.check_step %r of %l, %t max %m rows %n sequences 3 page 16
      : memref<?xi32> of memref<?xi32>, memref<?x?xi32> max memref<?x2xi32>
  kv.rt.check_step %r of %l, %t : memref<?xi32> of memref<?xi32>, memref<?x?xi32>
  kv.rt.check_result %o "logits"[1] is %n : memref<?x?xf32>
  kv.rt.check_indices %r "tokens" below %n : memref<?xi32>
  return
}
