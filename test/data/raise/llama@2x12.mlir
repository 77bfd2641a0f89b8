#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module attributes {kv.model = {architecture = "llama", max_seq_len = 12 : i64, name = "llama", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<2x12xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.gate_proj.weight"}, %arg7: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.up_proj.weight"}, %arg8: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.down_proj.weight"}, %arg9: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg12: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg13: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg14: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<2x12x32xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c32 = arith.constant 32 : index
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 1.600000e+01 : f32
    %0 = tensor.empty() : tensor<2x12x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x12xi64>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %79 = arith.index_cast %in : i64 to index
      %80 = linalg.index 2 : index
      %81 = arith.cmpi slt, %79, %c32 : index
      cf.assert %81, "index must be smaller than dim size"
      %82 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %82, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%79, %80] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x12x16xf32>
    %2 = tensor.empty() : tensor<12xi64>
    %3 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%2 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %79 = linalg.index 0 : index
      %80 = arith.index_cast %79 : index to i64
      linalg.yield %80 : i64
    } -> tensor<12xi64>
    %expanded = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [1, 1, 12, 1] : tensor<12xi64> into tensor<1x1x12x1xi64>
    %expanded_3 = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [1, 1, 1, 12] : tensor<12xi64> into tensor<1x1x1x12xi64>
    %4 = tensor.empty() : tensor<1x1x12x12xi1>
    %5 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3, %expanded : tensor<1x1x1x12xi64>, tensor<1x1x12x1xi64>) outs(%4 : tensor<1x1x12x12xi1>) {
    ^bb0(%in: i64, %in_40: i64, %out: i1):
      %79 = arith.cmpi sle, %in, %in_40 : i64
      linalg.yield %79 : i1
    } -> tensor<1x1x12x12xi1>
    %expanded_4 = tensor.expand_shape %3 [[0, 1, 2]] output_shape [1, 12, 1] : tensor<12xi64> into tensor<1x12x1xi64>
    %6 = tensor.empty() : tensor<1x12x1xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x12x1xi64>) outs(%6 : tensor<1x12x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %79 = arith.sitofp %in : i64 to f32
      linalg.yield %79 : f32
    } -> tensor<1x12x1xf32>
    %8 = tensor.empty() : tensor<1x12x4xf32>
    %9 = linalg.generic {indexing_maps = [#map6, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %arg13 : tensor<1x12x1xf32>, tensor<4xf32>) outs(%8 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<1x12x4xf32>
    %concat = tensor.concat dim(2) %9, %9 : (tensor<1x12x4xf32>, tensor<1x12x4xf32>) -> tensor<1x12x8xf32>
    %10 = tensor.empty() : tensor<1x12x8xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x12x8xf32>) outs(%10 : tensor<1x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.cos %in : f32
      linalg.yield %79 : f32
    } -> tensor<1x12x8xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x12x8xf32>) outs(%10 : tensor<1x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.sin %in : f32
      linalg.yield %79 : f32
    } -> tensor<1x12x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %14 = tensor.empty() : tensor<2x12x1xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<2x12x1xf32>) -> tensor<2x12x1xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<2x12x16xf32>) outs(%15 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.addf %in, %out : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.divf %in, %cst_2 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.truncf %cst_1 : f64 to f32
      %80 = arith.addf %in, %79 : f32
      linalg.yield %80 : f32
    } -> tensor<2x12x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.rsqrt %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %19 : tensor<2x12x16xf32>, tensor<2x12x1xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %21 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %20 : tensor<16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %22 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<16x16xf32>) outs(%22 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %21 [[0, 1], [2]] : tensor<2x12x16xf32> into tensor<24x16xf32>
    %23 = tensor.empty() : tensor<24x16xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %25 = linalg.matmul ins(%collapsed, %transposed : tensor<24x16xf32>, tensor<16x16xf32>) outs(%24 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_5 = tensor.expand_shape %25 [[0, 1], [2, 3]] output_shape [2, 12, 2, 8] : tensor<24x16xf32> into tensor<2x12x2x8xf32>
    %26 = tensor.empty() : tensor<2x2x12x8xf32>
    %transposed_6 = linalg.transpose ins(%expanded_5 : tensor<2x12x2x8xf32>) outs(%26 : tensor<2x2x12x8xf32>) permutation = [0, 2, 1, 3] 
    %27 = tensor.empty() : tensor<16x8xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<8x16xf32>) outs(%27 : tensor<16x8xf32>) permutation = [1, 0] 
    %28 = tensor.empty() : tensor<24x8xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<24x8xf32>) -> tensor<24x8xf32>
    %30 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<24x16xf32>, tensor<16x8xf32>) outs(%29 : tensor<24x8xf32>) -> tensor<24x8xf32>
    %expanded_8 = tensor.expand_shape %30 [[0, 1], [2, 3]] output_shape [2, 12, 1, 8] : tensor<24x8xf32> into tensor<2x12x1x8xf32>
    %31 = tensor.empty() : tensor<2x1x12x8xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x12x1x8xf32>) outs(%31 : tensor<2x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_10 = linalg.transpose ins(%arg4 : tensor<8x16xf32>) outs(%27 : tensor<16x8xf32>) permutation = [1, 0] 
    %32 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<24x16xf32>, tensor<16x8xf32>) outs(%29 : tensor<24x8xf32>) -> tensor<24x8xf32>
    %expanded_11 = tensor.expand_shape %32 [[0, 1], [2, 3]] output_shape [2, 12, 1, 8] : tensor<24x8xf32> into tensor<2x12x1x8xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x12x1x8xf32>) outs(%31 : tensor<2x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_13 = tensor.expand_shape %11 [[0], [1, 2], [3]] output_shape [1, 1, 12, 8] : tensor<1x12x8xf32> into tensor<1x1x12x8xf32>
    %expanded_14 = tensor.expand_shape %12 [[0], [1, 2], [3]] output_shape [1, 1, 12, 8] : tensor<1x12x8xf32> into tensor<1x1x12x8xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6, %expanded_13 : tensor<2x2x12x8xf32>, tensor<1x1x12x8xf32>) outs(%26 : tensor<2x2x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x2x12x8xf32>
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0] [2, 2, 12, 4] [1, 1, 1, 1] : tensor<2x2x12x8xf32> to tensor<2x2x12x4xf32>
    %extracted_slice_15 = tensor.extract_slice %transposed_6[0, 0, 0, 4] [2, 2, 12, 4] [1, 1, 1, 1] : tensor<2x2x12x8xf32> to tensor<2x2x12x4xf32>
    %34 = tensor.empty() : tensor<2x2x12x4xf32>
    %35 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_15 : tensor<2x2x12x4xf32>) outs(%34 : tensor<2x2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.negf %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x2x12x4xf32>
    %concat_16 = tensor.concat dim(3) %35, %extracted_slice : (tensor<2x2x12x4xf32>, tensor<2x2x12x4xf32>) -> tensor<2x2x12x8xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_16, %expanded_14 : tensor<2x2x12x8xf32>, tensor<1x1x12x8xf32>) outs(%26 : tensor<2x2x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x2x12x8xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>) outs(%26 : tensor<2x2x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.addf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x2x12x8xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_13 : tensor<2x1x12x8xf32>, tensor<1x1x12x8xf32>) outs(%31 : tensor<2x1x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x1x12x8xf32>
    %extracted_slice_17 = tensor.extract_slice %transposed_9[0, 0, 0, 0] [2, 1, 12, 4] [1, 1, 1, 1] : tensor<2x1x12x8xf32> to tensor<2x1x12x4xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_9[0, 0, 0, 4] [2, 1, 12, 4] [1, 1, 1, 1] : tensor<2x1x12x8xf32> to tensor<2x1x12x4xf32>
    %39 = tensor.empty() : tensor<2x1x12x4xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x1x12x4xf32>) outs(%39 : tensor<2x1x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.negf %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x1x12x4xf32>
    %concat_19 = tensor.concat dim(3) %40, %extracted_slice_17 : (tensor<2x1x12x4xf32>, tensor<2x1x12x4xf32>) -> tensor<2x1x12x8xf32>
    %41 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_14 : tensor<2x1x12x8xf32>, tensor<1x1x12x8xf32>) outs(%31 : tensor<2x1x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x1x12x8xf32>
    %42 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %41 : tensor<2x1x12x8xf32>, tensor<2x1x12x8xf32>) outs(%31 : tensor<2x1x12x8xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.addf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x1x12x8xf32>
    %43 = tensor.empty() : tensor<2x1x2x12x8xf32>
    %44 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<2x1x12x8xf32>) outs(%43 : tensor<2x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x12x8xf32>
    %45 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<2x1x12x8xf32>) outs(%43 : tensor<2x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x12x8xf32>
    %46 = tensor.empty() : tensor<2x2x12x12xi1>
    %47 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<1x1x12x12xi1>) outs(%46 : tensor<2x2x12x12xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x12x12xi1>
    %collapsed_20 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<2x2x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_21 = tensor.collapse_shape %44 [[0, 1, 2], [3], [4]] : tensor<2x1x2x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_22 = tensor.collapse_shape %45 [[0, 1, 2], [3], [4]] : tensor<2x1x2x12x8xf32> into tensor<4x12x8xf32>
    %collapsed_23 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<2x2x12x12xi1> into tensor<4x12x12xi1>
    %48 = tensor.empty() : tensor<4x12x8xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %50 = "tm_tensor.attention"(%collapsed_20, %collapsed_21, %collapsed_22, %collapsed_23, %49) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<4x12x8xf32>, tensor<4x12x8xf32>, tensor<4x12x8xf32>, tensor<4x12x12xi1>, tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
    %expanded_24 = tensor.expand_shape %50 [[0, 1], [2], [3]] output_shape [2, 2, 12, 8] : tensor<4x12x8xf32> into tensor<2x2x12x8xf32>
    %51 = tensor.empty() : tensor<2x12x2x8xf32>
    %transposed_25 = linalg.transpose ins(%expanded_24 : tensor<2x2x12x8xf32>) outs(%51 : tensor<2x12x2x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_26 = linalg.transpose ins(%arg5 : tensor<16x16xf32>) outs(%22 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_27 = tensor.collapse_shape %transposed_25 [[0, 1], [2, 3]] : tensor<2x12x2x8xf32> into tensor<24x16xf32>
    %52 = linalg.matmul ins(%collapsed_27, %transposed_26 : tensor<24x16xf32>, tensor<16x16xf32>) outs(%24 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_28 = tensor.expand_shape %52 [[0, 1], [2]] output_shape [2, 12, 16] : tensor<24x16xf32> into tensor<2x12x16xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %expanded_28 : tensor<2x12x16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.addf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %55 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%54 : tensor<2x12x16xf32>) outs(%15 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.addf %in, %out : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %56 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.divf %in, %cst_2 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %57 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.truncf %cst_1 : f64 to f32
      %80 = arith.addf %in, %79 : f32
      linalg.yield %80 : f32
    } -> tensor<2x12x1xf32>
    %58 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.rsqrt %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %59 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %58 : tensor<2x12x16xf32>, tensor<2x12x1xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %60 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10, %59 : tensor<16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %transposed_29 = linalg.transpose ins(%arg6 : tensor<16x16xf32>) outs(%22 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_30 = tensor.collapse_shape %60 [[0, 1], [2]] : tensor<2x12x16xf32> into tensor<24x16xf32>
    %61 = linalg.matmul ins(%collapsed_30, %transposed_29 : tensor<24x16xf32>, tensor<16x16xf32>) outs(%24 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_31 = tensor.expand_shape %61 [[0, 1], [2]] output_shape [2, 12, 16] : tensor<24x16xf32> into tensor<2x12x16xf32>
    %62 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_31 : tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.negf %in : f32
      %80 = math.exp %79 : f32
      %81 = arith.addf %80, %cst_0 : f32
      %82 = arith.divf %cst_0, %81 : f32
      linalg.yield %82 : f32
    } -> tensor<2x12x16xf32>
    %63 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_31, %62 : tensor<2x12x16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %transposed_32 = linalg.transpose ins(%arg7 : tensor<16x16xf32>) outs(%22 : tensor<16x16xf32>) permutation = [1, 0] 
    %64 = linalg.matmul ins(%collapsed_30, %transposed_32 : tensor<24x16xf32>, tensor<16x16xf32>) outs(%24 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_33 = tensor.expand_shape %64 [[0, 1], [2]] output_shape [2, 12, 16] : tensor<24x16xf32> into tensor<2x12x16xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %expanded_33 : tensor<2x12x16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %transposed_34 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%22 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_35 = tensor.collapse_shape %65 [[0, 1], [2]] : tensor<2x12x16xf32> into tensor<24x16xf32>
    %66 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<24x16xf32>, tensor<16x16xf32>) outs(%24 : tensor<24x16xf32>) -> tensor<24x16xf32>
    %expanded_36 = tensor.expand_shape %66 [[0, 1], [2]] output_shape [2, 12, 16] : tensor<24x16xf32> into tensor<2x12x16xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %expanded_36 : tensor<2x12x16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.addf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%68 : tensor<2x12x16xf32>) outs(%15 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.addf %in, %out : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %70 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.divf %in, %cst_2 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %71 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = arith.truncf %cst_1 : f64 to f32
      %80 = arith.addf %in, %79 : f32
      linalg.yield %80 : f32
    } -> tensor<2x12x1xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<2x12x1xf32>) outs(%14 : tensor<2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %79 = math.rsqrt %in : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x1xf32>
    %73 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %72 : tensor<2x12x16xf32>, tensor<2x12x1xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %74 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %73 : tensor<16xf32>, tensor<2x12x16xf32>) outs(%0 : tensor<2x12x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %79 = arith.mulf %in, %in_40 : f32
      linalg.yield %79 : f32
    } -> tensor<2x12x16xf32>
    %75 = tensor.empty() : tensor<16x32xf32>
    %transposed_37 = linalg.transpose ins(%arg12 : tensor<32x16xf32>) outs(%75 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %74 [[0, 1], [2]] : tensor<2x12x16xf32> into tensor<24x16xf32>
    %76 = tensor.empty() : tensor<24x32xf32>
    %77 = linalg.fill ins(%cst : f32) outs(%76 : tensor<24x32xf32>) -> tensor<24x32xf32>
    %78 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<24x16xf32>, tensor<16x32xf32>) outs(%77 : tensor<24x32xf32>) -> tensor<24x32xf32>
    %expanded_39 = tensor.expand_shape %78 [[0, 1], [2]] output_shape [2, 12, 32] : tensor<24x32xf32> into tensor<2x12x32xf32>
    return %expanded_39 : tensor<2x12x32xf32>
  }
}

