#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (0, d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
#map10 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1) -> (d0)>
#map15 = affine_map<(d0, d1) -> (d1)>
#map16 = affine_map<(d0, d1) -> (d0, 0)>
#map17 = affine_map<(d0, d1) -> (0, d1)>
#map18 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d1, 0, d3)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map21 = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, d3)>
#map22 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3, d5)>
#map23 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
#map24 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map26 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map27 = affine_map<(d0, d1, d2, d3) -> ()>
#map28 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map29 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map30 = affine_map<(d0, d1, d2, d3, d4) -> (0, d2, d3, d4)>
#map31 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
#map32 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map33 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3)>
#map34 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, 0)>
#map35 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map36 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map37 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map38 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "llama", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<32x32xf32> {kv.weight = "embed"}, %arg1: tensor<32x32xf32> {kv.weight = "head"}, %arg2: tensor<48x32xf32> {kv.weight = "layers.0.down"}, %arg3: tensor<32x48xf32> {kv.weight = "layers.0.gate"}, %arg4: tensor<32x16xf32> {kv.weight = "layers.0.k"}, %arg5: tensor<32xf32> {kv.weight = "layers.0.norm1"}, %arg6: tensor<32xf32> {kv.weight = "layers.0.norm2"}, %arg7: tensor<32x32xf32> {kv.weight = "layers.0.o"}, %arg8: tensor<32x32xf32> {kv.weight = "layers.0.q"}, %arg9: tensor<32x48xf32> {kv.weight = "layers.0.up"}, %arg10: tensor<32x16xf32> {kv.weight = "layers.0.v"}, %arg11: tensor<48x32xf32> {kv.weight = "layers.1.down"}, %arg12: tensor<32x48xf32> {kv.weight = "layers.1.gate"}, %arg13: tensor<32x16xf32> {kv.weight = "layers.1.k"}, %arg14: tensor<32xf32> {kv.weight = "layers.1.norm1"}, %arg15: tensor<32xf32> {kv.weight = "layers.1.norm2"}, %arg16: tensor<32x32xf32> {kv.weight = "layers.1.o"}, %arg17: tensor<32x32xf32> {kv.weight = "layers.1.q"}, %arg18: tensor<32x48xf32> {kv.weight = "layers.1.up"}, %arg19: tensor<32x16xf32> {kv.weight = "layers.1.v"}, %arg20: tensor<32xf32> {kv.weight = "norm"}, %arg21: tensor<1x?xi32> {kv.name = "tokens"}) -> (tensor<1x?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c31 = arith.constant 31 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %cst_1 = arith.constant dense<32> : tensor<i32>
    %cst_2 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_3 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_4 = arith.constant dense<4.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense<1.000000e+04> : tensor<f32>
    %cst_6 = arith.constant dense<0.353553385> : tensor<f32>
    %cst_7 = arith.constant dense<true> : tensor<i1>
    %cst_8 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %cst_9 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_10 = arith.constant dense<false> : tensor<i1>
    %cst_11 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_12 = arith.constant dense<0> : tensor<i32>
    %cst_13 = arith.constant dense<1> : tensor<i32>
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg21, %c1 : tensor<1x?xi32>
    %0 = arith.cmpi sge, %dim, %c1 : index
    cf.assert %0, "Expected value >= 1 for dimension variable 'T'"
    %1 = arith.subi %c64, %dim : index
    %2 = arith.cmpi sge, %1, %c0 : index
    cf.assert %2, "Expected '- T + 64' to be greater or equal to 0, but found {0}"
    %3 = tensor.empty(%dim) : tensor<?xi32>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<?xi32>) {
    ^bb0(%out: i32):
      %248 = linalg.index 0 : index
      %249 = arith.index_cast %248 : index to i32
      linalg.yield %249 : i32
    } -> tensor<?xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_13 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%5, %4 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_38: i32, %out: i32):
      %248 = arith.muli %in, %in_38 : i32
      linalg.yield %248 : i32
    } -> tensor<?xi32>
    %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_12 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%7, %6 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_38: i32, %out: i32):
      %248 = arith.addi %in, %in_38 : i32
      linalg.yield %248 : i32
    } -> tensor<?xi32>
    %9 = tensor.empty(%dim) : tensor<1x?xi32>
    %10 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %11 = tensor.empty(%dim) : tensor<1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg21, %10 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_38: i32, %out: i1):
      %248 = arith.cmpi slt, %in, %in_38 : i32
      linalg.yield %248 : i1
    } -> tensor<1x?xi1>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg21, %13 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_38: i32, %out: i32):
      %248 = arith.addi %in, %in_38 : i32
      linalg.yield %248 : i32
    } -> tensor<1x?xi32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12, %14, %arg21 : tensor<1x?xi1>, tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i1, %in_38: i32, %in_39: i32, %out: i32):
      %248 = arith.select %in, %in_38, %in_39 : i32
      linalg.yield %248 : i32
    } -> tensor<1x?xi32>
    %16 = tensor.empty(%dim) : tensor<1x?x1xi32>
    %17 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?xi32>) outs(%16 : tensor<1x?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?x1xi32>
    %18 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %19 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%out: f32):
      %248 = linalg.index 1 : index
      %249 = linalg.index 2 : index
      %extracted = tensor.extract %17[%c0, %248, %c0] : tensor<1x?x1xi32>
      %250 = arith.index_cast %extracted : i32 to index
      %251 = arith.maxsi %250, %c0 : index
      %252 = arith.minsi %251, %c31 : index
      %extracted_38 = tensor.extract %arg0[%252, %249] : tensor<32x32xf32>
      linalg.yield %extracted_38 : f32
    } -> tensor<1x?x32xf32>
    %20 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %21 = tensor.empty(%dim) : tensor<1x?xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%21 : tensor<1x?xf32>) -> tensor<1x?xf32>
    %23 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?xf32>
    %24 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.rsqrt %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %31 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %31 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %33 = tensor.empty() : tensor<1x1x32xf32>
    %34 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %35 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %37 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x?x32xf32>) -> tensor<1x?x32xf32>
    %38 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg8 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %from_elements = tensor.from_elements %c1, %dim, %c4, %c8 : tensor<4xindex>
    %reshape = tensor.reshape %38(%from_elements) : (tensor<1x?x32xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %39 = tensor.empty(%dim) : tensor<?x1xi32>
    %40 = linalg.generic {indexing_maps = [#map14, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %41 = tensor.empty() : tensor<4xi32>
    %42 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%41 : tensor<4xi32>) {
    ^bb0(%out: i32):
      %248 = linalg.index 0 : index
      %249 = arith.index_cast %248 : index to i32
      linalg.yield %249 : i32
    } -> tensor<4xi32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%42 : tensor<4xi32>) outs(%41 : tensor<4xi32>) {
    ^bb0(%in: i32, %out: i32):
      %248 = arith.subi %c0_i32, %in : i32
      linalg.yield %248 : i32
    } -> tensor<4xi32>
    %44 = tensor.empty() : tensor<4xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%43 : tensor<4xi32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: i32, %out: f32):
      %248 = arith.sitofp %in : i32 to f32
      linalg.yield %248 : f32
    } -> tensor<4xf32>
    %46 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%45, %46 : tensor<4xf32>, tensor<4xf32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<4xf32>
    %48 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_5 : tensor<f32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%48, %47 : tensor<4xf32>, tensor<4xf32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = math.powf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<4xf32>
    %50 = tensor.empty(%dim) : tensor<?x1xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<?x1xi32>) outs(%50 : tensor<?x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %248 = arith.sitofp %in : i32 to f32
      linalg.yield %248 : f32
    } -> tensor<?x1xf32>
    %52 = tensor.empty() : tensor<1x4xf32>
    %53 = linalg.generic {indexing_maps = [#map15, #map3], iterator_types = ["parallel", "parallel"]} ins(%49 : tensor<4xf32>) outs(%52 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %54 = tensor.empty(%dim) : tensor<?x4xf32>
    %55 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<?x1xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %56 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%53 : tensor<1x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %57 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%55, %56 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<?x4xf32>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<?x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.cos %in : f32
      linalg.yield %248 : f32
    } -> tensor<?x4xf32>
    %59 = tensor.empty(%dim) : tensor<?x1x4xf32>
    %60 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<?x4xf32>) outs(%59 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<?x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.sin %in : f32
      linalg.yield %248 : f32
    } -> tensor<?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<?x4xf32>) outs(%59 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %extracted_slice = tensor.extract_slice %reshape[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_14 = tensor.extract_slice %reshape[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %63 = tensor.empty(%dim) : tensor<1x?x1x4xf32>
    %64 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<?x1x4xf32>) outs(%63 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x4xf32>
    %65 = tensor.empty(%dim) : tensor<1x?x4x4xf32>
    %66 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<1x?x1x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x4xf32>
    %67 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %68 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<?x1x4xf32>) outs(%63 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x4xf32>
    %69 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<1x?x1x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x4xf32>
    %70 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_14, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %71 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %70 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %72 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_14, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %73 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %74 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %concat = tensor.concat dim(3) %71, %74 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %75 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %76 = linalg.fill ins(%cst_0 : f32) outs(%75 : tensor<1x?x16xf32>) -> tensor<1x?x16xf32>
    %77 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg4 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x16xf32>
    %from_elements_15 = tensor.from_elements %c1, %dim, %c2, %c8 : tensor<4xindex>
    %reshape_16 = tensor.reshape %77(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %extracted_slice_17 = tensor.extract_slice %reshape_16[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_18 = tensor.extract_slice %reshape_16[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %78 = tensor.empty(%dim) : tensor<1x?x2x4xf32>
    %79 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<1x?x1x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %80 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %81 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<1x?x1x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %82 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %83 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%80, %82 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %84 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %85 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %86 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%84, %85 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_19 = tensor.concat dim(3) %83, %86 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %87 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg10 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x16xf32>
    %reshape_20 = tensor.reshape %87(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %from_elements_21 = tensor.from_elements %c1, %dim, %c2, %c2, %c8 : tensor<5xindex>
    %reshape_22 = tensor.reshape %concat(%from_elements_21) : (tensor<1x?x4x8xf32>, tensor<5xindex>) -> tensor<1x?x2x2x8xf32>
    %dim_23 = tensor.dim %concat_19, %c1 : tensor<1x?x2x8xf32>
    %88 = tensor.empty(%dim, %dim_23) : tensor<1x2x?x2x?xf32>
    %89 = linalg.fill ins(%cst_0 : f32) outs(%88 : tensor<1x2x?x2x?xf32>) -> tensor<1x2x?x2x?xf32>
    %90 = linalg.generic {indexing_maps = [#map22, #map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_22, %concat_19 : tensor<1x?x2x2x8xf32>, tensor<1x?x2x8xf32>) outs(%89 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x2x?x2x?xf32>
    %91 = tensor.empty(%dim, %dim) : tensor<1x2x?x2x?xf32>
    %92 = linalg.generic {indexing_maps = [#map25, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%91 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x2x?xf32>
    %93 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%90, %92 : tensor<1x2x?x2x?xf32>, tensor<1x2x?x2x?xf32>) outs(%88 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x2x?x2x?xf32>
    %94 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xi1>
    %95 = linalg.generic {indexing_maps = [#map27, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<i1>) outs(%94 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %96 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %97 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_7 : tensor<i1>) outs(%96 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %98 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %99 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%98 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %248 = linalg.index 0 : index
      %249 = arith.index_cast %248 : index to i32
      linalg.yield %249 : i32
    } -> tensor<?x?xi32>
    %100 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i32>) outs(%98 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %101 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%99, %100 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%98 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %in_38: i32, %out: i32):
      %248 = arith.addi %in, %in_38 : i32
      linalg.yield %248 : i32
    } -> tensor<?x?xi32>
    %102 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%98 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %248 = linalg.index 1 : index
      %249 = arith.index_cast %248 : index to i32
      linalg.yield %249 : i32
    } -> tensor<?x?xi32>
    %103 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%101, %102 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%96 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_38: i32, %out: i1):
      %248 = arith.cmpi sge, %in, %in_38 : i32
      linalg.yield %248 : i1
    } -> tensor<?x?xi1>
    %104 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_10 : tensor<i1>) outs(%96 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%103, %97, %104 : tensor<?x?xi1>, tensor<?x?xi1>, tensor<?x?xi1>) outs(%96 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_38: i1, %in_39: i1, %out: i1):
      %248 = arith.select %in, %in_38, %in_39 : i1
      linalg.yield %248 : i1
    } -> tensor<?x?xi1>
    %106 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %107 = linalg.generic {indexing_maps = [#map28, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%105 : tensor<?x?xi1>) outs(%106 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x?x?xi1>
    %108 = linalg.generic {indexing_maps = [#map29, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%107 : tensor<1x1x?x?xi1>) outs(%94 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %109 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%95, %108 : tensor<1x2x?x?xi1>, tensor<1x2x?x?xi1>) outs(%94 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %in_38: i1, %out: i1):
      %248 = arith.andi %in, %in_38 : i1
      linalg.yield %248 : i1
    } -> tensor<1x2x?x?xi1>
    %110 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xf32>
    %111 = linalg.generic {indexing_maps = [#map27, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%110 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x?xf32>
    %112 = tensor.empty(%dim, %dim) : tensor<2x1x2x?x?xi1>
    %113 = linalg.generic {indexing_maps = [#map30, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%109 : tensor<1x2x?x?xi1>) outs(%112 : tensor<2x1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x2x?x?xi1>
    %114 = tensor.empty(%dim, %dim) : tensor<2x1x2x?x?xf32>
    %115 = linalg.generic {indexing_maps = [#map30, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%111 : tensor<1x2x?x?xf32>) outs(%114 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %116 = tensor.empty(%dim, %dim_23) : tensor<2x1x2x?x?xf32>
    %117 = linalg.generic {indexing_maps = [#map31, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%93 : tensor<1x2x?x2x?xf32>) outs(%116 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %118 = linalg.generic {indexing_maps = [#map26, #map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%113, %117, %115 : tensor<2x1x2x?x?xi1>, tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%116 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_38: f32, %in_39: f32, %out: f32):
      %248 = arith.select %in, %in_38, %in_39 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %119 = tensor.empty(%dim) : tensor<2x1x2x?xf32>
    %120 = linalg.fill ins(%cst : f32) outs(%119 : tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32>
    %121 = linalg.generic {indexing_maps = [#map26, #map32], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%118 : tensor<2x1x2x?x?xf32>) outs(%120 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.maximumf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %122 = linalg.generic {indexing_maps = [#map27, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%119 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?xf32>
    %123 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%122, %121 : tensor<2x1x2x?xf32>, tensor<2x1x2x?xf32>) outs(%119 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.maximumf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %124 = tensor.empty(%dim) : tensor<2x1x2x?x1xf32>
    %125 = linalg.generic {indexing_maps = [#map33, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%123 : tensor<2x1x2x?xf32>) outs(%124 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %126 = linalg.generic {indexing_maps = [#map34, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%125 : tensor<2x1x2x?x1xf32>) outs(%114 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %127 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%118, %126 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%116 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %128 = linalg.generic {indexing_maps = [#map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%127 : tensor<2x1x2x?x?xf32>) outs(%116 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.exp %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %129 = linalg.fill ins(%cst_0 : f32) outs(%119 : tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32>
    %130 = linalg.generic {indexing_maps = [#map26, #map32], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%128 : tensor<2x1x2x?x?xf32>) outs(%129 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %131 = linalg.generic {indexing_maps = [#map33, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%130 : tensor<2x1x2x?xf32>) outs(%124 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %132 = linalg.generic {indexing_maps = [#map34, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%131 : tensor<2x1x2x?x1xf32>) outs(%114 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %133 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%128, %132 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%116 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %134 = tensor.empty(%dim) : tensor<1x2x8x2x?xf32>
    %135 = linalg.fill ins(%cst_0 : f32) outs(%134 : tensor<1x2x8x2x?xf32>) -> tensor<1x2x8x2x?xf32>
    %136 = linalg.generic {indexing_maps = [#map35, #map36, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_20, %133 : tensor<1x?x2x8xf32>, tensor<2x1x2x?x?xf32>) outs(%135 : tensor<1x2x8x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x2x8x2x?xf32>
    %137 = tensor.empty(%dim) : tensor<2x1x?x2x8xf32>
    %138 = linalg.generic {indexing_maps = [#map37, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%136 : tensor<1x2x8x2x?xf32>) outs(%137 : tensor<2x1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x?x2x8xf32>
    %139 = tensor.empty(%dim) : tensor<1x?x2x2x8xf32>
    %140 = linalg.generic {indexing_maps = [#map38, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%138 : tensor<2x1x?x2x8xf32>) outs(%139 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %from_elements_24 = tensor.from_elements %c1, %dim, %c32 : tensor<3xindex>
    %reshape_25 = tensor.reshape %140(%from_elements_24) : (tensor<1x?x2x2x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %141 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_25, %arg7 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %142 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %141 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %143 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %142 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %144 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%143 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?xf32>
    %145 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %146 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %147 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %148 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.rsqrt %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %150 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %149 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %151 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %152 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %153 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %152 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %154 = tensor.empty(%dim) : tensor<1x?x48xf32>
    %155 = linalg.fill ins(%cst_0 : f32) outs(%154 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %156 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%153, %arg3 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%155 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x48xf32>
    %157 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.negf %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %158 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.exp %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %159 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %160 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %158 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %161 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %160 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %162 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %161 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %163 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%153, %arg9 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%155 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x48xf32>
    %164 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162, %163 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %165 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%164, %arg2 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %166 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %165 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %167 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %166 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %168 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%167 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?xf32>
    %169 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %170 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%169, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %171 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %172 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.rsqrt %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %173 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %174 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %173 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %175 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %176 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %177 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%174, %176 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %178 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%177, %arg17 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %reshape_26 = tensor.reshape %178(%from_elements) : (tensor<1x?x32xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %extracted_slice_27 = tensor.extract_slice %reshape_26[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_28 = tensor.extract_slice %reshape_26[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %179 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %180 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %181 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%179, %180 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %182 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %183 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %184 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%182, %183 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x4x4xf32>
    %concat_29 = tensor.concat dim(3) %181, %184 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %185 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%177, %arg13 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x16xf32>
    %reshape_30 = tensor.reshape %185(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %extracted_slice_31 = tensor.extract_slice %reshape_30[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_32 = tensor.extract_slice %reshape_30[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %186 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %187 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_32, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %188 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%186, %187 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %189 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_32, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %190 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %191 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%189, %190 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_33 = tensor.concat dim(3) %188, %191 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %192 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%177, %arg19 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x16xf32>
    %reshape_34 = tensor.reshape %192(%from_elements_15) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %reshape_35 = tensor.reshape %concat_29(%from_elements_21) : (tensor<1x?x4x8xf32>, tensor<5xindex>) -> tensor<1x?x2x2x8xf32>
    %dim_36 = tensor.dim %concat_33, %c1 : tensor<1x?x2x8xf32>
    %193 = tensor.empty(%dim, %dim_36) : tensor<1x2x?x2x?xf32>
    %194 = linalg.fill ins(%cst_0 : f32) outs(%193 : tensor<1x2x?x2x?xf32>) -> tensor<1x2x?x2x?xf32>
    %195 = linalg.generic {indexing_maps = [#map22, #map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_35, %concat_33 : tensor<1x?x2x2x8xf32>, tensor<1x?x2x8xf32>) outs(%194 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x2x?x2x?xf32>
    %196 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%195, %92 : tensor<1x2x?x2x?xf32>, tensor<1x2x?x2x?xf32>) outs(%193 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x2x?x2x?xf32>
    %197 = tensor.empty(%dim, %dim_36) : tensor<2x1x2x?x?xf32>
    %198 = linalg.generic {indexing_maps = [#map31, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%196 : tensor<1x2x?x2x?xf32>) outs(%197 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %199 = linalg.generic {indexing_maps = [#map26, #map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%113, %198, %115 : tensor<2x1x2x?x?xi1>, tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%197 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_38: f32, %in_39: f32, %out: f32):
      %248 = arith.select %in, %in_38, %in_39 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %200 = linalg.generic {indexing_maps = [#map26, #map32], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%199 : tensor<2x1x2x?x?xf32>) outs(%120 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.maximumf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %201 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%122, %200 : tensor<2x1x2x?xf32>, tensor<2x1x2x?xf32>) outs(%119 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.maximumf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %202 = linalg.generic {indexing_maps = [#map33, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%201 : tensor<2x1x2x?xf32>) outs(%124 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %203 = linalg.generic {indexing_maps = [#map34, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%202 : tensor<2x1x2x?x1xf32>) outs(%114 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %204 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%199, %203 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%197 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.subf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %205 = linalg.generic {indexing_maps = [#map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%204 : tensor<2x1x2x?x?xf32>) outs(%197 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.exp %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %206 = linalg.generic {indexing_maps = [#map26, #map32], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%205 : tensor<2x1x2x?x?xf32>) outs(%129 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?xf32>
    %207 = linalg.generic {indexing_maps = [#map33, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%206 : tensor<2x1x2x?xf32>) outs(%124 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %208 = linalg.generic {indexing_maps = [#map34, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%207 : tensor<2x1x2x?x1xf32>) outs(%114 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %209 = linalg.generic {indexing_maps = [#map26, #map26, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%205, %208 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%197 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<2x1x2x?x?xf32>
    %210 = linalg.generic {indexing_maps = [#map35, #map36, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_34, %209 : tensor<1x?x2x8xf32>, tensor<2x1x2x?x?xf32>) outs(%135 : tensor<1x2x8x2x?xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x2x8x2x?xf32>
    %211 = linalg.generic {indexing_maps = [#map37, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%210 : tensor<1x2x8x2x?xf32>) outs(%137 : tensor<2x1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x?x2x8xf32>
    %212 = linalg.generic {indexing_maps = [#map38, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%211 : tensor<2x1x?x2x8xf32>) outs(%139 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %reshape_37 = tensor.reshape %212(%from_elements_24) : (tensor<1x?x2x2x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %213 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_37, %arg16 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %214 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %213 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %215 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214, %214 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %216 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%215 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?xf32>
    %217 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %218 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%217, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %219 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %220 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%219 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.rsqrt %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %221 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%220 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %222 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214, %221 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %223 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %224 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %225 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222, %224 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %226 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%225, %arg12 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%155 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x48xf32>
    %227 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226 : tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.negf %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %228 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%227 : tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.exp %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %229 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %228 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %230 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %229 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %231 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226, %230 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %232 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%225, %arg18 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%155 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x48xf32>
    %233 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %232 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%154 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x48xf32>
    %234 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%233, %arg11 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    %235 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214, %234 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %236 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%235, %235 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %237 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%236 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = arith.addf %out, %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?xf32>
    %238 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%237 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %239 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%238, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.divf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %240 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%239, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.addf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %241 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%240 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %248 = math.rsqrt %in : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x1xf32>
    %242 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%241 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %243 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%235, %242 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %244 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %245 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%244 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %246 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%243, %245 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      linalg.yield %248 : f32
    } -> tensor<1x?x32xf32>
    %247 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%246, %arg1 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %248 = arith.mulf %in, %in_38 : f32
      %249 = arith.addf %out, %248 : f32
      linalg.yield %249 : f32
    } -> tensor<1x?x32xf32>
    return %247 : tensor<1x?x32xf32>
  }
}

