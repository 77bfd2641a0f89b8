// Caches and the views of later steps go with the handles.
//
// RUN: kv-opt --kv-resolve-collections %s | FileCheck %s
// RUN: kv-opt --kv-resolve-collections --canonicalize \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!cache = !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// A cache is the components, its layer and its part.
// CHECK-LABEL: func.func private @dense(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>, %[[LAYER:[a-z0-9]*]]: index, %[[PART:[a-z0-9]*]]: index,
// CHECK: kv.load (%[[B]], %[[L]], %[[T]], %[[M]])[%[[LAYER]], %[[PART]]] rows
func.func private @dense(%cache: !cache, %ro: tensor<?xi32>) -> tensor<?x?x1x8xf32> {
  %d, %n = kv.load %cache rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return %d : tensor<?x?x1x8xf32>
}

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>,
// CHECK-SAME: %[[RO:[a-z0-9]*]]: tensor<?xi32>, %[[LAYER:[a-z0-9]*]]: index)
// CHECK-DAG: %[[K:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[V:.*]] = arith.constant 1 : index
// CHECK: call @dense(%[[B]], %[[L]], %[[T]], %[[M]], %[[LAYER]], %[[K]], %[[RO]])
// CHECK: call @dense(%[[B]], %[[L]], %[[T]], %[[M]], %[[LAYER]], %[[V]], %[[RO]])
func.func @parts(%kv: !kv, %ro: tensor<?xi32>, %layer: index)
    -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) {
  %k = kv.key_cache %kv[%layer] : !kv
  %v = kv.value_cache %kv[%layer] : !kv
  %0 = call @dense(%k, %ro) : (!cache, tensor<?xi32>) -> tensor<?x?x1x8xf32>
  %1 = call @dense(%v, %ro) : (!cache, tensor<?xi32>) -> tensor<?x?x1x8xf32>
  return %0, %1 : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>
}

// CHECK-LABEL: func.func @lengths(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<{{[^,]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %{{[a-z0-9]*}}: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>)
// CHECK: %[[S:.*]] = tensor.cast %[[L]] : tensor<?xi32> to tensor<3xi32>
// CHECK: return %[[S]], %[[M]]
func.func @lengths(%kv: !kv) -> (tensor<3xi32>, tensor<?x2xi32>) {
  %l = kv.cache_lengths %kv : !kv -> tensor<3xi32>
  %m = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
  return %l, %m : tensor<3xi32>, tensor<?x2xi32>
}

// The lengths of the next step are new tensors; the handle of this step keeps
// its own.
// CHECK-LABEL: func.func @steps(
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}})
// CHECK: %[[NEXT:.*]] = scf.for
// CHECK: tensor.extract %[[L]]
// CHECK: tensor.insert
// CHECK: %[[REST:.*]] = scf.for
// CHECK-COUNT-2: tensor.extract %[[M]]
// CHECK: kv.store %{{.*}}, %{{.*}} into (%[[B]], %[[L]], %[[T]], %[[M]])
// CHECK: scf.yield %[[B]], %[[NEXT]], %[[T]], %[[REST]]
// BUFFER-LABEL: func.func @steps(
// BUFFER: scf.for
// BUFFER: kv.store
func.func @steps(%kv: !kv, %ro: tensor<?xi32>, %x: tensor<?x1x8xf32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%now = %kv) -> !kv {
    %next = kv.advance %now rows %ro : !kv, tensor<?xi32>
    kv.store %x, %x into %now[%c0] rows %ro
        : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
    scf.yield %next : !kv
  }
  %l = kv.cache_lengths %last : !kv -> tensor<?xi32>
  return %l : tensor<?xi32>
}

// Handles and caches behind others, of a type that was not met before: each
// expands to its own components.
// CHECK-LABEL: func.func private @behind(
// CHECK: return {{(%[^,]*, ){10}%[^,]*}} : memref<?x2x7x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, index, memref<?x2x7x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, index, index
!kv7 = !kv.collection<paged, f32, layers = 7, heads = 1, dim = 8, page = 16>
!cache7 = !kv.cache<paged, f32, layers = 7, heads = 1, dim = 8, page = 16>
func.func private @behind(%layer: index, %kv: !kv7) -> (!kv7, index, !cache7) {
  %c = kv.key_cache %kv[%layer] : !kv7
  return %kv, %layer, %c : !kv7, index, !cache7
}
