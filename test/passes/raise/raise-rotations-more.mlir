// A rotation that is multiplied with a number behind it, of heads that were moved before something else computed
// them; and a number among the weights, which becomes a row.
//
// RUN: kv-opt "--kv-raise-rotations=tables=true" --canonicalize %s | FileCheck %s
// RUN: kv-opt --kv-raise-rotations --canonicalize %s | FileCheck %s --check-prefix=PLAIN
// Elements with other factors are none.
// RUN: sed 's/select .is_low, .half, .half/select %%is_low, %%half, %%third/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: tensor<64x2xf32> {kv.computed = {{\[}}["math.cos", "f32", ["arith.sitofp", "f32", ["position"]]], ["math.sin",
// CHECK-SAME: tensor<1x2xf32> {kv.computed = {{\[}}["weight", "number"], ["weight", "number"]], kv.weight = "computed.1"}
// CHECK-DAG: %[[NUMBER:.*]] = tensor.collapse_shape %{{.*}} : tensor<1x2xf32> into tensor<2xf32>
// CHECK: %[[DOUBLED:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NUMBER]] : tensor<2x?x2xf32>, tensor<2xf32>)
// CHECK: %[[X:.*]] = linalg.transpose ins(%[[DOUBLED]] : tensor<2x?x2xf32>) {{.*}} permutation = [1, 0, 2]
// CHECK: %[[R:.*]] = kv.rope %[[X]]
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<?x2x2xf32>)
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: kv.store %[[K]],
// PLAIN: ins(%{{.*}}, %arg2 : tensor<2x?x2xf32>, tensor<f32>)
// PLAIN-NOT: kv.rope
// OTHER: func.func @scaled
// OTHER-NOT: kv.rope
#all = affine_map<(h, t, d) -> (h, t, d)>
!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 2, page = 4>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func @scaled(%x: tensor<?x2x2xf32>, %tokens: tensor<?xi32> {kv.name = "tokens"}, %number: tensor<f32> {kv.weight = "number"},
                    %offsets: tensor<?xi32>, %kv: !kv) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %half = arith.constant 0.5 : f32
    %third = arith.constant 0.3 : f32
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    %positions = kv.positions %kv, %offsets : !kv, tensor<?xi32> -> tensor<?xi32>
    %e = tensor.empty(%t) : tensor<2x?x2xf32>
    %h = linalg.transpose ins(%x : tensor<?x2x2xf32>) outs(%e : tensor<2x?x2xf32>) permutation = [1, 0, 2]
    %doubled = linalg.generic {indexing_maps = [#all, affine_map<(h, t, d) -> ()>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%h, %number : tensor<2x?x2xf32>, tensor<f32>) outs(%e : tensor<2x?x2xf32>) {
    ^bb0(%a: f32, %n: f32, %out: f32):
      %m = arith.mulf %a, %n : f32
      linalg.yield %m : f32
    } -> tensor<2x?x2xf32>
    %low = tensor.extract_slice %doubled[0, 0, 0] [2, %t, 1] [1, 1, 1] : tensor<2x?x2xf32> to tensor<2x?x1xf32>
    %high = tensor.extract_slice %doubled[0, 0, 1] [2, %t, 1] [1, 1, 1] : tensor<2x?x2xf32> to tensor<2x?x1xf32>
    %turned = tensor.concat dim(2) %high, %low : (tensor<2x?x1xf32>, tensor<2x?x1xf32>) -> tensor<2x?x2xf32>
    %r = linalg.generic {indexing_maps = [#all, #all, affine_map<(h, t, d) -> (t)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%doubled, %turned, %positions : tensor<2x?x2xf32>, tensor<2x?x2xf32>, tensor<?xi32>) outs(%e : tensor<2x?x2xf32>) {
    ^bb0(%own: f32, %other: f32, %p: i32, %out: f32):
      %d = linalg.index 2 : index
      %is_low = arith.cmpi slt, %d, %c1 : index
      %angle = arith.sitofp %p : i32 to f32
      %cos = math.cos %angle : f32
      %sin = math.sin %angle : f32
      %minus = arith.negf %sin : f32
      %signed = arith.select %is_low, %minus, %sin : f32
      %ac = arith.mulf %own, %cos : f32
      %bs = arith.mulf %signed, %other : f32
      %s = arith.addf %ac, %bs : f32
      %factor = arith.select %is_low, %half, %half : f32
      %y = arith.mulf %s, %factor : f32
      linalg.yield %y : f32
    } -> tensor<2x?x2xf32>
    %ke = tensor.empty(%t) : tensor<?x2x2xf32>
    %k = linalg.transpose ins(%r : tensor<2x?x2xf32>) outs(%ke : tensor<?x2x2xf32>) permutation = [1, 0, 2]
    kv.store %k, %x into %kv[%c0] rows %offsets : tensor<?x2x2xf32>, tensor<?x2x2xf32> into !kv, tensor<?xi32>
    return
  }
}
