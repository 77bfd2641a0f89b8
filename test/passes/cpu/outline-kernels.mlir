// RUN: kv-opt --kv-outline-kernels %s | FileCheck %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>

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

// All layers call one function: the layer is an argument even if it is a
// constant. An attention that the runtime computes stays.
// CHECK-LABEL: func.func @attentions(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<?x4x8xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: call @kernel_attention_2x8_bf16_4(%[[Q]], {{.*}}, %[[ZERO]])
// CHECK: call @kernel_attention_2x8_bf16_4(%[[Q]], {{.*}}, %[[ONE]])
// CHECK: kv.attention {{.*}} {kv.kernel = #kv.kernel<reference>}
// CHECK: return
func.func @attentions(%q: memref<?x4x8xf32>, %b: memref<?x2x2x16x2x8xbf16>, %l: memref<?xi32>,
    %t: memref<?x?xi32>, %m: memref<?x2xi32>, %ro: memref<?xi32>, %plan: memref<?x4xi32>,
    %o: memref<?x4x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  kv.attention %q in (%b, %l, %t, %m)[%zero] rows %ro plan %plan outs(%o) mask <causal> scale 1.0
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x4x8xf32> in (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x4x8xf32>
  kv.attention %q in (%b, %l, %t, %m)[%one] rows %ro plan %plan outs(%o) mask <causal> scale 1.0
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x4x8xf32> in (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> plan memref<?x4xi32> outs memref<?x4x8xf32>
  kv.attention %q in (%b, %l, %t, %m)[%one] rows %ro outs(%o) mask <causal> scale 1.0
      {kv.kernel = #kv.kernel<reference>}
      : memref<?x4x8xf32> in (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?x4x8xf32>
  return
}
// CHECK: func.func private @kernel_matmul_24x32_bf16_0(%{{.*}}: memref<?x24xf32>, %{{.*}}: memref<2x24x16xbf16>, %{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: kv.matmul
// CHECK: func.func private @kernel_fill_1(%{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: arith.constant 0.000000e+00
// CHECK: func.func private @kernel_fill_2(%{{.*}}: memref<?x32xf32>) attributes {kv.kernel}
// CHECK: arith.constant 1.000000e+00
// CHECK: func.func private @kernel_matmul_24x32_48_bf16_3(
// CHECK: func.func private @kernel_attention_2x8_bf16_4(
// CHECK-SAME: %{{[a-z0-9]*}}: index) attributes {kv.kernel}
// CHECK-NOT: func.func
