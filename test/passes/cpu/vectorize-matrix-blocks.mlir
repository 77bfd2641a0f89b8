// RUN: kv-opt --kv-vectorize="dot=amx" %s | FileCheck %s

// Whole tiles of 16 rows by the matrix unit: the blocks become signed bytes and
// factors once, then each sub-block is one product of tiles, whose integers are
// joined to the rows' sums by fma. The rows that are left are multiplied by vectors.

// CHECK-LABEL: func.func private @q4_0(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<2x2x288xi8>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?x64xi8>
// CHECK: %[[TILES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x64xi8>
// CHECK: %[[SCALES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x16xf32>
// CHECK: %[[INTEGERS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xi32>
// CHECK: scf.if
// Rows of 32 bytes, eight rows of weights.
// CHECK: dense<[1, {{[0, ]*}}64, 0, 64, 0, 64, 0, 64, 0, 32, 0, 32, 0, 64, 0, 64, {{[0, ]*}}16, 16, 16, 16, 16, 16, 8, 8, {{[0, ]*}}]> : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %[[SCALES]]
// CHECK: %[[EIGHT:.*]] = arith.constant dense<8> : vector<64xi8>
// CHECK: %[[SIGNED:.*]] = arith.subi %{{.*}}, %[[EIGHT]] : vector<64xi8>
// CHECK: vector.store %[[SIGNED]], %[[TILES]]
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<16xf32>
// CHECK: memref.prefetch %[[Y]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: vector.load %[[INTEGERS]]
// CHECK: arith.sitofp
// CHECK-COUNT-16: math.fma
// CHECK-COUNT-16: vector.store %{{.*}}, %[[Y]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK: scf.for %{{.*}} step %c8{{[_0-9]*}} {
// CHECK-NOT: tdpbssd
// CHECK: llvm.x86.avx512.vpdpbusd.512
func.func private @q4_0(%x: memref<?x64xf32>, %w: memref<2x2x288xi8>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) {formats = [#kv.quant<q4_0>]}
      : memref<?x64xf32>, memref<2x2x288xi8> outs memref<?x32xf32>
  return
}

// Sub-blocks of 16: rows of 16 bytes, four rows of weights. Minima are joined, too.
// CHECK-LABEL: func.func private @k(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK: 64, 0, 64, 0, 64, 0, 64, 0, 16, 0, 16, 0, 64, 0, 64, {{[0, ]*}}16, 16, 16, 16, 16, 16, 4, 4, {{[0, ]*}}]> : vector<64xi8>
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
// CHECK: "llvm.x86.tilerelease"
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: "llvm.x86.tdpbssd"
// CHECK-COUNT-32: math.fma
// CHECK-NOT: math.fma
// CHECK: "llvm.x86.tilerelease"
func.func private @k(%x: memref<?x256xf32>, %v: memref<2x1x3360xi8>, %w: memref<2x1x2368xi8>,
                     %y: memref<?x32xf32>, %z: memref<?x32xf32>) attributes {kv.kernel} {
  kv.matmul %x, %v, %w outs(%y, %z) {formats = [#kv.quant<q6_k>, #kv.quant<q4_k>]}
      : memref<?x256xf32>, memref<2x1x3360xi8>, memref<2x1x2368xi8> outs memref<?x32xf32>, memref<?x32xf32>
  return
}

// Rows of experts stand anywhere in x: by vectors.
// CHECK-LABEL: func.func private @experts(
// CHECK-NOT: tdpbssd
// CHECK: llvm.x86.avx512.vpdpbusd.512
func.func private @experts(%x: memref<?x64xf32>, %e: memref<?x2xi32>, %w: memref<8x2x544xi8>,
                           %y: memref<?x2x32xf32>) attributes {kv.kernel} {
  kv.expert_matmul %x, %w experts(%e) outs(%y) {formats = [#kv.quant<q8_0>]}
      : memref<?x64xf32>, memref<8x2x544xi8> experts memref<?x2xi32> outs memref<?x2x32xf32>
  return
}
