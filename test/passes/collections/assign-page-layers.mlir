// RUN: kv-opt --split-input-file --kv-assign-page-layers %s | FileCheck %s
// RUN: kv-opt --split-input-file --kv-assign-page-layers --remarks-filter=kv-assign-page-layers -o /dev/null %s 2>&1 | FileCheck %s --check-prefix=REMARK

// 24 layers that slide and 4 that do not: pages of 4, in 6 bands. Everywhere.
// REMARK-DAG: [Passed] Assigned | {{.*}}"!kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128> gets pages of 4 layers in 6 bands: 131072 bytes, as the collections of other windows have"
// REMARK-DAG: [Passed] Kept | {{.*}}"!kv.collection<paged, bf16, layers = 4, heads = 8, dim = 64, page = 16> keeps its pages of 131072 bytes: its layers fill one"
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: !kv.cache<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128, page_layers = 4>
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME: !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128, page_layers = 4>
// CHECK-SAME: !kv.collection<paged, bf16, layers = 4, heads = 8, dim = 64, page = 16>)
// CHECK: kv.key_cache %{{.*}} : !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128, page_layers = 4>
func.func private @layer(!kv.cache<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128>)
func.func @mixed(%a: !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128>,
                 %b: !kv.collection<paged, bf16, layers = 4, heads = 8, dim = 64, page = 16>) attributes {kv.entry} {
  %i = arith.constant 23 : index
  %c = kv.key_cache %a[%i] : !kv.collection<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128>
  call @layer(%c) : (!kv.cache<paged, bf16, layers = 24, heads = 8, dim = 64, page = 16, window = 128>) -> ()
  return
}

// -----

// One layer a page would waste nothing too, but in 26 bands.
// CHECK-LABEL: func.func @at_most_16_bands(
// CHECK-SAME: layers = 22, {{.*}} window = 8, page_layers = 2>
// CHECK-SAME: layers = 4, heads = 1, dim = 8, page = 16, page_layers = 2>
func.func @at_most_16_bands(%a: !kv.collection<paged, f32, layers = 22, heads = 1, dim = 8, page = 16, window = 8>,
                            %b: !kv.collection<paged, f32, layers = 4, heads = 1, dim = 8, page = 16>) attributes {kv.entry} {
  return
}

// -----

// Nothing divides both: of 3 layers a page two are wasted, of 4 three, of 7 five.
// CHECK-LABEL: func.func @some_waste(
// CHECK-SAME: layers = 30, {{.*}} window = 8, page_layers = 3>
// CHECK-SAME: layers = 7, heads = 1, dim = 8, page = 16, page_layers = 3>
func.func @some_waste(%a: !kv.collection<paged, f32, layers = 30, heads = 1, dim = 8, page = 16, window = 8>,
                      %b: !kv.collection<paged, f32, layers = 7, heads = 1, dim = 8, page = 16>) attributes {kv.entry} {
  return
}

// -----

// Equal are the bytes, not the layers: a layer of the second has twice as many.
// In two entries, three windows.
// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: layers = 12, {{.*}} window = 8, page_layers = 4>
// CHECK-SAME: layers = 4, heads = 2, dim = 8, page = 16, page_layers = 2>
func.func @bytes(%a: !kv.collection<paged, f32, layers = 12, heads = 1, dim = 8, page = 16, window = 8>,
                 %b: !kv.collection<paged, f32, layers = 4, heads = 2, dim = 8, page = 16>) attributes {kv.entry} {
  return
}
// CHECK-LABEL: func.func @other_entry(
// CHECK-SAME: layers = 4, heads = 1, dim = 8, page = 16, window = 9>
func.func @other_entry(%a: !kv.collection<paged, f32, layers = 4, heads = 1, dim = 8, page = 16, window = 9>) attributes {kv.entry} {
  return
}

// -----

// What a type says stays, and the others follow: also that a page is whole.
// REMARK-DAG: [Passed] Kept | {{.*}}"!kv.collection<paged, f32, layers = 8, heads = 1, dim = 8, page = 16, window = 8, page_layers = 3> keeps its pages of 3072 bytes: its type says so"
// CHECK-LABEL: func.func @said(
// CHECK-SAME: layers = 8, {{.*}} window = 8, page_layers = 3>
// CHECK-SAME: layers = 6, heads = 1, dim = 8, page = 16, page_layers = 3>
func.func @said(%a: !kv.collection<paged, f32, layers = 8, heads = 1, dim = 8, page = 16, window = 8, page_layers = 3>,
                %b: !kv.collection<paged, f32, layers = 6, heads = 1, dim = 8, page = 16>) attributes {kv.entry} {
  return
}

// -----

// Blocks that the graph opens have their layers in other types.
// REMARK-DAG: [Passed] Kept | {{.*}}"!kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, window = 8> keeps its pages of 2048 bytes: the graph opens its blocks"
// CHECK-LABEL: func.func @opened(
// CHECK-SAME: layers = 2, heads = 1, dim = 8, page = 16, window = 8>
// CHECK-SAME: layers = 6, heads = 1, dim = 8, page = 16, page_layers = 2>
func.func @opened(%a: !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, window = 8>,
                  %b: !kv.collection<paged, f32, layers = 6, heads = 1, dim = 8, page = 16>) -> memref<?x2x2x16x1x8xf32> attributes {kv.entry} {
  %blocks, %l, %t, %m = kv.unpack %a : !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, window = 8>
      -> memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return %blocks : memref<?x2x2x16x1x8xf32>
}

// -----

// A page of the first is 4 layers, and the second has 3 in all.
// REMARK-DAG: [Missed] NoCommonSize | {{.*}}"pages of different windows have different numbers of bytes: no number of layers makes them equal within 16 bands"
// CHECK-LABEL: func.func @none(
// CHECK-SAME: page_layers = 4>
// CHECK-SAME: layers = 3, heads = 1, dim = 8, page = 16>
func.func @none(%a: !kv.collection<paged, f32, layers = 8, heads = 1, dim = 8, page = 16, window = 8, page_layers = 4>,
                %b: !kv.collection<paged, f32, layers = 3, heads = 1, dim = 8, page = 16>) attributes {kv.entry} {
  return
}

// -----

// One window; and slots have no pages to share.
// CHECK-LABEL: func.func @one_window(
// CHECK-NOT: page_layers
// CHECK: return
func.func @one_window(%a: !kv.collection<paged, f32, layers = 8, heads = 1, dim = 8, page = 16, window = 8>,
                      %b: !kv.collection<paged, f32, layers = 3, heads = 1, dim = 8, page = 16, window = 8>,
                      %c: !kv.collection<continuous, f32, layers = 3, heads = 1, dim = 8, max_seq = 16>) attributes {kv.entry} {
  return
}
// No entry: nobody serves it together with the others.
func.func @no_entry(%a: !kv.collection<paged, f32, layers = 8, heads = 1, dim = 8, page = 16>) {
  return
}
