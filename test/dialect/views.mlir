// Views of a collection and the operations that take one, in all forms; what
// folds, what is dropped when nobody uses it, and what stays.
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

// CHECK-LABEL: func.func @views(
// CHECK: kv.cache_lengths %{{.*}} : !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16> -> tensor<?xi32>
// CHECK: kv.max_lengths %{{.*}} : !kv.collection<{{.*}}> -> tensor<?x2xi32>
// CHECK: kv.row_offsets %{{.*}}, %{{.*}} : !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?xi32>
// CHECK: %[[NEXT:.*]] = kv.advance %{{.*}} rows %{{.*}} : !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>, tensor<?xi32>
// CHECK: %[[K:.*]] = kv.key_cache %[[NEXT]][%{{.*}}] : !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
// CHECK: kv.value_cache %[[NEXT]][%{{.*}}] : !kv.collection<
// CHECK: kv.load %[[K]] rows %{{.*}} : !kv.cache<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
func.func @views(%kv: !kv, %ro: tensor<?xi32>, %layer: index)
    -> (tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, !cache, tensor<?x?x1x8xf32>, tensor<?xi32>) {
  %l = kv.cache_lengths %kv : !kv -> tensor<?xi32>
  %m = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
  %o = kv.row_offsets %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  %next = kv.advance %kv rows %ro : !kv, tensor<?xi32>
  %k = kv.key_cache %next[%layer] : !kv
  %v = kv.value_cache %next[%layer] : !kv
  %d, %n = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return %l, %m, %o, %v, %d, %n
      : tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, !cache, tensor<?x?x1x8xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @components(
// CHECK: kv.row_offsets (%[[B:.*]], %[[L:.*]], %[[T:.*]], %[[M:.*]]), %[[RO:.*]] : (memref<{{.*}}>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?xi32>
// CHECK: kv.load (%[[B]], %[[L]], %[[T]], %[[M]])[%{{.*}}, %{{.*}}] rows %[[RO]] : (memref<{{.*}}) as !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x64x1x8xf32>, tensor<?xi32>
// CHECK: kv.copy_pages %[[B]] from %[[L]] to %[[RO]] : memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?xi32>
// CHECK: kv.copy_pages %[[B]] from %[[L]] to %[[RO]] layer %{{.*}} : memref<
//
// Each result has its buffer, of max_lengths[0, 1] keys where that is not static.
// BUFFER-LABEL: func.func @components(
// BUFFER-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>, %[[RO:[a-z0-9]*]]: memref<?xi32>
// BUFFER: %[[O:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?xi32>
// BUFFER: kv.row_offsets (%[[B]], %[[L]], %[[T]], %[[M]]), %[[RO]] outs(%[[O]])
// BUFFER: %[[D:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x64x1x8xf32>
// BUFFER: %[[N:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?xi32>
// BUFFER: kv.load (%[[B]], %[[L]], %[[T]], %[[M]])[%{{.*}}, %{{.*}}] rows %[[RO]] outs(%[[D]], %[[N]])
// BUFFER: kv.copy_pages %[[B]] from %[[L]] to %[[RO]] : memref<?x2x2x16x1x8xf32>, memref<?xi32>, memref<?xi32>
// BUFFER: kv.copy_pages %[[B]] from %[[L]] to %[[RO]] layer
// BUFFER: return %[[O]], %[[D]], %[[N]]
func.func @components(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index, %part: index)
    -> (tensor<?xi32>, tensor<?x64x1x8xf32>, tensor<?xi32>) {
  %o = kv.row_offsets (%b, %l, %t, %m), %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  %d, %n = kv.load (%b, %l, %t, %m)[%layer, %part] rows %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        -> tensor<?x64x1x8xf32>, tensor<?xi32>
  kv.copy_pages %b from %l to %ro : !blocks, tensor<?xi32>, tensor<?xi32>
  kv.copy_pages %b from %l to %ro layer %layer : !blocks, tensor<?xi32>, tensor<?xi32>
  return %o, %d, %n : tensor<?xi32>, tensor<?x64x1x8xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK: kv.row_offsets ({{.*}}), %{{.*}} outs(%{{.*}}) : {{.*}}, memref<?xi32> outs memref<?xi32>
// CHECK: kv.load ({{.*}})[%{{.*}}, %{{.*}}] rows %{{.*}} outs(%{{.*}}, %{{.*}}) : {{.*}}, memref<?xi32> outs memref<?x?x1x8xf32>, memref<?xi32>
// FOLD-LABEL: func.func @buffers(
// FOLD: kv.row_offsets
// FOLD: kv.load
// FOLD: kv.copy_pages
func.func @buffers(%b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>,
    %ro: memref<?xi32>, %layer: index, %o: memref<?xi32>, %d: memref<?x?x1x8xf32>, %n: memref<?xi32>) {
  kv.row_offsets (%b, %l, %t, %m), %ro outs(%o)
      : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32> outs memref<?xi32>
  kv.load (%b, %l, %t, %m)[%layer, %layer] rows %ro outs(%d, %n)
      : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
        outs memref<?x?x1x8xf32>, memref<?xi32>
  kv.copy_pages %b from %l to %ro : !blocks, memref<?xi32>, memref<?xi32>
  return
}

// FOLD-LABEL: func.func @folded(
// FOLD-SAME: %{{[a-z0-9]*}}: memref<{{[^,]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %{{[a-z0-9]*}}: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>)
// FOLD-NEXT: return %[[L]], %[[M]] :
func.func @folded(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>)
    -> (tensor<?xi32>, tensor<?x2xi32>) {
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %0 = kv.cache_lengths %kv : !kv -> tensor<?xi32>
  %1 = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
  return %0, %1 : tensor<?xi32>, tensor<?x2xi32>
}

// Nobody uses them: gone, as tensors and as buffers. That the step is a good one
// stays checked.
// FOLD-LABEL: func.func @unused(
// FOLD-NEXT: return
// BUFFER-LABEL: func.func @unused(
// BUFFER-NEXT: kv.rt.check_step
// BUFFER-NEXT: return
func.func @unused(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index) {
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %0 = kv.cache_lengths %kv : !kv -> tensor<?xi32>
  %1 = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
  %2 = kv.row_offsets %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  %3 = kv.advance %kv rows %ro : !kv, tensor<?xi32>
  %4 = kv.value_cache %3[%layer] : !kv
  %5, %6 = kv.load %4 rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return
}

// Equal loads are one, but not with a write between them.
// FOLD-LABEL: func.func @ordered(
// FOLD: %[[A:.*]], %{{.*}} = kv.load
// FOLD-NOT: kv.load
// FOLD: kv.copy_pages
// FOLD: %[[B:.*]], %{{.*}} = kv.load
// FOLD: return %[[A]], %[[A]], %[[B]]
func.func @ordered(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index)
    -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) {
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %k = kv.key_cache %kv[%layer] : !kv
  %0, %n0 = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  %1, %n1 = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  kv.copy_pages %b from %l to %l : !blocks, tensor<?xi32>, tensor<?xi32>
  %2, %n2 = kv.load %k rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return %0, %1, %2 : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>
}
