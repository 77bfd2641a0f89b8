#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> ()>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2) -> (0, d1, 0)>
#map11 = affine_map<(d0, d1, d2) -> (d2)>
#map12 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map16 = affine_map<(d0, d1) -> (d0, 0)>
#map17 = affine_map<(d0, d1) -> (0, d1)>
#map18 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d1, 0, d3)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map21 = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, d3)>
#map22 = affine_map<(d0, d1, d2, d3) -> ()>
#map23 = affine_map<(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>
#map24 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
#map26 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#map27 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map28 = affine_map<() -> ()>
#map29 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map30 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map31 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2)>
#map32 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, 0)>
#map33 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d2)>
#map34 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map35 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map36 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#map37 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#map38 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map39 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map40 = affine_map<(d0, d1) -> (d1, d0)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "gemma", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<32x32xf32> {kv.weight = "embed"}, %arg1: tensor<32xf32> {kv.weight = "layers.0.after"}, %arg2: tensor<32xf32> {kv.weight = "layers.0.after_mlp"}, %arg3: tensor<32xf32> {kv.weight = "layers.0.before"}, %arg4: tensor<32xf32> {kv.weight = "layers.0.before_mlp"}, %arg5: tensor<48x32xf32> {kv.weight = "layers.0.down"}, %arg6: tensor<32x48xf32> {kv.weight = "layers.0.gate"}, %arg7: tensor<32x2x8xf32> {kv.weight = "layers.0.k"}, %arg8: tensor<4x8x32xf32> {kv.weight = "layers.0.o"}, %arg9: tensor<32x4x8xf32> {kv.weight = "layers.0.q"}, %arg10: tensor<32x48xf32> {kv.weight = "layers.0.up"}, %arg11: tensor<32x2x8xf32> {kv.weight = "layers.0.v"}, %arg12: tensor<32xf32> {kv.weight = "layers.1.after"}, %arg13: tensor<32xf32> {kv.weight = "layers.1.after_mlp"}, %arg14: tensor<32xf32> {kv.weight = "layers.1.before"}, %arg15: tensor<32xf32> {kv.weight = "layers.1.before_mlp"}, %arg16: tensor<48x32xf32> {kv.weight = "layers.1.down"}, %arg17: tensor<32x48xf32> {kv.weight = "layers.1.gate"}, %arg18: tensor<32x2x8xf32> {kv.weight = "layers.1.k"}, %arg19: tensor<4x8x32xf32> {kv.weight = "layers.1.o"}, %arg20: tensor<32x4x8xf32> {kv.weight = "layers.1.q"}, %arg21: tensor<32x48xf32> {kv.weight = "layers.1.up"}, %arg22: tensor<32x2x8xf32> {kv.weight = "layers.1.v"}, %arg23: tensor<32xf32> {kv.weight = "norm"}, %arg24: tensor<1x?xi32> {kv.name = "tokens"}) -> (tensor<1x?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant -2.38197633E+38 : f32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %c31 = arith.constant 31 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %cst_2 = arith.constant dense<32> : tensor<i32>
    %cst_3 = arith.constant dense<5.65685415> : tensor<f32>
    %cst_4 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_6 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_7 = arith.constant dense<4.000000e+00> : tensor<f32>
    %cst_8 = arith.constant dense<1.000000e+04> : tensor<f32>
    %cst_9 = arith.constant dense<3.000000e-01> : tensor<f32>
    %cst_10 = arith.constant dense<5> : tensor<i32>
    %cst_11 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_12 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_13 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_14 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_15 = arith.constant dense<5.000000e+00> : tensor<f32>
    %cst_16 = arith.constant dense<0> : tensor<i32>
    %cst_17 = arith.constant dense<1> : tensor<i32>
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg24, %c1 : tensor<1x?xi32>
    %0 = arith.cmpi sge, %dim, %c1 : index
    cf.assert %0, "Expected value >= 1 for dimension variable 'T'"
    %1 = arith.subi %c64, %dim : index
    %2 = arith.cmpi sge, %1, %c0 : index
    cf.assert %2, "Expected '- T + 64' to be greater or equal to 0, but found {0}"
    %3 = tensor.empty(%dim) : tensor<?xi32>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<?xi32>) {
    ^bb0(%out: i32):
      %328 = linalg.index 0 : index
      %329 = arith.index_cast %328 : index to i32
      linalg.yield %329 : i32
    } -> tensor<?xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_17 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%5, %4 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_33: i32, %out: i32):
      %328 = arith.muli %in, %in_33 : i32
      linalg.yield %328 : i32
    } -> tensor<?xi32>
    %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_16 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%7, %6 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_33: i32, %out: i32):
      %328 = arith.addi %in, %in_33 : i32
      linalg.yield %328 : i32
    } -> tensor<?xi32>
    %9 = tensor.empty(%dim) : tensor<1x?xi32>
    %10 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_16 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %11 = tensor.empty(%dim) : tensor<1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg24, %10 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_33: i32, %out: i1):
      %328 = arith.cmpi slt, %in, %in_33 : i32
      linalg.yield %328 : i1
    } -> tensor<1x?xi1>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg24, %13 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_33: i32, %out: i32):
      %328 = arith.addi %in, %in_33 : i32
      linalg.yield %328 : i32
    } -> tensor<1x?xi32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12, %14, %arg24 : tensor<1x?xi1>, tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i1, %in_33: i32, %in_34: i32, %out: i32):
      %328 = arith.select %in, %in_33, %in_34 : i32
      linalg.yield %328 : i32
    } -> tensor<1x?xi32>
    %16 = tensor.empty(%dim) : tensor<1x?x1xi32>
    %17 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?xi32>) outs(%16 : tensor<1x?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?x1xi32>
    %18 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %19 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%out: f32):
      %328 = linalg.index 1 : index
      %329 = linalg.index 2 : index
      %extracted = tensor.extract %17[%c0, %328, %c0] : tensor<1x?x1xi32>
      %330 = arith.index_cast %extracted : i32 to index
      %331 = arith.maxsi %330, %c0 : index
      %332 = arith.minsi %331, %c31 : index
      %extracted_33 = tensor.extract %arg0[%332, %329] : tensor<32x32xf32>
      linalg.yield %extracted_33 : f32
    } -> tensor<1x?x32xf32>
    %20 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %21 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %20 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %22 = tensor.empty(%dim) : tensor<?x1xi32>
    %23 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?xi32>) outs(%22 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %24 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %25 = tensor.empty() : tensor<32xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg3 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %28 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %21 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %29 = tensor.empty(%dim) : tensor<1x?xf32>
    %30 = linalg.fill ins(%cst_1 : f32) outs(%29 : tensor<1x?xf32>) -> tensor<1x?xf32>
    %31 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%28 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %32 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %34 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %35 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %36 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %39 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %39 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %41 = tensor.empty() : tensor<1x1x32xf32>
    %42 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %43 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %43 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %45 = tensor.empty(%dim) : tensor<1x?x4x8xf32>
    %46 = linalg.fill ins(%cst_1 : f32) outs(%45 : tensor<1x?x4x8xf32>) -> tensor<1x?x4x8xf32>
    %47 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg9 : tensor<1x?x32xf32>, tensor<32x4x8xf32>) outs(%46 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x4x8xf32>
    %48 = tensor.empty() : tensor<4xi32>
    %49 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%48 : tensor<4xi32>) {
    ^bb0(%out: i32):
      %328 = linalg.index 0 : index
      %329 = arith.index_cast %328 : index to i32
      linalg.yield %329 : i32
    } -> tensor<4xi32>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%49 : tensor<4xi32>) outs(%48 : tensor<4xi32>) {
    ^bb0(%in: i32, %out: i32):
      %328 = arith.subi %c0_i32, %in : i32
      linalg.yield %328 : i32
    } -> tensor<4xi32>
    %51 = tensor.empty() : tensor<4xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%50 : tensor<4xi32>) outs(%51 : tensor<4xf32>) {
    ^bb0(%in: i32, %out: f32):
      %328 = arith.sitofp %in : i32 to f32
      linalg.yield %328 : f32
    } -> tensor<4xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_7 : tensor<f32>) outs(%51 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%52, %53 : tensor<4xf32>, tensor<4xf32>) outs(%51 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<4xf32>
    %55 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_8 : tensor<f32>) outs(%51 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%55, %54 : tensor<4xf32>, tensor<4xf32>) outs(%51 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = math.powf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<4xf32>
    %57 = tensor.empty(%dim) : tensor<?x1xf32>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<?x1xi32>) outs(%57 : tensor<?x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %328 = arith.sitofp %in : i32 to f32
      linalg.yield %328 : f32
    } -> tensor<?x1xf32>
    %59 = tensor.empty() : tensor<1x4xf32>
    %60 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<4xf32>) outs(%59 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %61 = tensor.empty(%dim) : tensor<?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%58 : tensor<?x1xf32>) outs(%61 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %63 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%60 : tensor<1x4xf32>) outs(%61 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4xf32>
    %64 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%62, %63 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%61 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<?x4xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%64 : tensor<?x4xf32>) outs(%61 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.cos %in : f32
      linalg.yield %328 : f32
    } -> tensor<?x4xf32>
    %66 = tensor.empty(%dim) : tensor<?x1x4xf32>
    %67 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<?x4xf32>) outs(%66 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %68 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%64 : tensor<?x4xf32>) outs(%61 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.sin %in : f32
      linalg.yield %328 : f32
    } -> tensor<?x4xf32>
    %69 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<?x4xf32>) outs(%66 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %extracted_slice = tensor.extract_slice %47[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_18 = tensor.extract_slice %47[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %70 = tensor.empty(%dim) : tensor<1x?x1x4xf32>
    %71 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<?x1x4xf32>) outs(%70 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x4xf32>
    %72 = tensor.empty(%dim) : tensor<1x?x4x4xf32>
    %73 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71 : tensor<1x?x1x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x4xf32>
    %74 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %75 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<?x1x4xf32>) outs(%70 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x4xf32>
    %76 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75 : tensor<1x?x1x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x4xf32>
    %77 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %76 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %78 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74, %77 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %79 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_18, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %80 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %76 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %81 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%79, %80 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %concat = tensor.concat dim(3) %78, %81 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %82 = linalg.generic {indexing_maps = [#map22, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%45 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x8xf32>
    %dim_19 = tensor.dim %concat, %c1 : tensor<1x?x4x8xf32>
    %83 = tensor.empty(%dim_19) : tensor<1x?x4x8xf32>
    %84 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat, %82 : tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) outs(%83 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x8xf32>
    %85 = tensor.empty(%dim) : tensor<1x?x2x8xf32>
    %86 = linalg.fill ins(%cst_1 : f32) outs(%85 : tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
    %87 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg7 : tensor<1x?x32xf32>, tensor<32x2x8xf32>) outs(%86 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x2x8xf32>
    %extracted_slice_20 = tensor.extract_slice %87[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_21 = tensor.extract_slice %87[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %88 = tensor.empty(%dim) : tensor<1x?x2x4xf32>
    %89 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71 : tensor<1x?x1x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %90 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %89 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %91 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75 : tensor<1x?x1x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %92 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21, %91 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %93 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90, %92 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %94 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_21, %89 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %95 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %91 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %96 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94, %95 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_22 = tensor.concat dim(3) %93, %96 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %97 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg11 : tensor<1x?x32xf32>, tensor<32x2x8xf32>) outs(%86 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x2x8xf32>
    %98 = tensor.empty(%dim) : tensor<1x?x2x2x8xf32>
    %99 = linalg.generic {indexing_maps = [#map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%concat_22 : tensor<1x?x2x8xf32>) outs(%98 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %from_elements = tensor.from_elements %c1, %dim, %c4, %c8 : tensor<4xindex>
    %reshape = tensor.reshape %99(%from_elements) : (tensor<1x?x2x2x8xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %100 = linalg.generic {indexing_maps = [#map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%97 : tensor<1x?x2x8xf32>) outs(%98 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %reshape_23 = tensor.reshape %100(%from_elements) : (tensor<1x?x2x2x8xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %101 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %102 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<1x?xi32>) outs(%101 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %103 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<?x1xi32>) outs(%101 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %104 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%102, %103 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%104 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_33: i32, %out: i1):
      %328 = arith.cmpi sle, %in, %in_33 : i32
      linalg.yield %328 : i1
    } -> tensor<?x?xi1>
    %106 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_10 : tensor<i32>) outs(%22 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %107 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%23, %106 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%22 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %in_33: i32, %out: i32):
      %328 = arith.subi %in, %in_33 : i32
      linalg.yield %328 : i32
    } -> tensor<?x1xi32>
    %108 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%107 : tensor<?x1xi32>) outs(%101 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %109 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%102, %108 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%104 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_33: i32, %out: i1):
      %328 = arith.cmpi sgt, %in, %in_33 : i32
      linalg.yield %328 : i1
    } -> tensor<?x?xi1>
    %110 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%105, %109 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%104 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_33: i1, %out: i1):
      %328 = arith.andi %in, %in_33 : i1
      linalg.yield %328 : i1
    } -> tensor<?x?xi1>
    %111 = tensor.empty(%dim_19, %dim) : tensor<1x4x?x?xf32>
    %112 = linalg.fill ins(%cst_1 : f32) outs(%111 : tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
    %113 = linalg.generic {indexing_maps = [#map25, #map26, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%84, %reshape : tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) outs(%112 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x4x?x?xf32>
    %114 = tensor.empty(%dim, %dim) : tensor<1x4x?x?xf32>
    %115 = linalg.generic {indexing_maps = [#map22, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %116 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%113, %115 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%111 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %117 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%116 : tensor<1x4x?x?xf32>) outs(%111 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.tanh %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %118 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%115, %117 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %119 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %120 = linalg.generic {indexing_maps = [#map27, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110 : tensor<?x?xi1>) outs(%119 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x?x?xi1>
    %121 = tensor.empty() : tensor<f32>
    %122 = linalg.generic {indexing_maps = [#map28], iterator_types = []} outs(%121 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %123 = tensor.empty(%dim, %dim) : tensor<1x4x?x?xi1>
    %124 = linalg.generic {indexing_maps = [#map29, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%120 : tensor<1x1x?x?xi1>) outs(%123 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x4x?x?xi1>
    %125 = linalg.generic {indexing_maps = [#map22, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%122 : tensor<f32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %126 = linalg.generic {indexing_maps = [#map20, #map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%124, %118, %125 : tensor<1x4x?x?xi1>, tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_33: f32, %in_34: f32, %out: f32):
      %328 = arith.select %in, %in_33, %in_34 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %127 = tensor.empty(%dim) : tensor<1x4x?xf32>
    %128 = linalg.fill ins(%cst : f32) outs(%127 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %129 = linalg.generic {indexing_maps = [#map20, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%126 : tensor<1x4x?x?xf32>) outs(%128 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.maximumf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %130 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%127 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?xf32>
    %131 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %129 : tensor<1x4x?xf32>, tensor<1x4x?xf32>) outs(%127 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.maximumf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %132 = tensor.empty(%dim) : tensor<1x4x?x1xf32>
    %133 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%131 : tensor<1x4x?xf32>) outs(%132 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %134 = linalg.generic {indexing_maps = [#map32, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%133 : tensor<1x4x?x1xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %135 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%126, %134 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %136 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%135 : tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.exp %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %137 = linalg.fill ins(%cst_1 : f32) outs(%127 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %138 = linalg.generic {indexing_maps = [#map20, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%136 : tensor<1x4x?x?xf32>) outs(%137 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %139 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%138 : tensor<1x4x?xf32>) outs(%132 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %140 = linalg.generic {indexing_maps = [#map32, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%139 : tensor<1x4x?x1xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %141 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%136, %140 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %142 = tensor.empty(%dim) : tensor<1x4x8x?xf32>
    %143 = linalg.fill ins(%cst_1 : f32) outs(%142 : tensor<1x4x8x?xf32>) -> tensor<1x4x8x?xf32>
    %144 = linalg.generic {indexing_maps = [#map33, #map34, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_23, %141 : tensor<1x?x4x8xf32>, tensor<1x4x?x?xf32>) outs(%143 : tensor<1x4x8x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x4x8x?xf32>
    %145 = linalg.generic {indexing_maps = [#map35, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%144 : tensor<1x4x8x?xf32>) outs(%45 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x8xf32>
    %146 = linalg.fill ins(%cst_1 : f32) outs(%18 : tensor<1x?x32xf32>) -> tensor<1x?x32xf32>
    %147 = linalg.generic {indexing_maps = [#map34, #map36, #map37], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%145, %arg8 : tensor<1x?x4x8xf32>, tensor<4x8x32xf32>) outs(%146 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x32xf32>
    %148 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg1 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %149 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %147 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %150 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%149 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %151 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %152 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %153 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%152, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %154 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %155 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%154 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %156 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %155 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %157 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %158 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %159 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %158 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %160 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %159 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %161 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg4 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %162 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %160 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %163 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%162 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %164 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %165 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %167 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %168 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %169 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %168 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %170 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %171 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %172 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%169, %171 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %173 = tensor.empty(%dim) : tensor<1x?x48xf32>
    %174 = linalg.fill ins(%cst_1 : f32) outs(%173 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %175 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%172, %arg6 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%174 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x48xf32>
    %176 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %175 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %177 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %175 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %178 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<f32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %179 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %177 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %180 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %179 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %181 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_13 : tensor<f32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %182 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %180 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %183 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%182 : tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.tanh %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %184 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %185 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184, %183 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %186 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_14 : tensor<f32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %187 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186, %185 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %188 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %187 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %189 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%172, %arg10 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%174 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x48xf32>
    %190 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %189 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %191 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%190, %arg5 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%146 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x32xf32>
    %192 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg2 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %193 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %191 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %194 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%193 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %195 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %196 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%195, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %197 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %198 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%197 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %199 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %200 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %199 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %201 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %202 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %203 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %202 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %204 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %203 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %205 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg14 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %206 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %204 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %207 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%206 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %208 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %209 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %210 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %211 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %212 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%211 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %213 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %212 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %214 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %215 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %216 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %215 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %217 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%216, %arg20 : tensor<1x?x32xf32>, tensor<32x4x8xf32>) outs(%46 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x4x8xf32>
    %extracted_slice_24 = tensor.extract_slice %217[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_25 = tensor.extract_slice %217[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %218 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %219 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %76 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %220 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%218, %219 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %221 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_25, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %222 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %76 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %223 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%221, %222 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%72 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x4xf32>
    %concat_26 = tensor.concat dim(3) %220, %223 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %dim_27 = tensor.dim %concat_26, %c1 : tensor<1x?x4x8xf32>
    %224 = tensor.empty(%dim_27) : tensor<1x?x4x8xf32>
    %225 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_26, %82 : tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) outs(%224 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x4x8xf32>
    %226 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%216, %arg18 : tensor<1x?x32xf32>, tensor<32x2x8xf32>) outs(%86 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x2x8xf32>
    %extracted_slice_28 = tensor.extract_slice %226[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_29 = tensor.extract_slice %226[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %227 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %89 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %228 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_29, %91 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %229 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%227, %228 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %230 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_29, %89 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %231 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_28, %91 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %232 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%230, %231 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%88 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_30 = tensor.concat dim(3) %229, %232 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %233 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%216, %arg22 : tensor<1x?x32xf32>, tensor<32x2x8xf32>) outs(%86 : tensor<1x?x2x8xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x2x8xf32>
    %234 = linalg.generic {indexing_maps = [#map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%concat_30 : tensor<1x?x2x8xf32>) outs(%98 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %reshape_31 = tensor.reshape %234(%from_elements) : (tensor<1x?x2x2x8xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %235 = linalg.generic {indexing_maps = [#map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%233 : tensor<1x?x2x8xf32>) outs(%98 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %reshape_32 = tensor.reshape %235(%from_elements) : (tensor<1x?x2x2x8xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %236 = tensor.empty(%dim_27, %dim) : tensor<1x4x?x?xf32>
    %237 = linalg.fill ins(%cst_1 : f32) outs(%236 : tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
    %238 = linalg.generic {indexing_maps = [#map25, #map26, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%225, %reshape_31 : tensor<1x?x4x8xf32>, tensor<1x?x4x8xf32>) outs(%237 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x4x?x?xf32>
    %239 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%238, %115 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%236 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %240 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%239 : tensor<1x4x?x?xf32>) outs(%236 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.tanh %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %241 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%115, %240 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %242 = linalg.generic {indexing_maps = [#map27, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%105 : tensor<?x?xi1>) outs(%119 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x?x?xi1>
    %243 = linalg.generic {indexing_maps = [#map29, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%242 : tensor<1x1x?x?xi1>) outs(%123 : tensor<1x4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x4x?x?xi1>
    %244 = linalg.generic {indexing_maps = [#map20, #map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%243, %241, %125 : tensor<1x4x?x?xi1>, tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: i1, %in_33: f32, %in_34: f32, %out: f32):
      %328 = arith.select %in, %in_33, %in_34 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %245 = linalg.generic {indexing_maps = [#map20, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%244 : tensor<1x4x?x?xf32>) outs(%128 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.maximumf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %246 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %245 : tensor<1x4x?xf32>, tensor<1x4x?xf32>) outs(%127 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.maximumf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %247 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%246 : tensor<1x4x?xf32>) outs(%132 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %248 = linalg.generic {indexing_maps = [#map32, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%247 : tensor<1x4x?x1xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %249 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%244, %248 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.subf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %250 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%249 : tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.exp %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %251 = linalg.generic {indexing_maps = [#map20, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%250 : tensor<1x4x?x?xf32>) outs(%137 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?xf32>
    %252 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%251 : tensor<1x4x?xf32>) outs(%132 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %253 = linalg.generic {indexing_maps = [#map32, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%252 : tensor<1x4x?x1xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %254 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%250, %253 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%114 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x4x?x?xf32>
    %255 = linalg.generic {indexing_maps = [#map33, #map34, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_32, %254 : tensor<1x?x4x8xf32>, tensor<1x4x?x?xf32>) outs(%143 : tensor<1x4x8x?xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x4x8x?xf32>
    %256 = linalg.generic {indexing_maps = [#map35, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%255 : tensor<1x4x8x?xf32>) outs(%45 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x8xf32>
    %257 = linalg.generic {indexing_maps = [#map34, #map36, #map37], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%256, %arg19 : tensor<1x?x4x8xf32>, tensor<4x8x32xf32>) outs(%146 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x32xf32>
    %258 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg12 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %259 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %257 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %260 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%259 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %261 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %262 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %263 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%262, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %264 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%263 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %265 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%264 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %266 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %265 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %267 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%258 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %268 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%267 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %269 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%266, %268 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %270 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %269 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %271 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg15 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %272 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %270 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %273 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%272 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %274 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%273 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %275 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%274, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %276 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%275, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %277 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%276 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %278 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%277 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %279 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %278 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %280 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%271 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %281 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%280 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %282 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%279, %281 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %283 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%282, %arg17 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%174 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x48xf32>
    %284 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %283 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %285 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284, %283 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %286 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %285 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %287 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %286 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %288 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %287 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %289 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%288 : tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.tanh %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %290 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184, %289 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %291 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186, %290 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %292 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %291 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %293 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%282, %arg21 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%174 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x48xf32>
    %294 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%292, %293 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%173 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x48xf32>
    %295 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%294, %arg16 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%146 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x32xf32>
    %296 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg13 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %297 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%295, %295 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %298 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%297 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %299 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%298 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %300 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%299, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %301 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%300, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %302 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%301 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %303 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%302 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %304 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%295, %303 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %305 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%296 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %306 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%305 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %307 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%304, %306 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %308 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %307 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %309 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %arg23 : tensor<32xf32>, tensor<32xf32>) outs(%25 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<32xf32>
    %310 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%308, %308 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %311 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%310 : tensor<1x?x32xf32>) outs(%30 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = arith.addf %out, %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?xf32>
    %312 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%311 : tensor<1x?xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %313 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%312, %34 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %314 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%313, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.addf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %315 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%314 : tensor<1x?x1xf32>) outs(%32 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.rsqrt %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x1xf32>
    %316 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%315 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %317 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%308, %316 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %318 = linalg.generic {indexing_maps = [#map11, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%309 : tensor<32xf32>) outs(%41 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %319 = linalg.generic {indexing_maps = [#map12, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%318 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %320 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%317, %319 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %321 = tensor.empty() : tensor<32x32xf32>
    %322 = linalg.generic {indexing_maps = [#map40, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %323 = linalg.generic {indexing_maps = [#map38, #map39, #map30], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%320, %322 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%146 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      %329 = arith.addf %out, %328 : f32
      linalg.yield %329 : f32
    } -> tensor<1x?x32xf32>
    %324 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_15 : tensor<f32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %325 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%323, %324 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.divf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %326 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%325 : tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %328 = math.tanh %in : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    %327 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%324, %326 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %328 = arith.mulf %in, %in_33 : f32
      linalg.yield %328 : f32
    } -> tensor<1x?x32xf32>
    return %327 : tensor<1x?x32xf32>
  }
}

