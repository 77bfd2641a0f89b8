// The rows are rounded once, in a loop of their own; a work item is a block of 16
// columns, for eight rows at a time with half of the lanes, for two, then for one with
// all.
//
// RUN: kv-opt --kv-vectorize="dot=avx2" %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kv-opt --kv-vectorize="dot=avx512" %s | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: kv-opt --kv-vectorize="dot=vnni" %s | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: kv-opt --kv-vectorize %s | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: not kv-opt --kv-vectorize="dot=sse" %s 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: dot is 'sse', expected generic, avx2, avx512, vnni or amx

// CHECK-LABEL: func.func private @q4_0(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<2x2x288xi8>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?x64xi8>
// CHECK: %[[SCALES:.*]] = memref.alloc(%{{.*}}) : memref<?x2xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc(%{{.*}}) : memref<?x4xi32>
// CHECK: %[[GROUPS:.*]] = memref.alloc(%{{.*}}) : memref<?x2xi32>
// CHECK: %[[SCALED:.*]] = memref.alloc(%{{.*}}) : memref<?x2xf32>
// CHECK: scf.forall
// CHECK: memref.store %{{.*}}, %[[SCALES]]
// CHECK-COUNT-2: vector.store %{{.*}}, %[[VALUES]]{{.*}} vector<16xi8>
// CHECK: {kv.grain =
// CHECK: scf.forall
// Eight rows.
// CHECK: scf.for %{{.*}} step %c8{{[_0-9]*}} {
// AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// AVX2: %[[BYTES:.*]] = vector.load %[[W]]{{.*}} vector<32xi8>
// AVX2: arith.andi %{{.*}} : vector<32xi8>
// AVX2-COUNT-8: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2: arith.shrui
// Sums of eight products fit 16 bits.
// AVX2-COUNT-56: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// AVX512: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// AVX512-COUNT-64: llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// VNNI-COUNT-64: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VNNI-NOT: pmaddw
// GENERIC: arith.extui %{{.*}} : vector<64xi8> to vector<64xi32>
// GENERIC: arith.muli %{{.*}} : vector<64xi32>
// GENERIC: vector.shuffle
// CHECK: arith.subi
// CHECK: arith.sitofp
// CHECK: math.fma
// CHECK: vector.store %{{.*}}, %[[Y]]
// One row.
// CHECK: scf.for %{{.*}} step %c1{{[_0-9]*}} {
// AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// AVX512: scf.for {{.*}} -> (vector<16xf32>)
// CHECK-NOT: kv.matmul
func.func private @q4_0(%x: memref<?x64xf32>, %w: memref<2x2x288xi8>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) {formats = [#kv.quant<q4_0>]}
      : memref<?x64xf32>, memref<2x2x288xi8> outs memref<?x32xf32>
  return
}

// Signed weights: their magnitudes, with the signs on the rows' side; where
// nothing saturates, 128 more, taken off by the rows' sums.
// CHECK-LABEL: func.func private @q8_0(
// AVX2: math.absi
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.psign.b"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2-NEXT: arith.constant
// AVX2-NEXT: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// AVX512: math.absi
// AVX512: arith.cmpi slt
// AVX512: arith.select
// VNNI: arith.xori
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VNNI: arith.subi
// GENERIC: arith.extsi %{{.*}} : vector<64xi8> to vector<64xi32>
func.func private @q8_0(%x: memref<?x64xf32>, %w: memref<2x2x544xi8>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) {formats = [#kv.quant<q8_0>]}
      : memref<?x64xf32>, memref<2x2x544xi8> outs memref<?x32xf32>
  return
}

// One scale a row, f32, which stays in a register for all of the row.
// CHECK-LABEL: func.func private @i8(
// VNNI-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<2x1x1088xi8>
// VNNI: scf.for
// VNNI: scf.for
// VNNI: %[[BYTES:.*]] = vector.load %[[W]]{{.*}} vector<64xi8>
// VNNI: vector.bitcast %[[BYTES]] : vector<64xi8> to vector<16xf32>
// VNNI: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// VNNI-COUNT-64: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.psign.b"
// GENERIC: arith.extsi %{{.*}} : vector<64xi8> to vector<64xi32>
func.func private @i8(%x: memref<?x64xf32>, %w: memref<2x1x1088xi8>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) {formats = [#kv.quant<i8>]}
      : memref<?x64xf32>, memref<2x1x1088xi8> outs memref<?x32xf32>
  return
}
