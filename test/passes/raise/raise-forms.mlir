// Dimensions of one go, transpositions that meet cancel each other, conversions of ids and squares join what reads
// them; a transposition that meets no other stays, and a square that two read.
//
// RUN: kv-opt --kv-raise-forms --canonicalize --cse --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @embedding
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<?xi32>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK-NEXT: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK-NEXT: %[[J:.*]] = linalg.index 1
// CHECK-NEXT: tensor.extract %arg1[%[[I]], %[[J]]] : tensor<32x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
#ids = affine_map<(b, t, d) -> (b, t)>
#all = affine_map<(b, t, d) -> (b, t, d)>
func.func @embedding(%ids: tensor<?xi32>, %table: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi32>
  %e = tensor.empty(%t) : tensor<?xi64>
  %wide = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>, affine_map<(t) -> (t)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?xi64>) {
  ^bb0(%id: i32, %out: i64):
    %w = arith.extsi %id : i32 to i64
    linalg.yield %w : i64
  } -> tensor<?xi64>
  %row = tensor.expand_shape %wide [[0, 1]] output_shape [1, %t] : tensor<?xi64> into tensor<1x?xi64>
  %x0 = tensor.empty(%t) : tensor<1x?x8xf32>
  %x = linalg.generic {indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%row : tensor<1x?xi64>) outs(%x0 : tensor<1x?x8xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %table[%i, %j] : tensor<32x8xf32>
    linalg.yield %v : f32
  } -> tensor<1x?x8xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
  return %rows : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: %[[R:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<?x2x8xf32> into tensor<?x16xf32>
// CHECK-NEXT: return %[[R]]
func.func @there_and_back(%x: tensor<?x2x8xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x2x8xf32>
  %e = tensor.empty(%t) : tensor<2x?x8xf32>
  %h = linalg.transpose ins(%x : tensor<?x2x8xf32>) outs(%e : tensor<2x?x8xf32>) permutation = [1, 0, 2]
  %h4 = tensor.expand_shape %h [[0, 1], [2], [3]] output_shape [1, 2, %t, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
  %f = tensor.empty(%t) : tensor<1x?x2x8xf32>
  %b = linalg.transpose ins(%h4 : tensor<1x2x?x8xf32>) outs(%f : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %b [[0, 1], [2, 3]] : tensor<1x?x2x8xf32> into tensor<?x16xf32>
  return %c : tensor<?x16xf32>
}

// -----

// CHECK-LABEL: func.func @there
// CHECK: linalg.generic
// CHECK: return
func.func @there(%x: tensor<?x2x8xf32>) -> tensor<2x?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x2x8xf32>
  %e = tensor.empty(%t) : tensor<2x?x8xf32>
  %h = linalg.transpose ins(%x : tensor<?x2x8xf32>) outs(%e : tensor<2x?x8xf32>) permutation = [1, 0, 2]
  return %h : tensor<2x?x8xf32>
}

// -----

// A mean of squares: [1, T, 1] is [T], and the squares are in the sum, unless somebody else reads them.
// CHECK-LABEL: func.func @squares
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[X]], %[[X]]
// CHECK-NOT: arith.mulf
// CHECK-LABEL: func.func @read_squares
// CHECK: %[[SQUARES:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[SQUARES]] : tensor<?x8xf32>) outs(%{{.*}} : tensor<?xf32>)
#in = affine_map<(b, t, d) -> (b, t, d)>
#sum = affine_map<(b, t, d) -> (b, t, 0)>
func.func @squares(%x: tensor<1x?x8xf32>, %zero: tensor<1x?x1xf32>, %e: tensor<1x?x8xf32>) -> tensor<1x?x1xf32> {
  %s = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x8xf32>) outs(%e : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<1x?x8xf32>
  %r = linalg.generic {indexing_maps = [#in, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x?x8xf32>) outs(%zero : tensor<1x?x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.addf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<1x?x1xf32>
  return %r : tensor<1x?x1xf32>
}
func.func @read_squares(%x: tensor<1x?x8xf32>, %zero: tensor<1x?x1xf32>, %e: tensor<1x?x8xf32>) -> (tensor<1x?x1xf32>, tensor<1x?x8xf32>) {
  %s = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x8xf32>) outs(%e : tensor<1x?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<1x?x8xf32>
  %r = linalg.generic {indexing_maps = [#in, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x?x8xf32>) outs(%zero : tensor<1x?x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.addf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<1x?x1xf32>
  return %r, %s : tensor<1x?x1xf32>, tensor<1x?x8xf32>
}

// -----

// Heads that are split in between, as grouped ones are.
// CHECK-LABEL: func.func @by_groups
// CHECK-NOT: linalg
// CHECK: %[[R:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
// CHECK-NEXT: return %[[R]]
func.func @by_groups(%x: tensor<?x4x8xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %e = tensor.empty(%t) : tensor<4x?x8xf32>
  %h = linalg.transpose ins(%x : tensor<?x4x8xf32>) outs(%e : tensor<4x?x8xf32>) permutation = [1, 0, 2]
  %g = tensor.expand_shape %h [[0, 1], [2], [3]] output_shape [2, 2, %t, 8] : tensor<4x?x8xf32> into tensor<2x2x?x8xf32>
  %f = tensor.empty(%t) : tensor<?x2x2x8xf32>
  %b = linalg.transpose ins(%g : tensor<2x2x?x8xf32>) outs(%f : tensor<?x2x2x8xf32>) permutation = [2, 0, 1, 3]
  %c = tensor.collapse_shape %b [[0], [1, 2, 3]] : tensor<?x2x2x8xf32> into tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

// -----

// JAX counts ids that are negative from the end, and clamps all: those of tokens are inside of their table. Of other
// numbers, and where the last id would be another, it stays.
// CHECK-LABEL: func.func @tokens
// CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT: linalg.index 1
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK-NEXT: tensor.extract %{{.*}}[%[[I]], %{{.*}}]
// CHECK-LABEL: func.func @others
// CHECK: arith.maxsi
// CHECK-LABEL: func.func @last
// CHECK: arith.minsi
#row = affine_map<(t, d) -> (t)>
#both = affine_map<(t, d) -> (t, d)>
func.func @tokens(%ids: tensor<?xi32> {kv.name = "tokens"}, %table: tensor<32x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %most = arith.constant 31 : index
  %zero = arith.constant 0 : i32
  %rows = arith.constant 32 : i32
  %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i32, %out: f32):
    %back = arith.addi %id, %rows : i32
    %is_negative = arith.cmpi slt, %id, %zero : i32
    %wrapped = arith.select %is_negative, %back, %id : i32
    %i = arith.index_cast %wrapped : i32 to index
    %least = arith.maxsi %i, %c0 : index
    %clamped = arith.minsi %least, %most : index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%clamped, %j] : tensor<32x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}
func.func @others(%ids: tensor<?xi32>, %table: tensor<32x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %most = arith.constant 31 : index
  %zero = arith.constant 0 : i32
  %rows = arith.constant 32 : i32
  %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i32, %out: f32):
    %back = arith.addi %id, %rows : i32
    %is_negative = arith.cmpi slt, %id, %zero : i32
    %wrapped = arith.select %is_negative, %back, %id : i32
    %i = arith.index_cast %wrapped : i32 to index
    %least = arith.maxsi %i, %c0 : index
    %clamped = arith.minsi %least, %most : index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%clamped, %j] : tensor<32x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}
func.func @last(%ids: tensor<?xi32> {kv.name = "tokens"}, %table: tensor<32x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %most = arith.constant 30 : index
  %zero = arith.constant 0 : i32
  %rows = arith.constant 32 : i32
  %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i32, %out: f32):
    %back = arith.addi %id, %rows : i32
    %is_negative = arith.cmpi slt, %id, %zero : i32
    %wrapped = arith.select %is_negative, %back, %id : i32
    %i = arith.index_cast %wrapped : i32 to index
    %least = arith.maxsi %i, %c0 : index
    %clamped = arith.minsi %least, %most : index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%clamped, %j] : tensor<32x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}
