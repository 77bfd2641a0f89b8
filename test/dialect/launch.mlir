// The operations of a device's host code: text, bytecode, effects and buffers.
//
// RUN: kv-opt --verify-roundtrip %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s --check-prefix=PURE
// RUN: kv-opt --eliminate-empty-tensors --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: func.func @norm(
// CHECK: kv.rt.launch "norm"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}) : tensor<4x64xf32>, tensor<64xf32>, f32, f32 outs tensor<4x64xbf16> -> tensor<4x64xbf16>
//
// On tensors it has no effects: one is left of two, none of one without users.
// PURE-LABEL: func.func @norm(
// PURE-COUNT-1: kv.rt.launch
// PURE-NOT: kv.rt.launch
//
// On buffers it writes: it stays, though it has no results, and nothing is
// copied.
// BUFFER-LABEL: func.func @norm(
// BUFFER: kv.rt.launch "norm"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) outs(%[[OUT:.*]]) : memref<4x64xf32{{.*}}>, memref<64xf32{{.*}}>, f32, f32 outs memref<4x64xbf16>
// BUFFER: kv.rt.launch "cast"
// BUFFER-NOT: memref.copy
// BUFFER: return %[[OUT]],
func.func @norm(%x: tensor<4x64xf32>, %w: tensor<64xf32>, %e: f32) -> (tensor<4x64xbf16>, tensor<4x64xbf16>) {
  %empty = tensor.empty() : tensor<4x64xbf16>
  %y = kv.rt.launch "norm"(%x, %w, %e, %e) outs(%empty)
      : tensor<4x64xf32>, tensor<64xf32>, f32, f32 outs tensor<4x64xbf16> -> tensor<4x64xbf16>
  %z = kv.rt.launch "norm"(%x, %w, %e, %e) outs(%empty)
      : tensor<4x64xf32>, tensor<64xf32>, f32, f32 outs tensor<4x64xbf16> -> tensor<4x64xbf16>
  %unused = kv.rt.launch "cast"(%x) outs(%empty) : tensor<4x64xf32> outs tensor<4x64xbf16> -> tensor<4x64xbf16>
  return %y, %z : tensor<4x64xbf16>, tensor<4x64xbf16>
}

// The blocks of a cache are a buffer in both forms.
// PURE-LABEL: func.func @plan(
// CHECK-LABEL: func.func @plan(
// CHECK: kv.rt.plan_bytes %{{.*}}, %{{.*}}, %{{.*}} heads 9 : memref<?x2x2x16x3x64xbf16>
// CHECK: kv.rt.launch "plan"
// BUFFER-LABEL: func.func @plan(
// BUFFER: %[[N:.*]] = kv.rt.plan_bytes
// BUFFER: %[[P:.*]] = memref.alloc(%[[N]]) {{.*}} : memref<?xi8>
// BUFFER: kv.rt.launch "plan"({{.*}} outs(%[[P]])
func.func @plan(%b: memref<?x2x2x16x3x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>,
    %m: tensor<?x2xi32>, %batch: index, %rows: index, %n: i64, %mask: i32) -> tensor<?xi8> {
  %bytes = kv.rt.plan_bytes %b, %batch, %rows heads 9 : memref<?x2x2x16x3x64xbf16>
  %empty = tensor.empty(%bytes) : tensor<?xi8>
  %plan = kv.rt.launch "plan"(%b, %l, %t, %ro, %m, %n, %n, %mask, %n) outs(%empty)
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?x2xi32>, i64, i64, i32, i64
        outs tensor<?xi8> -> tensor<?xi8>
  return %plan : tensor<?xi8>
}

// A cache is read and written in both forms: what reads it stays before or behind
// a write of it; two that read it with none between are one, and none is left
// without users.
// CHECK-LABEL: func.func @caches(
// PURE-LABEL: func.func @caches(
// PURE: kv.rt.launch "load"
// PURE: kv.rt.launch "store"
// PURE: kv.rt.launch "load"
// PURE-NOT: kv.rt.launch
// PURE: return
// BUFFER-LABEL: func.func @caches(
// BUFFER: kv.rt.launch "load"({{.*}}) absent [1] outs(%{{[^,]*}}, %{{[^,)]*}})
// BUFFER: kv.rt.launch "store"({{.*}}) absent [1] :
func.func @caches(%b: memref<?x2x2x16x3x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %ro: tensor<?xi32>, %n: i64,
    %k: tensor<4x3x64xbf16>) -> (tensor<2x4x3x64xbf16>, tensor<2x4x3x64xbf16>, tensor<2x4x3x64xbf16>) {
  %o = tensor.empty() : tensor<2x4x3x64xbf16>
  %s = tensor.empty() : tensor<2xi32>
  %a:2 = kv.rt.launch "load"(%b, %l, %t, %ro, %n, %n, %n) absent [1] outs(%o, %s)
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, i64, i64
        outs tensor<2x4x3x64xbf16>, tensor<2xi32> -> tensor<2x4x3x64xbf16>, tensor<2xi32>
  %c:2 = kv.rt.launch "load"(%b, %l, %t, %ro, %n, %n, %n) absent [1] outs(%o, %s)
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, i64, i64
        outs tensor<2x4x3x64xbf16>, tensor<2xi32> -> tensor<2x4x3x64xbf16>, tensor<2xi32>
  kv.rt.launch "store"(%b, %l, %t, %ro, %n, %k, %k) absent [1]
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, tensor<4x3x64xbf16>, tensor<4x3x64xbf16>
  %d:2 = kv.rt.launch "load"(%b, %l, %t, %ro, %n, %n, %n) absent [1] outs(%o, %s)
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, i64, i64
        outs tensor<2x4x3x64xbf16>, tensor<2xi32> -> tensor<2x4x3x64xbf16>, tensor<2xi32>
  %unused:2 = kv.rt.launch "load"(%b, %l, %t, %ro, %n, %n, %n) absent [1] outs(%o, %s)
      : memref<?x2x2x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64, i64, i64
        outs tensor<2x4x3x64xbf16>, tensor<2xi32> -> tensor<2x4x3x64xbf16>, tensor<2xi32>
  return %a#0, %c#0, %d#0 : tensor<2x4x3x64xbf16>, tensor<2x4x3x64xbf16>, tensor<2x4x3x64xbf16>
}

// The sum of a tensor into itself does not destroy what is read later, and as
// the destination is not read, it is not copied.
// BUFFER-LABEL: func.func @into_argument(
// BUFFER-SAME: %[[X:.*]]: memref<4x64xf32, strided
// BUFFER: %[[Y:.*]] = memref.alloc()
// BUFFER-NOT: memref.copy
// BUFFER: kv.rt.launch "pair"(%{{.*}}, %[[X]], %[[X]]) outs(%[[Y]])
// BUFFER: return %[[X]], %[[Y]]
func.func @into_argument(%x: tensor<4x64xf32>, %f: i32) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %y = kv.rt.launch "pair"(%f, %x, %x) outs(%x)
      : i32, tensor<4x64xf32>, tensor<4x64xf32> outs tensor<4x64xf32> -> tensor<4x64xf32>
  return %x, %y : tensor<4x64xf32>, tensor<4x64xf32>
}
