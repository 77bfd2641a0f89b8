// States of recurrent layers, in all forms.
//
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s

!st = !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>

// CHECK-LABEL: func.func @handle(
// CHECK-SAME: !kv.collection<recurrent, bf16, layers = 3, heads = 4, dim = 32, page = 16>
// CHECK: %[[S:.*]] = kv.state_read %[[KV:.*]][%[[LAYER:.*]]] rows %[[RO:.*]] : !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x4x32xf32>
// CHECK: kv.state_write %[[S]] into %[[KV]][%[[LAYER]]] rows %[[RO]] : tensor<?x4x32xf32> into !kv.collection<{{.*}}>, tensor<?xi32>
func.func @handle(%kv: !st, %layer: index, %ro: tensor<?xi32>) {
  %s = kv.state_read %kv[%layer] rows %ro : !st, tensor<?xi32> -> tensor<?x4x32xf32>
  kv.state_write %s into %kv[%layer] rows %ro : tensor<?x4x32xf32> into !st, tensor<?xi32>
  return
}

// Elements may be the collection's own, sizes static.
// CHECK-LABEL: func.func @components
// CHECK: kv.fetch {{.*}} : memref<?x1x3x1x4x32xbf16>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32> ->
// CHECK: kv.state_read (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})[%{{.*}}] rows %{{.*}} : (memref<{{.*}}) as !kv.collection<{{.*}}>, tensor<3xi32> -> tensor<2x4x32xbf16>
// CHECK: kv.state_write %{{.*}} into (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})[%{{.*}}] rows
func.func @components(%b: memref<?x1x3x1x4x32xbf16>, %l: tensor<?xi32>, %t: tensor<?x2xi32>,
    %m: tensor<?x2xi32>, %layer: index, %ro: tensor<3xi32>) -> !st {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x1x3x1x4x32xbf16>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32> -> !st
  %s = kv.state_read (%b, %l, %t, %m)[%layer] rows %ro
      : (memref<?x1x3x1x4x32xbf16>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st,
        tensor<3xi32> -> tensor<2x4x32xbf16>
  kv.state_write %s into (%b, %l, %t, %m)[%layer] rows %ro
      : tensor<2x4x32xbf16> into
        (memref<?x1x3x1x4x32xbf16>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x2xi32>) as !st,
        tensor<3xi32>
  return %kv : !st
}

// CHECK-LABEL: func.func @buffers
// CHECK: kv.state_read (%{{.*}})[%{{.*}}] rows %{{.*}} outs(%{{.*}}) :
// CHECK: kv.state_write %{{.*}} into (%{{.*}})[%{{.*}}] rows
func.func @buffers(%b: memref<?x1x3x1x4x32xbf16>, %l: memref<?xi32>, %t: memref<?x2xi32>,
    %m: memref<?x2xi32>, %layer: index, %ro: memref<?xi32>, %out: memref<?x4x32xf32>) {
  kv.state_read (%b, %l, %t, %m)[%layer] rows %ro outs(%out)
      : (memref<?x1x3x1x4x32xbf16>, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !st,
        memref<?xi32> outs memref<?x4x32xf32>
  kv.state_write %out into (%b, %l, %t, %m)[%layer] rows %ro
      : memref<?x4x32xf32> into
        (memref<?x1x3x1x4x32xbf16>, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !st,
        memref<?xi32>
  return
}

!conv = !kv.collection<recurrent, f32, layers = 2, heads = 3, dim = 24, page = 16>
!scan = !kv.collection<recurrent, f32, layers = 2, heads = 6, dim = 128, page = 16>

// CHECK-LABEL: func.func @recurrences
// CHECK: kv.state_convolution %{{.*}}, %{{.*}} in %{{.*}}[%{{.*}}] rows %{{.*}} : tensor<?x24xf32>, tensor<4x24xf32> in !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x24xf32>
// CHECK: kv.state_convolution %{{.*}}, %{{.*}} bias %{{.*}} in %{{.*}}[%{{.*}}] rows %{{.*}} : tensor<?x24xf32>, tensor<4x24xf32>, tensor<24xf32> in
// CHECK: kv.state_scan %{{.*}}, %{{.*}}, %{{.*}} decay %{{.*}} strength %{{.*}} in %{{.*}}[%{{.*}}] rows %{{.*}} {delta} : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32> in !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x2x3x16xf32>
// CHECK: kv.state_scan %{{.*}}, %{{.*}}, %{{.*}} decay %{{.*}} strength %{{.*}} skip %{{.*}} in {{.*}} tensor<2x3xf32> in
func.func @recurrences(%conv: !conv, %scan: !scan, %layer: index, %ro: tensor<?xi32>, %x: tensor<?x24xf32>,
    %w: tensor<4x24xf32>, %b: tensor<24xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x3x16xf32>,
    %g: tensor<?x2x3xf32>, %skip: tensor<2x3xf32>) {
  %0 = kv.state_convolution %x, %w in %conv[%layer] rows %ro
      : tensor<?x24xf32>, tensor<4x24xf32> in !conv, tensor<?xi32> -> tensor<?x24xf32>
  %1 = kv.state_convolution %0, %w bias %b in %conv[%layer] rows %ro
      : tensor<?x24xf32>, tensor<4x24xf32>, tensor<24xf32> in !conv, tensor<?xi32> -> tensor<?x24xf32>
  %2 = kv.state_scan %k, %k, %v decay %g strength %g in %scan[%layer] rows %ro {delta}
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
        in !scan, tensor<?xi32> -> tensor<?x2x3x16xf32>
  %3 = kv.state_scan %k, %k, %2 decay %g strength %g skip %skip in %scan[%layer] rows %ro
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
        tensor<2x3xf32> in !scan, tensor<?xi32> -> tensor<?x2x3x16xf32>
  return
}

// CHECK-LABEL: func.func @recurrences_on_buffers
// CHECK: kv.state_convolution %{{.*}}, %{{.*}} in (%{{.*}})[%{{.*}}] rows %{{.*}} outs(%{{.*}}) :
// CHECK: kv.state_scan {{.*}} outs(%{{.*}}) {delta} :
func.func @recurrences_on_buffers(%cb: memref<?x1x2x1x3x24xf32>, %sb: memref<?x1x2x1x6x128xf32>,
    %l: memref<?xi32>, %t: memref<?x2xi32>, %m: memref<?x2xi32>, %layer: index, %ro: memref<?xi32>,
    %x: memref<?x24xf32>, %w: memref<4x24xf32>, %y: memref<?x24xf32>, %k: memref<?x2x8xf32>,
    %v: memref<?x2x3x16xf32>, %g: memref<?x2x3xf32>, %o: memref<?x2x3x16xf32>) {
  kv.state_convolution %x, %w in (%cb, %l, %t, %m)[%layer] rows %ro outs(%y)
      : memref<?x24xf32>, memref<4x24xf32> in
        (memref<?x1x2x1x3x24xf32>, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !conv,
        memref<?xi32> outs memref<?x24xf32>
  kv.state_scan %k, %k, %v decay %g strength %g in (%sb, %l, %t, %m)[%layer] rows %ro outs(%o) {delta}
      : memref<?x2x8xf32>, memref<?x2x8xf32>, memref<?x2x3x16xf32>, memref<?x2x3xf32>, memref<?x2x3xf32> in
        (memref<?x1x2x1x6x128xf32>, memref<?xi32>, memref<?x2xi32>, memref<?x2xi32>) as !scan,
        memref<?xi32> outs memref<?x2x3x16xf32>
  return
}
