// kv.update, kv.plan and the plan of kv.attention, in all forms; what is dropped
// when nobody uses it, what is merged, and what stays.
//
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s --check-prefix=FOLD
// RUN: kv-opt --kv-resolve-collections --canonicalize --cse \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --canonicalize --cse %s | FileCheck %s --check-prefix=BUFFER --implicit-check-not=memref.copy

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!cache = !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// CHECK-LABEL: func.func @updates(
// CHECK: kv.update %{{.*}} rows %{{.*}} rope(%{{.*}}) interleaved : !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>, tensor<?xi32>, tensor<64x4xf32>
// CHECK: kv.update %{{.*}} rows %{{.*}} rope(%{{.*}}) : !kv.cache<
// CHECK: kv.update %{{.*}} rows %{{.*}} rms_norm(%{{.*}}) eps 9.9999999999999995E-7 : !kv.cache<{{.*}}>, tensor<?xi32>, tensor<6xf32>
// CHECK: kv.update %{{.*}} rows %{{.*}} add(%{{.*}}) : !kv.cache<{{.*}}>, tensor<?xi32>, tensor<?x1x8xbf16>
//
// All have an effect: all stay, as handles and as buffers.
// FOLD-LABEL: func.func @updates(
// FOLD-COUNT-4: kv.update
// BUFFER-LABEL: func.func @updates(
// BUFFER-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>, %[[LAYER:[a-z0-9]*]]: index, %[[PART:[a-z0-9]*]]: index
// BUFFER: kv.update (%[[B]], %[[L]], %[[T]], %[[M]])[%[[LAYER]], %[[PART]]] rows %{{.*}} rope(%{{.*}}) interleaved : (memref<
// BUFFER: kv.update {{.*}} rope(
// BUFFER: kv.update {{.*}} rms_norm(%{{.*}}) eps
// BUFFER: kv.update {{.*}} add(
func.func @updates(%c: !cache, %ro: tensor<?xi32>, %f: tensor<64x4xf32>, %w: tensor<6xf32>,
    %x: tensor<?x1x8xbf16>) {
  kv.update %c rows %ro rope(%f) interleaved : !cache, tensor<?xi32>, tensor<64x4xf32>
  kv.update %c rows %ro rope(%f) : !cache, tensor<?xi32>, tensor<64x4xf32>
  kv.update %c rows %ro rms_norm(%w) eps 1.0e-6 : !cache, tensor<?xi32>, tensor<6xf32>
  kv.update %c rows %ro add(%x) : !cache, tensor<?xi32>, tensor<?x1x8xbf16>
  return
}

// A load is not moved past an update, nor merged with one before it.
// FOLD-LABEL: func.func @ordered(
// FOLD: kv.load
// FOLD: kv.update
// FOLD: kv.load
// FOLD-NOT: kv.load
// FOLD: return
// BUFFER-LABEL: func.func @ordered(
// BUFFER: kv.load
// BUFFER: kv.update
// BUFFER: kv.load
func.func @ordered(%c: !cache, %ro: tensor<?xi32>, %w: tensor<8xf32>)
    -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) {
  %a, %n0 = kv.load %c rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  kv.update %c rows %ro rms_norm(%w) eps 0.0 : !cache, tensor<?xi32>, tensor<8xf32>
  %b, %n1 = kv.load %c rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  %d, %n2 = kv.load %c rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return %a, %b, %d : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>
}

// One plan is left of those of one mask, whatever is stored between; none of
// what nobody uses.
// CHECK-LABEL: func.func @plans(
// CHECK: kv.plan %{{.*}} rows %{{.*}} mask <causal> : !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x4xi32>
// CHECK: kv.attention %{{.*}} in %{{.*}}[%{{.*}}] rows %{{.*}} plan %{{.*}} mask <causal> scale 1.000000e+00 : tensor<?x1x8xf32> in !kv.collection<{{.*}}>, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x8xf32>
// CHECK: kv.attention {{.*}} rows %{{.*}} plan %{{.*}} sinks %{{.*}} mask <sliding = 3> scale 1.000000e+00 {kv.kernel = #kv.kernel<decomposition>} :
//
// FOLD-LABEL: func.func @plans(
// FOLD: %[[P:.*]] = kv.plan %{{.*}} mask <causal>
// FOLD: %[[S:.*]] = kv.plan %{{.*}} mask <sliding = 3>
// FOLD-NOT: kv.plan
// FOLD: kv.attention {{.*}} plan %[[P]] mask
// FOLD: kv.attention {{.*}} plan %[[S]] sinks
// FOLD: kv.attention {{.*}} plan %[[P]] mask
// BUFFER-LABEL: func.func @plans(
// BUFFER: %[[P:.*]] = memref.alloc({{.*}}) {{.*}}: memref<?x4xi32>
// BUFFER: kv.plan (%{{.*}}) rows %{{.*}} outs(%[[P]]) mask <causal> : (memref<
// BUFFER: %[[S:.*]] = memref.alloc({{.*}}) {{.*}}: memref<?x4xi32>
// BUFFER: kv.plan (%{{.*}}) rows %{{.*}} outs(%[[S]]) mask <sliding = 3> : (memref<
// BUFFER: kv.store {{.*}} {kv.kernel = #kv.kernel<reference>}
// BUFFER: kv.attention {{.*}} plan %[[P]] outs(
// BUFFER: kv.attention {{.*}} plan %[[S]] sinks {{.*}} {kv.kernel = #kv.kernel<decomposition>}
func.func @plans(%kv: !kv, %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>, %s: tensor<1xf32>)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  %d = kv.plan %kv rows %ro mask <sliding = 3> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  %unused = kv.plan %kv rows %ro mask <none> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  kv.store %q, %q into %kv[%c0] rows %ro {kv.kernel = #kv.kernel<reference>}
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %a = kv.attention %q in %kv[%c0] rows %ro plan %p mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x8xf32>
  %b = kv.attention %q in %kv[%c0] rows %ro plan %d sinks %s mask <sliding = 3> scale 1.0
      {kv.kernel = #kv.kernel<decomposition>}
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> sinks tensor<1xf32>
        -> tensor<?x1x8xf32>
  %p2 = kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  %c = kv.attention %q in %kv[%c1] rows %ro plan %p2 mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x8xf32>
  return %a, %b, %c : tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
}
