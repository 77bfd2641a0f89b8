// kv.print in all forms; it stays, and stays between the stores.
//
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
// RUN: kv-opt --canonicalize --cse %s | FileCheck %s --check-prefix=ORDER
// RUN: kv-opt --kv-resolve-collections --canonicalize --cse \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --canonicalize --cse %s | FileCheck %s --check-prefix=ORDER

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// CHECK-LABEL: func.func @handle(
// CHECK: kv.print %{{.*}}[%{{.*}}] : !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>{{$}}
// CHECK: kv.print %{{.*}}[%{{.*}}] rows %{{.*}} : !kv.collection<{{.*}}>, tensor<?xi32>
// ORDER-LABEL: func.func @handle(
// ORDER: kv.print
// ORDER: kv.store
// ORDER: kv.print {{.*}} rows
// ORDER: kv.store
// ORDER: kv.print {{.*}} rows
// ORDER: kv.print {{.*}} rows
func.func @handle(%kv: !kv, %ro: tensor<?xi32>, %layer: index, %x: tensor<?x1x8xf32>) {
  kv.print %kv[%layer] : !kv
  kv.store %x, %x into %kv[%layer] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  kv.print %kv[%layer] rows %ro : !kv, tensor<?xi32>
  kv.store %x, %x into %kv[%layer] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  kv.print %kv[%layer] rows %ro : !kv, tensor<?xi32>
  kv.print %kv[%layer] rows %ro : !kv, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @components(
// CHECK: kv.print (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})[%{{.*}}] rows %{{.*}} : (memref<{{.*}}) as !kv.collection<{{.*}}>, tensor<?xi32>
func.func @components(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %layer: index) {
  kv.print (%b, %l, %t, %m)[%layer] rows %ro
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @buffers(
// CHECK: kv.print ({{.*}})[%{{.*}}] : (memref<{{.*}}>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv.collection<{{.*}}>{{$}}
func.func @buffers(%b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>, %layer: index) {
  kv.print (%b, %l, %t, %m)[%layer]
      : (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv
  return
}
