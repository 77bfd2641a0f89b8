#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module attributes {kv.model = {architecture = "llama", max_seq_len = 64 : i64, name = "llama", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xbf16> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<16x16xbf16> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<8x16xbf16> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<8x16xbf16> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x16xbf16> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<16x16xbf16> {kv.weight = "model.layers.0.mlp.gate_proj.weight"}, %arg7: tensor<16x16xbf16> {kv.weight = "model.layers.0.mlp.up_proj.weight"}, %arg8: tensor<16x16xbf16> {kv.weight = "model.layers.0.mlp.down_proj.weight"}, %arg9: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg12: tensor<32x16xbf16> {kv.weight = "lm_head.weight"}, %arg13: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg14: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c8_i64 = arith.constant 8 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 1.600000e+01 : f32
    %c16_i64 = arith.constant 16 : i64
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty() : tensor<32x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<32x16xbf16>) outs(%2 : tensor<32x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<32x16xf32>
    %4 = tensor.empty() : tensor<16x16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<16x16xbf16>) outs(%4 : tensor<16x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<16x16xf32>
    %6 = tensor.empty() : tensor<8x16xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<8x16xbf16>) outs(%6 : tensor<8x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<8x16xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<8x16xbf16>) outs(%6 : tensor<8x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<8x16xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<16x16xbf16>) outs(%4 : tensor<16x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<16x16xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg6 : tensor<16x16xbf16>) outs(%4 : tensor<16x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<16x16xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg7 : tensor<16x16xbf16>) outs(%4 : tensor<16x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<16x16xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<16x16xbf16>) outs(%4 : tensor<16x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<16x16xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<32x16xbf16>) outs(%2 : tensor<32x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %115 = arith.extf %in : bf16 to f32
      linalg.yield %115 : f32
    } -> tensor<32x16xf32>
    %14 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %115 = arith.index_cast %in : i64 to index
      %116 = linalg.index 2 : index
      %117 = arith.cmpi slt, %115, %c32 : index
      cf.assert %117, "index must be smaller than dim size"
      %118 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %118, "index must be larger or equal to 0"
      %extracted = tensor.extract %3[%115, %116] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %16 = tensor.empty(%dim) : tensor<?xi64>
    %17 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%16 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %115 = linalg.index 0 : index
      %116 = arith.index_cast %115 : index to i64
      linalg.yield %116 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %17 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_3 = tensor.expand_shape %17 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %18 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %19 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%18 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_51: i64, %out: i1):
      %115 = arith.cmpi sle, %in, %in_51 : i64
      linalg.yield %115 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_4 = tensor.expand_shape %17 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %20 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x?x1xi64>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %115 = arith.sitofp %in : i64 to f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %22 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %23 = linalg.generic {indexing_maps = [#map7, #map8, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg13 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%22 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %23, %23 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %24 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%24 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.cos %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x8xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%24 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.sin %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x8xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%20 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%27 : tensor<1x?x16xf32>) outs(%28 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.addf %in, %out : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.divf %in, %cst_2 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.truncf %cst_1 : f64 to f32
      %116 = arith.addf %in, %115 : f32
      linalg.yield %116 : f32
    } -> tensor<1x?x1xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.rsqrt %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map7, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %32 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %34 = linalg.generic {indexing_maps = [#map8, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %33 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %transposed = linalg.transpose ins(%5 : tensor<16x16xf32>) outs(%4 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %34 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %35 = tensor.empty(%dim) : tensor<?x16xf32>
    %36 = linalg.fill ins(%cst : f32) outs(%35 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %37 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%36 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_5 = tensor.expand_shape %37 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %38 = arith.cmpi slt, %0, %c0_i64 : i64
    %39 = arith.select %38, %c1_i64, %0 : i64
    %40 = arith.extui %38 : i1 to i64
    %41 = arith.addi %40, %c1_i64 : i64
    %42 = arith.muli %39, %c8_i64 : i64
    %43 = arith.cmpi sle, %41, %c1_i64 : i64
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %44 = arith.muli %0, %c16_i64 : i64
    %45 = arith.divsi %44, %42 : i64
    %46 = arith.select %38, %45, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %46, %45, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %expanded_5(%from_elements) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %47 = arith.index_cast %46 : i64 to index
    %48 = tensor.empty(%47) : tensor<1x2x?x8xf32>
    %transposed_6 = linalg.transpose ins(%reshape : tensor<1x?x2x8xf32>) outs(%48 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %49 = tensor.empty() : tensor<16x8xf32>
    %transposed_7 = linalg.transpose ins(%7 : tensor<8x16xf32>) outs(%49 : tensor<16x8xf32>) permutation = [1, 0] 
    %50 = tensor.empty(%dim) : tensor<?x8xf32>
    %51 = linalg.fill ins(%cst : f32) outs(%50 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %52 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%51 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_8 = tensor.expand_shape %52 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %53 = arith.muli %0, %c8_i64 : i64
    %54 = arith.divsi %53, %42 : i64
    %55 = arith.select %38, %54, %0 : i64
    %from_elements_9 = tensor.from_elements %c1_i64, %55, %54, %c8_i64 : tensor<4xi64>
    %reshape_10 = tensor.reshape %expanded_8(%from_elements_9) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %56 = arith.index_cast %55 : i64 to index
    %57 = tensor.empty(%56) : tensor<1x1x?x8xf32>
    %transposed_11 = linalg.transpose ins(%reshape_10 : tensor<1x?x1x8xf32>) outs(%57 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_12 = linalg.transpose ins(%8 : tensor<8x16xf32>) outs(%49 : tensor<16x8xf32>) permutation = [1, 0] 
    %58 = linalg.matmul ins(%collapsed, %transposed_12 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%51 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_13 = tensor.expand_shape %58 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %reshape_14 = tensor.reshape %expanded_13(%from_elements_9) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_15 = linalg.transpose ins(%reshape_14 : tensor<1x?x1x8xf32>) outs(%57 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %25 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_17 = tensor.expand_shape %26 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %59 = arith.cmpi eq, %47, %dim : index
    cf.assert %59, "mismatched size for broadcast"
    %60 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6, %expanded_16 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0] [1, 2, %47, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_6[0, 0, 0, 4] [1, 2, %47, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %61 = tensor.empty(%47) : tensor<1x2x?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.negf %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_19 = tensor.concat dim(3) %62, %extracted_slice : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %59, "mismatched size for broadcast"
    %63 = linalg.generic {indexing_maps = [#map6, #map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_17 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%48 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x2x?x8xf32>
    %64 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%48 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.addf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x2x?x8xf32>
    %65 = arith.cmpi eq, %56, %dim : index
    cf.assert %65, "mismatched size for broadcast"
    %66 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11, %expanded_16 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x1x?x8xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_11[0, 0, 0, 0] [1, 1, %56, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_11[0, 0, 0, 4] [1, 1, %56, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %67 = tensor.empty(%56) : tensor<1x1x?x4xf32>
    %68 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<1x1x?x4xf32>) outs(%67 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.negf %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_22 = tensor.concat dim(3) %68, %extracted_slice_20 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    cf.assert %65, "mismatched size for broadcast"
    %69 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_17 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x1x?x8xf32>
    %70 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %69 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%57 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.addf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x1x?x8xf32>
    %expanded_23 = tensor.expand_shape %70 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %56, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %71 = tensor.empty(%dim) : tensor<1x1x2x?x8xf32>
    %72 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %115 = linalg.index 3 : index
      %116 = linalg.index 4 : index
      %117 = arith.cmpi eq, %56, %c1 : index
      %118 = arith.select %117, %c0, %115 : index
      %extracted = tensor.extract %expanded_23[%c0, %c0, %c0, %118, %116] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_24 = tensor.collapse_shape %72 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_25 = tensor.expand_shape %transposed_15 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %56, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %73 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %115 = linalg.index 3 : index
      %116 = linalg.index 4 : index
      %117 = arith.cmpi eq, %56, %c1 : index
      %118 = arith.select %117, %c0, %115 : index
      %extracted = tensor.extract %expanded_25[%c0, %c0, %c0, %118, %116] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %dim_26 = tensor.dim %collapsed_24, %c2 : tensor<1x2x?x8xf32>
    %74 = tensor.empty(%47, %dim_26) : tensor<1x2x?x?xi1>
    %75 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<1x1x?x?xi1>) outs(%74 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_27 = tensor.collapse_shape %64 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_28 = tensor.collapse_shape %72 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_29 = tensor.collapse_shape %73 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_30 = tensor.collapse_shape %75 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %76 = tensor.empty(%47) : tensor<2x?x8xf32>
    %77 = linalg.fill ins(%cst : f32) outs(%76 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %78 = "tm_tensor.attention"(%collapsed_27, %collapsed_28, %collapsed_29, %collapsed_30, %77) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_31 = tensor.dim %78, %c1 : tensor<2x?x8xf32>
    %expanded_32 = tensor.expand_shape %78 [[0, 1], [2], [3]] output_shape [1, 2, %dim_31, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_33 = tensor.dim %expanded_32, %c2 : tensor<1x2x?x8xf32>
    %79 = tensor.empty(%dim_33) : tensor<1x?x2x8xf32>
    %transposed_34 = linalg.transpose ins(%expanded_32 : tensor<1x2x?x8xf32>) outs(%79 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %43, "must have at most one inferred (negative) dimension"
    %80 = arith.index_cast %dim_33 : index to i64
    %81 = arith.muli %80, %c16_i64 : i64
    %82 = arith.divsi %81, %39 : i64
    %83 = arith.select %38, %82, %0 : i64
    %from_elements_35 = tensor.from_elements %c1_i64, %83, %82 : tensor<3xi64>
    %reshape_36 = tensor.reshape %transposed_34(%from_elements_35) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %transposed_37 = linalg.transpose ins(%9 : tensor<16x16xf32>) outs(%4 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %reshape_36 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %84 = arith.index_cast %83 : i64 to index
    %85 = tensor.empty(%84) : tensor<?x16xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %87 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%86 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_39 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [1, %84, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %88 = arith.cmpi eq, %dim, %84 : index
    cf.assert %88, "mismatched size for broadcast"
    %89 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %expanded_39 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.addf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %90 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %91 = linalg.generic {indexing_maps = [#map2, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%90 : tensor<1x?x16xf32>) outs(%28 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.addf %in, %out : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %92 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.divf %in, %cst_2 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %93 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.truncf %cst_1 : f64 to f32
      %116 = arith.addf %in, %115 : f32
      linalg.yield %116 : f32
    } -> tensor<1x?x1xf32>
    %94 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.rsqrt %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %95 = linalg.generic {indexing_maps = [#map2, #map7, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %94 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %96 = linalg.generic {indexing_maps = [#map8, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10, %95 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %transposed_40 = linalg.transpose ins(%10 : tensor<16x16xf32>) outs(%4 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_41 = tensor.collapse_shape %96 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %97 = linalg.matmul ins(%collapsed_41, %transposed_40 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%36 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_42 = tensor.expand_shape %97 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %98 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.negf %in : f32
      %116 = math.exp %115 : f32
      %117 = arith.addf %116, %cst_0 : f32
      %118 = arith.divf %cst_0, %117 : f32
      linalg.yield %118 : f32
    } -> tensor<1x?x16xf32>
    %99 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42, %98 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %transposed_43 = linalg.transpose ins(%11 : tensor<16x16xf32>) outs(%4 : tensor<16x16xf32>) permutation = [1, 0] 
    %100 = linalg.matmul ins(%collapsed_41, %transposed_43 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%36 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_44 = tensor.expand_shape %100 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %expanded_44 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %transposed_45 = linalg.transpose ins(%12 : tensor<16x16xf32>) outs(%4 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_46 = tensor.collapse_shape %101 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %102 = linalg.matmul ins(%collapsed_46, %transposed_45 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%36 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_47 = tensor.expand_shape %102 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %expanded_47 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.addf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %104 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %105 = linalg.generic {indexing_maps = [#map2, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%104 : tensor<1x?x16xf32>) outs(%28 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.addf %in, %out : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %106 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.divf %in, %cst_2 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %107 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = arith.truncf %cst_1 : f64 to f32
      %116 = arith.addf %in, %115 : f32
      linalg.yield %116 : f32
    } -> tensor<1x?x1xf32>
    %108 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<1x?x1xf32>) outs(%20 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %115 = math.rsqrt %in : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x1xf32>
    %109 = linalg.generic {indexing_maps = [#map2, #map7, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %108 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %110 = linalg.generic {indexing_maps = [#map8, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %109 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%14 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %115 = arith.mulf %in, %in_51 : f32
      linalg.yield %115 : f32
    } -> tensor<1x?x16xf32>
    %111 = tensor.empty() : tensor<16x32xf32>
    %transposed_48 = linalg.transpose ins(%13 : tensor<32x16xf32>) outs(%111 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_49 = tensor.collapse_shape %110 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %112 = tensor.empty(%dim) : tensor<?x32xf32>
    %113 = linalg.fill ins(%cst : f32) outs(%112 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %114 = linalg.matmul ins(%collapsed_49, %transposed_48 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%113 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_50 = tensor.expand_shape %114 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_50 : tensor<1x?x32xf32>
  }
}

