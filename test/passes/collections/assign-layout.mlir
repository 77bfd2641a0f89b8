// RUN: kv-opt --split-input-file --kv-assign-layout %s | FileCheck %s
// RUN: kv-opt --split-input-file --kv-assign-layout=target=cuda %s | FileCheck %s --check-prefix=CUDA
// RUN: kv-opt --split-input-file --kv-assign-layout=layout=nhd %s | FileCheck %s --check-prefix=NHD
// RUN: kv-opt --split-input-file --kv-assign-layout --remarks-filter=kv-assign-layout -o /dev/null %s 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK-DAG: [Passed] Assigned | {{.*}}"!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16> gets the layout cpu: a head's keys and values of a page are one run, which a core streams"
// REMARK-DAG: [Missed] Kept | {{.*}}"!kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16> keeps its layout: the graph opens its blocks"

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
!cache = !kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
// CHECK-LABEL: func.func private @outside(!kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = cpu>)
// CUDA-LABEL: func.func private @outside(!kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = hnd>)
// NHD-NOT: layout
func.func private @outside(!cache)
// CHECK-LABEL: func.func @closed(
// CHECK-SAME: !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = cpu>
func.func @closed(%kv: !kv, %i: index, %go: i1) -> !kv {
  // CHECK: kv.key_cache %{{.*}} : !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = cpu>
  %c = kv.key_cache %kv[%i] : !kv
  call @outside(%c) : (!cache) -> ()
  // CHECK: scf.if {{.*}} -> (!kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = cpu>)
  %r = scf.if %go -> !kv {
    scf.yield %kv : !kv
  } else {
    scf.yield %kv : !kv
  }
  return %r : !kv
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
// CHECK-LABEL: func.func @opened(
// CHECK-SAME: !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
func.func @opened(%kv: !kv) -> memref<?x2x2x16x2x8xbf16> {
  %b, %l, %t, %m = kv.unpack %kv : !kv -> memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return %b : memref<?x2x2x16x2x8xbf16>
}
