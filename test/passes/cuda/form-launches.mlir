// Computations become launches of a GPU's kernels, however they are written.
//
// RUN: kv-opt --kv-form-launches="chips=sm_80,sm_90a" --canonicalize --cse --split-input-file %s | FileCheck %s
// RUN: kv-opt --kv-form-launches --split-input-file %s -o /dev/null --remarks-filter=kv-form-launches 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
//
// REMARK-DAG: [Passed] Launch | {{.*}}"'matmul' makes tensor<?x32xf32>"
// REMARK-DAG: [Passed] Cast | {{.*}}"tensor<?x64xf32> to bf16: the rows of a matrix product"
// REMARK-DAG: [Passed] Cast | {{.*}}"tensor<?x2x64xf32> to bf16: the queries of an attention"
// REMARK-DAG: [Passed] Launch | {{.*}}"'norm' makes tensor<?x64xf32>"
// REMARK-DAG: [Passed] Launch | {{.*}}"'argmax' makes tensor<?xi32>"

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#row = affine_map<(i) -> (i)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// The device code that a module without attention needs.
// CHECK: module attributes {kv.device_code = {chips = ["sm_80", "sm_90a"], images = ["kv_movers"]}}

// Rows of f32 are rounded to the weight's type.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<32x64xbf16>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[CE:.*]] = tensor.empty(%[[N]]) : tensor<?x64xbf16>
// CHECK: %[[C:.*]] = kv.rt.launch "cast"(%[[X]]) outs(%[[CE]]) : tensor<?x64xf32> outs tensor<?x64xbf16> -> tensor<?x64xbf16>
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x32xf32>
// CHECK: %[[M:.*]] = kv.rt.launch "matmul"(%[[C]], %[[W]]) outs(%[[E]]) : tensor<?x64xbf16>, tensor<32x64xbf16> outs tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK-NEXT: return %[[M]]
func.func @matmul(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x64xf32>, tensor<32x64xbf16>) outs(%zeros : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// A product of each head: the head's rows may be a part of wider ones.
// CHECK-LABEL: func.func @heads(
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = kv.rt.launch "cast"({{.*}}) outs({{.*}}) : {{.*}} -> tensor<?x{{.*}}bf16>
// CHECK: kv.rt.launch "matmul"(%{{.*}}, %{{.*}}) outs(%{{.*}}) : tensor<?x4x32xbf16>, tensor<4x128x32xbf16> outs tensor<?x4x128xf32> -> tensor<?x4x128xf32>
#head_x = affine_map<(t, h, n, k) -> (t, h, k)>
#head_w = affine_map<(t, h, n, k) -> (h, n, k)>
#head_out = affine_map<(t, h, n, k) -> (t, h, n)>
func.func @heads(%q: tensor<?x4x96xf32>, %w: tensor<4x128x32xbf16>) -> tensor<?x4x128xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %q, %c0 : tensor<?x4x96xf32>
  %x = tensor.extract_slice %q[0, 0, 0] [%rows, 4, 32] [1, 1, 1] : tensor<?x4x96xf32> to tensor<?x4x32xf32>
  %empty = tensor.empty(%rows) : tensor<?x4x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4x128xf32>) -> tensor<?x4x128xf32>
  %y = linalg.generic {indexing_maps = [#head_x, #head_w, #head_out],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x4x32xf32>, tensor<4x128x32xbf16>) outs(%zeros : tensor<?x4x128xf32>) {
  ^bb0(%value: f32, %weight: bf16, %sum: f32):
    %wide = arith.extf %weight : bf16 to f32
    %product = arith.mulf %value, %wide : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<?x4x128xf32>
  return %y : tensor<?x4x128xf32>
}

// One cast serves all products of a value.
// CHECK-LABEL: func.func @two_products(
// CHECK-COUNT-1: kv.rt.launch "cast"
// CHECK-NOT: kv.rt.launch "cast"
// CHECK-COUNT-2: kv.rt.launch "matmul"
func.func @two_products(%x: tensor<4x64xf32>, %w: tensor<32x64xf16>, %v: tensor<32x64xf16>)
    -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<4x64xf32>, tensor<32x64xf16>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
  %z = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %v : tensor<4x64xf32>, tensor<32x64xf16>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y, %z : tensor<4x32xf32>, tensor<4x32xf32>
}

// A product written out, of 16-bit rows, to 16 bits.
// CHECK-LABEL: func.func @contraction(
// CHECK-NOT: "cast"
// CHECK: kv.rt.launch "matmul"(%{{.*}}, %{{.*}}) outs(%{{.*}}) : tensor<4x64xf16>, tensor<32x64xf16> outs tensor<4x32xf16> -> tensor<4x32xf16>
func.func @contraction(%x: tensor<4x64xf16>, %w: tensor<32x64xf16>) -> tensor<4x32xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4x32xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<4x32xf16>) -> tensor<4x32xf16>
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xf16>, tensor<32x64xf16>) outs(%zeros : tensor<4x32xf16>) {
  ^bb0(%a: f16, %b: f16, %sum: f16):
    %product = arith.mulf %b, %a : f16
    %next = arith.addf %product, %sum : f16
    linalg.yield %next : f16
  } -> tensor<4x32xf16>
  return %y : tensor<4x32xf16>
}

// The norm in three operations, and what rounds it is part of it.
// CHECK-LABEL: func.func @norm(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[G:.*]]: tensor<64xf32>, %[[W:.*]]: tensor<32x64xbf16>)
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[N:.*]] = kv.rt.launch "norm"(%[[X]], %[[G]], %[[EPS]], %[[ZERO]]) outs(%{{.*}}) : tensor<?x64xf32>, tensor<64xf32>, f32, f32 outs tensor<?x64xbf16>
// CHECK-NOT: linalg
// CHECK: kv.rt.launch "matmul"(%[[N]], %[[W]])
func.func @norm(%x: tensor<?x64xf32>, %weight: tensor<64xf32>, %w: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %column = tensor.empty(%rows) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %square = arith.mulf %value, %value : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %scales = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%squares : tensor<?xf32>) outs(%column : tensor<?xf32>) {
  ^bb0(%sum: f32, %unused: f32):
    %mean = arith.divf %sum, %width : f32
    %shifted = arith.addf %mean, %eps : f32
    %scale = math.rsqrt %shifted : f32
    linalg.yield %scale : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %normal = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scales, %weight : tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%value: f32, %scale: f32, %w_: f32, %unused: f32):
    %n = arith.mulf %value, %scale : f32
    %weighted = arith.mulf %n, %w_ : f32
    linalg.yield %weighted : f32
  } -> tensor<?x64xf32>
  %out = tensor.empty(%rows) : tensor<?x32xf32>
  %out_zeros = linalg.fill ins(%zero : f32) outs(%out : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%normal, %w : tensor<?x64xf32>, tensor<32x64xbf16>) outs(%out_zeros : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// The norm of each head, in 16 bits, with 1 + weight, a division by a root and
// a mean by multiplication.
// CHECK-LABEL: func.func @head_norm(
// CHECK-SAME: %[[X:.*]]: tensor<4x2x64xbf16>, %[[G:.*]]: tensor<64xbf16>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<4x2x64xbf16> into tensor<8x64xbf16>
// CHECK: %[[N:.*]] = kv.rt.launch "norm"(%[[ROWS]], %[[G]], %{{.*}}, %[[ONE]]) outs(%{{.*}}) : tensor<8x64xbf16>, tensor<64xbf16>, f32, f32 outs tensor<8x64xbf16>
// CHECK: tensor.expand_shape %[[N]] {{\[\[}}0, 1], [2]] output_shape [4, 2, 64]
func.func @head_norm(%x: tensor<4x2x64xbf16>, %weight: tensor<64xbf16>) -> tensor<4x2x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inverse = arith.constant 0.015625 : f32
  %eps = arith.constant 1.0e-06 : f32
  %sums = tensor.empty() : tensor<4x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%sums : tensor<4x2xf32>) -> tensor<4x2xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>],
                             iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x2x64xbf16>) outs(%zeros : tensor<4x2xf32>) {
  ^bb0(%value: bf16, %sum: f32):
    %wide = arith.extf %value : bf16 to f32
    %square = arith.mulf %wide, %wide : f32
    %next = arith.addf %square, %sum : f32
    linalg.yield %next : f32
  } -> tensor<4x2xf32>
  %empty = tensor.empty() : tensor<4x2x64xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>,
                                        affine_map<(t, h, d) -> (d)>, affine_map<(t, h, d) -> (t, h, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %squares, %weight : tensor<4x2x64xbf16>, tensor<4x2xf32>, tensor<64xbf16>) outs(%empty : tensor<4x2x64xbf16>) {
  ^bb0(%value: bf16, %sum: f32, %w: bf16, %unused: bf16):
    %wide = arith.extf %value : bf16 to f32
    %weight_wide = arith.extf %w : bf16 to f32
    %mean = arith.mulf %sum, %inverse : f32
    %shifted = arith.addf %eps, %mean : f32
    %root = math.sqrt %shifted : f32
    %normal = arith.divf %wide, %root : f32
    %more = arith.addf %one, %weight_wide : f32
    %weighted = arith.mulf %more, %normal : f32
    %narrow = arith.truncf %weighted : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<4x2x64xbf16>
  return %y : tensor<4x2x64xbf16>
}

// silu(gate) * up: 1 is the function's number.
// CHECK-LABEL: func.func @silu_mul(
// CHECK-SAME: %[[G:.*]]: tensor<?x128xf32>, %[[U:.*]]: tensor<?x128xf32>)
// CHECK: %[[F:.*]] = arith.constant 1 : i32
// CHECK: kv.rt.launch "pair"(%[[F]], %[[G]], %[[U]]) outs(%{{.*}}) : i32, tensor<?x128xf32>, tensor<?x128xf32> outs tensor<?x128xf32>
func.func @silu_mul(%gate: tensor<?x128xf32>, %up: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %gate, %c0 : tensor<?x128xf32>
  %empty = tensor.empty(%rows) : tensor<?x128xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<?x128xf32>, tensor<?x128xf32>) outs(%empty : tensor<?x128xf32>) {
  ^bb0(%g: f32, %u: f32, %unused: f32):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %g : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %exp, %one : f32
    %silu = arith.divf %g, %below : f32
    %product = arith.mulf %silu, %u : f32
    linalg.yield %product : f32
  } -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// The same in two operations, of 16 bits, as a product with 1 / (1 + exp(-g)).
// CHECK-LABEL: func.func @silu_then_mul(
// CHECK-SAME: %[[G:.*]]: tensor<4x128xf16>, %[[U:.*]]: tensor<4x128xf16>)
// CHECK: kv.rt.launch "pair"(%c1_i32, %[[G]], %[[U]]) {{.*}} outs tensor<4x128xf16>
// CHECK-NOT: linalg
func.func @silu_then_mul(%gate: tensor<4x128xf16>, %up: tensor<4x128xf16>) -> tensor<4x128xf16> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4x128xf32>
  %silu = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%gate : tensor<4x128xf16>) outs(%wide : tensor<4x128xf32>) {
  ^bb0(%narrow: f16, %unused: f32):
    %g = arith.extf %narrow : f16 to f32
    %minus = arith.subf %zero, %g : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %one, %exp : f32
    %logistic = arith.divf %one, %below : f32
    %product = arith.mulf %g, %logistic : f32
    linalg.yield %product : f32
  } -> tensor<4x128xf32>
  %empty = tensor.empty() : tensor<4x128xf16>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%up, %silu : tensor<4x128xf16>, tensor<4x128xf32>) outs(%empty : tensor<4x128xf16>) {
  ^bb0(%narrow: f16, %s: f32, %unused: f16):
    %u = arith.extf %narrow : f16 to f32
    %product = arith.mulf %u, %s : f32
    %rounded = arith.truncf %product : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<4x128xf16>
  return %y : tensor<4x128xf16>
}

// Sums: a named operation of 16 bits, a generic one of mixed types.
// CHECK-LABEL: func.func @sums(
// CHECK: kv.rt.launch "pair"(%c0_i32, {{.*}} : i32, tensor<4x64xbf16>, tensor<4x64xbf16> outs tensor<4x64xbf16>
// CHECK: kv.rt.launch "pair"(%c0_i32, {{.*}} : i32, tensor<4x64xbf16>, tensor<4x64xf32> outs tensor<4x64xf32>
func.func @sums(%a: tensor<4x64xbf16>, %b: tensor<4x64xbf16>, %c: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %narrow = tensor.empty() : tensor<4x64xbf16>
  %sum = linalg.add ins(%a, %b : tensor<4x64xbf16>, tensor<4x64xbf16>) outs(%narrow : tensor<4x64xbf16>) -> tensor<4x64xbf16>
  %wide = tensor.empty() : tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %c : tensor<4x64xbf16>, tensor<4x64xf32>) outs(%wide : tensor<4x64xf32>) {
  ^bb0(%l: bf16, %r: f32, %unused: f32):
    %w = arith.extf %l : bf16 to f32
    %s = arith.addf %w, %r : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// A bias is one row for all, on either side; what rounds the sum is part of it.
// CHECK-LABEL: func.func @biases(
// CHECK-SAME: %[[X:.*]]: tensor<4x2x64xf32>, %[[B:.*]]: tensor<64xf32>)
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[X]]
// CHECK: kv.rt.launch "pair"(%c0_i32, %[[R]], %[[B]]) outs(%{{.*}}) : i32, tensor<8x64xf32>, tensor<64xf32> outs tensor<8x64xf32>
// CHECK: kv.rt.launch "pair"(%c0_i32, %{{.*}}, %[[B]]) outs(%{{.*}}) : i32, tensor<8x64xf32>, tensor<64xf32> outs tensor<8x64xbf16>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#last = affine_map<(i, j, k) -> (k)>
func.func @biases(%x: tensor<4x2x64xf32>, %bias: tensor<64xf32>) -> tensor<4x2x64xbf16> {
  %wide = tensor.empty() : tensor<4x2x64xf32>
  %y = linalg.generic {indexing_maps = [#ijk, #last, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %bias : tensor<4x2x64xf32>, tensor<64xf32>) outs(%wide : tensor<4x2x64xf32>) {
  ^bb0(%value: f32, %b: f32, %unused: f32):
    %s = arith.addf %value, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x2x64xf32>
  %narrow = tensor.empty() : tensor<4x2x64xbf16>
  %z = linalg.generic {indexing_maps = [#last, #ijk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bias, %y : tensor<64xf32>, tensor<4x2x64xf32>) outs(%narrow : tensor<4x2x64xbf16>) {
  ^bb0(%b: f32, %value: f32, %unused: bf16):
    %s = arith.addf %b, %value : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x2x64xbf16>
  return %z : tensor<4x2x64xbf16>
}

// Other elementwise arithmetic is a program. What only it uses is a part of it.
// CHECK-LABEL: func.func @gelu_tanh_mul(
// CHECK-SAME: %[[G:.*]]: tensor<4x128xf32>, %[[U:.*]]: tensor<4x128xbf16>)
// CHECK: %[[P:.*]] = kv.rt.text "get a; mul 0.5; keep t; get a; mul a; mul a; mul 0.044715; add a; mul 0.7978846; tanh; add 1; mul t; mul b"
// CHECK: kv.rt.launch "elementwise"(%[[P]], %[[G]], %[[U]]) outs(%{{.*}}) : !llvm.ptr, tensor<4x128xf32>, tensor<4x128xbf16> outs tensor<4x128xbf16>
// CHECK-NOT: launch
func.func @gelu_tanh_mul(%gate: tensor<4x128xf32>, %up: tensor<4x128xbf16>) -> tensor<4x128xbf16> {
  %wide = tensor.empty() : tensor<4x128xf32>
  %gelu = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%gate : tensor<4x128xf32>) outs(%wide : tensor<4x128xf32>) {
  ^bb0(%g: f32, %unused: f32):
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %cubic = arith.constant 0.044715 : f32
    %slope = arith.constant 0.797884583 : f32
    %square = arith.mulf %g, %g : f32
    %cube = arith.mulf %square, %g : f32
    %correction = arith.mulf %cube, %cubic : f32
    %bent = arith.addf %g, %correction : f32
    %argument = arith.mulf %bent, %slope : f32
    %tanh = math.tanh %argument : f32
    %weight = arith.addf %tanh, %one : f32
    %halved = arith.mulf %g, %half : f32
    %product = arith.mulf %halved, %weight : f32
    linalg.yield %product : f32
  } -> tensor<4x128xf32>
  %empty = tensor.empty() : tensor<4x128xbf16>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%gelu, %up : tensor<4x128xf32>, tensor<4x128xbf16>) outs(%empty : tensor<4x128xbf16>) {
  ^bb0(%g: f32, %narrow: bf16, %unused: bf16):
    %u = arith.extf %narrow : bf16 to f32
    %product = arith.mulf %g, %u : f32
    %rounded = arith.truncf %product : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<4x128xbf16>
  return %y : tensor<4x128xbf16>
}

// A square of what is computed; one row for all, which comes first in the
// arithmetic; a sum that is scaled, whose other use is a launch of its own.
// CHECK-LABEL: func.func @programs(
// CHECK-SAME: %[[X:.*]]: tensor<4x2x64xf32>, %[[R:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<4x64xbf16>)
// CHECK: %[[P:.*]] = kv.rt.text "get a; max 0; keep t; mul t; keep t; get b; exp; sub t"
// CHECK: %[[X2:.*]] = tensor.collapse_shape %[[X]]
// CHECK: kv.rt.launch "elementwise"(%[[P]], %[[X2]], %[[R]]) {{.*}} : !llvm.ptr, tensor<8x64xf32>, tensor<64xf32> outs tensor<8x64xf32>
// CHECK: %[[Q:.*]] = kv.rt.text "get a; div 3"
// CHECK: %[[Z:.*]] = kv.rt.launch "elementwise"(%[[Q]], %[[Y]], %[[Y]]) {{.*}} outs tensor<4x64xbf16>
// CHECK: %[[S:.*]] = kv.rt.text "get a; mul 0.1; bf16; add b; bf16; tanh"
// CHECK: kv.rt.launch "elementwise"(%[[S]], %[[Z]], %[[Y]]) {{.*}} outs tensor<4x64xf32>
#tij = affine_map<(t, i, j) -> (t, i, j)>
#tj = affine_map<(t, i, j) -> (j)>
func.func @programs(%x: tensor<4x2x64xf32>, %row: tensor<64xf32>, %y: tensor<4x64xbf16>)
    -> (tensor<4x2x64xf32>, tensor<4x64xbf16>, tensor<4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : bf16
  %tenth = arith.constant 0.1 : f32
  %e0 = tensor.empty() : tensor<4x2x64xf32>
  %a = linalg.generic {indexing_maps = [#tj, #tij, #tij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%row, %x : tensor<64xf32>, tensor<4x2x64xf32>) outs(%e0 : tensor<4x2x64xf32>) {
  ^bb0(%r: f32, %v: f32, %unused: f32):
    %positive = arith.maximumf %v, %zero : f32
    %square = arith.mulf %positive, %positive : f32
    %exp = math.exp %r : f32
    %difference = arith.subf %exp, %square : f32
    linalg.yield %difference : f32
  } -> tensor<4x2x64xf32>
  %e1 = tensor.empty() : tensor<4x64xbf16>
  %b = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x64xbf16>) outs(%e1 : tensor<4x64xbf16>) {
  ^bb0(%v: bf16, %unused: bf16):
    %third = arith.divf %v, %three : bf16
    linalg.yield %third : bf16
  } -> tensor<4x64xbf16>
  %e2 = tensor.empty() : tensor<4x64xf32>
  %c = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%b, %y : tensor<4x64xbf16>, tensor<4x64xbf16>) outs(%e2 : tensor<4x64xf32>) {
  ^bb0(%v: bf16, %w: bf16, %unused: f32):
    %wide = arith.extf %v : bf16 to f32
    %scaled = arith.mulf %wide, %tenth : f32
    %narrow = arith.truncf %scaled : f32 to bf16
    %sum = arith.addf %narrow, %w : bf16
    %sum_wide = arith.extf %sum : bf16 to f32
    %tanh = math.tanh %sum_wide : f32
    linalg.yield %tanh : f32
  } -> tensor<4x64xf32>
  return %a, %b, %c : tensor<4x2x64xf32>, tensor<4x64xbf16>, tensor<4x64xf32>
}

// Quantised weights: rows are rounded once for both products, which may be
// written in another type.
// CHECK-LABEL: func.func @quantised(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x64xf32>, %[[W:[a-z0-9]*]]: tensor<2x2x288xi8>, %[[V:[a-z0-9]*]]: tensor<1x1x1088xi8>, %[[IDS:[a-z0-9]*]]: tensor<?xi32>
// CHECK: %[[R:.*]] = kv.rt.launch "roundRows"(%[[X]]) outs(%{{.*}}) : tensor<?x64xf32> outs tensor<?x80xi8>
// CHECK: %[[Y:.*]] = kv.rt.launch "quantMatmul"(%[[R]], %[[W]], %c1_i32) outs(%{{.*}}) : tensor<?x80xi8>, tensor<2x2x288xi8>, i32 outs tensor<?x32xbf16>
// CHECK: %[[Z:.*]] = kv.rt.launch "quantMatmul"(%[[R]], %[[V]], %c5_i32) outs(%{{.*}}) : {{.*}} outs tensor<?x16xf32>
// CHECK: %[[E:.*]] = kv.rt.launch "quantEmbedding"(%[[IDS]], %[[W]], %c1_i32) outs(%{{.*}}) : tensor<?xi32>, tensor<2x2x288xi8>, i32 outs tensor<?x64xf32>
// CHECK: return %[[Y]], %[[Z]], %[[E]]
func.func @quantised(%x: tensor<?x64xf32>, %w: tensor<2x2x288xi8>, %v: tensor<1x1x1088xi8>, %ids: tensor<?xi32>)
    -> (tensor<?x32xbf16>, tensor<?x16xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %y, %z = kv.matmul %x, %w, %v {formats = [#kv.quant<q4_0>, #kv.quant<i8>]}
      : tensor<?x64xf32>, tensor<2x2x288xi8>, tensor<1x1x1088xi8> -> tensor<?x32xf32>, tensor<?x16xf32>
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x32xbf16>
  %narrow = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x32xf32>) outs(%empty : tensor<?x32xbf16>) {
  ^bb0(%value: f32, %unused: bf16):
    %n = arith.truncf %value : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<?x32xbf16>
  %e = kv.dequantize %w rows(%ids) format <q4_0> : tensor<2x2x288xi8>, tensor<?xi32> -> tensor<?x64xf32>
  return %narrow, %z, %e : tensor<?x32xbf16>, tensor<?x16xf32>, tensor<?x64xf32>
}

// Casts, of vectors too; one to the same type is nothing.
// CHECK-LABEL: func.func @casts(
// CHECK-SAME: %[[X:.*]]: tensor<4x64xf32>, %[[V:.*]]: tensor<64xbf16>)
// CHECK: %[[ROW:.*]] = tensor.expand_shape %[[V]] {{\[\[}}0, 1]] output_shape [1, 64]
// CHECK: kv.rt.launch "cast"(%[[ROW]]) outs(%{{.*}}) : tensor<1x64xbf16> outs tensor<1x64xf32>
// CHECK: return %[[X]],
func.func @casts(%x: tensor<4x64xf32>, %v: tensor<64xbf16>) -> (tensor<4x64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<4x64xf32>
  %same = linalg.copy ins(%x : tensor<4x64xf32>) outs(%empty : tensor<4x64xf32>) -> tensor<4x64xf32>
  %wide = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%v : tensor<64xbf16>) outs(%wide : tensor<64xf32>) {
  ^bb0(%value: bf16, %unused: f32):
    %w = arith.extf %value : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  return %same, %y : tensor<4x64xf32>, tensor<64xf32>
}

// Rows of a table, in the result's type.
// CHECK-LABEL: func.func @embedding(
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[TABLE:.*]]: tensor<272x64xbf16>)
// CHECK: %[[N:.*]] = tensor.dim %[[IDS]], %c0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x64xf32>
// CHECK: kv.rt.launch "embedding"(%[[IDS]], %[[TABLE]]) outs(%[[E]]) : tensor<?xi32>, tensor<272x64xbf16> outs tensor<?x64xf32>
func.func @embedding(%tokens: tensor<?xi32>, %embed: tensor<272x64xbf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %tokens, %c0 : tensor<?xi32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %x = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %embed[%row, %column] : tensor<272x64xbf16>
    %wide = arith.extf %value : bf16 to f32
    linalg.yield %wide : f32
  } -> tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x272xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xi32>
// CHECK: kv.rt.launch "argmax"(%[[X]]) outs(%[[E]]) : tensor<?x272xf32> outs tensor<?xi32>
func.func @argmax(%x: tensor<?x272xf32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %rows = tensor.dim %x, %c0 : tensor<?x272xf32>
  %best = tensor.empty(%rows) : tensor<?xf32>
  %place = tensor.empty(%rows) : tensor<?xi32>
  %best0 = linalg.fill ins(%least : f32) outs(%best : tensor<?xf32>) -> tensor<?xf32>
  %place0 = linalg.fill ins(%first : i32) outs(%place : tensor<?xi32>) -> tensor<?xi32>
  %y:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x272xf32>) outs(%best0, %place0 : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%value: f32, %largest: f32, %where: i32):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i32
    %more = arith.cmpf ogt, %value, %largest : f32
    %next = arith.select %more, %value, %largest : f32
    %next_place = arith.select %more, %here, %where : i32
    linalg.yield %next, %next_place : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %y#1 : tensor<?xi32>
}

// -----

// Positions have as many rows as what is rotated by them; a rotation for an
// attention writes the attention's type.
// CHECK: images = ["kv_attention_decode_bf16_64", "kv_attention_drafts_bf16_64", "kv_attention_prefill_bf16_64", "kv_attention_tensor_bf16_64", "kv_attention_tiles_bf16_64", "kv_movers"]
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x128xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[PE:.*]] = tensor.empty(%[[N]]) : tensor<?xi32>
// CHECK: %[[P:.*]] = kv.rt.launch "positions"(%{{.*}}, %{{.*}}) outs(%[[PE]]) : tensor<?xi32>, tensor<?xi32> outs tensor<?xi32>
// CHECK: %[[Q:.*]] = kv.rt.launch "rope"(%{{.*}}, %[[P]], %{{.*}}, %c0_i32) outs(%{{.*}}) : tensor<?x2x64xf32>, tensor<?xi32>, tensor<512x64xf32>, i32 outs tensor<?x2x64xbf16>
// CHECK-NOT: "cast"
// CHECK: %[[O:.*]] = kv.rt.launch "plannedAttention"({{.*}}, %[[Q]], {{.*}}) absent [1, 10, 15] outs(%{{.*}}) {{.*}} -> tensor<?x2x64xbf16>
// CHECK: %[[O2:.*]] = tensor.collapse_shape %[[O]]
// CHECK: kv.rt.launch "matmul"(%[[O2]], %{{.*}}) {{.*}} outs tensor<?x64xf32>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @attention(%x: tensor<?x128xf32>, %freqs: tensor<512x64xf32>, %w: tensor<64x128xbf16>,
    %blocks: memref<?x2x2x16x1x64xbf16>, %lengths: tensor<?xi32>, %table: tensor<?x?xi32>, %most: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %plan: tensor<?xi8>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
  %positions = kv.positions (%blocks, %lengths, %table, %most), %ro
      : (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>, tensor<?xi32> -> tensor<?xi32>
  %heads = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 2, 64] : tensor<?x128xf32> into tensor<?x2x64xf32>
  %q = kv.rope %heads, %positions, %freqs : tensor<?x2x64xf32>, tensor<?xi32>, tensor<512x64xf32>
  %o = kv.attention %q in (%blocks, %lengths, %table, %most)[%c0] rows %ro plan %plan mask <causal> scale 0.125
      {kv.kernel = #kv.kernel<cuda>}
      : tensor<?x2x64xf32> in (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>, tensor<?xi32> plan tensor<?xi8>
        -> tensor<?x2x64xf32>
  %flat = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%flat, %w : tensor<?x128xf32>, tensor<64x128xbf16>) outs(%zeros : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// What is used otherwise as well is cast by itself.
// CHECK-LABEL: func.func @also_wide(
// CHECK: %[[S:.*]] = kv.rt.launch "pair"{{.*}} outs tensor<4x64xf32>
// CHECK: kv.rt.launch "cast"(%[[S]]) outs(%{{.*}}) : tensor<4x64xf32> outs tensor<4x64xbf16>
// CHECK: kv.rt.launch "matmul"
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @also_wide(%a: tensor<4x64xf32>, %w: tensor<32x64xbf16>) -> (tensor<4x64xf32>, tensor<4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4x64xf32>
  %sum = linalg.add ins(%a, %a : tensor<4x64xf32>, tensor<4x64xf32>) outs(%wide : tensor<4x64xf32>) -> tensor<4x64xf32>
  %empty = tensor.empty() : tensor<4x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%sum, %w : tensor<4x64xf32>, tensor<32x64xbf16>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %sum, %y : tensor<4x64xf32>, tensor<4x32xf32>
}

// -----

// Keys and values are stored as they are, but in one type.
// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<4x1x64xf32>, %[[V:[a-z0-9]*]]: tensor<4x1x64xbf16>
// CHECK: kv.rt.launch "store"({{.*}}, %[[K]], %[[K]]) absent [1] :
// CHECK: %[[C:.*]] = kv.rt.launch "cast"({{.*}}) {{.*}} : tensor<4x64xbf16> outs tensor<4x64xf32>
// CHECK: %[[W:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2]] output_shape [4, 1, 64]
// CHECK: kv.rt.launch "store"({{.*}}, %[[K]], %[[W]]) absent [1] :
!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @store(%k: tensor<4x1x64xf32>, %v: tensor<4x1x64xbf16>, %b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>,
    %t: tensor<?x?xi32>, %m: tensor<?x2xi32>, %ro: tensor<?xi32>, %layer: index) {
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro {kv.kernel = #kv.kernel<cuda>}
      : tensor<4x1x64xf32>, tensor<4x1x64xf32>
        into (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  kv.store %k, %v into (%b, %l, %t, %m)[%layer] rows %ro {kv.kernel = #kv.kernel<cuda>}
      : tensor<4x1x64xf32>, tensor<4x1x64xbf16>
        into (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  return
}

// -----

// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<64xbf16>, %[[H:.*]]: tensor<?x2x64xbf16>)
// CHECK-DAG: %[[EPS:.*]] = arith.constant 1.562500e-02 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[Y:.*]] = kv.rt.launch "norm"(%[[X]], %[[W]], %[[EPS]], %[[ZERO]])
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[H]] {{\[\[}}0, 1], [2]]
// CHECK: %[[N:.*]] = kv.rt.launch "norm"(%[[ROWS]], %[[W]], %[[EPS]], %[[ONE]])
// CHECK: %[[Z:.*]] = tensor.expand_shape %[[N]]
// CHECK: return %[[Y]], %[[Z]]
func.func @rms_norm(%x: tensor<?x64xf32>, %w: tensor<64xbf16>, %h: tensor<?x2x64xbf16>)
    -> (tensor<?x64xf32>, tensor<?x2x64xbf16>) {
  %y = kv.rms_norm %x, %w eps 0.015625 : tensor<?x64xf32>, tensor<64xbf16> -> tensor<?x64xf32>
  %z = kv.rms_norm %h, %w eps 0.015625 offset 1.0
      : tensor<?x2x64xbf16>, tensor<64xbf16> -> tensor<?x2x64xbf16>
  return %y, %z : tensor<?x64xf32>, tensor<?x2x64xbf16>
}

// -----

// Two attentions as one: a launch for each result that is used. What an
// attention has made in 16 bits is read as it is, and written so for a product.
// CHECK-LABEL: func.func @merge(
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?x2x64xf32>, %[[AL:[a-z0-9]*]]: tensor<?x2xf32>, %[[B:[a-z0-9]*]]: tensor<?x2x64xf32>, %[[BL:[a-z0-9]*]]: tensor<?x2xf32>
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0, 1], [2]]
// CHECK-DAG: %[[Y:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0, 1], [2]]
// CHECK: %[[M:.*]] = kv.rt.launch "mergeSides"(%[[X]], %[[AL]], %[[Y]], %[[BL]]) outs(%{{.*}}) : {{.*}} outs tensor<?x64xf32>
// CHECK: %[[O:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1], [2]]
// CHECK: %[[L:.*]] = kv.rt.launch "mergeLse"(%[[AL]], %[[BL]]) outs(%{{.*}}) : {{.*}} outs tensor<?x2xf32>
// CHECK: return %[[O]], %[[L]]
func.func @merge(%a: tensor<?x2x64xf32>, %a_lse: tensor<?x2xf32>, %b: tensor<?x2x64xf32>, %b_lse: tensor<?x2xf32>)
    -> (tensor<?x2x64xf32>, tensor<?x2xf32>) {
  %o, %lse = kv.merge (%a, %a_lse), (%b, %b_lse) : tensor<?x2x64xf32>, tensor<?x2xf32>
  return %o, %lse : tensor<?x2x64xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @merged_product(
// CHECK-NOT: "mergeLse"
// CHECK-NOT: "cast"
// CHECK: kv.rt.launch "mergeSides"(%{{.*}}) outs(%{{.*}}) : tensor<8x64xbf16>, tensor<4x2xf32>, tensor<8x64xf32>, tensor<4x2xf32> outs tensor<8x64xbf16>
// CHECK-NOT: "mergeLse"
// CHECK: kv.rt.launch "matmul"
func.func @merged_product(%a: tensor<4x2x64xbf16>, %a_lse: tensor<4x2xf32>, %b: tensor<4x2x64xf32>,
    %b_lse: tensor<4x2xf32>, %w: tensor<64x128xbf16>) -> tensor<4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %like = tensor.empty() : tensor<4x2x64xf32>
  %wide = kv.rt.launch "cast"(%a) outs(%like) : tensor<4x2x64xbf16> outs tensor<4x2x64xf32> -> tensor<4x2x64xf32>
  %o, %lse = kv.merge (%wide, %a_lse), (%b, %b_lse) : tensor<4x2x64xf32>, tensor<4x2xf32>
  %flat = tensor.collapse_shape %o [[0], [1, 2]] : tensor<4x2x64xf32> into tensor<4x128xf32>
  %empty = tensor.empty() : tensor<4x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%flat, %w : tensor<4x128xf32>, tensor<64x128xbf16>) outs(%zeros : tensor<4x64xf32>) {
  ^bb0(%value: f32, %weight: bf16, %sum: f32):
    %number = arith.extf %weight : bf16 to f32
    %product = arith.mulf %value, %number : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// Rows of a table by positions: learned ones.
// CHECK-LABEL: func.func @learned_positions
// CHECK: %[[P:.*]] = kv.rt.launch "positions"
// CHECK: kv.rt.launch "embedding"(%[[P]], %{{.*}}) outs(%{{.*}}) : tensor<?xi32>, tensor<512x64xf32>
func.func @learned_positions(%tokens: tensor<?xi32>, %table: tensor<512x64xf32>,
    %blocks: memref<?x2x2x16x1x64xbf16>, %lengths: tensor<?xi32>, %pages: tensor<?x?xi32>, %most: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %tokens, %c0 : tensor<?xi32>
  %positions = kv.positions (%blocks, %lengths, %pages, %most), %ro
      : (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
        as !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>, tensor<?xi32> -> tensor<?xi32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%positions : tensor<?xi32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%p: i32, %out: f32):
    %i = arith.index_cast %p : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<512x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}

// -----

// The sums of squares have heads before rows, as a graph has them that moves heads before it takes their norms.
// CHECK-LABEL: func.func @norm_of_moved_heads
// CHECK: kv.rt.launch "norm"
func.func @norm_of_moved_heads(%x: tensor<?x2x64xf32>, %w: tensor<64xf32>) -> tensor<?x2x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2x64xf32>
  %e = tensor.empty(%rows) : tensor<2x?xf32>
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(h, t, d) -> (t, h, d)>, affine_map<(h, t, d) -> (h, t)>],
                          iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x2x64xf32>) outs(%zeros : tensor<2x?xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %square = arith.mulf %v, %v : f32
    %more = arith.addf %sum, %square : f32
    linalg.yield %more : f32
  } -> tensor<2x?xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (h, t)>,
                                        affine_map<(t, h, d) -> (d)>, affine_map<(t, h, d) -> (t, h, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sums, %w : tensor<?x2x64xf32>, tensor<2x?xf32>, tensor<64xf32>) outs(%x : tensor<?x2x64xf32>) {
  ^bb0(%v: f32, %sum: f32, %weight: f32, %out: f32):
    %mean = arith.divf %sum, %width : f32
    %shifted = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %shifted : f32
    %unit = arith.mulf %v, %root : f32
    %y = arith.mulf %unit, %weight : f32
    linalg.yield %y : f32
  } -> tensor<?x2x64xf32>
  return %n : tensor<?x2x64xf32>
}
