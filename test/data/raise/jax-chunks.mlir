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
#map22 = affine_map<() -> ()>
#map23 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map24 = affine_map<(d0, d1, d2, d3, d4) -> (0, 0, d3, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map26 = affine_map<(d0, d1, d2, d3, d4) -> (0, 0, 0, d3, d4)>
#map27 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3, d5)>
#map28 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
#map29 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map30 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map31 = affine_map<(d0, d1, d2, d3) -> ()>
#map32 = affine_map<(d0, d1, d2, d3, d4) -> (0, d2, d3, d4)>
#map33 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d0, d3, d4)>
#map34 = affine_map<(d0, d1, d2, d3, d4) -> (0, 0, d2, d3, d4)>
#map35 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, 0, d3, d4)>
#map36 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
#map37 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map38 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3)>
#map39 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, 0)>
#map40 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map41 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map42 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map43 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "chunks", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<32x32xf32> {kv.weight = "embed"}, %arg1: tensor<32x32xf32> {kv.weight = "head"}, %arg2: tensor<48x32xf32> {kv.weight = "layers.0.down"}, %arg3: tensor<32x48xf32> {kv.weight = "layers.0.gate"}, %arg4: tensor<32x16xf32> {kv.weight = "layers.0.k"}, %arg5: tensor<32xf32> {kv.weight = "layers.0.norm1"}, %arg6: tensor<32xf32> {kv.weight = "layers.0.norm2"}, %arg7: tensor<32x32xf32> {kv.weight = "layers.0.o"}, %arg8: tensor<32x32xf32> {kv.weight = "layers.0.q"}, %arg9: tensor<32x48xf32> {kv.weight = "layers.0.up"}, %arg10: tensor<32x16xf32> {kv.weight = "layers.0.v"}, %arg11: tensor<48x32xf32> {kv.weight = "layers.1.down"}, %arg12: tensor<32x48xf32> {kv.weight = "layers.1.gate"}, %arg13: tensor<32x16xf32> {kv.weight = "layers.1.k"}, %arg14: tensor<32xf32> {kv.weight = "layers.1.norm1"}, %arg15: tensor<32xf32> {kv.weight = "layers.1.norm2"}, %arg16: tensor<32x32xf32> {kv.weight = "layers.1.o"}, %arg17: tensor<32x32xf32> {kv.weight = "layers.1.q"}, %arg18: tensor<32x48xf32> {kv.weight = "layers.1.up"}, %arg19: tensor<32x16xf32> {kv.weight = "layers.1.v"}, %arg20: tensor<32xf32> {kv.weight = "norm"}, %arg21: tensor<1x?xi32> {kv.name = "tokens"}) -> (tensor<1x?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %c31_i32 = arith.constant 31 : i32
    %c1_i32 = arith.constant 1 : i32
    %c-2147483648_i32 = arith.constant -2147483648 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c6_i32 = arith.constant 6 : i32
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
    %cst_10 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_11 = arith.constant dense<0> : tensor<i32>
    %cst_12 = arith.constant dense<1> : tensor<i32>
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
      %282 = linalg.index 0 : index
      %283 = arith.index_cast %282 : index to i32
      linalg.yield %283 : i32
    } -> tensor<?xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_12 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%5, %4 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.muli %in, %in_37 : i32
      linalg.yield %282 : i32
    } -> tensor<?xi32>
    %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_11 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%7, %6 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.addi %in, %in_37 : i32
      linalg.yield %282 : i32
    } -> tensor<?xi32>
    %9 = tensor.empty(%dim) : tensor<1x?xi32>
    %10 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_11 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %11 = tensor.empty(%dim) : tensor<1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg21, %10 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi slt, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<1x?xi1>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg21, %13 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.addi %in, %in_37 : i32
      linalg.yield %282 : i32
    } -> tensor<1x?xi32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12, %14, %arg21 : tensor<1x?xi1>, tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i1, %in_37: i32, %in_38: i32, %out: i32):
      %282 = arith.select %in, %in_37, %in_38 : i32
      linalg.yield %282 : i32
    } -> tensor<1x?xi32>
    %16 = tensor.empty(%dim) : tensor<1x?x1xi32>
    %17 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?xi32>) outs(%16 : tensor<1x?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?x1xi32>
    %18 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %19 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%out: f32):
      %282 = linalg.index 1 : index
      %283 = linalg.index 2 : index
      %extracted = tensor.extract %17[%c0, %282, %c0] : tensor<1x?x1xi32>
      %284 = arith.index_cast %extracted : i32 to index
      %285 = arith.maxsi %284, %c0 : index
      %286 = arith.minsi %285, %c31 : index
      %extracted_37 = tensor.extract %arg0[%286, %283] : tensor<32x32xf32>
      linalg.yield %extracted_37 : f32
    } -> tensor<1x?x32xf32>
    %20 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %21 = tensor.empty(%dim) : tensor<1x?xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%21 : tensor<1x?xf32>) -> tensor<1x?xf32>
    %23 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
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
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.rsqrt %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %31 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %31 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
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
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %37 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x?x32xf32>) -> tensor<1x?x32xf32>
    %38 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg8 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
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
      %282 = linalg.index 0 : index
      %283 = arith.index_cast %282 : index to i32
      linalg.yield %283 : i32
    } -> tensor<4xi32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%42 : tensor<4xi32>) outs(%41 : tensor<4xi32>) {
    ^bb0(%in: i32, %out: i32):
      %282 = arith.subi %c0_i32, %in : i32
      linalg.yield %282 : i32
    } -> tensor<4xi32>
    %44 = tensor.empty() : tensor<4xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%43 : tensor<4xi32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: i32, %out: f32):
      %282 = arith.sitofp %in : i32 to f32
      linalg.yield %282 : f32
    } -> tensor<4xf32>
    %46 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%45, %46 : tensor<4xf32>, tensor<4xf32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<4xf32>
    %48 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_5 : tensor<f32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%48, %47 : tensor<4xf32>, tensor<4xf32>) outs(%44 : tensor<4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = math.powf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<4xf32>
    %50 = tensor.empty(%dim) : tensor<?x1xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<?x1xi32>) outs(%50 : tensor<?x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %282 = arith.sitofp %in : i32 to f32
      linalg.yield %282 : f32
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
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<?x4xf32>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<?x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.cos %in : f32
      linalg.yield %282 : f32
    } -> tensor<?x4xf32>
    %59 = tensor.empty(%dim) : tensor<?x1x4xf32>
    %60 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<?x4xf32>) outs(%59 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<?x4xf32>) outs(%54 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.sin %in : f32
      linalg.yield %282 : f32
    } -> tensor<?x4xf32>
    %62 = linalg.generic {indexing_maps = [#map18, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<?x4xf32>) outs(%59 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x4xf32>
    %extracted_slice = tensor.extract_slice %reshape[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_13 = tensor.extract_slice %reshape[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
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
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %68 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<?x1x4xf32>) outs(%63 : tensor<1x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x4xf32>
    %69 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<1x?x1x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x4xf32>
    %70 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_13, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %71 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %70 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %72 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_13, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %73 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %74 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %73 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %concat = tensor.concat dim(3) %71, %74 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %75 = tensor.empty(%dim) : tensor<1x?x16xf32>
    %76 = linalg.fill ins(%cst_0 : f32) outs(%75 : tensor<1x?x16xf32>) -> tensor<1x?x16xf32>
    %77 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg4 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x16xf32>
    %from_elements_14 = tensor.from_elements %c1, %dim, %c2, %c8 : tensor<4xindex>
    %reshape_15 = tensor.reshape %77(%from_elements_14) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %extracted_slice_16 = tensor.extract_slice %reshape_15[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_17 = tensor.extract_slice %reshape_15[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %78 = tensor.empty(%dim) : tensor<1x?x2x4xf32>
    %79 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<1x?x1x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %80 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_16, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %81 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68 : tensor<1x?x1x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x4xf32>
    %82 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %83 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%80, %82 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %84 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %85 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_16, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %86 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%84, %85 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_18 = tensor.concat dim(3) %83, %86 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %87 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg10 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x16xf32>
    %reshape_19 = tensor.reshape %87(%from_elements_14) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %88 = tensor.empty() : tensor<i32>
    %89 = linalg.generic {indexing_maps = [#map22], iterator_types = []} outs(%88 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c6_i32 : i32
    } -> tensor<i32>
    %90 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%89 : tensor<i32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %91 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%40, %90 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.cmpi eq, %in_37, %c0_i32 : i32
      %283 = arith.cmpi eq, %in, %c-2147483648_i32 : i32
      %284 = arith.cmpi eq, %in_37, %c-1_i32 : i32
      %285 = arith.andi %283, %284 : i1
      %286 = arith.ori %282, %285 : i1
      %287 = arith.select %286, %c1_i32, %in_37 : i32
      %288 = arith.divsi %in, %287 : i32
      %289 = arith.select %285, %c-2147483648_i32, %288 : i32
      %290 = arith.select %282, %c-1_i32, %289 : i32
      linalg.yield %290 : i32
    } -> tensor<?x1xi32>
    %92 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<?x1xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      %282 = arith.cmpi eq, %in, %c0_i32 : i32
      %283 = arith.shrsi %in, %c31_i32 : i32
      %284 = arith.ori %283, %c1_i32 : i32
      %285 = arith.select %282, %c0_i32, %284 : i32
      linalg.yield %285 : i32
    } -> tensor<?x1xi32>
    %93 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%89 : tensor<i32>) outs(%88 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %282 = arith.cmpi eq, %in, %c0_i32 : i32
      %283 = arith.shrsi %in, %c31_i32 : i32
      %284 = arith.ori %283, %c1_i32 : i32
      %285 = arith.select %282, %c0_i32, %284 : i32
      linalg.yield %285 : i32
    } -> tensor<i32>
    %94 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%93 : tensor<i32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %95 = tensor.empty(%dim) : tensor<?x1xi1>
    %96 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%92, %94 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%95 : tensor<?x1xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi ne, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<?x1xi1>
    %97 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%40, %90 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.cmpi eq, %in_37, %c0_i32 : i32
      %283 = arith.cmpi eq, %in, %c-2147483648_i32 : i32
      %284 = arith.cmpi eq, %in_37, %c-1_i32 : i32
      %285 = arith.andi %283, %284 : i1
      %286 = arith.ori %282, %285 : i1
      %287 = arith.select %286, %c1_i32, %in_37 : i32
      %288 = arith.remsi %in, %287 : i32
      %289 = arith.select %285, %c0_i32, %288 : i32
      %290 = arith.select %282, %in, %289 : i32
      linalg.yield %290 : i32
    } -> tensor<?x1xi32>
    %98 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_11 : tensor<i32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%97, %98 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%95 : tensor<?x1xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi ne, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<?x1xi1>
    %100 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%96, %99 : tensor<?x1xi1>, tensor<?x1xi1>) outs(%95 : tensor<?x1xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %282 = arith.andi %in, %in_37 : i1
      linalg.yield %282 : i1
    } -> tensor<?x1xi1>
    %101 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %102 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%91, %101 : tensor<?x1xi32>, tensor<?x1xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.subi %in, %in_37 : i32
      linalg.yield %282 : i32
    } -> tensor<?x1xi32>
    %103 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%100, %102, %91 : tensor<?x1xi1>, tensor<?x1xi32>, tensor<?x1xi32>) outs(%39 : tensor<?x1xi32>) {
    ^bb0(%in: i1, %in_37: i32, %in_38: i32, %out: i32):
      %282 = arith.select %in, %in_37, %in_38 : i32
      linalg.yield %282 : i32
    } -> tensor<?x1xi32>
    %104 = linalg.generic {indexing_maps = [#map15, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %105 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%89 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%104, %105 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.cmpi eq, %in_37, %c0_i32 : i32
      %283 = arith.cmpi eq, %in, %c-2147483648_i32 : i32
      %284 = arith.cmpi eq, %in_37, %c-1_i32 : i32
      %285 = arith.andi %283, %284 : i1
      %286 = arith.ori %282, %285 : i1
      %287 = arith.select %286, %c1_i32, %in_37 : i32
      %288 = arith.divsi %in, %287 : i32
      %289 = arith.select %285, %c-2147483648_i32, %288 : i32
      %290 = arith.select %282, %c-1_i32, %289 : i32
      linalg.yield %290 : i32
    } -> tensor<1x?xi32>
    %107 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%104 : tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      %282 = arith.cmpi eq, %in, %c0_i32 : i32
      %283 = arith.shrsi %in, %c31_i32 : i32
      %284 = arith.ori %283, %c1_i32 : i32
      %285 = arith.select %282, %c0_i32, %284 : i32
      linalg.yield %285 : i32
    } -> tensor<1x?xi32>
    %108 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%93 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %109 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%107, %108 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi ne, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<1x?xi1>
    %110 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%104, %105 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.cmpi eq, %in_37, %c0_i32 : i32
      %283 = arith.cmpi eq, %in, %c-2147483648_i32 : i32
      %284 = arith.cmpi eq, %in_37, %c-1_i32 : i32
      %285 = arith.andi %283, %284 : i1
      %286 = arith.ori %282, %285 : i1
      %287 = arith.select %286, %c1_i32, %in_37 : i32
      %288 = arith.remsi %in, %287 : i32
      %289 = arith.select %285, %c0_i32, %288 : i32
      %290 = arith.select %282, %in, %289 : i32
      linalg.yield %290 : i32
    } -> tensor<1x?xi32>
    %111 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%110, %10 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi ne, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<1x?xi1>
    %112 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%109, %111 : tensor<1x?xi1>, tensor<1x?xi1>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %282 = arith.andi %in, %in_37 : i1
      linalg.yield %282 : i1
    } -> tensor<1x?xi1>
    %113 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %114 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%106, %113 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_37: i32, %out: i32):
      %282 = arith.subi %in, %in_37 : i32
      linalg.yield %282 : i32
    } -> tensor<1x?xi32>
    %115 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%112, %114, %106 : tensor<1x?xi1>, tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i1, %in_37: i32, %in_38: i32, %out: i32):
      %282 = arith.select %in, %in_37, %in_38 : i32
      linalg.yield %282 : i32
    } -> tensor<1x?xi32>
    %116 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %117 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%103 : tensor<?x1xi32>) outs(%116 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %118 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%115 : tensor<1x?xi32>) outs(%116 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %119 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %120 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%117, %118 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%119 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi eq, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<?x?xi1>
    %121 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%104 : tensor<1x?xi32>) outs(%116 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %122 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<?x1xi32>) outs(%116 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %123 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%121, %122 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%119 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_37: i32, %out: i1):
      %282 = arith.cmpi sle, %in, %in_37 : i32
      linalg.yield %282 : i1
    } -> tensor<?x?xi1>
    %124 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%120, %123 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%119 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %282 = arith.andi %in, %in_37 : i1
      linalg.yield %282 : i1
    } -> tensor<?x?xi1>
    %125 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xi1>
    %126 = linalg.generic {indexing_maps = [#map23, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%124 : tensor<?x?xi1>) outs(%125 : tensor<1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x?x?xi1>
    %from_elements_20 = tensor.from_elements %c1, %dim, %c2, %c2, %c8 : tensor<5xindex>
    %reshape_21 = tensor.reshape %concat(%from_elements_20) : (tensor<1x?x4x8xf32>, tensor<5xindex>) -> tensor<1x?x2x2x8xf32>
    %127 = tensor.empty(%dim, %dim) : tensor<1x1x1x?x?xi1>
    %128 = linalg.generic {indexing_maps = [#map24, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%126 : tensor<1x1x?x?xi1>) outs(%127 : tensor<1x1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x1x?x?xi1>
    %129 = tensor.empty(%dim, %dim) : tensor<1x1x2x?x?xi1>
    %130 = linalg.generic {indexing_maps = [#map26, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%128 : tensor<1x1x1x?x?xi1>) outs(%129 : tensor<1x1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x2x?x?xi1>
    %dim_22 = tensor.dim %concat_18, %c1 : tensor<1x?x2x8xf32>
    %131 = tensor.empty(%dim, %dim_22) : tensor<1x2x?x2x?xf32>
    %132 = linalg.fill ins(%cst_0 : f32) outs(%131 : tensor<1x2x?x2x?xf32>) -> tensor<1x2x?x2x?xf32>
    %133 = linalg.generic {indexing_maps = [#map27, #map28, #map29], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_21, %concat_18 : tensor<1x?x2x2x8xf32>, tensor<1x?x2x8xf32>) outs(%132 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x2x?x2x?xf32>
    %134 = tensor.empty(%dim, %dim) : tensor<1x2x?x2x?xf32>
    %135 = linalg.generic {indexing_maps = [#map30, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%134 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x2x?xf32>
    %136 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%133, %135 : tensor<1x2x?x2x?xf32>, tensor<1x2x?x2x?xf32>) outs(%131 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x2x?x2x?xf32>
    %137 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xi1>
    %138 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<i1>) outs(%137 : tensor<1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x?x?xi1>
    %139 = linalg.generic {indexing_maps = [#map32, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%138 : tensor<1x2x?x?xi1>) outs(%129 : tensor<1x1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x2x?x?xi1>
    %140 = tensor.empty(%dim, %dim) : tensor<2x1x1x?x?xi1>
    %141 = linalg.generic {indexing_maps = [#map33, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%130 : tensor<1x1x2x?x?xi1>) outs(%140 : tensor<2x1x1x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x1x?x?xi1>
    %142 = tensor.empty(%dim, %dim) : tensor<2x1x2x?x?xi1>
    %143 = linalg.generic {indexing_maps = [#map34, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%139 : tensor<1x1x2x?x?xi1>) outs(%142 : tensor<2x1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x2x?x?xi1>
    %144 = linalg.generic {indexing_maps = [#map35, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%141 : tensor<2x1x1x?x?xi1>) outs(%142 : tensor<2x1x2x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x1x2x?x?xi1>
    %145 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%143, %144 : tensor<2x1x2x?x?xi1>, tensor<2x1x2x?x?xi1>) outs(%142 : tensor<2x1x2x?x?xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %282 = arith.andi %in, %in_37 : i1
      linalg.yield %282 : i1
    } -> tensor<2x1x2x?x?xi1>
    %146 = tensor.empty(%dim, %dim) : tensor<1x2x?x?xf32>
    %147 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%146 : tensor<1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x?x?xf32>
    %148 = tensor.empty(%dim, %dim) : tensor<2x1x2x?x?xf32>
    %149 = linalg.generic {indexing_maps = [#map32, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%147 : tensor<1x2x?x?xf32>) outs(%148 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %150 = tensor.empty(%dim, %dim_22) : tensor<2x1x2x?x?xf32>
    %151 = linalg.generic {indexing_maps = [#map36, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%136 : tensor<1x2x?x2x?xf32>) outs(%150 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %152 = linalg.generic {indexing_maps = [#map25, #map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%145, %151, %149 : tensor<2x1x2x?x?xi1>, tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%150 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %282 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %153 = tensor.empty(%dim) : tensor<2x1x2x?xf32>
    %154 = linalg.fill ins(%cst : f32) outs(%153 : tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32>
    %155 = linalg.generic {indexing_maps = [#map25, #map37], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%152 : tensor<2x1x2x?x?xf32>) outs(%154 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.maximumf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %156 = linalg.generic {indexing_maps = [#map31, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%153 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?xf32>
    %157 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%156, %155 : tensor<2x1x2x?xf32>, tensor<2x1x2x?xf32>) outs(%153 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.maximumf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %158 = tensor.empty(%dim) : tensor<2x1x2x?x1xf32>
    %159 = linalg.generic {indexing_maps = [#map38, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%157 : tensor<2x1x2x?xf32>) outs(%158 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %160 = linalg.generic {indexing_maps = [#map39, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%159 : tensor<2x1x2x?x1xf32>) outs(%148 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %161 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%152, %160 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%150 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %162 = linalg.generic {indexing_maps = [#map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%161 : tensor<2x1x2x?x?xf32>) outs(%150 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.exp %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %163 = linalg.fill ins(%cst_0 : f32) outs(%153 : tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32>
    %164 = linalg.generic {indexing_maps = [#map25, #map37], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%162 : tensor<2x1x2x?x?xf32>) outs(%163 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %165 = linalg.generic {indexing_maps = [#map38, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%164 : tensor<2x1x2x?xf32>) outs(%158 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map39, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%165 : tensor<2x1x2x?x1xf32>) outs(%148 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %167 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%162, %166 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%150 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %168 = tensor.empty(%dim) : tensor<1x2x8x2x?xf32>
    %169 = linalg.fill ins(%cst_0 : f32) outs(%168 : tensor<1x2x8x2x?xf32>) -> tensor<1x2x8x2x?xf32>
    %170 = linalg.generic {indexing_maps = [#map40, #map41, #map29], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_19, %167 : tensor<1x?x2x8xf32>, tensor<2x1x2x?x?xf32>) outs(%169 : tensor<1x2x8x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x2x8x2x?xf32>
    %171 = tensor.empty(%dim) : tensor<2x1x?x2x8xf32>
    %172 = linalg.generic {indexing_maps = [#map42, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%170 : tensor<1x2x8x2x?xf32>) outs(%171 : tensor<2x1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x?x2x8xf32>
    %173 = tensor.empty(%dim) : tensor<1x?x2x2x8xf32>
    %174 = linalg.generic {indexing_maps = [#map43, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%172 : tensor<2x1x?x2x8xf32>) outs(%173 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %from_elements_23 = tensor.from_elements %c1, %dim, %c32 : tensor<3xindex>
    %reshape_24 = tensor.reshape %174(%from_elements_23) : (tensor<1x?x2x2x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %175 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_24, %arg7 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    %176 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %175 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %177 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %176 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %178 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%177 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?xf32>
    %179 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %180 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %181 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %182 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.rsqrt %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %183 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%182 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %184 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %183 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %185 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %186 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %187 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%184, %186 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %188 = tensor.empty(%dim) : tensor<1x?x48xf32>
    %189 = linalg.fill ins(%cst_0 : f32) outs(%188 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %190 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%187, %arg3 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%189 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x48xf32>
    %191 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190 : tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.negf %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %192 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191 : tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.exp %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %193 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x48xf32>
    %194 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %192 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %195 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %194 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %196 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190, %195 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %197 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%187, %arg9 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%189 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x48xf32>
    %198 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196, %197 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %199 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%198, %arg2 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    %200 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %199 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %201 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %200 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %202 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%201 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?xf32>
    %203 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %204 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %205 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %206 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.rsqrt %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %207 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %208 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %207 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %209 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %210 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %211 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %210 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %212 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%211, %arg17 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    %reshape_25 = tensor.reshape %212(%from_elements) : (tensor<1x?x32xf32>, tensor<4xindex>) -> tensor<1x?x4x8xf32>
    %extracted_slice_26 = tensor.extract_slice %reshape_25[0, 0, 0, 0] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %extracted_slice_27 = tensor.extract_slice %reshape_25[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %213 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %214 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %215 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%213, %214 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %216 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_27, %66 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %217 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_26, %69 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %218 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%216, %217 : tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) outs(%65 : tensor<1x?x4x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x4x4xf32>
    %concat_28 = tensor.concat dim(3) %215, %218 : (tensor<1x?x4x4xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %219 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%211, %arg13 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x16xf32>
    %reshape_29 = tensor.reshape %219(%from_elements_14) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %extracted_slice_30 = tensor.extract_slice %reshape_29[0, 0, 0, 0] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %extracted_slice_31 = tensor.extract_slice %reshape_29[0, 0, 0, 4] [1, %dim, 2, 4] [1, 1, 1, 1] : tensor<1x?x2x8xf32> to tensor<1x?x2x4xf32>
    %220 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_30, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %221 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %222 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%220, %221 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %223 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_31, %79 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %224 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_30, %81 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %225 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%223, %224 : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) outs(%78 : tensor<1x?x2x4xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x2x4xf32>
    %concat_32 = tensor.concat dim(3) %222, %225 : (tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>) -> tensor<1x?x2x8xf32>
    %226 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%211, %arg19 : tensor<1x?x32xf32>, tensor<32x16xf32>) outs(%76 : tensor<1x?x16xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x16xf32>
    %reshape_33 = tensor.reshape %226(%from_elements_14) : (tensor<1x?x16xf32>, tensor<4xindex>) -> tensor<1x?x2x8xf32>
    %reshape_34 = tensor.reshape %concat_28(%from_elements_20) : (tensor<1x?x4x8xf32>, tensor<5xindex>) -> tensor<1x?x2x2x8xf32>
    %dim_35 = tensor.dim %concat_32, %c1 : tensor<1x?x2x8xf32>
    %227 = tensor.empty(%dim, %dim_35) : tensor<1x2x?x2x?xf32>
    %228 = linalg.fill ins(%cst_0 : f32) outs(%227 : tensor<1x2x?x2x?xf32>) -> tensor<1x2x?x2x?xf32>
    %229 = linalg.generic {indexing_maps = [#map27, #map28, #map29], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_34, %concat_32 : tensor<1x?x2x2x8xf32>, tensor<1x?x2x8xf32>) outs(%228 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x2x?x2x?xf32>
    %230 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%229, %135 : tensor<1x2x?x2x?xf32>, tensor<1x2x?x2x?xf32>) outs(%227 : tensor<1x2x?x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x2x?x2x?xf32>
    %231 = tensor.empty(%dim, %dim_35) : tensor<2x1x2x?x?xf32>
    %232 = linalg.generic {indexing_maps = [#map36, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%230 : tensor<1x2x?x2x?xf32>) outs(%231 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %233 = linalg.generic {indexing_maps = [#map25, #map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%145, %232, %149 : tensor<2x1x2x?x?xi1>, tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%231 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %282 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %234 = linalg.generic {indexing_maps = [#map25, #map37], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%233 : tensor<2x1x2x?x?xf32>) outs(%154 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.maximumf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %235 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%156, %234 : tensor<2x1x2x?xf32>, tensor<2x1x2x?xf32>) outs(%153 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.maximumf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %236 = linalg.generic {indexing_maps = [#map38, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%235 : tensor<2x1x2x?xf32>) outs(%158 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %237 = linalg.generic {indexing_maps = [#map39, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%236 : tensor<2x1x2x?x1xf32>) outs(%148 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %238 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%233, %237 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%231 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.subf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %239 = linalg.generic {indexing_maps = [#map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%238 : tensor<2x1x2x?x?xf32>) outs(%231 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.exp %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %240 = linalg.generic {indexing_maps = [#map25, #map37], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%239 : tensor<2x1x2x?x?xf32>) outs(%163 : tensor<2x1x2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?xf32>
    %241 = linalg.generic {indexing_maps = [#map38, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%240 : tensor<2x1x2x?xf32>) outs(%158 : tensor<2x1x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x1xf32>
    %242 = linalg.generic {indexing_maps = [#map39, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%241 : tensor<2x1x2x?x1xf32>) outs(%148 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x2x?x?xf32>
    %243 = linalg.generic {indexing_maps = [#map25, #map25, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%239, %242 : tensor<2x1x2x?x?xf32>, tensor<2x1x2x?x?xf32>) outs(%231 : tensor<2x1x2x?x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<2x1x2x?x?xf32>
    %244 = linalg.generic {indexing_maps = [#map40, #map41, #map29], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%reshape_33, %243 : tensor<1x?x2x8xf32>, tensor<2x1x2x?x?xf32>) outs(%169 : tensor<1x2x8x2x?xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x2x8x2x?xf32>
    %245 = linalg.generic {indexing_maps = [#map42, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%244 : tensor<1x2x8x2x?xf32>) outs(%171 : tensor<2x1x?x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x1x?x2x8xf32>
    %246 = linalg.generic {indexing_maps = [#map43, #map25], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%245 : tensor<2x1x?x2x8xf32>) outs(%173 : tensor<1x?x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x2x2x8xf32>
    %reshape_36 = tensor.reshape %246(%from_elements_23) : (tensor<1x?x2x2x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %247 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_36, %arg16 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    %248 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %247 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %249 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %248 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %250 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%249 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?xf32>
    %251 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%250 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %252 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%251, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %253 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %254 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%253 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.rsqrt %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %255 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%254 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %256 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %255 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %257 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %258 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %259 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%256, %258 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %260 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%259, %arg12 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%189 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x48xf32>
    %261 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.negf %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %262 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261 : tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.exp %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %263 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %262 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %264 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %263 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %265 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260, %264 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %266 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%259, %arg18 : tensor<1x?x32xf32>, tensor<32x48xf32>) outs(%189 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x48xf32>
    %267 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%265, %266 : tensor<1x?x48xf32>, tensor<1x?x48xf32>) outs(%188 : tensor<1x?x48xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x48xf32>
    %268 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%267, %arg11 : tensor<1x?x48xf32>, tensor<48x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    %269 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %268 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %270 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %269 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %271 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%270 : tensor<1x?x32xf32>) outs(%22 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = arith.addf %out, %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?xf32>
    %272 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%271 : tensor<1x?xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %273 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%272, %26 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.divf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %274 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%273, %28 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.addf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %275 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%274 : tensor<1x?x1xf32>) outs(%24 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %282 = math.rsqrt %in : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x1xf32>
    %276 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%275 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %277 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %276 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %278 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %279 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %280 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%277, %279 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      linalg.yield %282 : f32
    } -> tensor<1x?x32xf32>
    %281 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%280, %arg1 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%37 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %282 = arith.mulf %in, %in_37 : f32
      %283 = arith.addf %out, %282 : f32
      linalg.yield %283 : f32
    } -> tensor<1x?x32xf32>
    return %281 : tensor<1x?x32xf32>
  }
}

