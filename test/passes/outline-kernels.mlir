// RUN: kv-opt --kv-outline-kernels %s | FileCheck %s

// Equal computations share one function, whatever their operands; others do
// not. Constants move inside; what is left is an argument.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x24xf32>, %[[W:[a-z0-9]*]]: memref<2x24x16xbf16>, %[[V:[a-z0-9]*]]: memref<2x24x16xbf16>, %[[Y:[a-z0-9]*]]: memref<?x32xf32>
// CHECK-DAG: call @kernel_matmul_24x32_bf16_[[M:[0-9]+]](%[[X]], %[[W]], %[[Y]])
// CHECK-DAG: call @kernel_matmul_24x32_bf16_[[M]](%[[X]], %[[V]], %[[Y]])
// CHECK-DAG: call @kernel_fill_[[F:[0-9]+]](%[[Y]])
// CHECK-DAG: call @kernel_fill_[[G:[0-9]+]](%[[Y]])
// CHECK-DAG: call @kernel_fill_[[F]](%[[Y]])
// CHECK-NOT: linalg
// CHECK: return
func.func @layers(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %v: memref<2x24x16xbf16>,
    %y: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  kv.matmul %x, %w outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  kv.matmul %x, %v outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x32xf32>)
  linalg.fill ins(%one : f32) outs(%y : memref<?x32xf32>)
  linalg.fill ins(%zero : f32) outs(%y : memref<?x32xf32>)
  return
}

// A name tells the widths of all products.
// CHECK-LABEL: func.func @several(
// CHECK: call @kernel_matmul_24x32_48_bf16_3(
func.func @several(%x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %v: memref<3x24x16xbf16>,
    %y: memref<?x32xf32>, %z: memref<?x48xf32>) {
  kv.matmul %x, %w, %v outs(%y, %z) : memref<?x24xf32>, memref<2x24x16xbf16>, memref<3x24x16xbf16>
      outs memref<?x32xf32>, memref<?x48xf32>
  return
}
// CHECK: func.func private @kernel_matmul_24x32_bf16_0(%{{.*}}: memref<?x24xf32>, %{{.*}}: memref<2x24x16xbf16>, %{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: kv.matmul
// CHECK: func.func private @kernel_fill_1(%{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: arith.constant 0.000000e+00
// CHECK: func.func private @kernel_fill_2(%{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: arith.constant 1.000000e+00
// CHECK: func.func private @kernel_matmul_24x32_48_bf16_3(
// CHECK-NOT: func.func
