#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1, d2) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map11 = affine_map<(d0, d1) -> (d0, d1)>
#map12 = affine_map<(d0, d1) -> (d0)>
#map13 = affine_map<(d0, d1) -> (d0, 0)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map17 = affine_map<(d0, d1, d2) -> (d0, d2)>
module attributes {kv.model = {architecture = "deepseek_v2", max_seq_len = 64 : i64, name = "deepseek_v2", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<24x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<12x16xf32> {kv.weight = "model.layers.0.self_attn.kv_a_proj_with_mqa.weight"}, %arg4: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.kv_a_layernorm.weight"}, %arg5: tensor<32x8xf32> {kv.weight = "model.layers.0.self_attn.kv_b_proj.weight"}, %arg6: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg7: tensor<4x32x16xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj"}, %arg8: tensor<4x16x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj"}, %arg9: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.gate.weight"}, %arg10: tensor<32x16xf32> {kv.weight = "model.layers.0.mlp.shared_experts.gate_proj.weight"}, %arg11: tensor<32x16xf32> {kv.weight = "model.layers.0.mlp.shared_experts.up_proj.weight"}, %arg12: tensor<16x32xf32> {kv.weight = "model.layers.0.mlp.shared_experts.down_proj.weight"}, %arg13: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg14: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg15: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg16: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg17: tensor<2xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg18: tensor<2xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c12_i64 = arith.constant 12 : i64
    %c16_i64 = arith.constant 16 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c32 = arith.constant 32 : index
    %c4_i64 = arith.constant 4 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 9.9999999999999995E-7 : f64
    %cst_4 = arith.constant 1.600000e+01 : f32
    %c24_i64 = arith.constant 24 : i64
    %cst_5 = arith.constant 8.000000e+00 : f32
    %c32_i64 = arith.constant 32 : i64
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %167 = arith.index_cast %in : i64 to index
      %168 = linalg.index 2 : index
      %169 = arith.cmpi slt, %167, %c32 : index
      cf.assert %169, "index must be smaller than dim size"
      %170 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %170, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%167, %168] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = tensor.empty(%dim) : tensor<?xi64>
    %5 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%4 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %167 = linalg.index 0 : index
      %168 = arith.index_cast %167 : index to i64
      linalg.yield %168 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_6 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %6 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_82: i64, %out: i1):
      %167 = arith.cmpi sle, %in, %in_82 : i64
      linalg.yield %167 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_7 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %8 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_7 : tensor<1x?x1xi64>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %167 = arith.sitofp %in : i64 to f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %10 = tensor.empty(%dim) : tensor<1x?x2xf32>
    %11 = linalg.generic {indexing_maps = [#map6, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %arg17 : tensor<1x?x1xf32>, tensor<2xf32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x2xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %12 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<1x?x2xf32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.cos %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x2xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %13 : tensor<1x?x2xf32>, tensor<1x?x2xf32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x2xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<1x?x2xf32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.sin %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x2xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %15 : tensor<1x?x2xf32>, tensor<1x?x2xf32>) outs(%10 : tensor<1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x2xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%8 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%17 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.divf %in, %cst_4 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.truncf %cst_3 : f64 to f32
      %168 = arith.addf %in, %167 : f32
      linalg.yield %168 : f32
    } -> tensor<1x?x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.rsqrt %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %22 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13, %23 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %25 = tensor.empty() : tensor<16x24xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<24x16xf32>) outs(%25 : tensor<16x24xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %24 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %26 = tensor.empty(%dim) : tensor<?x24xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %28 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x24xf32>) outs(%27 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %expanded_8 = tensor.expand_shape %28 [[0, 1], [2]] output_shape [1, %dim, 24] : tensor<?x24xf32> into tensor<1x?x24xf32>
    %29 = arith.cmpi slt, %0, %c0_i64 : i64
    %30 = arith.select %29, %c1_i64, %0 : i64
    %31 = arith.extui %29 : i1 to i64
    %32 = arith.addi %31, %c1_i64 : i64
    %33 = arith.muli %30, %c12_i64 : i64
    %34 = arith.cmpi sle, %32, %c1_i64 : i64
    cf.assert %34, "must have at most one inferred (negative) dimension"
    %35 = arith.muli %0, %c24_i64 : i64
    %36 = arith.divsi %35, %33 : i64
    %37 = arith.select %29, %36, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %37, %36, %c12_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_8(%from_elements) : (tensor<1x?x24xf32>, tensor<4xi64>) -> tensor<1x?x2x12xf32>
    %38 = arith.index_cast %37 : i64 to index
    %39 = tensor.empty(%38) : tensor<1x2x?x12xf32>
    %transposed_9 = linalg.transpose ins(%reshape : tensor<1x?x2x12xf32>) outs(%39 : tensor<1x2x?x12xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %transposed_9[0, 0, 0, 0] [1, 2, %38, 8] [1, 1, 1, 1] : tensor<1x2x?x12xf32> to tensor<1x2x?x8xf32>
    %extracted_slice_10 = tensor.extract_slice %transposed_9[0, 0, 0, 8] [1, 2, %38, 4] [1, 1, 1, 1] : tensor<1x2x?x12xf32> to tensor<1x2x?x4xf32>
    %40 = tensor.empty() : tensor<16x12xf32>
    %transposed_11 = linalg.transpose ins(%arg3 : tensor<12x16xf32>) outs(%40 : tensor<16x12xf32>) permutation = [1, 0] 
    %41 = tensor.empty(%dim) : tensor<?x12xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %43 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<?x16xf32>, tensor<16x12xf32>) outs(%42 : tensor<?x12xf32>) -> tensor<?x12xf32>
    %expanded_12 = tensor.expand_shape %43 [[0, 1], [2]] output_shape [1, %dim, 12] : tensor<?x12xf32> into tensor<1x?x12xf32>
    %extracted_slice_13 = tensor.extract_slice %expanded_12[0, 0, 0] [1, %dim, 8] [1, 1, 1] : tensor<1x?x12xf32> to tensor<1x?x8xf32>
    %extracted_slice_14 = tensor.extract_slice %expanded_12[0, 0, 8] [1, %dim, 4] [1, 1, 1] : tensor<1x?x12xf32> to tensor<1x?x4xf32>
    %44 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %45 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_13 : tensor<1x?x8xf32>) outs(%44 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %167 : f32
    } -> tensor<1x?x8xf32>
    %46 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%45 : tensor<1x?x8xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %47 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.divf %in, %cst_5 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %48 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.truncf %cst_3 : f64 to f32
      %168 = arith.addf %in, %167 : f32
      linalg.yield %168 : f32
    } -> tensor<1x?x1xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.rsqrt %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %50 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_13, %49 : tensor<1x?x8xf32>, tensor<1x?x1xf32>) outs(%44 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x8xf32>
    %51 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4, %50 : tensor<8xf32>, tensor<1x?x8xf32>) outs(%44 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x8xf32>
    %expanded_15 = tensor.expand_shape %extracted_slice_10 [[0], [1], [2], [3, 4]] output_shape [1, 2, %38, 2, 2] : tensor<1x2x?x4xf32> into tensor<1x2x?x2x2xf32>
    %extracted_slice_16 = tensor.extract_slice %expanded_15[0, 0, 0, 0, 0] [1, 2, %38, 2, 1] [1, 1, 1, 1, 1] : tensor<1x2x?x2x2xf32> to tensor<1x2x?x2x1xf32>
    %collapsed_17 = tensor.collapse_shape %extracted_slice_16 [[0], [1], [2], [3, 4]] : tensor<1x2x?x2x1xf32> into tensor<1x2x?x2xf32>
    %extracted_slice_18 = tensor.extract_slice %expanded_15[0, 0, 0, 0, 1] [1, 2, %38, 2, 1] [1, 1, 1, 1, 1] : tensor<1x2x?x2x2xf32> to tensor<1x2x?x2x1xf32>
    %collapsed_19 = tensor.collapse_shape %extracted_slice_18 [[0], [1], [2], [3, 4]] : tensor<1x2x?x2x1xf32> into tensor<1x2x?x2xf32>
    %expanded_20 = tensor.expand_shape %extracted_slice_14 [[0, 1], [2], [3, 4]] output_shape [1, 1, %dim, 2, 2] : tensor<1x?x4xf32> into tensor<1x1x?x2x2xf32>
    %extracted_slice_21 = tensor.extract_slice %expanded_20[0, 0, 0, 0, 0] [1, 1, %dim, 2, 1] [1, 1, 1, 1, 1] : tensor<1x1x?x2x2xf32> to tensor<1x1x?x2x1xf32>
    %collapsed_22 = tensor.collapse_shape %extracted_slice_21 [[0], [1], [2], [3, 4]] : tensor<1x1x?x2x1xf32> into tensor<1x1x?x2xf32>
    %extracted_slice_23 = tensor.extract_slice %expanded_20[0, 0, 0, 0, 1] [1, 1, %dim, 2, 1] [1, 1, 1, 1, 1] : tensor<1x1x?x2x2xf32> to tensor<1x1x?x2x1xf32>
    %collapsed_24 = tensor.collapse_shape %extracted_slice_23 [[0], [1], [2], [3, 4]] : tensor<1x1x?x2x1xf32> into tensor<1x1x?x2xf32>
    %expanded_25 = tensor.expand_shape %14 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 2] : tensor<1x?x2xf32> into tensor<1x1x?x2xf32>
    %expanded_26 = tensor.expand_shape %16 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 2] : tensor<1x?x2xf32> into tensor<1x1x?x2xf32>
    %52 = arith.cmpi eq, %38, %dim : index
    cf.assert %52, "mismatched size for broadcast"
    %53 = tensor.empty(%38) : tensor<1x2x?x2xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_17, %expanded_25 : tensor<1x2x?x2xf32>, tensor<1x1x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    cf.assert %52, "mismatched size for broadcast"
    %55 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_19, %expanded_26 : tensor<1x2x?x2xf32>, tensor<1x1x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %55 : tensor<1x2x?x2xf32>, tensor<1x2x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.subf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    cf.assert %52, "mismatched size for broadcast"
    %57 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_17, %expanded_26 : tensor<1x2x?x2xf32>, tensor<1x1x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    cf.assert %52, "mismatched size for broadcast"
    %58 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_19, %expanded_25 : tensor<1x2x?x2xf32>, tensor<1x1x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %58 : tensor<1x2x?x2xf32>, tensor<1x2x?x2xf32>) outs(%53 : tensor<1x2x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.addf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x2x?x2xf32>
    %expanded_27 = tensor.expand_shape %56 [[0], [1], [2], [3, 4]] output_shape [1, 2, %38, 2, 1] : tensor<1x2x?x2xf32> into tensor<1x2x?x2x1xf32>
    %expanded_28 = tensor.expand_shape %59 [[0], [1], [2], [3, 4]] output_shape [1, 2, %38, 2, 1] : tensor<1x2x?x2xf32> into tensor<1x2x?x2x1xf32>
    %concat = tensor.concat dim(4) %expanded_27, %expanded_28 : (tensor<1x2x?x2x1xf32>, tensor<1x2x?x2x1xf32>) -> tensor<1x2x?x2x2xf32>
    %collapsed_29 = tensor.collapse_shape %concat [[0], [1], [2], [3, 4]] : tensor<1x2x?x2x2xf32> into tensor<1x2x?x4xf32>
    %60 = tensor.empty(%dim) : tensor<1x1x?x2xf32>
    %61 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_22, %expanded_25 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %62 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_24, %expanded_26 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61, %62 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.subf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_22, %expanded_26 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %65 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_24, %expanded_25 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %66 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %65 : tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) outs(%60 : tensor<1x1x?x2xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.addf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x1x?x2xf32>
    %expanded_30 = tensor.expand_shape %63 [[0], [1], [2], [3, 4]] output_shape [1, 1, %dim, 2, 1] : tensor<1x1x?x2xf32> into tensor<1x1x?x2x1xf32>
    %expanded_31 = tensor.expand_shape %66 [[0], [1], [2], [3, 4]] output_shape [1, 1, %dim, 2, 1] : tensor<1x1x?x2xf32> into tensor<1x1x?x2x1xf32>
    %concat_32 = tensor.concat dim(4) %expanded_30, %expanded_31 : (tensor<1x1x?x2x1xf32>, tensor<1x1x?x2x1xf32>) -> tensor<1x1x?x2x2xf32>
    %concat_33 = tensor.concat dim(3) %extracted_slice, %collapsed_29 : (tensor<1x2x?x8xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x12xf32>
    %67 = tensor.empty() : tensor<8x32xf32>
    %transposed_34 = linalg.transpose ins(%arg5 : tensor<32x8xf32>) outs(%67 : tensor<8x32xf32>) permutation = [1, 0] 
    %collapsed_35 = tensor.collapse_shape %51 [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
    %68 = tensor.empty(%dim) : tensor<?x32xf32>
    %69 = linalg.fill ins(%cst : f32) outs(%68 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %70 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<?x8xf32>, tensor<8x32xf32>) outs(%69 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_36 = tensor.expand_shape %70 [[0, 1, 2], [3]] output_shape [1, 1, %dim, 32] : tensor<?x32xf32> into tensor<1x1x?x32xf32>
    %71 = arith.muli %30, %c16_i64 : i64
    cf.assert %34, "must have at most one inferred (negative) dimension"
    %72 = arith.muli %0, %c32_i64 : i64
    %73 = arith.divsi %72, %71 : i64
    %74 = arith.select %29, %73, %0 : i64
    %from_elements_37 = tensor.from_elements %c1_i64, %74, %73, %c16_i64 : tensor<4xi64>
    %reshape_38 = tensor.reshape %expanded_36(%from_elements_37) : (tensor<1x1x?x32xf32>, tensor<4xi64>) -> tensor<1x?x2x16xf32>
    %75 = arith.index_cast %74 : i64 to index
    %76 = tensor.empty(%75) : tensor<1x2x?x16xf32>
    %transposed_39 = linalg.transpose ins(%reshape_38 : tensor<1x?x2x16xf32>) outs(%76 : tensor<1x2x?x16xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_40 = tensor.extract_slice %transposed_39[0, 0, 0, 0] [1, 2, %75, 8] [1, 1, 1, 1] : tensor<1x2x?x16xf32> to tensor<1x2x?x8xf32>
    %extracted_slice_41 = tensor.extract_slice %transposed_39[0, 0, 0, 8] [1, 2, %75, 8] [1, 1, 1, 1] : tensor<1x2x?x16xf32> to tensor<1x2x?x8xf32>
    %dim_42 = tensor.dim %expanded_30, %c2 : tensor<1x1x?x2x1xf32>
    %77 = tensor.empty(%dim_42) : tensor<1x2x?x4xf32>
    %collapsed_43 = tensor.collapse_shape %concat_32 [[0, 1], [2], [3, 4]] : tensor<1x1x?x2x2xf32> into tensor<1x?x4xf32>
    %78 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_43 : tensor<1x?x4xf32>) outs(%77 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x4xf32>
    %79 = tensor.empty(%dim) : tensor<1x2x?x12xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %80 = tensor.empty(%dim) : tensor<1x2x?x8xf32>
    %81 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %167 = linalg.index 1 : index
      %168 = linalg.index 2 : index
      %169 = linalg.index 3 : index
      %170 = arith.cmpi eq, %75, %c1 : index
      %171 = arith.select %170, %c0, %168 : index
      %extracted = tensor.extract %extracted_slice_40[%c0, %167, %171, %169] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %inserted_slice = tensor.insert_slice %81 into %79[0, 0, 0, 0] [1, 2, %dim, 8] [1, 1, 1, 1] : tensor<1x2x?x8xf32> into tensor<1x2x?x12xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %82 = tensor.empty(%dim) : tensor<1x2x?x4xf32>
    %83 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%82 : tensor<1x2x?x4xf32>) {
    ^bb0(%out: f32):
      %167 = linalg.index 1 : index
      %168 = linalg.index 2 : index
      %169 = linalg.index 3 : index
      %170 = arith.cmpi eq, %dim_42, %c1 : index
      %171 = arith.select %170, %c0, %168 : index
      %extracted = tensor.extract %78[%c0, %167, %171, %169] : tensor<1x2x?x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x4xf32>
    %inserted_slice_44 = tensor.insert_slice %83 into %inserted_slice[0, 0, 0, 8] [1, 2, %dim, 4] [1, 1, 1, 1] : tensor<1x2x?x4xf32> into tensor<1x2x?x12xf32>
    %dim_45 = tensor.dim %concat_33, %c2 : tensor<1x2x?x12xf32>
    %84 = tensor.empty(%dim_45, %dim) : tensor<1x2x?x?xi1>
    %85 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x?x?xi1>) outs(%84 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_46 = tensor.collapse_shape %concat_33 [[0, 1], [2], [3]] : tensor<1x2x?x12xf32> into tensor<2x?x12xf32>
    %collapsed_47 = tensor.collapse_shape %inserted_slice_44 [[0, 1], [2], [3]] : tensor<1x2x?x12xf32> into tensor<2x?x12xf32>
    %collapsed_48 = tensor.collapse_shape %extracted_slice_41 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_49 = tensor.collapse_shape %85 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %86 = tensor.empty(%dim_45) : tensor<2x?x8xf32>
    %87 = linalg.fill ins(%cst : f32) outs(%86 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %88 = "tm_tensor.attention"(%collapsed_46, %collapsed_47, %collapsed_48, %collapsed_49, %87) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.28867513459481287 : f64}> : (tensor<2x?x12xf32>, tensor<2x?x12xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_50 = tensor.dim %88, %c1 : tensor<2x?x8xf32>
    %expanded_51 = tensor.expand_shape %88 [[0, 1], [2], [3]] output_shape [1, 2, %dim_50, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_52 = tensor.dim %expanded_51, %c2 : tensor<1x2x?x8xf32>
    %89 = tensor.empty(%dim_52) : tensor<1x?x2x8xf32>
    %transposed_53 = linalg.transpose ins(%expanded_51 : tensor<1x2x?x8xf32>) outs(%89 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %34, "must have at most one inferred (negative) dimension"
    %90 = arith.index_cast %dim_52 : index to i64
    %91 = arith.muli %90, %c16_i64 : i64
    %92 = arith.divsi %91, %30 : i64
    %93 = arith.select %29, %92, %0 : i64
    %from_elements_54 = tensor.from_elements %c1_i64, %93, %92 : tensor<3xi64>
    %reshape_55 = tensor.reshape %transposed_53(%from_elements_54) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %94 = tensor.empty() : tensor<16x16xf32>
    %transposed_56 = linalg.transpose ins(%arg6 : tensor<16x16xf32>) outs(%94 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_57 = tensor.collapse_shape %reshape_55 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %95 = arith.index_cast %93 : i64 to index
    %96 = tensor.empty(%95) : tensor<?x16xf32>
    %97 = linalg.fill ins(%cst : f32) outs(%96 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %98 = linalg.matmul ins(%collapsed_57, %transposed_56 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%97 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_58 = tensor.expand_shape %98 [[0, 1], [2]] output_shape [1, %95, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %99 = arith.cmpi eq, %dim, %95 : index
    cf.assert %99, "mismatched size for broadcast"
    %100 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %expanded_58 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.addf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%101 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.divf %in, %cst_4 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.truncf %cst_3 : f64 to f32
      %168 = arith.addf %in, %167 : f32
      linalg.yield %168 : f32
    } -> tensor<1x?x1xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.rsqrt %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %106 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %105 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %107 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14, %106 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_59 = tensor.collapse_shape %107 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %108 = tensor.empty() : tensor<16x4xf32>
    %transposed_60 = linalg.transpose ins(%arg9 : tensor<4x16xf32>) outs(%108 : tensor<16x4xf32>) permutation = [1, 0] 
    %109 = tensor.empty(%dim) : tensor<?x4xf32>
    %110 = linalg.fill ins(%cst : f32) outs(%109 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %111 = linalg.matmul ins(%collapsed_59, %transposed_60 : tensor<?x16xf32>, tensor<16x4xf32>) outs(%110 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %112 = linalg.fill ins(%c0_i64 : i64) outs(%4 : tensor<?xi64>) -> tensor<?xi64>
    %113 = tensor.empty(%dim) : tensor<?xf32>
    %114 = linalg.fill ins(%cst_0 : f32) outs(%113 : tensor<?xf32>) -> tensor<?xf32>
    %115:2 = linalg.generic {indexing_maps = [#map11, #map12, #map12], iterator_types = ["parallel", "reduction"]} ins(%111 : tensor<?x4xf32>) outs(%114, %112 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_82: i64):
      %167 = linalg.index 1 : index
      %168 = arith.index_cast %167 : index to i64
      %169 = arith.maximumf %in, %out : f32
      %170 = arith.cmpf ogt, %in, %out : f32
      %171 = arith.select %170, %168, %out_82 : i64
      linalg.yield %169, %171 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded_61 = tensor.expand_shape %115#0 [[0, 1]] output_shape [%dim, 1] : tensor<?xf32> into tensor<?x1xf32>
    %116 = linalg.generic {indexing_maps = [#map11, #map13, #map11], iterator_types = ["parallel", "parallel"]} ins(%111, %expanded_61 : tensor<?x4xf32>, tensor<?x1xf32>) outs(%109 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.subf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x4xf32>
    %117 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel"]} ins(%116 : tensor<?x4xf32>) outs(%109 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.exp %in : f32
      linalg.yield %167 : f32
    } -> tensor<?x4xf32>
    %118 = tensor.empty(%dim) : tensor<?x1xf32>
    %119 = linalg.fill ins(%cst : f32) outs(%118 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %120 = linalg.generic {indexing_maps = [#map11, #map13], iterator_types = ["parallel", "reduction"]} ins(%117 : tensor<?x4xf32>) outs(%119 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<?x1xf32>
    %121 = linalg.generic {indexing_maps = [#map11, #map13, #map11], iterator_types = ["parallel", "parallel"]} ins(%117, %120 : tensor<?x4xf32>, tensor<?x1xf32>) outs(%109 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.divf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x4xf32>
    %122 = tensor.empty(%dim) : tensor<?x4xi64>
    %123 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel"]} outs(%122 : tensor<?x4xi64>) {
    ^bb0(%out: i64):
      %167 = linalg.index 1 : index
      %168 = arith.index_cast %167 : index to i64
      linalg.yield %168 : i64
    } -> tensor<?x4xi64>
    %124:2 = "tm_tensor.sort"(%121, %123) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg19: f32, %arg20: f32, %arg21: i64, %arg22: i64):
      %167 = arith.cmpf oge, %arg19, %arg20 : f32
      "tm_tensor.yield"(%167) : (i1) -> ()
    }) : (tensor<?x4xf32>, tensor<?x4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %dim_62 = tensor.dim %124#0, %c0 : tensor<?x4xf32>
    %extracted_slice_63 = tensor.extract_slice %124#0[0, 0] [%dim_62, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
    %dim_64 = tensor.dim %124#1, %c0 : tensor<?x4xi64>
    %extracted_slice_65 = tensor.extract_slice %124#1[0, 0] [%dim_64, 2] [1, 1] : tensor<?x4xi64> to tensor<?x2xi64>
    %125 = tensor.empty(%dim_64) : tensor<?x2x32x16xf32>
    %126 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_65 : tensor<?x2xi64>) outs(%125 : tensor<?x2x32x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %167 = arith.cmpi slt, %in, %c0_i64 : i64
      %168 = arith.addi %in, %c4_i64 : i64
      %169 = arith.select %167, %168, %in : i64
      %170 = arith.index_cast %169 : i64 to index
      %171 = linalg.index 2 : index
      %172 = linalg.index 3 : index
      %extracted = tensor.extract %arg7[%170, %171, %172] : tensor<4x32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x32x16xf32>
    %expanded_66 = tensor.expand_shape %collapsed_59 [[0], [1, 2, 3]] output_shape [%dim, 1, 1, 16] : tensor<?x16xf32> into tensor<?x1x1x16xf32>
    %127 = arith.cmpi eq, %dim, %dim_64 : index
    cf.assert %127, "mismatched size for broadcast"
    %128 = tensor.empty(%dim) : tensor<?x2x32x16xf32>
    %129 = linalg.generic {indexing_maps = [#map15, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_66, %126 : tensor<?x1x1x16xf32>, tensor<?x2x32x16xf32>) outs(%128 : tensor<?x2x32x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x32x16xf32>
    %130 = tensor.empty(%dim) : tensor<?x2x32xf32>
    %131 = linalg.fill ins(%cst : f32) outs(%130 : tensor<?x2x32xf32>) -> tensor<?x2x32xf32>
    %132 = linalg.generic {indexing_maps = [#map5, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%129 : tensor<?x2x32x16xf32>) outs(%131 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x32xf32>
    %extracted_slice_67 = tensor.extract_slice %132[0, 0, 0] [%dim, 2, 16] [1, 1, 1] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %extracted_slice_68 = tensor.extract_slice %132[0, 0, 16] [%dim, 2, 16] [1, 1, 1] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %133 = tensor.empty(%dim) : tensor<?x2x16xf32>
    %134 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_67 : tensor<?x2x16xf32>) outs(%133 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.negf %in : f32
      %168 = math.exp %167 : f32
      %169 = arith.addf %168, %cst_1 : f32
      %170 = arith.divf %cst_1, %169 : f32
      linalg.yield %170 : f32
    } -> tensor<?x2x16xf32>
    %135 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_67, %134 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%133 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x16xf32>
    %136 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %extracted_slice_68 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%133 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x16xf32>
    %137 = tensor.empty(%dim_64) : tensor<?x2x16x16xf32>
    %138 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_65 : tensor<?x2xi64>) outs(%137 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %167 = arith.cmpi slt, %in, %c0_i64 : i64
      %168 = arith.addi %in, %c4_i64 : i64
      %169 = arith.select %167, %168, %in : i64
      %170 = arith.index_cast %169 : i64 to index
      %171 = linalg.index 2 : index
      %172 = linalg.index 3 : index
      %extracted = tensor.extract %arg8[%170, %171, %172] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x16xf32>
    %expanded_69 = tensor.expand_shape %136 [[0], [1], [2, 3]] output_shape [%dim, 2, 1, 16] : tensor<?x2x16xf32> into tensor<?x2x1x16xf32>
    cf.assert %127, "mismatched size for broadcast"
    %139 = tensor.empty(%dim) : tensor<?x2x16x16xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_69, %138 : tensor<?x2x1x16xf32>, tensor<?x2x16x16xf32>) outs(%139 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x16x16xf32>
    %141 = linalg.fill ins(%cst : f32) outs(%133 : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
    %142 = linalg.generic {indexing_maps = [#map5, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%140 : tensor<?x2x16x16xf32>) outs(%141 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x16xf32>
    %expanded_70 = tensor.expand_shape %extracted_slice_63 [[0], [1, 2]] output_shape [%dim_62, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
    %143 = arith.cmpi eq, %dim, %dim_62 : index
    cf.assert %143, "mismatched size for broadcast"
    %144 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %expanded_70 : tensor<?x2x16xf32>, tensor<?x2x1xf32>) outs(%133 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<?x2x16xf32>
    %145 = tensor.empty(%dim) : tensor<?x16xf32>
    %146 = linalg.fill ins(%cst : f32) outs(%145 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map17], iterator_types = ["parallel", "reduction", "parallel"]} ins(%144 : tensor<?x2x16xf32>) outs(%146 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<?x16xf32>
    %expanded_71 = tensor.expand_shape %147 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %148 = tensor.empty() : tensor<16x32xf32>
    %transposed_72 = linalg.transpose ins(%arg10 : tensor<32x16xf32>) outs(%148 : tensor<16x32xf32>) permutation = [1, 0] 
    %149 = linalg.matmul ins(%collapsed_59, %transposed_72 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%69 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_73 = tensor.expand_shape %149 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    %150 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %151 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_73 : tensor<1x?x32xf32>) outs(%150 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.negf %in : f32
      %168 = math.exp %167 : f32
      %169 = arith.addf %168, %cst_1 : f32
      %170 = arith.divf %cst_1, %169 : f32
      linalg.yield %170 : f32
    } -> tensor<1x?x32xf32>
    %152 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_73, %151 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%150 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x32xf32>
    %transposed_74 = linalg.transpose ins(%arg11 : tensor<32x16xf32>) outs(%148 : tensor<16x32xf32>) permutation = [1, 0] 
    %153 = linalg.matmul ins(%collapsed_59, %transposed_74 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%69 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_75 = tensor.expand_shape %153 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    %154 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%152, %expanded_75 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%150 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x32xf32>
    %155 = tensor.empty() : tensor<32x16xf32>
    %transposed_76 = linalg.transpose ins(%arg12 : tensor<16x32xf32>) outs(%155 : tensor<32x16xf32>) permutation = [1, 0] 
    %collapsed_77 = tensor.collapse_shape %154 [[0, 1], [2]] : tensor<1x?x32xf32> into tensor<?x32xf32>
    %156 = linalg.matmul ins(%collapsed_77, %transposed_76 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%146 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_78 = tensor.expand_shape %156 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %157 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_71, %expanded_78 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.addf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %158 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %157 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.addf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %159 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %160 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%159 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.addf %in, %out : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %161 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.divf %in, %cst_4 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %162 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = arith.truncf %cst_3 : f64 to f32
      %168 = arith.addf %in, %167 : f32
      linalg.yield %168 : f32
    } -> tensor<1x?x1xf32>
    %163 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %167 = math.rsqrt %in : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x1xf32>
    %164 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158, %163 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %165 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15, %164 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_82: f32, %out: f32):
      %167 = arith.mulf %in, %in_82 : f32
      linalg.yield %167 : f32
    } -> tensor<1x?x16xf32>
    %transposed_79 = linalg.transpose ins(%arg16 : tensor<32x16xf32>) outs(%148 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_80 = tensor.collapse_shape %165 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %166 = linalg.matmul ins(%collapsed_80, %transposed_79 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%69 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_81 = tensor.expand_shape %166 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_81 : tensor<1x?x32xf32>
  }
}

