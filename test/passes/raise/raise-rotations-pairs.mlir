// Neighbours of the first four of six elements are rotated by a table of the model, read at the position. What
// differs from a rotation in one place stays as it is.
//
// RUN: kv-opt "--kv-raise-rotations=tables=true" --canonicalize %s | FileCheck %s
// Both elements of a pair have a plus; the one that has a minus is the second.
// RUN: sed 's/arith.negf .sine/arith.addf %%sine, %%zero/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// RUN: sed 's/is_even, .minus, .sine/is_even, %%sine, %%minus/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// The sine of another angle; the partner of another pair; another head.
// RUN: sed 's/sin.\(.\)p, .pair\]/sin[\1p, \1odd]/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// RUN: sed 's/constant 3 : index/constant 1 : index/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// RUN: sed 's/head, .partner/c1, %%partner/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// The angle is the token's, not its position's.
// RUN: sed 's/extract .positions/extract %%tokens/' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE
// Nobody knows how long the table is.
// RUN: sed 's/, max_seq_len = 16 : i64//' %s | kv-opt "--kv-raise-rotations=tables=true" | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @neighbours
// CHECK-SAME: tensor<16x4xf32> {kv.computed = {{\[}}["weight", "cos", ["arith.index_cast", "index", ["position"]],
// CHECK-SAME: ["number", "i64", [0, 1]]], ["weight", "sin",
// CHECK: kv.rope %arg0, %{{.*}}, %{{.*}} interleaved : tensor<?x2x6xf32>, tensor<?xi32>, tensor<16x4xf32>

// NONE: func.func @neighbours
// NONE-NOT: kv.computed
// NONE-NOT: kv.rope
// NONE: return
!kv = !kv.collection<paged, f32, layers = 1, heads = 2, dim = 6, page = 4>
module attributes {kv.model = {name = "t", max_seq_len = 16 : i64}} {
  func.func @neighbours(%x: tensor<?x2x6xf32>, %tokens: tensor<?xi32> {kv.name = "tokens"}, %cos: tensor<16x2xf32> {kv.weight = "cos"},
                        %sin: tensor<16x2xf32> {kv.weight = "sin"}, %offsets: tensor<?xi32>, %kv: !kv) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %positions = kv.positions %kv, %offsets : !kv, tensor<?xi32> -> tensor<?xi32>
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    %e = tensor.empty(%t) : tensor<?x2x6xf32>
    %k = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
        outs(%e : tensor<?x2x6xf32>) {
    ^bb0(%out: f32):
      %row = linalg.index 0 : index
      %head = linalg.index 1 : index
      %d = linalg.index 2 : index
      %below1 = arith.cmpi slt, %d, %c1 : index
      %below2 = arith.cmpi slt, %d, %c2 : index
      %below3 = arith.cmpi slt, %d, %c3 : index
      %below4 = arith.cmpi slt, %d, %c4 : index
      %low = arith.select %below1, %c1, %c0 : index
      %high = arith.select %below3, %c3, %c2 : index
      %partner = arith.select %below2, %low, %high : index
      %pair = arith.select %below2, %c0, %c1 : index
      %odd = arith.select %below1, %c0, %c1 : index
      %is_even = arith.cmpi slt, %d, %partner : index
      %at = tensor.extract %positions[%row] : tensor<?xi32>
      %p = arith.index_cast %at : i32 to index
      %own = tensor.extract %x[%row, %head, %d] : tensor<?x2x6xf32>
      %other = tensor.extract %x[%row, %head, %partner] : tensor<?x2x6xf32>
      %cosine = tensor.extract %cos[%p, %pair] : tensor<16x2xf32>
      %sine = tensor.extract %sin[%p, %pair] : tensor<16x2xf32>
      %minus = arith.negf %sine : f32
      %signed = arith.select %is_even, %minus, %sine : f32
      %a = arith.mulf %own, %cosine : f32
      %b = arith.mulf %signed, %other : f32
      %sum = arith.addf %a, %b : f32
      %all = arith.select %below4, %sum, %own : f32
      linalg.yield %all : f32
    } -> tensor<?x2x6xf32>
    kv.store %k, %x into %kv[%c0] rows %offsets : tensor<?x2x6xf32>, tensor<?x2x6xf32> into !kv, tensor<?xi32>
    return
  }
}
