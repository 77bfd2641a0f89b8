// A state is cut into columns; each is read, goes through all rows of its sequence in memory of a
// thread's own, and is written back. What kv-select-kernel does not choose it for is an error here.
//
// RUN: kv-opt --kv-vectorize --split-input-file --verify-diagnostics %s | FileCheck %s

!conv = !kv.collection<recurrent, bf16, layers = 3, heads = 3, dim = 136, page = 16>
!blocks = memref<?x1x3x1x3x136xbf16>

// Pieces of 128 channels, and one of the 8 that are left.
// CHECK-LABEL: func.func private @convolution(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x136xf32>, %[[W:[a-z0-9]*]]: memref<4x136xf32>, %[[B:[a-z0-9]*]]: memref<?x1x3x1x3x136xbf16>
// CHECK: kv.rt.assert {{.*}}the layer is outside the collection's 3 layers
// CHECK: scf.forall
// CHECK: %[[M:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3x128xf32>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vector.load %[[B]]{{.*}} vector<16xbf16>
// CHECK: arith.select
// CHECK: vector.store %{{.*}}, %[[M]]
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c16
// CHECK-COUNT-3: vector.load %[[M]]
// CHECK: vector.load %[[X]]
// CHECK-COUNT-4: vector.load %[[W]]
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %[[M]]
// CHECK: scf.if
// CHECK: vector.store %{{.*}}, %[[B]]{{.*}} vector<16xbf16>
// CHECK: scf.if
// CHECK: vector.load %[[B]]{{.*}} vector<8xbf16>
// CHECK: vector.store %{{.*}}, %[[B]]{{.*}} vector<8xbf16>
// CHECK: kv.grain = 1
// CHECK-NOT: kv.state_convolution
func.func private @convolution(%x: memref<?x136xf32>, %w: memref<4x136xf32>, %b: !blocks,
    %l: memref<?xi32>, %t: memref<?x2xi32>, %m: memref<?x2xi32>, %layer: index, %ro: memref<?xi32>,
    %y: memref<?x136xf32>) attributes {kv.kernel} {
  kv.state_convolution %x, %w in (%b, %l, %t, %m)[%layer] rows %ro outs(%y) {kv.kernel = #kv.kernel<vector>}
      : memref<?x136xf32>, memref<4x136xf32> in (!blocks, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>)
        as !conv, memref<?xi32> outs memref<?x136xf32>
  return
}

// -----

!scan = !kv.collection<recurrent, f32, layers = 3, heads = 6, dim = 256, page = 16>
!blocks = memref<?x1x3x1x6x256xf32>

// What is known of the value first, over all rows of the matrix; then the state and the result.
// CHECK-LABEL: func.func private @scan(
// CHECK: scf.forall
// CHECK: %[[M:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x32xf32>
// CHECK: %[[KNOWN:.*]]:2 = scf.for
// CHECK-COUNT-2: vector.load %[[M]]
// CHECK-NOT: vector.store
// CHECK: scf.yield
// CHECK: %[[OUT:.*]]:2 = scf.for
// CHECK-COUNT-2: vector.store %{{.*}}, %[[M]]
// CHECK: scf.yield
// CHECK-COUNT-2: vector.store %[[OUT]]#
// CHECK-NOT: kv.state_scan
func.func private @scan(%k: memref<?x2x8xf32>, %v: memref<?x2x3x32xf32>, %g: memref<?x2x3xf32>, %b: !blocks,
    %l: memref<?xi32>, %t: memref<?x2xi32>, %m: memref<?x2xi32>, %layer: index, %ro: memref<?xi32>,
    %y: memref<?x2x3x32xf32>) attributes {kv.kernel} {
  kv.state_scan %k, %k, %v decay %g strength %g in (%b, %l, %t, %m)[%layer] rows %ro outs(%y)
      {delta, kv.kernel = #kv.kernel<vector>}
      : memref<?x2x8xf32>, memref<?x2x8xf32>, memref<?x2x3x32xf32>, memref<?x2x3xf32>, memref<?x2x3xf32>
        in (!blocks, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !scan, memref<?xi32>
        outs memref<?x2x3x32xf32>
  return
}

// -----

!scan = !kv.collection<recurrent, f32, layers = 3, heads = 1, dim = 1026, page = 16>
!blocks = memref<?x1x3x1x1x1026xf32>

func.func private @long_keys(%k: memref<?x1x513xf32>, %v: memref<?x1x1x2xf32>, %g: memref<?x1x1xf32>,
    %b: !blocks, %l: memref<?xi32>, %t: memref<?x2xi32>, %m: memref<?x2xi32>, %layer: index,
    %ro: memref<?xi32>, %y: memref<?x1x1x2xf32>) attributes {kv.kernel} {
  // expected-error @+1 {{has the kernel 'vector', but keys have 513 elements, more than 512}}
  kv.state_scan %k, %k, %v decay %g strength %g in (%b, %l, %t, %m)[%layer] rows %ro outs(%y)
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x1x513xf32>, memref<?x1x513xf32>, memref<?x1x1x2xf32>, memref<?x1x1xf32>, memref<?x1x1xf32>
        in (!blocks, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !scan, memref<?xi32>
        outs memref<?x1x1x2xf32>
  return
}

// -----

!conv = !kv.collection<recurrent, f32, layers = 1, heads = 16, dim = 4, page = 16>
!blocks = memref<?x1x1x1x16x4xf32>

func.func private @many_taps(%x: memref<?x4xf32>, %w: memref<17x4xf32>, %b: !blocks, %l: memref<?xi32>,
    %t: memref<?x2xi32>, %m: memref<?x2xi32>, %layer: index, %ro: memref<?xi32>, %y: memref<?x4xf32>)
    attributes {kv.kernel} {
  // expected-error @+1 {{has the kernel 'vector', but it has 17 taps, more than 16}}
  kv.state_convolution %x, %w in (%b, %l, %t, %m)[%layer] rows %ro outs(%y) {kv.kernel = #kv.kernel<vector>}
      : memref<?x4xf32>, memref<17x4xf32> in (!blocks, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>)
        as !conv, memref<?xi32> outs memref<?x4xf32>
  return
}
