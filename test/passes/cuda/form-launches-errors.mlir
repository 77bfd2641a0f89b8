// What is nearly a kernel's computation is none.
//
// RUN: %rows %s | not kv-opt --kv-form-launches="chips=sm_80,sm_75" --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: chip 'sm_75': expected sm_80 or later, such as sm_80 or sm_90a
// RUN: %rows %s | not kv-opt --kv-form-launches="chips=sm_90a,sm_80,sm_90a" --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: chip 'sm_90a' is given twice: expected each once
// RUN: %rows %s | kv-opt --kv-form-launches --verify-diagnostics --split-input-file

#lhs = affine_map<(m, n, k) -> (m, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>

// -----

// The weight is [K, N].
#rhs = affine_map<(m, n, k) -> (k, n)>
func.func @not_transposed(%x: tensor<4x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x32xf32>
  // expected-error @+1 {{'linalg.fill' op has no kernel on a GPU: kv-cuda has kernels for products with a weight [N, K], x / sqrt(mean(x * x) + epsilon) * weight, elementwise arithmetic on one or two tensors (one may be a row for all), rows of a table, casts, argmax, kv.attention, kv.copy_pages, kv.dequantize, kv.expert_matmul, kv.gather, kv.keep_groups, kv.load, kv.matmul, kv.merge, kv.positions, kv.rms_norm, kv.rope, kv.route, kv.sample, kv.state_convolution, kv.state_read, kv.state_scan, kv.state_write, kv.store, kv.update (quantised weights with kv.activations = i8)}}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
  // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU}}
  %y = linalg.matmul ins(%x, %w : tensor<4x64xbf16>, tensor<64x32xbf16>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// The sum starts elsewhere.
func.func @accumulates(%x: tensor<4x64xbf16>, %w: tensor<32x64xbf16>, %sum: tensor<4x32xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU}}
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<4x64xbf16>, tensor<32x64xbf16>) outs(%sum : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

func.func @wide_weight(%x: tensor<4x64xf64>, %w: tensor<32x64xf64>) -> tensor<4x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x32xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x32xf64>) -> tensor<4x32xf64>
  // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU: 'matmul' is for weights of f32, bf16 and f16, not 'tensor<32x64xf64>'}}
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<4x64xf64>, tensor<32x64xf64>) outs(%zeros : tensor<4x32xf64>) -> tensor<4x32xf64>
  return %y : tensor<4x32xf64>
}

// -----

func.func @other_result(%x: tensor<4x64xbf16>, %w: tensor<32x64xbf16>) -> tensor<4x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x32xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x32xf64>) -> tensor<4x32xf64>
  // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU: 'matmul' makes f32 or the weight's 'bf16', not 'f64'}}
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<4x64xbf16>, tensor<32x64xbf16>) outs(%zeros : tensor<4x32xf64>) -> tensor<4x32xf64>
  return %y : tensor<4x32xf64>
}

// -----

// Rows of the product, and of what is multiplied, are moved in chunks.
func.func @odd_products(%x: tensor<4x64xf32>, %w: tensor<36x64xbf16>, %u: tensor<4x36xf32>, %v: tensor<32x36xbf16>)
    -> (tensor<4x36xf32>, tensor<4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x36xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x36xf32>) -> tensor<4x36xf32>
  // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU: 'matmul' is for rows of a multiple of 8 elements, not 'tensor<4x36xf32>'}}
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<4x64xf32>, tensor<36x64xbf16>) outs(%zeros : tensor<4x36xf32>) -> tensor<4x36xf32>
  %empty2 = tensor.empty() : tensor<4x32xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %z = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%u, %v : tensor<4x36xf32>, tensor<32x36xbf16>) outs(%zeros2 : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y, %z : tensor<4x36xf32>, tensor<4x32xf32>
}

// -----

// Rows have the weight's type when they are multiplied, and no other.
module attributes {kv.activations = f16} {
  func.func @other_activations(%x: tensor<4x64xf32>, %w: tensor<32x64xbf16>) -> tensor<4x32xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<4x32xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
    // expected-error @+1 {{'linalg.matmul' op has no kernel on a GPU: 'kv.activations' is 'f16', and 'matmul' rounds rows to its weight's 'bf16'}}
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : tensor<4x64xf32>, tensor<32x64xbf16>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
    return %y : tensor<4x32xf32>
  }
}

// -----

// A mean of another width is none.
func.func @wrong_mean(%x: tensor<4x64xf32>, %weight: tensor<64xf32>) -> tensor<4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 63.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %column = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'linalg.fill' op has no kernel on a GPU}}
  %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %squares = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %square = arith.mulf %value, %value : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  %empty = tensor.empty() : tensor<4x64xf32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %weight : tensor<4x64xf32>, tensor<4xf32>, tensor<64xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%value: f32, %sum: f32, %w: f32, %unused: f32):
    %mean = arith.divf %sum, %width : f32
    %shifted = arith.addf %mean, %eps : f32
    %scale = math.rsqrt %shifted : f32
    %normal = arith.mulf %value, %scale : f32
    %weighted = arith.mulf %normal, %w : f32
    linalg.yield %weighted : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// The squares are of something else.
func.func @other_squares(%x: tensor<4x64xf32>, %z: tensor<4x64xf32>, %weight: tensor<64xf32>, %sums: tensor<4xf32>) -> tensor<4x64xf32> {
  %width = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %empty = tensor.empty() : tensor<4x64xf32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y = linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums, %weight : tensor<4x64xf32>, tensor<4xf32>, tensor<64xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%value: f32, %sum: f32, %w: f32, %unused: f32):
    %mean = arith.divf %sum, %width : f32
    %shifted = arith.addf %mean, %eps : f32
    %scale = math.rsqrt %shifted : f32
    %normal = arith.mulf %value, %scale : f32
    %weighted = arith.mulf %normal, %w : f32
    linalg.yield %weighted : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// The logistic function of another tensor.
func.func @other_gate(%a: tensor<4x64xf32>, %b: tensor<4x64xf32>, %c: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<4x64xf32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%x: f32, %u: f32, %g: f32, %unused: f32):
    %minus = arith.negf %g : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %exp, %one : f32
    %silu = arith.divf %x, %below : f32
    %product = arith.mulf %silu, %u : f32
    linalg.yield %product : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// A column for all, integers, f64.
func.func @other_pairs(%a: tensor<4x64xf32>, %column: tensor<4xf32>, %n: tensor<4x64xi32>, %d: tensor<4x64xf64>)
    -> (tensor<4x64xf64>, tensor<4x64xf32>, tensor<4x64xi32>) {
  %empty = tensor.empty() : tensor<4x64xf32>
  %empty64 = tensor.empty() : tensor<4x64xf64>
  // expected-error @+1 {{'linalg.mul' op has no kernel on a GPU}}
  %product = linalg.mul ins(%d, %d : tensor<4x64xf64>, tensor<4x64xf64>) outs(%empty64 : tensor<4x64xf64>) -> tensor<4x64xf64>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %sum = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a, %column : tensor<4x64xf32>, tensor<4xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%x: f32, %b: f32, %unused: f32):
    %s = arith.addf %x, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %integers = tensor.empty() : tensor<4x64xi32>
  // expected-error @+1 {{'linalg.add' op has no kernel on a GPU}}
  %isum = linalg.add ins(%n, %n : tensor<4x64xi32>, tensor<4x64xi32>) outs(%integers : tensor<4x64xi32>) -> tensor<4x64xi32>
  return %product, %sum, %isum : tensor<4x64xf64>, tensor<4x64xf32>, tensor<4x64xi32>
}

// -----

func.func @f64_sum(%a: tensor<4x64xf64>) -> tensor<4x64xf64> {
  %empty = tensor.empty() : tensor<4x64xf64>
  // expected-error @+1 {{'linalg.add' op has no kernel on a GPU: 'pair' is for f32, bf16 and f16, not 'tensor<4x64xf64>'}}
  %sum = linalg.add ins(%a, %a : tensor<4x64xf64>, tensor<4x64xf64>) outs(%empty : tensor<4x64xf64>) -> tensor<4x64xf64>
  return %sum : tensor<4x64xf64>
}

// -----

func.func @odd_width(%a: tensor<4x60xf32>) -> tensor<4x60xf32> {
  %empty = tensor.empty() : tensor<4x60xf32>
  // expected-error @+1 {{'linalg.add' op has no kernel on a GPU: 'pair' is for rows of a multiple of 8 elements, not 'tensor<4x60xf32>'}}
  %sum = linalg.add ins(%a, %a : tensor<4x60xf32>, tensor<4x60xf32>) outs(%empty : tensor<4x60xf32>) -> tensor<4x60xf32>
  return %sum : tensor<4x60xf32>
}

// -----

// More steps than a program has.
func.func @long(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %empty = tensor.empty() : tensor<4x64xf32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x64xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%x: f32, %unused: f32):
    %x1 = math.exp %x : f32
    %p1 = arith.mulf %x1, %x : f32
    %x2 = arith.addf %p1, %x1 : f32
    %p2 = arith.mulf %x2, %x : f32
    %x3 = arith.addf %p2, %x2 : f32
    %p3 = arith.mulf %x3, %x : f32
    %x4 = arith.addf %p3, %x3 : f32
    %p4 = arith.mulf %x4, %x : f32
    %x5 = arith.addf %p4, %x4 : f32
    linalg.yield %x5 : f32
  } -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// A column that is not the loop's, and half a row.
func.func @other_columns(%ids: tensor<4xi32>, %table: tensor<272x64xbf16>) -> (tensor<4x64xbf16>, tensor<4x32xbf16>) {
  %empty = tensor.empty() : tensor<4x64xbf16>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %x = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%empty : tensor<4x64xbf16>) {
  ^bb0(%id: i32, %unused: bf16):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 0 : index
    %value = tensor.extract %table[%row, %column] : tensor<272x64xbf16>
    linalg.yield %value : bf16
  } -> tensor<4x64xbf16>
  %half = tensor.empty() : tensor<4x32xbf16>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%half : tensor<4x32xbf16>) {
  ^bb0(%id: i32, %unused: bf16):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<272x64xbf16>
    linalg.yield %value : bf16
  } -> tensor<4x32xbf16>
  return %x, %y : tensor<4x64xbf16>, tensor<4x32xbf16>
}

// -----

// The last of the largest, not the first.
func.func @last_largest(%x: tensor<4x272xf32>) -> tensor<4xi32> {
  %least = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %best0 = tensor.empty() : tensor<4xf32>
  %place0 = tensor.empty() : tensor<4xi32>
  // expected-error @+1 {{'linalg.fill' op has no kernel on a GPU}}
  %best = linalg.fill ins(%least : f32) outs(%best0 : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'linalg.fill' op has no kernel on a GPU}}
  %place = linalg.fill ins(%first : i32) outs(%place0 : tensor<4xi32>) -> tensor<4xi32>
  // expected-error @+1 {{'linalg.generic' op has no kernel on a GPU}}
  %y:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x272xf32>) outs(%best, %place : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%value: f32, %largest: f32, %where: i32):
    %column = linalg.index 1 : index
    %here = arith.index_cast %column : index to i32
    %more = arith.cmpf oge, %value, %largest : f32
    %next = arith.select %more, %value, %largest : f32
    %next_place = arith.select %more, %here, %where : i32
    linalg.yield %next, %next_place : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %y#1 : tensor<4xi32>
}

// -----

func.func @reads(%x: tensor<4xi32>, %i: index) -> i32 {
  // expected-error @+1 {{'tensor.extract' op has no kernel on a GPU}}
  %y = tensor.extract %x[%i] : tensor<4xi32>
  return %y : i32
}

// -----

func.func @constant() -> tensor<4xf32> {
  // expected-error @+1 {{'arith.constant' op has no kernel on a GPU}}
  %y = arith.constant dense<1.0> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @per_angle(%x: tensor<4x2x64xf32>, %p: tensor<32x4xi32>, %f: tensor<512x64xf32>) -> tensor<4x2x64xf32> {
  // expected-error @+1 {{has a position an angle: kv-cuda has a kernel for one a row}}
  %y = kv.rope %x, %p, %f : tensor<4x2x64xf32>, tensor<32x4xi32>, tensor<512x64xf32>
  return %y : tensor<4x2x64xf32>
}

// -----

func.func @odd_heads(%x: tensor<4x2x36xf32>, %p: tensor<4xi32>, %f: tensor<512x32xf32>) -> tensor<4x2x36xf32> {
  // expected-error @+1 {{has heads of 36 elements: kv-cuda has a kernel for multiples of 8}}
  %y = kv.rope %x, %p, %f : tensor<4x2x36xf32>, tensor<4xi32>, tensor<512x32xf32>
  return %y : tensor<4x2x36xf32>
}

// -----

func.func @handle(%kv: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @+1 {{must be resolved and on tensors: run kv-resolve-collections before}}
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

func.func @unknown_rows(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @+1 {{has as many rows as row_offsets say, which lies on the device: give a static size, or rotate by it what stands before}}
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

// Angles of positions, as a graph that was raised computes them.
func.func @angles(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %to: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{is computed with: kv-cuda has kernels that rotate by positions (kv.rope) or look them up, and none for other arithmetic with them}}
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  %a = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>], iterator_types = ["parallel"]} outs(%to : tensor<?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %n = tensor.extract %p[%i] : tensor<?xi32>
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// -----

func.func @no_kernel(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{is not by the kernel 'cuda': run kv-select-kernel{target=cuda} before}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @no_plan(%b: memref<?x2x2x16x1x64xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x64xbf16>, %layer: index) -> tensor<?x1x64xbf16> {
  // expected-error @+1 {{has no plan, which the runtime function needs: run kv-select-kernel before}}
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 1.0 {kv.kernel = #kv.kernel<cuda>}
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// -----

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
func.func @store_on_buffers(%b: memref<?x2x2x16x1x64xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>,
    %ro: memref<?xi32>, %k: memref<?x1x64xbf16>, %layer: index) {
  // expected-error @+1 {{'kv.store' op is on buffers: kv-form-launches takes tensors}}
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro {kv.kernel = #kv.kernel<cuda>}
      : memref<?x1x64xbf16>, memref<?x1x64xbf16>
        into (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
  return
}

// -----

// Experts: on buffers, of rows that are no chunks, of packed dense weights, of
// rows that the module wants rounded to another type.
func.func @experts_of_odd_rows(%x: tensor<4x12xf32>, %e: tensor<4x2xi32>, %w: tensor<128x12xbf16>) -> tensor<4x2x16xf32> {
  // expected-error @+1 {{'kv.expert_matmul' op has no kernel on a GPU: 'expertMatmul' is for rows of a multiple of 8 elements, not 'tensor<4x12xf32>'}}
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<4x12xf32>, tensor<128x12xbf16> experts tensor<4x2xi32> -> tensor<4x2x16xf32>
  return %y : tensor<4x2x16xf32>
}

// -----

func.func @experts_of_packed_weights(%x: tensor<4x64xf32>, %e: tensor<4x2xi32>, %w: tensor<8x64x16xbf16>) -> tensor<4x2x16xf32> {
  // expected-error @+1 {{'kv.expert_matmul' op has no kernel on a GPU: 'expertMatmul' is for row-major weights, not 'tensor<8x64x16xbf16>'}}
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<4x64xf32>, tensor<8x64x16xbf16> experts tensor<4x2xi32> -> tensor<4x2x16xf32>
  return %y : tensor<4x2x16xf32>
}

// -----

module attributes {kv.activations = f16} {
  func.func @experts_of_other_rows(%x: tensor<4x64xf32>, %e: tensor<4x2xi32>, %w: tensor<128x64xbf16>) -> tensor<4x2x16xf32> {
    // expected-error @+1 {{'kv.expert_matmul' op has no kernel on a GPU: 'kv.activations' is 'f16', and 'matmul' rounds rows to its weight's 'bf16'}}
    %y = kv.expert_matmul %x, %w experts(%e)
        : tensor<4x64xf32>, tensor<128x64xbf16> experts tensor<4x2xi32> -> tensor<4x2x16xf32>
    return %y : tensor<4x2x16xf32>
  }
}

// -----

func.func @many_groups(%x: tensor<?x66xf32>) -> tensor<?x66xf32> attributes {kv.entry} {
  // expected-error @+1 {{: 'keepGroups' is for at most 32 groups, not 33}}
  %y = kv.keep_groups %x groups 33 keep 2 best 1 : tensor<?x66xf32> -> tensor<?x66xf32>
  return %y : tensor<?x66xf32>
}

// -----

func.func @route_on_buffers(%l: memref<4x8xf32>, %e: memref<4x2xi32>, %s: memref<4x2xf32>) {
  // expected-error @+1 {{'kv.route' op is on buffers: kv-form-launches takes tensors}}
  kv.route %l outs(%e, %s) : memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>
  return
}

// -----

// A quantised weight whose rows are not rounded is none that is multiplied.
func.func @dequantised(%x: tensor<4x64xf32>, %w: tensor<2x2x288xi8>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
  // expected-error @+1 {{'kv.dequantize' op has no kernel on a GPU: kv-cuda has kernels for}}
  %d = kv.dequantize %w format <q4_0> : tensor<2x2x288xi8> -> tensor<32x64xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %d : tensor<4x64xf32>, tensor<32x64xf32>) outs(%zeros : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

func.func @gathered_numbers(%x: tensor<?x16xi32>) -> tensor<?x32xi32> {
  // expected-error @+1 {{makes 'tensor<?x32xi32>' of 'tensor<?x16xi32>': kv-cuda gathers f32, bf16 and f16, by multiples of 8 elements}}
  %y = kv.gather %x dim 1 shard 16 of 32 ranks 2 : tensor<?x16xi32> -> tensor<?x32xi32>
  return %y : tensor<?x32xi32>
}

// -----

func.func @gathered_eights(%x: tensor<?x16xf32>) -> tensor<?x20xf32> {
  // expected-error @+1 {{by multiples of 8 elements}}
  %y = kv.gather %x dim 1 shard 16 of 20 ranks 2 : tensor<?x16xf32> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

func.func @gathered_rows(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{gathers runs along dimension 0, of unknown size: kv-cuda takes dimensions of known size}}
  %y = kv.gather %x dim 0 shard 16 of 32 ranks 2 : tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What writes to buffers has no result to launch for.
func.func @buffers(%x: memref<?x2x8xbf16>, %y: memref<?x3x8xbf16>) {
  // expected-error @below {{is on buffers: kv-form-launches takes tensors}}
  kv.gather %x dim 1 shard 2 of 3 ranks 4 copies 2 outs(%y) : memref<?x2x8xbf16> outs memref<?x3x8xbf16>
  return
}

// -----

// A norm by the sums of other heads' rows.
func.func @norm_of_others(%x: tensor<8x8x64xf32>, %w: tensor<64xf32>, %e: tensor<8x8xf32>) -> tensor<8x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  // expected-error @+1 {{has no kernel on a GPU}}
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-error @+1 {{has no kernel on a GPU}}
  %sums = linalg.generic {indexing_maps = [affine_map<(h, t, d) -> (t, h, d)>, affine_map<(h, t, d) -> (h, t)>],
                          iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x8x64xf32>) outs(%zeros : tensor<8x8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %square = arith.mulf %v, %v : f32
    %more = arith.addf %sum, %square : f32
    linalg.yield %more : f32
  } -> tensor<8x8xf32>
  // expected-error @+1 {{has no kernel on a GPU}}
  %n = linalg.generic {indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>, affine_map<(t, h, d) -> (t, h)>,
                                        affine_map<(t, h, d) -> (d)>, affine_map<(t, h, d) -> (t, h, d)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sums, %w : tensor<8x8x64xf32>, tensor<8x8xf32>, tensor<64xf32>) outs(%x : tensor<8x8x64xf32>) {
  ^bb0(%v: f32, %sum: f32, %weight: f32, %out: f32):
    %mean = arith.divf %sum, %width : f32
    %shifted = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %shifted : f32
    %unit = arith.mulf %v, %root : f32
    %y = arith.mulf %unit, %weight : f32
    linalg.yield %y : f32
  } -> tensor<8x8x64xf32>
  return %n : tensor<8x8x64xf32>
}
