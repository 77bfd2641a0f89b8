// RUN: kv-opt --kv-resolve-collections --kv-resolve-bands --canonicalize --cse %s | FileCheck %s
//
// The slices stay views: nothing of a table is copied.
// RUN: kv-opt --kv-resolve-collections --kv-resolve-bands --canonicalize --cse \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER --implicit-check-not=memref.copy

!kv = !kv.collection<paged, f32, layers = 5, heads = 1, dim = 8, page = 16, window = 8, page_layers = 2>
!cache = !kv.cache<paged, f32, layers = 5, heads = 1, dim = 8, page = 16, window = 8, page_layers = 2>
!rows = tensor<?x1x8xf32>

// Layers 2 and 3 share a band, and its slice of the table; layer 4 is the first
// of the last band. What follows sees collections of two layers.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[BATCH:.*]] = tensor.dim %[[T]], %[[C0]]
// CHECK: %[[PITCH:.*]] = tensor.dim %[[T]], %[[C1]]
// CHECK: %[[EACH:.*]] = arith.divui %[[PITCH]], %[[C3]]
// CHECK: %[[SECOND:.*]] = tensor.extract_slice %[[T]][0, %[[EACH]]] [%[[BATCH]], %[[EACH]]] [1, 1]
// CHECK: kv.store %{{.*}} into (%[[B]], %[[L]], %[[SECOND]], %{{.*}})[%[[C0]]] {{.*}} as !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, window = 8>
// CHECK: kv.store %{{.*}} into (%[[B]], %[[L]], %[[SECOND]], %{{.*}})[%[[C1]]]
// CHECK: %[[AT:.*]] = arith.muli %[[EACH]], %[[C2]]
// CHECK: %[[THIRD:.*]] = tensor.extract_slice %[[T]][0, %[[AT]]] [%[[BATCH]], %[[EACH]]] [1, 1]
// CHECK: kv.attention %{{.*}} in (%[[B]], %[[L]], %[[THIRD]], %{{.*}})[%[[C0]]]
// CHECK: kv.print (%[[B]], %[[L]], %[[SECOND]], %{{.*}})[%[[C1]]]
// BUFFER-LABEL: func.func @constants(
// BUFFER: memref.subview
// BUFFER: kv.store
// BUFFER: kv.store
// BUFFER: memref.subview
// BUFFER: kv.attention
func.func @constants(%kv: !kv, %x: !rows, %ro: tensor<?xi32>) -> !rows {
  %l2 = arith.constant 2 : index
  %l3 = arith.constant 3 : index
  %l4 = arith.constant 4 : index
  kv.store %x, %x into %kv[%l2] rows %ro : !rows, !rows into !kv, tensor<?xi32>
  kv.store %x, %x into %kv[%l3] rows %ro : !rows, !rows into !kv, tensor<?xi32>
  %o = kv.attention %x in %kv[%l4] rows %ro mask <sliding = 8> scale 1.0 : !rows in !kv, tensor<?xi32> -> !rows
  kv.print %kv[%l3] : !kv
  return %o : !rows
}

// A layer that is not constant is checked against the collection's five: the
// last band's page would have room for a sixth.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %{{[a-z0-9]*}}: tensor<?x2xi32>, %[[LAYER:[a-z0-9]*]]: index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[OK:.*]] = arith.cmpi ult, %[[LAYER]], %[[C5]]
// CHECK: kv.rt.assert %[[OK]], 2, "the layer is outside the collection's 5 layers"
// CHECK: %[[INSIDE:.*]] = arith.minui %[[LAYER]], %[[C4]]
// CHECK: %[[BAND:.*]] = arith.divui %[[INSIDE]], %[[C2]]
// CHECK: %[[PLACE:.*]] = arith.remui %[[INSIDE]], %[[C2]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BAND]], %{{.*}}
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[T]][0, %[[OFFSET]]]
// CHECK: kv.load (%{{.*}}, %{{.*}}, %[[SLICE]], %{{.*}})[%[[PLACE]], %{{.*}}] {{.*}} as !kv.collection<paged, f32, layers = 2,
func.func @dynamic(%kv: !kv, %l: index, %ro: tensor<?xi32>) -> (tensor<?x?x1x8xf32>, tensor<?xi32>) {
  %c = kv.value_cache %kv[%l] : !kv
  %d, %n = kv.load %c rows %ro : !cache, tensor<?xi32> -> tensor<?x?x1x8xf32>, tensor<?xi32>
  return %d, %n : tensor<?x?x1x8xf32>, tensor<?xi32>
}

// An operation on no layer gets the first band: of the table only the number of
// entries counts.
// CHECK-LABEL: func.func @no_layer(
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %{{.*}}[0, 0]
// CHECK: kv.positions (%{{.*}}, %{{.*}}, %[[FIRST]], %{{.*}}), {{.*}} as !kv.collection<paged, f32, layers = 2,
// CHECK: kv.plan (%{{.*}}, %{{.*}}, %[[FIRST]], %{{.*}}) rows {{.*}} as !kv.collection<paged, f32, layers = 2,
func.func @no_layer(%kv: !kv, %ro: tensor<?xi32>) -> (tensor<?xi32>, tensor<?x4xi32>) {
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  %plan = kv.plan %kv rows %ro mask <sliding = 8> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  return %p, %plan : tensor<?xi32>, tensor<?x4xi32>
}

// A page of all layers is one band, said or not.
!one = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16, page_layers = 2>
// CHECK-LABEL: func.func @one_band(
// CHECK-NOT: extract_slice
// CHECK: kv.store
func.func @one_band(%kv: !one, %l: index, %x: !rows, %ro: tensor<?xi32>) {
  kv.store %x, %x into %kv[%l] rows %ro : !rows, !rows into !one, tensor<?xi32>
  return
}

// The table goes to the layer whole; its slice is taken there.
// CHECK-LABEL: func.func private @layer(
// CHECK: tensor.extract_slice
// CHECK-LABEL: func.func @loop(
// CHECK-NOT: tensor.extract_slice
// CHECK: func.call @layer(
func.func private @layer(%kv: !kv, %l: index, %x: !rows, %ro: tensor<?xi32>) -> !rows {
  %o = kv.attention %x in %kv[%l] rows %ro mask <sliding = 8> scale 1.0 : !rows in !kv, tensor<?xi32> -> !rows
  return %o : !rows
}
func.func @loop(%kv: !kv, %x: !rows, %ro: tensor<?xi32>) -> !rows {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %l = %c0 to %c5 step %c1 iter_args(%y = %x) -> !rows {
    %z = func.call @layer(%kv, %l, %y, %ro) : (!kv, index, !rows, tensor<?xi32>) -> !rows
    scf.yield %z : !rows
  }
  return %r : !rows
}
