// Matrices that rows have chosen are copied, multiplied and summed: one product, of which the weight is read as it
// lies or, where the file has [K, N], in another order.
//
// RUN: %rows %s | kv-opt --kv-raise-experts --kv-raise-weights --canonicalize --split-input-file | FileCheck %s
// RUN: %rows %s | kv-opt --kv-raise-experts "--kv-raise-weights=dtype=bf16" --canonicalize --split-input-file \
// RUN:   | FileCheck %s --check-prefix=BF16

#ids = affine_map<(t, c, n, k) -> (t, c)>
#all = affine_map<(t, c, n, k) -> (t, c, n, k)>

// -----

// A row for all choices.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: tensor<64x8xf32> {kv.stored = {order = [0, 1, 2], shape = [4, 16, 8]}, kv.weight = "w"}
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1, 2], [3]]
// CHECK: %[[IDS:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x2xi64>) outs(%{{.*}} : tensor<?x2xi32>)
// CHECK: arith.select
// CHECK: %[[Y:.*]] = kv.expert_matmul %[[X]], %arg2 experts(%[[IDS]]) : tensor<?x8xf32>, tensor<64x8xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
// CHECK: return %[[Y]]
// BF16-LABEL: func.func @rows
// BF16-SAME: tensor<64x8xbf16>
func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
                  %to: tensor<?x2x16x8xf32>, %sums: tensor<?x2x16xf32>) -> tensor<?x2x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %m = linalg.generic {indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%ids : tensor<?x2xi64>) outs(%to : tensor<?x2x16x8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %negative = arith.cmpi slt, %in, %c0 : i64
    %more = arith.addi %in, %c4 : i64
    %s = arith.select %negative, %more, %in : i64
    %v = arith.index_cast %s : i64 to index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
    linalg.yield %r : f32
  } -> tensor<?x2x16x8xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, 0, 0, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x8xf32>) outs(%to : tensor<?x2x16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x2x16x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
  %y = linalg.generic {indexing_maps = [#all, affine_map<(t, c, n, k) -> (t, c, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%f : tensor<?x2x16x8xf32>) outs(%z : tensor<?x2x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}

// -----

// A row for each choice, and a weight that lies as [E, K, N].
// CHECK-LABEL: func.func @choices
// CHECK-SAME: tensor<64x8xf32> {kv.stored = {order = [0, 2, 1], shape = [4, 8, 16]}, kv.weight = "w"}
// CHECK-NOT: linalg.transpose
// CHECK: kv.expert_matmul %{{.*}}, %arg2 experts(%{{.*}}) : tensor<?x2x8xf32>, tensor<64x8xf32> experts
// BF16-LABEL: func.func @choices
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x8x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @choices(%ids: tensor<?x2xi64>, %x: tensor<?x2x8x1xf32>, %w: tensor<4x8x16xf32> {kv.weight = "w"},
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%v, %i, %j] : tensor<4x8x16xf32>
- %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, 0, 0, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x8x16xf32>) outs(%to : tensor<?x2x8x16xf32>) {
+ %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, c, n, 0)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
+ ins(%x, %m : tensor<?x2x8x1xf32>, tensor<?x2x8x16xf32>) outs(%to : tensor<?x2x8x16xf32>) {
- %y = linalg.generic {indexing_maps = [#all, affine_map<(t, c, n, k) -> (t, c, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
+ %y = linalg.generic {indexing_maps = [#all, affine_map<(t, c, n, k) -> (t, c, k)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}

// -----

// The number of the matrix depends on its column.
// CHECK-LABEL: func.func @number_of_a_column
// CHECK-NOT: kv.expert_matmul
// BF16-LABEL: func.func @number_of_a_column
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x16x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @number_of_a_column(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x16xf32>, %w: tensor<16x16x16xf32> {kv.weight = "w"},
- %c4 = arith.constant 4 : i64
+ %c4 = arith.constant 16 : i64
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%j, %i, %j] : tensor<16x16x16xf32>
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
+ ins(%x, %m : tensor<?x1x1x16xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {

// -----

// Rows and columns of the matrix change places.
// CHECK-LABEL: func.func @swapped
// CHECK-NOT: kv.expert_matmul
// BF16-LABEL: func.func @swapped
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x16x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @swapped(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x16xf32>, %w: tensor<4x16x16xf32> {kv.weight = "w"},
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%v, %j, %i] : tensor<4x16x16xf32>
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
+ ins(%x, %m : tensor<?x1x1x16xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {

// -----

// Each column of the result has a row of its own.
// CHECK-LABEL: func.func @by_column
// CHECK-NOT: kv.expert_matmul
// BF16-LABEL: func.func @by_column
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x16x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @by_column(%ids: tensor<?x2xi64>, %x: tensor<?x1x16x16xf32>, %w: tensor<4x16x16xf32> {kv.weight = "w"},
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x16xf32>
- %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, 0, 0, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
+ %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, 0, n, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
+ ins(%x, %m : tensor<?x1x16x16xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {

// -----

// And each choice.
// CHECK-LABEL: func.func @by_choice_and_column
// CHECK-NOT: kv.expert_matmul
// BF16-LABEL: func.func @by_choice_and_column
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x16x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @by_choice_and_column(%ids: tensor<?x2xi64>, %x: tensor<?x2x16x16xf32>, %w: tensor<4x16x16xf32> {kv.weight = "w"},
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x16xf32>
- %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, 0, 0, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
+ %f = linalg.generic {indexing_maps = [affine_map<(t, c, n, k) -> (t, c, n, k)>, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
+ ins(%x, %m : tensor<?x2x16x16xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {

// -----

// The first of several rows.
// CHECK-LABEL: func.func @first_of_rows
// CHECK-NOT: kv.expert_matmul
// BF16-LABEL: func.func @first_of_rows
like @rows
- tensor<?x2x16x8xf32>
+ tensor<?x2x16x16xf32>
- func.func @rows(%ids: tensor<?x2xi64>, %x: tensor<?x1x1x8xf32>, %w: tensor<4x16x8xf32> {kv.weight = "w"},
+ func.func @first_of_rows(%ids: tensor<?x2xi64>, %x: tensor<?x3x1x16xf32>, %w: tensor<4x16x16xf32> {kv.weight = "w"},
- %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x8xf32>
+ %r = tensor.extract %w[%v, %i, %j] : tensor<4x16x16xf32>
- ins(%x, %m : tensor<?x1x1x8xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
+ ins(%x, %m : tensor<?x3x1x16xf32>, tensor<?x2x16x16xf32>) outs(%to : tensor<?x2x16x16xf32>) {
