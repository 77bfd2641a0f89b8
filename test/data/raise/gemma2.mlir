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
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {kv.model = {architecture = "gemma2", max_seq_len = 64 : i64, name = "gemma2", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<32x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x32xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.gate_proj.weight"}, %arg7: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.up_proj.weight"}, %arg8: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.down_proj.weight"}, %arg9: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.layers.0.pre_feedforward_layernorm.weight"}, %arg12: tensor<16xf32> {kv.weight = "model.layers.0.post_feedforward_layernorm.weight"}, %arg13: tensor<32x16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.weight"}, %arg14: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.k_proj.weight"}, %arg15: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.v_proj.weight"}, %arg16: tensor<16x32xf32> {kv.weight = "model.layers.1.self_attn.o_proj.weight"}, %arg17: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.gate_proj.weight"}, %arg18: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.up_proj.weight"}, %arg19: tensor<16x16xf32> {kv.weight = "model.layers.1.mlp.down_proj.weight"}, %arg20: tensor<16xf32> {kv.weight = "model.layers.1.input_layernorm.weight"}, %arg21: tensor<16xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"}, %arg22: tensor<16xf32> {kv.weight = "model.layers.1.pre_feedforward_layernorm.weight"}, %arg23: tensor<16xf32> {kv.weight = "model.layers.1.post_feedforward_layernorm.weight"}, %arg24: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg25: tensor<f32> {kv.weight = "model.embed_tokens.embed_scale"}, %arg26: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg27: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %c5_i64 = arith.constant 5 : i64
    %c2_i64 = arith.constant 2 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c8_i64 = arith.constant 8 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_1 = arith.constant 4.471500e-02 : f32
    %cst_2 = arith.constant 7.977240e-01 : f32
    %cst_3 = arith.constant 1.000000e+00 : f32
    %cst_4 = arith.constant 5.000000e-01 : f32
    %cst_5 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_6 = arith.constant dense<true> : tensor<i1>
    %cst_7 = arith.constant 9.9999999999999995E-7 : f64
    %cst_8 = arith.constant 1.600000e+01 : f32
    %c32_i64 = arith.constant 32 : i64
    %c16_i64 = arith.constant 16 : i64
    %cst_9 = arith.constant 6.250000e-02 : f32
    %cst_10 = arith.constant 5.000000e+01 : f32
    %cst_11 = arith.constant 3.000000e+01 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %239 = arith.index_cast %in : i64 to index
      %240 = linalg.index 2 : index
      %241 = arith.cmpi slt, %239, %c32 : index
      cf.assert %241, "index must be smaller than dim size"
      %242 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %242, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%239, %240] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %arg25 : tensor<1x?x16xf32>, tensor<f32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %5 = tensor.empty(%dim) : tensor<?xi64>
    %6 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%5 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %239 = linalg.index 0 : index
      %240 = arith.index_cast %239 : index to i64
      linalg.yield %240 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %6 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_12 = tensor.expand_shape %6 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %7 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %8 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_107: i64, %out: i1):
      %239 = arith.cmpi sle, %in, %in_107 : i64
      linalg.yield %239 : i1
    } -> tensor<1x1x?x?xi1>
    %9 = tensor.empty(%dim) : tensor<1x1x?x1xi64>
    %10 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x?x1xi64>) outs(%9 : tensor<1x1x?x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %239 = arith.subi %in, %c5_i64 : i64
      linalg.yield %239 : i64
    } -> tensor<1x1x?x1xi64>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12, %10 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_107: i64, %out: i1):
      %239 = arith.cmpi sgt, %in, %in_107 : i64
      linalg.yield %239 : i1
    } -> tensor<1x1x?x?xi1>
    %12 = linalg.generic {indexing_maps = [#map7, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6, %11 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_107: i1, %out: i1):
      %239 = arith.andi %in, %in_107 : i1
      linalg.yield %239 : i1
    } -> tensor<1x1x?x?xi1>
    %13 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %8 : tensor<1x1x?x?xi1>, tensor<1x1x?x?xi1>) outs(%7 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_107: i1, %out: i1):
      %239 = arith.andi %in, %in_107 : i1
      linalg.yield %239 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_13 = tensor.expand_shape %6 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %14 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_13 : tensor<1x?x1xi64>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %239 = arith.sitofp %in : i64 to f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %16 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %17 = linalg.generic {indexing_maps = [#map8, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %arg26 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%16 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %17, %17 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %18 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.cos %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x8xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.sin %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x8xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%14 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %26 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %28 = tensor.empty() : tensor<16xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg9 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %29 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %31 = tensor.empty() : tensor<16x32xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<32x16xf32>) outs(%31 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %30 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %32 = tensor.empty(%dim) : tensor<?x32xf32>
    %33 = linalg.fill ins(%cst : f32) outs(%32 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %34 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x32xf32>) outs(%33 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_14 = tensor.expand_shape %34 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    %35 = arith.cmpi slt, %0, %c0_i64 : i64
    %36 = arith.select %35, %c1_i64, %0 : i64
    %37 = arith.extui %35 : i1 to i64
    %38 = arith.addi %37, %c1_i64 : i64
    %39 = arith.muli %36, %c8_i64 : i64
    %40 = arith.cmpi sle, %38, %c1_i64 : i64
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %41 = arith.muli %0, %c32_i64 : i64
    %42 = arith.divsi %41, %39 : i64
    %43 = arith.select %35, %42, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %43, %42, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_14(%from_elements) : (tensor<1x?x32xf32>, tensor<4xi64>) -> tensor<1x?x4x8xf32>
    %44 = arith.index_cast %43 : i64 to index
    %45 = tensor.empty(%44) : tensor<1x4x?x8xf32>
    %transposed_15 = linalg.transpose ins(%reshape : tensor<1x?x4x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) permutation = [0, 2, 1, 3] 
    %46 = tensor.empty() : tensor<16x16xf32>
    %transposed_16 = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %47 = tensor.empty(%dim) : tensor<?x16xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%47 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %49 = linalg.matmul ins(%collapsed, %transposed_16 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_17 = tensor.expand_shape %49 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %50 = arith.muli %0, %c16_i64 : i64
    %51 = arith.divsi %50, %39 : i64
    %52 = arith.select %35, %51, %0 : i64
    %from_elements_18 = tensor.from_elements %c1_i64, %52, %51, %c8_i64 : tensor<4xi64>
    %reshape_19 = tensor.reshape %expanded_17(%from_elements_18) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %53 = arith.index_cast %52 : i64 to index
    %54 = tensor.empty(%53) : tensor<1x2x?x8xf32>
    %transposed_20 = linalg.transpose ins(%reshape_19 : tensor<1x?x2x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_21 = linalg.transpose ins(%arg4 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %55 = linalg.matmul ins(%collapsed, %transposed_21 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_22 = tensor.expand_shape %55 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_23 = tensor.reshape %expanded_22(%from_elements_18) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_24 = linalg.transpose ins(%reshape_23 : tensor<1x?x2x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_25 = tensor.expand_shape %19 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_26 = tensor.expand_shape %20 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %56 = arith.cmpi eq, %44, %dim : index
    cf.assert %56, "mismatched size for broadcast"
    %57 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15, %expanded_25 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    %extracted_slice = tensor.extract_slice %transposed_15[0, 0, 0, 0] [1, 4, %44, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %extracted_slice_27 = tensor.extract_slice %transposed_15[0, 0, 0, 4] [1, 4, %44, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %58 = tensor.empty(%44) : tensor<1x4x?x4xf32>
    %59 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27 : tensor<1x4x?x4xf32>) outs(%58 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.negf %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x4xf32>
    %concat_28 = tensor.concat dim(3) %59, %extracted_slice : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x8xf32>
    cf.assert %56, "mismatched size for broadcast"
    %60 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_28, %expanded_26 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    %61 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %60 : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    %62 = arith.cmpi eq, %53, %dim : index
    cf.assert %62, "mismatched size for broadcast"
    %63 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_20, %expanded_25 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice_29 = tensor.extract_slice %transposed_20[0, 0, 0, 0] [1, 2, %53, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_30 = tensor.extract_slice %transposed_20[0, 0, 0, 4] [1, 2, %53, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %64 = tensor.empty(%53) : tensor<1x2x?x4xf32>
    %65 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_30 : tensor<1x2x?x4xf32>) outs(%64 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.negf %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_31 = tensor.concat dim(3) %65, %extracted_slice_29 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %62, "mismatched size for broadcast"
    %66 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_31, %expanded_26 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %67 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63, %66 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_32 = tensor.expand_shape %67 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %53, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %68 = tensor.empty(%dim) : tensor<1x2x2x?x8xf32>
    %69 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 3 : index
      %241 = linalg.index 4 : index
      %242 = arith.cmpi eq, %53, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %expanded_32[%c0, %239, %c0, %243, %241] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_33 = tensor.collapse_shape %69 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %expanded_34 = tensor.expand_shape %transposed_24 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %53, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %70 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 3 : index
      %241 = linalg.index 4 : index
      %242 = arith.cmpi eq, %53, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %expanded_34[%c0, %239, %c0, %243, %241] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_35 = tensor.collapse_shape %70 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %71 = tensor.empty(%dim) : tensor<1x4x8x?xf32>
    %transposed_36 = linalg.transpose ins(%collapsed_33 : tensor<1x4x?x8xf32>) outs(%71 : tensor<1x4x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %72 = tensor.empty(%dim) : tensor<1x4x?x8xf32>
    %73 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%72 : tensor<1x4x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %44, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %61[%c0, %239, %243, %241] : tensor<1x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x8xf32>
    %collapsed_37 = tensor.collapse_shape %73 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %74 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<1x4x8x?xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %241 : index
      %extracted = tensor.extract %transposed_36[%c0, %239, %240, %243] : tensor<1x4x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x8x?xf32>
    %collapsed_38 = tensor.collapse_shape %74 [[0, 1], [2], [3]] : tensor<1x4x8x?xf32> into tensor<4x8x?xf32>
    %75 = tensor.empty(%dim, %dim) : tensor<4x?x?xf32>
    %76 = linalg.fill ins(%cst : f32) outs(%75 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %77 = linalg.batch_matmul ins(%collapsed_37, %collapsed_38 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%76 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %78 = arith.muli %0, %c4_i64 : i64
    %79 = arith.select %35, %c4_i64, %78 : i64
    %80 = arith.muli %79, %0 : i64
    %81 = arith.select %35, %c4_i64, %80 : i64
    %82 = arith.select %35, %38, %37 : i64
    %83 = arith.cmpi sle, %82, %c1_i64 : i64
    cf.assert %83, "must have at most one inferred (negative) dimension"
    %84 = arith.muli %78, %0 : i64
    %85 = arith.divsi %84, %81 : i64
    %86 = arith.select %35, %85, %0 : i64
    %from_elements_39 = tensor.from_elements %c1_i64, %c4_i64, %86, %86 : tensor<4xi64>
    %reshape_40 = tensor.reshape %77(%from_elements_39) : (tensor<4x?x?xf32>, tensor<4xi64>) -> tensor<1x4x?x?xf32>
    %87 = arith.index_cast %86 : i64 to index
    %88 = tensor.empty(%87, %87) : tensor<1x4x?x?xf32>
    %89 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_40 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.mulf %in, %cst_9 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %90 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%89 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_10 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %91 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.tanh %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %92 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%91 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.mulf %in, %cst_10 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %93 = arith.cmpi eq, %dim, %87 : index
    cf.assert %93, "mismatched size for broadcast"
    cf.assert %93, "mismatched size for broadcast"
    %94 = tensor.empty(%dim, %dim) : tensor<1x4x?x?xf32>
    %95 = linalg.generic {indexing_maps = [#map10, #map6, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %92, %cst_5 : tensor<1x1x?x?xi1>, tensor<1x4x?x?xf32>, tensor<f32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_107: f32, %in_108: f32, %out: f32):
      %239 = arith.select %in, %in_107, %in_108 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %96 = tensor.empty(%dim) : tensor<1x4x?xi64>
    %97 = linalg.fill ins(%c0_i64 : i64) outs(%96 : tensor<1x4x?xi64>) -> tensor<1x4x?xi64>
    %98 = tensor.empty(%dim) : tensor<1x4x?xf32>
    %99 = linalg.fill ins(%cst_0 : f32) outs(%98 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %100:2 = linalg.generic {indexing_maps = [#map6, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%95 : tensor<1x4x?x?xf32>) outs(%99, %97 : tensor<1x4x?xf32>, tensor<1x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_107: i64):
      %239 = linalg.index 3 : index
      %240 = arith.index_cast %239 : index to i64
      %241 = arith.maximumf %in, %out : f32
      %242 = arith.cmpf ogt, %in, %out : f32
      %243 = arith.select %242, %240, %out_107 : i64
      linalg.yield %241, %243 : f32, i64
    } -> (tensor<1x4x?xf32>, tensor<1x4x?xi64>)
    %expanded_41 = tensor.expand_shape %100#0 [[0], [1], [2, 3]] output_shape [1, 4, %dim, 1] : tensor<1x4x?xf32> into tensor<1x4x?x1xf32>
    %101 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%95, %expanded_41 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.subf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %102 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101 : tensor<1x4x?x?xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.exp %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %103 = tensor.empty(%dim) : tensor<1x4x?x1xf32>
    %104 = linalg.fill ins(%cst : f32) outs(%103 : tensor<1x4x?x1xf32>) -> tensor<1x4x?x1xf32>
    %105 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%102 : tensor<1x4x?x?xf32>) outs(%104 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x1xf32>
    %106 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%102, %105 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.divf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %107 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %244 = arith.select %242, %c0, %241 : index
      %extracted = tensor.extract %106[%c0, %239, %243, %244] : tensor<1x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %83, "must have at most one inferred (negative) dimension"
    %from_elements_42 = tensor.from_elements %c4_i64, %86, %86 : tensor<3xi64>
    %reshape_43 = tensor.reshape %107(%from_elements_42) : (tensor<1x4x?x?xf32>, tensor<3xi64>) -> tensor<4x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %108 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%72 : tensor<1x4x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %collapsed_35[%c0, %239, %243, %241] : tensor<1x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x8xf32>
    %collapsed_44 = tensor.collapse_shape %108 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    %109 = arith.cmpi eq, %86, %0 : i64
    cf.assert %109, "mismatching contracting dimension"
    %110 = tensor.empty(%87) : tensor<4x?x8xf32>
    %111 = linalg.fill ins(%cst : f32) outs(%110 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %112 = linalg.batch_matmul ins(%reshape_43, %collapsed_44 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%111 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %expanded_45 = tensor.expand_shape %112 [[0, 1], [2], [3]] output_shape [1, 4, %87, 8] : tensor<4x?x8xf32> into tensor<1x4x?x8xf32>
    %113 = tensor.empty(%87) : tensor<1x?x4x8xf32>
    %transposed_46 = linalg.transpose ins(%expanded_45 : tensor<1x4x?x8xf32>) outs(%113 : tensor<1x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %114 = arith.muli %86, %c32_i64 : i64
    %115 = arith.divsi %114, %36 : i64
    %116 = arith.select %35, %115, %0 : i64
    %from_elements_47 = tensor.from_elements %c1_i64, %116, %115 : tensor<3xi64>
    %reshape_48 = tensor.reshape %transposed_46(%from_elements_47) : (tensor<1x?x4x8xf32>, tensor<3xi64>) -> tensor<1x?x32xf32>
    %117 = tensor.empty() : tensor<32x16xf32>
    %transposed_49 = linalg.transpose ins(%arg5 : tensor<16x32xf32>) outs(%117 : tensor<32x16xf32>) permutation = [1, 0] 
    %collapsed_50 = tensor.collapse_shape %reshape_48 [[0, 1], [2]] : tensor<1x?x32xf32> into tensor<?x32xf32>
    %118 = arith.index_cast %116 : i64 to index
    %119 = tensor.empty(%118) : tensor<?x16xf32>
    %120 = linalg.fill ins(%cst : f32) outs(%119 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %121 = linalg.matmul ins(%collapsed_50, %transposed_49 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%120 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_51 = tensor.expand_shape %121 [[0, 1], [2]] output_shape [1, %118, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %122 = tensor.empty(%118) : tensor<1x?x16xf32>
    %123 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_51 : tensor<1x?x16xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %124 = tensor.empty(%118) : tensor<1x?x1xf32>
    %125 = linalg.fill ins(%cst : f32) outs(%124 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %126 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<1x?x16xf32>) outs(%125 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %129 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %130 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_51, %129 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %131 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg10 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %131 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %133 = arith.cmpi eq, %dim, %118 : index
    cf.assert %133, "mismatched size for broadcast"
    %134 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %132 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %135 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %136 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%135 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %137 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %139 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg11 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %142 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %141 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_52 = linalg.transpose ins(%arg6 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_53 = tensor.collapse_shape %142 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %143 = linalg.matmul ins(%collapsed_53, %transposed_52 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_54 = tensor.expand_shape %143 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_54 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c3_i64 : f32, i64
      %240 = arith.mulf %239, %cst_1 : f32
      %241 = arith.addf %in, %240 : f32
      %242 = arith.mulf %241, %cst_2 : f32
      %243 = math.tanh %242 : f32
      %244 = arith.addf %243, %cst_3 : f32
      %245 = arith.mulf %244, %cst_4 : f32
      %246 = arith.mulf %in, %245 : f32
      linalg.yield %246 : f32
    } -> tensor<1x?x16xf32>
    %transposed_55 = linalg.transpose ins(%arg7 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %145 = linalg.matmul ins(%collapsed_53, %transposed_55 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_56 = tensor.expand_shape %145 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %expanded_56 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_57 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_58 = tensor.collapse_shape %146 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %147 = linalg.matmul ins(%collapsed_58, %transposed_57 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_59 = tensor.expand_shape %147 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_59 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%148 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %151 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %152 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %153 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_59, %152 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %154 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg12 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %155 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %154 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %156 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %155 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %157 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %158 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%157 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %159 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %160 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %161 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %162 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %161 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %163 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg20 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %164 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162, %163 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_60 = linalg.transpose ins(%arg13 : tensor<32x16xf32>) outs(%31 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_61 = tensor.collapse_shape %164 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %165 = linalg.matmul ins(%collapsed_61, %transposed_60 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%33 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_62 = tensor.expand_shape %165 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_63 = tensor.reshape %expanded_62(%from_elements) : (tensor<1x?x32xf32>, tensor<4xi64>) -> tensor<1x?x4x8xf32>
    %transposed_64 = linalg.transpose ins(%reshape_63 : tensor<1x?x4x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_65 = linalg.transpose ins(%arg14 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %166 = linalg.matmul ins(%collapsed_61, %transposed_65 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_66 = tensor.expand_shape %166 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_67 = tensor.reshape %expanded_66(%from_elements_18) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_68 = linalg.transpose ins(%reshape_67 : tensor<1x?x2x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_69 = linalg.transpose ins(%arg15 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %167 = linalg.matmul ins(%collapsed_61, %transposed_69 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_70 = tensor.expand_shape %167 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_71 = tensor.reshape %expanded_70(%from_elements_18) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_72 = linalg.transpose ins(%reshape_71 : tensor<1x?x2x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %56, "mismatched size for broadcast"
    %168 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_64, %expanded_25 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    %extracted_slice_73 = tensor.extract_slice %transposed_64[0, 0, 0, 0] [1, 4, %44, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %extracted_slice_74 = tensor.extract_slice %transposed_64[0, 0, 0, 4] [1, 4, %44, 4] [1, 1, 1, 1] : tensor<1x4x?x8xf32> to tensor<1x4x?x4xf32>
    %169 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_74 : tensor<1x4x?x4xf32>) outs(%58 : tensor<1x4x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.negf %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x4xf32>
    %concat_75 = tensor.concat dim(3) %169, %extracted_slice_73 : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x8xf32>
    cf.assert %56, "mismatched size for broadcast"
    %170 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_75, %expanded_26 : tensor<1x4x?x8xf32>, tensor<1x1x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    %171 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%168, %170 : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>) outs(%45 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x8xf32>
    cf.assert %62, "mismatched size for broadcast"
    %172 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_68, %expanded_25 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice_76 = tensor.extract_slice %transposed_68[0, 0, 0, 0] [1, 2, %53, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_77 = tensor.extract_slice %transposed_68[0, 0, 0, 4] [1, 2, %53, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %173 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_77 : tensor<1x2x?x4xf32>) outs(%64 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.negf %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_78 = tensor.concat dim(3) %173, %extracted_slice_76 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %62, "mismatched size for broadcast"
    %174 = linalg.generic {indexing_maps = [#map6, #map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_78, %expanded_26 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %175 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%172, %174 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%54 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x2x?x8xf32>
    %expanded_79 = tensor.expand_shape %175 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %53, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %176 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 3 : index
      %241 = linalg.index 4 : index
      %242 = arith.cmpi eq, %53, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %expanded_79[%c0, %239, %c0, %243, %241] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_80 = tensor.collapse_shape %176 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %expanded_81 = tensor.expand_shape %transposed_72 [[0], [1], [2, 3], [4]] output_shape [1, 2, 1, %53, 8] : tensor<1x2x?x8xf32> into tensor<1x2x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %177 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%68 : tensor<1x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 3 : index
      %241 = linalg.index 4 : index
      %242 = arith.cmpi eq, %53, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %expanded_81[%c0, %239, %c0, %243, %241] : tensor<1x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x2x?x8xf32>
    %collapsed_82 = tensor.collapse_shape %177 [[0], [1, 2], [3], [4]] : tensor<1x2x2x?x8xf32> into tensor<1x4x?x8xf32>
    %transposed_83 = linalg.transpose ins(%collapsed_80 : tensor<1x4x?x8xf32>) outs(%71 : tensor<1x4x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %178 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%72 : tensor<1x4x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %44, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %171[%c0, %239, %243, %241] : tensor<1x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x8xf32>
    %collapsed_84 = tensor.collapse_shape %178 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %179 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<1x4x8x?xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %241 : index
      %extracted = tensor.extract %transposed_83[%c0, %239, %240, %243] : tensor<1x4x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x8x?xf32>
    %collapsed_85 = tensor.collapse_shape %179 [[0, 1], [2], [3]] : tensor<1x4x8x?xf32> into tensor<4x8x?xf32>
    %180 = linalg.batch_matmul ins(%collapsed_84, %collapsed_85 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%76 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    cf.assert %83, "must have at most one inferred (negative) dimension"
    %reshape_86 = tensor.reshape %180(%from_elements_39) : (tensor<4x?x?xf32>, tensor<4xi64>) -> tensor<1x4x?x?xf32>
    %181 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_86 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.mulf %in, %cst_9 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %182 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%181 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_10 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %183 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%182 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.tanh %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %184 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%183 : tensor<1x4x?x?xf32>) outs(%88 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.mulf %in, %cst_10 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %93, "mismatched size for broadcast"
    cf.assert %93, "mismatched size for broadcast"
    %185 = linalg.generic {indexing_maps = [#map10, #map6, #map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %184, %cst_5 : tensor<1x1x?x?xi1>, tensor<1x4x?x?xf32>, tensor<f32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_107: f32, %in_108: f32, %out: f32):
      %239 = arith.select %in, %in_107, %in_108 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %186:2 = linalg.generic {indexing_maps = [#map6, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%185 : tensor<1x4x?x?xf32>) outs(%99, %97 : tensor<1x4x?xf32>, tensor<1x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_107: i64):
      %239 = linalg.index 3 : index
      %240 = arith.index_cast %239 : index to i64
      %241 = arith.maximumf %in, %out : f32
      %242 = arith.cmpf ogt, %in, %out : f32
      %243 = arith.select %242, %240, %out_107 : i64
      linalg.yield %241, %243 : f32, i64
    } -> (tensor<1x4x?xf32>, tensor<1x4x?xi64>)
    %expanded_87 = tensor.expand_shape %186#0 [[0], [1], [2, 3]] output_shape [1, 4, %dim, 1] : tensor<1x4x?xf32> into tensor<1x4x?x1xf32>
    %187 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%185, %expanded_87 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.subf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %188 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%187 : tensor<1x4x?x?xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.exp %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    %189 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%188 : tensor<1x4x?x?xf32>) outs(%104 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x1xf32>
    %190 = linalg.generic {indexing_maps = [#map6, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%188, %189 : tensor<1x4x?x?xf32>, tensor<1x4x?x1xf32>) outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.divf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %191 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%94 : tensor<1x4x?x?xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %244 = arith.select %242, %c0, %241 : index
      %extracted = tensor.extract %190[%c0, %239, %243, %244] : tensor<1x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x?xf32>
    cf.assert %83, "must have at most one inferred (negative) dimension"
    %reshape_88 = tensor.reshape %191(%from_elements_42) : (tensor<1x4x?x?xf32>, tensor<3xi64>) -> tensor<4x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %192 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%72 : tensor<1x4x?x8xf32>) {
    ^bb0(%out: f32):
      %239 = linalg.index 1 : index
      %240 = linalg.index 2 : index
      %241 = linalg.index 3 : index
      %242 = arith.cmpi eq, %dim, %c1 : index
      %243 = arith.select %242, %c0, %240 : index
      %extracted = tensor.extract %collapsed_82[%c0, %239, %243, %241] : tensor<1x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x4x?x8xf32>
    %collapsed_89 = tensor.collapse_shape %192 [[0, 1], [2], [3]] : tensor<1x4x?x8xf32> into tensor<4x?x8xf32>
    cf.assert %109, "mismatching contracting dimension"
    %193 = linalg.batch_matmul ins(%reshape_88, %collapsed_89 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%111 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %expanded_90 = tensor.expand_shape %193 [[0, 1], [2], [3]] output_shape [1, 4, %87, 8] : tensor<4x?x8xf32> into tensor<1x4x?x8xf32>
    %transposed_91 = linalg.transpose ins(%expanded_90 : tensor<1x4x?x8xf32>) outs(%113 : tensor<1x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %40, "must have at most one inferred (negative) dimension"
    %reshape_92 = tensor.reshape %transposed_91(%from_elements_47) : (tensor<1x?x4x8xf32>, tensor<3xi64>) -> tensor<1x?x32xf32>
    %transposed_93 = linalg.transpose ins(%arg16 : tensor<16x32xf32>) outs(%117 : tensor<32x16xf32>) permutation = [1, 0] 
    %collapsed_94 = tensor.collapse_shape %reshape_92 [[0, 1], [2]] : tensor<1x?x32xf32> into tensor<?x32xf32>
    %194 = linalg.matmul ins(%collapsed_94, %transposed_93 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%120 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_95 = tensor.expand_shape %194 [[0, 1], [2]] output_shape [1, %118, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %195 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_95 : tensor<1x?x16xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %196 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%195 : tensor<1x?x16xf32>) outs(%125 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %197 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %198 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%197 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %199 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<1x?x1xf32>) outs(%124 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %200 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_95, %199 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %201 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg21 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %202 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %201 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%122 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    cf.assert %133, "mismatched size for broadcast"
    %203 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %202 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %204 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %205 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%204 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %206 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %207 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %208 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %209 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203, %208 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %210 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg22 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %211 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209, %210 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_96 = linalg.transpose ins(%arg17 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_97 = tensor.collapse_shape %211 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %212 = linalg.matmul ins(%collapsed_97, %transposed_96 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_98 = tensor.expand_shape %212 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %213 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_98 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c3_i64 : f32, i64
      %240 = arith.mulf %239, %cst_1 : f32
      %241 = arith.addf %in, %240 : f32
      %242 = arith.mulf %241, %cst_2 : f32
      %243 = math.tanh %242 : f32
      %244 = arith.addf %243, %cst_3 : f32
      %245 = arith.mulf %244, %cst_4 : f32
      %246 = arith.mulf %in, %245 : f32
      linalg.yield %246 : f32
    } -> tensor<1x?x16xf32>
    %transposed_99 = linalg.transpose ins(%arg18 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %214 = linalg.matmul ins(%collapsed_97, %transposed_99 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_100 = tensor.expand_shape %214 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %215 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %expanded_100 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_101 = linalg.transpose ins(%arg19 : tensor<16x16xf32>) outs(%46 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_102 = tensor.collapse_shape %215 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %216 = linalg.matmul ins(%collapsed_102, %transposed_101 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%48 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_103 = tensor.expand_shape %216 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %217 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_103 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %218 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%217 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %219 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %220 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%219 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %221 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%220 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %222 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_103, %221 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %223 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg23 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %224 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222, %223 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %225 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203, %224 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.addf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %226 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %227 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%226 : tensor<1x?x16xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %out : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %228 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%227 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_8 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %229 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%228 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.truncf %cst_7 : f64 to f32
      %240 = arith.addf %in, %239 : f32
      linalg.yield %240 : f32
    } -> tensor<1x?x1xf32>
    %230 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%229 : tensor<1x?x1xf32>) outs(%14 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.rsqrt %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x1xf32>
    %231 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %230 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %232 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg24 : tensor<16xf32>) outs(%28 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.addf %in, %cst_3 : f32
      linalg.yield %239 : f32
    } -> tensor<16xf32>
    %233 = linalg.generic {indexing_maps = [#map1, #map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %232 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_107: f32, %out: f32):
      %239 = arith.mulf %in, %in_107 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x16xf32>
    %transposed_104 = linalg.transpose ins(%arg1 : tensor<32x16xf32>) outs(%31 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_105 = tensor.collapse_shape %233 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %234 = linalg.matmul ins(%collapsed_105, %transposed_104 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%33 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_106 = tensor.expand_shape %234 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    %235 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %236 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_106 : tensor<1x?x32xf32>) outs(%235 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.divf %in, %cst_11 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x32xf32>
    %237 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236 : tensor<1x?x32xf32>) outs(%235 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = math.tanh %in : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x32xf32>
    %238 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%237 : tensor<1x?x32xf32>) outs(%235 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %239 = arith.mulf %in, %cst_11 : f32
      linalg.yield %239 : f32
    } -> tensor<1x?x32xf32>
    return %238 : tensor<1x?x32xf32>
  }
}

