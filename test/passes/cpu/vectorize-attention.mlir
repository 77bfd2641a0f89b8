// RUN: kv-opt --kv-vectorize --canonicalize --cse %s | FileCheck %s
// RUN: kv-opt --kv-vectorize="wide=false" --canonicalize --cse %s | FileCheck %s --check-prefix=NARROW

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 32, page = 16, layout = cpu>

// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x2x16x32xbf16>, %{{[a-z0-9]*}}: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %{{[a-z0-9]*}}: memref<?x2xi32>,
// CHECK-SAME: %[[RO:[a-z0-9]*]]: memref<?xi32>, %[[PLAN:[a-z0-9]*]]: memref<?x4xi32>, %[[Q:[a-z0-9]*]]: memref<?x8x32xf32>, %[[O:[a-z0-9]*]]: memref<?x8x32xf32>, %[[LAYER:[a-z0-9]*]]: index)
// The cache as one row of elements.
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[B]] to offset: [0], sizes: [%{{.*}}], strides: [1]
// What may be wrong is recorded, and what is read is bounded.
// CHECK: kv.rt.assert %{{.*}}, 2, "the layer is outside the collection's 2 layers"
// CHECK: arith.minui %[[LAYER]], %c1
// CHECK: kv.rt.assert %{{.*}}, 2, "attention: lookup_table names a page that the cache does not have"
// Tiles of 24 packed rows: their number, then the table of items and that of splits.
// CHECK: scf.for %{{.*}} step %c24 iter_args
// CHECK: %[[ITEMS:.*]] = memref.alloc(%{{.*}}) : memref<?x7xindex>
// CHECK: %[[SPLITS:.*]] = memref.alloc(%{{.*}}) : memref<?x7xindex>
// CHECK: scf.for %{{.*}} step %c24 iter_args
// CHECK: memref.store %{{.*}}, %[[ITEMS]]
// CHECK: memref.store %{{.*}}, %[[SPLITS]]
// Pieces: maxima, sums, values.
// CHECK: memref.alloc(%{{.*}}) : memref<?x32xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x32xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x?x32xf32>
// CHECK: scf.forall
// Memory on the stack: places, widened rows of 32 keys, queries, ends, scores.
// CHECK: %[[PLACES:.*]] = memref.alloca() {{.*}} : memref<256xindex>
// CHECK: %[[WIDE:.*]] = memref.alloca() {{.*}} : memref<1024xf32>
// CHECK: %[[QUERIES:.*]] = memref.alloca() {{.*}} : memref<24x32xf32>
// CHECK: %[[SCORES:.*]] = memref.alloca() {{.*}} : memref<24x256xf32>
// Each page is looked up once.
// CHECK: %[[ENTRY:.*]] = memref.load %[[T]]
// CHECK: arith.minui
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[PLACES]]
// The rows of one register tile use the cache's elements and ask for later ones.
// All rows take 32 keys before the next. Scores of 4 rows and 4 keys: lanes are
// elements, d ascends.
// CHECK: scf.for %{{.*}} step %c32 {
// CHECK: scf.for %{{.*}} step %c4 {
// CHECK-NEXT: scf.for %[[KEY:.*]] = %{{.*}} to %{{.*}} step %c4 {
// CHECK: memref.prefetch %[[FLAT]]
// CHECK: %[[DOT:.*]]:16 = scf.for %[[D:.*]] = %c0 to %c32 step %c16 iter_args(%[[SUM:[a-z0-9]*]] =
// CHECK-COUNT-4: vector.load %[[FLAT]]
// CHECK: %[[QUERY:.*]] = vector.load %[[QUERIES]][%{{.*}}, %[[D]]]
// CHECK: math.fma %[[QUERY]], %{{.*}}, %[[SUM]] : vector<16xf32>
// CHECK-COUNT-15: math.fma
// Lanes in one order: i and i + 8, then 4, 2 and 1.
// CHECK: vector.shuffle %[[DOT]]#0, %[[DOT]]#1 [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK: vector.shuffle %[[DOT]]#0, %[[DOT]]#1 [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [4], strides = [1]}
// CHECK: vector.store %{{.*}}, %[[SCORES]][%{{.*}}, %[[KEY]]] : memref<24x256xf32>, vector<4xf32>
// One row and 8 keys.
// CHECK: scf.for %{{.*}} step %c8 {
// CHECK: :8 = scf.for
// CHECK: vector.store %{{.*}}, %[[SCORES]]{{.*}} vector<8xf32>
// More rows use elements that are widened once for all of them.
// CHECK: vector.load %[[FLAT]]
// CHECK: arith.extf
// CHECK: vector.store %{{.*}}, %[[WIDE]]
// CHECK: :16 = scf.for
// CHECK-COUNT-4: vector.load %[[WIDE]]
// scale * log2(e), the mask, the maximum; then powers of 2.
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: arith.cmpf ogt
// CHECK: arith.subf
// CHECK-COUNT-6: math.fma {{.*}} : vector<16xf32>
// CHECK: arith.shli
// Values of 4 rows: what only some see row by row, before and after what all see.
// CHECK: scf.for %{{.*}} step %c32 {
// CHECK: scf.if
// CHECK: scf.if
// CHECK: :2 = scf.for
// CHECK: scf.if
// CHECK: %[[SUMS:.*]]:8 = scf.for %[[KEY:[a-z0-9]*]] =
// CHECK: memref.prefetch %[[FLAT]]
// CHECK: memref.load %[[PLACES]][%[[KEY]]]
// CHECK-COUNT-2: vector.load %[[FLAT]]
// CHECK: memref.load %[[SCORES]][%{{.*}}, %[[KEY]]]
// CHECK: vector.broadcast
// CHECK-COUNT-8: math.fma
// CHECK: {loop_annotation = #{{.*}}}
// CHECK: scf.if
// What is whole is written, a piece goes to scratch memory.
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: memref.subview
// CHECK: {kv.grain = 1 : i64}
// The merge of splits.
// CHECK: scf.forall
// CHECK: memref.load %[[SPLITS]]
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: {kv.grain = 1 : i64}
// CHECK-NOT: kv.attention

// Registers of 8 lanes: those of one half of a score's sums, then of the other.
// NARROW: scf.for %{{.*}} step %c24 iter_args
// NARROW: scf.for %{{.*}} step %c2 {
// NARROW: %[[LOW:.*]]:8 = scf.for %[[D:.*]] = %c0 to %c32 step %c16
// NARROW-COUNT-8: math.fma {{.*}} : vector<8xf32>
// NARROW: %[[HIGH:.*]]:8 = scf.for %[[D:.*]] = %c0 to %c32 step %c16
// NARROW: arith.addi %[[D]], %c8
// NARROW-COUNT-8: math.fma {{.*}} : vector<8xf32>
// NARROW-DAG: arith.addf %[[LOW]]#0, %[[HIGH]]#0
// NARROW-DAG: arith.addf %[[LOW]]#7, %[[HIGH]]#7
func.func private @attention(%b: memref<?x2x2x2x16x32xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>, %q: memref<?x8x32xf32>,
    %o: memref<?x8x32xf32>, %layer: index) attributes {kv.kernel} {
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro plan %plan outs(%o) mask <causal> scale 0.5
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x8x32xf32> in (memref<?x2x2x2x16x32xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x8x32xf32>
  return
}
