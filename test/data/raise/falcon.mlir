#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
#map9 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map12 = affine_map<(d0, d1, d2) -> (d2)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
#map14 = affine_map<(d0, d1, d2, d3) -> (0, 0)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {kv.model = {architecture = "falcon", max_seq_len = 64 : i64, name = "falcon", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "transformer.word_embeddings.weight"}, %arg2: tensor<32x16xf32> {kv.weight = "transformer.h.0.self_attention.query_key_value.weight"}, %arg3: tensor<16x16xf32> {kv.weight = "transformer.h.0.self_attention.dense.weight"}, %arg4: tensor<16x16xf32> {kv.weight = "transformer.h.0.mlp.dense_h_to_4h.weight"}, %arg5: tensor<16x16xf32> {kv.weight = "transformer.h.0.mlp.dense_4h_to_h.weight"}, %arg6: tensor<16xf32> {kv.weight = "transformer.h.0.input_layernorm.weight"}, %arg7: tensor<16xf32> {kv.weight = "transformer.h.0.input_layernorm.bias"}, %arg8: tensor<16xf32> {kv.weight = "transformer.ln_f.weight"}, %arg9: tensor<16xf32> {kv.weight = "transformer.ln_f.bias"}, %arg10: tensor<4xf32> {kv.weight = "transformer.rotary_emb.inv_freq"}, %arg11: tensor<4xf32> {kv.weight = "transformer.rotary_emb.original_inv_freq"}) -> tensor<1x?x32xf32> {
    %c8_i64 = arith.constant 8 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c3 = arith.constant 3 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = arith.constant dense<true> : tensor<i1>
    %cst_7 = arith.constant 2.8284271247461903 : f64
    %cst_8 = arith.constant 1.000000e-05 : f64
    %cst_9 = arith.constant 1.600000e+01 : f64
    %cst_10 = arith.constant 1.600000e+01 : f32
    %cst_11 = arith.constant 1.41421354 : f32
    %cst_12 = arith.constant dense<1> : tensor<i64>
    %cst_13 = arith.constant dense<-2> : tensor<1x1xi64>
    %cst_14 = arith.constant dense<-1> : tensor<1x1xi64>
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?xi64>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i64>) outs(%2 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<1x?xi64>
    %4 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %153 = arith.index_cast %in : i64 to index
      %154 = linalg.index 2 : index
      %155 = arith.cmpi slt, %153, %c32 : index
      cf.assert %155, "index must be smaller than dim size"
      %156 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %156, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%153, %154] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %6 = tensor.empty(%dim) : tensor<?xi64>
    %7 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%6 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %153 = linalg.index 0 : index
      %154 = arith.index_cast %153 : index to i64
      linalg.yield %154 : i64
    } -> tensor<?xi64>
    %8 = tensor.empty(%dim) : tensor<1x?xi1>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x?xi64>) outs(%8 : tensor<1x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %153 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %153 : i1
    } -> tensor<1x?xi1>
    %10 = tensor.empty() : tensor<1xi64>
    %11 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%10 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %expanded = tensor.expand_shape %11 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_15 = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_16 = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %12 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %13 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_15 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%12 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_55: i64, %out: i1):
      %153 = arith.cmpi sle, %in, %in_55 : i64
      linalg.yield %153 : i1
    } -> tensor<1x1x?x?xi1>
    %14 = linalg.generic {indexing_maps = [#map8, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6, %13 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%12 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_55: i1, %out: i1):
      %153 = arith.andi %in, %in_55 : i1
      linalg.yield %153 : i1
    } -> tensor<1x1x?x?xi1>
    %dim_17 = tensor.dim %expanded_16, %c3 : tensor<1x1x1x?xi64>
    %15 = tensor.empty(%dim_17) : tensor<1x1x1x?xi1>
    %16 = linalg.generic {indexing_maps = [#map9, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_16 : tensor<1x1x1x1xi64>, tensor<1x1x1x?xi64>) outs(%15 : tensor<1x1x1x?xi1>) {
    ^bb0(%in: i64, %in_55: i64, %out: i1):
      %153 = arith.cmpi slt, %in, %c0_i64 : i64
      %154 = arith.addi %in, %c1_i64 : i64
      %155 = arith.select %153, %154, %in : i64
      %156 = arith.index_cast %155 : i64 to index
      %157 = arith.cmpi slt, %in_55, %c0_i64 : i64
      %158 = arith.addi %in_55, %0 : i64
      %159 = arith.select %157, %158, %in_55 : i64
      %160 = arith.index_cast %159 : i64 to index
      %extracted = tensor.extract %9[%156, %160] : tensor<1x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x1x?xi1>
    %17 = arith.cmpi eq, %dim, %dim_17 : index
    cf.assert %17, "mismatched size for broadcast"
    %18 = linalg.generic {indexing_maps = [#map7, #map5, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %16 : tensor<1x1x?x?xi1>, tensor<1x1x1x?xi1>) outs(%12 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_55: i1, %out: i1):
      %153 = arith.andi %in, %in_55 : i1
      linalg.yield %153 : i1
    } -> tensor<1x1x?x?xi1>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %19 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<1x1x?x?xi1>) {
    ^bb0(%out: i1):
      %153 = linalg.index 2 : index
      %154 = linalg.index 3 : index
      %155 = arith.cmpi eq, %dim, %c1 : index
      %156 = arith.select %155, %c0, %153 : index
      %157 = arith.select %155, %c0, %154 : index
      %extracted = tensor.extract %18[%c0, %c0, %156, %157] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x?x?xi1>
    %20 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xf32>
    %21 = linalg.generic {indexing_maps = [#map7, #map8, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %cst_5, %cst_4 : tensor<1x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%20 : tensor<1x1x?x?xf32>) {
    ^bb0(%in: i1, %in_55: f32, %in_56: f32, %out: f32):
      %153 = arith.select %in, %in_55, %in_56 : f32
      linalg.yield %153 : f32
    } -> tensor<1x1x?x?xf32>
    %expanded_18 = tensor.expand_shape %7 [[0, 1, 2]] output_shape [1, %dim, 1] : tensor<?xi64> into tensor<1x?x1xi64>
    %22 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<1x?x1xi64>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %153 = arith.sitofp %in : i64 to f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %24 = tensor.empty(%dim) : tensor<1x?x4xf32>
    %25 = linalg.generic {indexing_maps = [#map11, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %arg10 : tensor<1x?x1xf32>, tensor<4xf32>) outs(%24 : tensor<1x?x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x4xf32>
    %concat = tensor.concat dim(2) %25, %25 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %26 = tensor.empty(%dim) : tensor<1x?x8xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%26 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = math.cos %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x8xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x8xf32>) outs(%26 : tensor<1x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = math.sin %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x8xf32>
    %29 = tensor.empty(%dim) : tensor<1x?x16xf64>
    %30 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x?x16xf32>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %153 = arith.extf %in : f32 to f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %31 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %32 = linalg.fill ins(%cst : f64) outs(%31 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %33 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%30 : tensor<1x?x16xf64>) outs(%32 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.addf %in, %out : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %34 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33 : tensor<1x?x1xf64>) outs(%31 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.divf %in, %cst_9 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %35 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %34 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_55: f64, %out: f64):
      %153 = arith.subf %in, %in_55 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %36 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %35 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_55: f64, %out: f64):
      %153 = arith.mulf %in, %in_55 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %37 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%36 : tensor<1x?x16xf64>) outs(%32 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.addf %in, %out : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %38 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<1x?x1xf64>) outs(%31 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.divf %in, %cst_9 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %39 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<1x?x1xf64>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %153 = arith.truncf %in : f64 to f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %40 = linalg.fill ins(%cst_0 : f32) outs(%22 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<1x?x16xf32>) outs(%40 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.addf %in, %out : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.divf %in, %cst_10 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %43 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.truncf %cst_8 : f64 to f32
      %154 = arith.addf %in, %153 : f32
      linalg.yield %154 : f32
    } -> tensor<1x?x1xf32>
    %44 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = math.rsqrt %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %42 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.subf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %44 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %47 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %arg6 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %arg7 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %49 = tensor.empty() : tensor<16x32xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<32x16xf32>) outs(%49 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %48 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %50 = tensor.empty(%dim) : tensor<?x32xf32>
    %51 = linalg.fill ins(%cst_0 : f32) outs(%50 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %52 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x32xf32>) outs(%51 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_19 = tensor.expand_shape %52 [[0, 1], [2, 3]] output_shape [1, %dim, 4, 8] : tensor<?x32xf32> into tensor<1x?x4x8xf32>
    %extracted_slice = tensor.extract_slice %expanded_19[0, 0, 0, 0] [1, %dim, 2, 8] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x2x8xf32>
    %53 = tensor.empty() : tensor<8xi64>
    %54 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%53 : tensor<8xi64>) {
    ^bb0(%out: i64):
      %153 = linalg.index 0 : index
      %154 = arith.index_cast %153 : index to i64
      linalg.yield %154 : i64
    } -> tensor<8xi64>
    %expanded_20 = tensor.expand_shape %7 [[0, 1, 2]] output_shape [%dim, 1, 1] : tensor<?xi64> into tensor<?x1x1xi64>
    %dim_21 = tensor.dim %expanded_20, %c0 : tensor<?x1x1xi64>
    %55 = tensor.empty(%dim_21) : tensor<1x?x1x8xf32>
    %56 = linalg.generic {indexing_maps = [#map9, #map13, #map14, #map15, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_20, %cst_13, %54 : tensor<1x1x1x1xi64>, tensor<?x1x1xi64>, tensor<1x1xi64>, tensor<8xi64>) outs(%55 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: i64, %in_55: i64, %in_56: i64, %in_57: i64, %out: f32):
      %153 = arith.cmpi slt, %in, %c0_i64 : i64
      %154 = arith.addi %in, %c1_i64 : i64
      %155 = arith.select %153, %154, %in : i64
      %156 = arith.index_cast %155 : i64 to index
      %157 = arith.cmpi slt, %in_55, %c0_i64 : i64
      %158 = arith.addi %in_55, %0 : i64
      %159 = arith.select %157, %158, %in_55 : i64
      %160 = arith.index_cast %159 : i64 to index
      %161 = arith.cmpi slt, %in_56, %c0_i64 : i64
      %162 = arith.addi %in_56, %c4_i64 : i64
      %163 = arith.select %161, %162, %in_56 : i64
      %164 = arith.index_cast %163 : i64 to index
      %165 = arith.cmpi slt, %in_57, %c0_i64 : i64
      %166 = arith.addi %in_57, %c8_i64 : i64
      %167 = arith.select %165, %166, %in_57 : i64
      %168 = arith.index_cast %167 : i64 to index
      %extracted = tensor.extract %expanded_19[%156, %160, %164, %168] : tensor<1x?x4x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x1x8xf32>
    %57 = linalg.generic {indexing_maps = [#map9, #map13, #map14, #map15, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_20, %cst_14, %54 : tensor<1x1x1x1xi64>, tensor<?x1x1xi64>, tensor<1x1xi64>, tensor<8xi64>) outs(%55 : tensor<1x?x1x8xf32>) {
    ^bb0(%in: i64, %in_55: i64, %in_56: i64, %in_57: i64, %out: f32):
      %153 = arith.cmpi slt, %in, %c0_i64 : i64
      %154 = arith.addi %in, %c1_i64 : i64
      %155 = arith.select %153, %154, %in : i64
      %156 = arith.index_cast %155 : i64 to index
      %157 = arith.cmpi slt, %in_55, %c0_i64 : i64
      %158 = arith.addi %in_55, %0 : i64
      %159 = arith.select %157, %158, %in_55 : i64
      %160 = arith.index_cast %159 : i64 to index
      %161 = arith.cmpi slt, %in_56, %c0_i64 : i64
      %162 = arith.addi %in_56, %c4_i64 : i64
      %163 = arith.select %161, %162, %in_56 : i64
      %164 = arith.index_cast %163 : i64 to index
      %165 = arith.cmpi slt, %in_57, %c0_i64 : i64
      %166 = arith.addi %in_57, %c8_i64 : i64
      %167 = arith.select %165, %166, %in_57 : i64
      %168 = arith.index_cast %167 : i64 to index
      %extracted = tensor.extract %expanded_19[%156, %160, %164, %168] : tensor<1x?x4x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x1x8xf32>
    %58 = tensor.empty(%dim) : tensor<1x2x?x8xf32>
    %transposed_22 = linalg.transpose ins(%extracted_slice : tensor<1x?x2x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %59 = tensor.empty(%dim_21) : tensor<1x1x?x8xf32>
    %transposed_23 = linalg.transpose ins(%56 : tensor<1x?x1x8xf32>) outs(%59 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_24 = linalg.transpose ins(%57 : tensor<1x?x1x8xf32>) outs(%59 : tensor<1x1x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_25 = tensor.expand_shape %27 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %expanded_26 = tensor.expand_shape %28 [[0], [1, 2], [3]] output_shape [1, 1, %dim, 8] : tensor<1x?x8xf32> into tensor<1x1x?x8xf32>
    %60 = linalg.generic {indexing_maps = [#map7, #map16, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_22, %expanded_25 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x8xf32>
    %extracted_slice_27 = tensor.extract_slice %transposed_22[0, 0, 0, 0] [1, 2, %dim, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %extracted_slice_28 = tensor.extract_slice %transposed_22[0, 0, 0, 4] [1, 2, %dim, 4] [1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x4xf32>
    %61 = tensor.empty(%dim) : tensor<1x2x?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28 : tensor<1x2x?x4xf32>) outs(%61 : tensor<1x2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.negf %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x4xf32>
    %concat_29 = tensor.concat dim(3) %62, %extracted_slice_27 : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x?x8xf32>
    %63 = linalg.generic {indexing_maps = [#map7, #map16, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_29, %expanded_26 : tensor<1x2x?x8xf32>, tensor<1x1x?x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x8xf32>
    %64 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x8xf32>
    %65 = arith.cmpi eq, %dim_21, %dim : index
    cf.assert %65, "mismatched size for broadcast"
    %66 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_23, %expanded_25 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%59 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x1x?x8xf32>
    %extracted_slice_30 = tensor.extract_slice %transposed_23[0, 0, 0, 0] [1, 1, %dim_21, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %extracted_slice_31 = tensor.extract_slice %transposed_23[0, 0, 0, 4] [1, 1, %dim_21, 4] [1, 1, 1, 1] : tensor<1x1x?x8xf32> to tensor<1x1x?x4xf32>
    %67 = tensor.empty(%dim_21) : tensor<1x1x?x4xf32>
    %68 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31 : tensor<1x1x?x4xf32>) outs(%67 : tensor<1x1x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.negf %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x1x?x4xf32>
    %concat_32 = tensor.concat dim(3) %68, %extracted_slice_30 : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x8xf32>
    cf.assert %65, "mismatched size for broadcast"
    %69 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_32, %expanded_26 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%59 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x1x?x8xf32>
    %70 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %69 : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>) outs(%59 : tensor<1x1x?x8xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x1x?x8xf32>
    %71 = tensor.empty(%dim_21) : tensor<1x1x8x?xf32>
    %transposed_33 = linalg.transpose ins(%70 : tensor<1x1x?x8xf32>) outs(%71 : tensor<1x1x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %72 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %153 = linalg.index 1 : index
      %154 = linalg.index 2 : index
      %155 = linalg.index 3 : index
      %156 = arith.cmpi eq, %dim, %c1 : index
      %157 = arith.select %156, %c0, %154 : index
      %extracted = tensor.extract %64[%c0, %153, %157, %155] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_34 = tensor.collapse_shape %72 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %73 = tensor.empty(%dim) : tensor<1x2x8x?xf32>
    %74 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%73 : tensor<1x2x8x?xf32>) {
    ^bb0(%out: f32):
      %153 = linalg.index 2 : index
      %154 = linalg.index 3 : index
      %155 = arith.cmpi eq, %dim_21, %c1 : index
      %156 = arith.select %155, %c0, %154 : index
      %extracted = tensor.extract %transposed_33[%c0, %c0, %153, %156] : tensor<1x1x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x8x?xf32>
    %collapsed_35 = tensor.collapse_shape %74 [[0, 1], [2], [3]] : tensor<1x2x8x?xf32> into tensor<2x8x?xf32>
    %75 = tensor.empty(%dim, %dim) : tensor<2x?x?xf32>
    %76 = linalg.fill ins(%cst_0 : f32) outs(%75 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %77 = linalg.batch_matmul ins(%collapsed_34, %collapsed_35 : tensor<2x?x8xf32>, tensor<2x8x?xf32>) outs(%76 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %78 = arith.muli %0, %c2_i64 : i64
    %79 = arith.cmpi slt, %0, %c0_i64 : i64
    %80 = arith.select %79, %c2_i64, %78 : i64
    %81 = arith.extui %79 : i1 to i64
    %82 = arith.muli %80, %0 : i64
    %83 = arith.addi %81, %c1_i64 : i64
    %84 = arith.select %79, %c2_i64, %82 : i64
    %85 = arith.select %79, %83, %81 : i64
    %86 = arith.cmpi sle, %85, %c1_i64 : i64
    cf.assert %86, "must have at most one inferred (negative) dimension"
    %87 = arith.muli %78, %0 : i64
    %88 = arith.divsi %87, %84 : i64
    %89 = arith.select %79, %88, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %c2_i64, %89, %89 : tensor<4xi64>
    %reshape = tensor.reshape %77(%from_elements) : (tensor<2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %90 = arith.index_cast %89 : i64 to index
    %91 = tensor.empty(%90, %90) : tensor<1x2x?x?xf32>
    %92 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<1x2x?x?xf32>) outs(%91 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.truncf %cst_7 : f64 to f32
      %154 = arith.divf %in, %153 : f32
      linalg.yield %154 : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %86, "must have at most one inferred (negative) dimension"
    %93 = arith.muli %89, %c2_i64 : i64
    %94 = arith.muli %93, %89 : i64
    %95 = arith.divsi %94, %84 : i64
    %96 = arith.select %79, %95, %0 : i64
    cf.assert %86, "must have at most one inferred (negative) dimension"
    %97 = arith.muli %96, %c2_i64 : i64
    %98 = arith.muli %97, %96 : i64
    %99 = arith.divsi %98, %84 : i64
    %100 = arith.select %79, %99, %0 : i64
    %from_elements_36 = tensor.from_elements %c1_i64, %c2_i64, %100, %100 : tensor<4xi64>
    %reshape_37 = tensor.reshape %92(%from_elements_36) : (tensor<1x2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %101 = arith.index_cast %100 : i64 to index
    %102 = arith.cmpi eq, %101, %dim : index
    cf.assert %102, "mismatched size for broadcast"
    cf.assert %102, "mismatched size for broadcast"
    %103 = tensor.empty(%101, %101) : tensor<1x2x?x?xf32>
    %104 = linalg.generic {indexing_maps = [#map7, #map16, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_37, %21 : tensor<1x2x?x?xf32>, tensor<1x1x?x?xf32>) outs(%103 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x?xf32>
    %105 = tensor.empty(%101) : tensor<1x2x?xi64>
    %106 = linalg.fill ins(%c0_i64 : i64) outs(%105 : tensor<1x2x?xi64>) -> tensor<1x2x?xi64>
    %107 = tensor.empty(%101) : tensor<1x2x?xf32>
    %108 = linalg.fill ins(%cst_1 : f32) outs(%107 : tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
    %109:2 = linalg.generic {indexing_maps = [#map7, #map17, #map17], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%104 : tensor<1x2x?x?xf32>) outs(%108, %106 : tensor<1x2x?xf32>, tensor<1x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_55: i64):
      %153 = linalg.index 3 : index
      %154 = arith.index_cast %153 : index to i64
      %155 = arith.maximumf %in, %out : f32
      %156 = arith.cmpf ogt, %in, %out : f32
      %157 = arith.select %156, %154, %out_55 : i64
      linalg.yield %155, %157 : f32, i64
    } -> (tensor<1x2x?xf32>, tensor<1x2x?xi64>)
    %expanded_38 = tensor.expand_shape %109#0 [[0], [1], [2, 3]] output_shape [1, 2, %101, 1] : tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
    %110 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%104, %expanded_38 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%103 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.subf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x?xf32>
    %111 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110 : tensor<1x2x?x?xf32>) outs(%103 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = math.exp %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x?xf32>
    %112 = tensor.empty(%101) : tensor<1x2x?x1xf32>
    %113 = linalg.fill ins(%cst_0 : f32) outs(%112 : tensor<1x2x?x1xf32>) -> tensor<1x2x?x1xf32>
    %114 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%111 : tensor<1x2x?x?xf32>) outs(%113 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.addf %in, %out : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x1xf32>
    %115 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%111, %114 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%103 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.divf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %116 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xf32>
    %117 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%116 : tensor<1x2x?x?xf32>) {
    ^bb0(%out: f32):
      %153 = linalg.index 1 : index
      %154 = linalg.index 2 : index
      %155 = linalg.index 3 : index
      %156 = arith.cmpi eq, %101, %c1 : index
      %157 = arith.select %156, %c0, %154 : index
      %158 = arith.select %156, %c0, %155 : index
      %extracted = tensor.extract %115[%c0, %153, %157, %158] : tensor<1x2x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %86, "must have at most one inferred (negative) dimension"
    %from_elements_39 = tensor.from_elements %c2_i64, %89, %89 : tensor<3xi64>
    %reshape_40 = tensor.reshape %117(%from_elements_39) : (tensor<1x2x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %118 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %153 = linalg.index 2 : index
      %154 = linalg.index 3 : index
      %155 = arith.cmpi eq, %dim_21, %c1 : index
      %156 = arith.select %155, %c0, %153 : index
      %extracted = tensor.extract %transposed_24[%c0, %c0, %156, %154] : tensor<1x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_41 = tensor.collapse_shape %118 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %119 = arith.cmpi eq, %89, %0 : i64
    cf.assert %119, "mismatching contracting dimension"
    %120 = tensor.empty(%90) : tensor<2x?x8xf32>
    %121 = linalg.fill ins(%cst_0 : f32) outs(%120 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %122 = linalg.batch_matmul ins(%reshape_40, %collapsed_41 : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%121 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %expanded_42 = tensor.expand_shape %122 [[0, 1], [2], [3]] output_shape [1, 2, %90, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %123 = tensor.empty(%90) : tensor<1x?x2x8xf32>
    %transposed_43 = linalg.transpose ins(%expanded_42 : tensor<1x2x?x8xf32>) outs(%123 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    %124 = tensor.empty() : tensor<16x16xf32>
    %transposed_44 = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%124 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_45 = tensor.collapse_shape %transposed_43 [[0, 1], [2, 3]] : tensor<1x?x2x8xf32> into tensor<?x16xf32>
    %125 = tensor.empty(%90) : tensor<?x16xf32>
    %126 = linalg.fill ins(%cst_0 : f32) outs(%125 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %127 = linalg.matmul ins(%collapsed_45, %transposed_44 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%126 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_46 = tensor.expand_shape %127 [[0, 1], [2]] output_shape [1, %90, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %transposed_47 = linalg.transpose ins(%arg4 : tensor<16x16xf32>) outs(%124 : tensor<16x16xf32>) permutation = [1, 0] 
    %128 = tensor.empty(%dim) : tensor<?x16xf32>
    %129 = linalg.fill ins(%cst_0 : f32) outs(%128 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %130 = linalg.matmul ins(%collapsed, %transposed_47 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%129 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_48 = tensor.expand_shape %130 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %131 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_48 : tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.divf %in, %cst_11 : f32
      %154 = math.erf %153 : f32
      %155 = arith.addf %154, %cst_2 : f32
      %156 = arith.mulf %155, %cst_3 : f32
      %157 = arith.mulf %in, %156 : f32
      linalg.yield %157 : f32
    } -> tensor<1x?x16xf32>
    %transposed_49 = linalg.transpose ins(%arg5 : tensor<16x16xf32>) outs(%124 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_50 = tensor.collapse_shape %131 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %132 = linalg.matmul ins(%collapsed_50, %transposed_49 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%129 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_51 = tensor.expand_shape %132 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %133 = arith.cmpi eq, %dim, %90 : index
    cf.assert %133, "mismatched size for broadcast"
    %134 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_51, %expanded_46 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %134 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135 : tensor<1x?x16xf32>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %153 = arith.extf %in : f32 to f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %137 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%136 : tensor<1x?x16xf64>) outs(%32 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.addf %in, %out : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %138 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<1x?x1xf64>) outs(%31 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.divf %in, %cst_9 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %139 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %138 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_55: f64, %out: f64):
      %153 = arith.subf %in, %in_55 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %140 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139, %139 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%29 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_55: f64, %out: f64):
      %153 = arith.mulf %in, %in_55 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x16xf64>
    %141 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%140 : tensor<1x?x16xf64>) outs(%32 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.addf %in, %out : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %142 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<1x?x1xf64>) outs(%31 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %153 = arith.divf %in, %cst_9 : f64
      linalg.yield %153 : f64
    } -> tensor<1x?x1xf64>
    %143 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<1x?x1xf64>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %153 = arith.truncf %in : f64 to f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map11], iterator_types = ["parallel", "parallel", "reduction"]} ins(%135 : tensor<1x?x16xf32>) outs(%40 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.addf %in, %out : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %145 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.divf %in, %cst_10 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = arith.truncf %cst_8 : f64 to f32
      %154 = arith.addf %in, %153 : f32
      linalg.yield %154 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<1x?x1xf32>) outs(%22 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %153 = math.rsqrt %in : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %145 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.subf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %147 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %arg8 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.mulf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %151 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %arg9 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %153 = arith.addf %in, %in_55 : f32
      linalg.yield %153 : f32
    } -> tensor<1x?x16xf32>
    %transposed_52 = linalg.transpose ins(%arg1 : tensor<32x16xf32>) outs(%49 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_53 = tensor.collapse_shape %151 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %152 = linalg.matmul ins(%collapsed_53, %transposed_52 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%51 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_54 = tensor.expand_shape %152 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_54 : tensor<1x?x32xf32>
  }
}

