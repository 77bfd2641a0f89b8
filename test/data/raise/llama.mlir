#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module attributes {kv.model = {architecture = "llama", max_seq_len = 64 : i64, name = "llama", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "model.embed_tokens.weight"}, %arg2: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.q_proj.weight"}, %arg3: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.k_proj.weight"}, %arg4: tensor<8x16xf32> {kv.weight = "model.layers.0.self_attn.v_proj.weight"}, %arg5: tensor<16x16xf32> {kv.weight = "model.layers.0.self_attn.o_proj.weight"}, %arg6: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.gate_proj.weight"}, %arg7: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.up_proj.weight"}, %arg8: tensor<16x16xf32> {kv.weight = "model.layers.0.mlp.down_proj.weight"}, %arg9: tensor<16xf32> {kv.weight = "model.layers.0.input_layernorm.weight"}, %arg10: tensor<16xf32> {kv.weight = "model.layers.0.post_attention_layernorm.weight"}, %arg11: tensor<16xf32> {kv.weight = "model.norm.weight"}, %arg12: tensor<32x16xf32> {kv.weight = "lm_head.weight"}, %arg13: tensor<4xf32> {kv.weight = "model.rotary_emb.inv_freq"}, %arg14: tensor<4xf32> {kv.weight = "model.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
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
    %2 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %104 = arith.index_cast %in : i64 to index
      %105 = linalg.index 2 : index
      %106 = arith.cmpi slt, %104, %c32 : index
      cf.assert %106, "index must be smaller than dim size"
      %107 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %107, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%104, %105] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %4 = tensor.empty(%dim) : tensor<?xi64>
    %5 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%4 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %104 = linalg.index 0 : index
      %105 = arith.index_cast %104 : index to i64
      linalg.yield %105 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_3 = tensor.expand_shape %5 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %6 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3, %expanded : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%6 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_51: i64, %out: i1):
      %104 = arith.cmpi sle, %in, %in_51 : i64
      linalg.yield %104 : i1
    } -> tensor<1x1x?x?xi1>
    %expanded_4 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %8 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x?x1xi64>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %104 = arith.sitofp %in : i64 to f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %10 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %11 = linalg.generic {indexing_maps = [#map6, #map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %arg13 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%10 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %11, %11 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %12 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%12 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.cos %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x8xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%12 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.sin %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x8xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%8 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_2 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_1 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %20 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %22 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %21 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %23 = tensor.empty() : tensor<16x16xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %22 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %24 = tensor.empty(%dim) : tensor<?x16xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %26 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x16xf32>) outs(%25 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_5 = tensor.expand_shape %26 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
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
    %reshape = tensor.reshape %expanded_5(%from_elements) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x2x8xf32>
    %36 = arith.index_cast %35 : i64 to index
    %37 = tensor.empty(%36) : tensor<1x2x?x8xf32>
    %transposed_6 = linalg.transpose ins(%reshape : tensor<1x?x2x8xf32>) outs(%37 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %38 = tensor.empty() : tensor<16x8xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<8x16xf32>) outs(%38 : tensor<16x8xf32>) permutation = [1, 0] 
    %39 = tensor.empty(%dim) : tensor<?x8xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %41 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%40 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_8 = tensor.expand_shape %41 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %42 = arith.muli %0, %c8_i64 : i64
    %43 = arith.divsi %42, %31 : i64
    %44 = arith.select %27, %43, %0 : i64
    %from_elements_9 = tensor.from_elements %c1_i64, %44, %43, %c8_i64 : tensor<4xi64>
    %reshape_10 = tensor.reshape %expanded_8(%from_elements_9) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %45 = arith.index_cast %44 : i64 to index
    %46 = tensor.empty(%45) : tensor<1x1x?x8xf32>
    %transposed_11 = linalg.transpose ins(%reshape_10 : tensor<1x?x1x8xf32>) outs(%46 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_12 = linalg.transpose ins(%arg4 : tensor<8x16xf32>) outs(%38 : tensor<16x8xf32>) permutation = [1, 0] 
    %47 = linalg.matmul ins(%collapsed, %transposed_12 : tensor<?x16xf32>, tensor<16x8xf32>) outs(%40 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %expanded_13 = tensor.expand_shape %47 [[0, 1], [2]] output_shape [1, %dim, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %reshape_14 = tensor.reshape %expanded_13(%from_elements_9) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x1x8xf32>
    %transposed_15 = linalg.transpose ins(%reshape_14 : tensor<1x?x1x8xf32>) outs(%46 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_16 = tensor.expand_shape %13 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_17 = tensor.expand_shape %14 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %48 = arith.cmpi eq, %36, %dim : index
    cf.assert %48, "mismatched size for broadcast"
    %49 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6, %expanded_16 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%37 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0] [1, 2, %36, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_18 = tensor.extract_slice %transposed_6[0, 0, 0, 4] [1, 2, %36, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %50 = tensor.empty(%36) : tensor<1x2x?x4xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18 : tensor<1x2x?x4xf32>) outs(%50 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.negf %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_19 = tensor.concat dim(3) %51, %extracted_slice : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    cf.assert %48, "mismatched size for broadcast"
    %52 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_19, %expanded_17 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%37 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x2x?x8xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %52 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%37 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.addf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x2x?x8xf32>
    %54 = arith.cmpi eq, %45, %dim : index
    cf.assert %54, "mismatched size for broadcast"
    %55 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_11, %expanded_16 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%46 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x1x?x8xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_11[0, 0, 0, 0] [1, 1, %45, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_21 = tensor.extract_slice %transposed_11[0, 0, 0, 4] [1, 1, %45, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %56 = tensor.empty(%45) : tensor<1x1x?x4xf32>
    %57 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21 : tensor<1x1x?x4xf32>) outs(%56 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.negf %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_22 = tensor.concat dim(3) %57, %extracted_slice_20 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    cf.assert %54, "mismatched size for broadcast"
    %58 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_22, %expanded_17 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%46 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x1x?x8xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %58 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%46 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.addf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x1x?x8xf32>
    %expanded_23 = tensor.expand_shape %59 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %45, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %60 = tensor.empty(%dim) : tensor<1x1x2x?x8xf32>
    %61 = linalg.generic {indexing_maps = [#map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%60 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %104 = linalg.index 3 : index
      %105 = linalg.index 4 : index
      %106 = arith.cmpi eq, %45, %c1 : index
      %107 = arith.select %106, %c0, %104 : index
      %extracted = tensor.extract %expanded_23[%c0, %c0, %c0, %107, %105] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %collapsed_24 = tensor.collapse_shape %61 [[0], [1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<1x2x?x8xf32>
    %expanded_25 = tensor.expand_shape %transposed_15 [[0], [1], [2, 3], [4]] output_shape [1, 1, 1, %45, 8] : tensor<1x1x?x8xf32> into tensor<1x1x1x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %62 = linalg.generic {indexing_maps = [#map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%60 : tensor<1x1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %104 = linalg.index 3 : index
      %105 = linalg.index 4 : index
      %106 = arith.cmpi eq, %45, %c1 : index
      %107 = arith.select %106, %c0, %104 : index
      %extracted = tensor.extract %expanded_25[%c0, %c0, %c0, %107, %105] : tensor<1x1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x2x?x8xf32>
    %dim_26 = tensor.dim %collapsed_24, %c2 : tensor<1x2x?x8xf32>
    %63 = tensor.empty(%36, %dim_26) : tensor<1x2x?x?xi1>
    %64 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x?x?xi1>) outs(%63 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %collapsed_27 = tensor.collapse_shape %53 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_28 = tensor.collapse_shape %61 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_29 = tensor.collapse_shape %62 [[0, 1, 2], [3], [4]] : tensor<1x1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_30 = tensor.collapse_shape %64 [[0, 1], [2], [3]] : tensor<1x2x?x?xi1> into tensor<2x?x?xi1>
    %65 = tensor.empty(%36) : tensor<2x?x8xf32>
    %66 = linalg.fill ins(%cst : f32) outs(%65 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %67 = "tm_tensor.attention"(%collapsed_27, %collapsed_28, %collapsed_29, %collapsed_30, %66) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.35355339059327379 : f64}> : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x?xi1>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %dim_31 = tensor.dim %67, %c1 : tensor<2x?x8xf32>
    %expanded_32 = tensor.expand_shape %67 [[0, 1], [2], [3]] output_shape [1, 2, %dim_31, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %dim_33 = tensor.dim %expanded_32, %c2 : tensor<1x2x?x8xf32>
    %68 = tensor.empty(%dim_33) : tensor<1x?x2x8xf32>
    %transposed_34 = linalg.transpose ins(%expanded_32 : tensor<1x2x?x8xf32>) outs(%68 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %32, "must have at most one inferred (negative) dimension"
    %69 = arith.index_cast %dim_33 : index to i64
    %70 = arith.muli %69, %c16_i64 : i64
    %71 = arith.divsi %70, %28 : i64
    %72 = arith.select %27, %71, %0 : i64
    %from_elements_35 = tensor.from_elements %c1_i64, %72, %71 : tensor<3xi64>
    %reshape_36 = tensor.reshape %transposed_34(%from_elements_35) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %transposed_37 = linalg.transpose ins(%arg5 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %reshape_36 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %73 = arith.index_cast %72 : i64 to index
    %74 = tensor.empty(%73) : tensor<?x16xf32>
    %75 = linalg.fill ins(%cst : f32) outs(%74 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %76 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%75 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_39 = tensor.expand_shape %76 [[0, 1], [2]] output_shape [1, %73, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %77 = arith.cmpi eq, %dim, %73 : index
    cf.assert %77, "mismatched size for broadcast"
    %78 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %expanded_39 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.addf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %79 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%79 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %81 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_2 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_1 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x?x1xf32>
    %83 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %84 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %83 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %85 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10, %84 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %transposed_40 = linalg.transpose ins(%arg6 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_41 = tensor.collapse_shape %85 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %86 = linalg.matmul ins(%collapsed_41, %transposed_40 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%25 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_42 = tensor.expand_shape %86 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %87 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.negf %in : f32
      %105 = math.exp %104 : f32
      %106 = arith.addf %105, %cst_0 : f32
      %107 = arith.divf %cst_0, %106 : f32
      linalg.yield %107 : f32
    } -> tensor<1x?x16xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42, %87 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %transposed_43 = linalg.transpose ins(%arg7 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %89 = linalg.matmul ins(%collapsed_41, %transposed_43 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%25 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_44 = tensor.expand_shape %89 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %90 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %expanded_44 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %transposed_45 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%23 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_46 = tensor.collapse_shape %90 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %91 = linalg.matmul ins(%collapsed_46, %transposed_45 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%25 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_47 = tensor.expand_shape %91 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %92 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %expanded_47 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.addf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %93 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%93 : tensor<1x?x16xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.addf %in, %out : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %95 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.divf %in, %cst_2 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %96 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = arith.truncf %cst_1 : f64 to f32
      %105 = arith.addf %in, %104 : f32
      linalg.yield %105 : f32
    } -> tensor<1x?x1xf32>
    %97 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<1x?x1xf32>) outs(%8 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %104 = math.rsqrt %in : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x1xf32>
    %98 = linalg.generic {indexing_maps = [#map1, #map6, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %97 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %99 = linalg.generic {indexing_maps = [#map7, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11, %98 : tensor<16xf32>, tensor<1x?x16xf32>) outs(%2 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_51: f32, %out: f32):
      %104 = arith.mulf %in, %in_51 : f32
      linalg.yield %104 : f32
    } -> tensor<1x?x16xf32>
    %100 = tensor.empty() : tensor<16x32xf32>
    %transposed_48 = linalg.transpose ins(%arg12 : tensor<32x16xf32>) outs(%100 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_49 = tensor.collapse_shape %99 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %101 = tensor.empty(%dim) : tensor<?x32xf32>
    %102 = linalg.fill ins(%cst : f32) outs(%101 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %103 = linalg.matmul ins(%collapsed_49, %transposed_48 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%102 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_50 = tensor.expand_shape %103 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_50 : tensor<1x?x32xf32>
  }
}

