// Results become fresh buffers, handed over as `outs`; operands are read where
// they are; blocks are never copied.
//
// RUN: kv-opt --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --canonicalize %s | FileCheck %s --implicit-check-not=memref.copy

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// The size of the result is the last row offset.
// CHECK-LABEL: func.func @positions(
// CHECK-SAME: %[[B:.*]]: memref<?x2x2x16x1x8xf32>, %[[L:.*]]: memref<?xi32>, %[[T:.*]]: memref<?x?xi32>, %[[M:.*]]: memref<?x2xi32>, %[[RO:.*]]: memref<?xi32>)
// CHECK: %[[N:.*]] = memref.dim %[[RO]]
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %{{.*}}
// CHECK: %[[TOKENS:.*]] = memref.load %[[RO]][%[[LAST]]]
// CHECK: %[[SIZE:.*]] = arith.index_castui %[[TOKENS]]
// CHECK: %[[OUT:.*]] = memref.alloc(%[[SIZE]]) {{.*}}: memref<?xi32>
// CHECK: kv.positions (%[[B]], %[[L]], %[[T]], %[[M]]), %[[RO]] outs(%[[OUT]])
// CHECK: return %[[OUT]]
func.func @positions(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?xi32> {
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// CHECK-LABEL: func.func @store_attention(
// CHECK: kv.store %[[Q:.*]], %[[Q]] into
// CHECK: %[[SIZE:.*]] = memref.dim %[[Q]]
// CHECK: %[[OUT:.*]] = memref.alloc(%[[SIZE]]) {{.*}}: memref<?x1x8xf32>
// CHECK: kv.attention %[[Q]] in {{.*}} outs(%[[OUT]]) mask <causal> scale 5.000000e-01 softcap 3.000000e+01
// CHECK: return %[[OUT]]
func.func @store_attention(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  kv.store %q, %q into (%b, %l, %t, %m)[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32>
        into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  %o = kv.attention %q in (%b, %l, %t, %m)[%c0] rows %ro mask <causal> scale 0.5 softcap 30.0
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x1x8xf32>
  return %o : tensor<?x1x8xf32>
}

// An input that is used again is not overwritten.
// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[X:[^:]*]]: memref<5x2x8xf32>
// CHECK: %[[OUT:.*]] = memref.alloc() {{.*}}: memref<5x2x8xf32>
// CHECK: kv.rope %[[X]], %{{.*}}, %{{.*}} outs(%[[OUT]]) interleaved
func.func @rope(%x: tensor<5x2x8xf32>, %p: tensor<5xi32>, %f: tensor<64x8xf32>)
    -> (tensor<5x2x8xf32>, tensor<5x2x8xf32>) {
  %r = kv.rope %x, %p, %f interleaved : tensor<5x2x8xf32>, tensor<5xi32>, tensor<64x8xf32>
  return %r, %x : tensor<5x2x8xf32>, tensor<5x2x8xf32>
}

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x24xf32>, %[[W:.*]]: memref<2x24x16xbf16>
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK: %[[OUT:.*]] = memref.alloc(%[[SIZE]]) {{.*}}: memref<?x32xf32>
// CHECK: kv.matmul %[[X]], %[[W]] outs(%[[OUT]])
func.func @matmul(%x: tensor<?x24xf32>, %w: tensor<2x24x16xbf16>) -> tensor<?x32xf32> {
  %y = kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Two results, two buffers.
// CHECK-LABEL: func.func @lse(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<?x1x8xf32>, %[[S:[a-z0-9]*]]: memref<1xf32>)
// CHECK: %[[OUT:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x1x8xf32>
// CHECK: %[[LSE:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x1xf32>
// CHECK: kv.attention %[[Q]] in {{.*}} sinks %[[S]] outs(%[[OUT]], %[[LSE]]) mask <causal>
// CHECK: %[[OUT2:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x1x8xf32>
// CHECK: %[[LSE2:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x1xf32>
// CHECK: kv.merge (%[[OUT]], %[[LSE]]), (%[[Q]], %[[LSE]]) outs(%[[OUT2]], %[[LSE2]])
// CHECK: return %[[OUT2]], %[[LSE2]]
func.func @lse(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>, %s: tensor<1xf32>) -> (tensor<?x1x8xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %o, %lse = kv.attention %q in (%b, %l, %t, %m)[%c0] rows %ro sinks %s mask <causal> scale 0.5
      : tensor<?x1x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> sinks tensor<1xf32> -> tensor<?x1x8xf32>, tensor<?x1xf32>
  %o2, %lse2 = kv.merge (%o, %lse), (%q, %lse) : tensor<?x1x8xf32>, tensor<?x1xf32>
  return %o2, %lse2 : tensor<?x1x8xf32>, tensor<?x1xf32>
}

// A weight, a product, a buffer.
// CHECK-LABEL: func.func @several(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x24xf32>, %[[W:[a-z0-9]*]]: memref<2x24x16xbf16>, %[[V:[a-z0-9]*]]: memref<1x24x16xf32>)
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x32xf32>
// CHECK: %[[B:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x16xf32>
// CHECK: kv.matmul %[[X]], %[[W]], %[[V]] outs(%[[A]], %[[B]])
// CHECK: return %[[A]], %[[B]]
func.func @several(%x: tensor<?x24xf32>, %w: tensor<2x24x16xbf16>, %v: tensor<1x24x16xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>) {
  %a, %b = kv.matmul %x, %w, %v : tensor<?x24xf32>, tensor<2x24x16xbf16>, tensor<1x24x16xf32>
      -> tensor<?x32xf32>, tensor<?x16xf32>
  return %a, %b : tensor<?x32xf32>, tensor<?x16xf32>
}

// Sizes are those of x; the attributes stay.
// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x2x8xf32>, %[[W:.*]]: memref<8xf32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK: %[[OUT:.*]] = memref.alloc(%[[SIZE]]) {{.*}}: memref<?x2x8xf32>
// CHECK: kv.rms_norm %[[X]], %[[W]] outs(%[[OUT]]) eps 1.000000e-05 offset 1.000000e+00
func.func @rms_norm(%x: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %y = kv.rms_norm %x, %w eps 1.0e-5 offset 1.0 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// Two results, and one a weight; sizes are the rows of the first operand.
// CHECK-LABEL: func.func @experts(
// CHECK-SAME: %[[L:[a-z0-9]*]]: memref<?x4xf32>, %[[X:[a-z0-9]*]]: memref<?x2x24xf32>, %[[W:[a-z0-9]*]]: memref<8x24x16xf32>
// CHECK: %[[T:.*]] = memref.dim %[[L]]
// CHECK: %[[E:.*]] = memref.alloc(%[[T]]) {{.*}}: memref<?x2xi32>
// CHECK: %[[S:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x2xf32>
// CHECK: kv.route %[[L]] outs(%[[E]], %[[S]]) normalised
// CHECK: memref.dim %[[X]]
// CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x2x32xf32>
// CHECK: %[[Z:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x2x32xf32>
// CHECK: kv.expert_matmul %[[X]], %[[W]], %[[W]] experts(%[[E]]) outs(%[[Y]], %[[Z]])
func.func @experts(%l: tensor<?x4xf32>, %x: tensor<?x2x24xf32>, %w: tensor<8x24x16xf32>)
    -> (tensor<?x2xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>) {
  %e, %s = kv.route %l normalised : tensor<?x4xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %y, %z = kv.expert_matmul %x, %w, %w experts(%e)
      : tensor<?x2x24xf32>, tensor<8x24x16xf32>, tensor<8x24x16xf32> experts tensor<?x2xi32>
      -> tensor<?x2x32xf32>, tensor<?x2x32xf32>
  return %s, %y, %z : tensor<?x2xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>
}
