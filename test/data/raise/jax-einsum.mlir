#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (0, d1)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0) -> ()>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map14 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map16 = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
#map17 = affine_map<() -> ()>
#map18 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map19 = affine_map<(d0, d1, d2) -> ()>
#map20 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map21 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map22 = affine_map<(d0, d1, d2, d3) -> (d3, d0)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map24 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map26 = affine_map<(d0, d1, d2) -> (d0, d2)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "einsum", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<32x32xf32> {kv.weight = "embed"}, %arg1: tensor<64x32xf32> {kv.weight = "layers.0.down"}, %arg2: tensor<2x32x8xf32> {kv.weight = "layers.0.kv"}, %arg3: tensor<32xf32> {kv.weight = "layers.0.norm1"}, %arg4: tensor<32xf32> {kv.weight = "layers.0.norm2"}, %arg5: tensor<4x8x32xf32> {kv.weight = "layers.0.o"}, %arg6: tensor<4x32x8xf32> {kv.weight = "layers.0.q"}, %arg7: tensor<32x64xf32> {kv.weight = "layers.0.up"}, %arg8: tensor<64x32xf32> {kv.weight = "layers.1.down"}, %arg9: tensor<2x32x8xf32> {kv.weight = "layers.1.kv"}, %arg10: tensor<32xf32> {kv.weight = "layers.1.norm1"}, %arg11: tensor<32xf32> {kv.weight = "layers.1.norm2"}, %arg12: tensor<4x8x32xf32> {kv.weight = "layers.1.o"}, %arg13: tensor<4x32x8xf32> {kv.weight = "layers.1.q"}, %arg14: tensor<32x64xf32> {kv.weight = "layers.1.up"}, %arg15: tensor<32xf32> {kv.weight = "norm"}, %arg16: tensor<?xi32> {kv.name = "tokens"}) -> (tensor<?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant -9.99999968E+37 : f32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %cst_2 = arith.constant dense<1.600000e+01> : tensor<f32>
    %cst_3 = arith.constant dense<1.000000e+02> : tensor<f32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_6 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_7 = arith.constant dense<0.353553385> : tensor<f32>
    %cst_8 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_9 = arith.constant dense<0> : tensor<i32>
    %cst_10 = arith.constant dense<1> : tensor<i32>
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg16, %c0 : tensor<?xi32>
    %0 = arith.cmpi sge, %dim, %c1 : index
    cf.assert %0, "Expected value >= 1 for dimension variable 'T'"
    %1 = arith.subi %c64, %dim : index
    %2 = arith.cmpi sge, %1, %c0 : index
    cf.assert %2, "Expected '- T + 64' to be greater or equal to 0, but found {0}"
    %3 = tensor.empty(%dim) : tensor<?x1xi32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg16 : tensor<?xi32>) outs(%3 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %5 = tensor.empty() : tensor<1x32xi32>
    %6 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel"]} outs(%5 : tensor<1x32xi32>) {
    ^bb0(%out: i32):
      %188 = linalg.index 1 : index
      %189 = arith.index_cast %188 : index to i32
      linalg.yield %189 : i32
    } -> tensor<1x32xi32>
    %7 = tensor.empty(%dim) : tensor<?x32xi32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<?x1xi32>) outs(%7 : tensor<?x32xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x32xi32>
    %9 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<1x32xi32>) outs(%7 : tensor<?x32xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x32xi32>
    %10 = tensor.empty(%dim) : tensor<?x32xi1>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %9 : tensor<?x32xi32>, tensor<?x32xi32>) outs(%10 : tensor<?x32xi1>) {
    ^bb0(%in: i32, %in_17: i32, %out: i1):
      %188 = arith.cmpi eq, %in, %in_17 : i32
      linalg.yield %188 : i1
    } -> tensor<?x32xi1>
    %12 = tensor.empty(%dim) : tensor<?x32xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<?x32xi1>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: i1, %out: f32):
      %188 = arith.uitofp %in : i1 to f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %14 = linalg.fill ins(%cst_1 : f32) outs(%12 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %15 = linalg.matmul ins(%13, %arg0 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%14 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %16 = tensor.empty(%dim) : tensor<?xi32>
    %17 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%16 : tensor<?xi32>) {
    ^bb0(%out: i32):
      %188 = linalg.index 0 : index
      %189 = arith.index_cast %188 : index to i32
      linalg.yield %189 : i32
    } -> tensor<?xi32>
    %18 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel"]} ins(%cst_10 : tensor<i32>) outs(%16 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %19 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel"]} ins(%18, %17 : tensor<?xi32>, tensor<?xi32>) outs(%16 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_17: i32, %out: i32):
      %188 = arith.muli %in, %in_17 : i32
      linalg.yield %188 : i32
    } -> tensor<?xi32>
    %20 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel"]} ins(%cst_9 : tensor<i32>) outs(%16 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %21 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel"]} ins(%20, %19 : tensor<?xi32>, tensor<?xi32>) outs(%16 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_17: i32, %out: i32):
      %188 = arith.addi %in, %in_17 : i32
      linalg.yield %188 : i32
    } -> tensor<?xi32>
    %22 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<?xi32>) outs(%3 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %23 = tensor.empty() : tensor<16xi32>
    %24 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%23 : tensor<16xi32>) {
    ^bb0(%out: i32):
      %188 = linalg.index 0 : index
      %189 = arith.index_cast %188 : index to i32
      linalg.yield %189 : i32
    } -> tensor<16xi32>
    %25 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%24 : tensor<16xi32>) outs(%23 : tensor<16xi32>) {
    ^bb0(%in: i32, %out: i32):
      %188 = arith.subi %c0_i32, %in : i32
      linalg.yield %188 : i32
    } -> tensor<16xi32>
    %26 = tensor.empty() : tensor<16xf32>
    %27 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%25 : tensor<16xi32>) outs(%26 : tensor<16xf32>) {
    ^bb0(%in: i32, %out: f32):
      %188 = arith.sitofp %in : i32 to f32
      linalg.yield %188 : f32
    } -> tensor<16xf32>
    %28 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel"]} ins(%cst_2 : tensor<f32>) outs(%26 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel"]} ins(%27, %28 : tensor<16xf32>, tensor<16xf32>) outs(%26 : tensor<16xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<16xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel"]} ins(%cst_3 : tensor<f32>) outs(%26 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel"]} ins(%30, %29 : tensor<16xf32>, tensor<16xf32>) outs(%26 : tensor<16xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = math.powf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<16xf32>
    %32 = tensor.empty(%dim) : tensor<?x1xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<?x1xi32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %188 = arith.sitofp %in : i32 to f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %34 = tensor.empty() : tensor<1x16xf32>
    %35 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<16xf32>) outs(%34 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %36 = tensor.empty(%dim) : tensor<?x16xf32>
    %37 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<?x1xf32>) outs(%36 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %38 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<1x16xf32>) outs(%36 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%37, %38 : tensor<?x16xf32>, tensor<?x16xf32>) outs(%36 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x16xf32>
    %40 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<?x16xf32>) outs(%36 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.sin %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x16xf32>
    %41 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<?x16xf32>) outs(%36 : tensor<?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.cos %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x16xf32>
    %concat = tensor.concat dim(1) %40, %41 : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
    %42 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15, %concat : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%42, %42 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %44 = tensor.empty(%dim) : tensor<?xf32>
    %45 = linalg.fill ins(%cst_1 : f32) outs(%44 : tensor<?xf32>) -> tensor<?xf32>
    %46 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%43 : tensor<?x32xf32>) outs(%45 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<?xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%46 : tensor<?xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %48 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%47, %48 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %50 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %51 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%49, %50 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.rsqrt %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %53 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%42, %53 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %55 = tensor.empty() : tensor<1x32xf32>
    %56 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<32xf32>) outs(%55 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %57 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %58 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%54, %57 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %59 = tensor.empty(%dim) : tensor<?x4x8xf32>
    %60 = linalg.fill ins(%cst_1 : f32) outs(%59 : tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
    %61 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%58, %arg6 : tensor<?x32xf32>, tensor<4x32x8xf32>) outs(%60 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x4x8xf32>
    %62 = tensor.empty(%dim) : tensor<2x8x?xf32>
    %63 = linalg.fill ins(%cst_1 : f32) outs(%62 : tensor<2x8x?xf32>) -> tensor<2x8x?xf32>
    %64 = linalg.generic {indexing_maps = [#map11, #map12, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %58 : tensor<2x32x8xf32>, tensor<?x32xf32>) outs(%63 : tensor<2x8x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<2x8x?xf32>
    %65 = tensor.empty(%dim) : tensor<2x?x8xf32>
    %66 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<2x8x?xf32>) outs(%65 : tensor<2x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x?x8xf32>
    %extracted_slice = tensor.extract_slice %66[0, 0, 0] [1, %dim, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x?x8xf32>
    %from_elements = tensor.from_elements %dim, %c8 : tensor<2xindex>
    %reshape = tensor.reshape %extracted_slice(%from_elements) : (tensor<1x?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %extracted_slice_11 = tensor.extract_slice %66[1, 0, 0] [1, %dim, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x?x8xf32>
    %reshape_12 = tensor.reshape %extracted_slice_11(%from_elements) : (tensor<1x?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %67 = tensor.empty(%dim) : tensor<?x8xf32>
    %68 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%67 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x8xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%reshape, %68 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%67 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x8xf32>
    %70 = tensor.empty(%dim, %dim) : tensor<?x?x4xf32>
    %71 = linalg.fill ins(%cst_1 : f32) outs(%70 : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %72 = linalg.generic {indexing_maps = [#map8, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%69, %61 : tensor<?x8xf32>, tensor<?x4x8xf32>) outs(%71 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x?x4xf32>
    %73 = tensor.empty(%dim, %dim) : tensor<4x?x?xf32>
    %74 = linalg.generic {indexing_maps = [#map16, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<?x?x4xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %75 = tensor.empty(%dim) : tensor<1x?xi32>
    %76 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<?xi32>) outs(%75 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %77 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %78 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<?x1xi32>) outs(%77 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %79 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%76 : tensor<1x?xi32>) outs(%77 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %80 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %81 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%78, %79 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%80 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_17: i32, %out: i1):
      %188 = arith.cmpi slt, %in, %in_17 : i32
      linalg.yield %188 : i1
    } -> tensor<?x?xi1>
    %82 = tensor.empty() : tensor<f32>
    %83 = linalg.generic {indexing_maps = [#map17], iterator_types = []} outs(%82 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %84 = tensor.empty(%dim, %dim) : tensor<4x?x?xi1>
    %85 = linalg.generic {indexing_maps = [#map18, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<?x?xi1>) outs(%84 : tensor<4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<4x?x?xi1>
    %86 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<f32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %87 = linalg.generic {indexing_maps = [#map14, #map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %86, %74 : tensor<4x?x?xi1>, tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: i1, %in_17: f32, %in_18: f32, %out: f32):
      %188 = arith.select %in, %in_17, %in_18 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %88 = tensor.empty(%dim) : tensor<4x?xf32>
    %89 = linalg.fill ins(%cst : f32) outs(%88 : tensor<4x?xf32>) -> tensor<4x?xf32>
    %90 = linalg.generic {indexing_maps = [#map14, #map20], iterator_types = ["parallel", "parallel", "reduction"]} ins(%87 : tensor<4x?x?xf32>) outs(%89 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.maximumf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %91 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%88 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?xf32>
    %92 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%91, %90 : tensor<4x?xf32>, tensor<4x?xf32>) outs(%88 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.maximumf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %93 = tensor.empty(%dim) : tensor<4x?x1xf32>
    %94 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<4x?xf32>) outs(%93 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %95 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<4x?x1xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %96 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87, %95 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.subf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %97 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.exp %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %98 = linalg.fill ins(%cst_1 : f32) outs(%88 : tensor<4x?xf32>) -> tensor<4x?xf32>
    %99 = linalg.generic {indexing_maps = [#map14, #map20], iterator_types = ["parallel", "parallel", "reduction"]} ins(%97 : tensor<4x?x?xf32>) outs(%98 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %100 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<4x?xf32>) outs(%93 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %101 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<4x?x1xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %102 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %101 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %103 = tensor.empty(%dim) : tensor<8x4x?xf32>
    %104 = linalg.fill ins(%cst_1 : f32) outs(%103 : tensor<8x4x?xf32>) -> tensor<8x4x?xf32>
    %105 = linalg.generic {indexing_maps = [#map22, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_12, %102 : tensor<?x8xf32>, tensor<4x?x?xf32>) outs(%104 : tensor<8x4x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<8x4x?xf32>
    %106 = linalg.generic {indexing_maps = [#map16, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<8x4x?xf32>) outs(%59 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4x8xf32>
    %107 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%106, %arg5 : tensor<?x4x8xf32>, tensor<4x8x32xf32>) outs(%14 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x32xf32>
    %108 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%42, %107 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %109 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%108, %108 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %110 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%109 : tensor<?x32xf32>) outs(%45 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<?xf32>
    %111 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%110 : tensor<?xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %112 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%111, %48 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %113 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%112, %50 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %114 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%113 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.rsqrt %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %115 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%114 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %116 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%108, %115 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %117 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<32xf32>) outs(%55 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %118 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%117 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %119 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%116, %118 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %120 = tensor.empty(%dim) : tensor<?x64xf32>
    %121 = linalg.fill ins(%cst_1 : f32) outs(%120 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %122 = linalg.matmul ins(%119, %arg7 : tensor<?x32xf32>, tensor<32x64xf32>) outs(%121 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %123 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%120 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%122, %123 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%120 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.maximumf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x64xf32>
    %125 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%124, %124 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%120 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x64xf32>
    %126 = linalg.matmul ins(%125, %arg1 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%14 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %127 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%108, %126 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%127, %127 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %129 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%128 : tensor<?x32xf32>) outs(%45 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<?xf32>
    %130 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%129 : tensor<?xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %131 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%130, %48 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%131, %50 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %133 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%132 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.rsqrt %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %134 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%133 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %135 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%127, %134 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %136 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<32xf32>) outs(%55 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %137 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%136 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %138 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%135, %137 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %139 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%138, %arg13 : tensor<?x32xf32>, tensor<4x32x8xf32>) outs(%60 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x4x8xf32>
    %140 = linalg.generic {indexing_maps = [#map11, #map12, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg9, %138 : tensor<2x32x8xf32>, tensor<?x32xf32>) outs(%63 : tensor<2x8x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<2x8x?xf32>
    %141 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<2x8x?xf32>) outs(%65 : tensor<2x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x?x8xf32>
    %extracted_slice_13 = tensor.extract_slice %141[0, 0, 0] [1, %dim, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x?x8xf32>
    %reshape_14 = tensor.reshape %extracted_slice_13(%from_elements) : (tensor<1x?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %extracted_slice_15 = tensor.extract_slice %141[1, 0, 0] [1, %dim, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x?x8xf32>
    %reshape_16 = tensor.reshape %extracted_slice_15(%from_elements) : (tensor<1x?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %142 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%reshape_14, %68 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%67 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x8xf32>
    %143 = linalg.generic {indexing_maps = [#map8, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%142, %139 : tensor<?x8xf32>, tensor<?x4x8xf32>) outs(%71 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x?x4xf32>
    %144 = linalg.generic {indexing_maps = [#map16, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<?x?x4xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %145 = linalg.generic {indexing_maps = [#map14, #map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %86, %144 : tensor<4x?x?xi1>, tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: i1, %in_17: f32, %in_18: f32, %out: f32):
      %188 = arith.select %in, %in_17, %in_18 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %146 = linalg.generic {indexing_maps = [#map14, #map20], iterator_types = ["parallel", "parallel", "reduction"]} ins(%145 : tensor<4x?x?xf32>) outs(%89 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.maximumf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %147 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%91, %146 : tensor<4x?xf32>, tensor<4x?xf32>) outs(%88 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.maximumf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %148 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<4x?xf32>) outs(%93 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<4x?x1xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %150 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %149 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.subf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %151 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150 : tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.exp %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %152 = linalg.generic {indexing_maps = [#map14, #map20], iterator_types = ["parallel", "parallel", "reduction"]} ins(%151 : tensor<4x?x?xf32>) outs(%98 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<4x?xf32>
    %153 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%152 : tensor<4x?xf32>) outs(%93 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %154 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<4x?x1xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %155 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151, %154 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%73 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<4x?x?xf32>
    %156 = linalg.generic {indexing_maps = [#map22, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_16, %155 : tensor<?x8xf32>, tensor<4x?x?xf32>) outs(%104 : tensor<8x4x?xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<8x4x?xf32>
    %157 = linalg.generic {indexing_maps = [#map16, #map14], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<8x4x?xf32>) outs(%59 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4x8xf32>
    %158 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%157, %arg12 : tensor<?x4x8xf32>, tensor<4x8x32xf32>) outs(%14 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x32xf32>
    %159 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%127, %158 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %160 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%159, %159 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %161 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%160 : tensor<?x32xf32>) outs(%45 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<?xf32>
    %162 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%161 : tensor<?xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %163 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%162, %48 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %164 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%163, %50 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %165 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%164 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.rsqrt %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %166 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%165 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %167 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%159, %166 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %168 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg11 : tensor<32xf32>) outs(%55 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %169 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%168 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %170 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%167, %169 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %171 = linalg.matmul ins(%170, %arg14 : tensor<?x32xf32>, tensor<32x64xf32>) outs(%121 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %172 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%171, %123 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%120 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.maximumf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x64xf32>
    %173 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%172, %172 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%120 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x64xf32>
    %174 = linalg.matmul ins(%173, %arg8 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%14 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %175 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%159, %174 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %176 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%175, %175 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %177 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%176 : tensor<?x32xf32>) outs(%45 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = arith.addf %out, %in : f32
      linalg.yield %188 : f32
    } -> tensor<?xf32>
    %178 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%177 : tensor<?xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %179 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%178, %48 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.divf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %180 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%179, %50 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.addf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %181 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%180 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %188 = math.rsqrt %in : f32
      linalg.yield %188 : f32
    } -> tensor<?x1xf32>
    %182 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%181 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %183 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%175, %182 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %184 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg15 : tensor<32xf32>) outs(%55 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %185 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%184 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %186 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%183, %185 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      linalg.yield %188 : f32
    } -> tensor<?x32xf32>
    %187 = linalg.generic {indexing_maps = [#map26, #map18, #map20], iterator_types = ["parallel", "parallel", "reduction"]} ins(%186, %arg0 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%14 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_17: f32, %out: f32):
      %188 = arith.mulf %in, %in_17 : f32
      %189 = arith.addf %out, %188 : f32
      linalg.yield %189 : f32
    } -> tensor<?x32xf32>
    return %187 : tensor<?x32xf32>
  }
}

