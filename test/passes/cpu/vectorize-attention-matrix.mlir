// RUN: kv-opt --kv-vectorize="matrix=true" --canonicalize --cse --split-input-file %s | FileCheck %s

// Queries, with the scale, and weights are two numbers of bf16 each; keys and
// values are brought into tiles, where pairs of what is summed stand side by
// side.
module attributes {kv.activations = bf16} {
// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: memref<?x4xi32>, %[[Q:[a-z0-9]*]]: memref<?x8x64xf32>
// Tiles of 128 packed rows.
// CHECK: scf.for %{{.*}} step %c128 iter_args
// CHECK: memref.alloc(%{{.*}}) : memref<?x?x64xf32>
// CHECK: scf.forall
// CHECK: %[[KEYS:.*]] = memref.alloca() {{.*}} : memref<16x2x16x32xi16>
// CHECK: %[[VALUES:.*]] = memref.alloca() {{.*}} : memref<4x8x16x32xi16>
// CHECK: %[[PLACES:.*]] = memref.alloca() {{.*}} : memref<256xindex>
// CHECK: %[[QUERIES:.*]] = memref.alloca() {{.*}} : memref<128x2x2x32xi16>
// CHECK: %[[SCORES:.*]] = memref.alloca() {{.*}} : memref<32x256xf32>
// CHECK: %[[WEIGHTS:.*]] = memref.alloca() {{.*}} : memref<32x8x2x32xi16>
// What is no number stays so; the first part is rounded, the second what is left.
// CHECK: vector.load %[[Q]]
// CHECK: arith.mulf
// CHECK: arith.cmpf ord
// CHECK: arith.addi %{{.*}}, %cst{{.*}} : vector<16xi32>
// CHECK: arith.andi
// CHECK: arith.subf
// CHECK: vector.shuffle %{{.*}} [1, 3, 5, 7,
// CHECK: vector.store %{{.*}}, %[[QUERIES]]
// CHECK: vector.store %{{.*}}, %[[QUERIES]]
// The unit is configured once a leaf. 16 keys are transposed by pairs of elements,
// four of which a load takes.
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: vector.load %{{.*}}, vector<8xbf16>
// CHECK: vector.insert_strided_slice
// CHECK: vector.shuffle %{{.*}} [0, 16, 2, 18,
// CHECK: vector.store %{{.*}}, %[[KEYS]]
// One tile of rows: the sums of two blocks of keys, both parts of the queries in
// each step.
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64"
// Two of them.
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// Scores that a row sees all of, and others; then weights.
// CHECK: scf.if
// CHECK-NOT: arith.cmpi sge
// CHECK: else
// CHECK: arith.cmpi sge
// CHECK: vector.store %{{.*}}, %[[SCORES]]
// CHECK-COUNT-12: math.fma {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[WEIGHTS]]
// Pairs of values of two keys; and zeros for what no row sees.
// CHECK: vector.shuffle %{{.*}} [0, 32, 1, 33,
// CHECK: vector.store %{{.*}}, %[[VALUES]]
// CHECK: vector.shuffle %{{.*}} [16, 48, 17, 49,
// CHECK: arith.select %{{.*}}, %{{.*}}, %cst{{.*}} : vector<32xi16>
// Whether one is no number matters where rows see different keys.
// CHECK: vector.reduction <maxui>
// One tile of rows with four blocks of values, two with two.
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// Then a row at a time.
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: vector.store %{{.*}}, %[[VALUES]]
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
func.func private @attention(%b: memref<?x2x2x2x16x64xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>, %q: memref<?x8x64xf32>,
    %o: memref<?x8x64xf32>, %layer: index) attributes {kv.kernel} {
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %plan outs(%o) mask <causal> scale 0.5
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x8x64xf32> in (memref<?x2x2x2x16x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 64, page = 16, layout = cpu>,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x8x64xf32>
  return
}
// A head that tiles do not divide, and a cache of another type.
// CHECK-LABEL: func.func private @dim(
// CHECK-NOT: llvm.x86
func.func private @dim(%b: memref<?x2x2x2x16x80xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>, %q: memref<?x8x80xf32>,
    %o: memref<?x8x80xf32>, %layer: index) attributes {kv.kernel} {
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %plan outs(%o) mask <causal> scale 0.5
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x8x80xf32> in (memref<?x2x2x2x16x80xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 80, page = 16, layout = cpu>,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x8x80xf32>
  return
}
// CHECK-LABEL: func.func private @type(
// CHECK-NOT: llvm.x86
func.func private @type(%b: memref<?x2x2x2x16x64xf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>, %q: memref<?x8x64xf32>,
    %o: memref<?x8x64xf32>, %layer: index) attributes {kv.kernel} {
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %plan outs(%o) mask <causal> scale 0.5
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x8x64xf32> in (memref<?x2x2x2x16x64xf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>)
        as !kv.collection<paged, f16, layers = 2, heads = 2, dim = 64, page = 16, layout = cpu>,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x8x64xf32>
  return
}
}

// -----

// Rows of f32.
// CHECK-LABEL: func.func private @exact(
// CHECK-NOT: llvm.x86
func.func private @exact(%b: memref<?x2x2x2x16x64xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>, %q: memref<?x8x64xf32>,
    %o: memref<?x8x64xf32>, %layer: index) attributes {kv.kernel} {
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %plan outs(%o) mask <causal> scale 0.5
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x8x64xf32> in (memref<?x2x2x2x16x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 64, page = 16, layout = cpu>,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x8x64xf32>
  return
}
