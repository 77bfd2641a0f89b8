// Products of 8 bits: on CPUs the plain meaning makes them, whatever the target's kernels are.
//
// RUN: kv-opt --kv-select-kernel %s | FileCheck %s --check-prefix=CPU
// RUN: kv-opt --kv-select-kernel %s -o /dev/null --remarks-filter=kv-select-kernel 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: kv-opt --kv-resolve-collections --kv-decompose %s | FileCheck %s
//
// CPU: kv.attention {{.*}} plan %{{.*}} mask <causal> {{.*}} products f8E4M3FN {kv.kernel = #kv.kernel<decomposition>}
// CPU: kv.attention {{.*}} mask <causal> scale 1.250000e-01 {kv.kernel = #kv.kernel<vector>}
// REMARK-DAG: "attention by 'decomposition': its products are of 8 bits"
// REMARK-DAG: "attention by 'vector': kv-vectorize generates it for its types"

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 32, page = 16>

// A row's largest element, the row rounded; scores; the largest of each 128 of them; weights times 256,
// rounded. Of the attention without products nothing is rounded.
// CHECK-LABEL: func.func @f
// CHECK: math.absf
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK: %[[LEAF:.*]] = arith.constant 128 : index
// CHECK: tensor.empty() : tensor<128xf32>
// CHECK: %[[LARGE:.*]] = arith.constant 2.560000e+02 : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[LARGE]] : f32
// CHECK: arith.truncf %[[SCALED]] : f32 to f8E4M3FN
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @f(%q: tensor<?x4x32xf32>, %kv: !kv, %rows: tensor<?xi32>) -> (tensor<?x4x32xf32>, tensor<?x4x32xf32>) {
  %l = arith.constant 1 : index
  %a = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 products f8E4M3FN
      : tensor<?x4x32xf32> in !kv, tensor<?xi32> -> tensor<?x4x32xf32>
  %b = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125
      : tensor<?x4x32xf32> in !kv, tensor<?xi32> -> tensor<?x4x32xf32>
  return %a, %b : tensor<?x4x32xf32>, tensor<?x4x32xf32>
}
