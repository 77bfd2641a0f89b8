#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> ()>
#map14 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map15 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map16 = affine_map<(d0, d1) -> (d1)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {kv.model = {architecture = "bloom", max_seq_len = 64 : i64, name = "bloom", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "transformer.word_embeddings.weight"}, %arg2: tensor<16xf32> {kv.weight = "transformer.word_embeddings_layernorm.weight"}, %arg3: tensor<16xf32> {kv.weight = "transformer.word_embeddings_layernorm.bias"}, %arg4: tensor<16xf32> {kv.weight = "transformer.h.0.input_layernorm.weight"}, %arg5: tensor<16xf32> {kv.weight = "transformer.h.0.input_layernorm.bias"}, %arg6: tensor<48x16xf32> {kv.weight = "transformer.h.0.self_attention.query_key_value.weight"}, %arg7: tensor<48xf32> {kv.weight = "transformer.h.0.self_attention.query_key_value.bias"}, %arg8: tensor<16x16xf32> {kv.weight = "transformer.h.0.self_attention.dense.weight"}, %arg9: tensor<16xf32> {kv.weight = "transformer.h.0.self_attention.dense.bias"}, %arg10: tensor<16xf32> {kv.weight = "transformer.h.0.post_attention_layernorm.weight"}, %arg11: tensor<16xf32> {kv.weight = "transformer.h.0.post_attention_layernorm.bias"}, %arg12: tensor<64x16xf32> {kv.weight = "transformer.h.0.mlp.dense_h_to_4h.weight"}, %arg13: tensor<64xf32> {kv.weight = "transformer.h.0.mlp.dense_h_to_4h.bias"}, %arg14: tensor<16x64xf32> {kv.weight = "transformer.h.0.mlp.dense_4h_to_h.weight"}, %arg15: tensor<16xf32> {kv.weight = "transformer.h.0.mlp.dense_4h_to_h.bias"}, %arg16: tensor<16xf32> {kv.weight = "transformer.ln_f.weight"}, %arg17: tensor<16xf32> {kv.weight = "transformer.ln_f.bias"}) -> tensor<1x?x32xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c3 = arith.constant 3 : index
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<i1>
    %cst_5 = arith.constant dense<6.250000e-02> : tensor<f32>
    %cst_6 = arith.constant 4.471500e-02 : f64
    %cst_7 = arith.constant 0.79788455999999996 : f64
    %cst_8 = arith.constant 0.35355339059327373 : f64
    %cst_9 = arith.constant 1.000000e-05 : f64
    %cst_10 = arith.constant 1.600000e+01 : f64
    %cst_11 = arith.constant 1.600000e+01 : f32
    %c1_i32 = arith.constant 1 : i32
    %cst_12 = arith.constant 5.000000e-01 : f32
    %cst_13 = arith.constant 1.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %cst_14 = arith.constant dense<1> : tensor<i64>
    %dim = tensor.dim %arg0, %c1 : tensor<1x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<1x?xi64>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_14 : tensor<i64>) outs(%2 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<1x?xi64>
    %4 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x?xi64>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %191 = arith.index_cast %in : i64 to index
      %192 = linalg.index 2 : index
      %193 = arith.cmpi slt, %191, %c32 : index
      cf.assert %193, "index must be smaller than dim size"
      %194 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %194, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%191, %192] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %6 = tensor.empty(%dim) : tensor<1x?x16xf64>
    %7 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x?x16xf32>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %191 = arith.extf %in : f32 to f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %8 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %9 = linalg.fill ins(%cst : f64) outs(%8 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %10 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %12 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %11 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.subf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %12 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.mulf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %14 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %15 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %16 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?x1xf64>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %191 = arith.truncf %in : f64 to f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%16 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %out : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.divf %in, %cst_11 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_9 : f64 to f32
      %192 = arith.addf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x1xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.rsqrt %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %20 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.subf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %22 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %arg2 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %arg3 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %27 = tensor.empty() : tensor<2xi32>
    %28 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%27 : tensor<2xi32>) {
    ^bb0(%out: i32):
      %191 = linalg.index 0 : index
      %192 = arith.index_cast %191 : index to i64
      %193 = arith.trunci %192 : i64 to i32
      %194 = arith.addi %193, %c1_i32 : i32
      linalg.yield %194 : i32
    } -> tensor<2xi32>
    %29 = tensor.empty() : tensor<2xf32>
    %30 = linalg.generic {indexing_maps = [#map7, #map6, #map6], iterator_types = ["parallel"]} ins(%cst_5, %28 : tensor<f32>, tensor<2xi32>) outs(%29 : tensor<2xf32>) {
    ^bb0(%in: f32, %in_53: i32, %out: f32):
      %191 = arith.extf %in : f32 to f64
      %192 = arith.sitofp %in_53 : i32 to f64
      %193 = math.powf %191, %192 : f64
      %194 = arith.truncf %193 : f64 to f32
      linalg.yield %194 : f32
    } -> tensor<2xf32>
    %31 = linalg.fill ins(%c0_i64 : i64) outs(%2 : tensor<1x?xi64>) -> tensor<1x?xi64>
    %32 = tensor.empty() : tensor<1xi64>
    %33 = linalg.fill ins(%c0_i64 : i64) outs(%32 : tensor<1xi64>) -> tensor<1xi64>
    %34:2 = "tm_tensor.scan"(%3, %31, %33) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%arg18: i64, %arg19: i64):
      %191 = arith.addi %arg18, %arg19 : i64
      "tm_tensor.yield"(%191) : (i64) -> ()
    }) : (tensor<1x?xi64>, tensor<1x?xi64>, tensor<1xi64>) -> (tensor<1x?xi64>, tensor<1xi64>)
    %dim_15 = tensor.dim %34#0, %c1 : tensor<1x?xi64>
    %35 = tensor.empty(%dim_15) : tensor<1x?xi64>
    %36 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%34#0 : tensor<1x?xi64>) outs(%35 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %out: i64):
      %191 = arith.subi %in, %c1_i64 : i64
      linalg.yield %191 : i64
    } -> tensor<1x?xi64>
    %37 = arith.cmpi eq, %dim_15, %dim : index
    cf.assert %37, "mismatched size for broadcast"
    %38 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36, %3 : tensor<1x?xi64>, tensor<1x?xi64>) outs(%35 : tensor<1x?xi64>) {
    ^bb0(%in: i64, %in_53: i64, %out: i64):
      %191 = arith.muli %in, %in_53 : i64
      linalg.yield %191 : i64
    } -> tensor<1x?xi64>
    %expanded = tensor.expand_shape %38 [[0], [1, 2]] output_shape [1, 1, %dim_15] : tensor<1x?xi64> into tensor<1x1x?xi64>
    %expanded_16 = tensor.expand_shape %30 [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
    %39 = tensor.empty(%dim_15) : tensor<1x2x?xf32>
    %40 = linalg.generic {indexing_maps = [#map8, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded : tensor<2x1xf32>, tensor<1x1x?xi64>) outs(%39 : tensor<1x2x?xf32>) {
    ^bb0(%in: f32, %in_53: i64, %out: f32):
      %191 = arith.sitofp %in_53 : i64 to f32
      %192 = arith.mulf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x2x?xf32>
    %collapsed = tensor.collapse_shape %40 [[0, 1], [2]] : tensor<1x2x?xf32> into tensor<2x?xf32>
    %expanded_17 = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [2, 1, %dim_15] : tensor<2x?xf32> into tensor<2x1x?xf32>
    %41 = tensor.empty(%dim) : tensor<1x?xi1>
    %42 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x?xi64>) outs(%41 : tensor<1x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %191 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %191 : i1
    } -> tensor<1x?xi1>
    %43 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%32 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %44 = tensor.empty(%dim) : tensor<?xi64>
    %45 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%44 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %191 = linalg.index 0 : index
      %192 = arith.index_cast %191 : index to i64
      linalg.yield %192 : i64
    } -> tensor<?xi64>
    %expanded_18 = tensor.expand_shape %43 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_19 = tensor.expand_shape %45 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_20 = tensor.expand_shape %45 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %46 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %47 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_20, %expanded_19 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%46 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_53: i64, %out: i1):
      %191 = arith.cmpi sle, %in, %in_53 : i64
      linalg.yield %191 : i1
    } -> tensor<1x1x?x?xi1>
    %48 = linalg.generic {indexing_maps = [#map13, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4, %47 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%46 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_53: i1, %out: i1):
      %191 = arith.andi %in, %in_53 : i1
      linalg.yield %191 : i1
    } -> tensor<1x1x?x?xi1>
    %dim_21 = tensor.dim %expanded_20, %c3 : tensor<1x1x1x?xi64>
    %49 = tensor.empty(%dim_21) : tensor<1x1x1x?xi1>
    %50 = linalg.generic {indexing_maps = [#map14, #map15, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18, %expanded_20 : tensor<1x1x1x1xi64>, tensor<1x1x1x?xi64>) outs(%49 : tensor<1x1x1x?xi1>) {
    ^bb0(%in: i64, %in_53: i64, %out: i1):
      %191 = arith.cmpi slt, %in, %c0_i64 : i64
      %192 = arith.addi %in, %c1_i64 : i64
      %193 = arith.select %191, %192, %in : i64
      %194 = arith.index_cast %193 : i64 to index
      %195 = arith.cmpi slt, %in_53, %c0_i64 : i64
      %196 = arith.addi %in_53, %0 : i64
      %197 = arith.select %195, %196, %in_53 : i64
      %198 = arith.index_cast %197 : i64 to index
      %extracted = tensor.extract %42[%194, %198] : tensor<1x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x1x?xi1>
    %51 = arith.cmpi eq, %dim, %dim_21 : index
    cf.assert %51, "mismatched size for broadcast"
    %52 = linalg.generic {indexing_maps = [#map12, #map10, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %50 : tensor<1x1x?x?xi1>, tensor<1x1x1x?xi1>) outs(%46 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_53: i1, %out: i1):
      %191 = arith.andi %in, %in_53 : i1
      linalg.yield %191 : i1
    } -> tensor<1x1x?x?xi1>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %53 = linalg.generic {indexing_maps = [#map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%46 : tensor<1x1x?x?xi1>) {
    ^bb0(%out: i1):
      %191 = linalg.index 2 : index
      %192 = linalg.index 3 : index
      %193 = arith.cmpi eq, %dim, %c1 : index
      %194 = arith.select %193, %c0, %191 : index
      %195 = arith.select %193, %c0, %192 : index
      %extracted = tensor.extract %52[%c0, %c0, %194, %195] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x?x?xi1>
    %54 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xf32>
    %55 = linalg.generic {indexing_maps = [#map12, #map13, #map13, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %cst_3, %cst_2 : tensor<1x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%54 : tensor<1x1x?x?xf32>) {
    ^bb0(%in: i1, %in_53: f32, %in_54: f32, %out: f32):
      %191 = arith.select %in, %in_53, %in_54 : f32
      linalg.yield %191 : f32
    } -> tensor<1x1x?x?xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<1x?x16xf32>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %191 = arith.extf %in : f32 to f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %57 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%56 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %59 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %58 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.subf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %60 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %59 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.mulf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %61 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%60 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %62 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %63 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<1x?x1xf64>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %191 = arith.truncf %in : f64 to f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %64 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%26 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %out : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.divf %in, %cst_11 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %66 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_9 : f64 to f32
      %192 = arith.addf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x1xf32>
    %67 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.rsqrt %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %68 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %65 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.subf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %69 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %67 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %arg4 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %71 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %arg5 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_22 = tensor.collapse_shape %71 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %72 = tensor.empty() : tensor<16x48xf32>
    %transposed = linalg.transpose ins(%arg6 : tensor<48x16xf32>) outs(%72 : tensor<16x48xf32>) permutation = [1, 0] 
    %73 = tensor.empty(%dim) : tensor<?x48xf32>
    %74 = linalg.fill ins(%cst_0 : f32) outs(%73 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %75 = linalg.matmul ins(%collapsed_22, %transposed : tensor<?x16xf32>, tensor<16x48xf32>) outs(%74 : tensor<?x48xf32>) -> tensor<?x48xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %76 = linalg.generic {indexing_maps = [#map16, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg7 : tensor<48xf32>) outs(%73 : tensor<?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x48xf32>
    %77 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%75, %76 : tensor<?x48xf32>, tensor<?x48xf32>) outs(%73 : tensor<?x48xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<?x48xf32>
    %expanded_23 = tensor.expand_shape %77 [[0, 1], [2, 3, 4]] output_shape [1, %dim, 2, 3, 8] : tensor<?x48xf32> into tensor<1x?x2x3x8xf32>
    %extracted_slice = tensor.extract_slice %expanded_23[0, 0, 0, 0, 0] [1, %dim, 2, 1, 8] [1, 1, 1, 1, 1] : tensor<1x?x2x3x8xf32> to tensor<1x?x2x1x8xf32>
    %collapsed_24 = tensor.collapse_shape %extracted_slice [[0], [1], [2, 3], [4]] : tensor<1x?x2x1x8xf32> into tensor<1x?x2x8xf32>
    %78 = tensor.empty(%dim) : tensor<1x2x?x8xf32>
    %transposed_25 = linalg.transpose ins(%collapsed_24 : tensor<1x?x2x8xf32>) outs(%78 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_26 = tensor.extract_slice %expanded_23[0, 0, 0, 1, 0] [1, %dim, 2, 1, 8] [1, 1, 1, 1, 1] : tensor<1x?x2x3x8xf32> to tensor<1x?x2x1x8xf32>
    %collapsed_27 = tensor.collapse_shape %extracted_slice_26 [[0], [1], [2, 3], [4]] : tensor<1x?x2x1x8xf32> into tensor<1x?x2x8xf32>
    %transposed_28 = linalg.transpose ins(%collapsed_27 : tensor<1x?x2x8xf32>) outs(%78 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_29 = tensor.extract_slice %expanded_23[0, 0, 0, 2, 0] [1, %dim, 2, 1, 8] [1, 1, 1, 1, 1] : tensor<1x?x2x3x8xf32> to tensor<1x?x2x1x8xf32>
    %collapsed_30 = tensor.collapse_shape %extracted_slice_29 [[0], [1], [2, 3], [4]] : tensor<1x?x2x1x8xf32> into tensor<1x?x2x8xf32>
    %transposed_31 = linalg.transpose ins(%collapsed_30 : tensor<1x?x2x8xf32>) outs(%78 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_32 = tensor.collapse_shape %transposed_25 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %collapsed_33 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %79 = tensor.empty(%dim) : tensor<2x8x?xf32>
    %transposed_34 = linalg.transpose ins(%collapsed_33 : tensor<2x?x8xf32>) outs(%79 : tensor<2x8x?xf32>) permutation = [0, 2, 1] 
    %collapsed_35 = tensor.collapse_shape %transposed_31 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %80 = tensor.empty(%dim, %dim) : tensor<2x?x?xf32>
    %81 = linalg.fill ins(%cst_0 : f32) outs(%80 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %82 = linalg.batch_matmul ins(%collapsed_32, %transposed_34 : tensor<2x?x8xf32>, tensor<2x8x?xf32>) outs(%81 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %83 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<2x?x?xf32>) outs(%80 : tensor<2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_8 : f64 to f32
      %192 = arith.mulf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<2x?x?xf32>
    cf.assert %37, "mismatched size for broadcast"
    %84 = tensor.empty(%dim, %dim_15) : tensor<2x?x?xf32>
    %85 = linalg.generic {indexing_maps = [#map9, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_17, %83 : tensor<2x1x?xf32>, tensor<2x?x?xf32>) outs(%84 : tensor<2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<2x?x?xf32>
    %86 = arith.muli %0, %c2_i64 : i64
    %87 = arith.cmpi slt, %0, %c0_i64 : i64
    %88 = arith.select %87, %c2_i64, %86 : i64
    %89 = arith.extui %87 : i1 to i64
    %90 = arith.addi %89, %c1_i64 : i64
    %91 = arith.cmpi sle, %90, %c1_i64 : i64
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %92 = arith.index_cast %dim_15 : index to i64
    %93 = arith.muli %86, %92 : i64
    %94 = arith.divsi %93, %88 : i64
    %95 = arith.select %87, %94, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %c2_i64, %95, %94 : tensor<4xi64>
    %reshape = tensor.reshape %85(%from_elements) : (tensor<2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %96 = arith.index_cast %95 : i64 to index
    %97 = arith.index_cast %94 : i64 to index
    %98 = arith.cmpi eq, %96, %dim : index
    cf.assert %98, "mismatched size for broadcast"
    %99 = arith.cmpi eq, %97, %dim : index
    cf.assert %99, "mismatched size for broadcast"
    %100 = tensor.empty(%96, %97) : tensor<1x2x?x?xf32>
    %101 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape, %55 : tensor<1x2x?x?xf32>, tensor<1x1x?x?xf32>) outs(%100 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x2x?x?xf32>
    %102 = tensor.empty(%96) : tensor<1x2x?xi64>
    %103 = linalg.fill ins(%c0_i64 : i64) outs(%102 : tensor<1x2x?xi64>) -> tensor<1x2x?xi64>
    %104 = tensor.empty(%96) : tensor<1x2x?xf32>
    %105 = linalg.fill ins(%cst_1 : f32) outs(%104 : tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
    %106:2 = linalg.generic {indexing_maps = [#map12, #map18, #map18], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%101 : tensor<1x2x?x?xf32>) outs(%105, %103 : tensor<1x2x?xf32>, tensor<1x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_53: i64):
      %191 = linalg.index 3 : index
      %192 = arith.index_cast %191 : index to i64
      %193 = arith.maximumf %in, %out : f32
      %194 = arith.cmpf ogt, %in, %out : f32
      %195 = arith.select %194, %192, %out_53 : i64
      linalg.yield %193, %195 : f32, i64
    } -> (tensor<1x2x?xf32>, tensor<1x2x?xi64>)
    %expanded_36 = tensor.expand_shape %106#0 [[0], [1], [2, 3]] output_shape [1, 2, %96, 1] : tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
    %107 = linalg.generic {indexing_maps = [#map12, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101, %expanded_36 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%100 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.subf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x2x?x?xf32>
    %108 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%107 : tensor<1x2x?x?xf32>) outs(%100 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.exp %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x2x?x?xf32>
    %109 = tensor.empty(%96) : tensor<1x2x?x1xf32>
    %110 = linalg.fill ins(%cst_0 : f32) outs(%109 : tensor<1x2x?x1xf32>) -> tensor<1x2x?x1xf32>
    %111 = linalg.generic {indexing_maps = [#map12, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%108 : tensor<1x2x?x?xf32>) outs(%110 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %out : f32
      linalg.yield %191 : f32
    } -> tensor<1x2x?x1xf32>
    %112 = linalg.generic {indexing_maps = [#map12, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%108, %111 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%100 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.divf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %91, "must have at most one inferred (negative) dimension"
    %113 = arith.muli %95, %c2_i64 : i64
    %114 = arith.muli %113, %94 : i64
    %115 = arith.divsi %114, %88 : i64
    %116 = arith.select %87, %115, %0 : i64
    %from_elements_37 = tensor.from_elements %c2_i64, %116, %115 : tensor<3xi64>
    %reshape_38 = tensor.reshape %112(%from_elements_37) : (tensor<1x2x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
    %117 = arith.index_cast %116 : i64 to index
    %118 = arith.cmpi eq, %115, %0 : i64
    cf.assert %118, "mismatching contracting dimension"
    %119 = tensor.empty(%117) : tensor<2x?x8xf32>
    %120 = linalg.fill ins(%cst_0 : f32) outs(%119 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %121 = linalg.batch_matmul ins(%reshape_38, %collapsed_35 : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%120 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %expanded_39 = tensor.expand_shape %121 [[0, 1], [2], [3]] output_shape [1, 2, %117, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %122 = tensor.empty(%117) : tensor<1x?x2x8xf32>
    %transposed_40 = linalg.transpose ins(%expanded_39 : tensor<1x2x?x8xf32>) outs(%122 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_41 = tensor.collapse_shape %transposed_40 [[0, 1], [2, 3]] : tensor<1x?x2x8xf32> into tensor<?x16xf32>
    %123 = tensor.empty() : tensor<16x16xf32>
    %transposed_42 = linalg.transpose ins(%arg8 : tensor<16x16xf32>) outs(%123 : tensor<16x16xf32>) permutation = [1, 0] 
    %124 = tensor.empty(%117) : tensor<?x16xf32>
    %125 = linalg.fill ins(%cst_0 : f32) outs(%124 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %126 = linalg.matmul ins(%collapsed_41, %transposed_42 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%125 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %127 = tensor.empty(%dim) : tensor<?x16xf32>
    %128 = linalg.generic {indexing_maps = [#map16, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg9 : tensor<16xf32>) outs(%127 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %129 = arith.cmpi eq, %117, %dim : index
    cf.assert %129, "mismatched size for broadcast"
    %130 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%126, %128 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%124 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<?x16xf32>
    %expanded_43 = tensor.expand_shape %130 [[0, 1], [2]] output_shape [1, %117, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %131 = arith.cmpi eq, %dim, %117 : index
    cf.assert %131, "mismatched size for broadcast"
    %132 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %expanded_43 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %133 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132 : tensor<1x?x16xf32>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %191 = arith.extf %in : f32 to f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %134 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%133 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %135 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %136 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %135 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.subf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %137 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %136 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.mulf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %138 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%137 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %139 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %140 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<1x?x1xf64>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %191 = arith.truncf %in : f64 to f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%132 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %out : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %142 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.divf %in, %cst_11 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %143 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_9 : f64 to f32
      %192 = arith.addf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x1xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.rsqrt %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %145 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %142 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.subf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %144 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %147 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146, %arg10 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %148 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %arg11 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %collapsed_44 = tensor.collapse_shape %148 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %149 = tensor.empty() : tensor<16x64xf32>
    %transposed_45 = linalg.transpose ins(%arg12 : tensor<64x16xf32>) outs(%149 : tensor<16x64xf32>) permutation = [1, 0] 
    %150 = tensor.empty(%dim) : tensor<?x64xf32>
    %151 = linalg.fill ins(%cst_0 : f32) outs(%150 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %152 = linalg.matmul ins(%collapsed_44, %transposed_45 : tensor<?x16xf32>, tensor<16x64xf32>) outs(%151 : tensor<?x64xf32>) -> tensor<?x64xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %153 = linalg.generic {indexing_maps = [#map16, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg13 : tensor<64xf32>) outs(%150 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %154 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%152, %153 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%150 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<?x64xf32>
    %expanded_46 = tensor.expand_shape %154 [[0, 1], [2]] output_shape [1, %dim, 64] : tensor<?x64xf32> into tensor<1x?x64xf32>
    %155 = tensor.empty(%dim) : tensor<1x?x64xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_46 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.mulf %in, %cst_12 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %157 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_46 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_7 : f64 to f32
      %192 = arith.mulf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x64xf32>
    %158 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_46 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_6 : f64 to f32
      %192 = arith.mulf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x64xf32>
    %159 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158, %expanded_46 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %160 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %cst_13 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %161 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157, %160 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %162 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.tanh %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %163 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %cst_13 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %164 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %163 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%155 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x64xf32>
    %collapsed_47 = tensor.collapse_shape %164 [[0, 1], [2]] : tensor<1x?x64xf32> into tensor<?x64xf32>
    %165 = tensor.empty() : tensor<64x16xf32>
    %transposed_48 = linalg.transpose ins(%arg14 : tensor<16x64xf32>) outs(%165 : tensor<64x16xf32>) permutation = [1, 0] 
    %166 = linalg.fill ins(%cst_0 : f32) outs(%127 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %167 = linalg.matmul ins(%collapsed_47, %transposed_48 : tensor<?x64xf32>, tensor<64x16xf32>) outs(%166 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %1, "negative values not allowed in new dimensions"
    %168 = linalg.generic {indexing_maps = [#map16, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg15 : tensor<16xf32>) outs(%127 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %169 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%167, %168 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%127 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<?x16xf32>
    %expanded_49 = tensor.expand_shape %169 [[0, 1], [2]] output_shape [1, %dim, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %170 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %expanded_49 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %171 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170 : tensor<1x?x16xf32>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %191 = arith.extf %in : f32 to f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %172 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%171 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %173 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %174 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171, %173 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.subf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %175 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%174, %174 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%6 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %191 = arith.mulf %in, %in_53 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x16xf64>
    %176 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%175 : tensor<1x?x16xf64>) outs(%9 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.addf %in, %out : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %177 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176 : tensor<1x?x1xf64>) outs(%8 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %191 = arith.divf %in, %cst_10 : f64
      linalg.yield %191 : f64
    } -> tensor<1x?x1xf64>
    %178 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<1x?x1xf64>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %191 = arith.truncf %in : f64 to f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %179 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%170 : tensor<1x?x16xf32>) outs(%18 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.addf %in, %out : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %180 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.divf %in, %cst_11 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %181 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = arith.truncf %cst_9 : f64 to f32
      %192 = arith.addf %in, %191 : f32
      linalg.yield %192 : f32
    } -> tensor<1x?x1xf32>
    %182 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<1x?x1xf32>) outs(%16 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %191 = math.rsqrt %in : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x1xf32>
    %183 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %180 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.subf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %184 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183, %182 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %185 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184, %arg16 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.mulf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %186 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %arg17 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %191 = arith.addf %in, %in_53 : f32
      linalg.yield %191 : f32
    } -> tensor<1x?x16xf32>
    %187 = tensor.empty() : tensor<16x32xf32>
    %transposed_50 = linalg.transpose ins(%arg1 : tensor<32x16xf32>) outs(%187 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_51 = tensor.collapse_shape %186 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %188 = tensor.empty(%dim) : tensor<?x32xf32>
    %189 = linalg.fill ins(%cst_0 : f32) outs(%188 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %190 = linalg.matmul ins(%collapsed_51, %transposed_50 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%189 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_52 = tensor.expand_shape %190 [[0, 1], [2]] output_shape [1, %dim, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_52 : tensor<1x?x32xf32>
  }
}

