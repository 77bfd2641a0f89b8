#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> ()>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module attributes {kv.model = {architecture = "gemma3_text", max_seq_len = 64 : i64, name = "gemma3", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<32x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x32xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.q_norm.weight"}, %arg7: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.k_norm.weight"}, %arg8: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.gate_proj.weight"}, %arg9: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.up_proj.weight"}, %arg10: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.down_proj.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg12: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg13: tensor<16xf32> {kv.weight = "model.layers.0.pre_feedforward_layernorm.weight"}, %arg14: tensor<16xf32> {kv.weight = "model.layers.0.post_feedforward_layernorm.weight"}, %arg15: tensor<32x16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.weight"}, %arg16: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.k_proj.weight"}, %arg17: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.v_proj.weight"}, %arg18: tensor<16x32xf32> {kv.weight = "model.layers.1.self_attn.o_proj.weight"}, %arg19: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.q_norm.weight"}, %arg20: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.k_norm.weight"}, %arg21: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.gate_proj.weight"}, %arg22: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.up_proj.weight"}, %arg23: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.down_proj.weight"}, %arg24: tensor<16xf32> {kv.weight = "model.layers.1.input_layernorm.weight"}, %arg25: tensor<16xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"}, %arg26: tensor<16xf32> {kv.weight = "model.layers.1.pre_feedforward_layernorm.weight"}, %arg27: tensor<16xf32> {kv.weight = "model.layers.1.post_feedforward_layernorm.weight"}, %arg28: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg29: tensor<f32> {kv.weight = "model.embed_tokens.embed_scale"}, %arg30: tensor<4xf32> {kv.weight = "model.rotary_emb.full_attention_inv_freq"}, %arg31: tensor<4xf32> {kv.weight = "model.rotary_emb.full_attention_original_inv_freq"}, %arg32: tensor<4xf32> {kv.weight = "model.rotary_emb.sliding_attention_inv_freq"}, %arg33: tensor<4xf32> {kv.weight = "model.rotary_emb.sliding_attention_original_inv_freq"}) -> tensor<1x?x32xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8_i64 = arith.constant 8 : i64
    %c5_i64 = arith.constant 5 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c3_i64 = arith.constant 3 : i64
    %cst_0 = arith.constant 4.471500e-02 : f32
    %cst_1 = arith.constant 7.977240e-01 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant 9.9999999999999995E-7 : f64
    %cst_6 = arith.constant 1.600000e+01 : f32
    %c32_i64 = arith.constant 32 : i64
    %c16_i64 = arith.constant 16 : i64
    %cst_7 = arith.constant 8.000000e+00 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %238 = arith.index_cast %in : i64 to index
      %239 = linalg.index 2 : index
      %240 = arith.cmpi slt, %238, %c32 : index
      cf.assert %240, "index must be smaller than dim size"
      %241 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %241, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%238, %239] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %arg29 : tensor<1x?x16xf32>, tensor<f32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %5 = tensor.empty(%dim) : tensor<?xi64>
    %6 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%5 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %238 = linalg.index 0 : index
      %239 = arith.index_cast %238 : index to i64
      linalg.yield %239 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %6 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_8 = tensor.expand_shape %6 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %7 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %8 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_103: i64, %out: i1):
      %238 = arith.cmpi sle, %in, %in_103 : i64
      linalg.yield %238 : i1
    } -> tensor<1x1x?x?xi1>
    %9 = tensor.empty(%dim) : tensor<1x1x?x1xi64>
    %10 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x?x1xi64>) outs(%9 : tensor<1x1x?x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %238 = arith.subi %in, %c5_i64 : i64
      linalg.yield %238 : i64
    } -> tensor<1x1x?x1xi64>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %10 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_103: i64, %out: i1):
      %238 = arith.cmpi sgt, %in, %in_103 : i64
      linalg.yield %238 : i1
    } -> tensor<1x1x?x?xi1>
    %12 = linalg.generic {indexing_maps = [#map7, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4, %11 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_103: i1, %out: i1):
      %238 = arith.andi %in, %in_103 : i1
      linalg.yield %238 : i1
    } -> tensor<1x1x?x?xi1>
    %13 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %8 : tensor<1x1x?x?xi1>, tensor<1x1x?x?xi1>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_103: i1, %out: i1):
      %238 = arith.andi %in, %in_103 : i1
      linalg.yield %238 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_9 = tensor.expand_shape %6 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %14 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<1x?x1xi64>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %238 = arith.sitofp %in : i64 to f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %16 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %17 = linalg.generic {indexing_maps = [#map8, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %arg32 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%16 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %17, %17 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %18 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.cos %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x8xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.sin %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x8xf32>
    %21 = linalg.generic {indexing_maps = [#map8, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %arg30 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%16 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x4xf32>
    %concat_10 = tensor.concat dim(2) %21, %21 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat_10 : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.cos %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x8xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat_10 : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.sin %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x8xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%14 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%24 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %29 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %31 = tensor.empty() : tensor<16xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg11 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %32 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %34 = tensor.empty() : tensor<16x32xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<32x16xf32>) outs(%34 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %33 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %35 = tensor.empty(%dim) : tensor<?x32xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %37 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x32xf32>) outs(%36 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_11 = tensor.expand_shape %37 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    %38 = arith.cmpi slt, %0, %c0_i64 : i64
    %39 = arith.select %38, %c1_i64, %0 : i64
    %40 = arith.extui %38 : i1 to i64
    %41 = arith.addi %40, %c1_i64 : i64
    %42 = arith.muli %39, %c8_i64 : i64
    %43 = arith.cmpi sle, %41, %c1_i64 : i64
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %44 = arith.muli %0, %c32_i64 : i64
    %45 = arith.divsi %44, %42 : i64
    %46 = arith.select %38, %45, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %46, %45, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_11(%from_elements) : (tensor<1x?x32xf32>, tensor<4xi64>) -> tensor<1x?x4x8xf32>
    %47 = arith.index_cast %46 : i64 to index
    %48 = tensor.empty(%47) : tensor<1x4x?x8xf32>
    %transposed_12 = linalg.transpose ins(%reshape : tensor<1x?x4x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) permutation = [0, 2, 1, 3] 
    %49 = tensor.empty() : tensor<16x16xf32>
    %transposed_13 = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %50 = tensor.empty(%dim) : tensor<?x16xf32>
    %51 = linalg.fill ins(%cst : f32) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %52 = linalg.matmul ins(%collapsed, %transposed_13 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_14 = tensor.expand_shape %52 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %53 = arith.muli %0, %c16_i64 : i64
    %54 = arith.divsi %53, %42 : i64
    %55 = arith.select %38, %54, %0 : i64
    %from_elements_15 = tensor.from_elements %c1_i64, %55, %54, %c8_i64 : tensor<4xi64>
    %reshape_16 = tensor.reshape %expanded_14(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %56 = arith.index_cast %55 : i64 to index
    %57 = tensor.empty(%56) : tensor<1x2x?x8xf32>
    %transposed_17 = linalg.transpose ins(%reshape_16 : tensor<1x?x2x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_18 = linalg.transpose ins(%arg4 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %58 = linalg.matmul ins(%collapsed, %transposed_18 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_19 = tensor.expand_shape %58 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %reshape_20 = tensor.reshape %expanded_19(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_21 = linalg.transpose ins(%reshape_20 : tensor<1x?x2x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %59 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<1x4x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %60 = tensor.empty(%47) : tensor<1x4x?x1xf32>
    %61 = linalg.fill ins(%cst : f32) outs(%60 : tensor<1x4x?x1xf32>) -> tensor<1x4x?x1xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%59 : tensor<1x4x?x8xf32>) outs(%61 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %63 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_7 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %64 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x1xf32>
    %65 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %66 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12, %65 : tensor<1x4x?x8xf32>, tensor<1x4x?x1xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %67 = tensor.empty() : tensor<8xf32>
    %68 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg6 : tensor<8xf32>) outs(%67 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<8xf32>
    %69 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %68 : tensor<1x4x?x8xf32>, tensor<8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %70 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_17 : tensor<1x2x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %71 = tensor.empty(%56) : tensor<1x2x?x1xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<1x2x?x1xf32>) -> tensor<1x2x?x1xf32>
    %73 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%70 : tensor<1x2x?x8xf32>) outs(%72 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %74 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_7 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %75 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x1xf32>
    %76 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %77 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_17, %76 : tensor<1x2x?x8xf32>, tensor<1x2x?x1xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %78 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg7 : tensor<8xf32>) outs(%67 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<8xf32>
    %79 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %78 : tensor<1x2x?x8xf32>, tensor<8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_22 = tensor.expand_shape %19 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_23 = tensor.expand_shape %20 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %80 = arith.cmpi eq, %47, %dim : index
    cf.assert %80, "mismatched size for broadcast"
    %81 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69, %expanded_22 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %extracted_slice = tensor.extract_slice %69[0, 0, 0, 0] [1, 4, %47, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %extracted_slice_24 = tensor.extract_slice %69[0, 0, 0, 4] [1, 4, %47, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %82 = tensor.empty(%47) : tensor<1x4x?x4xf32>
    %83 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24 : tensor<1x4x?x4xf32>) outs(%82 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.negf %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x4xf32>
    %concat_25 = tensor.concat dim(3) %83, %extracted_slice : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x8xf32>
    cf.assert %80, "mismatched size for broadcast"
    %84 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_25, %expanded_23 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %85 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%81, %84 : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %86 = arith.cmpi eq, %56, %dim : index
    cf.assert %86, "mismatched size for broadcast"
    %87 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%79, %expanded_22 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice_26 = tensor.extract_slice %79[0, 0, 0, 0] [1, 2, %56, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_27 = tensor.extract_slice %79[0, 0, 0, 4] [1, 2, %56, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %88 = tensor.empty(%56) : tensor<1x2x?x4xf32>
    %89 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27 : tensor<1x2x?x4xf32>) outs(%88 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.negf %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_28 = tensor.concat dim(3) %89, %extracted_slice_26 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %86, "mismatched size for broadcast"
    %90 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_28, %expanded_23 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %91 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87, %90 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_29 = tensor.expand_shape %91 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %56, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %92 = tensor.empty(%dim) : tensor<1x2x2x?x8xf32>
    %93 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%92 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %238 = linalg.index 1 : index
      %239 = linalg.index 3 : index
      %240 = linalg.index 4 : index
      %241 = arith.cmpi eq, %56, %c1 : index
      %242 = arith.select %241, %c0, %239 : index
      %extracted = tensor.extract %expanded_29[%c0, %238, %c0, %242, %240] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_30 = tensor.collapse_shape %93 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %expanded_31 = tensor.expand_shape %transposed_21 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %56, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %94 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%92 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %238 = linalg.index 1 : index
      %239 = linalg.index 3 : index
      %240 = linalg.index 4 : index
      %241 = arith.cmpi eq, %56, %c1 : index
      %242 = arith.select %241, %c0, %239 : index
      %extracted = tensor.extract %expanded_31[%c0, %238, %c0, %242, %240] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %dim_32 = tensor.dim %collapsed_30, %c2 : tensor<1x4x?x8xf32>
    %95 = tensor.empty(%47, %dim_32) : tensor<1x4x?x?xi1>
    %96 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<1x1x?x?xi1>) outs(%95 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x4x?x?xi1>
    %collapsed_33 = tensor.collapse_shape %85 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_34 = tensor.collapse_shape %93 [[0, 1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_35 = tensor.collapse_shape %94 [[0, 1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_36 = tensor.collapse_shape %96 [[0, 1], [2], [3]] : tensor<1x4x?x?xi1> into tensor<4x?x?xi1>
    %97 = tensor.empty(%47) : tensor<4x?x8xf32>
    %98 = linalg.fill ins(%cst : f32) outs(%97 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %99 = "tm_tensor.attention"(%collapsed_33, %collapsed_34, %collapsed_35, %collapsed_36, %98) <{operandSegmentSizes = array<i32: 4, 1>, scale = 6.250000e-02 : f64}> : (tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x?xi1>, tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %dim_37 = tensor.dim %99, %c1 : tensor<4x?x8xf32>
    %expanded_38 = tensor.expand_shape %99 [[0, 1], [2], [3]] output_shape [1, 4, %dim_37, 8] : tensor<4x?x8xf32> into tensor<1x4x?x8xf32>
    %dim_39 = tensor.dim %expanded_38, %c2 : tensor<1x4x?x8xf32>
    %100 = tensor.empty(%dim_39) : tensor<1x?x4x8xf32>
    %transposed_40 = linalg.transpose ins(%expanded_38 : tensor<1x4x?x8xf32>) outs(%100 : tensor<1x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %101 = arith.index_cast %dim_39 : index to i64
    %102 = arith.muli %101, %c32_i64 : i64
    %103 = arith.divsi %102, %39 : i64
    %104 = arith.select %38, %103, %0 : i64
    %from_elements_41 = tensor.from_elements %c1_i64, %104, %103 : tensor<3xi64>
    %reshape_42 = tensor.reshape %transposed_40(%from_elements_41) : (tensor<1x?x4x8xf32>, tensor<3xi64>) -> tensor<1x?x32xf32>
    %105 = tensor.empty() : tensor<32x16xf32>
    %transposed_43 = linalg.transpose ins(%arg5 : tensor<16x32xf32>) outs(%105 : tensor<32x16xf32>) permutation = [1, 0] 
    %collapsed_44 = tensor.collapse_shape %reshape_42 [[0, 1], [2]] : tensor<1x?x32xf32> into tensor<?x32xf32>
    %106 = arith.index_cast %104 : i64 to index
    %107 = tensor.empty(%106) : tensor<?x16xf32>
    %108 = linalg.fill ins(%cst : f32) outs(%107 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %109 = linalg.matmul ins(%collapsed_44, %transposed_43 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%108 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_45 = tensor.expand_shape %109 [[0, 1], [2]] output_shape [1, %106, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %110 = tensor.empty(%106) : tensor<1x?x16xf32>
    %111 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_45 : tensor<1x?x16xf32>) outs(%110 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %112 = tensor.empty(%106) : tensor<1x?x1xf32>
    %113 = linalg.fill ins(%cst : f32) outs(%112 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %114 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%111 : tensor<1x?x16xf32>) outs(%113 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %115 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114 : tensor<1x?x1xf32>) outs(%112 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %116 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115 : tensor<1x?x1xf32>) outs(%112 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %117 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<1x?x1xf32>) outs(%112 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %118 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_45, %117 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%110 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %119 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg12 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %120 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118, %119 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%110 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %121 = arith.cmpi eq, %dim, %106 : index
    cf.assert %121, "mismatched size for broadcast"
    %122 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %120 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %123 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %125 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %126 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %127 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %129 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg13 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %130 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %129 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_46 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_47 = tensor.collapse_shape %130 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %131 = linalg.matmul ins(%collapsed_47, %transposed_46 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_48 = tensor.expand_shape %131 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_48 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c3_i64 : f32, i64
      %239 = arith.mulf %238, %cst_0 : f32
      %240 = arith.addf %in, %239 : f32
      %241 = arith.mulf %240, %cst_1 : f32
      %242 = math.tanh %241 : f32
      %243 = arith.addf %242, %cst_2 : f32
      %244 = arith.mulf %243, %cst_3 : f32
      %245 = arith.mulf %in, %244 : f32
      linalg.yield %245 : f32
    } -> tensor<1x?x16xf32>
    %transposed_49 = linalg.transpose ins(%arg9 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %133 = linalg.matmul ins(%collapsed_47, %transposed_49 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_50 = tensor.expand_shape %133 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %134 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %expanded_50 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_51 = linalg.transpose ins(%arg10 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_52 = tensor.collapse_shape %134 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %135 = linalg.matmul ins(%collapsed_52, %transposed_51 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_53 = tensor.expand_shape %135 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %136 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %137 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%136 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %141 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53, %140 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %142 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg14 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %142 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %143 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%145 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %149 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %151 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg24 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %152 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %151 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_54 = linalg.transpose ins(%arg15 : tensor<32x16xf32>) outs(%34 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_55 = tensor.collapse_shape %152 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %153 = linalg.matmul ins(%collapsed_55, %transposed_54 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%36 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_56 = tensor.expand_shape %153 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %reshape_57 = tensor.reshape %expanded_56(%from_elements) : (tensor<1x?x32xf32>, tensor<4xi64>) -> tensor<1x?x4x8xf32>
    %transposed_58 = linalg.transpose ins(%reshape_57 : tensor<1x?x4x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_59 = linalg.transpose ins(%arg16 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %154 = linalg.matmul ins(%collapsed_55, %transposed_59 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_60 = tensor.expand_shape %154 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %reshape_61 = tensor.reshape %expanded_60(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_62 = linalg.transpose ins(%reshape_61 : tensor<1x?x2x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_63 = linalg.transpose ins(%arg17 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %155 = linalg.matmul ins(%collapsed_55, %transposed_63 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_64 = tensor.expand_shape %155 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %reshape_65 = tensor.reshape %expanded_64(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_66 = linalg.transpose ins(%reshape_65 : tensor<1x?x2x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %156 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_58 : tensor<1x4x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %157 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%156 : tensor<1x4x?x8xf32>) outs(%61 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %158 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%157 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_7 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %159 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%158 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x1xf32>
    %160 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%159 : tensor<1x4x?x1xf32>) outs(%60 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x1xf32>
    %161 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_58, %160 : tensor<1x4x?x8xf32>, tensor<1x4x?x1xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %162 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg19 : tensor<8xf32>) outs(%67 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<8xf32>
    %163 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%161, %162 : tensor<1x4x?x8xf32>, tensor<8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %164 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_62 : tensor<1x2x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %165 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%164 : tensor<1x2x?x8xf32>) outs(%72 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%165 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_7 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %167 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%166 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x1xf32>
    %168 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%167 : tensor<1x2x?x1xf32>) outs(%71 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x1xf32>
    %169 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_62, %168 : tensor<1x2x?x8xf32>, tensor<1x2x?x1xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %170 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg20 : tensor<8xf32>) outs(%67 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<8xf32>
    %171 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%169, %170 : tensor<1x2x?x8xf32>, tensor<8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_67 = tensor.expand_shape %22 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_68 = tensor.expand_shape %23 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    cf.assert %80, "mismatched size for broadcast"
    %172 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%163, %expanded_67 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %extracted_slice_69 = tensor.extract_slice %163[0, 0, 0, 0] [1, 4, %47, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %extracted_slice_70 = tensor.extract_slice %163[0, 0, 0, 4] [1, 4, %47, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %173 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_70 : tensor<1x4x?x4xf32>) outs(%82 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.negf %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x4xf32>
    %concat_71 = tensor.concat dim(3) %173, %extracted_slice_69 : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x8xf32>
    cf.assert %80, "mismatched size for broadcast"
    %174 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_71, %expanded_68 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    %175 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%172, %174 : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) outs(%48 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x4x?x8xf32>
    cf.assert %86, "mismatched size for broadcast"
    %176 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%171, %expanded_67 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice_72 = tensor.extract_slice %171[0, 0, 0, 0] [1, 2, %56, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_73 = tensor.extract_slice %171[0, 0, 0, 4] [1, 2, %56, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %177 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_73 : tensor<1x2x?x4xf32>) outs(%88 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.negf %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_74 = tensor.concat dim(3) %177, %extracted_slice_72 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %86, "mismatched size for broadcast"
    %178 = linalg.generic {indexing_maps = [#map6, #map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_74, %expanded_68 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %179 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%176, %178 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%57 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_75 = tensor.expand_shape %179 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %56, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %180 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%92 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %238 = linalg.index 1 : index
      %239 = linalg.index 3 : index
      %240 = linalg.index 4 : index
      %241 = arith.cmpi eq, %56, %c1 : index
      %242 = arith.select %241, %c0, %239 : index
      %extracted = tensor.extract %expanded_75[%c0, %238, %c0, %242, %240] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_76 = tensor.collapse_shape %180 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %expanded_77 = tensor.expand_shape %transposed_66 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %56, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %181 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%92 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %238 = linalg.index 1 : index
      %239 = linalg.index 3 : index
      %240 = linalg.index 4 : index
      %241 = arith.cmpi eq, %56, %c1 : index
      %242 = arith.select %241, %c0, %239 : index
      %extracted = tensor.extract %expanded_77[%c0, %238, %c0, %242, %240] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %dim_78 = tensor.dim %collapsed_76, %c2 : tensor<1x4x?x8xf32>
    %182 = tensor.empty(%47, %dim_78) : tensor<1x4x?x?xi1>
    %183 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<1x1x?x?xi1>) outs(%182 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x4x?x?xi1>
    %collapsed_79 = tensor.collapse_shape %175 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_80 = tensor.collapse_shape %180 [[0, 1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_81 = tensor.collapse_shape %181 [[0, 1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<4x?x8xf32>
    %collapsed_82 = tensor.collapse_shape %183 [[0, 1], [2], [3]] : tensor<1x4x?x?xi1> into tensor<4x?x?xi1>
    %184 = "tm_tensor.attention"(%collapsed_79, %collapsed_80, %collapsed_81, %collapsed_82, %98) <{operandSegmentSizes = array<i32: 4, 1>, scale = 6.250000e-02 : f64}> : (tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x?xi1>, tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %dim_83 = tensor.dim %184, %c1 : tensor<4x?x8xf32>
    %expanded_84 = tensor.expand_shape %184 [[0, 1], [2], [3]] output_shape [1, 4, %dim_83, 8] : tensor<4x?x8xf32> into tensor<1x4x?x8xf32>
    %dim_85 = tensor.dim %expanded_84, %c2 : tensor<1x4x?x8xf32>
    %185 = tensor.empty(%dim_85) : tensor<1x?x4x8xf32>
    %transposed_86 = linalg.transpose ins(%expanded_84 : tensor<1x4x?x8xf32>) outs(%185 : tensor<1x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %186 = arith.index_cast %dim_85 : index to i64
    %187 = arith.muli %186, %c32_i64 : i64
    %188 = arith.divsi %187, %39 : i64
    %189 = arith.select %38, %188, %0 : i64
    %from_elements_87 = tensor.from_elements %c1_i64, %189, %188 : tensor<3xi64>
    %reshape_88 = tensor.reshape %transposed_86(%from_elements_87) : (tensor<1x?x4x8xf32>, tensor<3xi64>) -> tensor<1x?x32xf32>
    %transposed_89 = linalg.transpose ins(%arg18 : tensor<16x32xf32>) outs(%105 : tensor<32x16xf32>) permutation = [1, 0] 
    %collapsed_90 = tensor.collapse_shape %reshape_88 [[0, 1], [2]] : tensor<1x?x32xf32> into tensor<?x32xf32>
    %190 = arith.index_cast %189 : i64 to index
    %191 = tensor.empty(%190) : tensor<?x16xf32>
    %192 = linalg.fill ins(%cst : f32) outs(%191 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %193 = linalg.matmul ins(%collapsed_90, %transposed_89 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%192 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_91 = tensor.expand_shape %193 [[0, 1], [2]] output_shape [1, %190, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %194 = tensor.empty(%190) : tensor<1x?x16xf32>
    %195 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_91 : tensor<1x?x16xf32>) outs(%194 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %196 = tensor.empty(%190) : tensor<1x?x1xf32>
    %197 = linalg.fill ins(%cst : f32) outs(%196 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %198 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%195 : tensor<1x?x16xf32>) outs(%197 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %199 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<1x?x1xf32>) outs(%196 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %200 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%199 : tensor<1x?x1xf32>) outs(%196 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %201 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200 : tensor<1x?x1xf32>) outs(%196 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %202 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_91, %201 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%194 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %203 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg25 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %204 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202, %203 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%194 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %205 = arith.cmpi eq, %dim, %190 : index
    cf.assert %205, "mismatched size for broadcast"
    %206 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %204 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %207 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %208 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%207 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %209 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %210 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %211 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %212 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206, %211 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %213 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg26 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %214 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212, %213 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_92 = linalg.transpose ins(%arg21 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_93 = tensor.collapse_shape %214 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %215 = linalg.matmul ins(%collapsed_93, %transposed_92 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_94 = tensor.expand_shape %215 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %216 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_94 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c3_i64 : f32, i64
      %239 = arith.mulf %238, %cst_0 : f32
      %240 = arith.addf %in, %239 : f32
      %241 = arith.mulf %240, %cst_1 : f32
      %242 = math.tanh %241 : f32
      %243 = arith.addf %242, %cst_2 : f32
      %244 = arith.mulf %243, %cst_3 : f32
      %245 = arith.mulf %in, %244 : f32
      linalg.yield %245 : f32
    } -> tensor<1x?x16xf32>
    %transposed_95 = linalg.transpose ins(%arg22 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %217 = linalg.matmul ins(%collapsed_93, %transposed_95 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_96 = tensor.expand_shape %217 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %218 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %expanded_96 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_97 = linalg.transpose ins(%arg23 : tensor<16x16xf32>) outs(%49 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_98 = tensor.collapse_shape %218 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %219 = linalg.matmul ins(%collapsed_98, %transposed_97 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%51 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_99 = tensor.expand_shape %219 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %220 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_99 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %221 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%220 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %222 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %223 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %224 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %225 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_99, %224 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %226 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg27 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %227 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %226 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %228 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206, %227 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.addf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %229 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%228 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %230 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%229 : tensor<1x?x16xf32>) outs(%25 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %out : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %231 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%230 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.divf %in, %cst_6 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %232 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.truncf %cst_5 : f64 to f32
      %239 = arith.addf %in, %238 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %233 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = math.rsqrt %in : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x1xf32>
    %234 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%228, %233 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %235 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg28 : tensor<16xf32>) outs(%31 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %238 = arith.addf %in, %cst_2 : f32
      linalg.yield %238 : f32
    } -> tensor<16xf32>
    %236 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%234, %235 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_103: f32, %out: f32):
      %238 = arith.mulf %in, %in_103 : f32
      linalg.yield %238 : f32
    } -> tensor<1x?x16xf32>
    %transposed_100 = linalg.transpose ins(%arg1 : tensor<32x16xf32>) outs(%34 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_101 = tensor.collapse_shape %236 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %237 = linalg.matmul ins(%collapsed_101, %transposed_100 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%36 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_102 = tensor.expand_shape %237 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_102 : tensor<1x?x32xf32>
  }
}

