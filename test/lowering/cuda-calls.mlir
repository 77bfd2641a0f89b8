// The calls of a model of two layers on a GPU, as kv-import writes it: fourteen a
// layer, one plan for all. Nothing else is called, allocated or copied, and no
// element of a tensor is read: the step can be captured as a graph.
//
// RUN: kv-opt --kv-cuda="chips=sm_80,sm_90a" %s -o %t.mlir --mlir-print-ir-after=convert-kv-to-runtime 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=kv.rt.call --implicit-check-not="memref.{{copy|load|store|alloc}}" --implicit-check-not=kv.rt.arena_return
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t.mlir --implicit-check-not="llvm.call @"
//
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr, %[[X:[a-z0-9]*]]: memref<?x128xf32>
// CHECK-SAME: %[[PLAN:[a-z0-9]*]]: memref<?xi8>, %[[OUT:[a-z0-9]*]]: memref<?x128xf32>)
// CHECK: kv.rt.call "norm"(%[[CTX]], %[[X]], {{.*}} : (memref<?x128xf32>, memref<128xf32>, f32, f32, memref<?x128xbf16>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<128x128xbf16>, memref<?x128xf32>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<64x128xbf16>, memref<?x64xf32>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<64x128xbf16>, memref<?x64xf32>)
// CHECK: kv.rt.call "ropeStore"({{.*}} : (memref<?x2x2x16x1x64xbf16>, memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, i64, memref<?x2x64xf32>, memref<?x1x64xf32>, memref<?x1x64xf32>, memref<?xi32>, memref<512x64xf32>, i32, memref<512x64xf32>, memref<512x64xf32>, f32, f32, i32, memref<?x2x64xbf16>)
// CHECK: kv.rt.call "plannedAttention"({{.*}}, %[[PLAN]], {{.*}} absent [1, 10, 15] : (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x2xi32>, memref<?xi8>, i64, memref<?x2x64xbf16>, memref<?x2x64xbf16>, f32, f32, i32, i64)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<128x128xbf16>, memref<?x128xf32>)
// CHECK: kv.rt.call "pair"({{.*}} : (i32, memref<?x128xf32>, memref<?x128xf32>, memref<?x128xf32>)
// CHECK: kv.rt.call "norm"({{.*}} : (memref<?x128xf32>, memref<128xf32>, f32, f32, memref<?x128xbf16>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<256x128xbf16>, memref<?x256xf32>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x128xbf16>, memref<256x128xbf16>, memref<?x256xf32>)
// CHECK: kv.rt.call "pair"({{.*}} : (i32, memref<?x256xf32>, memref<?x256xf32>, memref<?x256xbf16>)
// CHECK: kv.rt.call "matmul"({{.*}} : (memref<?x256xbf16>, memref<128x256xbf16>, memref<?x128xf32>)
// CHECK: kv.rt.call "pair"({{.*}}, %[[OUT]]) : (i32, memref<?x128xf32>, memref<?x128xf32>, memref<?x128xf32>)
//
// CHECK-LABEL: func.func private @forward(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr,
// CHECK: %[[LOGITS:.*]] = kv.rt.argument %{{.*}} : memref<?x272xf32>
// CHECK: kv.rt.call "checkStep"(%[[CTX]], {{.*}} : (memref<?xi32>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>, i64, i64, i64, i64)
// CHECK: kv.rt.call "planBytes"(%[[CTX]], {{.*}} : (memref<?x2x2x16x1x64xbf16>, i64, i64, i64) -> i64
// CHECK: %[[P:.*]] = kv.rt.arena_alloc %[[CTX]](%{{.*}}) : memref<?xi8>
// CHECK: kv.rt.call "plan"(%[[CTX]], {{.*}}, %[[P]]) : (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x2xi32>, i64, i64, i32, i64, memref<?xi8>)
// CHECK: kv.rt.call "positions"({{.*}} : (memref<?xi32>, memref<?xi32>, memref<?xi32>)
// CHECK: kv.rt.call "embedding"({{.*}} : (memref<?xi32>, memref<272x128xbf16>, memref<?x128xf32>)
// CHECK: call @layer(%[[CTX]], {{.*}}, %[[P]], %[[A:[0-9]*]])
// CHECK: call @layer(%[[CTX]], %[[A]], {{.*}}, %[[P]], %[[B:[0-9]*]])
// CHECK: kv.rt.call "embedding"({{.*}}, %[[B]], {{.*}} : (memref<?xi32>, memref<?x128xf32>, memref<?x128xf32>)
// CHECK: kv.rt.call "norm"(
// CHECK: kv.rt.call "matmul"({{.*}}, %[[LOGITS]]) : (memref<?x128xbf16>, memref<272x128xbf16>, memref<?x272xf32>)
//
// What draws from the logits is one call.
// CHECK-LABEL: func.func private @sample(
// CHECK: kv.rt.call "sample"({{.*}} : (memref<?x272xf32>, memref<?xf32>, memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<?xi64>, memref<?xi32>, memref<?xi32>)
//
// LLVM: llvm.func @kv_entry_forward(
// LLVM: llvm.call @forward(
// LLVM: llvm.call @layer(
// LLVM: llvm.call @layer(
// LLVM: llvm.func @kv_entry_sample(
// LLVM: llvm.call @sample(

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#row = affine_map<(i) -> (i)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

module attributes {kv.model = {architecture = "llama", max_seq_len = 512 : i64,
                               name = "hf", vocab_size = 272 : i64}} {
  func.func private @rms_norm(%x: tensor<?x128xf32>, %weight: tensor<128xf32>) -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %width = arith.constant 128.0 : f32
    %eps = arith.constant 1.0e-05 : f32
    %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
    %column = tensor.empty(%rows) : tensor<?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
    %squares = linalg.generic {indexing_maps = [#ij, #i],
                               iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x128xf32>) outs(%zeros : tensor<?xf32>) {
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
    %empty = tensor.empty(%rows) : tensor<?x128xf32>
    %result = linalg.generic {indexing_maps = [#ij, #i, #j, #ij],
                              iterator_types = ["parallel", "parallel"]}
        ins(%x, %scales, %weight : tensor<?x128xf32>, tensor<?xf32>, tensor<128xf32>)
        outs(%empty : tensor<?x128xf32>) {
    ^bb0(%value: f32, %scale: f32, %w: f32, %unused: f32):
      %normal = arith.mulf %value, %scale : f32
      %weighted = arith.mulf %normal, %w : f32
      linalg.yield %weighted : f32
    } -> tensor<?x128xf32>
    return %result : tensor<?x128xf32>
  }
  func.func private @linear_q(%x: tensor<?x128xf32>, %w: tensor<128x128xbf16>)
      -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
    %empty = tensor.empty(%rows) : tensor<?x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x128xf32>) -> tensor<?x128xf32>
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : tensor<?x128xf32>, tensor<128x128xbf16>)
        outs(%zeros : tensor<?x128xf32>) -> tensor<?x128xf32>
    return %y : tensor<?x128xf32>
  }
  func.func private @linear_kv(%x: tensor<?x128xf32>, %w: tensor<64x128xbf16>)
      -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
    %empty = tensor.empty(%rows) : tensor<?x64xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : tensor<?x128xf32>, tensor<64x128xbf16>)
        outs(%zeros : tensor<?x64xf32>) -> tensor<?x64xf32>
    return %y : tensor<?x64xf32>
  }
  func.func private @linear_up(%x: tensor<?x128xf32>, %w: tensor<256x128xbf16>)
      -> tensor<?x256xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
    %empty = tensor.empty(%rows) : tensor<?x256xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : tensor<?x128xf32>, tensor<256x128xbf16>)
        outs(%zeros : tensor<?x256xf32>) -> tensor<?x256xf32>
    return %y : tensor<?x256xf32>
  }
  func.func private @linear_down(%x: tensor<?x256xf32>, %w: tensor<128x256xbf16>)
      -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : tensor<?x256xf32>
    %empty = tensor.empty(%rows) : tensor<?x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x128xf32>) -> tensor<?x128xf32>
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : tensor<?x256xf32>, tensor<128x256xbf16>)
        outs(%zeros : tensor<?x128xf32>) -> tensor<?x128xf32>
    return %y : tensor<?x128xf32>
  }
  func.func private @silu_mul(%gate: tensor<?x256xf32>, %up: tensor<?x256xf32>) -> tensor<?x256xf32> {
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %gate, %c0 : tensor<?x256xf32>
    %empty = tensor.empty(%rows) : tensor<?x256xf32>
    %y = linalg.generic {indexing_maps = [#ij, #ij, #ij],
                         iterator_types = ["parallel", "parallel"]}
        ins(%gate, %up : tensor<?x256xf32>, tensor<?x256xf32>) outs(%empty : tensor<?x256xf32>) {
    ^bb0(%g: f32, %u: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %g : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %silu = arith.divf %g, %below : f32
      %product = arith.mulf %silu, %u : f32
      linalg.yield %product : f32
    } -> tensor<?x256xf32>
    return %y : tensor<?x256xf32>
  }
  func.func private @add(%a: tensor<?x128xf32>, %b: tensor<?x128xf32>) -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %a, %c0 : tensor<?x128xf32>
    %empty = tensor.empty(%rows) : tensor<?x128xf32>
    %y = linalg.generic {indexing_maps = [#ij, #ij, #ij],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x128xf32>, tensor<?x128xf32>) outs(%empty : tensor<?x128xf32>) {
    ^bb0(%left: f32, %right: f32, %unused: f32):
      %sum = arith.addf %left, %right : f32
      linalg.yield %sum : f32
    } -> tensor<?x128xf32>
    return %y : tensor<?x128xf32>
  }
  func.func private @layer(
      %x: tensor<?x128xf32>, %kv: !kv, %layer: index,
      %row_offsets: tensor<?xi32>, %positions: tensor<?xi32>, %freqs: tensor<512x64xf32>,
      %attn_norm: tensor<128xf32>,
      %wq: tensor<128x128xbf16>,
      %wk: tensor<64x128xbf16>,
      %wv: tensor<64x128xbf16>,
      %wo: tensor<128x128xbf16>,
      %mlp_norm: tensor<128xf32>,
      %gate: tensor<256x128xbf16>,
      %up: tensor<256x128xbf16>,
      %down: tensor<128x256xbf16>)
      -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %x, %c0 : tensor<?x128xf32>
    %h = call @rms_norm(%x, %attn_norm) : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
    %q = call @linear_q(%h, %wq)
        : (tensor<?x128xf32>, tensor<128x128xbf16>) -> tensor<?x128xf32>
    %k = call @linear_kv(%h, %wk)
        : (tensor<?x128xf32>, tensor<64x128xbf16>) -> tensor<?x64xf32>
    %v = call @linear_kv(%h, %wv)
        : (tensor<?x128xf32>, tensor<64x128xbf16>) -> tensor<?x64xf32>
    %q_heads = tensor.expand_shape %q [[0], [1, 2]] output_shape [%rows, 2, 64]
        : tensor<?x128xf32> into tensor<?x2x64xf32>
    %k_heads = tensor.expand_shape %k [[0], [1, 2]] output_shape [%rows, 1, 64]
        : tensor<?x64xf32> into tensor<?x1x64xf32>
    %v_heads = tensor.expand_shape %v [[0], [1, 2]] output_shape [%rows, 1, 64]
        : tensor<?x64xf32> into tensor<?x1x64xf32>
    %q_rope = kv.rope %q_heads, %positions, %freqs
        : tensor<?x2x64xf32>, tensor<?xi32>, tensor<512x64xf32>
    %k_rope = kv.rope %k_heads, %positions, %freqs
        : tensor<?x1x64xf32>, tensor<?xi32>, tensor<512x64xf32>
    kv.store %k_rope, %v_heads into %kv[%layer] rows %row_offsets
        : tensor<?x1x64xf32>, tensor<?x1x64xf32> into !kv, tensor<?xi32>
    %o_heads = kv.attention %q_rope in %kv[%layer] rows %row_offsets mask <causal> scale 0.125
        : tensor<?x2x64xf32> in !kv, tensor<?xi32> -> tensor<?x2x64xf32>
    %o = tensor.collapse_shape %o_heads [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
    %attended = call @linear_q(%o, %wo)
        : (tensor<?x128xf32>, tensor<128x128xbf16>) -> tensor<?x128xf32>
    %middle = call @add(%x, %attended) : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
    %m = call @rms_norm(%middle, %mlp_norm) : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
    %g = call @linear_up(%m, %gate)
        : (tensor<?x128xf32>, tensor<256x128xbf16>) -> tensor<?x256xf32>
    %u = call @linear_up(%m, %up)
        : (tensor<?x128xf32>, tensor<256x128xbf16>) -> tensor<?x256xf32>
    %a = call @silu_mul(%g, %u) : (tensor<?x256xf32>, tensor<?x256xf32>) -> tensor<?x256xf32>
    %d = call @linear_down(%a, %down)
        : (tensor<?x256xf32>, tensor<128x256xbf16>) -> tensor<?x128xf32>
    %y = call @add(%middle, %d) : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
    return %y : tensor<?x128xf32>
  }
  func.func @forward(
      %tokens: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]},
      %row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]},
      %logit_rows: tensor<?xi32> {kv.name = "logit_rows", kv.dims = ["R"]},
      %kv: !kv {kv.name = "kv"},
      %freqs: tensor<512x64xf32> {kv.weight = "rope.freqs"},
      %embed: tensor<272x128xbf16> {kv.weight = "model.embed_tokens.weight"},
      %l0_attn_norm: tensor<128xf32> {kv.weight = "model.layers.0.input_layernorm.weight"},
      %l0_wq: tensor<128x128xbf16> {kv.weight = "model.layers.0.self_attn.q_proj.weight"},
      %l0_wk: tensor<64x128xbf16> {kv.weight = "model.layers.0.self_attn.k_proj.weight"},
      %l0_wv: tensor<64x128xbf16> {kv.weight = "model.layers.0.self_attn.v_proj.weight"},
      %l0_wo: tensor<128x128xbf16> {kv.weight = "model.layers.0.self_attn.o_proj.weight"},
      %l0_mlp_norm: tensor<128xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"},
      %l0_gate: tensor<256x128xbf16> {kv.weight = "model.layers.0.mlp.gate_proj.weight"},
      %l0_up: tensor<256x128xbf16> {kv.weight = "model.layers.0.mlp.up_proj.weight"},
      %l0_down: tensor<128x256xbf16> {kv.weight = "model.layers.0.mlp.down_proj.weight"},
      %l1_attn_norm: tensor<128xf32> {kv.weight = "model.layers.1.input_layernorm.weight"},
      %l1_wq: tensor<128x128xbf16> {kv.weight = "model.layers.1.self_attn.q_proj.weight"},
      %l1_wk: tensor<64x128xbf16> {kv.weight = "model.layers.1.self_attn.k_proj.weight"},
      %l1_wv: tensor<64x128xbf16> {kv.weight = "model.layers.1.self_attn.v_proj.weight"},
      %l1_wo: tensor<128x128xbf16> {kv.weight = "model.layers.1.self_attn.o_proj.weight"},
      %l1_mlp_norm: tensor<128xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"},
      %l1_gate: tensor<256x128xbf16> {kv.weight = "model.layers.1.mlp.gate_proj.weight"},
      %l1_up: tensor<256x128xbf16> {kv.weight = "model.layers.1.mlp.up_proj.weight"},
      %l1_down: tensor<128x256xbf16> {kv.weight = "model.layers.1.mlp.down_proj.weight"},
      %final_norm: tensor<128xf32> {kv.weight = "model.norm.weight"})
      -> (tensor<?x272xf32> {kv.name = "logits", kv.dims = ["R"]})
      attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %positions = kv.positions %kv, %row_offsets : !kv, tensor<?xi32> -> tensor<?xi32>
    %x0_rows = tensor.dim %tokens, %c0 : tensor<?xi32>
    %x0_empty = tensor.empty(%x0_rows) : tensor<?x128xf32>
    %x0 = linalg.generic {indexing_maps = [#i, #ij],
                          iterator_types = ["parallel", "parallel"]}
        ins(%tokens : tensor<?xi32>) outs(%x0_empty : tensor<?x128xf32>) {
    ^bb0(%id: i32, %unused: f32):
      %row = arith.index_cast %id : i32 to index
      %column = linalg.index 1 : index
      %value = tensor.extract %embed[%row, %column] : tensor<272x128xbf16>
      %wide = arith.extf %value : bf16 to f32
      linalg.yield %wide : f32
    } -> tensor<?x128xf32>

    %x1 = call @layer(%x0, %kv, %c0, %row_offsets, %positions, %freqs,
        %l0_attn_norm, %l0_wq, %l0_wk, %l0_wv, %l0_wo, %l0_mlp_norm, %l0_gate, %l0_up, %l0_down)
        : (tensor<?x128xf32>, !kv, index, tensor<?xi32>, tensor<?xi32>, tensor<512x64xf32>,
           tensor<128xf32>, tensor<128x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<128xf32>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<128x256xbf16>)
        -> tensor<?x128xf32>
    %layer1 = arith.constant 1 : index
    %x2 = call @layer(%x1, %kv, %layer1, %row_offsets, %positions, %freqs,
        %l1_attn_norm, %l1_wq, %l1_wk, %l1_wv, %l1_wo, %l1_mlp_norm, %l1_gate, %l1_up, %l1_down)
        : (tensor<?x128xf32>, !kv, index, tensor<?xi32>, tensor<?xi32>, tensor<512x64xf32>,
           tensor<128xf32>, tensor<128x128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<128xf32>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<128x256xbf16>)
        -> tensor<?x128xf32>
    %last_rows = tensor.dim %logit_rows, %c0 : tensor<?xi32>
    %last_empty = tensor.empty(%last_rows) : tensor<?x128xf32>
    %last = linalg.generic {indexing_maps = [#i, #ij],
                          iterator_types = ["parallel", "parallel"]}
        ins(%logit_rows : tensor<?xi32>) outs(%last_empty : tensor<?x128xf32>) {
    ^bb0(%id: i32, %unused: f32):
      %row = arith.index_cast %id : i32 to index
      %column = linalg.index 1 : index
      %value = tensor.extract %x2[%row, %column] : tensor<?x128xf32>
      linalg.yield %value : f32
    } -> tensor<?x128xf32>
    %normal = call @rms_norm(%last, %final_norm) : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
    %logits_empty = tensor.empty(%last_rows) : tensor<?x272xf32>
    %logits_zero = linalg.fill ins(%zero : f32) outs(%logits_empty : tensor<?x272xf32>) -> tensor<?x272xf32>
    %logits = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%normal, %embed : tensor<?x128xf32>, tensor<272x128xbf16>)
        outs(%logits_zero : tensor<?x272xf32>) -> tensor<?x272xf32>
    return %logits : tensor<?x272xf32>
  }
}
