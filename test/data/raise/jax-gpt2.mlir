#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> ()>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1) -> (0, d1)>
#map8 = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map11 = affine_map<(d0, d1, d2) -> ()>
#map12 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map14 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map15 = affine_map<(d0, d1) -> (d1, d0)>
module attributes {kv.model = {architecture = "jax", max_seq_len = 64 : i64, name = "gpt2", vocab_size = 32 : i64}} {
  func.func public @forward(%arg0: tensor<96xf32> {kv.weight = "layers.0.attn.b"}, %arg1: tensor<32x96xf32> {kv.weight = "layers.0.attn.w"}, %arg2: tensor<64xf32> {kv.weight = "layers.0.fc.b"}, %arg3: tensor<32x64xf32> {kv.weight = "layers.0.fc.w"}, %arg4: tensor<32xf32> {kv.weight = "layers.0.ln_1.b"}, %arg5: tensor<32xf32> {kv.weight = "layers.0.ln_1.w"}, %arg6: tensor<32xf32> {kv.weight = "layers.0.ln_2.b"}, %arg7: tensor<32xf32> {kv.weight = "layers.0.ln_2.w"}, %arg8: tensor<32xf32> {kv.weight = "layers.0.out.b"}, %arg9: tensor<64x32xf32> {kv.weight = "layers.0.out.w"}, %arg10: tensor<32xf32> {kv.weight = "layers.0.proj.b"}, %arg11: tensor<32x32xf32> {kv.weight = "layers.0.proj.w"}, %arg12: tensor<96xf32> {kv.weight = "layers.1.attn.b"}, %arg13: tensor<32x96xf32> {kv.weight = "layers.1.attn.w"}, %arg14: tensor<64xf32> {kv.weight = "layers.1.fc.b"}, %arg15: tensor<32x64xf32> {kv.weight = "layers.1.fc.w"}, %arg16: tensor<32xf32> {kv.weight = "layers.1.ln_1.b"}, %arg17: tensor<32xf32> {kv.weight = "layers.1.ln_1.w"}, %arg18: tensor<32xf32> {kv.weight = "layers.1.ln_2.b"}, %arg19: tensor<32xf32> {kv.weight = "layers.1.ln_2.w"}, %arg20: tensor<32xf32> {kv.weight = "layers.1.out.b"}, %arg21: tensor<64x32xf32> {kv.weight = "layers.1.out.w"}, %arg22: tensor<32xf32> {kv.weight = "layers.1.proj.b"}, %arg23: tensor<32x32xf32> {kv.weight = "layers.1.proj.w"}, %arg24: tensor<32xf32> {kv.weight = "ln_f.b"}, %arg25: tensor<32xf32> {kv.weight = "ln_f.w"}, %arg26: tensor<64x32xf32> {kv.weight = "wpe"}, %arg27: tensor<32x32xf32> {kv.weight = "wte"}, %arg28: tensor<?xi32> {kv.name = "tokens"}) -> (tensor<?x32xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c31 = arith.constant 31 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %cst_1 = arith.constant dense<32> : tensor<i32>
    %cst_2 = arith.constant dense<true> : tensor<i1>
    %cst_3 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_4 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_5 = arith.constant dense<2.82842708> : tensor<f32>
    %cst_6 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_7 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_8 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_9 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_10 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_11 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_12 = arith.constant dense<false> : tensor<i1>
    %cst_13 = arith.constant dense<0> : tensor<i32>
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg28, %c0 : tensor<?xi32>
    %0 = arith.cmpi sge, %dim, %c1 : index
    cf.assert %0, "Expected value >= 1 for dimension variable 'T'"
    %1 = arith.subi %c64, %dim : index
    %2 = arith.cmpi sge, %1, %c0 : index
    cf.assert %2, "Expected '- T + 64' to be greater or equal to 0, but found {0}"
    %3 = tensor.empty(%dim) : tensor<?xi32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_13 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %5 = tensor.empty(%dim) : tensor<?xi1>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%arg28, %4 : tensor<?xi32>, tensor<?xi32>) outs(%5 : tensor<?xi1>) {
    ^bb0(%in: i32, %in_28: i32, %out: i1):
      %247 = arith.cmpi slt, %in, %in_28 : i32
      linalg.yield %247 : i1
    } -> tensor<?xi1>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_1 : tensor<i32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?xi32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%arg28, %7 : tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i32, %in_28: i32, %out: i32):
      %247 = arith.addi %in, %in_28 : i32
      linalg.yield %247 : i32
    } -> tensor<?xi32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel"]} ins(%6, %8, %arg28 : tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) outs(%3 : tensor<?xi32>) {
    ^bb0(%in: i1, %in_28: i32, %in_29: i32, %out: i32):
      %247 = arith.select %in, %in_28, %in_29 : i32
      linalg.yield %247 : i32
    } -> tensor<?xi32>
    %10 = tensor.empty(%dim) : tensor<?x1xi32>
    %11 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<?xi32>) outs(%10 : tensor<?x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x1xi32>
    %12 = tensor.empty(%dim) : tensor<?x32xf32>
    %13 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%12 : tensor<?x32xf32>) {
    ^bb0(%out: f32):
      %247 = linalg.index 0 : index
      %248 = linalg.index 1 : index
      %extracted = tensor.extract %11[%247, %c0] : tensor<?x1xi32>
      %249 = arith.index_cast %extracted : i32 to index
      %250 = arith.maxsi %249, %c0 : index
      %251 = arith.minsi %250, %c31 : index
      %extracted_28 = tensor.extract %arg27[%251, %248] : tensor<32x32xf32>
      linalg.yield %extracted_28 : f32
    } -> tensor<?x32xf32>
    %extracted_slice = tensor.extract_slice %arg26[0, 0] [%dim, 32] [1, 1] : tensor<64x32xf32> to tensor<?x32xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%13, %extracted_slice : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %15 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %16 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%15 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %17 = tensor.empty(%dim, %dim) : tensor<?x?xi32>
    %18 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%17 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %247 = linalg.index 0 : index
      %248 = arith.index_cast %247 : index to i32
      linalg.yield %248 : i32
    } -> tensor<?x?xi32>
    %19 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_13 : tensor<i32>) outs(%17 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<?x?xi32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %19 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%17 : tensor<?x?xi32>) {
    ^bb0(%in: i32, %in_28: i32, %out: i32):
      %247 = arith.addi %in, %in_28 : i32
      linalg.yield %247 : i32
    } -> tensor<?x?xi32>
    %21 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%17 : tensor<?x?xi32>) {
    ^bb0(%out: i32):
      %247 = linalg.index 1 : index
      %248 = arith.index_cast %247 : index to i32
      linalg.yield %248 : i32
    } -> tensor<?x?xi32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%20, %21 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%15 : tensor<?x?xi1>) {
    ^bb0(%in: i32, %in_28: i32, %out: i1):
      %247 = arith.cmpi sge, %in, %in_28 : i32
      linalg.yield %247 : i1
    } -> tensor<?x?xi1>
    %23 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_12 : tensor<i1>) outs(%15 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %24 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22, %16, %23 : tensor<?x?xi1>, tensor<?x?xi1>, tensor<?x?xi1>) outs(%15 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_28: i1, %in_29: i1, %out: i1):
      %247 = arith.select %in, %in_28, %in_29 : i1
      linalg.yield %247 : i1
    } -> tensor<?x?xi1>
    %25 = tensor.empty(%dim) : tensor<?xf32>
    %26 = linalg.fill ins(%cst_0 : f32) outs(%25 : tensor<?xf32>) -> tensor<?xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%14 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %28 = tensor.empty(%dim) : tensor<?x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%29, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%14, %32 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%33, %33 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%34 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %36 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%36, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%37, %38 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%39 : tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.sqrt %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %41 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%33, %41 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %43 = tensor.empty() : tensor<1x32xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %45 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%42, %45 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %47 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %48 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%47 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%46, %48 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %50 = tensor.empty(%dim) : tensor<?x96xf32>
    %51 = linalg.fill ins(%cst_0 : f32) outs(%50 : tensor<?x96xf32>) -> tensor<?x96xf32>
    %52 = linalg.matmul ins(%49, %arg1 : tensor<?x32xf32>, tensor<32x96xf32>) outs(%51 : tensor<?x96xf32>) -> tensor<?x96xf32>
    %53 = tensor.empty() : tensor<1x96xf32>
    %54 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<96xf32>) outs(%53 : tensor<1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x96xf32>
    %55 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<1x96xf32>) outs(%50 : tensor<?x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x96xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%52, %55 : tensor<?x96xf32>, tensor<?x96xf32>) outs(%50 : tensor<?x96xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x96xf32>
    %extracted_slice_14 = tensor.extract_slice %56[0, 0] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %extracted_slice_15 = tensor.extract_slice %56[0, 32] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %extracted_slice_16 = tensor.extract_slice %56[0, 64] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %from_elements = tensor.from_elements %dim, %c4, %c8 : tensor<3xindex>
    %reshape = tensor.reshape %extracted_slice_14(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %57 = tensor.empty(%dim) : tensor<4x?x8xf32>
    %58 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %reshape_17 = tensor.reshape %extracted_slice_15(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_17 : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %reshape_18 = tensor.reshape %extracted_slice_16(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %60 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_18 : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %61 = tensor.empty(%dim) : tensor<4x8x?xf32>
    %62 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<4x?x8xf32>) outs(%61 : tensor<4x8x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8x?xf32>
    %63 = tensor.empty(%dim, %dim) : tensor<4x?x?xf32>
    %64 = linalg.fill ins(%cst_0 : f32) outs(%63 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %65 = linalg.batch_matmul ins(%58, %62 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%64 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %66 = linalg.generic {indexing_maps = [#map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %67 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %66 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %68 = tensor.empty(%dim, %dim) : tensor<4x?x?xi1>
    %69 = linalg.generic {indexing_maps = [#map12, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<?x?xi1>) outs(%68 : tensor<4x?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<4x?x?xi1>
    %70 = linalg.generic {indexing_maps = [#map11, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %71 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %67, %70 : tensor<4x?x?xi1>, tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %247 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %72 = tensor.empty(%dim) : tensor<4x?xf32>
    %73 = linalg.fill ins(%cst : f32) outs(%72 : tensor<4x?xf32>) -> tensor<4x?xf32>
    %74 = linalg.generic {indexing_maps = [#map9, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%71 : tensor<4x?x?xf32>) outs(%73 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.maximumf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%72 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?xf32>
    %76 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%75, %74 : tensor<4x?xf32>, tensor<4x?xf32>) outs(%72 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.maximumf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %77 = tensor.empty(%dim) : tensor<4x?x1xf32>
    %78 = linalg.generic {indexing_maps = [#map13, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<4x?xf32>) outs(%77 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %79 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<4x?x1xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %80 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %79 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %81 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.exp %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %82 = linalg.fill ins(%cst_0 : f32) outs(%72 : tensor<4x?xf32>) -> tensor<4x?xf32>
    %83 = linalg.generic {indexing_maps = [#map9, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%81 : tensor<4x?x?xf32>) outs(%82 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %84 = linalg.generic {indexing_maps = [#map13, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<4x?xf32>) outs(%77 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %85 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<4x?x1xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %86 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %85 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %87 = linalg.fill ins(%cst_0 : f32) outs(%57 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %88 = linalg.batch_matmul ins(%86, %60 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%87 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %89 = tensor.empty(%dim) : tensor<?x4x8xf32>
    %90 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<4x?x8xf32>) outs(%89 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4x8xf32>
    %from_elements_19 = tensor.from_elements %dim, %c32 : tensor<2xindex>
    %reshape_20 = tensor.reshape %90(%from_elements_19) : (tensor<?x4x8xf32>, tensor<2xindex>) -> tensor<?x32xf32>
    %91 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %92 = linalg.matmul ins(%reshape_20, %arg11 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%91 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %93 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%14, %92 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %94 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %95 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%94 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %96 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%93, %95 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %97 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%96 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %98 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%97 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%98, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %100 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%99 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %101 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%96, %100 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %102 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%101, %101 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %103 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%102 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %104 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%103 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%104, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%105, %38 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %107 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%106 : tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.sqrt %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %108 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%107 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %109 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%101, %108 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %110 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg7 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %111 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%110 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %112 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%109, %111 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %113 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg6 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %114 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%113 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %115 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%112, %114 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %116 = tensor.empty(%dim) : tensor<?x64xf32>
    %117 = linalg.fill ins(%cst_0 : f32) outs(%116 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %118 = linalg.matmul ins(%115, %arg3 : tensor<?x32xf32>, tensor<32x64xf32>) outs(%117 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %119 = tensor.empty() : tensor<1x64xf32>
    %120 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<64xf32>) outs(%119 : tensor<1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x64xf32>
    %121 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%120 : tensor<1x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %122 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%118, %121 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%122, %122 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %124 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%123, %122 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %125 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %126 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%125, %124 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %127 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%122, %126 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %128 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %129 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%128, %127 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %130 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%129 : tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.tanh %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %131 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %132 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%131, %130 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %133 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %134 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%133, %132 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%122, %134 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %136 = linalg.matmul ins(%135, %arg9 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%91 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %137 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%96, %136 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %138 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %139 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%138 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%137, %139 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%140 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %142 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%141 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %143 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%142, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %144 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%143 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %145 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%140, %144 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%145, %145 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %147 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%146 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %148 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%147 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%148, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%149, %38 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %151 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%150 : tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.sqrt %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %152 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%151 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %153 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%145, %152 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %154 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg17 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %155 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%154 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%153, %155 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %157 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg16 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %158 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%157 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %159 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%156, %158 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %160 = linalg.matmul ins(%159, %arg13 : tensor<?x32xf32>, tensor<32x96xf32>) outs(%51 : tensor<?x96xf32>) -> tensor<?x96xf32>
    %161 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<96xf32>) outs(%53 : tensor<1x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x96xf32>
    %162 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%161 : tensor<1x96xf32>) outs(%50 : tensor<?x96xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x96xf32>
    %163 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%160, %162 : tensor<?x96xf32>, tensor<?x96xf32>) outs(%50 : tensor<?x96xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x96xf32>
    %extracted_slice_21 = tensor.extract_slice %163[0, 0] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %extracted_slice_22 = tensor.extract_slice %163[0, 32] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %extracted_slice_23 = tensor.extract_slice %163[0, 64] [%dim, 32] [1, 1] : tensor<?x96xf32> to tensor<?x32xf32>
    %reshape_24 = tensor.reshape %extracted_slice_21(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %164 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_24 : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %reshape_25 = tensor.reshape %extracted_slice_22(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %165 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_25 : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %reshape_26 = tensor.reshape %extracted_slice_23(%from_elements) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
    %166 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_26 : tensor<?x4x8xf32>) outs(%57 : tensor<4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x8xf32>
    %167 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165 : tensor<4x?x8xf32>) outs(%61 : tensor<4x8x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8x?xf32>
    %168 = linalg.batch_matmul ins(%164, %167 : tensor<4x?x8xf32>, tensor<4x8x?xf32>) outs(%64 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %169 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %66 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %170 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %169, %70 : tensor<4x?x?xi1>, tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %247 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %171 = linalg.generic {indexing_maps = [#map9, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%170 : tensor<4x?x?xf32>) outs(%73 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.maximumf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %172 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%75, %171 : tensor<4x?xf32>, tensor<4x?xf32>) outs(%72 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.maximumf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %173 = linalg.generic {indexing_maps = [#map13, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172 : tensor<4x?xf32>) outs(%77 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %174 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173 : tensor<4x?x1xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %175 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %174 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %176 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175 : tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.exp %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %177 = linalg.generic {indexing_maps = [#map9, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%176 : tensor<4x?x?xf32>) outs(%82 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<4x?xf32>
    %178 = linalg.generic {indexing_maps = [#map13, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<4x?xf32>) outs(%77 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %179 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178 : tensor<4x?x1xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x?xf32>
    %180 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%176, %179 : tensor<4x?x?xf32>, tensor<4x?x?xf32>) outs(%63 : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<4x?x?xf32>
    %181 = linalg.batch_matmul ins(%180, %166 : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%87 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %182 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<4x?x8xf32>) outs(%89 : tensor<?x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x4x8xf32>
    %reshape_27 = tensor.reshape %182(%from_elements_19) : (tensor<?x4x8xf32>, tensor<2xindex>) -> tensor<?x32xf32>
    %183 = linalg.matmul ins(%reshape_27, %arg23 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%91 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %184 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%140, %183 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %185 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg22 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %186 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%185 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %187 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%184, %186 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %188 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%187 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %189 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%188 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %190 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%189, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %191 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%190 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %192 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%187, %191 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %193 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%192, %192 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %194 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%193 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %195 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%194 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %196 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%195, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %197 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%196, %38 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %198 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%197 : tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.sqrt %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %199 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%198 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %200 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%192, %199 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %201 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg19 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %202 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%201 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %203 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%200, %202 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %204 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg18 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %205 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%204 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %206 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%203, %205 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %207 = linalg.matmul ins(%206, %arg15 : tensor<?x32xf32>, tensor<32x64xf32>) outs(%117 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %208 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg14 : tensor<64xf32>) outs(%119 : tensor<1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x64xf32>
    %209 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%208 : tensor<1x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x64xf32>
    %210 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%207, %209 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %211 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%210, %210 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %212 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%211, %210 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %213 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%125, %212 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %214 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%210, %213 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %215 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%128, %214 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %216 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%215 : tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.tanh %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %217 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%131, %216 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %218 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%133, %217 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %219 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%210, %218 : tensor<?x64xf32>, tensor<?x64xf32>) outs(%116 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x64xf32>
    %220 = linalg.matmul ins(%219, %arg21 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%91 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %221 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%187, %220 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %222 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg20 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %223 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%222 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %224 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%221, %223 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %225 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%224 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %226 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%225 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %227 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%226, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %228 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%227 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %229 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%224, %228 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.subf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %230 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%229, %229 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %231 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]} ins(%230 : tensor<?x32xf32>) outs(%26 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = arith.addf %out, %in : f32
      linalg.yield %247 : f32
    } -> tensor<?xf32>
    %232 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%231 : tensor<?xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1xf32>
    %233 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%232, %30 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %234 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%233, %38 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %235 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%234 : tensor<?x1xf32>) outs(%28 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %247 = math.sqrt %in : f32
      linalg.yield %247 : f32
    } -> tensor<?x1xf32>
    %236 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%235 : tensor<?x1xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %237 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%229, %236 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.divf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %238 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg25 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %239 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%238 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %240 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%237, %239 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.mulf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %241 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg24 : tensor<32xf32>) outs(%43 : tensor<1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x32xf32>
    %242 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%241 : tensor<1x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    %243 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%240, %242 : tensor<?x32xf32>, tensor<?x32xf32>) outs(%12 : tensor<?x32xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %247 = arith.addf %in, %in_28 : f32
      linalg.yield %247 : f32
    } -> tensor<?x32xf32>
    %244 = tensor.empty() : tensor<32x32xf32>
    %245 = linalg.generic {indexing_maps = [#map15, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg27 : tensor<32x32xf32>) outs(%244 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %246 = linalg.matmul ins(%243, %245 : tensor<?x32xf32>, tensor<32x32xf32>) outs(%91 : tensor<?x32xf32>) -> tensor<?x32xf32>
    return %246 : tensor<?x32xf32>
  }
}

