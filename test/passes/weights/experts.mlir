// A mixture of experts on its way through the passes: packed, with a kernel; or
// with its plain meaning.
//
// RUN: kv-opt %s --kv-pack-quantized --kv-pack-weights --kv-select-kernel | FileCheck %s --check-prefix=PACK
// RUN: kv-opt %s --kv-pack-quantized --kv-pack-weights --kv-select-kernel -o /dev/null \
// RUN:   --remarks-filter="kv-.*" 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: kv-opt %s --kv-pack-quantized --kv-pack-weights --kv-decompose | FileCheck %s
// RUN: kv-opt %s --kv-cpu=mcpu=x86-64-v3 -o /dev/null
// RUN: kv-opt %s --kv-reference -o /dev/null

module attributes {kv.activations = i8} {

// PACK-LABEL: func.func private @layer(
// PACK-SAME: tensor<4x32x16xbf16>, %{{.*}}: tensor<4x1x288xi8>
// PACK: kv.expert_matmul {{.*}} {formats = [unit, #kv.quant<q4_0>], kv.kernel = #kv.kernel<vector>}
// PACK-SAME: tensor<4x32x16xbf16>, tensor<4x1x288xi8> experts
// REMARK-DAG: gate is packed as n16k: it is multiplied with
// REMARK-DAG: expert_matmul by 'vector': kv-vectorize generates it for its types
//
// One chain a product, from zero, then blocks of rounded rows.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x32xf32>, %[[E:[a-z0-9]*]]: tensor<?x2xi32>, %[[G:[a-z0-9]*]]: tensor<4x32x16xbf16>
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]], %[[E]] :
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract %[[G]][
// CHECK: math.fma
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: tensor.extract %[[E]]
// CHECK-NOT: kv.expert_matmul
func.func private @layer(%x: tensor<?x32xf32>, %e: tensor<?x2xi32>, %g: tensor<64x32xbf16>,
    %u: tensor<64x32x!kv.quant<q4_0>>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>) {
  %a, %b = kv.expert_matmul %x, %g, %u experts(%e)
      : tensor<?x32xf32>, tensor<64x32xbf16>, tensor<64x32x!kv.quant<q4_0>> experts tensor<?x2xi32>
      -> tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %a, %b : tensor<?x2x16xf32>, tensor<?x2x16xf32>
}

// PACK-LABEL: func.func @entry(
// PACK-SAME: tensor<4x32x16xbf16> {kv.layout = "n16k", kv.weight = "gate"}
// PACK-SAME: tensor<4x1x288xi8> {kv.layout = "q4_0x16", kv.weight = "up"}
// CHECK-LABEL: func.func @entry(
func.func @entry(%x: tensor<?x32xf32> {kv.name = "x", kv.dims = ["T"]},
    %l: tensor<?x4xf32> {kv.name = "l", kv.dims = ["T"]},
    %g: tensor<64x32xbf16> {kv.weight = "gate"}, %u: tensor<64x32x!kv.quant<q4_0>> {kv.weight = "up"})
    -> (tensor<?x2x16xf32> {kv.name = "a", kv.dims = ["T"]},
        tensor<?x2x16xf32> {kv.name = "b", kv.dims = ["T"]},
        tensor<?x2xf32> {kv.name = "s", kv.dims = ["T"]}) attributes {kv.entry} {
// Two searches of the logits for the second choice, then the shares: with a sum of
// all logits.
// CHECK: %[[CHOSEN:.*]] = linalg.generic
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpf uno
// CHECK: linalg.generic{{.*}} outs(%{{.*}} : tensor<?x2xf32>)
// CHECK: math.exp
// CHECK: outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: math.exp
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.divf
// CHECK-NOT: kv.route
  %e, %s = kv.route %l : tensor<?x4xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %a, %b = call @layer(%x, %e, %g, %u)
      : (tensor<?x32xf32>, tensor<?x2xi32>, tensor<64x32xbf16>, tensor<64x32x!kv.quant<q4_0>>)
      -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
  return %a, %b, %s : tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2xf32>
}

// A weight whose rows are multiplied is not packed.
// PACK-LABEL: func.func @weight_as_rows(
// PACK-SAME: tensor<32x32xf32> {kv.weight = "x"}, %{{[a-z0-9]*}}: tensor<4x32x16xf32>
// REMARK-DAG: x stays row-major: used by 'kv.expert_matmul', which cannot take the packed form
func.func @weight_as_rows(%x: tensor<32x32xf32> {kv.weight = "x"}, %w: tensor<64x32xf32> {kv.weight = "w"},
    %e: tensor<32x2xi32>) -> tensor<32x2x16xf32> {
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<32x32xf32>, tensor<64x32xf32> experts tensor<32x2xi32> -> tensor<32x2x16xf32>
  return %y : tensor<32x2x16xf32>
}

// A value that is no weight of a file stays as it is.
// PACK-LABEL: func.func @row_major(
// PACK: kv.expert_matmul {{.*}} {kv.kernel = #kv.kernel<decomposition>} : {{.*}}, tensor<64x32xf32> experts
// REMARK-DAG: expert_matmul by 'decomposition': its weights are not packed
func.func @row_major(%x: tensor<?x2x32xf32>, %e: tensor<?x2xi32>, %w: tensor<64x32xf32>)
    -> tensor<?x2x16xf32> {
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<?x2x32xf32>, tensor<64x32xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}
}
