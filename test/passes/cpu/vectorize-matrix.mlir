// RUN: kv-opt --kv-vectorize="matrix=true" --split-input-file %s | FileCheck %s

// Rows of bf16 are brought into tiles once; a tile of the product configures the
// matrix unit, brings pairs of neighbouring weights of a column together, and has
// one multiplication for every 32 elements of each block of 16 columns.
module attributes {kv.activations = bf16} {
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<2x64x16xbf16>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK: %[[TILES:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x2x16x32xi16>
// CHECK: scf.forall
// CHECK: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: vector.store %{{.*}}, %[[TILES]]
// CHECK: scf.forall
// CHECK: %[[PAIRS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x32x32xi16>
// CHECK: memref.collapse_shape %[[W]] {{\[\[}}0], [1, 2]]
// At most 16 rows: all of the depth while the sums stay in their tiles.
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, 2, 18,
// CHECK: vector.store %{{.*}}, %[[PAIRS]]
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: }
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64"
// More of them: 32 rows at a time use what was brought together once, then what
// is left.
// CHECK: vector.shuffle
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NOT: math.fma
func.func private @matmul(%x: memref<?x64xf32>, %w: memref<2x64x16xbf16>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) : memref<?x64xf32>, memref<2x64x16xbf16> outs memref<?x32xf32>
  return
}
// A depth that tiles do not divide, and weights of f32.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT: llvm.x86
// CHECK: math.fma
func.func private @others(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %v: memref<2x24x16xf32>,
                          %y: memref<?x32xf32>, %z: memref<?x32xf32>) attributes {kv.kernel} {
  kv.matmul %x, %w, %v outs(%y, %z)
      : memref<?x24xf32>, memref<2x24x16xbf16>, memref<2x24x16xf32>
      outs memref<?x32xf32>, memref<?x32xf32>
  return
}
}

// -----

// Rows of f32 are not what the unit takes.
// CHECK-LABEL: func.func private @exact(
// CHECK-NOT: llvm.x86
// CHECK: math.fma
func.func private @exact(%x: memref<?x64xf32>, %w: memref<2x64x16xbf16>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) : memref<?x64xf32>, memref<2x64x16xbf16> outs memref<?x32xf32>
  return
}
