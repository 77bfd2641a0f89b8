#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> ()>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map11 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map12 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map13 = affine_map<(d0, d1, d2) -> (d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d1, 0, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {kv.model = {architecture = "mpt", max_seq_len = 63 : i64, name = "mpt", vocab_size = 32 : i64}} {
  func.func @forward(%arg0: tensor<1x?xi64> {kv.name = "tokens"}, %arg1: tensor<32x16xf32> {kv.weight = "transformer.wte.weight"}, %arg2: tensor<16xf32> {kv.weight = "transformer.blocks.0.norm_1.weight"}, %arg3: tensor<48x16xf32> {kv.weight = "transformer.blocks.0.attn.Wqkv.weight"}, %arg4: tensor<16x16xf32> {kv.weight = "transformer.blocks.0.attn.out_proj.weight"}, %arg5: tensor<16xf32> {kv.weight = "transformer.blocks.0.norm_2.weight"}, %arg6: tensor<64x16xf32> {kv.weight = "transformer.blocks.0.ffn.up_proj.weight"}, %arg7: tensor<16x64xf32> {kv.weight = "transformer.blocks.0.ffn.down_proj.weight"}, %arg8: tensor<16xf32> {kv.weight = "transformer.norm_f.weight"}) -> tensor<1x?x32xf32> {
    %c128_i64 = arith.constant 128 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64_i64 = arith.constant 64 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %c3 = arith.constant 3 : index
    %cst_1 = arith.constant 0.000000e+00 : f64
    %cst_2 = arith.constant 0xFF800000 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = arith.constant dense<true> : tensor<i1>
    %cst_7 = arith.constant 0.35355339059327373 : f64
    %cst_8 = arith.constant 1.000000e-05 : f64
    %c-63_i32 = arith.constant -63 : i32
    %cst_9 = arith.constant 4.000000e+00 : f32
    %cst_10 = arith.constant 2.000000e+00 : f32
    %cst_11 = arith.constant 1.600000e+01 : f64
    %cst_12 = arith.constant 1.600000e+01 : f32
    %c64 = arith.constant 64 : index
    %c16_i64 = arith.constant 16 : i64
    %cst_13 = arith.constant 1.41421354 : f32
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
      %173 = arith.index_cast %in : i64 to index
      %174 = linalg.index 2 : index
      %175 = arith.cmpi slt, %173, %c32 : index
      cf.assert %175, "index must be smaller than dim size"
      %176 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %176, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%173, %174] : tensor<32x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x?x16xf32>
    %6 = tensor.empty() : tensor<64xi32>
    %7 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%6 : tensor<64xi32>) {
    ^bb0(%out: i32):
      %173 = linalg.index 0 : index
      %174 = arith.index_cast %173 : index to i64
      %175 = arith.trunci %174 : i64 to i32
      %176 = arith.addi %175, %c-63_i32 : i32
      linalg.yield %176 : i32
    } -> tensor<64xi32>
    %expanded = tensor.expand_shape %7 [[0, 1, 2, 3]] output_shape [1, 1, 1, 64] : tensor<64xi32> into tensor<1x1x1x64xi32>
    %8 = tensor.empty() : tensor<2xi64>
    %9 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%8 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %173 = linalg.index 0 : index
      %174 = arith.index_cast %173 : index to i64
      %175 = arith.addi %174, %c1_i64 : i64
      linalg.yield %175 : i64
    } -> tensor<2xi64>
    %10 = tensor.empty() : tensor<2xf32>
    %11 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%9 : tensor<2xi64>) outs(%10 : tensor<2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %173 = arith.sitofp %in : i64 to f32
      linalg.yield %173 : f32
    } -> tensor<2xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%11 : tensor<2xf32>) outs(%10 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.mulf %in, %cst_9 : f32
      linalg.yield %173 : f32
    } -> tensor<2xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%12 : tensor<2xf32>) outs(%10 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = math.powf %cst_10, %in : f32
      linalg.yield %173 : f32
    } -> tensor<2xf32>
    %14 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%13 : tensor<2xf32>) outs(%10 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.cmpf one, %in, %cst : f32
      cf.assert %173, "unimplemented: tensor with zero element"
      %174 = arith.divf %cst_0, %in : f32
      linalg.yield %174 : f32
    } -> tensor<2xf32>
    %expanded_15 = tensor.expand_shape %14 [[0, 1, 2, 3]] output_shape [1, 2, 1, 1] : tensor<2xf32> into tensor<1x2x1x1xf32>
    %15 = tensor.empty() : tensor<1x2x1x64xf32>
    %16 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_15 : tensor<1x1x1x64xi32>, tensor<1x2x1x1xf32>) outs(%15 : tensor<1x2x1x64xf32>) {
    ^bb0(%in: i32, %in_53: f32, %out: f32):
      %173 = arith.sitofp %in : i32 to f32
      %174 = arith.mulf %173, %in_53 : f32
      linalg.yield %174 : f32
    } -> tensor<1x2x1x64xf32>
    %collapsed = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<1x2x1x64xf32> into tensor<2x1x64xf32>
    %17 = tensor.empty(%dim) : tensor<1x?xi1>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x?xi64>) outs(%17 : tensor<1x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %173 = arith.cmpi ne, %in, %c0_i64 : i64
      linalg.yield %173 : i1
    } -> tensor<1x?xi1>
    %19 = tensor.empty() : tensor<1xi64>
    %20 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%19 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %21 = tensor.empty(%dim) : tensor<?xi64>
    %22 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%21 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %173 = linalg.index 0 : index
      %174 = arith.index_cast %173 : index to i64
      linalg.yield %174 : i64
    } -> tensor<?xi64>
    %expanded_16 = tensor.expand_shape %20 [[0, 1, 2, 3]] output_shape [1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1xi64>
    %expanded_17 = tensor.expand_shape %22 [[0, 1, 2, 3]] output_shape [1, 1, %dim, 1] : tensor<?xi64> into tensor<1x1x?x1xi64>
    %expanded_18 = tensor.expand_shape %22 [[0, 1, 2, 3]] output_shape [1, 1, 1, %dim] : tensor<?xi64> into tensor<1x1x1x?xi64>
    %23 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %24 = linalg.generic {indexing_maps = [#map8, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18, %expanded_17 : tensor<1x1x1x?xi64>, tensor<1x1x?x1xi64>) outs(%23 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i64, %in_53: i64, %out: i1):
      %173 = arith.cmpi sle, %in, %in_53 : i64
      linalg.yield %173 : i1
    } -> tensor<1x1x?x?xi1>
    %25 = linalg.generic {indexing_maps = [#map9, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6, %24 : tensor<i1>, tensor<1x1x?x?xi1>) outs(%23 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_53: i1, %out: i1):
      %173 = arith.andi %in, %in_53 : i1
      linalg.yield %173 : i1
    } -> tensor<1x1x?x?xi1>
    %dim_19 = tensor.dim %expanded_18, %c3 : tensor<1x1x1x?xi64>
    %26 = tensor.empty(%dim_19) : tensor<1x1x1x?xi1>
    %27 = linalg.generic {indexing_maps = [#map10, #map11, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16, %expanded_18 : tensor<1x1x1x1xi64>, tensor<1x1x1x?xi64>) outs(%26 : tensor<1x1x1x?xi1>) {
    ^bb0(%in: i64, %in_53: i64, %out: i1):
      %173 = arith.cmpi slt, %in, %c0_i64 : i64
      %174 = arith.addi %in, %c1_i64 : i64
      %175 = arith.select %173, %174, %in : i64
      %176 = arith.index_cast %175 : i64 to index
      %177 = arith.cmpi slt, %in_53, %c0_i64 : i64
      %178 = arith.addi %in_53, %0 : i64
      %179 = arith.select %177, %178, %in_53 : i64
      %180 = arith.index_cast %179 : i64 to index
      %extracted = tensor.extract %18[%176, %180] : tensor<1x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x1x?xi1>
    %28 = arith.cmpi eq, %dim, %dim_19 : index
    cf.assert %28, "mismatched size for broadcast"
    %29 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %27 : tensor<1x1x?x?xi1>, tensor<1x1x1x?xi1>) outs(%23 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %in_53: i1, %out: i1):
      %173 = arith.andi %in, %in_53 : i1
      linalg.yield %173 : i1
    } -> tensor<1x1x?x?xi1>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %30 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%23 : tensor<1x1x?x?xi1>) {
    ^bb0(%out: i1):
      %173 = linalg.index 2 : index
      %174 = linalg.index 3 : index
      %175 = arith.cmpi eq, %dim, %c1 : index
      %176 = arith.select %175, %c0, %173 : index
      %177 = arith.select %175, %c0, %174 : index
      %extracted = tensor.extract %29[%c0, %c0, %176, %177] : tensor<1x1x?x?xi1>
      linalg.yield %extracted : i1
    } -> tensor<1x1x?x?xi1>
    %31 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xf32>
    %32 = linalg.generic {indexing_maps = [#map7, #map9, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %cst_5, %cst_4 : tensor<1x1x?x?xi1>, tensor<f32>, tensor<f32>) outs(%31 : tensor<1x1x?x?xf32>) {
    ^bb0(%in: i1, %in_53: f32, %in_54: f32, %out: f32):
      %173 = arith.select %in, %in_53, %in_54 : f32
      linalg.yield %173 : f32
    } -> tensor<1x1x?x?xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<1x1x?x?xf32>) outs(%23 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: f32, %out: i1):
      %173 = arith.cmpf une, %in, %cst : f32
      linalg.yield %173 : i1
    } -> tensor<1x1x?x?xi1>
    %34 = tensor.empty(%dim) : tensor<1x?x16xf64>
    %35 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x?x16xf32>) outs(%34 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %173 = arith.extf %in : f32 to f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %36 = tensor.empty(%dim) : tensor<1x?x1xf64>
    %37 = linalg.fill ins(%cst_1 : f64) outs(%36 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %38 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%35 : tensor<1x?x16xf64>) outs(%37 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %39 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<1x?x1xf64>) outs(%36 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %40 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %39 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%34 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.subf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %40 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%34 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.mulf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %42 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%41 : tensor<1x?x16xf64>) outs(%37 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %43 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<1x?x1xf64>) outs(%36 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %44 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<1x?x1xf64>) outs(%44 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %173 = arith.truncf %in : f64 to f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %46 = linalg.fill ins(%cst : f32) outs(%44 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %47 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<1x?x16xf32>) outs(%46 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.addf %in, %out : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<1x?x1xf32>) outs(%44 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.divf %in, %cst_12 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<1x?x1xf32>) outs(%44 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.truncf %cst_8 : f64 to f32
      %174 = arith.addf %in, %173 : f32
      linalg.yield %174 : f32
    } -> tensor<1x?x1xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49 : tensor<1x?x1xf32>) outs(%44 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = math.rsqrt %in : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %48 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.subf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %52 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %50 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map13, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52, %arg2 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%4 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %54 = tensor.empty() : tensor<16x48xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<48x16xf32>) outs(%54 : tensor<16x48xf32>) permutation = [1, 0] 
    %collapsed_20 = tensor.collapse_shape %53 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %55 = tensor.empty(%dim) : tensor<?x48xf32>
    %56 = linalg.fill ins(%cst : f32) outs(%55 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %57 = linalg.matmul ins(%collapsed_20, %transposed : tensor<?x16xf32>, tensor<16x48xf32>) outs(%56 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %expanded_21 = tensor.expand_shape %57 [[0, 1], [2]] output_shape [1, %dim, 48] : tensor<?x48xf32> into tensor<1x?x48xf32>
    %extracted_slice = tensor.extract_slice %expanded_21[0, 0, 0] [1, %dim, 16] [1, 1, 1] : tensor<1x?x48xf32> to tensor<1x?x16xf32>
    %extracted_slice_22 = tensor.extract_slice %expanded_21[0, 0, 16] [1, %dim, 16] [1, 1, 1] : tensor<1x?x48xf32> to tensor<1x?x16xf32>
    %extracted_slice_23 = tensor.extract_slice %expanded_21[0, 0, 32] [1, %dim, 16] [1, 1, 1] : tensor<1x?x48xf32> to tensor<1x?x16xf32>
    %expanded_24 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [1, %dim, 2, 8] : tensor<1x?x16xf32> into tensor<1x?x2x8xf32>
    %58 = tensor.empty(%dim) : tensor<1x2x?x8xf32>
    %transposed_25 = linalg.transpose ins(%expanded_24 : tensor<1x?x2x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_26 = tensor.expand_shape %extracted_slice_22 [[0], [1], [2, 3]] output_shape [1, %dim, 2, 8] : tensor<1x?x16xf32> into tensor<1x?x2x8xf32>
    %expanded_27 = tensor.expand_shape %extracted_slice_23 [[0], [1], [2, 3]] output_shape [1, %dim, 2, 8] : tensor<1x?x16xf32> into tensor<1x?x2x8xf32>
    %transposed_28 = linalg.transpose ins(%expanded_27 : tensor<1x?x2x8xf32>) outs(%58 : tensor<1x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %59 = tensor.empty(%dim) : tensor<1x2x8x?xf32>
    %transposed_29 = linalg.transpose ins(%expanded_26 : tensor<1x?x2x8xf32>) outs(%59 : tensor<1x2x8x?xf32>) permutation = [0, 2, 3, 1] 
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %60 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %173 = linalg.index 1 : index
      %174 = linalg.index 2 : index
      %175 = linalg.index 3 : index
      %176 = arith.cmpi eq, %dim, %c1 : index
      %177 = arith.select %176, %c0, %174 : index
      %extracted = tensor.extract %transposed_25[%c0, %173, %177, %175] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_30 = tensor.collapse_shape %60 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %61 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%59 : tensor<1x2x8x?xf32>) {
    ^bb0(%out: f32):
      %173 = linalg.index 1 : index
      %174 = linalg.index 2 : index
      %175 = linalg.index 3 : index
      %176 = arith.cmpi eq, %dim, %c1 : index
      %177 = arith.select %176, %c0, %175 : index
      %extracted = tensor.extract %transposed_29[%c0, %173, %174, %177] : tensor<1x2x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x8x?xf32>
    %collapsed_31 = tensor.collapse_shape %61 [[0, 1], [2], [3]] : tensor<1x2x8x?xf32> into tensor<2x8x?xf32>
    %62 = tensor.empty(%dim, %dim) : tensor<2x?x?xf32>
    %63 = linalg.fill ins(%cst : f32) outs(%62 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %64 = linalg.batch_matmul ins(%collapsed_30, %collapsed_31 : tensor<2x?x8xf32>, tensor<2x8x?xf32>) outs(%63 : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
    %65 = arith.muli %0, %c2_i64 : i64
    %66 = arith.cmpi slt, %0, %c0_i64 : i64
    %67 = arith.select %66, %c2_i64, %65 : i64
    %68 = arith.extui %66 : i1 to i64
    %69 = arith.muli %67, %0 : i64
    %70 = arith.addi %68, %c1_i64 : i64
    %71 = arith.select %66, %c2_i64, %69 : i64
    %72 = arith.select %66, %70, %68 : i64
    %73 = arith.cmpi sle, %72, %c1_i64 : i64
    cf.assert %73, "must have at most one inferred (negative) dimension"
    %74 = arith.muli %65, %0 : i64
    %75 = arith.divsi %74, %71 : i64
    %76 = arith.select %66, %75, %0 : i64
    %from_elements = tensor.from_elements %c1_i64, %c2_i64, %76, %76 : tensor<4xi64>
    %reshape = tensor.reshape %64(%from_elements) : (tensor<2x?x?xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
    %77 = arith.index_cast %76 : i64 to index
    %78 = tensor.empty(%77, %77) : tensor<1x2x?x?xf32>
    %79 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<1x2x?x?xf32>) outs(%78 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.truncf %cst_7 : f64 to f32
      %174 = arith.mulf %in, %173 : f32
      linalg.yield %174 : f32
    } -> tensor<1x2x?x?xf32>
    %80 = arith.subi %c64_i64, %0 : i64
    %81 = arith.subi %c128_i64, %0 : i64
    %82 = arith.cmpi sge, %80, %c0_i64 : i64
    %83 = arith.select %82, %80, %81 : i64
    %84 = arith.maxsi %83, %c0_i64 : i64
    %85 = arith.minsi %84, %c64_i64 : i64
    %86 = arith.index_cast %85 : i64 to index
    %87 = arith.subi %c64, %86 : index
    %88 = arith.maxsi %87, %c0 : index
    %extracted_slice_32 = tensor.extract_slice %collapsed[0, 0, %86] [2, 1, %88] [1, 1, 1] : tensor<2x1x64xf32> to tensor<2x1x?xf32>
    %89 = arith.cmpi eq, %77, %88 : index
    cf.assert %89, "mismatched size for broadcast"
    %90 = linalg.generic {indexing_maps = [#map7, #map14, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%79, %extracted_slice_32 : tensor<1x2x?x?xf32>, tensor<2x1x?xf32>) outs(%78 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.addf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x?xf32>
    %91 = arith.cmpi eq, %dim, %77 : index
    cf.assert %91, "mismatched size for broadcast"
    cf.assert %91, "mismatched size for broadcast"
    %92 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xf32>
    %93 = linalg.generic {indexing_maps = [#map5, #map9, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %cst_4, %90 : tensor<1x1x?x?xi1>, tensor<f32>, tensor<1x2x?x?xf32>) outs(%92 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_53: f32, %in_54: f32, %out: f32):
      %173 = arith.select %in, %in_53, %in_54 : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x?xf32>
    %94 = tensor.empty(%dim) : tensor<1x2x?xi64>
    %95 = linalg.fill ins(%c0_i64 : i64) outs(%94 : tensor<1x2x?xi64>) -> tensor<1x2x?xi64>
    %96 = tensor.empty(%dim) : tensor<1x2x?xf32>
    %97 = linalg.fill ins(%cst_2 : f32) outs(%96 : tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
    %98:2 = linalg.generic {indexing_maps = [#map7, #map15, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%93 : tensor<1x2x?x?xf32>) outs(%97, %95 : tensor<1x2x?xf32>, tensor<1x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_53: i64):
      %173 = linalg.index 3 : index
      %174 = arith.index_cast %173 : index to i64
      %175 = arith.maximumf %in, %out : f32
      %176 = arith.cmpf ogt, %in, %out : f32
      %177 = arith.select %176, %174, %out_53 : i64
      linalg.yield %175, %177 : f32, i64
    } -> (tensor<1x2x?xf32>, tensor<1x2x?xi64>)
    %expanded_33 = tensor.expand_shape %98#0 [[0], [1], [2, 3]] output_shape [1, 2, %dim, 1] : tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
    %99 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%93, %expanded_33 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%92 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.subf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x?xf32>
    %100 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%99 : tensor<1x2x?x?xf32>) outs(%92 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = math.exp %in : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x?xf32>
    %101 = tensor.empty(%dim) : tensor<1x2x?x1xf32>
    %102 = linalg.fill ins(%cst : f32) outs(%101 : tensor<1x2x?x1xf32>) -> tensor<1x2x?x1xf32>
    %103 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%100 : tensor<1x2x?x?xf32>) outs(%102 : tensor<1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.addf %in, %out : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map7, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%100, %103 : tensor<1x2x?x?xf32>, tensor<1x2x?x1xf32>) outs(%92 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.divf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %105 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%92 : tensor<1x2x?x?xf32>) {
    ^bb0(%out: f32):
      %173 = linalg.index 1 : index
      %174 = linalg.index 2 : index
      %175 = linalg.index 3 : index
      %176 = arith.cmpi eq, %dim, %c1 : index
      %177 = arith.select %176, %c0, %174 : index
      %178 = arith.select %176, %c0, %175 : index
      %extracted = tensor.extract %104[%c0, %173, %177, %178] : tensor<1x2x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x?xf32>
    cf.assert %73, "must have at most one inferred (negative) dimension"
    %from_elements_34 = tensor.from_elements %c2_i64, %76, %76 : tensor<3xi64>
    %reshape_35 = tensor.reshape %105(%from_elements_34) : (tensor<1x2x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
    cf.assert %1, "unimplemented: dynamic negative broadcast sizes"
    %106 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%58 : tensor<1x2x?x8xf32>) {
    ^bb0(%out: f32):
      %173 = linalg.index 1 : index
      %174 = linalg.index 2 : index
      %175 = linalg.index 3 : index
      %176 = arith.cmpi eq, %dim, %c1 : index
      %177 = arith.select %176, %c0, %174 : index
      %extracted = tensor.extract %transposed_28[%c0, %173, %177, %175] : tensor<1x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x?x8xf32>
    %collapsed_36 = tensor.collapse_shape %106 [[0, 1], [2], [3]] : tensor<1x2x?x8xf32> into tensor<2x?x8xf32>
    %107 = arith.cmpi eq, %76, %0 : i64
    cf.assert %107, "mismatching contracting dimension"
    %108 = tensor.empty(%77) : tensor<2x?x8xf32>
    %109 = linalg.fill ins(%cst : f32) outs(%108 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %110 = linalg.batch_matmul ins(%reshape_35, %collapsed_36 : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%109 : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
    %expanded_37 = tensor.expand_shape %110 [[0, 1], [2], [3]] output_shape [1, 2, %77, 8] : tensor<2x?x8xf32> into tensor<1x2x?x8xf32>
    %111 = tensor.empty(%77) : tensor<1x?x2x8xf32>
    %transposed_38 = linalg.transpose ins(%expanded_37 : tensor<1x2x?x8xf32>) outs(%111 : tensor<1x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    %112 = arith.select %66, %c1_i64, %0 : i64
    %113 = arith.cmpi sle, %70, %c1_i64 : i64
    cf.assert %113, "must have at most one inferred (negative) dimension"
    %114 = arith.muli %76, %c16_i64 : i64
    %115 = arith.divsi %114, %112 : i64
    %116 = arith.select %66, %115, %0 : i64
    %from_elements_39 = tensor.from_elements %c1_i64, %116, %115 : tensor<3xi64>
    %reshape_40 = tensor.reshape %transposed_38(%from_elements_39) : (tensor<1x?x2x8xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
    %117 = tensor.empty() : tensor<16x16xf32>
    %transposed_41 = linalg.transpose ins(%arg4 : tensor<16x16xf32>) outs(%117 : tensor<16x16xf32>) permutation = [1, 0] 
    %collapsed_42 = tensor.collapse_shape %reshape_40 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %118 = arith.index_cast %116 : i64 to index
    %119 = tensor.empty(%118) : tensor<?x16xf32>
    %120 = linalg.fill ins(%cst : f32) outs(%119 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %121 = linalg.matmul ins(%collapsed_42, %transposed_41 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%120 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_43 = tensor.expand_shape %121 [[0, 1], [2]] output_shape [1, %118, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %122 = arith.cmpi eq, %118, %dim : index
    cf.assert %122, "mismatched size for broadcast"
    %123 = tensor.empty(%118) : tensor<1x?x16xf32>
    %124 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_43, %5 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.addf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %125 = tensor.empty(%118) : tensor<1x?x16xf64>
    %126 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<1x?x16xf32>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %173 = arith.extf %in : f32 to f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %127 = tensor.empty(%118) : tensor<1x?x1xf64>
    %128 = linalg.fill ins(%cst_1 : f64) outs(%127 : tensor<1x?x1xf64>) -> tensor<1x?x1xf64>
    %129 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%126 : tensor<1x?x16xf64>) outs(%128 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %130 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129 : tensor<1x?x1xf64>) outs(%127 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %131 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %130 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.subf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %132 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %131 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.mulf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %133 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%132 : tensor<1x?x16xf64>) outs(%128 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %134 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<1x?x1xf64>) outs(%127 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %135 = tensor.empty(%118) : tensor<1x?x1xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<1x?x1xf64>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %173 = arith.truncf %in : f64 to f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %137 = linalg.fill ins(%cst : f32) outs(%135 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%124 : tensor<1x?x16xf32>) outs(%137 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.addf %in, %out : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %139 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.divf %in, %cst_12 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.truncf %cst_8 : f64 to f32
      %174 = arith.addf %in, %173 : f32
      linalg.yield %174 : f32
    } -> tensor<1x?x1xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = math.rsqrt %in : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %142 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %139 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.subf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %143 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %141 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map13, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %arg5 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %145 = tensor.empty() : tensor<16x64xf32>
    %transposed_44 = linalg.transpose ins(%arg6 : tensor<64x16xf32>) outs(%145 : tensor<16x64xf32>) permutation = [1, 0] 
    %collapsed_45 = tensor.collapse_shape %144 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %146 = tensor.empty(%118) : tensor<?x64xf32>
    %147 = linalg.fill ins(%cst : f32) outs(%146 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %148 = linalg.matmul ins(%collapsed_45, %transposed_44 : tensor<?x16xf32>, tensor<16x64xf32>) outs(%147 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %expanded_46 = tensor.expand_shape %148 [[0, 1], [2]] output_shape [1, %118, 64] : tensor<?x64xf32> into tensor<1x?x64xf32>
    %149 = tensor.empty(%118) : tensor<1x?x64xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_46 : tensor<1x?x64xf32>) outs(%149 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.divf %in, %cst_13 : f32
      %174 = math.erf %173 : f32
      %175 = arith.addf %174, %cst_0 : f32
      %176 = arith.mulf %175, %cst_3 : f32
      %177 = arith.mulf %in, %176 : f32
      linalg.yield %177 : f32
    } -> tensor<1x?x64xf32>
    %151 = tensor.empty() : tensor<64x16xf32>
    %transposed_47 = linalg.transpose ins(%arg7 : tensor<16x64xf32>) outs(%151 : tensor<64x16xf32>) permutation = [1, 0] 
    %collapsed_48 = tensor.collapse_shape %150 [[0, 1], [2]] : tensor<1x?x64xf32> into tensor<?x64xf32>
    %152 = linalg.matmul ins(%collapsed_48, %transposed_47 : tensor<?x64xf32>, tensor<64x16xf32>) outs(%120 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %expanded_49 = tensor.expand_shape %152 [[0, 1], [2]] output_shape [1, %118, 16] : tensor<?x16xf32> into tensor<1x?x16xf32>
    %153 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_49, %124 : tensor<1x?x16xf32>, tensor<1x?x16xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.addf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %154 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<1x?x16xf32>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %173 = arith.extf %in : f32 to f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %155 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%154 : tensor<1x?x16xf64>) outs(%128 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %156 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155 : tensor<1x?x1xf64>) outs(%127 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %157 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%154, %156 : tensor<1x?x16xf64>, tensor<1x?x1xf64>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.subf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %158 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157, %157 : tensor<1x?x16xf64>, tensor<1x?x16xf64>) outs(%125 : tensor<1x?x16xf64>) {
    ^bb0(%in: f64, %in_53: f64, %out: f64):
      %173 = arith.mulf %in, %in_53 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x16xf64>
    %159 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%158 : tensor<1x?x16xf64>) outs(%128 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.addf %in, %out : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %160 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x?x1xf64>) outs(%127 : tensor<1x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %173 = arith.divf %in, %cst_11 : f64
      linalg.yield %173 : f64
    } -> tensor<1x?x1xf64>
    %161 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160 : tensor<1x?x1xf64>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %173 = arith.truncf %in : f64 to f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %162 = linalg.generic {indexing_maps = [#map3, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%153 : tensor<1x?x16xf32>) outs(%137 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.addf %in, %out : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %163 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.divf %in, %cst_12 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %164 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = arith.truncf %cst_8 : f64 to f32
      %174 = arith.addf %in, %173 : f32
      linalg.yield %174 : f32
    } -> tensor<1x?x1xf32>
    %165 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<1x?x1xf32>) outs(%135 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %173 = math.rsqrt %in : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %163 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.subf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %167 = linalg.generic {indexing_maps = [#map3, #map12, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %165 : tensor<1x?x16xf32>, tensor<1x?x1xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %168 = linalg.generic {indexing_maps = [#map3, #map13, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167, %arg8 : tensor<1x?x16xf32>, tensor<16xf32>) outs(%123 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_53: f32, %out: f32):
      %173 = arith.mulf %in, %in_53 : f32
      linalg.yield %173 : f32
    } -> tensor<1x?x16xf32>
    %169 = tensor.empty() : tensor<16x32xf32>
    %transposed_50 = linalg.transpose ins(%arg1 : tensor<32x16xf32>) outs(%169 : tensor<16x32xf32>) permutation = [1, 0] 
    %collapsed_51 = tensor.collapse_shape %168 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>
    %170 = tensor.empty(%118) : tensor<?x32xf32>
    %171 = linalg.fill ins(%cst : f32) outs(%170 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %172 = linalg.matmul ins(%collapsed_51, %transposed_50 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%171 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %expanded_52 = tensor.expand_shape %172 [[0, 1], [2]] output_shape [1, %118, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %expanded_52 : tensor<1x?x32xf32>
  }
}

