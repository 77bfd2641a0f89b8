// Layers in bands, in a loop: one plan serves all of them, before the loop, and
// each layer takes its band's part of the table where it lies.
//
// RUN: kv-opt --kv-cuda="chips=sm_80" %s -o /dev/null --mlir-print-ir-after=convert-kv-to-runtime 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="memref.{{copy|load|store|alloc}}"
//
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: memref<?x?xi32>
// CHECK: %[[OFFSET:.*]] = arith.muli
// CHECK: %[[BAND:.*]] = memref.subview %[[TABLE]][0, %[[OFFSET]]] [%{{.*}}, %{{.*}}] [1, 1] : memref<?x?xi32> to memref<?x?xi32, strided<[?, 1], offset: ?>>
// CHECK: kv.rt.call "store"(%{{.*}}, %{{.*}}, %[[BAND]],
// CHECK: kv.rt.call "plannedAttention"(%{{.*}}, %{{.*}}, %[[BAND]],
// CHECK-LABEL: func.func private @forward(
// CHECK: %[[FIRST:.*]] = memref.subview %{{.*}}[0, 0]
// CHECK: kv.rt.call "plan"(%{{.*}}, %{{.*}}, %[[FIRST]],
// CHECK-NOT: "plan"
// CHECK: scf.for
// CHECK-NOT: "plan"
// CHECK: func.call @layer(
// CHECK-NOT: "plan"

!kv = !kv.collection<paged, bf16, layers = 5, heads = 1, dim = 64, page = 16, window = 32, page_layers = 2>
func.func private @layer(%x: tensor<?x64xbf16>, %kv: !kv, %ro: tensor<?xi32>, %i: index) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 1, 64] : tensor<?x64xbf16> into tensor<?x1x64xbf16>
  kv.store %h, %h into %kv[%i] rows %ro : tensor<?x1x64xbf16>, tensor<?x1x64xbf16> into !kv, tensor<?xi32>
  %o = kv.attention %h in %kv[%i] rows %ro mask <sliding = 32> scale 0.125
    : tensor<?x1x64xbf16> in !kv, tensor<?xi32> -> tensor<?x1x64xbf16>
  %f = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x1x64xbf16> into tensor<?x64xbf16>
  return %f : tensor<?x64xbf16>
}
func.func @forward(%x: tensor<?x64xbf16> {kv.name = "x", kv.dims = ["T"]},
    %ro: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]}, %kv: !kv {kv.name = "kv"})
    -> (tensor<?x64xbf16> {kv.name = "y", kv.dims = ["T"]}) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%now = %x) -> tensor<?x64xbf16> {
    %next = func.call @layer(%now, %kv, %ro, %i) : (tensor<?x64xbf16>, !kv, tensor<?xi32>, index) -> tensor<?x64xbf16>
    scf.yield %next : tensor<?x64xbf16>
  }
  return %y : tensor<?x64xbf16>
}
