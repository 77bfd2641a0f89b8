// Heads are read where they are made. With tables, a rotation of halves becomes kv.rope, whose table says how it
// is computed; raise-rotations-pairs.mlir has the other forms and what is nearly one.
//
// RUN: kv-opt "--kv-raise-rotations=tables=true" --canonicalize --cse %s | FileCheck %s
// RUN: kv-opt --kv-raise-rotations --canonicalize --cse %s | FileCheck %s --check-prefix=PLAIN

// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[ANGLES:[a-z0-9]+]]: tensor<64x4xf32> {kv.computed = {{\[}}["math.cos", "f32", ["arith.mulf", "f32",
// CHECK-SAME: ["arith.sitofp", "f32", ["position"]], ["weight", "freqs", ["number", "i64", [0, 1]]]]], ["math.sin", {{.*}}],
// CHECK-SAME: kv.weight = "computed.0"}
// The keys were repeated for two query heads each, and every second of those is stored.
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<?x8xf32> into tensor<?x2x4xf32>
// CHECK: %[[POSITIONS:.*]] = kv.positions
// CHECK: %[[K:.*]] = kv.rope %[[X]], %[[POSITIONS]], %[[ANGLES]] : tensor<?x2x4xf32>
// CHECK: kv.store %[[K]], %[[X]] into
// PLAIN-LABEL: func.func @halves
// PLAIN-NOT: kv.rope
// PLAIN: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<?x8xf32> into tensor<?x2x4xf32>
// PLAIN: kv.store %{{.*}}, %[[X]] into
#row = affine_map<(t, e) -> (t)>
#last = affine_map<(t, e) -> (e)>
#both = affine_map<(t, e) -> (t, e)>
#angle = affine_map<(h, t, d) -> (t, d)>
#all = affine_map<(h, t, d) -> (h, t, d)>
#one4 = affine_map<(h, g, t, d) -> (h, t, d)>
#all4 = affine_map<(h, g, t, d) -> (h, g, t, d)>
!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 4, page = 4>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func @halves(%x: tensor<?x8xf32>, %tokens: tensor<?xi32> {kv.name = "tokens"}, %freqs: tensor<2xf32> {kv.weight = "freqs"},
                    %offsets: tensor<?xi32>, %kv: !kv) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    %positions = kv.positions %kv, %offsets : !kv, tensor<?xi32> -> tensor<?xi32>
    %a0 = tensor.empty(%t) : tensor<?x2xf32>
    %a = linalg.generic {indexing_maps = [#row, #last, #both], iterator_types = ["parallel", "parallel"]}
        ins(%positions, %freqs : tensor<?xi32>, tensor<2xf32>) outs(%a0 : tensor<?x2xf32>) {
    ^bb0(%p: i32, %f: f32, %out: f32):
      %n = arith.sitofp %p : i32 to f32
      %m = arith.mulf %n, %f : f32
      linalg.yield %m : f32
    } -> tensor<?x2xf32>
    %wide = tensor.concat dim(1) %a, %a : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
    %x3 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
    %e = tensor.empty(%t) : tensor<2x?x4xf32>
    %h = linalg.transpose ins(%x3 : tensor<?x2x4xf32>) outs(%e : tensor<2x?x4xf32>) permutation = [1, 0, 2]
    %low = tensor.extract_slice %h[0, 0, 0] [2, %t, 2] [1, 1, 1] : tensor<2x?x4xf32> to tensor<2x?x2xf32>
    %high = tensor.extract_slice %h[0, 0, 2] [2, %t, 2] [1, 1, 1] : tensor<2x?x4xf32> to tensor<2x?x2xf32>
    %turned = tensor.concat dim(2) %high, %low : (tensor<2x?x2xf32>, tensor<2x?x2xf32>) -> tensor<2x?x4xf32>
    %r = linalg.generic {indexing_maps = [#all, #all, #angle, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%h, %turned, %wide : tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<2x?x4xf32>) {
    ^bb0(%own: f32, %other: f32, %angle: f32, %out: f32):
      %d = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %is_low = arith.cmpi slt, %d, %c2 : index
      %cos = math.cos %angle : f32
      %sin = math.sin %angle : f32
      %minus = arith.negf %other : f32
      %signed = arith.select %is_low, %minus, %other : f32
      %ac = arith.mulf %own, %cos : f32
      %bs = arith.mulf %signed, %sin : f32
      %s = arith.addf %ac, %bs : f32
      linalg.yield %s : f32
    } -> tensor<2x?x4xf32>
    %we = tensor.empty(%t) : tensor<2x2x?x4xf32>
    %repeated = linalg.generic {indexing_maps = [#one4, #all4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%r : tensor<2x?x4xf32>) outs(%we : tensor<2x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x?x4xf32>
    %c = tensor.collapse_shape %repeated [[0, 1], [2], [3]] : tensor<2x2x?x4xf32> into tensor<4x?x4xf32>
    %s = tensor.extract_slice %c[0, 0, 0] [2, %t, 4] [2, 1, 1] : tensor<4x?x4xf32> to tensor<2x?x4xf32>
    %ke = tensor.empty(%t) : tensor<?x2x4xf32>
    %k = linalg.transpose ins(%s : tensor<2x?x4xf32>) outs(%ke : tensor<?x2x4xf32>) permutation = [1, 0, 2]
    %v = linalg.transpose ins(%h : tensor<2x?x4xf32>) outs(%ke : tensor<?x2x4xf32>) permutation = [1, 0, 2]
    kv.store %k, %v into %kv[%c0] rows %offsets : tensor<?x2x4xf32>, tensor<?x2x4xf32> into !kv, tensor<?xi32>
    return
  }
}

