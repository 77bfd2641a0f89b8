// The lengths of the next step are made on the device; of how long they are the
// host knows nothing then.
//
// RUN: kv-opt --kv-resolve-collections=device --canonicalize %s | FileCheck %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>

// CHECK-LABEL: func.func @next(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<{{[^,]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %{{[a-z0-9]*}}: tensor<?x2xi32>, %[[RO:[a-z0-9]*]]: tensor<?xi32>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: kv.rt.check_step
// CHECK: %[[BATCH:.*]] = tensor.dim %[[L]], %[[ZERO]]
// CHECK: %[[OUT:.*]] = tensor.empty(%[[BATCH]]) : tensor<?xi32>
// CHECK: %[[NEXT:.*]] = kv.rt.launch "growLengths"(%[[L]], %[[RO]], %[[ONE]]) outs(%[[OUT]]) : tensor<?xi32>, tensor<?xi32>, i32 outs tensor<?xi32> -> tensor<?xi32>
// CHECK: %[[NOTHING:.*]] = tensor.empty() : tensor<0x2xi32>
// CHECK: %[[MOST:.*]] = tensor.cast %[[NOTHING]]
// CHECK: kv.positions (%[[B]], %[[NEXT]], %[[T]], %[[MOST]]), %[[RO]]
func.func @next(%kv: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  %next = kv.advance %kv rows %ro : !kv, tensor<?xi32>
  %p = kv.positions %next, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}
