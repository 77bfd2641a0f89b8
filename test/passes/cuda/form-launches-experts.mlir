// Mixtures of experts as launches: what a row chooses, one order of the choices
// for all products that take it, and the sum of what the experts give.
//
// RUN: kv-opt --kv-form-launches="chips=sm_80,sm_90a" --canonicalize --cse --split-input-file %s | FileCheck %s
// RUN: kv-opt --kv-form-launches --split-input-file %s -o /dev/null --remarks-filter=kv-form-launches 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
//
// REMARK-DAG: [Passed] Launch | {{.*}}"'route' makes tensor<?x2xi32>"
// REMARK-DAG: [Passed] Launch | {{.*}}"'shares' makes tensor<?x2xf32>"
// REMARK-DAG: [Passed] Launch | {{.*}}"'expertMatmul' makes tensor<?x2x32xf32>"
// REMARK-DAG: [Passed] Cast | {{.*}}"tensor<?x64xf32> to bf16: the rows of an expert's product"
// REMARK-DAG: [Passed] Launch | {{.*}}"'expertQuantMatmul' makes tensor<?x2x64xf32>"
// REMARK-DAG: [Passed] Launch | {{.*}}"'sumChoices' makes tensor<?x64xf32>"

#tcn_of_tn = affine_map<(t, n, c) -> (t, c, n)>
#tc_of_tn = affine_map<(t, n, c) -> (t, c)>
#tn = affine_map<(t, n, c) -> (t, n)>
#tcn = affine_map<(t, c, n) -> (t, c, n)>
#tc = affine_map<(t, c, n) -> (t, c)>

// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x64xf32>, %[[L:[a-z0-9]*]]: tensor<?x8xf32>, %[[G:[a-z0-9]*]]: tensor<256x64xbf16>, %[[U:[a-z0-9]*]]: tensor<256x64xf32>, %[[D:[a-z0-9]*]]: tensor<32x1x288xi8>
// CHECK: %[[T:.*]] = tensor.dim %[[L]], %c0
// CHECK: %[[E:.*]] = kv.rt.launch "route"(%[[L]]) outs(%{{.*}}) : tensor<?x8xf32> outs tensor<?x2xi32>
// CHECK: %[[CHOICES:.*]] = arith.muli %[[T]], %c2 : index
// CHECK: %[[SOME:.*]] = arith.minsi %[[CHOICES]], %c8 : index
// CHECK: %[[FULL:.*]] = arith.divui %[[CHOICES]], %c64 : index
// CHECK: %[[TILES:.*]] = arith.addi %[[FULL]], %[[SOME]] : index
// CHECK: tensor.empty(%[[TILES]]) : tensor<?x66xi32>
// CHECK: %[[O:.*]] = kv.rt.launch "orderExperts"(%[[E]], %c8_i64) outs(%{{.*}}) : tensor<?x2xi32>, i64 outs tensor<?x66xi32>
// CHECK: %[[S:.*]] = kv.rt.launch "shares"(%[[L]], %[[E]], %c1_i32) outs(%{{.*}}) : tensor<?x8xf32>, tensor<?x2xi32>, i32 outs tensor<?x2xf32>
// CHECK: %[[N:.*]] = kv.rt.launch "cast"(%[[X]]) outs(%{{.*}}) : tensor<?x64xf32> outs tensor<?x64xbf16>
// CHECK: %[[GATE:.*]] = kv.rt.launch "expertMatmul"(%[[N]], %[[G]], %[[O]]) outs(%{{.*}}) : tensor<?x64xbf16>, tensor<256x64xbf16>, tensor<?x66xi32> outs tensor<?x2x32xf32>
// CHECK: %[[UP:.*]] = kv.rt.launch "expertMatmul"(%[[X]], %[[U]], %[[O]])
// CHECK: %[[SUM:.*]] = kv.rt.launch "pair"
// CHECK: %[[R:.*]] = kv.rt.launch "roundRows"(%[[SUM]]) outs(%{{.*}}) : tensor<?x32xf32> outs tensor<?x48xi8>
// CHECK: %[[DOWN:.*]] = kv.rt.launch "expertQuantMatmul"(%[[R]], %[[D]], %c1_i32, %[[O]]) outs(%{{.*}}) : tensor<?x48xi8>, tensor<32x1x288xi8>, i32, tensor<?x66xi32> outs tensor<?x2x64xf32>
// CHECK: %[[Y:.*]] = kv.rt.launch "sumChoices"(%[[DOWN]], %[[S]], %cst{{.*}}) outs(%{{.*}}) : tensor<?x2x64xf32>, tensor<?x2xf32>, f32 outs tensor<?x64xf32>
// CHECK: return %[[Y]]
func.func @layer(%x: tensor<?x64xf32>, %l: tensor<?x8xf32>, %g: tensor<256x64xbf16>, %u: tensor<256x64xf32>,
    %d: tensor<32x1x288xi8>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e, %s = kv.route %l normalised : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %gate, %up = kv.expert_matmul %x, %g, %u experts(%e)
      : tensor<?x64xf32>, tensor<256x64xbf16>, tensor<256x64xf32> experts tensor<?x2xi32>
      -> tensor<?x2x32xf32>, tensor<?x2x32xf32>
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %wide = tensor.empty(%t) : tensor<?x2x32xf32>
  %both = linalg.add ins(%gate, %up : tensor<?x2x32xf32>, tensor<?x2x32xf32>) outs(%wide : tensor<?x2x32xf32>) -> tensor<?x2x32xf32>
  %down = kv.expert_matmul %both, %d experts(%e) {formats = [#kv.quant<q4_0>]}
      : tensor<?x2x32xf32>, tensor<32x1x288xi8> experts tensor<?x2xi32> -> tensor<?x2x64xf32>
  %empty = tensor.empty(%t) : tensor<?x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#tcn_of_tn, #tc_of_tn, #tn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%down, %s : tensor<?x2x64xf32>, tensor<?x2xf32>) outs(%zeros : tensor<?x64xf32>) {
  ^bb0(%value: f32, %share: f32, %sum: f32):
    %scale = arith.constant 2.5 : f32
    %scaled = arith.mulf %share, %scale : f32
    %part = arith.mulf %value, %scaled : f32
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// A bias of each choice's expert is rows of a table, added. Experts may be an
// argument, and as many rows known: 10 choices have 4 tiles at most.
#tcn = affine_map<(t, c, n) -> (t, c, n)>
#tc = affine_map<(t, c, n) -> (t, c)>
// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<5x64xf32>, %[[E:[a-z0-9]*]]: tensor<5x2xi32>, %[[W:[a-z0-9]*]]: tensor<64x64xbf16>, %[[B:[a-z0-9]*]]: tensor<4x16xf32>
// CHECK-DAG: %[[O:.*]] = kv.rt.launch "orderExperts"(%[[E]], %c4_i64) outs(%{{.*}}) : tensor<5x2xi32>, i64 outs tensor<4x66xi32>
// CHECK: %[[Y:.*]] = kv.rt.launch "expertMatmul"
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1], [2]]
// CHECK: %[[IDS:.*]] = tensor.collapse_shape %[[E]] {{\[\[}}0, 1]]
// CHECK: %[[ADDED:.*]] = kv.rt.launch "embedding"(%[[IDS]], %[[B]]) outs(%{{.*}}) : tensor<10xi32>, tensor<4x16xf32> outs tensor<10x16xf32>
// CHECK: %[[Z:.*]] = kv.rt.launch "pair"(%c0_i32, %[[ROWS]], %[[ADDED]])
func.func @bias(%x: tensor<5x64xf32>, %e: tensor<5x2xi32>, %w: tensor<64x64xbf16>, %b: tensor<4x16xf32>)
    -> tensor<5x2x16xf32> {
  %y = kv.expert_matmul %x, %w experts(%e)
      : tensor<5x64xf32>, tensor<64x64xbf16> experts tensor<5x2xi32> -> tensor<5x2x16xf32>
  %empty = tensor.empty() : tensor<5x2x16xf32>
  %z = linalg.generic {indexing_maps = [#tcn, #tc, #tcn], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %e : tensor<5x2x16xf32>, tensor<5x2xi32>) outs(%empty : tensor<5x2x16xf32>) {
  ^bb0(%value: f32, %expert: i32, %unused: f32):
    %row = arith.index_cast %expert : i32 to index
    %column = linalg.index 2 : index
    %bias = tensor.extract %b[%row, %column] : tensor<4x16xf32>
    %sum = arith.addf %value, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<5x2x16xf32>
  return %z : tensor<5x2x16xf32>
}

// -----

// An MLP that all rows share, behind a gate of each row: a product with one
// column and what it scales are one launch, which may write 16 bits.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @gate(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x64xf32>, %[[M:[a-z0-9]*]]: tensor<?x32xf32>, %[[W:[a-z0-9]*]]: tensor<1x32xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[W]]
// CHECK-NOT: linalg
// CHECK: %[[G:.*]] = kv.rt.launch "gateRows"(%[[X]], %[[M]], %[[V]]) outs(%{{.*}}) : tensor<?x64xf32>, tensor<?x32xf32>, tensor<32xf32> outs tensor<?x64xbf16> -> tensor<?x64xbf16>
// CHECK-NEXT: return %[[G]]
func.func @gate(%x: tensor<?x64xf32>, %m: tensor<?x32xf32>, %w: tensor<1x32xf32>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %vector = tensor.collapse_shape %w [[0, 1]] : tensor<1x32xf32> into tensor<32xf32>
  %column = tensor.empty(%rows) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %logits = linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%m, %vector : tensor<?x32xf32>, tensor<32xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %weight: f32, %sum: f32):
    %part = arith.mulf %weight, %value : f32
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xbf16>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %logits : tensor<?x64xf32>, tensor<?xf32>) outs(%empty : tensor<?x64xbf16>) {
  ^bb0(%value: f32, %logit: f32, %unused: bf16):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %logit : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %exp, %one : f32
    %gated = arith.divf %value, %below : f32
    %narrow = arith.truncf %gated : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
