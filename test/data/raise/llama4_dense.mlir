#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1) -> (d0)>
#map9 = affine_map<(d0, d1, d2, d3) -> ()>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map11 = affine_map<(d0, d1, d2) -> (d2)>
#map12 = affine_map<(d0, d1, d2) -> ()>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
module attributes {kv.model = {architecture = "llama4_text", max_seq_len = 64 : i64, name = "llama4_dense", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<16x16xf32> {kv.weight = "model.layers.0.feed_forward.gate_proj.weight"}, %arg7: tensor<16x16xf32> {kv.weight = "model.layers.0.feed_forward.up_proj.weight"}, %arg8: tensor<16x16xf32> {kv.weight = "model.layers.0.feed_forward.down_proj.weight"}, %arg9: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg11: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.q_proj.weight"}, %arg12: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.k_proj.weight"}, %arg13: tensor<8x16xf32> {kv.weight = "model.layers.1.self_attn.v_proj.weight"}, %arg14: tensor<16x16xf32> {kv.weight = "model.layers.1.self_attn.o_proj.weight"}, %arg15: tensor<16x16xf32> {kv.weight = "model.layers.1.feed_forward.gate_proj.weight"}, %arg16: tensor<16x16xf32> {kv.weight = "model.layers.1.feed_forward.up_proj.weight"}, %arg17: tensor<16x16xf32> {kv.weight = "model.layers.1.feed_forward.down_proj.weight"}, %arg18: tensor<16xf32> {kv.weight = "model.layers.1.input_layernorm.weight"}, %arg19: tensor<16xf32> {kv.weight = "model.layers.1.post_attention_layernorm.weight"}, %arg20: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg21: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg22: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg23: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %c8_i64 = arith.constant 8 : i64
    %c2_i64 = arith.constant 2 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<true> : tensor<i1>
    %cst_2 = arith.constant dense<false> : tensor<i1>
    %cst_3 = arith.constant 1.000000e-01 : f64
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant 1.600000e+01 : f32
    %c16_i64 = arith.constant 16 : i64
    %c4_i64 = arith.constant 4 : i64
    %cst_6 = arith.constant 8.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %c2 = arith.constant 2 : index
    %cst_7 = arith.constant 0.000000e+00 : f32
    %cst_8 = arith.constant dense<1> : tensor<i64>
    %cst_9 = arith.constant dense<6> : tensor<i64>
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?xi64>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_8 : tensor<i64>) outs(%2 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<1x?xi64>
    %4 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %218 = arith.index_cast %in : i64 to index
      %219 = linalg.index 2 : index
      %220 = arith.cmpi slt, %218, %c32 : index
      cf.assert %220, "index must be smaller than dim size"
      %221 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %221, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%218, %219] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %6 = tensor.empty(%dim) : tensor<?xi64>
    %7 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%6 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %218 = linalg.index 0 : index
      %219 = arith.index_cast %218 : index to i64
      linalg.yield %219 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_10 = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %8 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %9 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_10, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%8 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_112: i64, %out: i1):
      %218 = arith.cmpi sle, %in, %in_112 : i64
      linalg.yield %218 : i1
    } -> tensor<1x1x?x?xi1>
    %10 = tensor.empty(%dim) : tensor<1x?xi1>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x?xi64>) outs(%10 : tensor<1x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %218 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %218 : i1
    } -> tensor<1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<1x?xi1>) outs(%2 : tensor<1x?xi64>) {
    ^bb0(%in: i1, %out: i64):
      %218 = arith.extui %in : i1 to i64
      linalg.yield %218 : i64
    } -> tensor<1x?xi64>
    %13 = linalg.fill ins(%c0_i64 : i64) outs(%2 : tensor<1x?xi64>) -> tensor<1x?xi64>
    %14 = tensor.empty() : tensor<1xi64>
    %15 = linalg.fill ins(%c0_i64 : i64) outs(%14 : tensor<1xi64>) -> tensor<1xi64>
    %16:2 = "tm_tensor.scan"(%12, %13, %15) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%arg24: i64, %arg25: i64):
      %218 = arith.addi %arg24, %arg25 : i64
      "tm_tensor.yield"(%218) : (i64) -> ()
    }) : (tensor<1x?xi64>, tensor<1x?xi64>, tensor<1xi64>) -> (tensor<1x?xi64>, tensor<1xi64>)
    cf.assert %1, "negative values not allowed in new dimensions"
    %17 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%10 : tensor<1x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x?xi1>
    %dim_11 = tensor.dim %16#0, %c1 : tensor<1x?xi64>
    %18 = arith.cmpi eq, %dim_11, %dim : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = tensor.empty(%dim_11) : tensor<1x?xi1>
    %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%16#0, %17 : tensor<1x?xi64>, tensor<1x?xi1>) outs(%19 : tensor<1x?xi1>) {
    ^bb0(%in: i64, %in_112: i1, %out: i1):
      %218 = arith.extui %in_112 : i1 to i64
      %219 = arith.cmpi eq, %in, %218 : i64
      linalg.yield %219 : i1
    } -> tensor<1x?xi1>
    %21 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "reduction"]} ins(%20 : tensor<1x?xi1>) outs(%15 : tensor<1xi64>) {
    ^bb0(%in: i1, %out: i64):
      %218 = arith.extui %in : i1 to i64
      %219 = arith.addi %218, %out : i64
      linalg.yield %219 : i64
    } -> tensor<1xi64>
    %collapsed = tensor.collapse_shape %21 [] : tensor<1xi64> into tensor<i64>
    %22 = tensor.empty(%dim) : tensor<1x1x1x?xi64>
    %23 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_10, %collapsed : tensor<1x1x1x?xi64>, tensor<i64>) outs(%22 : tensor<1x1x1x?xi64>) {
    ^bb0(%in: i64, %in_112: i64, %out: i64):
      %218 = arith.subi %in, %in_112 : i64
      linalg.yield %218 : i64
    } -> tensor<1x1x1x?xi64>
    %24 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %cst_9 : tensor<1x1x1x?xi64>, tensor<i64>) outs(%22 : tensor<1x1x1x?xi64>) {
    ^bb0(%in: i64, %in_112: i64, %out: i64):
      %218 = arith.sitofp %in : i64 to f64
      %219 = arith.sitofp %in_112 : i64 to f64
      %220 = arith.divf %218, %219 : f64
      %221 = math.floor %220 : f64
      %222 = arith.fptosi %221 : f64 to i64
      linalg.yield %222 : i64
    } -> tensor<1x1x1x?xi64>
    %25 = tensor.empty(%dim) : tensor<1x1x?x1xi64>
    %26 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %collapsed : tensor<1x1x?x1xi64>, tensor<i64>) outs(%25 : tensor<1x1x?x1xi64>) {
    ^bb0(%in: i64, %in_112: i64, %out: i64):
      %218 = arith.subi %in, %in_112 : i64
      linalg.yield %218 : i64
    } -> tensor<1x1x?x1xi64>
    %27 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %cst_9 : tensor<1x1x?x1xi64>, tensor<i64>) outs(%25 : tensor<1x1x?x1xi64>) {
    ^bb0(%in: i64, %in_112: i64, %out: i64):
      %218 = arith.sitofp %in : i64 to f64
      %219 = arith.sitofp %in_112 : i64 to f64
      %220 = arith.divf %218, %219 : f64
      %221 = math.floor %220 : f64
      %222 = arith.fptosi %221 : f64 to i64
      linalg.yield %222 : i64
    } -> tensor<1x1x?x1xi64>
    %28 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%8 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_112: i64, %out: i1):
      %218 = arith.cmpi eq, %in, %in_112 : i64
      linalg.yield %218 : i1
    } -> tensor<1x1x?x?xi1>
    %29 = linalg.generic {indexing_maps = [#map9, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1, %28 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%8 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_112: i1, %out: i1):
      %218 = arith.andi %in, %in_112 : i1
      linalg.yield %218 : i1
    } -> tensor<1x1x?x?xi1>
    %30 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %9 : tensor<1x1x?x?xi1>, tensor<1x1x?x?xi1>) outs(%8 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_112: i1, %out: i1):
      %218 = arith.andi %in, %in_112 : i1
      linalg.yield %218 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_12 = tensor.expand_shape %7 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %31 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<1x?x1xi64>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %218 = arith.sitofp %in : i64 to f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %33 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %34 = linalg.generic {indexing_maps = [#map10, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %arg22 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x4xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %35 = linalg.generic {indexing_maps = [#map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x?x4xf32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.cos %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x4xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %36 : tensor<1x?x4xf32>, tensor<1x?x4xf32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x4xf32>
    %38 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x?x4xf32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.sin %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x4xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %38 : tensor<1x?x4xf32>, tensor<1x?x4xf32>) outs(%33 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x4xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %41 = linalg.fill ins(%cst_7 : f32) outs(%31 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%40 : tensor<1x?x16xf32>) outs(%41 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %43 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_5 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %44 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %45 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %47 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %arg9 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %48 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_13 = tensor.collapse_shape %47 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %49 = tensor.empty(%dim) : tensor<?x16xf32>
    %50 = linalg.fill ins(%cst_7 : f32) outs(%49 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %51 = linalg.matmul ins(%collapsed_13, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_14 = tensor.expand_shape %51 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %52 = arith.cmpi slt, %0, %c0_i64 : i64
    %53 = arith.select %52, %c1_i64, %0 : i64
    %54 = arith.extui %52 : i1 to i64
    %55 = arith.addi %54, %c1_i64 : i64
    %56 = arith.muli %53, %c8_i64 : i64
    %57 = arith.cmpi sle, %55, %c1_i64 : i64
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %58 = arith.muli %0, %c16_i64 : i64
    %59 = arith.divsi %58, %56 : i64
    %60 = arith.select %52, %59, %0 : i64
    %61 = tensor.empty() : tensor<16x8xf32>
    %transposed_15 = linalg.transpose ins(%arg3 : tensor<8x16xf32>) outs(%61 : tensor<16x8xf32>) permutation = [1, 0] 
    %62 = tensor.empty(%dim) : tensor<?x8xf32>
    %63 = linalg.fill ins(%cst_7 : f32) outs(%62 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %64 = linalg.matmul ins(%collapsed_13, %transposed_15 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%63 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_16 = tensor.expand_shape %64 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %65 = arith.muli %0, %c8_i64 : i64
    %66 = arith.divsi %65, %56 : i64
    %67 = arith.select %52, %66, %0 : i64
    %transposed_17 = linalg.transpose ins(%arg4 : tensor<8x16xf32>) outs(%61 : tensor<16x8xf32>) permutation = [1, 0] 
    %68 = linalg.matmul ins(%collapsed_13, %transposed_17 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%63 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_18 = tensor.expand_shape %68 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %from_elements = tensor.from_elements %c1_i64, %67, %66, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_18(%from_elements) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %69 = arith.index_cast %67 : i64 to index
    %70 = tensor.empty(%69) : tensor<1x1x?x8xf32>
    %transposed_19 = linalg.transpose ins(%reshape : tensor<1x?x1x8xf32>) outs(%70 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %71 = arith.muli %53, %c4_i64 : i64
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %72 = arith.muli %60, %c16_i64 : i64
    %73 = arith.divsi %72, %71 : i64
    %74 = arith.select %52, %73, %0 : i64
    %from_elements_20 = tensor.from_elements %c1_i64, %74, %c2_i64, %73, %c2_i64 : tensor<5xi64>
    %reshape_21 = tensor.reshape %expanded_14(%from_elements_20) : (tensor<1x?x16xf32>, tensor<5xi64>) -> tensor<1x?x2x4x2xf32>
    %75 = arith.index_cast %74 : i64 to index
    %extracted_slice = tensor.extract_slice %reshape_21[0, 0, 0, 0, 0] [1, %75, 2, 4, 1] [1, 1, 1, 1, 1] : tensor<1x?x2x4x2xf32> to tensor<1x?x2x4x1xf32>
    %collapsed_22 = tensor.collapse_shape %extracted_slice [[0], [1], [2], [3, 4]] : tensor<1x?x2x4x1xf32> into tensor<1x?x2x4xf32>
    %extracted_slice_23 = tensor.extract_slice %reshape_21[0, 0, 0, 0, 1] [1, %75, 2, 4, 1] [1, 1, 1, 1, 1] : tensor<1x?x2x4x2xf32> to tensor<1x?x2x4x1xf32>
    %collapsed_24 = tensor.collapse_shape %extracted_slice_23 [[0], [1], [2], [3, 4]] : tensor<1x?x2x4x1xf32> into tensor<1x?x2x4xf32>
    %76 = arith.muli %53, %c2_i64 : i64
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %77 = arith.muli %67, %c8_i64 : i64
    %78 = arith.divsi %77, %76 : i64
    %79 = arith.select %52, %78, %0 : i64
    %from_elements_25 = tensor.from_elements %c1_i64, %79, %c1_i64, %78, %c2_i64 : tensor<5xi64>
    %reshape_26 = tensor.reshape %expanded_16(%from_elements_25) : (tensor<1x?x8xf32>, tensor<5xi64>) -> tensor<1x?x1x4x2xf32>
    %80 = arith.index_cast %79 : i64 to index
    %extracted_slice_27 = tensor.extract_slice %reshape_26[0, 0, 0, 0, 0] [1, %80, 1, 4, 1] [1, 1, 1, 1, 1] : tensor<1x?x1x4x2xf32> to tensor<1x?x1x4x1xf32>
    %collapsed_28 = tensor.collapse_shape %extracted_slice_27 [[0], [1], [2], [3, 4]] : tensor<1x?x1x4x1xf32> into tensor<1x?x1x4xf32>
    %extracted_slice_29 = tensor.extract_slice %reshape_26[0, 0, 0, 0, 1] [1, %80, 1, 4, 1] [1, 1, 1, 1, 1] : tensor<1x?x1x4x2xf32> to tensor<1x?x1x4x1xf32>
    %collapsed_30 = tensor.collapse_shape %extracted_slice_29 [[0], [1], [2], [3, 4]] : tensor<1x?x1x4x1xf32> into tensor<1x?x1x4xf32>
    %expanded_31 = tensor.expand_shape %37 [[0], [1], [2, 3]] output_shape [1, %dim, 1, 4] : tensor<1x?x4xf32> into tensor<1x?x1x4xf32>
    %expanded_32 = tensor.expand_shape %39 [[0], [1], [2, 3]] output_shape [1, %dim, 1, 4] : tensor<1x?x4xf32> into tensor<1x?x1x4xf32>
    %81 = arith.cmpi eq, %75, %dim : index
    cf.assert %81, "mismatched size for broadcast"
    %82 = tensor.empty(%75) : tensor<1x?x2x4xf32>
    %83 = linalg.generic {indexing_maps = [#map7, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_22, %expanded_31 : tensor<1x?x2x4xf32>, tensor<1x?x1x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    cf.assert %81, "mismatched size for broadcast"
    %84 = linalg.generic {indexing_maps = [#map7, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_24, %expanded_32 : tensor<1x?x2x4xf32>, tensor<1x?x1x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    %85 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%83, %84 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.subf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    cf.assert %81, "mismatched size for broadcast"
    %86 = linalg.generic {indexing_maps = [#map7, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_22, %expanded_32 : tensor<1x?x2x4xf32>, tensor<1x?x1x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    cf.assert %81, "mismatched size for broadcast"
    %87 = linalg.generic {indexing_maps = [#map7, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_24, %expanded_31 : tensor<1x?x2x4xf32>, tensor<1x?x1x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    %88 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%86, %87 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%82 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x4xf32>
    %expanded_33 = tensor.expand_shape %85 [[0], [1], [2], [3, 4]] output_shape [1, %75, 2, 4, 1] : tensor<1x?x2x4xf32> into tensor<1x?x2x4x1xf32>
    %expanded_34 = tensor.expand_shape %88 [[0], [1], [2], [3, 4]] output_shape [1, %75, 2, 4, 1] : tensor<1x?x2x4xf32> into tensor<1x?x2x4x1xf32>
    %concat = tensor.concat dim(4) %expanded_33, %expanded_34 : (tensor<1x?x2x4x1xf32>, tensor<1x?x2x4x1xf32>) -> tensor<1x?x2x4x2xf32>
    %collapsed_35 = tensor.collapse_shape %concat [[0], [1], [2], [3, 4]] : tensor<1x?x2x4x2xf32> into tensor<1x?x2x8xf32>
    %89 = arith.cmpi eq, %80, %dim : index
    cf.assert %89, "mismatched size for broadcast"
    %90 = tensor.empty(%80) : tensor<1x?x1x4xf32>
    %91 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_28, %expanded_31 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    cf.assert %89, "mismatched size for broadcast"
    %92 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_30, %expanded_32 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    %93 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%91, %92 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.subf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    cf.assert %89, "mismatched size for broadcast"
    %94 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_28, %expanded_32 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    cf.assert %89, "mismatched size for broadcast"
    %95 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_30, %expanded_31 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    %96 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94, %95 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>) outs(%90 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x4xf32>
    %expanded_36 = tensor.expand_shape %93 [[0], [1], [2], [3, 4]] output_shape [1, %80, 1, 4, 1] : tensor<1x?x1x4xf32> into tensor<1x?x1x4x1xf32>
    %expanded_37 = tensor.expand_shape %96 [[0], [1], [2], [3, 4]] output_shape [1, %80, 1, 4, 1] : tensor<1x?x1x4xf32> into tensor<1x?x1x4x1xf32>
    %concat_38 = tensor.concat dim(4) %expanded_36, %expanded_37 : (tensor<1x?x1x4x1xf32>, tensor<1x?x1x4x1xf32>) -> tensor<1x?x1x4x2xf32>
    %collapsed_39 = tensor.collapse_shape %concat_38 [[0], [1], [2], [3, 4]] : tensor<1x?x1x4x2xf32> into tensor<1x?x1x8xf32>
    %dim_40 = tensor.dim %expanded_33, %c1 : tensor<1x?x2x4x1xf32>
    %97 = tensor.empty(%dim_40) : tensor<1x?x2x8xf32>
    %98 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_35 : tensor<1x?x2x8xf32>) outs(%97 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x2x8xf32>
    %99 = tensor.empty(%dim_40) : tensor<1x?x2x1xf32>
    %100 = linalg.fill ins(%cst_7 : f32) outs(%99 : tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32>
    %101 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%98 : tensor<1x?x2x8xf32>) outs(%100 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x1xf32>
    %102 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101 : tensor<1x?x2x1xf32>) outs(%99 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_6 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x1xf32>
    %103 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%102 : tensor<1x?x2x1xf32>) outs(%99 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x2x1xf32>
    %104 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%103 : tensor<1x?x2x1xf32>) outs(%99 : tensor<1x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x1xf32>
    %105 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_35, %104 : tensor<1x?x2x8xf32>, tensor<1x?x2x1xf32>) outs(%97 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x8xf32>
    %dim_41 = tensor.dim %expanded_36, %c1 : tensor<1x?x1x4x1xf32>
    %106 = tensor.empty(%dim_41) : tensor<1x?x1x8xf32>
    %107 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_39 : tensor<1x?x1x8xf32>) outs(%106 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x1x8xf32>
    %108 = tensor.empty(%dim_41) : tensor<1x?x1x1xf32>
    %109 = linalg.fill ins(%cst_7 : f32) outs(%108 : tensor<1x?x1x1xf32>) -> tensor<1x?x1x1xf32>
    %110 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%107 : tensor<1x?x1x8xf32>) outs(%109 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x1xf32>
    %111 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110 : tensor<1x?x1x1xf32>) outs(%108 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_6 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x1xf32>
    %112 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%111 : tensor<1x?x1x1xf32>) outs(%108 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1x1xf32>
    %113 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%112 : tensor<1x?x1x1xf32>) outs(%108 : tensor<1x?x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x1xf32>
    %114 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_39, %113 : tensor<1x?x1x8xf32>, tensor<1x?x1x1xf32>) outs(%106 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1x8xf32>
    %115 = tensor.empty(%dim_40) : tensor<1x2x?x8xf32>
    %transposed_42 = linalg.transpose ins(%105 : tensor<1x?x2x8xf32>) outs(%115 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %116 = tensor.empty(%dim_41) : tensor<1x1x?x8xf32>
    %transposed_43 = linalg.transpose ins(%114 : tensor<1x?x1x8xf32>) outs(%116 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_44 = tensor.expand_shape %transposed_43 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %dim_41, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %117 = tensor.empty(%dim) : tensor<1x1x2x?x8xf32>
    %118 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%117 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %218 = linalg.index 3 : index
      %219 = linalg.index 4 : index
      %220 = arith.cmpi eq, %dim_41, %c1 : index
      %221 = arith.select %220, %c0, %218 : index
      %extracted = tensor.extract %expanded_44[%c0, %c0, %c0, %221, %219] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_45 = tensor.collapse_shape %118 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_46 = tensor.expand_shape %transposed_19 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %69, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %119 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%117 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %218 = linalg.index 3 : index
      %219 = linalg.index 4 : index
      %220 = arith.cmpi eq, %69, %c1 : index
      %221 = arith.select %220, %c0, %218 : index
      %extracted = tensor.extract %expanded_46[%c0, %c0, %c0, %221, %219] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %dim_47 = tensor.dim %collapsed_45, %c2 : tensor<1x2x?x8xf32>
    %120 = tensor.empty(%dim_40, %dim_47) : tensor<1x2x?x?xi1>
    %121 = linalg.generic {indexing_maps = [#map14, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<1x1x?x?xi1>) outs(%120 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_48 = tensor.collapse_shape %transposed_42 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_49 = tensor.collapse_shape %118 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_50 = tensor.collapse_shape %119 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_51 = tensor.collapse_shape %121 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %122 = tensor.empty(%dim_40) : tensor<2x?x8xf32>
    %123 = linalg.fill ins(%cst_7 : f32) outs(%122 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %124 = "tm_tensor.attention"(%collapsed_48, %collapsed_49, %collapsed_50, %collapsed_51, %123) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_52 = tensor.dim %124, %c1 : tensor<2x?x8xf32>
    %expanded_53 = tensor.expand_shape %124 [[0, 1], [2], [3]] output_shape [1, 2, %dim_52, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_54 = tensor.dim %expanded_53, %c2 : tensor<1x2x?x8xf32>
    %125 = tensor.empty(%dim_54) : tensor<1x?x2x8xf32>
    %transposed_55 = linalg.transpose ins(%expanded_53 : tensor<1x2x?x8xf32>) outs(%125 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %126 = arith.index_cast %dim_54 : index to i64
    %127 = arith.muli %126, %c16_i64 : i64
    %128 = arith.divsi %127, %53 : i64
    %129 = arith.select %52, %128, %0 : i64
    %from_elements_56 = tensor.from_elements %c1_i64, %129, %128 : tensor<3xi64>
    %reshape_57 = tensor.reshape %transposed_55(%from_elements_56) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %transposed_58 = linalg.transpose ins(%arg5 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_59 = tensor.collapse_shape %reshape_57 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %130 = arith.index_cast %129 : i64 to index
    %131 = tensor.empty(%130) : tensor<?x16xf32>
    %132 = linalg.fill ins(%cst_7 : f32) outs(%131 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %133 = linalg.matmul ins(%collapsed_59, %transposed_58 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%132 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_60 = tensor.expand_shape %133 [[0, 1], [2]] output_shape [1, %130, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %134 = arith.cmpi eq, %dim, %130 : index
    cf.assert %134, "mismatched size for broadcast"
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %expanded_60 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %137 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%136 : tensor<1x?x16xf32>) outs(%41 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_5 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %139 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %140 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %142 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %arg10 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_61 = linalg.transpose ins(%arg6 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_62 = tensor.collapse_shape %142 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %143 = linalg.matmul ins(%collapsed_62, %transposed_61 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_63 = tensor.expand_shape %143 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_63 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.negf %in : f32
      %219 = math.exp %218 : f32
      %220 = arith.addf %219, %cst : f32
      %221 = arith.divf %cst, %220 : f32
      linalg.yield %221 : f32
    } -> tensor<1x?x16xf32>
    %145 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_63, %144 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_64 = linalg.transpose ins(%arg7 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %146 = linalg.matmul ins(%collapsed_62, %transposed_64 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_65 = tensor.expand_shape %146 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %147 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %expanded_65 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_66 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_67 = tensor.collapse_shape %147 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %148 = linalg.matmul ins(%collapsed_67, %transposed_66 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_68 = tensor.expand_shape %148 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %expanded_68 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %151 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%150 : tensor<1x?x16xf32>) outs(%41 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %152 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_5 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %153 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%152 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1xf32>
    %154 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %155 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %154 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155, %arg18 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_69 = linalg.transpose ins(%arg11 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_70 = tensor.collapse_shape %156 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %157 = linalg.matmul ins(%collapsed_70, %transposed_69 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_71 = tensor.expand_shape %157 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %from_elements_72 = tensor.from_elements %c1_i64, %60, %59, %c8_i64 : tensor<4xi64>
    %reshape_73 = tensor.reshape %expanded_71(%from_elements_72) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %transposed_74 = linalg.transpose ins(%arg12 : tensor<8x16xf32>) outs(%61 : tensor<16x8xf32>) permutation = [1, 0] 
    %158 = linalg.matmul ins(%collapsed_70, %transposed_74 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%63 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_75 = tensor.expand_shape %158 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %reshape_76 = tensor.reshape %expanded_75(%from_elements) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_77 = linalg.transpose ins(%arg13 : tensor<8x16xf32>) outs(%61 : tensor<16x8xf32>) permutation = [1, 0] 
    %159 = linalg.matmul ins(%collapsed_70, %transposed_77 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%63 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_78 = tensor.expand_shape %159 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %reshape_79 = tensor.reshape %expanded_78(%from_elements) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_80 = linalg.transpose ins(%reshape_79 : tensor<1x?x1x8xf32>) outs(%70 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %160 = tensor.empty(%dim) : tensor<?xf32>
    %161 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%7 : tensor<?xi64>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: i64, %out: f32):
      %218 = arith.sitofp %in : i64 to f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %162 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%161 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %cst : f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %163 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%162 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_6 : f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %164 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%163 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.floor %in : f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %165 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%164 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.log1p %in : f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %166 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%165 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_3 : f64 to f32
      %219 = arith.mulf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<?xf32>
    %167 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%166 : tensor<?xf32>) outs(%160 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %cst : f32
      linalg.yield %218 : f32
    } -> tensor<?xf32>
    %expanded_81 = tensor.expand_shape %167 [[0, 1, 2, 3]] output_shape [1, %dim, 1, 1] : tensor<?xf32> into tensor<1x?x1x1xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %168 = tensor.empty(%dim) : tensor<1x?x1x1xf32>
    %169 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%168 : tensor<1x?x1x1xf32>) {
    ^bb0(%out: f32):
      %218 = linalg.index 1 : index
      %219 = arith.cmpi eq, %dim, %c1 : index
      %220 = arith.select %219, %c0, %218 : index
      %extracted = tensor.extract %expanded_81[%c0, %220, %c0, %c0] : tensor<1x?x1x1xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x1x1xf32>
    %170 = arith.index_cast %60 : i64 to index
    %171 = arith.cmpi eq, %170, %dim : index
    cf.assert %171, "mismatched size for broadcast"
    %172 = tensor.empty(%170) : tensor<1x?x2x8xf32>
    %173 = linalg.generic {indexing_maps = [#map7, #map15, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_73, %169 : tensor<1x?x2x8xf32>, tensor<1x?x1x1xf32>) outs(%172 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x2x8xf32>
    %174 = tensor.empty(%170) : tensor<1x2x?x8xf32>
    %transposed_82 = linalg.transpose ins(%173 : tensor<1x?x2x8xf32>) outs(%174 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_83 = linalg.transpose ins(%reshape_76 : tensor<1x?x1x8xf32>) outs(%70 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_84 = tensor.expand_shape %transposed_83 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %69, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %175 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%117 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %218 = linalg.index 3 : index
      %219 = linalg.index 4 : index
      %220 = arith.cmpi eq, %69, %c1 : index
      %221 = arith.select %220, %c0, %218 : index
      %extracted = tensor.extract %expanded_84[%c0, %c0, %c0, %221, %219] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_85 = tensor.collapse_shape %175 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_86 = tensor.expand_shape %transposed_80 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %69, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %176 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%117 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %218 = linalg.index 3 : index
      %219 = linalg.index 4 : index
      %220 = arith.cmpi eq, %69, %c1 : index
      %221 = arith.select %220, %c0, %218 : index
      %extracted = tensor.extract %expanded_86[%c0, %c0, %c0, %221, %219] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %dim_87 = tensor.dim %collapsed_85, %c2 : tensor<1x2x?x8xf32>
    %177 = tensor.empty(%170, %dim_87) : tensor<1x2x?x?xi1>
    %178 = linalg.generic {indexing_maps = [#map14, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<1x1x?x?xi1>) outs(%177 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_88 = tensor.collapse_shape %transposed_82 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_89 = tensor.collapse_shape %175 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_90 = tensor.collapse_shape %176 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_91 = tensor.collapse_shape %178 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %179 = tensor.empty(%170) : tensor<2x?x8xf32>
    %180 = linalg.fill ins(%cst_7 : f32) outs(%179 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %181 = "tm_tensor.attention"(%collapsed_88, %collapsed_89, %collapsed_90, %collapsed_91, %180) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_92 = tensor.dim %181, %c1 : tensor<2x?x8xf32>
    %expanded_93 = tensor.expand_shape %181 [[0, 1], [2], [3]] output_shape [1, 2, %dim_92, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_94 = tensor.dim %expanded_93, %c2 : tensor<1x2x?x8xf32>
    %182 = tensor.empty(%dim_94) : tensor<1x?x2x8xf32>
    %transposed_95 = linalg.transpose ins(%expanded_93 : tensor<1x2x?x8xf32>) outs(%182 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %57, "must have at most one inferred (negative) dimension"
    %183 = arith.index_cast %dim_94 : index to i64
    %184 = arith.muli %183, %c16_i64 : i64
    %185 = arith.divsi %184, %53 : i64
    %186 = arith.select %52, %185, %0 : i64
    %from_elements_96 = tensor.from_elements %c1_i64, %186, %185 : tensor<3xi64>
    %reshape_97 = tensor.reshape %transposed_95(%from_elements_96) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %transposed_98 = linalg.transpose ins(%arg14 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_99 = tensor.collapse_shape %reshape_97 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %187 = arith.index_cast %186 : i64 to index
    %188 = tensor.empty(%187) : tensor<?x16xf32>
    %189 = linalg.fill ins(%cst_7 : f32) outs(%188 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %190 = linalg.matmul ins(%collapsed_99, %transposed_98 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%189 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_100 = tensor.expand_shape %190 [[0, 1], [2]] output_shape [1, %187, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %191 = arith.cmpi eq, %dim, %187 : index
    cf.assert %191, "mismatched size for broadcast"
    %192 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %expanded_100 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %193 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %194 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%193 : tensor<1x?x16xf32>) outs(%41 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %195 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_5 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %196 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%195 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1xf32>
    %197 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %198 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %197 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %199 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %arg19 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_101 = linalg.transpose ins(%arg15 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_102 = tensor.collapse_shape %199 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %200 = linalg.matmul ins(%collapsed_102, %transposed_101 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_103 = tensor.expand_shape %200 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %201 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_103 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.negf %in : f32
      %219 = math.exp %218 : f32
      %220 = arith.addf %219, %cst : f32
      %221 = arith.divf %cst, %220 : f32
      linalg.yield %221 : f32
    } -> tensor<1x?x16xf32>
    %202 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_103, %201 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_104 = linalg.transpose ins(%arg16 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %203 = linalg.matmul ins(%collapsed_102, %transposed_104 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_105 = tensor.expand_shape %203 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %204 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202, %expanded_105 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %transposed_106 = linalg.transpose ins(%arg17 : tensor<16x16xf32>) outs(%48 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_107 = tensor.collapse_shape %204 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %205 = linalg.matmul ins(%collapsed_107, %transposed_106 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%50 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_108 = tensor.expand_shape %205 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %206 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %expanded_108 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.addf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %207 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %208 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%207 : tensor<1x?x16xf32>) outs(%41 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.addf %in, %out : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %209 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.divf %in, %cst_5 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %210 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = arith.truncf %cst_4 : f64 to f32
      %219 = arith.addf %in, %218 : f32
      linalg.yield %219 : f32
    } -> tensor<1x?x1xf32>
    %211 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210 : tensor<1x?x1xf32>) outs(%31 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %218 = math.rsqrt %in : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x1xf32>
    %212 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206, %211 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %213 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212, %arg20 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_112: f32, %out: f32):
      %218 = arith.mulf %in, %in_112 : f32
      linalg.yield %218 : f32
    } -> tensor<1x?x16xf32>
    %214 = tensor.empty() : tensor<16x32xf32>
    %transposed_109 = linalg.transpose ins(%arg21 : tensor<32x16xf32>) outs(%214 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_110 = tensor.collapse_shape %213 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %215 = tensor.empty(%dim) : tensor<?x32xf32>
    %216 = linalg.fill ins(%cst_7 : f32) outs(%215 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %217 = linalg.matmul ins(%collapsed_110, %transposed_109 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%216 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_111 = tensor.expand_shape %217 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_111 : tensor<1x?x32xf32>
  }
}

