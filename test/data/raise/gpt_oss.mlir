#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
#map9 = affine_map<(d0, d1) -> (d1)>
#map10 = affine_map<(d0, d1) -> (d0, d1)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<()[s0] -> (s0 + 1)>
#map16 = affine_map<(d0, d1) -> (d0)>
#map17 = affine_map<(d0, d1) -> (d0, 0)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, 0)>
#map20 = affine_map<(d0, d1, d2) -> (d0, d2)>
module attributes {kv.model = {architecture = "gpt_oss", max_seq_len = 64 : i64, name = "gpt_oss", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<2xf32> {kv.weight = "model.layers.0.self_attn.sinks"}, %arg3: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg4: tensor<16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.bias"}, %arg5: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg6: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.k_proj.bias"}, %arg7: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg8: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.v_proj.bias"}, %arg9: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.bias"}, %arg11: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.router.weight"}, %arg12: tensor<4xf32> {kv.weight = "model.layers.0.mlp.router.bias"}, %arg13: tensor<4x16x32xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj"}, %arg14: tensor<4x32xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj_bias"}, %arg15: tensor<4x16x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj"}, %arg16: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj_bias"}, %arg17: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg18: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg19: tensor<2xf32> {kv.weight = "model.layers.1.self_attn.sinks"}, %arg20: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.weight"}, %arg21: tensor<16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.bias"}, %arg22: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.k_proj.weight"}, %arg23: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.k_proj.bias"}, %arg24: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.v_proj.weight"}, %arg25: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.v_proj.bias"}, %arg26: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.o_proj.weight"}, %arg27: tensor<16xf32> {kv.weight = "model.layers.1.self_attn.o_proj.bias"}, %arg28: tensor<4x16xf32> {kv.weight = "model.layers.1.mlp.router.weight"}, %arg29: tensor<4xf32> {kv.weight = "model.layers.1.mlp.router.bias"}, %arg30: tensor<4x16x32xf32> {kv.weight = "model.layers.1.mlp.experts.gate_up_proj"}, %arg31: tensor<4x32xf32> {kv.weight = "model.layers.1.mlp.experts.gate_up_proj_bias"}, %arg32: tensor<4x16x16xf32> {kv.weight = "model.layers.1.mlp.experts.down_proj"}, %arg33: tensor<4x16xf32> {kv.weight = "model.layers.1.mlp.experts.down_proj_bias"}, %arg34: tensor<16xf32> {kv.weight = "model.layers.1.input_layernorm.weight"}, %arg35: tensor<16xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"}, %arg36: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg37: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg38: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg39: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %c0 = arith.constant 0 : index
    %c8_i64 = arith.constant 8 : i64
    %c5_i64 = arith.constant 5 : i64
    %c2_i64 = arith.constant 2 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c-1 = arith.constant -1 : index
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 1.702000e+00 : f64
    %cst_5 = arith.constant 0.35355339059327379 : f64
    %cst_6 = arith.constant 1.000000e-05 : f64
    %cst_7 = arith.constant 1.3465735902799727 : f64
    %cst_8 = arith.constant 1.600000e+01 : f32
    %c16_i64 = arith.constant 16 : i64
    %cst_9 = arith.constant 7.000000e+00 : f32
    %cst_10 = arith.constant -7.000000e+00 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.index_cast %in : i64 to index
      %314 = linalg.index 2 : index
      %315 = arith.cmpi slt, %313, %c32 : index
      cf.assert %315, "index must be smaller than dim size"
      %316 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %316, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%313, %314] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = tensor.empty(%dim) : tensor<?xi64>
    %5 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%4 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %313 = linalg.index 0 : index
      %314 = arith.index_cast %313 : index to i64
      linalg.yield %314 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_11 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %6 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_121: i64, %out: i1):
      %313 = arith.cmpi sle, %in, %in_121 : i64
      linalg.yield %313 : i1
    } -> tensor<1x1x?x?xi1>
    %8 = tensor.empty(%dim) : tensor<1x1x?x1xi64>
    %9 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x?x1xi64>) outs(%8 : tensor<1x1x?x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %313 = arith.subi %in, %c5_i64 : i64
      linalg.yield %313 : i64
    } -> tensor<1x1x?x1xi64>
    %10 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11, %9 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_121: i64, %out: i1):
      %313 = arith.cmpi sgt, %in, %in_121 : i64
      linalg.yield %313 : i1
    } -> tensor<1x1x?x?xi1>
    %11 = linalg.generic {indexing_maps = [#map6, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %10 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_121: i1, %out: i1):
      %313 = arith.andi %in, %in_121 : i1
      linalg.yield %313 : i1
    } -> tensor<1x1x?x?xi1>
    %12 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %7 : tensor<1x1x?x?xi1>, tensor<1x1x?x?xi1>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_121: i1, %out: i1):
      %313 = arith.andi %in, %in_121 : i1
      linalg.yield %313 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_12 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %13 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<1x?x1xi64>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.sitofp %in : i64 to f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %15 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %16 = linalg.generic {indexing_maps = [#map7, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %arg38 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%15 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x4xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x?x4xf32>) outs(%15 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.cos %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x4xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x4xf32>) outs(%15 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_7 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x4xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x?x4xf32>) outs(%15 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.sin %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x4xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x4xf32>) outs(%15 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_7 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x4xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%13 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.divf %in, %cst_8 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_6 : f64 to f32
      %314 = arith.addf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.rsqrt %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %26 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg17, %27 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %collapsed = tensor.collapse_shape %28 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %29 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%29 : tensor<16x16xf32>) permutation = [1, 0] 
    %30 = tensor.empty(%dim) : tensor<?x16xf32>
    %31 = linalg.fill ins(%cst : f32) outs(%30 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %32 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%31 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %33 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %34 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%32, %33 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_13 = tensor.expand_shape %34 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %35 = arith.cmpi slt, %0, %c0_i64 : i64
    %36 = arith.select %35, %c1_i64, %0 : i64
    %37 = arith.extui %35 : i1 to i64
    %38 = arith.addi %37, %c1_i64 : i64
    %39 = arith.muli %36, %c8_i64 : i64
    %40 = arith.cmpi sle, %38, %c1_i64 : i64
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %41 = arith.muli %0, %c16_i64 : i64
    %42 = arith.divsi %41, %39 : i64
    %43 = arith.select %35, %42, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %43, %42, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_13(%from_elements) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %44 = arith.index_cast %43 : i64 to index
    %45 = tensor.empty(%44) : tensor<1x2x?x8xf32>
    %transposed_14 = linalg.transpose ins(%reshape : tensor<1x?x2x8xf32>) outs(%45 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %46 = tensor.empty() : tensor<16x8xf32>
    %transposed_15 = linalg.transpose ins(%arg5 : tensor<8x16xf32>) outs(%46 : tensor<16x8xf32>) permutation = [1, 0] 
    %47 = tensor.empty(%dim) : tensor<?x8xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%47 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %49 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%48 : tensor<?x8xf32>) -> tensor<?x8xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %50 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg6 : tensor<8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x8xf32>
    %51 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%49, %50 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x8xf32>
    %expanded_16 = tensor.expand_shape %51 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %52 = arith.muli %0, %c8_i64 : i64
    %53 = arith.divsi %52, %39 : i64
    %54 = arith.select %35, %53, %0 : i64
    %from_elements_17 = tensor.from_elements %c1_i64, %54, %53, %c8_i64 : tensor<4xi64>
    %reshape_18 = tensor.reshape %expanded_16(%from_elements_17) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %55 = arith.index_cast %54 : i64 to index
    %56 = tensor.empty(%55) : tensor<1x1x?x8xf32>
    %transposed_19 = linalg.transpose ins(%reshape_18 : tensor<1x?x1x8xf32>) outs(%56 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_20 = linalg.transpose ins(%arg7 : tensor<8x16xf32>) outs(%46 : tensor<16x8xf32>) permutation = [1, 0] 
    %57 = linalg.matmul ins(%collapsed, %transposed_20 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%48 : tensor<?x8xf32>) -> tensor<?x8xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %58 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x8xf32>
    %59 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%57, %58 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x8xf32>
    %expanded_21 = tensor.expand_shape %59 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_22 = tensor.reshape %expanded_21(%from_elements_17) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_23 = linalg.transpose ins(%reshape_22 : tensor<1x?x1x8xf32>) outs(%56 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_24 = tensor.expand_shape %18 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 4] : tensor<1x?x4xf32> into tensor<1x1x?x4xf32>
    %expanded_25 = tensor.expand_shape %20 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 4] : tensor<1x?x4xf32> into tensor<1x1x?x4xf32>
    %extracted_slice = tensor.extract_slice %transposed_14[0, 0, 0, 0] [1, 2, %44, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_26 = tensor.extract_slice %transposed_14[0, 0, 0, 4] [1, 2, %44, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %60 = arith.cmpi eq, %44, %dim : index
    cf.assert %60, "mismatched size for broadcast"
    %61 = tensor.empty(%44) : tensor<1x2x?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_24 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %63 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %expanded_25 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %63 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %65 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %expanded_24 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %66 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_25 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %67 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %66 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %concat = tensor.concat dim(3) %64, %67 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    %extracted_slice_27 = tensor.extract_slice %transposed_19[0, 0, 0, 0] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_28 = tensor.extract_slice %transposed_19[0, 0, 0, 4] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %68 = arith.cmpi eq, %55, %dim : index
    cf.assert %68, "mismatched size for broadcast"
    %69 = tensor.empty(%55) : tensor<1x1x?x4xf32>
    %70 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %expanded_24 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %71 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %expanded_25 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %72 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70, %71 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %73 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %expanded_24 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %74 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %expanded_25 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %75 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73, %74 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_29 = tensor.concat dim(3) %72, %75 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    %expanded_30 = tensor.expand_shape %concat_29 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %76 = tensor.empty(%dim) : tensor<1x1x2x?x8xf32>
    %77 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%76 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 3 : index
      %314 = linalg.index 4 : index
      %315 = arith.cmpi eq, %55, %c1 : index
      %316 = arith.select %315, %c0, %313 : index
      %extracted = tensor.extract %expanded_30[%c0, %c0, %c0, %316, %314] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_31 = tensor.collapse_shape %77 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_32 = tensor.expand_shape %transposed_23 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %78 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%76 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 3 : index
      %314 = linalg.index 4 : index
      %315 = arith.cmpi eq, %55, %c1 : index
      %316 = arith.select %315, %c0, %313 : index
      %extracted = tensor.extract %expanded_32[%c0, %c0, %c0, %316, %314] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_33 = tensor.collapse_shape %78 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %79 = tensor.empty(%dim) : tensor<1x2x8x?xf32>
    %transposed_34 = linalg.transpose ins(%collapsed_31 : tensor<1x2x?x8xf32>) outs(%79 : tensor<1x2x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %80 = tensor.empty(%dim) : tensor<1x2x?x8xf32>
    %81 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %44, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %extracted = tensor.extract %concat[%c0, %313, %317, %315] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_35 = tensor.collapse_shape %81 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %82 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%79 : tensor<1x2x8x?xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %315 : index
      %extracted = tensor.extract %transposed_34[%c0, %313, %314, %317] : tensor<1x2x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x8x?xf32>
    %collapsed_36 = tensor.collapse_shape %82 [[0, 1], [2], [3]] : tensor<1x2x8x?xf32> into tensor<2x8x?xf32>
    %83 = tensor.empty(%dim, %dim) : tensor<2x?x?xf32>
    %84 = linalg.fill ins(%cst : f32) outs(%83 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %85 = linalg.batch_matmul ins(%collapsed_35, %collapsed_36 : tensor<2x?x8xf32>, tensor<2x8x?xf32>) outs(%84 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %86 = arith.muli %0, %c2_i64 : i64
    %87 = arith.select %35, %c2_i64, %86 : i64
    %88 = arith.muli %87, %0 : i64
    %89 = arith.select %35, %c2_i64, %88 : i64
    %90 = arith.select %35, %38, %37 : i64
    %91 = arith.cmpi sle, %90, %c1_i64 : i64
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %92 = arith.muli %86, %0 : i64
    %93 = arith.divsi %92, %89 : i64
    %94 = arith.select %35, %93, %0 : i64
    %from_elements_37 = tensor.from_elements %c1_i64, %c2_i64, %94, %94 : tensor<4xi64>
    %reshape_38 = tensor.reshape %85(%from_elements_37) : (tensor<2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %95 = arith.index_cast %94 : i64 to index
    %96 = tensor.empty(%95, %95) : tensor<1x2x?x?xf32>
    %97 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_38 : tensor<1x2x?x?xf32>) outs(%96 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_5 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x2x?x?xf32>
    %98 = arith.cmpi eq, %dim, %95 : index
    cf.assert %98, "mismatched size for broadcast"
    cf.assert %98, "mismatched size for broadcast"
    %99 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xf32>
    %100 = linalg.generic {indexing_maps = [#map11, #map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %97, %cst_2 : tensor<1x1x?x?xi1>, tensor<1x2x?x?xf32>, tensor<f32>) outs(%99 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_121: f32, %in_122: f32, %out: f32):
      %313 = arith.select %in, %in_121, %in_122 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %101 = arith.select %35, %c1, %dim : index
    %102 = tensor.empty(%101) : tensor<1x2x?x1xf32>
    %expanded_39 = tensor.expand_shape %arg2 [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xf32> into tensor<1x2x1xf32>
    %103 = linalg.generic {indexing_maps = [#map13, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_39 : tensor<1x2x1xf32>) outs(%102 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x1xf32>
    %concat_40 = tensor.concat dim(3) %100, %103 : (tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) -> tensor<1x2x?x?xf32>
    %104 = tensor.empty(%dim) : tensor<1x2x?xi64>
    %105 = linalg.fill ins(%c0_i64 : i64) outs(%104 : tensor<1x2x?xi64>) -> tensor<1x2x?xi64>
    %106 = tensor.empty(%dim) : tensor<1x2x?xf32>
    %107 = linalg.fill ins(%cst_0 : f32) outs(%106 : tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
    %108:2 = linalg.generic {indexing_maps = [#map5, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%concat_40 : tensor<1x2x?x?xf32>) outs(%107, %105 : tensor<1x2x?xf32>, tensor<1x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_121: i64):
      %313 = linalg.index 3 : index
      %314 = arith.index_cast %313 : index to i64
      %315 = arith.maximumf %in, %out : f32
      %316 = arith.cmpf ogt, %in, %out : f32
      %317 = arith.select %316, %314, %out_121 : i64
      linalg.yield %315, %317 : f32, i64
    } -> (tensor<1x2x?xf32>, tensor<1x2x?xi64>)
    %expanded_41 = tensor.expand_shape %108#0 [[0], [1], [2, 3]] output_shape [1, 2, %dim, 1] : tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
    %109 = affine.apply #map15()[%dim]
    %110 = tensor.empty(%dim, %109) : tensor<1x2x?x?xf32>
    %111 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_40, %expanded_41 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %112 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%111 : tensor<1x2x?x?xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.exp %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %113 = tensor.empty(%dim) : tensor<1x2x?x1xf32>
    %114 = linalg.fill ins(%cst : f32) outs(%113 : tensor<1x2x?x1xf32>) -> tensor<1x2x?x1xf32>
    %115 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%112 : tensor<1x2x?x?xf32>) outs(%114 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x1xf32>
    %116 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%112, %115 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.divf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %117 = arith.index_cast %109 : index to i64
    %118 = arith.minsi %117, %c0_i64 : i64
    %119 = arith.index_cast %118 : i64 to index
    %120 = arith.addi %109, %c-1 : index
    %121 = arith.cmpi slt, %120, %c0 : index
    %122 = arith.select %121, %c-1, %120 : index
    %123 = arith.minsi %122, %109 : index
    %124 = arith.subi %123, %119 : index
    %125 = arith.maxsi %124, %c0 : index
    %extracted_slice_42 = tensor.extract_slice %116[0, 0, 0, %119] [1, 2, %dim, %125] [1, 1, 1, 1] : tensor<1x2x?x?xf32> to tensor<1x2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %126 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%99 : tensor<1x2x?x?xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %318 = arith.cmpi eq, %125, %c1 : index
      %319 = arith.select %318, %c0, %315 : index
      %extracted = tensor.extract %extracted_slice_42[%c0, %313, %317, %319] : tensor<1x2x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %from_elements_43 = tensor.from_elements %c2_i64, %94, %94 : tensor<3xi64>
    %reshape_44 = tensor.reshape %126(%from_elements_43) : (tensor<1x2x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %127 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %extracted = tensor.extract %collapsed_33[%c0, %313, %317, %315] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_45 = tensor.collapse_shape %127 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %128 = arith.cmpi eq, %94, %0 : i64
    cf.assert %128, "mismatching contracting dimension"
    %129 = tensor.empty(%95) : tensor<2x?x8xf32>
    %130 = linalg.fill ins(%cst : f32) outs(%129 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %131 = linalg.batch_matmul ins(%reshape_44, %collapsed_45 : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%130 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %expanded_46 = tensor.expand_shape %131 [[0, 1], [2], [3]] output_shape [1, 2, %95, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %132 = tensor.empty(%95) : tensor<1x?x2x8xf32>
    %transposed_47 = linalg.transpose ins(%expanded_46 : tensor<1x2x?x8xf32>) outs(%132 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %133 = arith.muli %94, %c16_i64 : i64
    %134 = arith.divsi %133, %36 : i64
    %135 = arith.select %35, %134, %0 : i64
    %from_elements_48 = tensor.from_elements %c1_i64, %135, %134 : tensor<3xi64>
    %reshape_49 = tensor.reshape %transposed_47(%from_elements_48) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %collapsed_50 = tensor.collapse_shape %reshape_49 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %transposed_51 = linalg.transpose ins(%arg9 : tensor<16x16xf32>) outs(%29 : tensor<16x16xf32>) permutation = [1, 0] 
    %136 = arith.index_cast %135 : i64 to index
    %137 = tensor.empty(%136) : tensor<?x16xf32>
    %138 = linalg.fill ins(%cst : f32) outs(%137 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %139 = linalg.matmul ins(%collapsed_50, %transposed_51 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%138 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %140 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %141 = arith.cmpi eq, %136, %dim : index
    cf.assert %141, "mismatched size for broadcast"
    %142 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%139, %140 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%137 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_52 = tensor.expand_shape %142 [[0, 1], [2]] output_shape [1, %136, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %143 = arith.cmpi eq, %dim, %136 : index
    cf.assert %143, "mismatched size for broadcast"
    %144 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %expanded_52 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%145 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.divf %in, %cst_8 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_6 : f64 to f32
      %314 = arith.addf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.rsqrt %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %149 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %151 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg18, %150 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_53 = tensor.collapse_shape %151 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %152 = tensor.empty() : tensor<16x4xf32>
    %transposed_54 = linalg.transpose ins(%arg11 : tensor<4x16xf32>) outs(%152 : tensor<16x4xf32>) permutation = [1, 0] 
    %153 = tensor.empty(%dim) : tensor<?x4xf32>
    %154 = linalg.fill ins(%cst : f32) outs(%153 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %155 = linalg.matmul ins(%collapsed_53, %transposed_54 : tensor<?x16xf32>, tensor<16x4xf32>) outs(%154 : tensor<?x4xf32>) -> tensor<?x4xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %156 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<4xf32>) outs(%153 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %157 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%155, %156 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%153 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x4xf32>
    %158 = tensor.empty(%dim) : tensor<?x4xi64>
    %159 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel"]} outs(%158 : tensor<?x4xi64>) {
    ^bb0(%out: i64):
      %313 = linalg.index 1 : index
      %314 = arith.index_cast %313 : index to i64
      linalg.yield %314 : i64
    } -> tensor<?x4xi64>
    %160:2 = "tm_tensor.sort"(%157, %159) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: i64, %arg43: i64):
      %313 = arith.cmpf oge, %arg40, %arg41 : f32
      "tm_tensor.yield"(%313) : (i1) -> ()
    }) : (tensor<?x4xf32>, tensor<?x4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %dim_55 = tensor.dim %160#0, %c0 : tensor<?x4xf32>
    %extracted_slice_56 = tensor.extract_slice %160#0[0, 0] [%dim_55, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
    %dim_57 = tensor.dim %160#1, %c0 : tensor<?x4xi64>
    %extracted_slice_58 = tensor.extract_slice %160#1[0, 0] [%dim_57, 2] [1, 1] : tensor<?x4xi64> to tensor<?x2xi64>
    %161 = tensor.empty(%dim_55) : tensor<?xi64>
    %162 = linalg.fill ins(%c0_i64 : i64) outs(%161 : tensor<?xi64>) -> tensor<?xi64>
    %163 = tensor.empty(%dim_55) : tensor<?xf32>
    %164 = linalg.fill ins(%cst_0 : f32) outs(%163 : tensor<?xf32>) -> tensor<?xf32>
    %165:2 = linalg.generic {indexing_maps = [#map10, #map16, #map16], iterator_types = ["parallel", "reduction"]} ins(%extracted_slice_56 : tensor<?x2xf32>) outs(%164, %162 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_121: i64):
      %313 = linalg.index 1 : index
      %314 = arith.index_cast %313 : index to i64
      %315 = arith.maximumf %in, %out : f32
      %316 = arith.cmpf ogt, %in, %out : f32
      %317 = arith.select %316, %314, %out_121 : i64
      linalg.yield %315, %317 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded_59 = tensor.expand_shape %165#0 [[0, 1]] output_shape [%dim_55, 1] : tensor<?xf32> into tensor<?x1xf32>
    %166 = tensor.empty(%dim_55) : tensor<?x2xf32>
    %167 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_56, %expanded_59 : tensor<?x2xf32>, tensor<?x1xf32>) outs(%166 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %168 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%167 : tensor<?x2xf32>) outs(%166 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.exp %in : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %169 = tensor.empty(%dim_55) : tensor<?x1xf32>
    %170 = linalg.fill ins(%cst : f32) outs(%169 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %171 = linalg.generic {indexing_maps = [#map10, #map17], iterator_types = ["parallel", "reduction"]} ins(%168 : tensor<?x2xf32>) outs(%170 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x1xf32>
    %172 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%168, %171 : tensor<?x2xf32>, tensor<?x1xf32>) outs(%166 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.divf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %173 = tensor.empty(%dim_57) : tensor<?x2x16x32xf32>
    %174 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_58 : tensor<?x2xi64>) outs(%173 : tensor<?x2x16x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %318 = linalg.index 3 : index
      %extracted = tensor.extract %arg13[%316, %317, %318] : tensor<4x16x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x32xf32>
    %expanded_60 = tensor.expand_shape %collapsed_53 [[0], [1, 2, 3]] output_shape [%dim, 1, 16, 1] : tensor<?x16xf32> into tensor<?x1x16x1xf32>
    %175 = arith.cmpi eq, %dim, %dim_57 : index
    cf.assert %175, "mismatched size for broadcast"
    %176 = tensor.empty(%dim) : tensor<?x2x16x32xf32>
    %177 = linalg.generic {indexing_maps = [#map19, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_60, %174 : tensor<?x1x16x1xf32>, tensor<?x2x16x32xf32>) outs(%176 : tensor<?x2x16x32xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16x32xf32>
    %178 = tensor.empty(%dim) : tensor<?x2x32xf32>
    %179 = linalg.fill ins(%cst : f32) outs(%178 : tensor<?x2x32xf32>) -> tensor<?x2x32xf32>
    %180 = linalg.generic {indexing_maps = [#map5, #map13], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%177 : tensor<?x2x16x32xf32>) outs(%179 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x32xf32>
    %181 = tensor.empty(%dim_57) : tensor<?x2x32xf32>
    %182 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_58 : tensor<?x2xi64>) outs(%181 : tensor<?x2x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %extracted = tensor.extract %arg14[%316, %317] : tensor<4x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x32xf32>
    cf.assert %175, "mismatched size for broadcast"
    %183 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180, %182 : tensor<?x2x32xf32>, tensor<?x2x32xf32>) outs(%178 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x32xf32>
    %extracted_slice_61 = tensor.extract_slice %183[0, 0, 0] [%dim, 2, 16] [1, 1, 2] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %extracted_slice_62 = tensor.extract_slice %183[0, 0, 1] [%dim, 2, 16] [1, 1, 2] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %184 = tensor.empty(%dim) : tensor<?x2x16xf32>
    %185 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_61 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.cmpf ugt, %in, %cst_9 : f32
      %314 = arith.select %313, %cst_9, %in : f32
      linalg.yield %314 : f32
    } -> tensor<?x2x16xf32>
    %186 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_62 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.cmpf ult, %in, %cst_10 : f32
      %314 = arith.select %313, %cst_10, %in : f32
      %315 = arith.cmpf ugt, %314, %cst_9 : f32
      %316 = arith.select %315, %cst_9, %314 : f32
      linalg.yield %316 : f32
    } -> tensor<?x2x16xf32>
    %187 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_4 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<?x2x16xf32>
    %188 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%187 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.negf %in : f32
      %314 = math.exp %313 : f32
      %315 = arith.addf %314, %cst_1 : f32
      %316 = arith.divf %cst_1, %315 : f32
      linalg.yield %316 : f32
    } -> tensor<?x2x16xf32>
    %189 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %188 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %190 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %cst_1 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %191 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190, %189 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %192 = tensor.empty(%dim_57) : tensor<?x2x16x16xf32>
    %193 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_58 : tensor<?x2xi64>) outs(%192 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %318 = linalg.index 3 : index
      %extracted = tensor.extract %arg15[%316, %317, %318] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x16xf32>
    %expanded_63 = tensor.expand_shape %191 [[0], [1], [2, 3]] output_shape [%dim, 2, 16, 1] : tensor<?x2x16xf32> into tensor<?x2x16x1xf32>
    cf.assert %175, "mismatched size for broadcast"
    %194 = tensor.empty(%dim) : tensor<?x2x16x16xf32>
    %195 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_63, %193 : tensor<?x2x16x1xf32>, tensor<?x2x16x16xf32>) outs(%194 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16x16xf32>
    %196 = linalg.fill ins(%cst : f32) outs(%184 : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
    %197 = linalg.generic {indexing_maps = [#map5, #map13], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%195 : tensor<?x2x16x16xf32>) outs(%196 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %198 = tensor.empty(%dim_57) : tensor<?x2x16xf32>
    %199 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_58 : tensor<?x2xi64>) outs(%198 : tensor<?x2x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %extracted = tensor.extract %arg16[%316, %317] : tensor<4x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16xf32>
    cf.assert %175, "mismatched size for broadcast"
    %200 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%197, %199 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %expanded_64 = tensor.expand_shape %172 [[0], [1, 2]] output_shape [%dim_55, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
    %201 = arith.cmpi eq, %dim, %dim_55 : index
    cf.assert %201, "mismatched size for broadcast"
    %202 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %expanded_64 : tensor<?x2x16xf32>, tensor<?x2x1xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %203 = linalg.generic {indexing_maps = [#map1, #map20], iterator_types = ["parallel", "reduction", "parallel"]} ins(%202 : tensor<?x2x16xf32>) outs(%31 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_65 = tensor.expand_shape %203 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %204 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %expanded_65 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %205 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %206 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%205 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %207 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.divf %in, %cst_8 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %208 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_6 : f64 to f32
      %314 = arith.addf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x1xf32>
    %209 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.rsqrt %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %210 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %209 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %211 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg34, %210 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_66 = tensor.collapse_shape %211 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %transposed_67 = linalg.transpose ins(%arg20 : tensor<16x16xf32>) outs(%29 : tensor<16x16xf32>) permutation = [1, 0] 
    %212 = linalg.matmul ins(%collapsed_66, %transposed_67 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%31 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %213 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg21 : tensor<16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %214 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%212, %213 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_68 = tensor.expand_shape %214 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_69 = tensor.reshape %expanded_68(%from_elements) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_70 = linalg.transpose ins(%reshape_69 : tensor<1x?x2x8xf32>) outs(%45 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_71 = linalg.transpose ins(%arg22 : tensor<8x16xf32>) outs(%46 : tensor<16x8xf32>) permutation = [1, 0] 
    %215 = linalg.matmul ins(%collapsed_66, %transposed_71 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%48 : tensor<?x8xf32>) -> tensor<?x8xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %216 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg23 : tensor<8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x8xf32>
    %217 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%215, %216 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x8xf32>
    %expanded_72 = tensor.expand_shape %217 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_73 = tensor.reshape %expanded_72(%from_elements_17) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_74 = linalg.transpose ins(%reshape_73 : tensor<1x?x1x8xf32>) outs(%56 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_75 = linalg.transpose ins(%arg24 : tensor<8x16xf32>) outs(%46 : tensor<16x8xf32>) permutation = [1, 0] 
    %218 = linalg.matmul ins(%collapsed_66, %transposed_75 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%48 : tensor<?x8xf32>) -> tensor<?x8xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %219 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg25 : tensor<8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x8xf32>
    %220 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%218, %219 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%47 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x8xf32>
    %expanded_76 = tensor.expand_shape %220 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_77 = tensor.reshape %expanded_76(%from_elements_17) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_78 = linalg.transpose ins(%reshape_77 : tensor<1x?x1x8xf32>) outs(%56 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_79 = tensor.extract_slice %transposed_70[0, 0, 0, 0] [1, 2, %44, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_80 = tensor.extract_slice %transposed_70[0, 0, 0, 4] [1, 2, %44, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %221 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_79, %expanded_24 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %222 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_80, %expanded_25 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %223 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%221, %222 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %224 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_80, %expanded_24 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    cf.assert %60, "mismatched size for broadcast"
    %225 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_79, %expanded_25 : tensor<1x2x?x4xf32>, tensor<1x1x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %226 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%224, %225 : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_81 = tensor.concat dim(3) %223, %226 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    %extracted_slice_82 = tensor.extract_slice %transposed_74[0, 0, 0, 0] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_83 = tensor.extract_slice %transposed_74[0, 0, 0, 4] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %227 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_82, %expanded_24 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %228 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_83, %expanded_25 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %229 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%227, %228 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %230 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_83, %expanded_24 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    cf.assert %68, "mismatched size for broadcast"
    %231 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_82, %expanded_25 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %232 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%230, %231 : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) outs(%69 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_84 = tensor.concat dim(3) %229, %232 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    %expanded_85 = tensor.expand_shape %concat_84 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %233 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%76 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 3 : index
      %314 = linalg.index 4 : index
      %315 = arith.cmpi eq, %55, %c1 : index
      %316 = arith.select %315, %c0, %313 : index
      %extracted = tensor.extract %expanded_85[%c0, %c0, %c0, %316, %314] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_86 = tensor.collapse_shape %233 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_87 = tensor.expand_shape %transposed_78 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %234 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%76 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 3 : index
      %314 = linalg.index 4 : index
      %315 = arith.cmpi eq, %55, %c1 : index
      %316 = arith.select %315, %c0, %313 : index
      %extracted = tensor.extract %expanded_87[%c0, %c0, %c0, %316, %314] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_88 = tensor.collapse_shape %234 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %transposed_89 = linalg.transpose ins(%collapsed_86 : tensor<1x2x?x8xf32>) outs(%79 : tensor<1x2x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %235 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %44, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %extracted = tensor.extract %concat_81[%c0, %313, %317, %315] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_90 = tensor.collapse_shape %235 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %236 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%79 : tensor<1x2x8x?xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %315 : index
      %extracted = tensor.extract %transposed_89[%c0, %313, %314, %317] : tensor<1x2x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x8x?xf32>
    %collapsed_91 = tensor.collapse_shape %236 [[0, 1], [2], [3]] : tensor<1x2x8x?xf32> into tensor<2x8x?xf32>
    %237 = linalg.batch_matmul ins(%collapsed_90, %collapsed_91 : tensor<2x?x8xf32>, tensor<2x8x?xf32>) outs(%84 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %reshape_92 = tensor.reshape %237(%from_elements_37) : (tensor<2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %238 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_92 : tensor<1x2x?x?xf32>) outs(%96 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_5 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %98, "mismatched size for broadcast"
    cf.assert %98, "mismatched size for broadcast"
    %239 = linalg.generic {indexing_maps = [#map11, #map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %238, %cst_2 : tensor<1x1x?x?xi1>, tensor<1x2x?x?xf32>, tensor<f32>) outs(%99 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_121: f32, %in_122: f32, %out: f32):
      %313 = arith.select %in, %in_121, %in_122 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %expanded_93 = tensor.expand_shape %arg19 [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xf32> into tensor<1x2x1xf32>
    %240 = linalg.generic {indexing_maps = [#map13, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_93 : tensor<1x2x1xf32>) outs(%102 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x1xf32>
    %concat_94 = tensor.concat dim(3) %239, %240 : (tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) -> tensor<1x2x?x?xf32>
    %241:2 = linalg.generic {indexing_maps = [#map5, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%concat_94 : tensor<1x2x?x?xf32>) outs(%107, %105 : tensor<1x2x?xf32>, tensor<1x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_121: i64):
      %313 = linalg.index 3 : index
      %314 = arith.index_cast %313 : index to i64
      %315 = arith.maximumf %in, %out : f32
      %316 = arith.cmpf ogt, %in, %out : f32
      %317 = arith.select %316, %314, %out_121 : i64
      linalg.yield %315, %317 : f32, i64
    } -> (tensor<1x2x?xf32>, tensor<1x2x?xi64>)
    %expanded_95 = tensor.expand_shape %241#0 [[0], [1], [2, 3]] output_shape [1, 2, %dim, 1] : tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
    %242 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_94, %expanded_95 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %243 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%242 : tensor<1x2x?x?xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.exp %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %244 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%243 : tensor<1x2x?x?xf32>) outs(%114 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x1xf32>
    %245 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%243, %244 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.divf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x2x?x?xf32>
    %extracted_slice_96 = tensor.extract_slice %245[0, 0, 0, %119] [1, 2, %dim, %125] [1, 1, 1, 1] : tensor<1x2x?x?xf32> to tensor<1x2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %246 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%99 : tensor<1x2x?x?xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %318 = arith.cmpi eq, %125, %c1 : index
      %319 = arith.select %318, %c0, %315 : index
      %extracted = tensor.extract %extracted_slice_96[%c0, %313, %317, %319] : tensor<1x2x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %reshape_97 = tensor.reshape %246(%from_elements_43) : (tensor<1x2x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %247 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %313 = linalg.index 1 : index
      %314 = linalg.index 2 : index
      %315 = linalg.index 3 : index
      %316 = arith.cmpi eq, %dim, %c1 : index
      %317 = arith.select %316, %c0, %314 : index
      %extracted = tensor.extract %collapsed_88[%c0, %313, %317, %315] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_98 = tensor.collapse_shape %247 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    cf.assert %128, "mismatching contracting dimension"
    %248 = linalg.batch_matmul ins(%reshape_97, %collapsed_98 : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%130 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %expanded_99 = tensor.expand_shape %248 [[0, 1], [2], [3]] output_shape [1, 2, %95, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %transposed_100 = linalg.transpose ins(%expanded_99 : tensor<1x2x?x8xf32>) outs(%132 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_101 = tensor.reshape %transposed_100(%from_elements_48) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %collapsed_102 = tensor.collapse_shape %reshape_101 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %transposed_103 = linalg.transpose ins(%arg26 : tensor<16x16xf32>) outs(%29 : tensor<16x16xf32>) permutation = [1, 0] 
    %249 = linalg.matmul ins(%collapsed_102, %transposed_103 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%138 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %250 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg27 : tensor<16xf32>) outs(%30 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    cf.assert %141, "mismatched size for broadcast"
    %251 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%249, %250 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%137 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_104 = tensor.expand_shape %251 [[0, 1], [2]] output_shape [1, %136, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %143, "mismatched size for broadcast"
    %252 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %expanded_104 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %253 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %254 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%253 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %255 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%254 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.divf %in, %cst_8 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %256 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%255 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_6 : f64 to f32
      %314 = arith.addf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x1xf32>
    %257 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%256 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.rsqrt %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %258 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252, %257 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %259 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg35, %258 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_105 = tensor.collapse_shape %259 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %transposed_106 = linalg.transpose ins(%arg28 : tensor<4x16xf32>) outs(%152 : tensor<16x4xf32>) permutation = [1, 0] 
    %260 = linalg.matmul ins(%collapsed_105, %transposed_106 : tensor<?x16xf32>, tensor<16x4xf32>) outs(%154 : tensor<?x4xf32>) -> tensor<?x4xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %261 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg29 : tensor<4xf32>) outs(%153 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %262 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%260, %261 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%153 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x4xf32>
    %263:2 = "tm_tensor.sort"(%262, %159) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: i64, %arg43: i64):
      %313 = arith.cmpf oge, %arg40, %arg41 : f32
      "tm_tensor.yield"(%313) : (i1) -> ()
    }) : (tensor<?x4xf32>, tensor<?x4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %dim_107 = tensor.dim %263#0, %c0 : tensor<?x4xf32>
    %extracted_slice_108 = tensor.extract_slice %263#0[0, 0] [%dim_107, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
    %dim_109 = tensor.dim %263#1, %c0 : tensor<?x4xi64>
    %extracted_slice_110 = tensor.extract_slice %263#1[0, 0] [%dim_109, 2] [1, 1] : tensor<?x4xi64> to tensor<?x2xi64>
    %264 = tensor.empty(%dim_107) : tensor<?xi64>
    %265 = linalg.fill ins(%c0_i64 : i64) outs(%264 : tensor<?xi64>) -> tensor<?xi64>
    %266 = tensor.empty(%dim_107) : tensor<?xf32>
    %267 = linalg.fill ins(%cst_0 : f32) outs(%266 : tensor<?xf32>) -> tensor<?xf32>
    %268:2 = linalg.generic {indexing_maps = [#map10, #map16, #map16], iterator_types = ["parallel", "reduction"]} ins(%extracted_slice_108 : tensor<?x2xf32>) outs(%267, %265 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_121: i64):
      %313 = linalg.index 1 : index
      %314 = arith.index_cast %313 : index to i64
      %315 = arith.maximumf %in, %out : f32
      %316 = arith.cmpf ogt, %in, %out : f32
      %317 = arith.select %316, %314, %out_121 : i64
      linalg.yield %315, %317 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded_111 = tensor.expand_shape %268#0 [[0, 1]] output_shape [%dim_107, 1] : tensor<?xf32> into tensor<?x1xf32>
    %269 = tensor.empty(%dim_107) : tensor<?x2xf32>
    %270 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_108, %expanded_111 : tensor<?x2xf32>, tensor<?x1xf32>) outs(%269 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.subf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %271 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%270 : tensor<?x2xf32>) outs(%269 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.exp %in : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %272 = tensor.empty(%dim_107) : tensor<?x1xf32>
    %273 = linalg.fill ins(%cst : f32) outs(%272 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %274 = linalg.generic {indexing_maps = [#map10, #map17], iterator_types = ["parallel", "reduction"]} ins(%271 : tensor<?x2xf32>) outs(%273 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x1xf32>
    %275 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%271, %274 : tensor<?x2xf32>, tensor<?x1xf32>) outs(%269 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.divf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2xf32>
    %276 = tensor.empty(%dim_109) : tensor<?x2x16x32xf32>
    %277 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_110 : tensor<?x2xi64>) outs(%276 : tensor<?x2x16x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %318 = linalg.index 3 : index
      %extracted = tensor.extract %arg30[%316, %317, %318] : tensor<4x16x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x32xf32>
    %expanded_112 = tensor.expand_shape %collapsed_105 [[0], [1, 2, 3]] output_shape [%dim, 1, 16, 1] : tensor<?x16xf32> into tensor<?x1x16x1xf32>
    %278 = arith.cmpi eq, %dim, %dim_109 : index
    cf.assert %278, "mismatched size for broadcast"
    %279 = linalg.generic {indexing_maps = [#map19, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_112, %277 : tensor<?x1x16x1xf32>, tensor<?x2x16x32xf32>) outs(%176 : tensor<?x2x16x32xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16x32xf32>
    %280 = linalg.generic {indexing_maps = [#map5, #map13], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%279 : tensor<?x2x16x32xf32>) outs(%179 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x32xf32>
    %281 = tensor.empty(%dim_109) : tensor<?x2x32xf32>
    %282 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_110 : tensor<?x2xi64>) outs(%281 : tensor<?x2x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %extracted = tensor.extract %arg31[%316, %317] : tensor<4x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x32xf32>
    cf.assert %278, "mismatched size for broadcast"
    %283 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%280, %282 : tensor<?x2x32xf32>, tensor<?x2x32xf32>) outs(%178 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x32xf32>
    %extracted_slice_113 = tensor.extract_slice %283[0, 0, 0] [%dim, 2, 16] [1, 1, 2] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %extracted_slice_114 = tensor.extract_slice %283[0, 0, 1] [%dim, 2, 16] [1, 1, 2] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %284 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_113 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.cmpf ugt, %in, %cst_9 : f32
      %314 = arith.select %313, %cst_9, %in : f32
      linalg.yield %314 : f32
    } -> tensor<?x2x16xf32>
    %285 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_114 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.cmpf ult, %in, %cst_10 : f32
      %314 = arith.select %313, %cst_10, %in : f32
      %315 = arith.cmpf ugt, %314, %cst_9 : f32
      %316 = arith.select %315, %cst_9, %314 : f32
      linalg.yield %316 : f32
    } -> tensor<?x2x16xf32>
    %286 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_4 : f64 to f32
      %314 = arith.mulf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<?x2x16xf32>
    %287 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%286 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.negf %in : f32
      %314 = math.exp %313 : f32
      %315 = arith.addf %314, %cst_1 : f32
      %316 = arith.divf %cst_1, %315 : f32
      linalg.yield %316 : f32
    } -> tensor<?x2x16xf32>
    %288 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284, %287 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %289 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%285 : tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %cst_1 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %290 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289, %288 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %291 = tensor.empty(%dim_109) : tensor<?x2x16x16xf32>
    %292 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_110 : tensor<?x2xi64>) outs(%291 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %318 = linalg.index 3 : index
      %extracted = tensor.extract %arg32[%316, %317, %318] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x16xf32>
    %expanded_115 = tensor.expand_shape %290 [[0], [1], [2, 3]] output_shape [%dim, 2, 16, 1] : tensor<?x2x16xf32> into tensor<?x2x16x1xf32>
    cf.assert %278, "mismatched size for broadcast"
    %293 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_115, %292 : tensor<?x2x16x1xf32>, tensor<?x2x16x16xf32>) outs(%194 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16x16xf32>
    %294 = linalg.generic {indexing_maps = [#map5, #map13], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%293 : tensor<?x2x16x16xf32>) outs(%196 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %295 = tensor.empty(%dim_109) : tensor<?x2x16xf32>
    %296 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_110 : tensor<?x2xi64>) outs(%295 : tensor<?x2x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %313 = arith.cmpi slt, %in, %c0_i64 : i64
      %314 = arith.addi %in, %c4_i64 : i64
      %315 = arith.select %313, %314, %in : i64
      %316 = arith.index_cast %315 : i64 to index
      %317 = linalg.index 2 : index
      %extracted = tensor.extract %arg33[%316, %317] : tensor<4x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16xf32>
    cf.assert %278, "mismatched size for broadcast"
    %297 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%294, %296 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %expanded_116 = tensor.expand_shape %275 [[0], [1, 2]] output_shape [%dim_107, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
    %298 = arith.cmpi eq, %dim, %dim_107 : index
    cf.assert %298, "mismatched size for broadcast"
    %299 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%297, %expanded_116 : tensor<?x2x16xf32>, tensor<?x2x1xf32>) outs(%184 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<?x2x16xf32>
    %300 = linalg.generic {indexing_maps = [#map1, #map20], iterator_types = ["parallel", "reduction", "parallel"]} ins(%299 : tensor<?x2x16xf32>) outs(%31 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<?x16xf32>
    %expanded_117 = tensor.expand_shape %300 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %301 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252, %expanded_117 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.addf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %302 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%301 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %303 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%302 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.addf %in, %out : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %304 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%303 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.divf %in, %cst_8 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %305 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%304 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = arith.truncf %cst_6 : f64 to f32
      %314 = arith.addf %in, %313 : f32
      linalg.yield %314 : f32
    } -> tensor<1x?x1xf32>
    %306 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%305 : tensor<1x?x1xf32>) outs(%13 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %313 = math.rsqrt %in : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x1xf32>
    %307 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%301, %306 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %308 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg36, %307 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_121: f32, %out: f32):
      %313 = arith.mulf %in, %in_121 : f32
      linalg.yield %313 : f32
    } -> tensor<1x?x16xf32>
    %309 = tensor.empty() : tensor<16x32xf32>
    %transposed_118 = linalg.transpose ins(%arg37 : tensor<32x16xf32>) outs(%309 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_119 = tensor.collapse_shape %308 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %310 = tensor.empty(%dim) : tensor<?x32xf32>
    %311 = linalg.fill ins(%cst : f32) outs(%310 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %312 = linalg.matmul ins(%collapsed_119, %transposed_118 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%311 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_120 = tensor.expand_shape %312 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_120 : tensor<1x?x32xf32>
  }
}

