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
