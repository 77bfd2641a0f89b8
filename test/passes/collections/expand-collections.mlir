// RUN: kv-opt --kv-expand-collections %s | FileCheck %s

!a = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
!b = !kv.collection<paged, f32, layers = 3, heads = 1, dim = 4, page = 32>

// The other arguments keep their own attributes; the components get theirs.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?xi32> {kv.dims = ["T"], kv.name = "tokens"},
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x2x8xbf16> {kv.collection = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>, kv.component = "blocks", kv.dims = ["cache.pages"], kv.name = "cache.blocks"},
// CHECK-SAME: %[[L:[a-z0-9]*]]: tensor<?xi32> {{{.*}}kv.component = "cache_lengths", kv.dims = ["cache.batch"], kv.name = "cache.cache_lengths"},
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<?x?xi32> {{{.*}}kv.component = "lookup_table", kv.dims = ["cache.batch", "cache.pitch"], kv.name = "cache.lookup_table"},
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<?x2xi32> {{{.*}}kv.component = "max_lengths", kv.dims = ["cache.steps"], kv.host, kv.name = "cache.max_lengths"},
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<16x8xbf16> {kv.weight = "w"})
// CHECK-SAME: attributes {kv.entry}
// CHECK: %[[KV:.*]] = kv.fetch %[[B]], %[[L]], %[[T]], %[[M]]
// CHECK: kv.positions %[[KV]], %[[X]]
func.func @forward(%x: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}, %kv: !a {kv.name = "cache"},
    %w: tensor<16x8xbf16> {kv.weight = "w"}) -> tensor<?xi32> attributes {kv.entry} {
  %p = kv.positions %kv, %x : !a, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// Without names they are kv, kv1, ...
// CHECK-LABEL: func.func @two(
// CHECK-SAME: memref<?x2x2x16x2x8xbf16> {{{[^}]*}}kv.name = "kv.blocks"}
// CHECK-SAME: memref<?x2x3x32x1x4xf32> {{{[^}]*}}kv.name = "kv1.blocks"}
// CHECK-DAG: kv.fetch {{.*}} -> !kv.collection<paged, bf16
// CHECK-DAG: kv.fetch {{.*}} -> !kv.collection<paged, f32
func.func @two(%a: !a, %b: !b) attributes {kv.entry} { return }

// A fetch of arguments makes them components; names say which collection's.
// CHECK-LABEL: func.func @fetched(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<?x2x2x16x2x8xbf16> {kv.collection = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>, kv.component = "blocks", kv.dims = ["image.pages"], kv.name = "image.blocks"},
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<3xi32> {kv.collection = {{[^"]*}}, kv.component = "cache_lengths", kv.dims = [], kv.name = "image.cache_lengths"},
// CHECK-SAME: kv.component = "lookup_table", kv.dims = ["image.batch", "image.pitch"], kv.name = "image.lookup_table"}
// CHECK-SAME: kv.component = "max_lengths", kv.dims = ["image.steps"], kv.host, kv.name = "image.max_lengths"}
func.func @fetched(%blocks: memref<?x2x2x16x2x8xbf16> {kv.name = "image.blocks"}, %lengths: tensor<3xi32>,
    %table: tensor<?x?xi32> {kv.name = "image.lookup_table"}, %most: tensor<?x2xi32>)
    attributes {kv.entry} {
  %kv = kv.fetch %blocks, %lengths, %table, %most
      : memref<?x2x2x16x2x8xbf16>, tensor<3xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !a
  return
}

// Without names it is the next; a second fetch may take lengths of the graph.
// CHECK-LABEL: func.func @after(
// CHECK-SAME: kv.name = "kv.max_lengths"}
// CHECK-SAME: kv.name = "kv1.blocks"}
// CHECK-SAME: kv.name = "kv1.max_lengths"}
func.func @after(%a: !a, %blocks: memref<?x2x3x32x1x4xf32>, %lengths: tensor<?xi32>,
    %table: tensor<?x?xi32>, %most: tensor<?x2xi32>) attributes {kv.entry} {
  %kv = kv.fetch %blocks, %lengths, %table, %most
      : memref<?x2x3x32x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !b
  %longer = linalg.add ins(%lengths, %lengths : tensor<?xi32>, tensor<?xi32>)
      outs(%lengths : tensor<?xi32>) -> tensor<?xi32>
  %then = kv.fetch %blocks, %longer, %table, %most
      : memref<?x2x3x32x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !b
  return
}

// Only entries change here.
// CHECK-LABEL: func.func @other(%{{.*}}: !kv.collection<
func.func @other(%a: !a) { return }
