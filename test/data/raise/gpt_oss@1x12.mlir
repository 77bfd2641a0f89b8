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
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map16 = affine_map<(d0, d1) -> (d0)>
#map17 = affine_map<(d0, d1) -> (d0, 0)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, 0)>
#map20 = affine_map<(d0, d1, d2) -> (d0, d2)>
module attributes {kv.model = {architecture = "gpt_oss", max_seq_len = 12 : i64, name = "gpt_oss", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x12xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<2xf32> {kv.weight = "model.layers.0.self_attn.sinks"}, %arg3: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg4: tensor<16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.bias"}, %arg5: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg6: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.k_proj.bias"}, %arg7: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg8: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.v_proj.bias"}, %arg9: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.bias"}, %arg11: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.router.weight"}, %arg12: tensor<4xf32> {kv.weight = "model.layers.0.mlp.router.bias"}, %arg13: tensor<4x16x32xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj"}, %arg14: tensor<4x32xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj_bias"}, %arg15: tensor<4x16x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj"}, %arg16: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj_bias"}, %arg17: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg18: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg19: tensor<2xf32> {kv.weight = "model.layers.1.self_attn.sinks"}, %arg20: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.weight"}, %arg21: tensor<16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.bias"}, %arg22: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.k_proj.weight"}, %arg23: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.k_proj.bias"}, %arg24: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.v_proj.weight"}, %arg25: tensor<8xf32> {kv.weight = "model.layers.1.self_attn.v_proj.bias"}, %arg26: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.o_proj.weight"}, %arg27: tensor<16xf32> {kv.weight = "model.layers.1.self_attn.o_proj.bias"}, %arg28: tensor<4x16xf32> {kv.weight = "model.layers.1.mlp.router.weight"}, %arg29: tensor<4xf32> {kv.weight = "model.layers.1.mlp.router.bias"}, %arg30: tensor<4x16x32xf32> {kv.weight = "model.layers.1.mlp.experts.gate_up_proj"}, %arg31: tensor<4x32xf32> {kv.weight = "model.layers.1.mlp.experts.gate_up_proj_bias"}, %arg32: tensor<4x16x16xf32> {kv.weight = "model.layers.1.mlp.experts.down_proj"}, %arg33: tensor<4x16xf32> {kv.weight = "model.layers.1.mlp.experts.down_proj_bias"}, %arg34: tensor<16xf32> {kv.weight = "model.layers.1.input_layernorm.weight"}, %arg35: tensor<16xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"}, %arg36: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg37: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg38: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg39: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x12x32xf32> {
    %c5_i64 = arith.constant 5 : i64
    %c2_i64 = arith.constant 2 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 1.702000e+00 : f64
    %cst_5 = arith.constant 0.35355339059327379 : f64
    %cst_6 = arith.constant 1.000000e-05 : f64
    %cst_7 = arith.constant 1.3465735902799727 : f64
    %cst_8 = arith.constant 1.600000e+01 : f32
    %cst_9 = arith.constant 7.000000e+00 : f32
    %cst_10 = arith.constant -7.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x12x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x12xi64>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.index_cast %in : i64 to index
      %234 = linalg.index 2 : index
      %235 = arith.cmpi slt, %233, %c32 : index
      cf.assert %235, "index must be smaller than dim size"
      %236 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %236, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%233, %234] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x12x16xf32>
    %2 = tensor.empty() : tensor<12xi64>
    %3 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%2 : tensor<12xi64>) {
    ^bb0(%out: i64):
      %233 = linalg.index 0 : index
      %234 = arith.index_cast %233 : index to i64
      linalg.yield %234 : i64
    } -> tensor<12xi64>
    %expanded = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [1, 1, 12, 1] : tensor<12xi64> into tensor<1x1x12x1xi64>
    %expanded_11 = tensor.expand_shape %3 [[0, 1, 2, 3]] output_shape [1, 1, 1, 12] : tensor<12xi64> into tensor<1x1x1x12xi64>
    %4 = tensor.empty() : tensor<1x1x12x12xi1>
    %5 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11, %expanded : tensor<1x1x1x12xi64>, tensor<1x1x12x1xi64>) outs(%4 : tensor<1x1x12x12xi1>) {
    ^bb0(%in: i64, %in_100: i64, %out: i1):
      %233 = arith.cmpi sle, %in, %in_100 : i64
      linalg.yield %233 : i1
    } -> tensor<1x1x12x12xi1>
    %6 = tensor.empty() : tensor<1x1x12x1xi64>
    %7 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x1x12x1xi64>) outs(%6 : tensor<1x1x12x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %233 = arith.subi %in, %c5_i64 : i64
      linalg.yield %233 : i64
    } -> tensor<1x1x12x1xi64>
    %8 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11, %7 : tensor<1x1x1x12xi64>, tensor<1x1x12x1xi64>) outs(%4 : tensor<1x1x12x12xi1>) {
    ^bb0(%in: i64, %in_100: i64, %out: i1):
      %233 = arith.cmpi sgt, %in, %in_100 : i64
      linalg.yield %233 : i1
    } -> tensor<1x1x12x12xi1>
    %9 = linalg.generic {indexing_maps = [#map6, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3, %8 : tensor<i1>, tensor<1x1x12x12xi1>) outs(%4 : tensor<1x1x12x12xi1>) {
    ^bb0(%in: i1, %in_100: i1, %out: i1):
      %233 = arith.andi %in, %in_100 : i1
      linalg.yield %233 : i1
    } -> tensor<1x1x12x12xi1>
    %10 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %5 : tensor<1x1x12x12xi1>, tensor<1x1x12x12xi1>) outs(%4 : tensor<1x1x12x12xi1>) {
    ^bb0(%in: i1, %in_100: i1, %out: i1):
      %233 = arith.andi %in, %in_100 : i1
      linalg.yield %233 : i1
    } -> tensor<1x1x12x12xi1>
    %expanded_12 = tensor.expand_shape %3 [[0, 1, 2]] output_shape [1, 12, 1] : tensor<12xi64> into tensor<1x12x1xi64>
    %11 = tensor.empty() : tensor<1x12x1xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<1x12x1xi64>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.sitofp %in : i64 to f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %13 = tensor.empty() : tensor<1x12x4xf32>
    %14 = linalg.generic {indexing_maps = [#map7, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %arg38 : tensor<1x12x1xf32>, tensor<4xf32>) outs(%13 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x4xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<1x12x4xf32>) outs(%13 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.cos %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x4xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x12x4xf32>) outs(%13 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_7 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x4xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<1x12x4xf32>) outs(%13 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.sin %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x4xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x12x4xf32>) outs(%13 : tensor<1x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_7 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x4xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%11 : tensor<1x12x1xf32>) -> tensor<1x12x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%19 : tensor<1x12x16xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.divf %in, %cst_8 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_6 : f64 to f32
      %234 = arith.addf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.rsqrt %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %24 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg17, %25 : tensor<16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %collapsed = tensor.collapse_shape %26 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %27 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%27 : tensor<16x16xf32>) permutation = [1, 0] 
    %28 = tensor.empty() : tensor<12x16xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %30 = linalg.matmul ins(%collapsed, %transposed : tensor<12x16xf32>, tensor<16x16xf32>) outs(%29 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %31 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x16xf32>
    %32 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%30, %31 : tensor<12x16xf32>, tensor<12x16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_13 = tensor.expand_shape %32 [[0, 1], [2, 3]] output_shape [1, 12, 2, 8] : tensor<12x16xf32> into tensor<1x12x2x8xf32>
    %33 = tensor.empty() : tensor<1x2x12x8xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<1x12x2x8xf32>) outs(%33 : tensor<1x2x12x8xf32>) permutation = [0, 2, 1, 3] 
    %34 = tensor.empty() : tensor<16x8xf32>
    %transposed_15 = linalg.transpose ins(%arg5 : tensor<8x16xf32>) outs(%34 : tensor<16x8xf32>) permutation = [1, 0] 
    %35 = tensor.empty() : tensor<12x8xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %37 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%36 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %38 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg6 : tensor<8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x8xf32>
    %39 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%37, %38 : tensor<12x8xf32>, tensor<12x8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x8xf32>
    %expanded_16 = tensor.expand_shape %39 [[0, 1], [2, 3]] output_shape [1, 12, 1, 8] : tensor<12x8xf32> into tensor<1x12x1x8xf32>
    %40 = tensor.empty() : tensor<1x1x12x8xf32>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<1x12x1x8xf32>) outs(%40 : tensor<1x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_18 = linalg.transpose ins(%arg7 : tensor<8x16xf32>) outs(%34 : tensor<16x8xf32>) permutation = [1, 0] 
    %41 = linalg.matmul ins(%collapsed, %transposed_18 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%36 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %42 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x8xf32>
    %43 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%41, %42 : tensor<12x8xf32>, tensor<12x8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x8xf32>
    %expanded_19 = tensor.expand_shape %43 [[0, 1], [2, 3]] output_shape [1, 12, 1, 8] : tensor<12x8xf32> into tensor<1x12x1x8xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<1x12x1x8xf32>) outs(%40 : tensor<1x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_21 = tensor.expand_shape %16 [[0], [1, 2], [3]] output_shape [1, 1, 12, 4] : tensor<1x12x4xf32> into tensor<1x1x12x4xf32>
    %expanded_22 = tensor.expand_shape %18 [[0], [1, 2], [3]] output_shape [1, 1, 12, 4] : tensor<1x12x4xf32> into tensor<1x1x12x4xf32>
    %extracted_slice = tensor.extract_slice %transposed_14[0, 0, 0, 0] [1, 2, 12, 4] [1, 1, 1, 1] : tensor<1x2x12x8xf32> to tensor<1x2x12x4xf32>
    %extracted_slice_23 = tensor.extract_slice %transposed_14[0, 0, 0, 4] [1, 2, 12, 4] [1, 1, 1, 1] : tensor<1x2x12x8xf32> to tensor<1x2x12x4xf32>
    %44 = tensor.empty() : tensor<1x2x12x4xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_21 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %46 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23, %expanded_22 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %47 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %46 : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %48 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23, %expanded_21 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %49 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %expanded_22 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %50 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %49 : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %concat = tensor.concat dim(3) %47, %50 : (tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x12x8xf32>
    %extracted_slice_24 = tensor.extract_slice %transposed_17[0, 0, 0, 0] [1, 1, 12, 4] [1, 1, 1, 1] : tensor<1x1x12x8xf32> to tensor<1x1x12x4xf32>
    %extracted_slice_25 = tensor.extract_slice %transposed_17[0, 0, 0, 4] [1, 1, 12, 4] [1, 1, 1, 1] : tensor<1x1x12x8xf32> to tensor<1x1x12x4xf32>
    %51 = tensor.empty() : tensor<1x1x12x4xf32>
    %52 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %expanded_21 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %expanded_22 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %53 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %55 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %expanded_21 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %expanded_22 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %57 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %56 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %concat_26 = tensor.concat dim(3) %54, %57 : (tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) -> tensor<1x1x12x8xf32>
    %58 = tensor.empty() : tensor<1x1x2x12x8xf32>
    %59 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%concat_26 : tensor<1x1x12x8xf32>) outs(%58 : tensor<1x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x2x12x8xf32>
    %collapsed_27 = tensor.collapse_shape %59 [[0], [1, 2], [3], [4]] : tensor<1x1x2x12x8xf32> into tensor<1x2x12x8xf32>
    %60 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_20 : tensor<1x1x12x8xf32>) outs(%58 : tensor<1x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x2x12x8xf32>
    %61 = tensor.empty() : tensor<1x2x8x12xf32>
    %transposed_28 = linalg.transpose ins(%collapsed_27 : tensor<1x2x12x8xf32>) outs(%61 : tensor<1x2x8x12xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_29 = tensor.collapse_shape %concat [[0, 1], [2], [3]] : tensor<1x2x12x8xf32> into tensor<2x12x8xf32>
    %collapsed_30 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3]] : tensor<1x2x8x12xf32> into tensor<2x8x12xf32>
    %62 = tensor.empty() : tensor<2x12x12xf32>
    %63 = linalg.fill ins(%cst : f32) outs(%62 : tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %64 = linalg.batch_matmul ins(%collapsed_29, %collapsed_30 : tensor<2x12x8xf32>, tensor<2x8x12xf32>) outs(%63 : tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %expanded_31 = tensor.expand_shape %64 [[0, 1], [2], [3]] output_shape [1, 2, 12, 12] : tensor<2x12x12xf32> into tensor<1x2x12x12xf32>
    %65 = tensor.empty() : tensor<1x2x12x12xf32>
    %66 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_31 : tensor<1x2x12x12xf32>) outs(%65 : tensor<1x2x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_5 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x2x12x12xf32>
    %67 = linalg.generic {indexing_maps = [#map11, #map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %66, %cst_2 : tensor<1x1x12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) outs(%65 : tensor<1x2x12x12xf32>) {
    ^bb0(%in: i1, %in_100: f32, %in_101: f32, %out: f32):
      %233 = arith.select %in, %in_100, %in_101 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x12xf32>
    %68 = tensor.empty() : tensor<1x2x12x1xf32>
    %expanded_32 = tensor.expand_shape %arg2 [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xf32> into tensor<1x2x1xf32>
    %69 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<1x2x1xf32>) outs(%68 : tensor<1x2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x12x1xf32>
    %concat_33 = tensor.concat dim(3) %67, %69 : (tensor<1x2x12x12xf32>, tensor<1x2x12x1xf32>) -> tensor<1x2x12x13xf32>
    %70 = tensor.empty() : tensor<1x2x12xi64>
    %71 = linalg.fill ins(%c0_i64 : i64) outs(%70 : tensor<1x2x12xi64>) -> tensor<1x2x12xi64>
    %72 = tensor.empty() : tensor<1x2x12xf32>
    %73 = linalg.fill ins(%cst_0 : f32) outs(%72 : tensor<1x2x12xf32>) -> tensor<1x2x12xf32>
    %74:2 = linalg.generic {indexing_maps = [#map5, #map15, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%concat_33 : tensor<1x2x12x13xf32>) outs(%73, %71 : tensor<1x2x12xf32>, tensor<1x2x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_100: i64):
      %233 = linalg.index 3 : index
      %234 = arith.index_cast %233 : index to i64
      %235 = arith.maximumf %in, %out : f32
      %236 = arith.cmpf ogt, %in, %out : f32
      %237 = arith.select %236, %234, %out_100 : i64
      linalg.yield %235, %237 : f32, i64
    } -> (tensor<1x2x12xf32>, tensor<1x2x12xi64>)
    %expanded_34 = tensor.expand_shape %74#0 [[0], [1], [2, 3]] output_shape [1, 2, 12, 1] : tensor<1x2x12xf32> into tensor<1x2x12x1xf32>
    %75 = tensor.empty() : tensor<1x2x12x13xf32>
    %76 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_33, %expanded_34 : tensor<1x2x12x13xf32>, tensor<1x2x12x1xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %77 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<1x2x12x13xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.exp %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %78 = linalg.fill ins(%cst : f32) outs(%68 : tensor<1x2x12x1xf32>) -> tensor<1x2x12x1xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%77 : tensor<1x2x12x13xf32>) outs(%78 : tensor<1x2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x1xf32>
    %80 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %79 : tensor<1x2x12x13xf32>, tensor<1x2x12x1xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.divf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %extracted_slice_35 = tensor.extract_slice %80[0, 0, 0, 0] [1, 2, 12, 12] [1, 1, 1, 1] : tensor<1x2x12x13xf32> to tensor<1x2x12x12xf32>
    %collapsed_36 = tensor.collapse_shape %extracted_slice_35 [[0, 1], [2], [3]] : tensor<1x2x12x12xf32> into tensor<2x12x12xf32>
    %collapsed_37 = tensor.collapse_shape %60 [[0, 1, 2], [3], [4]] : tensor<1x1x2x12x8xf32> into tensor<2x12x8xf32>
    %81 = tensor.empty() : tensor<2x12x8xf32>
    %82 = linalg.fill ins(%cst : f32) outs(%81 : tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
    %83 = linalg.batch_matmul ins(%collapsed_36, %collapsed_37 : tensor<2x12x12xf32>, tensor<2x12x8xf32>) outs(%82 : tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
    %expanded_38 = tensor.expand_shape %83 [[0, 1], [2], [3]] output_shape [1, 2, 12, 8] : tensor<2x12x8xf32> into tensor<1x2x12x8xf32>
    %84 = tensor.empty() : tensor<1x12x2x8xf32>
    %transposed_39 = linalg.transpose ins(%expanded_38 : tensor<1x2x12x8xf32>) outs(%84 : tensor<1x12x2x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_40 = tensor.collapse_shape %transposed_39 [[0, 1], [2, 3]] : tensor<1x12x2x8xf32> into tensor<12x16xf32>
    %transposed_41 = linalg.transpose ins(%arg9 : tensor<16x16xf32>) outs(%27 : tensor<16x16xf32>) permutation = [1, 0] 
    %85 = linalg.matmul ins(%collapsed_40, %transposed_41 : tensor<12x16xf32>, tensor<16x16xf32>) outs(%29 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %86 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x16xf32>
    %87 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%85, %86 : tensor<12x16xf32>, tensor<12x16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_42 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %expanded_42 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %89 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %90 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%89 : tensor<1x12x16xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %91 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.divf %in, %cst_8 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %92 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_6 : f64 to f32
      %234 = arith.addf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x1xf32>
    %93 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.rsqrt %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %93 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %95 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg18, %94 : tensor<16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %collapsed_43 = tensor.collapse_shape %95 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %96 = tensor.empty() : tensor<16x4xf32>
    %transposed_44 = linalg.transpose ins(%arg11 : tensor<4x16xf32>) outs(%96 : tensor<16x4xf32>) permutation = [1, 0] 
    %97 = tensor.empty() : tensor<12x4xf32>
    %98 = linalg.fill ins(%cst : f32) outs(%97 : tensor<12x4xf32>) -> tensor<12x4xf32>
    %99 = linalg.matmul ins(%collapsed_43, %transposed_44 : tensor<12x16xf32>, tensor<16x4xf32>) outs(%98 : tensor<12x4xf32>) -> tensor<12x4xf32>
    %100 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<4xf32>) outs(%97 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x4xf32>
    %101 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%99, %100 : tensor<12x4xf32>, tensor<12x4xf32>) outs(%97 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x4xf32>
    %102 = tensor.empty() : tensor<12x4xi64>
    %103 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel"]} outs(%102 : tensor<12x4xi64>) {
    ^bb0(%out: i64):
      %233 = linalg.index 1 : index
      %234 = arith.index_cast %233 : index to i64
      linalg.yield %234 : i64
    } -> tensor<12x4xi64>
    %104:2 = "tm_tensor.sort"(%101, %103) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: i64, %arg43: i64):
      %233 = arith.cmpf oge, %arg40, %arg41 : f32
      "tm_tensor.yield"(%233) : (i1) -> ()
    }) : (tensor<12x4xf32>, tensor<12x4xi64>) -> (tensor<12x4xf32>, tensor<12x4xi64>)
    %extracted_slice_45 = tensor.extract_slice %104#0[0, 0] [12, 2] [1, 1] : tensor<12x4xf32> to tensor<12x2xf32>
    %extracted_slice_46 = tensor.extract_slice %104#1[0, 0] [12, 2] [1, 1] : tensor<12x4xi64> to tensor<12x2xi64>
    %105 = linalg.fill ins(%c0_i64 : i64) outs(%2 : tensor<12xi64>) -> tensor<12xi64>
    %106 = tensor.empty() : tensor<12xf32>
    %107 = linalg.fill ins(%cst_0 : f32) outs(%106 : tensor<12xf32>) -> tensor<12xf32>
    %108:2 = linalg.generic {indexing_maps = [#map10, #map16, #map16], iterator_types = ["parallel", "reduction"]} ins(%extracted_slice_45 : tensor<12x2xf32>) outs(%107, %105 : tensor<12xf32>, tensor<12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_100: i64):
      %233 = linalg.index 1 : index
      %234 = arith.index_cast %233 : index to i64
      %235 = arith.maximumf %in, %out : f32
      %236 = arith.cmpf ogt, %in, %out : f32
      %237 = arith.select %236, %234, %out_100 : i64
      linalg.yield %235, %237 : f32, i64
    } -> (tensor<12xf32>, tensor<12xi64>)
    %expanded_47 = tensor.expand_shape %108#0 [[0, 1]] output_shape [12, 1] : tensor<12xf32> into tensor<12x1xf32>
    %109 = tensor.empty() : tensor<12x2xf32>
    %110 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_45, %expanded_47 : tensor<12x2xf32>, tensor<12x1xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %111 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%110 : tensor<12x2xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.exp %in : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %112 = tensor.empty() : tensor<12x1xf32>
    %113 = linalg.fill ins(%cst : f32) outs(%112 : tensor<12x1xf32>) -> tensor<12x1xf32>
    %114 = linalg.generic {indexing_maps = [#map10, #map17], iterator_types = ["parallel", "reduction"]} ins(%111 : tensor<12x2xf32>) outs(%113 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x1xf32>
    %115 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%111, %114 : tensor<12x2xf32>, tensor<12x1xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.divf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %116 = tensor.empty() : tensor<12x2x16x32xf32>
    %117 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_46 : tensor<12x2xi64>) outs(%116 : tensor<12x2x16x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %238 = linalg.index 3 : index
      %extracted = tensor.extract %arg13[%236, %237, %238] : tensor<4x16x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16x32xf32>
    %expanded_48 = tensor.expand_shape %collapsed_43 [[0], [1, 2, 3]] output_shape [12, 1, 16, 1] : tensor<12x16xf32> into tensor<12x1x16x1xf32>
    %118 = linalg.generic {indexing_maps = [#map19, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_48, %117 : tensor<12x1x16x1xf32>, tensor<12x2x16x32xf32>) outs(%116 : tensor<12x2x16x32xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16x32xf32>
    %119 = tensor.empty() : tensor<12x2x32xf32>
    %120 = linalg.fill ins(%cst : f32) outs(%119 : tensor<12x2x32xf32>) -> tensor<12x2x32xf32>
    %121 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%118 : tensor<12x2x16x32xf32>) outs(%120 : tensor<12x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x32xf32>
    %122 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_46 : tensor<12x2xi64>) outs(%119 : tensor<12x2x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %extracted = tensor.extract %arg14[%236, %237] : tensor<4x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x32xf32>
    %123 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %122 : tensor<12x2x32xf32>, tensor<12x2x32xf32>) outs(%119 : tensor<12x2x32xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x32xf32>
    %extracted_slice_49 = tensor.extract_slice %123[0, 0, 0] [12, 2, 16] [1, 1, 2] : tensor<12x2x32xf32> to tensor<12x2x16xf32>
    %extracted_slice_50 = tensor.extract_slice %123[0, 0, 1] [12, 2, 16] [1, 1, 2] : tensor<12x2x32xf32> to tensor<12x2x16xf32>
    %124 = tensor.empty() : tensor<12x2x16xf32>
    %125 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_49 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.cmpf ugt, %in, %cst_9 : f32
      %234 = arith.select %233, %cst_9, %in : f32
      linalg.yield %234 : f32
    } -> tensor<12x2x16xf32>
    %126 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_50 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.cmpf ult, %in, %cst_10 : f32
      %234 = arith.select %233, %cst_10, %in : f32
      %235 = arith.cmpf ugt, %234, %cst_9 : f32
      %236 = arith.select %235, %cst_9, %234 : f32
      linalg.yield %236 : f32
    } -> tensor<12x2x16xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_4 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<12x2x16xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.negf %in : f32
      %234 = math.exp %233 : f32
      %235 = arith.addf %234, %cst_1 : f32
      %236 = arith.divf %cst_1, %235 : f32
      linalg.yield %236 : f32
    } -> tensor<12x2x16xf32>
    %129 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %128 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %130 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %cst_1 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %131 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %129 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %132 = tensor.empty() : tensor<12x2x16x16xf32>
    %133 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_46 : tensor<12x2xi64>) outs(%132 : tensor<12x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %238 = linalg.index 3 : index
      %extracted = tensor.extract %arg15[%236, %237, %238] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16x16xf32>
    %expanded_51 = tensor.expand_shape %131 [[0], [1], [2, 3]] output_shape [12, 2, 16, 1] : tensor<12x2x16xf32> into tensor<12x2x16x1xf32>
    %134 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_51, %133 : tensor<12x2x16x1xf32>, tensor<12x2x16x16xf32>) outs(%132 : tensor<12x2x16x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16x16xf32>
    %135 = linalg.fill ins(%cst : f32) outs(%124 : tensor<12x2x16xf32>) -> tensor<12x2x16xf32>
    %136 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%134 : tensor<12x2x16x16xf32>) outs(%135 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %137 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_46 : tensor<12x2xi64>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %extracted = tensor.extract %arg16[%236, %237] : tensor<4x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %137 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %expanded_52 = tensor.expand_shape %115 [[0], [1, 2]] output_shape [12, 2, 1] : tensor<12x2xf32> into tensor<12x2x1xf32>
    %139 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %expanded_52 : tensor<12x2x16xf32>, tensor<12x2x1xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map20], iterator_types = ["parallel", "reduction", "parallel"]} ins(%139 : tensor<12x2x16xf32>) outs(%29 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_53 = tensor.expand_shape %140 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %141 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %expanded_53 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %142 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%142 : tensor<1x12x16xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.divf %in, %cst_8 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_6 : f64 to f32
      %234 = arith.addf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x1xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.rsqrt %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %146 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %148 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg34, %147 : tensor<16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %collapsed_54 = tensor.collapse_shape %148 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %transposed_55 = linalg.transpose ins(%arg20 : tensor<16x16xf32>) outs(%27 : tensor<16x16xf32>) permutation = [1, 0] 
    %149 = linalg.matmul ins(%collapsed_54, %transposed_55 : tensor<12x16xf32>, tensor<16x16xf32>) outs(%29 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %150 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg21 : tensor<16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x16xf32>
    %151 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%149, %150 : tensor<12x16xf32>, tensor<12x16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_56 = tensor.expand_shape %151 [[0, 1], [2, 3]] output_shape [1, 12, 2, 8] : tensor<12x16xf32> into tensor<1x12x2x8xf32>
    %transposed_57 = linalg.transpose ins(%expanded_56 : tensor<1x12x2x8xf32>) outs(%33 : tensor<1x2x12x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_58 = linalg.transpose ins(%arg22 : tensor<8x16xf32>) outs(%34 : tensor<16x8xf32>) permutation = [1, 0] 
    %152 = linalg.matmul ins(%collapsed_54, %transposed_58 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%36 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %153 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg23 : tensor<8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x8xf32>
    %154 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%152, %153 : tensor<12x8xf32>, tensor<12x8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x8xf32>
    %expanded_59 = tensor.expand_shape %154 [[0, 1], [2, 3]] output_shape [1, 12, 1, 8] : tensor<12x8xf32> into tensor<1x12x1x8xf32>
    %transposed_60 = linalg.transpose ins(%expanded_59 : tensor<1x12x1x8xf32>) outs(%40 : tensor<1x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_61 = linalg.transpose ins(%arg24 : tensor<8x16xf32>) outs(%34 : tensor<16x8xf32>) permutation = [1, 0] 
    %155 = linalg.matmul ins(%collapsed_54, %transposed_61 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%36 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %156 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg25 : tensor<8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x8xf32>
    %157 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%155, %156 : tensor<12x8xf32>, tensor<12x8xf32>) outs(%35 : tensor<12x8xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x8xf32>
    %expanded_62 = tensor.expand_shape %157 [[0, 1], [2, 3]] output_shape [1, 12, 1, 8] : tensor<12x8xf32> into tensor<1x12x1x8xf32>
    %transposed_63 = linalg.transpose ins(%expanded_62 : tensor<1x12x1x8xf32>) outs(%40 : tensor<1x1x12x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_64 = tensor.extract_slice %transposed_57[0, 0, 0, 0] [1, 2, 12, 4] [1, 1, 1, 1] : tensor<1x2x12x8xf32> to tensor<1x2x12x4xf32>
    %extracted_slice_65 = tensor.extract_slice %transposed_57[0, 0, 0, 4] [1, 2, 12, 4] [1, 1, 1, 1] : tensor<1x2x12x8xf32> to tensor<1x2x12x4xf32>
    %158 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_64, %expanded_21 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %159 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_65, %expanded_22 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %160 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%158, %159 : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %161 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_65, %expanded_21 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %162 = linalg.generic {indexing_maps = [#map5, #map11, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_64, %expanded_22 : tensor<1x2x12x4xf32>, tensor<1x1x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %163 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%161, %162 : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) outs(%44 : tensor<1x2x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x4xf32>
    %concat_66 = tensor.concat dim(3) %160, %163 : (tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x12x8xf32>
    %extracted_slice_67 = tensor.extract_slice %transposed_60[0, 0, 0, 0] [1, 1, 12, 4] [1, 1, 1, 1] : tensor<1x1x12x8xf32> to tensor<1x1x12x4xf32>
    %extracted_slice_68 = tensor.extract_slice %transposed_60[0, 0, 0, 4] [1, 1, 12, 4] [1, 1, 1, 1] : tensor<1x1x12x8xf32> to tensor<1x1x12x4xf32>
    %164 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_67, %expanded_21 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %165 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_68, %expanded_22 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %166 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%164, %165 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %167 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_68, %expanded_21 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %168 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_67, %expanded_22 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %169 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%167, %168 : tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) outs(%51 : tensor<1x1x12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x1x12x4xf32>
    %concat_69 = tensor.concat dim(3) %166, %169 : (tensor<1x1x12x4xf32>, tensor<1x1x12x4xf32>) -> tensor<1x1x12x8xf32>
    %170 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%concat_69 : tensor<1x1x12x8xf32>) outs(%58 : tensor<1x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x2x12x8xf32>
    %collapsed_70 = tensor.collapse_shape %170 [[0], [1, 2], [3], [4]] : tensor<1x1x2x12x8xf32> into tensor<1x2x12x8xf32>
    %171 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_63 : tensor<1x1x12x8xf32>) outs(%58 : tensor<1x1x2x12x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x2x12x8xf32>
    %transposed_71 = linalg.transpose ins(%collapsed_70 : tensor<1x2x12x8xf32>) outs(%61 : tensor<1x2x8x12xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_72 = tensor.collapse_shape %concat_66 [[0, 1], [2], [3]] : tensor<1x2x12x8xf32> into tensor<2x12x8xf32>
    %collapsed_73 = tensor.collapse_shape %transposed_71 [[0, 1], [2], [3]] : tensor<1x2x8x12xf32> into tensor<2x8x12xf32>
    %172 = linalg.batch_matmul ins(%collapsed_72, %collapsed_73 : tensor<2x12x8xf32>, tensor<2x8x12xf32>) outs(%63 : tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %expanded_74 = tensor.expand_shape %172 [[0, 1], [2], [3]] output_shape [1, 2, 12, 12] : tensor<2x12x12xf32> into tensor<1x2x12x12xf32>
    %173 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_74 : tensor<1x2x12x12xf32>) outs(%65 : tensor<1x2x12x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_5 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x2x12x12xf32>
    %174 = linalg.generic {indexing_maps = [#map11, #map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %173, %cst_2 : tensor<1x1x12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) outs(%65 : tensor<1x2x12x12xf32>) {
    ^bb0(%in: i1, %in_100: f32, %in_101: f32, %out: f32):
      %233 = arith.select %in, %in_100, %in_101 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x12xf32>
    %expanded_75 = tensor.expand_shape %arg19 [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xf32> into tensor<1x2x1xf32>
    %175 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_75 : tensor<1x2x1xf32>) outs(%68 : tensor<1x2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x12x1xf32>
    %concat_76 = tensor.concat dim(3) %174, %175 : (tensor<1x2x12x12xf32>, tensor<1x2x12x1xf32>) -> tensor<1x2x12x13xf32>
    %176:2 = linalg.generic {indexing_maps = [#map5, #map15, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%concat_76 : tensor<1x2x12x13xf32>) outs(%73, %71 : tensor<1x2x12xf32>, tensor<1x2x12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_100: i64):
      %233 = linalg.index 3 : index
      %234 = arith.index_cast %233 : index to i64
      %235 = arith.maximumf %in, %out : f32
      %236 = arith.cmpf ogt, %in, %out : f32
      %237 = arith.select %236, %234, %out_100 : i64
      linalg.yield %235, %237 : f32, i64
    } -> (tensor<1x2x12xf32>, tensor<1x2x12xi64>)
    %expanded_77 = tensor.expand_shape %176#0 [[0], [1], [2, 3]] output_shape [1, 2, 12, 1] : tensor<1x2x12xf32> into tensor<1x2x12x1xf32>
    %177 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_76, %expanded_77 : tensor<1x2x12x13xf32>, tensor<1x2x12x1xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %178 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%177 : tensor<1x2x12x13xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.exp %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %179 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%178 : tensor<1x2x12x13xf32>) outs(%78 : tensor<1x2x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x1xf32>
    %180 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%178, %179 : tensor<1x2x12x13xf32>, tensor<1x2x12x1xf32>) outs(%75 : tensor<1x2x12x13xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.divf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x2x12x13xf32>
    %extracted_slice_78 = tensor.extract_slice %180[0, 0, 0, 0] [1, 2, 12, 12] [1, 1, 1, 1] : tensor<1x2x12x13xf32> to tensor<1x2x12x12xf32>
    %collapsed_79 = tensor.collapse_shape %extracted_slice_78 [[0, 1], [2], [3]] : tensor<1x2x12x12xf32> into tensor<2x12x12xf32>
    %collapsed_80 = tensor.collapse_shape %171 [[0, 1, 2], [3], [4]] : tensor<1x1x2x12x8xf32> into tensor<2x12x8xf32>
    %181 = linalg.batch_matmul ins(%collapsed_79, %collapsed_80 : tensor<2x12x12xf32>, tensor<2x12x8xf32>) outs(%82 : tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
    %expanded_81 = tensor.expand_shape %181 [[0, 1], [2], [3]] output_shape [1, 2, 12, 8] : tensor<2x12x8xf32> into tensor<1x2x12x8xf32>
    %transposed_82 = linalg.transpose ins(%expanded_81 : tensor<1x2x12x8xf32>) outs(%84 : tensor<1x12x2x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_83 = tensor.collapse_shape %transposed_82 [[0, 1], [2, 3]] : tensor<1x12x2x8xf32> into tensor<12x16xf32>
    %transposed_84 = linalg.transpose ins(%arg26 : tensor<16x16xf32>) outs(%27 : tensor<16x16xf32>) permutation = [1, 0] 
    %182 = linalg.matmul ins(%collapsed_83, %transposed_84 : tensor<12x16xf32>, tensor<16x16xf32>) outs(%29 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %183 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg27 : tensor<16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x16xf32>
    %184 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%182, %183 : tensor<12x16xf32>, tensor<12x16xf32>) outs(%28 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_85 = tensor.expand_shape %184 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %185 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %expanded_85 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %186 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %187 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%186 : tensor<1x12x16xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %188 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%187 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.divf %in, %cst_8 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %189 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_6 : f64 to f32
      %234 = arith.addf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x1xf32>
    %190 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%189 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.rsqrt %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %191 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %190 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %192 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg35, %191 : tensor<16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %collapsed_86 = tensor.collapse_shape %192 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %transposed_87 = linalg.transpose ins(%arg28 : tensor<4x16xf32>) outs(%96 : tensor<16x4xf32>) permutation = [1, 0] 
    %193 = linalg.matmul ins(%collapsed_86, %transposed_87 : tensor<12x16xf32>, tensor<16x4xf32>) outs(%98 : tensor<12x4xf32>) -> tensor<12x4xf32>
    %194 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel"]} ins(%arg29 : tensor<4xf32>) outs(%97 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x4xf32>
    %195 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%193, %194 : tensor<12x4xf32>, tensor<12x4xf32>) outs(%97 : tensor<12x4xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x4xf32>
    %196:2 = "tm_tensor.sort"(%195, %103) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: i64, %arg43: i64):
      %233 = arith.cmpf oge, %arg40, %arg41 : f32
      "tm_tensor.yield"(%233) : (i1) -> ()
    }) : (tensor<12x4xf32>, tensor<12x4xi64>) -> (tensor<12x4xf32>, tensor<12x4xi64>)
    %extracted_slice_88 = tensor.extract_slice %196#0[0, 0] [12, 2] [1, 1] : tensor<12x4xf32> to tensor<12x2xf32>
    %extracted_slice_89 = tensor.extract_slice %196#1[0, 0] [12, 2] [1, 1] : tensor<12x4xi64> to tensor<12x2xi64>
    %197:2 = linalg.generic {indexing_maps = [#map10, #map16, #map16], iterator_types = ["parallel", "reduction"]} ins(%extracted_slice_88 : tensor<12x2xf32>) outs(%107, %105 : tensor<12xf32>, tensor<12xi64>) {
    ^bb0(%in: f32, %out: f32, %out_100: i64):
      %233 = linalg.index 1 : index
      %234 = arith.index_cast %233 : index to i64
      %235 = arith.maximumf %in, %out : f32
      %236 = arith.cmpf ogt, %in, %out : f32
      %237 = arith.select %236, %234, %out_100 : i64
      linalg.yield %235, %237 : f32, i64
    } -> (tensor<12xf32>, tensor<12xi64>)
    %expanded_90 = tensor.expand_shape %197#0 [[0, 1]] output_shape [12, 1] : tensor<12xf32> into tensor<12x1xf32>
    %198 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_88, %expanded_90 : tensor<12x2xf32>, tensor<12x1xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.subf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %199 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%198 : tensor<12x2xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.exp %in : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %200 = linalg.generic {indexing_maps = [#map10, #map17], iterator_types = ["parallel", "reduction"]} ins(%199 : tensor<12x2xf32>) outs(%113 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x1xf32>
    %201 = linalg.generic {indexing_maps = [#map10, #map17, #map10], iterator_types = ["parallel", "parallel"]} ins(%199, %200 : tensor<12x2xf32>, tensor<12x1xf32>) outs(%109 : tensor<12x2xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.divf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2xf32>
    %202 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_89 : tensor<12x2xi64>) outs(%116 : tensor<12x2x16x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %238 = linalg.index 3 : index
      %extracted = tensor.extract %arg30[%236, %237, %238] : tensor<4x16x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16x32xf32>
    %expanded_91 = tensor.expand_shape %collapsed_86 [[0], [1, 2, 3]] output_shape [12, 1, 16, 1] : tensor<12x16xf32> into tensor<12x1x16x1xf32>
    %203 = linalg.generic {indexing_maps = [#map19, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_91, %202 : tensor<12x1x16x1xf32>, tensor<12x2x16x32xf32>) outs(%116 : tensor<12x2x16x32xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16x32xf32>
    %204 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%203 : tensor<12x2x16x32xf32>) outs(%120 : tensor<12x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x32xf32>
    %205 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_89 : tensor<12x2xi64>) outs(%119 : tensor<12x2x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %extracted = tensor.extract %arg31[%236, %237] : tensor<4x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x32xf32>
    %206 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %205 : tensor<12x2x32xf32>, tensor<12x2x32xf32>) outs(%119 : tensor<12x2x32xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x32xf32>
    %extracted_slice_92 = tensor.extract_slice %206[0, 0, 0] [12, 2, 16] [1, 1, 2] : tensor<12x2x32xf32> to tensor<12x2x16xf32>
    %extracted_slice_93 = tensor.extract_slice %206[0, 0, 1] [12, 2, 16] [1, 1, 2] : tensor<12x2x32xf32> to tensor<12x2x16xf32>
    %207 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_92 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.cmpf ugt, %in, %cst_9 : f32
      %234 = arith.select %233, %cst_9, %in : f32
      linalg.yield %234 : f32
    } -> tensor<12x2x16xf32>
    %208 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_93 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.cmpf ult, %in, %cst_10 : f32
      %234 = arith.select %233, %cst_10, %in : f32
      %235 = arith.cmpf ugt, %234, %cst_9 : f32
      %236 = arith.select %235, %cst_9, %234 : f32
      linalg.yield %236 : f32
    } -> tensor<12x2x16xf32>
    %209 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_4 : f64 to f32
      %234 = arith.mulf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<12x2x16xf32>
    %210 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.negf %in : f32
      %234 = math.exp %233 : f32
      %235 = arith.addf %234, %cst_1 : f32
      %236 = arith.divf %cst_1, %235 : f32
      linalg.yield %236 : f32
    } -> tensor<12x2x16xf32>
    %211 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207, %210 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %212 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %cst_1 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %213 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212, %211 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %214 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_89 : tensor<12x2xi64>) outs(%132 : tensor<12x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %238 = linalg.index 3 : index
      %extracted = tensor.extract %arg32[%236, %237, %238] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16x16xf32>
    %expanded_94 = tensor.expand_shape %213 [[0], [1], [2, 3]] output_shape [12, 2, 16, 1] : tensor<12x2x16xf32> into tensor<12x2x16x1xf32>
    %215 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_94, %214 : tensor<12x2x16x1xf32>, tensor<12x2x16x16xf32>) outs(%132 : tensor<12x2x16x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16x16xf32>
    %216 = linalg.generic {indexing_maps = [#map5, #map14], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%215 : tensor<12x2x16x16xf32>) outs(%135 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %217 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_89 : tensor<12x2xi64>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %233 = arith.cmpi slt, %in, %c0_i64 : i64
      %234 = arith.addi %in, %c4_i64 : i64
      %235 = arith.select %233, %234, %in : i64
      %236 = arith.index_cast %235 : i64 to index
      %237 = linalg.index 2 : index
      %extracted = tensor.extract %arg33[%236, %237] : tensor<4x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<12x2x16xf32>
    %218 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %217 : tensor<12x2x16xf32>, tensor<12x2x16xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %expanded_95 = tensor.expand_shape %201 [[0], [1, 2]] output_shape [12, 2, 1] : tensor<12x2xf32> into tensor<12x2x1xf32>
    %219 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218, %expanded_95 : tensor<12x2x16xf32>, tensor<12x2x1xf32>) outs(%124 : tensor<12x2x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<12x2x16xf32>
    %220 = linalg.generic {indexing_maps = [#map1, #map20], iterator_types = ["parallel", "reduction", "parallel"]} ins(%219 : tensor<12x2x16xf32>) outs(%29 : tensor<12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<12x16xf32>
    %expanded_96 = tensor.expand_shape %220 [[0, 1], [2]] output_shape [1, 12, 16] : tensor<12x16xf32> into tensor<1x12x16xf32>
    %221 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %expanded_96 : tensor<1x12x16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.addf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %222 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221 : tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %223 = linalg.generic {indexing_maps = [#map1, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%222 : tensor<1x12x16xf32>) outs(%20 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.addf %in, %out : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %224 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.divf %in, %cst_8 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %225 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%224 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = arith.truncf %cst_6 : f64 to f32
      %234 = arith.addf %in, %233 : f32
      linalg.yield %234 : f32
    } -> tensor<1x12x1xf32>
    %226 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225 : tensor<1x12x1xf32>) outs(%11 : tensor<1x12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %233 = math.rsqrt %in : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x1xf32>
    %227 = linalg.generic {indexing_maps = [#map1, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221, %226 : tensor<1x12x16xf32>, tensor<1x12x1xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %228 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg36, %227 : tensor<16xf32>, tensor<1x12x16xf32>) outs(%0 : tensor<1x12x16xf32>) {
    ^bb0(%in: f32, %in_100: f32, %out: f32):
      %233 = arith.mulf %in, %in_100 : f32
      linalg.yield %233 : f32
    } -> tensor<1x12x16xf32>
    %229 = tensor.empty() : tensor<16x32xf32>
    %transposed_97 = linalg.transpose ins(%arg37 : tensor<32x16xf32>) outs(%229 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_98 = tensor.collapse_shape %228 [[0, 1], [2]] : tensor<1x12x16xf32> into tensor<12x16xf32>
    %230 = tensor.empty() : tensor<12x32xf32>
    %231 = linalg.fill ins(%cst : f32) outs(%230 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %232 = linalg.matmul ins(%collapsed_98, %transposed_97 : tensor<12x16xf32>, tensor<16x32xf32>) outs(%231 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %expanded_99 = tensor.expand_shape %232 [[0, 1], [2]] output_shape [1, 12, 32] : tensor<12x32xf32> into tensor<1x12x32xf32>
    return %expanded_99 : tensor<1x12x32xf32>
  }
}

