// RUN: kv-opt --kv-decompose %s | FileCheck %s --implicit-check-not="{{[= ]}}kv.{{(store|attention|load|rope|positions|row_offsets|merge|matmul|copy_pages) }}"
// RUN: kv-opt --kv-decompose="ops=rope" %s | FileCheck %s --check-prefix=ROPE
//
// Reads of the blocks stay ordered after the stores into them.
// RUN: kv-opt --kv-decompose --canonicalize --cse --loop-invariant-code-motion --cse %s \
// RUN:   | FileCheck %s --check-prefix=ORDER
// RUN: kv-opt --kv-decompose --canonicalize --cse --empty-tensor-to-alloc-tensor \
// RUN:   --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
!blocks = memref<?x2x2x16x2x8xbf16>

// ROPE-NOT: = kv.rope
// ROPE: kv.positions
// ROPE: kv.store
// ROPE: kv.attention
// ROPE-NOT: = kv.rope

// CHECK-LABEL: func.func @positions(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.insert
func.func @positions(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?xi32> {
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// Sequence, token, then both parts by head and element; rounded by truncf.
// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x2x8xbf16>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index, %[[K:[a-z0-9]*]]: tensor<?x2x8xf32>, %[[V:[a-z0-9]*]]: tensor<?x2x8xf32>
// CHECK: kv.rt.assert %{{.*}}, 2, "the layer is outside the collection's 2 layers"
// CHECK: %[[SAFE:.*]] = arith.minui %[[LAYER]],
// CHECK: scf.for %[[SEQ:.*]] =
// CHECK: %[[CACHED:.*]] = arith.index_castui %{{.*}} : i32 to index
// CHECK: scf.for %[[TOK:.*]] =
// CHECK: %[[POS:.*]] = arith.addi
// CHECK: %[[PAGE:.*]] = arith.constant 16 : index
// CHECK: %[[ENTRY:.*]] = arith.divui %[[POS]], %[[PAGE]]
// CHECK: scf.if
// CHECK: tensor.extract %[[T]][%[[SEQ]], %[[ENTRY]]]
// CHECK: scf.if
// CHECK: %[[SLOT:.*]] = arith.remui %[[POS]], %[[PAGE]]
// CHECK: %[[KE:.*]] = tensor.extract %[[K]][%[[TOK]], %[[H:.*]], %[[D:.*]]]
// CHECK: %[[KR:.*]] = arith.truncf %[[KE]] : f32 to bf16
// CHECK: memref.store %[[KR]], %[[B]][%[[ID:.*]], %{{.*}}, %[[SAFE]], %[[SLOT]], %[[H]], %[[D]]]
// CHECK: tensor.extract %[[V]][%[[TOK]],
// CHECK: memref.store %{{.*}}, %[[B]][%[[ID]], %{{.*}}, %[[SAFE]], %[[SLOT]],
func.func @store(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>) {
  kv.store %k, %v into (%b, %l, %t, %m)[%layer] rows %ro
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>
        into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  return
}

// Scores, mask, maximum, weights, their sum, products, quotient.
// CHECK-LABEL: func.func @attention(
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]
// CHECK: memref.load
// CHECK: linalg.generic
// CHECK: math.tanh
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.cmpi ult
// CHECK: arith.cmpi ule
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.select
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction", "parallel"]
// CHECK: %[[V:.*]] = memref.load
// CHECK: arith.extf
// CHECK: arith.select
// CHECK: linalg.generic
// CHECK: arith.cmpf oeq
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @attention(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %q: tensor<?x4x8xf16>) -> tensor<?x4x8xf16> {
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 0.25 softcap 30.0
      : tensor<?x4x8xf16> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x4x8xf16>
  return %o : tensor<?x4x8xf16>
}

// Positions and angles are compared once for both.
// CHECK-LABEL: func.func @rope(
// CHECK: kv.rt.assert {{.*}} "kv.rope: a position is outside freqs"
// CHECK: linalg.generic
// CHECK: arith.divui
// CHECK-NOT: kv.rt.assert
// CHECK: linalg.generic
// CHECK: arith.remui
func.func @rope(%x: tensor<?x2x8xf32>, %p: tensor<?xi32>, %f: tensor<64x8xf32>)
    -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>) {
  %0 = kv.rope %x, %p, %f interleaved : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x8xf32>
  %1 = kv.rope %x, %p, %f : tensor<?x2x8xf32>, tensor<?xi32>, tensor<64x8xf32>
  return %0, %1 : tensor<?x2x8xf32>, tensor<?x2x8xf32>
}

// One fma an element and k, k innermost.
// CHECK-LABEL: func.func @matmul(
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.extf
// CHECK: math.fma
// CHECK: tensor.collapse_shape %[[Y]] {{\[}}[0], [1, 2]] : tensor<?x2x16xf32> into tensor<?x32xf32>
func.func @matmul(%x: tensor<?x24xf32>, %w: tensor<2x24x16xbf16>) -> tensor<?x32xf32> {
  %y = kv.matmul %x, %w : tensor<?x24xf32>, tensor<2x24x16xbf16> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// The sink enters the maximum and the sum; lse comes from both.
// CHECK-LABEL: func.func @sinks_and_lse(
// CHECK-SAME: %[[SINKS:[a-z0-9]*]]: tensor<4xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%{{.*}}, %[[SINKS]] :
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[SINKS]], %{{.*}} :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: %[[LSE:.*]] = linalg.generic
// CHECK: math.log
// CHECK: return %{{.*}}, %[[LSE]]
func.func @sinks_and_lse(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %q: tensor<?x4x8xf16>, %sinks: tensor<4xf32>)
    -> (tensor<?x4x8xf16>, tensor<?x4xf32>) {
  %o, %lse = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro sinks %sinks mask <causal> scale 0.25
      : tensor<?x4x8xf16> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> sinks tensor<4xf32> -> tensor<?x4x8xf16>, tensor<?x4xf32>
  return %o, %lse : tensor<?x4x8xf16>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @merge(
// CHECK: %[[W:.*]]:3 = linalg.generic {{.*}}["parallel", "parallel"]}
// CHECK-COUNT-2: math.exp
// CHECK: math.log
// CHECK: %[[O:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}}, %[[W]]#0, %[[W]]#1
// CHECK: return %[[O]], %[[W]]#2
func.func @merge(%a: tensor<?x4x8xf32>, %la: tensor<?x4xf32>, %b: tensor<?x4x8xf32>, %lb: tensor<?x4xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4xf32>) {
  %o, %lse = kv.merge (%a, %la), (%b, %lb) : tensor<?x4x8xf32>, tensor<?x4xf32>
  return %o, %lse : tensor<?x4x8xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @row_offsets(
// CHECK: tensor.insert
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<?xi32>, index)
// CHECK: tensor.insert
func.func @row_offsets(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?xi32> {
  %o = kv.row_offsets (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  return %o : tensor<?xi32>
}

// What a sequence does not own is replaced, whatever was read.
// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x2x8xbf16>
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index, %[[PART:[a-z0-9]*]]: index)
// CHECK: %[[N:.*]] = scf.for
// CHECK: %[[SAFE_LAYER:.*]] = arith.minui %[[LAYER]],
// CHECK: %[[SAFE_PART:.*]] = arith.minui %[[PART]],
// CHECK: %[[D:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "parallel"]} ins(%[[N]] :
// CHECK-COUNT-2: arith.minui
// CHECK: memref.load %[[B]][%{{.*}}, %[[SAFE_PART]], %[[SAFE_LAYER]],
// CHECK: arith.extf
// CHECK: arith.select
// CHECK: return %[[D]], %[[N]]
func.func @load(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %part: index) -> (tensor<?x?x2x8xf32>, tensor<?xi32>) {
  %d, %n = kv.load (%b, %l, %t, %m)[%layer, %part] rows %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        -> tensor<?x?x2x8xf32>, tensor<?xi32>
  return %d, %n : tensor<?x?x2x8xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @copy_pages(
// CHECK: scf.for
// CHECK: scf.if
// CHECK-COUNT-5: scf.for
// CHECK: %[[E:.*]] = memref.load %[[B:.*]][
// CHECK: memref.store %[[E]], %[[B]][
func.func @copy_pages(%b: !blocks, %s: tensor<?xi32>, %d: tensor<?xi32>, %layer: index) {
  kv.copy_pages %b from %s to %d layer %layer : !blocks, tensor<?xi32>, tensor<?xi32>
  return
}

// Equal attentions on both sides of a store: four generics read the blocks, two
// before and two after it.
// ORDER-LABEL: func.func @order(
// ORDER-COUNT-2: memref.load
// ORDER-COUNT-2: memref.store
// ORDER-COUNT-2: memref.load
// ORDER: return
// BUFFER-LABEL: func.func @order(
// BUFFER-NOT: memref.store %{{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.load {{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.load {{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.store {{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.store {{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.load {{.*}} memref<?x2x2x16x2x8xbf16>
// BUFFER: memref.load {{.*}} memref<?x2x2x16x2x8xbf16>
func.func @order(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %k: tensor<?x2x8xf32>) -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>) {
  %0 = kv.attention %k in (%b, %l, %t, %m)[%layer] rows %ro mask <none> scale 1.0
      : tensor<?x2x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x2x8xf32>
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>
        into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  %1 = kv.attention %k in (%b, %l, %t, %m)[%layer] rows %ro mask <none> scale 1.0
      : tensor<?x2x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x2x8xf32>
  return %0, %1 : tensor<?x2x8xf32>, tensor<?x2x8xf32>
}
