// RUN: kv-opt %s | kv-opt | FileCheck %s
// RUN: kv-opt --one-shot-bufferize=bufferize-function-boundaries --canonicalize %s | FileCheck %s --check-prefix=BUFFER
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s --check-prefix=UNUSED

!tokens = tensor<?xi32>

// CHECK-LABEL: func.func @draw(
// CHECK: kv.sample %{{.*}} temperature %{{.*}} top_k %{{.*}} top_p %{{.*}} min_p %{{.*}} seed %{{.*}} index %{{.*}} : tensor<?x24xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi64>, tensor<?xi32> -> tensor<?xi32>
// As many tokens as rows.
// BUFFER-LABEL: func.func @draw(
// BUFFER-SAME: %[[LOGITS:[^:]*]]: memref<?x24xf32
// BUFFER: %[[ROWS:.*]] = memref.dim %[[LOGITS]], %c0
// BUFFER: %[[OUT:.*]] = memref.alloc(%[[ROWS]]) {{.*}}: memref<?xi32>
// BUFFER: kv.sample %[[LOGITS]] {{.*}} outs(%[[OUT]])
// BUFFER: return %[[OUT]]
func.func @draw(%l: tensor<?x24xf32>, %t: tensor<?xf32>, %k: tensor<?xi32>, %p: tensor<?xf32>,
    %m: tensor<?xf32>, %s: tensor<?xi64>, %i: tensor<?xi32>) -> !tokens {
  %0 = kv.sample %l temperature %t top_k %k top_p %p min_p %m seed %s index %i
      : tensor<?x24xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi64>,
        tensor<?xi32> -> tensor<?xi32>
  return %0 : !tokens
}

// On buffers it is a write, which stays.
// CHECK-LABEL: func.func @buffers(
// CHECK: kv.sample {{.*}} outs(%{{.*}}) : {{.*}} outs memref<4xi32>
// UNUSED-LABEL: func.func @buffers(
// UNUSED: kv.sample
func.func @buffers(%l: memref<4x24xf32>, %t: memref<4xf32>, %k: memref<4xi32>, %p: memref<4xf32>,
    %m: memref<4xf32>, %s: memref<4xi64>, %i: memref<4xi32>, %o: memref<4xi32>) {
  kv.sample %l temperature %t top_k %k top_p %p min_p %m seed %s index %i outs(%o)
      : memref<4x24xf32>, memref<4xf32>, memref<4xi32>, memref<4xf32>, memref<4xf32>, memref<4xi64>,
        memref<4xi32> outs memref<4xi32>
  return
}

// UNUSED-LABEL: func.func @unused(
// UNUSED-NOT: kv.sample
// UNUSED: return
func.func @unused(%l: tensor<4x24xf32>, %f: tensor<4xf32>, %k: tensor<4xi32>, %s: tensor<4xi64>) {
  %0 = kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
      : tensor<4x24xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>,
        tensor<4xi32> -> tensor<4xi32>
  return
}
