// RUN: kv-opt %s --kv-raise-contractions --kv-raise-sizes --canonicalize --split-input-file | FileCheck %s

#rows = affine_map<(b, t, n, k) -> (b, t, k)>
#weight = affine_map<(b, t, n, k) -> (k, n)>
#out = affine_map<(b, t, n, k) -> (b, t, n)>

// A batch of one is no batch.
// CHECK-LABEL: func.func @rows_with_a_weight
// CHECK: %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
// CHECK: %[[Y:.*]] = linalg.matmul ins(%[[X]], %arg1 : tensor<?x8xf32>, tensor<8x16xf32>)
// CHECK: tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]]
func.func @rows_with_a_weight(%tokens: tensor<1x?xi32>,
                              %w: tensor<8x16xf32> {kv.weight = "w"}) -> tensor<1x?x16xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %tokens, %c1 : tensor<1x?xi32>
  %empty = tensor.empty(%t) : tensor<1x?x8xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(b, t, k) -> (b, t)>, affine_map<(b, t, k) -> (b, t, k)>],
                          iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%tokens : tensor<1x?xi32>) outs(%empty : tensor<1x?x8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %v = arith.sitofp %id : i32 to f32
    linalg.yield %v : f32
  } -> tensor<1x?x8xf32>
  %to = tensor.empty(%t) : tensor<1x?x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%to : tensor<1x?x16xf32>) -> tensor<1x?x16xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %w : tensor<1x?x8xf32>, tensor<8x16xf32>) outs(%init : tensor<1x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x?x16xf32>
  return %y : tensor<1x?x16xf32>
}

// -----

// Two query heads for each of three KV heads: the keys are those of each of them.
// CHECK-LABEL: func.func @grouped_scores
// CHECK-DAG: %[[Q:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x3x2x8xf32>) outs(%{{.*}} : tensor<3x2x?x8xf32>) permutation = [1, 2, 0, 3]
// CHECK-DAG: %[[QS:.*]] = tensor.collapse_shape %[[Q]] {{\[}}[0, 1], [2], [3]]
// CHECK-DAG: %[[K:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x3x8xf32>) outs(%{{.*}} : tensor<3x8x?xf32>) permutation = [1, 2, 0]
// CHECK-DAG: %[[KB:.*]] = linalg.broadcast ins(%[[K]] : tensor<3x8x?xf32>) outs(%{{.*}} : tensor<3x2x8x?xf32>) dimensions = [1]
// CHECK-DAG: %[[KS:.*]] = tensor.collapse_shape %[[KB]] {{\[}}[0, 1], [2], [3]]
// CHECK: %[[S:.*]] = linalg.batch_matmul ins(%[[QS]], %[[KS]] : tensor<6x?x8xf32>, tensor<6x8x?xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[S]] {{\[}}[0, 1], [2], [3]]
// CHECK: linalg.transpose ins(%[[E]] : tensor<3x2x?x?xf32>) outs(%{{.*}} : tensor<3x?x2x?xf32>) permutation = [0, 2, 1, 3]
func.func @grouped_scores(%tokens: tensor<?xi32>) -> tensor<3x?x2x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %tokens, %c0 : tensor<?xi32>
  %eq = tensor.empty(%t) : tensor<?x3x2x8xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(t, h, g, d) -> (t)>, affine_map<(t, h, g, d) -> (t, h, g, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%eq : tensor<?x3x2x8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %v = arith.sitofp %id : i32 to f32
    linalg.yield %v : f32
  } -> tensor<?x3x2x8xf32>
  %ek = tensor.empty(%t) : tensor<?x3x8xf32>
  %k = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t)>, affine_map<(t, h, d) -> (t, h, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%ek : tensor<?x3x8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %v = arith.sitofp %id : i32 to f32
    linalg.yield %v : f32
  } -> tensor<?x3x8xf32>
  %to = tensor.empty(%t, %t) : tensor<3x?x2x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%to : tensor<3x?x2x?xf32>) -> tensor<3x?x2x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, t, g, s, d) -> (t, h, g, d)>,
                                        affine_map<(h, t, g, s, d) -> (s, h, d)>,
                                        affine_map<(h, t, g, s, d) -> (h, t, g, s)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x3x2x8xf32>, tensor<?x3x8xf32>) outs(%init : tensor<3x?x2x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<3x?x2x?xf32>
  return %s : tensor<3x?x2x?xf32>
}

// -----

// The rows of a table of positions are looked up; the sum of a product that does not begin at zero stays.
module attributes {kv.model = {name = "m", max_seq_len = 64 : i64}} {
  // CHECK-LABEL: func.func @table
  // CHECK-NOT: tensor.extract_slice
  // CHECK: linalg.generic
  // CHECK: %[[AT:.*]] = linalg.index 0
  // CHECK: tensor.extract %arg1[%[[AT]], %{{.*}}] : tensor<64x8xf32>
  // CHECK: linalg.generic {{.*}}"reduction"
  func.func @table(%tokens: tensor<?xi32>, %table: tensor<64x8xf32> {kv.weight = "p"},
                   %w: tensor<8x8xf32> {kv.weight = "w"}) -> tensor<?x8xf32> {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    %rows = tensor.extract_slice %table[0, 0] [%t, 8] [1, 1] : tensor<64x8xf32> to tensor<?x8xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (k, n)>,
                                          affine_map<(t, n, k) -> (t, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%rows, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%rows : tensor<?x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
