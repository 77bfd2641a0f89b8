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
#map11 = affine_map<(d0, d1) -> (d1, d0)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1) -> (d0)>
#map16 = affine_map<(d0, d1) -> (d1)>
#map17 = affine_map<(d0, d1) -> (d0, 0)>
#map18 = affine_map<(d0, d1) -> (0, d1)>
#map19 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d1, 0, d3)>
#map21 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map22 = affine_map<(d0, d1, d2, d3) -> (0, d1, 0, d3)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map24 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map26 = affine_map<(d0, d1, d2, d3) -> ()>
#map27 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map28 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map29 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2)>
#map30 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, 0)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "neox", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<32x32xf32> {kv.weight = "embed"}, %arg1: tensor<32x32xf32> {kv.weight = "head"}, %arg2: tensor<32xf32> {kv.weight = "layers.0.dense.b"}, %arg3: tensor<32x32xf32> {kv.weight = "layers.0.dense.w"}, %arg4: tensor<64xf32> {kv.weight = "layers.0.in.b"}, %arg5: tensor<64x32xf32> {kv.weight = "layers.0.in.w"}, %arg6: tensor<32xf32> {kv.weight = "layers.0.norm1.b"}, %arg7: tensor<32xf32> {kv.weight = "layers.0.norm1.w"}, %arg8: tensor<32xf32> {kv.weight = "layers.0.norm2.b"}, %arg9: tensor<32xf32> {kv.weight = "layers.0.norm2.w"}, %arg10: tensor<32xf32> {kv.weight = "layers.0.out.b"}, %arg11: tensor<32x64xf32> {kv.weight = "layers.0.out.w"}, %arg12: tensor<96xf32> {kv.weight = "layers.0.qkv.b"}, %arg13: tensor<96x32xf32> {kv.weight = "layers.0.qkv.w"}, %arg14: tensor<32xf32> {kv.weight = "layers.1.dense.b"}, %arg15: tensor<32x32xf32> {kv.weight = "layers.1.dense.w"}, %arg16: tensor<64xf32> {kv.weight = "layers.1.in.b"}, %arg17: tensor<64x32xf32> {kv.weight = "layers.1.in.w"}, %arg18: tensor<32xf32> {kv.weight = "layers.1.norm1.b"}, %arg19: tensor<32xf32> {kv.weight = "layers.1.norm1.w"}, %arg20: tensor<32xf32> {kv.weight = "layers.1.norm2.b"}, %arg21: tensor<32xf32> {kv.weight = "layers.1.norm2.w"}, %arg22: tensor<32xf32> {kv.weight = "layers.1.out.b"}, %arg23: tensor<32x64xf32> {kv.weight = "layers.1.out.w"}, %arg24: tensor<96xf32> {kv.weight = "layers.1.qkv.b"}, %arg25: tensor<96x32xf32> {kv.weight = "layers.1.qkv.w"}, %arg26: tensor<32xf32> {kv.weight = "norm.b"}, %arg27: tensor<32xf32> {kv.weight = "norm.w"}, %arg28: tensor<1x?xi32> {kv.name = "tokens"}) -> (tensor<1x?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c31 = arith.constant 31 : index
    %c8 = arith.constant 8 : index
    %c24 = arith.constant 24 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %cst_1 = arith.constant dense<32> : tensor<i32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_5 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_6 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_7 = arith.constant dense<1.000000e+04> : tensor<f32>
    %cst_8 = arith.constant dense<0.353553385> : tensor<f32>
    %cst_9 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_10 = arith.constant dense<0.707106769> : tensor<f32>
    %cst_11 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_12 = arith.constant dense<2.326820e-02> : tensor<f32>
    %cst_13 = arith.constant dense<-0.138703942> : tensor<f32>
    %cst_14 = arith.constant dense<0.368742466> : tensor<f32>
    %cst_15 = arith.constant dense<-0.582473278> : tensor<f32>
    %cst_16 = arith.constant dense<0.621000468> : tensor<f32>
    %cst_17 = arith.constant dense<-0.494451523> : tensor<f32>
    %cst_18 = arith.constant dense<3.404880e-01> : tensor<f32>
    %cst_19 = arith.constant dense<-0.274112701> : tensor<f32>
    %cst_20 = arith.constant dense<0.563825965> : tensor<f32>
    %cst_21 = arith.constant dense<-10.477664> : tensor<f32>
    %cst_22 = arith.constant dense<1.297720e+01> : tensor<f32>
    %cst_23 = arith.constant dense<-7.49551868> : tensor<f32>
    %cst_24 = arith.constant dense<2.92101908> : tensor<f32>
    %cst_25 = arith.constant dense<-1.01526523> : tensor<f32>
    %cst_26 = arith.constant dense<0.42184633> : tensor<f32>
    %cst_27 = arith.constant dense<-0.282076746> : tensor<f32>
    %cst_28 = arith.constant dense<0.564189494> : tensor<f32>
    %cst_29 = arith.constant dense<-88.7228394> : tensor<f32>
    %cst_30 = arith.constant dense<7.85386146E-5> : tensor<f32>
    %cst_31 = arith.constant dense<-8.0101937E-4> : tensor<f32>
    %cst_32 = arith.constant dense<0.00518832775> : tensor<f32>
    %cst_33 = arith.constant dense<-0.0268538129> : tensor<f32>
    %cst_34 = arith.constant dense<0.112835854> : tensor<f32>
    %cst_35 = arith.constant dense<-0.37612626> : tensor<f32>
    %cst_36 = arith.constant dense<1.12837911> : tensor<f32>
    %cst_37 = arith.constant dense<0> : tensor<i32>
    %cst_38 = arith.constant dense<1> : tensor<i32>
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg28, %c1 : tensor<1x?xi32>
    %0 = arith.cmpi sge, %dim, %c1 : index
    cf.assert %0, "Expected value >= 1 for dimension variable 'T'"
    %1 = arith.subi %c64, %dim : index
    %2 = arith.cmpi sge, %1, %c0 : index
    cf.assert %2, "Expected '- T + 64' to be greater or equal to 0, but found {0}"
    %3 = tensor.empty(%dim) : tensor<?xi32>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<?xi32>) {
    ^bb0(%out: i32):
      %439 = linalg.index 0 : index
      %440 = arith.index_cast %439 : index to i32
      linalg.yield %440 : i32
    } -> tensor<?xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_38 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%5, %4 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_78: i32, %out: i32):
      %439 = arith.muli %in, %in_78 : i32
      linalg.yield %439 : i32
    } -> tensor<?xi32>
    %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_37 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%7, %6 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_78: i32, %out: i32):
      %439 = arith.addi %in, %in_78 : i32
      linalg.yield %439 : i32
    } -> tensor<?xi32>
    %9 = tensor.empty(%dim) : tensor<1x?xi32>
    %10 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_37 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %11 = tensor.empty(%dim) : tensor<1x?xi1>
    %12 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg28, %10 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%11 : tensor<1x?xi1>) {
    ^bb0(%in: i32, %in_78: i32, %out: i1):
      %439 = arith.cmpi slt, %in, %in_78 : i32
      linalg.yield %439 : i1
    } -> tensor<1x?xi1>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?xi32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg28, %13 : tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i32, %in_78: i32, %out: i32):
      %439 = arith.addi %in, %in_78 : i32
      linalg.yield %439 : i32
    } -> tensor<1x?xi32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12, %14, %arg28 : tensor<1x?xi1>, tensor<1x?xi32>, tensor<1x?xi32>) outs(%9 : tensor<1x?xi32>) {
    ^bb0(%in: i1, %in_78: i32, %in_79: i32, %out: i32):
      %439 = arith.select %in, %in_78, %in_79 : i32
      linalg.yield %439 : i32
    } -> tensor<1x?xi32>
    %16 = tensor.empty(%dim) : tensor<1x?x1xi32>
    %17 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x?xi32>) outs(%16 : tensor<1x?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x?x1xi32>
    %18 = tensor.empty(%dim) : tensor<1x?x32xf32>
    %19 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%out: f32):
      %439 = linalg.index 1 : index
      %440 = linalg.index 2 : index
      %extracted = tensor.extract %17[%c0, %439, %c0] : tensor<1x?x1xi32>
      %441 = arith.index_cast %extracted : i32 to index
      %442 = arith.maxsi %441, %c0 : index
      %443 = arith.minsi %442, %c31 : index
      %extracted_78 = tensor.extract %arg0[%443, %440] : tensor<32x32xf32>
      linalg.yield %extracted_78 : f32
    } -> tensor<1x?x32xf32>
    %20 = tensor.empty(%dim, %dim) : tensor<?x?xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%20 : tensor<?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x?xf32>
    %22 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %23 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%22 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %439 = linalg.index 0 : index
      %440 = arith.index_cast %439 : index to i32
      linalg.yield %440 : i32
    } -> tensor<?x?xi32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_37 : tensor<i32>) outs(%22 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%23, %24 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%22 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %in_78: i32, %out: i32):
      %439 = arith.addi %in, %in_78 : i32
      linalg.yield %439 : i32
    } -> tensor<?x?xi32>
    %26 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%22 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %439 = linalg.index 1 : index
      %440 = arith.index_cast %439 : index to i32
      linalg.yield %440 : i32
    } -> tensor<?x?xi32>
    %27 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %28 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%25, %26 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%27 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_78: i32, %out: i1):
      %439 = arith.cmpi sge, %in, %in_78 : i32
      linalg.yield %439 : i1
    } -> tensor<?x?xi1>
    %29 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%20 : tensor<?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x?xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%28, %29, %21 : tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) outs(%20 : tensor<?x?xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<?x?xf32>
    %31 = tensor.empty(%dim) : tensor<1x?xf32>
    %32 = linalg.fill ins(%cst_0 : f32) outs(%31 : tensor<1x?xf32>) -> tensor<1x?xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%19 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %34 = tensor.empty(%dim) : tensor<1x?x1xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %38 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %39 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %38 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %39 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %41 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%40 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %44 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %44 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %46 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.sqrt %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %47 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %48 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %47 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %49 = tensor.empty() : tensor<1x1x32xf32>
    %50 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %51 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %52 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %51 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %53 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %54 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %55 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52, %54 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %56 = tensor.empty() : tensor<32x96xf32>
    %57 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg13 : tensor<96x32xf32>) outs(%56 : tensor<32x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x96xf32>
    %58 = tensor.empty(%dim) : tensor<1x?x96xf32>
    %59 = linalg.fill ins(%cst_0 : f32) outs(%58 : tensor<1x?x96xf32>) -> tensor<1x?x96xf32>
    %60 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%55, %57 : tensor<1x?x32xf32>, tensor<32x96xf32>) outs(%59 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x96xf32>
    %61 = tensor.empty() : tensor<1x1x96xf32>
    %62 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12 : tensor<96xf32>) outs(%61 : tensor<1x1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x96xf32>
    %63 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<1x1x96xf32>) outs(%58 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x96xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<1x?x96xf32>, tensor<1x?x96xf32>) outs(%58 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x96xf32>
    %from_elements = tensor.from_elements %c1, %dim, %c4, %c24 : tensor<4xindex>
    %reshape = tensor.reshape %64(%from_elements) : (tensor<1x?x96xf32>, tensor<4xindex>) -> tensor<1x?x4x24xf32>
    %extracted_slice = tensor.extract_slice %reshape[0, 0, 0, 0] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %extracted_slice_39 = tensor.extract_slice %reshape[0, 0, 0, 8] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %extracted_slice_40 = tensor.extract_slice %reshape[0, 0, 0, 16] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %65 = tensor.empty(%dim) : tensor<?x1xi32>
    %66 = linalg.generic {indexing_maps = [#map15, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?xi32>) outs(%65 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %67 = tensor.empty() : tensor<2xi32>
    %68 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%67 : tensor<2xi32>) {
    ^bb0(%out: i32):
      %439 = linalg.index 0 : index
      %440 = arith.index_cast %439 : index to i32
      linalg.yield %440 : i32
    } -> tensor<2xi32>
    %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%68 : tensor<2xi32>) outs(%67 : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      %439 = arith.subi %c0_i32, %in : i32
      linalg.yield %439 : i32
    } -> tensor<2xi32>
    %70 = tensor.empty() : tensor<2xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%69 : tensor<2xi32>) outs(%70 : tensor<2xf32>) {
    ^bb0(%in: i32, %out: f32):
      %439 = arith.sitofp %in : i32 to f32
      linalg.yield %439 : f32
    } -> tensor<2xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_6 : tensor<f32>) outs(%70 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%71, %72 : tensor<2xf32>, tensor<2xf32>) outs(%70 : tensor<2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<2xf32>
    %74 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel"]} ins(%cst_7 : tensor<f32>) outs(%70 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%74, %73 : tensor<2xf32>, tensor<2xf32>) outs(%70 : tensor<2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = math.powf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<2xf32>
    %76 = tensor.empty(%dim) : tensor<?x1xf32>
    %77 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%66 : tensor<?x1xi32>) outs(%76 : tensor<?x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %439 = arith.sitofp %in : i32 to f32
      linalg.yield %439 : f32
    } -> tensor<?x1xf32>
    %78 = tensor.empty() : tensor<1x2xf32>
    %79 = linalg.generic {indexing_maps = [#map16, #map3], iterator_types = ["parallel", "parallel"]} ins(%75 : tensor<2xf32>) outs(%78 : tensor<1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2xf32>
    %80 = tensor.empty(%dim) : tensor<?x2xf32>
    %81 = linalg.generic {indexing_maps = [#map17, #map3], iterator_types = ["parallel", "parallel"]} ins(%77 : tensor<?x1xf32>) outs(%80 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x2xf32>
    %82 = linalg.generic {indexing_maps = [#map18, #map3], iterator_types = ["parallel", "parallel"]} ins(%79 : tensor<1x2xf32>) outs(%80 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x2xf32>
    %83 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%81, %82 : tensor<?x2xf32>, tensor<?x2xf32>) outs(%80 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<?x2xf32>
    %84 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%83 : tensor<?x2xf32>) outs(%80 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.cos %in : f32
      linalg.yield %439 : f32
    } -> tensor<?x2xf32>
    %85 = tensor.empty(%dim) : tensor<?x1x2xf32>
    %86 = linalg.generic {indexing_maps = [#map19, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<?x2xf32>) outs(%85 : tensor<?x1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x2xf32>
    %87 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%83 : tensor<?x2xf32>) outs(%80 : tensor<?x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.sin %in : f32
      linalg.yield %439 : f32
    } -> tensor<?x2xf32>
    %88 = linalg.generic {indexing_maps = [#map19, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<?x2xf32>) outs(%85 : tensor<?x1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x2xf32>
    %extracted_slice_41 = tensor.extract_slice %extracted_slice[0, 0, 0, 0] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_42 = tensor.extract_slice %extracted_slice[0, 0, 0, 2] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_43 = tensor.extract_slice %extracted_slice[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %89 = tensor.empty(%dim) : tensor<1x?x1x2xf32>
    %90 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%86 : tensor<?x1x2xf32>) outs(%89 : tensor<1x?x1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x2xf32>
    %91 = tensor.empty(%dim) : tensor<1x?x4x2xf32>
    %92 = linalg.generic {indexing_maps = [#map22, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90 : tensor<1x?x1x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x2xf32>
    %93 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_41, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %94 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%88 : tensor<?x1x2xf32>) outs(%89 : tensor<1x?x1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1x2xf32>
    %95 = linalg.generic {indexing_maps = [#map22, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%94 : tensor<1x?x1x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x2xf32>
    %96 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_42, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %97 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%93, %96 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %98 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_42, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %99 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_41, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %100 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98, %99 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %concat = tensor.concat dim(3) %97, %100, %extracted_slice_43 : (tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %extracted_slice_44 = tensor.extract_slice %extracted_slice_39[0, 0, 0, 0] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_45 = tensor.extract_slice %extracted_slice_39[0, 0, 0, 2] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_46 = tensor.extract_slice %extracted_slice_39[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %101 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_44, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %102 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_45, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %103 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101, %102 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %104 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_45, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %105 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_44, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %106 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%104, %105 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %concat_47 = tensor.concat dim(3) %103, %106, %extracted_slice_46 : (tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %dim_48 = tensor.dim %concat, %c1 : tensor<1x?x4x8xf32>
    %107 = tensor.empty(%dim_48) : tensor<1x4x?x8xf32>
    %108 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat : tensor<1x?x4x8xf32>) outs(%107 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %dim_49 = tensor.dim %concat_47, %c1 : tensor<1x?x4x8xf32>
    %109 = tensor.empty(%dim_49) : tensor<1x4x?x8xf32>
    %110 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_47 : tensor<1x?x4x8xf32>) outs(%109 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %111 = tensor.empty(%dim) : tensor<1x4x?x8xf32>
    %112 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_40 : tensor<1x?x4x8xf32>) outs(%111 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %113 = tensor.empty(%dim_49) : tensor<1x4x8x?xf32>
    %114 = linalg.generic {indexing_maps = [#map24, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110 : tensor<1x4x?x8xf32>) outs(%113 : tensor<1x4x8x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8x?xf32>
    %from_elements_50 = tensor.from_elements %c4, %dim, %c8 : tensor<3xindex>
    %reshape_51 = tensor.reshape %108(%from_elements_50) : (tensor<1x4x?x8xf32>, tensor<3xindex>) -> tensor<4x?x8xf32>
    %from_elements_52 = tensor.from_elements %c4, %c8, %dim : tensor<3xindex>
    %reshape_53 = tensor.reshape %114(%from_elements_52) : (tensor<1x4x8x?xf32>, tensor<3xindex>) -> tensor<4x8x?xf32>
    %115 = tensor.empty(%dim, %dim) : tensor<4x?x?xf32>
    %116 = linalg.fill ins(%cst_0 : f32) outs(%115 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %117 = linalg.batch_matmul ins(%reshape_51, %reshape_53 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%116 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %118 = tensor.empty(%dim, %dim) : tensor<1x4x?x?xf32>
    %119 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%117 : tensor<4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %120 = linalg.generic {indexing_maps = [#map26, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %121 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%119, %120 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %122 = tensor.empty(%dim, %dim) : tensor<1x1x?x?xf32>
    %123 = linalg.generic {indexing_maps = [#map27, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<?x?xf32>) outs(%122 : tensor<1x1x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x?x?xf32>
    %124 = linalg.generic {indexing_maps = [#map28, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%123 : tensor<1x1x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %125 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%121, %124 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %126 = tensor.empty(%dim) : tensor<1x4x?xf32>
    %127 = linalg.fill ins(%cst : f32) outs(%126 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %128 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%125 : tensor<1x4x?x?xf32>) outs(%127 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.maximumf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?xf32>
    %129 = tensor.empty(%dim) : tensor<1x4x?x1xf32>
    %130 = linalg.generic {indexing_maps = [#map29, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%128 : tensor<1x4x?xf32>) outs(%129 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %131 = linalg.generic {indexing_maps = [#map30, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%130 : tensor<1x4x?x1xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %132 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%125, %131 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %133 = linalg.generic {indexing_maps = [#map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%132 : tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.exp %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %134 = linalg.fill ins(%cst_0 : f32) outs(%126 : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
    %135 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%133 : tensor<1x4x?x?xf32>) outs(%134 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?xf32>
    %136 = linalg.generic {indexing_maps = [#map29, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%135 : tensor<1x4x?xf32>) outs(%129 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %137 = linalg.generic {indexing_maps = [#map30, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%136 : tensor<1x4x?x1xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %138 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%133, %137 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %from_elements_54 = tensor.from_elements %c4, %dim, %dim : tensor<3xindex>
    %reshape_55 = tensor.reshape %138(%from_elements_54) : (tensor<1x4x?x?xf32>, tensor<3xindex>) -> tensor<4x?x?xf32>
    %reshape_56 = tensor.reshape %112(%from_elements_50) : (tensor<1x4x?x8xf32>, tensor<3xindex>) -> tensor<4x?x8xf32>
    %139 = tensor.empty(%dim) : tensor<4x?x8xf32>
    %140 = linalg.fill ins(%cst_0 : f32) outs(%139 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %141 = linalg.batch_matmul ins(%reshape_55, %reshape_56 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%140 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %142 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%141 : tensor<4x?x8xf32>) outs(%111 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %143 = tensor.empty(%dim) : tensor<1x?x4x8xf32>
    %144 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%142 : tensor<1x4x?x8xf32>) outs(%143 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x8xf32>
    %from_elements_57 = tensor.from_elements %c1, %dim, %c32 : tensor<3xindex>
    %reshape_58 = tensor.reshape %144(%from_elements_57) : (tensor<1x?x4x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %145 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %146 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %147 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %146 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %148 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %149 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %150 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %149 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %151 = tensor.empty() : tensor<32x64xf32>
    %152 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<64x32xf32>) outs(%151 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x64xf32>
    %153 = tensor.empty(%dim) : tensor<1x?x64xf32>
    %154 = linalg.fill ins(%cst_0 : f32) outs(%153 : tensor<1x?x64xf32>) -> tensor<1x?x64xf32>
    %155 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%150, %152 : tensor<1x?x32xf32>, tensor<32x64xf32>) outs(%154 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x64xf32>
    %156 = tensor.empty() : tensor<1x1x64xf32>
    %157 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<64xf32>) outs(%156 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %158 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<1x1x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %159 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155, %158 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %160 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %161 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %159 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %162 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.negf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %163 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %164 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162, %163 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %165 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %164 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %166 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.negf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %167 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.absf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %168 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %169 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %170 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.exp %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %171 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %167 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %172 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %171 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %173 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %174 = tensor.empty(%dim) : tensor<1x?x64xi1>
    %175 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167, %173 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %176 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %177 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %178 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_13 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %179 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177, %178 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %180 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %181 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_14 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %182 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180, %181 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %183 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%182, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %184 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_15 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %185 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183, %184 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %186 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %187 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_16 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %188 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186, %187 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %189 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %190 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_17 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %191 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%189, %190 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %192 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %193 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_18 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %194 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %193 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %195 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %196 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_19 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %197 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%195, %196 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %198 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%197, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %199 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_20 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %200 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %199 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %201 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_21 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %202 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %203 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_22 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %204 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202, %203 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %205 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %206 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_23 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %207 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205, %206 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %208 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %209 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_24 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %210 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %209 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %211 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %212 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_25 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %213 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%211, %212 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %214 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %215 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_26 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %216 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214, %215 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %217 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %218 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_27 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %219 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%217, %218 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %220 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%219, %169 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %221 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_28 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %222 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%220, %221 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %223 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %200, %222 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %224 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172, %223 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %225 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_29 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %226 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %225 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %227 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %228 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226, %227, %224 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %229 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %227 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %230 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173, %228 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %231 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%229, %230, %228 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %232 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_30 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %233 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %234 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_31 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %235 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%233, %234 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %236 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%235, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %237 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_32 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %238 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %237 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %239 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%238, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %240 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_33 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %241 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%239, %240 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %242 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%241, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %243 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_34 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %244 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%242, %243 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %245 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%244, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %246 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_35 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %247 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%245, %246 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %248 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%247, %165 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %249 = linalg.generic {indexing_maps = [#map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_36 : tensor<f32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %250 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %249 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %251 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %250 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %252 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %251 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %253 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167, %168 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %254 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%253, %252, %231 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %255 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161, %254 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %256 = tensor.empty() : tensor<64x32xf32>
    %257 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg11 : tensor<32x64xf32>) outs(%256 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %258 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x?x32xf32>) -> tensor<1x?x32xf32>
    %259 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%255, %257 : tensor<1x?x64xf32>, tensor<64x32xf32>) outs(%258 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x32xf32>
    %260 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %261 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %262 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%259, %261 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %263 = tensor.empty() : tensor<32x32xf32>
    %264 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<32x32xf32>) outs(%263 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %265 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_58, %264 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%258 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x32xf32>
    %266 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %267 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%266 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %268 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%265, %267 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %269 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %268 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %270 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %262 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %271 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%270 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %272 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%271 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %273 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%272, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %274 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%273 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %275 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %274 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %276 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%275, %275 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %277 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%276 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %278 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%277 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %279 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %280 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%279, %44 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %281 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%280 : tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.sqrt %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %282 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%281 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %283 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%275, %282 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %284 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg19 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %285 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %286 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %285 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %287 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg18 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %288 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%287 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %289 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%286, %288 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %290 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg25 : tensor<96x32xf32>) outs(%56 : tensor<32x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x96xf32>
    %291 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%289, %290 : tensor<1x?x32xf32>, tensor<32x96xf32>) outs(%59 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x96xf32>
    %292 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg24 : tensor<96xf32>) outs(%61 : tensor<1x1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x96xf32>
    %293 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%292 : tensor<1x1x96xf32>) outs(%58 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x96xf32>
    %294 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%291, %293 : tensor<1x?x96xf32>, tensor<1x?x96xf32>) outs(%58 : tensor<1x?x96xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x96xf32>
    %reshape_59 = tensor.reshape %294(%from_elements) : (tensor<1x?x96xf32>, tensor<4xindex>) -> tensor<1x?x4x24xf32>
    %extracted_slice_60 = tensor.extract_slice %reshape_59[0, 0, 0, 0] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %extracted_slice_61 = tensor.extract_slice %reshape_59[0, 0, 0, 8] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %extracted_slice_62 = tensor.extract_slice %reshape_59[0, 0, 0, 16] [1, %dim, 4, 8] [1, 1, 1, 1] : tensor<1x?x4x24xf32> to tensor<1x?x4x8xf32>
    %extracted_slice_63 = tensor.extract_slice %extracted_slice_60[0, 0, 0, 0] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_64 = tensor.extract_slice %extracted_slice_60[0, 0, 0, 2] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_65 = tensor.extract_slice %extracted_slice_60[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %295 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_63, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %296 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_64, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %297 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%295, %296 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %298 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_64, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %299 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_63, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %300 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%298, %299 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %concat_66 = tensor.concat dim(3) %297, %300, %extracted_slice_65 : (tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %extracted_slice_67 = tensor.extract_slice %extracted_slice_61[0, 0, 0, 0] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_68 = tensor.extract_slice %extracted_slice_61[0, 0, 0, 2] [1, %dim, 4, 2] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x2xf32>
    %extracted_slice_69 = tensor.extract_slice %extracted_slice_61[0, 0, 0, 4] [1, %dim, 4, 4] [1, 1, 1, 1] : tensor<1x?x4x8xf32> to tensor<1x?x4x4xf32>
    %301 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_67, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %302 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_68, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %303 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%301, %302 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %304 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_68, %92 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %305 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_67, %95 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %306 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%304, %305 : tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>) outs(%91 : tensor<1x?x4x2xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x4x2xf32>
    %concat_70 = tensor.concat dim(3) %303, %306, %extracted_slice_69 : (tensor<1x?x4x2xf32>, tensor<1x?x4x2xf32>, tensor<1x?x4x4xf32>) -> tensor<1x?x4x8xf32>
    %dim_71 = tensor.dim %concat_66, %c1 : tensor<1x?x4x8xf32>
    %307 = tensor.empty(%dim_71) : tensor<1x4x?x8xf32>
    %308 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_66 : tensor<1x?x4x8xf32>) outs(%307 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %dim_72 = tensor.dim %concat_70, %c1 : tensor<1x?x4x8xf32>
    %309 = tensor.empty(%dim_72) : tensor<1x4x?x8xf32>
    %310 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_70 : tensor<1x?x4x8xf32>) outs(%309 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %311 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_62 : tensor<1x?x4x8xf32>) outs(%111 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %312 = tensor.empty(%dim_72) : tensor<1x4x8x?xf32>
    %313 = linalg.generic {indexing_maps = [#map24, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%310 : tensor<1x4x?x8xf32>) outs(%312 : tensor<1x4x8x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8x?xf32>
    %reshape_73 = tensor.reshape %308(%from_elements_50) : (tensor<1x4x?x8xf32>, tensor<3xindex>) -> tensor<4x?x8xf32>
    %reshape_74 = tensor.reshape %313(%from_elements_52) : (tensor<1x4x8x?xf32>, tensor<3xindex>) -> tensor<4x8x?xf32>
    %314 = linalg.batch_matmul ins(%reshape_73, %reshape_74 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%116 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %315 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%314 : tensor<4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %316 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%315, %120 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %317 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%316, %124 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %318 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%317 : tensor<1x4x?x?xf32>) outs(%127 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.maximumf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?xf32>
    %319 = linalg.generic {indexing_maps = [#map29, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%318 : tensor<1x4x?xf32>) outs(%129 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %320 = linalg.generic {indexing_maps = [#map30, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%319 : tensor<1x4x?x1xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %321 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%317, %320 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %322 = linalg.generic {indexing_maps = [#map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%321 : tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.exp %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %323 = linalg.generic {indexing_maps = [#map21, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%322 : tensor<1x4x?x?xf32>) outs(%134 : tensor<1x4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?xf32>
    %324 = linalg.generic {indexing_maps = [#map29, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%323 : tensor<1x4x?xf32>) outs(%129 : tensor<1x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x1xf32>
    %325 = linalg.generic {indexing_maps = [#map30, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%324 : tensor<1x4x?x1xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x?xf32>
    %326 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%322, %325 : tensor<1x4x?x?xf32>, tensor<1x4x?x?xf32>) outs(%118 : tensor<1x4x?x?xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x4x?x?xf32>
    %reshape_75 = tensor.reshape %326(%from_elements_54) : (tensor<1x4x?x?xf32>, tensor<3xindex>) -> tensor<4x?x?xf32>
    %reshape_76 = tensor.reshape %311(%from_elements_50) : (tensor<1x4x?x8xf32>, tensor<3xindex>) -> tensor<4x?x8xf32>
    %327 = linalg.batch_matmul ins(%reshape_75, %reshape_76 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%140 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %328 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%327 : tensor<4x?x8xf32>) outs(%111 : tensor<1x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x?x8xf32>
    %329 = linalg.generic {indexing_maps = [#map23, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%328 : tensor<1x4x?x8xf32>) outs(%143 : tensor<1x?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x4x8xf32>
    %reshape_77 = tensor.reshape %329(%from_elements_57) : (tensor<1x?x4x8xf32>, tensor<3xindex>) -> tensor<1x?x32xf32>
    %330 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %331 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%330 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %332 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %331 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %333 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %334 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%333 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %335 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%332, %334 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %336 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg17 : tensor<64x32xf32>) outs(%151 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x64xf32>
    %337 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%335, %336 : tensor<1x?x32xf32>, tensor<32x64xf32>) outs(%154 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x64xf32>
    %338 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg16 : tensor<64xf32>) outs(%156 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %339 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%338 : tensor<1x1x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x64xf32>
    %340 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%337, %339 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %341 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %340 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %342 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%340 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.negf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %343 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%342, %163 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %344 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%343, %343 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %345 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%344 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.negf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %346 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%343 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.absf %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %347 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %348 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%345 : tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.exp %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %349 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %346 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %350 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%348, %349 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %351 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%346, %173 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %352 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %353 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%352, %178 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %354 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%353, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %355 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%354, %181 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %356 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%355, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %357 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%356, %184 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %358 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%357, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %359 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%358, %187 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %360 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%359, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %361 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%360, %190 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %362 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%361, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %363 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%362, %193 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %364 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%363, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %365 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%364, %196 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %366 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%365, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %367 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%366, %199 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %368 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %369 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%368, %203 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %370 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%369, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %371 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%370, %206 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %372 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%371, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %373 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%372, %209 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %374 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%373, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %375 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%374, %212 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %376 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%375, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %377 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%376, %215 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %378 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%377, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %379 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%378, %218 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %380 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%379, %347 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %381 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%380, %221 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %382 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%351, %367, %381 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %383 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%350, %382 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %384 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%345, %225 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %385 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%384, %227, %383 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %386 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%343, %227 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %387 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173, %385 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %388 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%386, %387, %385 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %389 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %390 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%389, %234 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %391 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%390, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %392 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%391, %237 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %393 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%392, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %394 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%393, %240 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %395 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%394, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %396 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%395, %243 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %397 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%396, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %398 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%397, %246 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %399 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%398, %344 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %400 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%399, %249 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %401 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%343, %400 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %402 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %401 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %403 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%346, %168 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%174 : tensor<1x?x64xi1>) {
    ^bb0(%in: f32, %in_78: f32, %out: i1):
      %439 = arith.cmpf olt, %in, %in_78 : f32
      linalg.yield %439 : i1
    } -> tensor<1x?x64xi1>
    %404 = linalg.generic {indexing_maps = [#map5, #map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%403, %402, %388 : tensor<1x?x64xi1>, tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: i1, %in_78: f32, %in_79: f32, %out: f32):
      %439 = arith.select %in, %in_78, %in_79 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %405 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%341, %404 : tensor<1x?x64xf32>, tensor<1x?x64xf32>) outs(%153 : tensor<1x?x64xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x64xf32>
    %406 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg23 : tensor<32x64xf32>) outs(%256 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %407 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%405, %406 : tensor<1x?x64xf32>, tensor<64x32xf32>) outs(%258 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x32xf32>
    %408 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg22 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %409 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%408 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %410 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%407, %409 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %411 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg15 : tensor<32x32xf32>) outs(%263 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %412 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_77, %411 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%258 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x32xf32>
    %413 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %414 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%413 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %415 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%412, %414 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %416 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %415 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %417 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%416, %410 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %418 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%417 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %419 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%418 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %420 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%419, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %421 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%420 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %422 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%417, %421 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.subf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %423 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%422, %422 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %424 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%423 : tensor<1x?x32xf32>) outs(%32 : tensor<1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = arith.addf %out, %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?xf32>
    %425 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%424 : tensor<1x?xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x1xf32>
    %426 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%425, %36 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %427 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%426, %44 : tensor<1x?x1xf32>, tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %428 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%427 : tensor<1x?x1xf32>) outs(%34 : tensor<1x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %439 = math.sqrt %in : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x1xf32>
    %429 = linalg.generic {indexing_maps = [#map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%428 : tensor<1x?x1xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %430 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%422, %429 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.divf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %431 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg27 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %432 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%431 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %433 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%430, %432 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %434 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg26 : tensor<32xf32>) outs(%49 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %435 = linalg.generic {indexing_maps = [#map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%434 : tensor<1x1x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x?x32xf32>
    %436 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%433, %435 : tensor<1x?x32xf32>, tensor<1x?x32xf32>) outs(%18 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.addf %in, %in_78 : f32
      linalg.yield %439 : f32
    } -> tensor<1x?x32xf32>
    %437 = linalg.generic {indexing_maps = [#map11, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<32x32xf32>) outs(%263 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %438 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%436, %437 : tensor<1x?x32xf32>, tensor<32x32xf32>) outs(%258 : tensor<1x?x32xf32>) {
    ^bb0(%in: f32, %in_78: f32, %out: f32):
      %439 = arith.mulf %in, %in_78 : f32
      %440 = arith.addf %out, %439 : f32
      linalg.yield %440 : f32
    } -> tensor<1x?x32xf32>
    return %438 : tensor<1x?x32xf32>
  }
}

