// RUN: kv-opt --kv-to-attention=target=iree --allow-unregistered-dialect --mlir-print-local-scope %s | FileCheck %s --check-prefixes=CHECK,IREE
// RUN: kv-opt --kv-to-attention=target=tm_tensor --allow-unregistered-dialect --mlir-print-local-scope %s \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TM --implicit-check-not=memref --implicit-check-not=iree
// RUN: kv-opt --kv-to-attention %s | FileCheck %s --check-prefixes=CHECK,LINALG --implicit-check-not=memref --implicit-check-not=iree
//
// What is left is upstream's.
// RUN: kv-opt --kv-to-attention %s | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>

func.func private @layer(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %kv: !kv,
    %layer: index, %rows: tensor<?xi32>) -> tensor<?x4x8xf32> {
  kv.store %k, %v into %kv[%layer] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %rows mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// The blocks are an argument and, after the entry's own result, a result.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:.*]]: tensor<?x4x8xf32>, %[[K:.*]]: tensor<?x2x8xf32>, %[[V:.*]]: tensor<?x2x8xf32>,
// CHECK-SAME: %[[BLOCKS:.*]]: tensor<?x2x2x16x2x8xbf16> {kv.dims = ["kv.pages"], kv.name = "kv.blocks"},
// CHECK-SAME: kv.name = "kv.cache_lengths"
// CHECK-SAME: -> (tensor<?x4x8xf32>, tensor<?x2x2x16x2x8xbf16> {kv.dims = ["kv.pages"], kv.name = "kv.blocks.next"})

// Keys of layer 0, then its values, into the blocks; the attention reads these.
// IREE: %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<?x2x8xf32>)
// IREE: %[[KEYS:.*]] = "iree_linalg_ext.scatter"(%[[ROUNDED]], %{{.*}}, %[[BLOCKS]])
// IREE: "iree_linalg_ext.yield"
// IREE: dimension_map = array<i64: 0, 1, 2, 3>
// IREE: %[[STORED:.*]] = "iree_linalg_ext.scatter"(%{{.*}}, %{{.*}}, %[[KEYS]])
// IREE: tensor.extract %[[STORED]][
// IREE: tensor.extract %[[STORED]][
// IREE: "iree_linalg_ext.attention"(
// Sequence, KV head, query head, row, key, element of a key, of a value: the maps of query, key, value, mask, result.
// IREE: (d0, d1, d2, d3, d5)>, {{.*}} -> (d0, d4, d1, d5)>, {{.*}} -> (d0, d4, d1, d6)>, {{.*}} -> ()>, {{.*}} -> (d0, d3, d4)>, {{.*}} -> (d0, d1, d2, d3, d6)>]
// IREE-SAME: (tensor<?x2x2x?x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, f32, tensor<?x?x?xi1>, tensor<?x2x2x?x8xf32>) -> tensor<?x2x2x?x8xf32>
// The second layer writes into what the first has made.
// IREE: "iree_linalg_ext.scatter"(%{{.*}}, %{{.*}}, %[[STORED]])
// IREE: %[[LAST:.*]] = "iree_linalg_ext.scatter"(
// IREE: "iree_linalg_ext.attention"(
// IREE: return %{{.*}}, %[[LAST]] :

// Sequence, KV head, rows of its two query heads or keys, elements; the mask is added to the scores. The operation divides
// them by the root of 8, which 0.5 becomes 1.41 by.
// TM: %[[STORED:.*]] = scf.for
// TM: tensor.insert_slice
// TM: arith.mulf %{{.*}}, %{{.*}} : f32
// TM: %[[Q:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3], [4]] : tensor<?x2x2x?x8xf32> into tensor<?x2x?x8xf32>
// TM: "tm_tensor.attention"(%{{.*}}) {{.*}}operandSegmentSizes = array<i32: 4, 1>
// TM-SAME: (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
// TM: tensor.expand_shape {{.*}} into tensor<?x2x2x?x8xf32>
// TM: %[[LAST:.*]] = scf.for {{.*}} = %[[STORED]])
// TM: "tm_tensor.attention"(
// TM: return %{{.*}}, %[[LAST]] :

// LINALG: %[[STORED:.*]] = scf.for
// LINALG: scf.if
// LINALG: tensor.insert_slice
// LINALG: tensor.insert_slice
// LINALG: tensor.extract %[[STORED]][
// LINALG: %[[LAST:.*]] = scf.for {{.*}} = %[[STORED]])
// LINALG: return %{{.*}}, %[[LAST]] :

// BUFFER: func.func @forward({{.*}} memref<?x2x2x16x2x8xbf16
func.func @forward(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %kv: !kv,
    %rows: tensor<?xi32>) -> tensor<?x4x8xf32> attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = call @layer(%q, %k, %v, %kv, %c0, %rows)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, !kv, index, tensor<?xi32>) -> tensor<?x4x8xf32>
  %p = call @layer(%o, %k, %v, %kv, %c1, %rows)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>, !kv, index, tensor<?xi32>) -> tensor<?x4x8xf32>
  return %p : tensor<?x4x8xf32>
}
