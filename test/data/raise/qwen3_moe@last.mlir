#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1) -> (d0, d1)>
#map12 = affine_map<(d0, d1) -> (d0)>
#map13 = affine_map<(d0, d1) -> (d0, 0)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map17 = affine_map<(d0, d1, d2) -> (d0, d2)>
module attributes {kv.model = {architecture = "qwen3_moe", max_seq_len = 64 : i64, name = "qwen3_moe", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.q_norm.weight"}, %arg7: tensor<8xf32> {kv.weight = "model.layers.0.self_attn.k_norm.weight"}, %arg8: tensor<4x32x16xf32> {kv.weight = "model.layers.0.mlp.experts.gate_up_proj"}, %arg9: tensor<4x16x16xf32> {kv.weight = "model.layers.0.mlp.experts.down_proj"}, %arg10: tensor<4x16xf32> {kv.weight = "model.layers.0.mlp.gate.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg12: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg13: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg14: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg15: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg16: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x1x32xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8_i64 = arith.constant 8 : i64
    %c-1_i64 = arith.constant -1 : i64
    %c2_i64 = arith.constant 2 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c32 = arith.constant 32 : index
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 9.9999999999999995E-7 : f64
    %cst_3 = arith.constant 1.600000e+01 : f32
    %c16_i64 = arith.constant 16 : i64
    %cst_4 = arith.constant 8.000000e+00 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %160 = arith.index_cast %in : i64 to index
      %161 = linalg.index 2 : index
      %162 = arith.cmpi slt, %160, %c32 : index
      cf.assert %162, "index must be smaller than dim size"
      %163 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %163, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%160, %161] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = tensor.empty(%dim) : tensor<?xi64>
    %5 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%4 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %160 = linalg.index 0 : index
      %161 = arith.index_cast %160 : index to i64
      linalg.yield %161 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_5 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %6 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_59: i64, %out: i1):
      %160 = arith.cmpi sle, %in, %in_59 : i64
      linalg.yield %160 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_6 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %8 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x?x1xi64>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %160 = arith.sitofp %in : i64 to f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %10 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %11 = linalg.generic {indexing_maps = [#map6, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %arg15 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%10 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %11, %11 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %12 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%12 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.cos %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x8xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%12 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.sin %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x8xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%8 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.divf %in, %cst_3 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.truncf %cst_2 : f64 to f32
      %161 = arith.addf %in, %160 : f32
      linalg.yield %161 : f32
    } -> tensor<1x?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.rsqrt %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %20 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %22 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %21 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %23 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %22 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %24 = tensor.empty(%dim) : tensor<?x16xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %26 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%25 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_7 = tensor.expand_shape %26 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %27 = arith.cmpi slt, %0, %c0_i64 : i64
    %28 = arith.select %27, %c1_i64, %0 : i64
    %29 = arith.extui %27 : i1 to i64
    %30 = arith.addi %29, %c1_i64 : i64
    %31 = arith.muli %28, %c8_i64 : i64
    %32 = arith.cmpi sle, %30, %c1_i64 : i64
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %33 = arith.muli %0, %c16_i64 : i64
    %34 = arith.divsi %33, %31 : i64
    %35 = arith.select %27, %34, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %35, %34, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_7(%from_elements) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %36 = arith.index_cast %35 : i64 to index
    %37 = tensor.empty(%36) : tensor<1x?x2x8xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<1x?x2x8xf32>) outs(%37 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %160 : f32
    } -> tensor<1x?x2x8xf32>
    %39 = tensor.empty(%36) : tensor<1x?x2x1xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32>
    %41 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%38 : tensor<1x?x2x8xf32>) outs(%40 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x2x1xf32>
    %42 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<1x?x2x1xf32>) outs(%39 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.divf %in, %cst_4 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x2x1xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<1x?x2x1xf32>) outs(%39 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.truncf %cst_2 : f64 to f32
      %161 = arith.addf %in, %160 : f32
      linalg.yield %161 : f32
    } -> tensor<1x?x2x1xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<1x?x2x1xf32>) outs(%39 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.rsqrt %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x2x1xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape, %44 : tensor<1x?x2x8xf32>, tensor<1x?x2x1xf32>) outs(%37 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x2x8xf32>
    %46 = linalg.generic {indexing_maps = [#map8, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg6, %45 : tensor<8xf32>, tensor<1x?x2x8xf32>) outs(%37 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x2x8xf32>
    %47 = tensor.empty(%36) : tensor<1x2x?x8xf32>
    %transposed_8 = linalg.transpose ins(%46 : tensor<1x?x2x8xf32>) outs(%47 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %48 = tensor.empty() : tensor<16x8xf32>
    %transposed_9 = linalg.transpose ins(%arg3 : tensor<8x16xf32>) outs(%48 : tensor<16x8xf32>) permutation = [1, 0] 
    %49 = tensor.empty(%dim) : tensor<?x8xf32>
    %50 = linalg.fill ins(%cst : f32) outs(%49 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %51 = linalg.matmul ins(%collapsed, %transposed_9 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%50 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_10 = tensor.expand_shape %51 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %52 = arith.muli %0, %c8_i64 : i64
    %53 = arith.divsi %52, %31 : i64
    %54 = arith.select %27, %53, %0 : i64
    %from_elements_11 = tensor.from_elements %c1_i64, %54, %53, %c8_i64 : tensor<4xi64>
    %reshape_12 = tensor.reshape %expanded_10(%from_elements_11) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %55 = arith.index_cast %54 : i64 to index
    %56 = tensor.empty(%55) : tensor<1x?x1x8xf32>
    %57 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_12 : tensor<1x?x1x8xf32>) outs(%56 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %160 : f32
    } -> tensor<1x?x1x8xf32>
    %58 = tensor.empty(%55) : tensor<1x?x1x1xf32>
    %59 = linalg.fill ins(%cst : f32) outs(%58 : tensor<1x?x1x1xf32>) -> tensor<1x?x1x1xf32>
    %60 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<1x?x1x8xf32>) outs(%59 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1x1xf32>
    %61 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<1x?x1x1xf32>) outs(%58 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.divf %in, %cst_4 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1x1xf32>
    %62 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61 : tensor<1x?x1x1xf32>) outs(%58 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.truncf %cst_2 : f64 to f32
      %161 = arith.addf %in, %160 : f32
      linalg.yield %161 : f32
    } -> tensor<1x?x1x1xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<1x?x1x1xf32>) outs(%58 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.rsqrt %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1x1xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_12, %63 : tensor<1x?x1x8xf32>, tensor<1x?x1x1xf32>) outs(%56 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1x8xf32>
    %65 = linalg.generic {indexing_maps = [#map8, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg7, %64 : tensor<8xf32>, tensor<1x?x1x8xf32>) outs(%56 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1x8xf32>
    %66 = tensor.empty(%55) : tensor<1x1x?x8xf32>
    %transposed_13 = linalg.transpose ins(%65 : tensor<1x?x1x8xf32>) outs(%66 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_14 = linalg.transpose ins(%arg4 : tensor<8x16xf32>) outs(%48 : tensor<16x8xf32>) permutation = [1, 0] 
    %67 = linalg.matmul ins(%collapsed, %transposed_14 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%50 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_15 = tensor.expand_shape %67 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %reshape_16 = tensor.reshape %expanded_15(%from_elements_11) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_17 = linalg.transpose ins(%reshape_16 : tensor<1x?x1x8xf32>) outs(%66 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_18 = tensor.expand_shape %13 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_19 = tensor.expand_shape %14 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %68 = arith.cmpi eq, %36, %dim : index
    cf.assert %68, "mismatched size for broadcast"
    %69 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_8, %expanded_18 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%47 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice = tensor.extract_slice %transposed_8[0, 0, 0, 0] [1, 2, %36, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_8[0, 0, 0, 4] [1, 2, %36, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %70 = tensor.empty(%36) : tensor<1x2x?x4xf32>
    %71 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20 : tensor<1x2x?x4xf32>) outs(%70 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.negf %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_21 = tensor.concat dim(3) %71, %extracted_slice : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %68, "mismatched size for broadcast"
    %72 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_21, %expanded_19 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%47 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x2x?x8xf32>
    %73 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69, %72 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%47 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.addf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x2x?x8xf32>
    %74 = arith.cmpi eq, %55, %dim : index
    cf.assert %74, "mismatched size for broadcast"
    %75 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13, %expanded_18 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%66 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x1x?x8xf32>
    %extracted_slice_22 = tensor.extract_slice %transposed_13[0, 0, 0, 0] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_23 = tensor.extract_slice %transposed_13[0, 0, 0, 4] [1, 1, %55, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %76 = tensor.empty(%55) : tensor<1x1x?x4xf32>
    %77 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23 : tensor<1x1x?x4xf32>) outs(%76 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.negf %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_24 = tensor.concat dim(3) %77, %extracted_slice_22 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    cf.assert %74, "mismatched size for broadcast"
    %78 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_24, %expanded_19 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%66 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x1x?x8xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %78 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%66 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.addf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x1x?x8xf32>
    %expanded_25 = tensor.expand_shape %79 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %80 = tensor.empty(%dim) : tensor<1x1x2x?x8xf32>
    %81 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %160 = linalg.index 3 : index
      %161 = linalg.index 4 : index
      %162 = arith.cmpi eq, %55, %c1 : index
      %163 = arith.select %162, %c0, %160 : index
      %extracted = tensor.extract %expanded_25[%c0, %c0, %c0, %163, %161] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_26 = tensor.collapse_shape %81 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_27 = tensor.expand_shape %transposed_17 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %55, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %82 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%80 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %160 = linalg.index 3 : index
      %161 = linalg.index 4 : index
      %162 = arith.cmpi eq, %55, %c1 : index
      %163 = arith.select %162, %c0, %160 : index
      %extracted = tensor.extract %expanded_27[%c0, %c0, %c0, %163, %161] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %dim_28 = tensor.dim %collapsed_26, %c2 : tensor<1x2x?x8xf32>
    %83 = tensor.empty(%36, %dim_28) : tensor<1x2x?x?xi1>
    %84 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x?x?xi1>) outs(%83 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_29 = tensor.collapse_shape %73 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_30 = tensor.collapse_shape %81 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_31 = tensor.collapse_shape %82 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_32 = tensor.collapse_shape %84 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %85 = tensor.empty(%36) : tensor<2x?x8xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %87 = "tm_tensor.attention"(%collapsed_29, %collapsed_30, %collapsed_31, %collapsed_32, %86) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_33 = tensor.dim %87, %c1 : tensor<2x?x8xf32>
    %expanded_34 = tensor.expand_shape %87 [[0, 1], [2], [3]] output_shape [1, 2, %dim_33, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_35 = tensor.dim %expanded_34, %c2 : tensor<1x2x?x8xf32>
    %88 = tensor.empty(%dim_35) : tensor<1x?x2x8xf32>
    %transposed_36 = linalg.transpose ins(%expanded_34 : tensor<1x2x?x8xf32>) outs(%88 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %89 = arith.index_cast %dim_35 : index to i64
    %90 = arith.muli %89, %c16_i64 : i64
    %91 = arith.divsi %90, %28 : i64
    %92 = arith.select %27, %91, %0 : i64
    %from_elements_37 = tensor.from_elements %c1_i64, %92, %91 : tensor<3xi64>
    %reshape_38 = tensor.reshape %transposed_36(%from_elements_37) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %transposed_39 = linalg.transpose ins(%arg5 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_40 = tensor.collapse_shape %reshape_38 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %93 = arith.index_cast %92 : i64 to index
    %94 = tensor.empty(%93) : tensor<?x16xf32>
    %95 = linalg.fill ins(%cst : f32) outs(%94 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %96 = linalg.matmul ins(%collapsed_40, %transposed_39 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%95 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_41 = tensor.expand_shape %96 [[0, 1], [2]] output_shape [1, %93, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %97 = arith.cmpi eq, %dim, %93 : index
    cf.assert %97, "mismatched size for broadcast"
    %98 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %expanded_41 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.addf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %99 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %100 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%99 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.divf %in, %cst_3 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.truncf %cst_2 : f64 to f32
      %161 = arith.addf %in, %160 : f32
      linalg.yield %161 : f32
    } -> tensor<1x?x1xf32>
    %103 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.rsqrt %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %103 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %105 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12, %104 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_42 = tensor.collapse_shape %105 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %106 = tensor.empty() : tensor<16x4xf32>
    %transposed_43 = linalg.transpose ins(%arg10 : tensor<4x16xf32>) outs(%106 : tensor<16x4xf32>) permutation = [1, 0] 
    %107 = tensor.empty(%dim) : tensor<?x4xf32>
    %108 = linalg.fill ins(%cst : f32) outs(%107 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %109 = linalg.matmul ins(%collapsed_42, %transposed_43 : tensor<?x16xf32>, tensor<16x4xf32>) outs(%108 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %110 = linalg.fill ins(%c0_i64 : i64) outs(%4 : tensor<?xi64>) -> tensor<?xi64>
    %111 = tensor.empty(%dim) : tensor<?xf32>
    %112 = linalg.fill ins(%cst_0 : f32) outs(%111 : tensor<?xf32>) -> tensor<?xf32>
    %113:2 = linalg.generic {indexing_maps = [#map11, #map12, #map12], iterator_types = ["parallel", "reduction"]} ins(%109 : tensor<?x4xf32>) outs(%112, %110 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_59: i64):
      %160 = linalg.index 1 : index
      %161 = arith.index_cast %160 : index to i64
      %162 = arith.maximumf %in, %out : f32
      %163 = arith.cmpf ogt, %in, %out : f32
      %164 = arith.select %163, %161, %out_59 : i64
      linalg.yield %162, %164 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded_44 = tensor.expand_shape %113#0 [[0, 1]] output_shape [%dim, 1] : tensor<?xf32> into tensor<?x1xf32>
    %114 = linalg.generic {indexing_maps = [#map11, #map13, #map11], iterator_types = ["parallel", "parallel"]} ins(%109, %expanded_44 : tensor<?x4xf32>, tensor<?x1xf32>) outs(%107 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.subf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x4xf32>
    %115 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel"]} ins(%114 : tensor<?x4xf32>) outs(%107 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.exp %in : f32
      linalg.yield %160 : f32
    } -> tensor<?x4xf32>
    %116 = tensor.empty(%dim) : tensor<?x1xf32>
    %117 = linalg.fill ins(%cst : f32) outs(%116 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %118 = linalg.generic {indexing_maps = [#map11, #map13], iterator_types = ["parallel", "reduction"]} ins(%115 : tensor<?x4xf32>) outs(%117 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<?x1xf32>
    %119 = linalg.generic {indexing_maps = [#map11, #map13, #map11], iterator_types = ["parallel", "parallel"]} ins(%115, %118 : tensor<?x4xf32>, tensor<?x1xf32>) outs(%107 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.divf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x4xf32>
    %120 = tensor.empty(%dim) : tensor<?x4xi64>
    %121 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel", "parallel"]} outs(%120 : tensor<?x4xi64>) {
    ^bb0(%out: i64):
      %160 = linalg.index 1 : index
      %161 = arith.index_cast %160 : index to i64
      linalg.yield %161 : i64
    } -> tensor<?x4xi64>
    %122:2 = "tm_tensor.sort"(%119, %121) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%arg17: f32, %arg18: f32, %arg19: i64, %arg20: i64):
      %160 = arith.cmpf oge, %arg17, %arg18 : f32
      "tm_tensor.yield"(%160) : (i1) -> ()
    }) : (tensor<?x4xf32>, tensor<?x4xi64>) -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %dim_45 = tensor.dim %122#0, %c0 : tensor<?x4xf32>
    %extracted_slice_46 = tensor.extract_slice %122#0[0, 0] [%dim_45, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
    %dim_47 = tensor.dim %122#1, %c0 : tensor<?x4xi64>
    %extracted_slice_48 = tensor.extract_slice %122#1[0, 0] [%dim_47, 2] [1, 1] : tensor<?x4xi64> to tensor<?x2xi64>
    %123 = tensor.empty(%dim_47) : tensor<?x2x32x16xf32>
    %124 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_48 : tensor<?x2xi64>) outs(%123 : tensor<?x2x32x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %160 = arith.cmpi slt, %in, %c0_i64 : i64
      %161 = arith.addi %in, %c4_i64 : i64
      %162 = arith.select %160, %161, %in : i64
      %163 = arith.index_cast %162 : i64 to index
      %164 = linalg.index 2 : index
      %165 = linalg.index 3 : index
      %extracted = tensor.extract %arg8[%163, %164, %165] : tensor<4x32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x32x16xf32>
    %expanded_49 = tensor.expand_shape %collapsed_42 [[0], [1, 2, 3]] output_shape [%dim, 1, 1, 16] : tensor<?x16xf32> into tensor<?x1x1x16xf32>
    %125 = arith.cmpi eq, %dim, %dim_47 : index
    cf.assert %125, "mismatched size for broadcast"
    %126 = tensor.empty(%dim) : tensor<?x2x32x16xf32>
    %127 = linalg.generic {indexing_maps = [#map15, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_49, %124 : tensor<?x1x1x16xf32>, tensor<?x2x32x16xf32>) outs(%126 : tensor<?x2x32x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x32x16xf32>
    %128 = tensor.empty(%dim) : tensor<?x2x32xf32>
    %129 = linalg.fill ins(%cst : f32) outs(%128 : tensor<?x2x32xf32>) -> tensor<?x2x32xf32>
    %130 = linalg.generic {indexing_maps = [#map5, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%127 : tensor<?x2x32x16xf32>) outs(%129 : tensor<?x2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x32xf32>
    %extracted_slice_50 = tensor.extract_slice %130[0, 0, 0] [%dim, 2, 16] [1, 1, 1] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %extracted_slice_51 = tensor.extract_slice %130[0, 0, 16] [%dim, 2, 16] [1, 1, 1] : tensor<?x2x32xf32> to tensor<?x2x16xf32>
    %131 = tensor.empty(%dim) : tensor<?x2x16xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_50 : tensor<?x2x16xf32>) outs(%131 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.negf %in : f32
      %161 = math.exp %160 : f32
      %162 = arith.addf %161, %cst_1 : f32
      %163 = arith.divf %cst_1, %162 : f32
      linalg.yield %163 : f32
    } -> tensor<?x2x16xf32>
    %133 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_50, %132 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%131 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x16xf32>
    %134 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %extracted_slice_51 : tensor<?x2x16xf32>, tensor<?x2x16xf32>) outs(%131 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x16xf32>
    %135 = tensor.empty(%dim_47) : tensor<?x2x16x16xf32>
    %136 = linalg.generic {indexing_maps = [#map14, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_48 : tensor<?x2xi64>) outs(%135 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %160 = arith.cmpi slt, %in, %c0_i64 : i64
      %161 = arith.addi %in, %c4_i64 : i64
      %162 = arith.select %160, %161, %in : i64
      %163 = arith.index_cast %162 : i64 to index
      %164 = linalg.index 2 : index
      %165 = linalg.index 3 : index
      %extracted = tensor.extract %arg9[%163, %164, %165] : tensor<4x16x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x16x16xf32>
    %expanded_52 = tensor.expand_shape %134 [[0], [1], [2, 3]] output_shape [%dim, 2, 1, 16] : tensor<?x2x16xf32> into tensor<?x2x1x16xf32>
    cf.assert %125, "mismatched size for broadcast"
    %137 = tensor.empty(%dim) : tensor<?x2x16x16xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_52, %136 : tensor<?x2x1x16xf32>, tensor<?x2x16x16xf32>) outs(%137 : tensor<?x2x16x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x16x16xf32>
    %139 = linalg.fill ins(%cst : f32) outs(%131 : tensor<?x2x16xf32>) -> tensor<?x2x16xf32>
    %140 = linalg.generic {indexing_maps = [#map5, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%138 : tensor<?x2x16x16xf32>) outs(%139 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x16xf32>
    %expanded_53 = tensor.expand_shape %extracted_slice_46 [[0], [1, 2]] output_shape [%dim_45, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
    %141 = arith.cmpi eq, %dim, %dim_45 : index
    cf.assert %141, "mismatched size for broadcast"
    %142 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %expanded_53 : tensor<?x2x16xf32>, tensor<?x2x1xf32>) outs(%131 : tensor<?x2x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<?x2x16xf32>
    %143 = linalg.generic {indexing_maps = [#map1, #map17], iterator_types = ["parallel", "reduction", "parallel"]} ins(%142 : tensor<?x2x16xf32>) outs(%25 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<?x16xf32>
    %expanded_54 = tensor.expand_shape %143 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %expanded_54 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.addf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %145 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%145 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.addf %in, %out : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.divf %in, %cst_3 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = arith.truncf %cst_2 : f64 to f32
      %161 = arith.addf %in, %160 : f32
      linalg.yield %161 : f32
    } -> tensor<1x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %160 = math.rsqrt %in : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x1xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %149 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %151 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13, %150 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_59: f32, %out: f32):
      %160 = arith.mulf %in, %in_59 : f32
      linalg.yield %160 : f32
    } -> tensor<1x?x16xf32>
    %152 = arith.addi %0, %c-1_i64 : i64
    %153 = arith.maxsi %152, %c0_i64 : i64
    %154 = arith.minsi %153, %0 : i64
    %155 = arith.index_cast %154 : i64 to index
    %extracted_slice_55 = tensor.extract_slice %151[0, %155, 0] [1, 1, 16] [1, 1, 1] : tensor<1x?x16xf32> to tensor<1x1x16xf32>
    %156 = tensor.empty() : tensor<16x32xf32>
    %transposed_56 = linalg.transpose ins(%arg14 : tensor<32x16xf32>) outs(%156 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_57 = tensor.collapse_shape %extracted_slice_55 [[0], [1, 2]] : tensor<1x1x16xf32> into tensor<1x16xf32>
    %157 = tensor.empty() : tensor<1x32xf32>
    %158 = linalg.fill ins(%cst : f32) outs(%157 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %159 = linalg.matmul ins(%collapsed_57, %transposed_56 : tensor<1x16xf32>, tensor<16x32xf32>) outs(%158 : tensor<1x32xf32>) -> tensor<1x32xf32>
    %expanded_58 = tensor.expand_shape %159 [[0], [1, 2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
    return %expanded_58 : tensor<1x1x32xf32>
  }
}

