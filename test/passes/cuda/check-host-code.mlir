// What host code may do with device memory; copies are queued.
//
// RUN: kv-opt --kv-check-host-code %s | FileCheck %s
// RUN: kv-opt --kv-check-host-code %s -o /dev/null --remarks-filter=kv-check-host-code 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
//
// REMARK: [Missed] Copy | {{.*}}"a tensor is copied: its kernel writes another place"

// CHECK-LABEL: func.func @views(
// CHECK: memref.alloc
// CHECK: memref.expand_shape
// CHECK: kv.rt.launch "cast"(%{{.*}}) outs(%{{.*}}) : memref<?x128xf32> outs memref<?x128xf32>
// CHECK: kv.rt.launch "cast"(%{{.*}}) outs(%{{.*}}) : memref<4xi32> outs memref<4xi32>
// CHECK-NOT: memref.copy
func.func @views(%x: memref<?x128xf32>, %y: memref<4xi32>, %z: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x128xf32>
  %copy = memref.alloc(%rows) : memref<?x128xf32>
  %heads = memref.expand_shape %copy [[0], [1, 2]] output_shape [%rows, 2, 64] : memref<?x128xf32> into memref<?x2x64xf32>
  memref.copy %x, %copy : memref<?x128xf32> to memref<?x128xf32>
  memref.copy %y, %z : memref<4xi32> to memref<4xi32>
  call @next(%heads) : (memref<?x2x64xf32>) -> ()
  return
}

func.func private @next(%x: memref<?x2x64xf32>) {
  return
}
