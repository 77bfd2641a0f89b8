// Rotations and the store become one launch, with the norms before them.
//
// RUN: kv-opt --kv-fuse-launches --canonicalize --cse --split-input-file %s | FileCheck %s
// RUN: kv-opt --kv-fuse-launches --split-input-file %s -o /dev/null --remarks-filter=kv-fuse-launches 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
//
// REMARK: [Passed] Fused | {{.*}}"3 launches become one"
// REMARK: [Passed] Fused | {{.*}}"5 launches become one"
// REMARK: [Missed] NotFused | {{.*}}"no queries are rotated like the keys, and used behind it alone"
// REMARK: [Missed] NotFused | {{.*}}"the keys are not rotated for it alone"
// REMARK: [Missed] NotFused | {{.*}}"groups of a scale must be powers of two"

!blocks = memref<?x2x2x16x1x64xbf16>

// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[B:[^:]*]]: memref<?x2x2x16x1x64xbf16>, %[[L:[^:]*]]: tensor<?xi32>, %[[T:[^:]*]]: tensor<?x?xi32>,
// CHECK-SAME: %[[RO:[^:]*]]: tensor<?xi32>, %[[I:[^:]*]]: index, %[[Q:[^:]*]]: tensor<?x2x64xf32>, %[[K:[^:]*]]: tensor<?x1x64xf32>, %[[V:[^:]*]]: tensor<?x1x64xbf16>, %[[P:[^:]*]]: tensor<?xi32>, %[[F:[^:]*]]: tensor<32x64xf32>, %[[E:[^:]*]]: tensor<?x2x64xbf16>
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[LAYER:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[OUT:.*]] = kv.rt.launch "ropeStore"(%[[B]], %[[B]], %[[L]], %[[T]], %[[RO]], %[[LAYER]], %[[Q]], %[[K]], %[[V]], %[[P]], %[[F]], %[[NONE]], %[[F]], %[[F]], %[[ZERO]], %[[ZERO]], %[[NONE]]) outs(%[[E]])
// CHECK-NOT: "rope"
// CHECK-NOT: "store"
// CHECK: return %[[OUT]]
func.func @rope(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>,
    %i: index, %q: tensor<?x2x64xf32>, %k: tensor<?x1x64xf32>, %v: tensor<?x1x64xbf16>, %p: tensor<?xi32>,
    %f: tensor<32x64xf32>, %eq: tensor<?x2x64xbf16>, %ek: tensor<?x1x64xf32>, %ev: tensor<?x1x64xf32>)
    -> tensor<?x2x64xbf16> {
  %no = arith.constant 0 : i32
  %0 = kv.rt.launch "rope"(%q, %p, %f, %no) outs(%eq) : tensor<?x2x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x2x64xbf16> -> tensor<?x2x64xbf16>
  %1 = kv.rt.launch "rope"(%k, %p, %f, %no) outs(%ek) : tensor<?x1x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x1x64xf32> -> tensor<?x1x64xf32>
  %layer = arith.index_cast %i : index to i64
  kv.rt.launch "store"(%b, %l, %t, %ro, %layer, %1, %v) absent [1]
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<?x1x64xf32>, tensor<?x1x64xbf16>
  return %0 : tensor<?x2x64xbf16>
}

// -----

!blocks = memref<?x2x2x16x1x64xbf16>

// CHECK-LABEL: func.func @norms(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x2x64xf32>, %[[K:[^:]*]]: tensor<?x1x64xf32>, %[[WQ:[^:]*]]: tensor<64xf32>, %[[WK:[^:]*]]: tensor<64xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[EPSILON:.*]] = arith.constant 9.99{{.*}}E-7 : f32
// CHECK: kv.rt.launch "ropeStore"({{.*}}, %[[Q]], %[[K]], %{{.*}}, %[[WQ]], %[[WK]], %[[EPSILON]], %{{.*}}, %[[ONE]]) outs
// CHECK-NOT: "norm"
func.func @norms(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>,
    %i: index, %q: tensor<?x2x64xf32>, %k: tensor<?x1x64xf32>, %wq: tensor<64xf32>, %wk: tensor<64xf32>, %p: tensor<?xi32>,
    %f: tensor<32x64xf32>, %eq: tensor<?x2x64xbf16>, %ek: tensor<?x1x64xf32>, %eqn: tensor<?x64xf32>, %ekn: tensor<?x64xf32>, %n: index)
    -> tensor<?x2x64xbf16> {
  %no = arith.constant 0 : i32
  %epsilon = arith.constant 1.0e-6 : f32
  %zero = arith.constant 0.0 : f32
  %qr = tensor.collapse_shape %q [[0, 1], [2]] : tensor<?x2x64xf32> into tensor<?x64xf32>
  %kr = tensor.collapse_shape %k [[0, 1], [2]] : tensor<?x1x64xf32> into tensor<?x64xf32>
  %qn = kv.rt.launch "norm"(%qr, %wq, %epsilon, %zero) outs(%eqn) : tensor<?x64xf32>, tensor<64xf32>, f32, f32 outs tensor<?x64xf32> -> tensor<?x64xf32>
  %kn = kv.rt.launch "norm"(%kr, %wk, %epsilon, %zero) outs(%ekn) : tensor<?x64xf32>, tensor<64xf32>, f32, f32 outs tensor<?x64xf32> -> tensor<?x64xf32>
  %qh = tensor.expand_shape %qn [[0, 1], [2]] output_shape [%n, 2, 64] : tensor<?x64xf32> into tensor<?x2x64xf32>
  %kh = tensor.expand_shape %kn [[0, 1], [2]] output_shape [%n, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %0 = kv.rt.launch "rope"(%qh, %p, %f, %no) outs(%eq) : tensor<?x2x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x2x64xbf16> -> tensor<?x2x64xbf16>
  %1 = kv.rt.launch "rope"(%kh, %p, %f, %no) outs(%ek) : tensor<?x1x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x1x64xf32> -> tensor<?x1x64xf32>
  %layer = arith.index_cast %i : index to i64
  kv.rt.launch "store"(%b, %l, %t, %ro, %layer, %1, %k) absent [1]
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  return %0 : tensor<?x2x64xbf16>
}

// -----

!blocks = memref<?x2x2x16x1x64xbf16>

// Queries that are used before the store are made before it.
// CHECK-LABEL: func.func @early(
// CHECK: "rope"
// CHECK: "rope"
// CHECK: kv.rt.launch "store"
func.func @early(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>,
    %i: index, %q: tensor<?x2x64xf32>, %k: tensor<?x1x64xf32>, %p: tensor<?xi32>,
    %f: tensor<32x64xf32>, %eq: tensor<?x2x64xbf16>, %ek: tensor<?x1x64xf32>, %ec: tensor<?x2x64xf32>)
    -> tensor<?x2x64xf32> {
  %no = arith.constant 0 : i32
  %0 = kv.rt.launch "rope"(%q, %p, %f, %no) outs(%eq) : tensor<?x2x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x2x64xbf16> -> tensor<?x2x64xbf16>
  %c = kv.rt.launch "cast"(%0) outs(%ec) : tensor<?x2x64xbf16> outs tensor<?x2x64xf32> -> tensor<?x2x64xf32>
  %1 = kv.rt.launch "rope"(%k, %p, %f, %no) outs(%ek) : tensor<?x1x64xf32>, tensor<?xi32>, tensor<32x64xf32>, i32 outs tensor<?x1x64xf32> -> tensor<?x1x64xf32>
  %layer = arith.index_cast %i : index to i64
  kv.rt.launch "store"(%b, %l, %t, %ro, %layer, %1, %k) absent [1]
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  return %c : tensor<?x2x64xf32>
}

// -----

!blocks = memref<?x2x2x16x1x64xbf16>

// CHECK-LABEL: func.func @plain(
// CHECK: kv.rt.launch "store"
func.func @plain(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>,
    %i: index, %k: tensor<?x1x64xf32>) {
  %layer = arith.index_cast %i : index to i64
  kv.rt.launch "store"(%b, %l, %t, %ro, %layer, %k, %k) absent [1]
      : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  return
}

// -----

!blocks = memref<?x2x2x16x1x96xi8>
!scales = memref<?x2x2x16x1x2xf32>

// CHECK-LABEL: func.func @groups(
// CHECK: kv.rt.launch "store"
func.func @groups(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %s: !scales, %ro: tensor<?xi32>,
    %i: index, %q: tensor<?x2x96xf32>, %k: tensor<?x1x96xf32>, %p: tensor<?xi32>,
    %f: tensor<32x96xf32>, %eq: tensor<?x2x96xbf16>, %ek: tensor<?x1x96xf32>) -> tensor<?x2x96xbf16> {
  %no = arith.constant 0 : i32
  %0 = kv.rt.launch "rope"(%q, %p, %f, %no) outs(%eq) : tensor<?x2x96xf32>, tensor<?xi32>, tensor<32x96xf32>, i32 outs tensor<?x2x96xbf16> -> tensor<?x2x96xbf16>
  %1 = kv.rt.launch "rope"(%k, %p, %f, %no) outs(%ek) : tensor<?x1x96xf32>, tensor<?xi32>, tensor<32x96xf32>, i32 outs tensor<?x1x96xf32> -> tensor<?x1x96xf32>
  %layer = arith.index_cast %i : index to i64
  kv.rt.launch "store"(%b, %s, %l, %t, %ro, %layer, %1, %k)
      : !blocks, !scales, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<?x1x96xf32>, tensor<?x1x96xf32>
  return %0 : tensor<?x2x96xbf16>
}
