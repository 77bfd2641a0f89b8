// Recurrent layers, and rows of a cache, on a GPU: a call each, that goes through
// the table itself. Nothing is copied, results are written where the caller wants
// them, and what a step does not use is written
// all the same.
//
// RUN: kv-opt --kv-cuda=chips=sm_80 %s -o /dev/null --mlir-print-ir-after=convert-kv-to-runtime 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=kv.rt.call --implicit-check-not="memref.{{copy|load|store|alloc}}"

!kv   = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16, window = 32>
!keys = !kv.cache<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16, window = 32>
!conv = !kv.collection<recurrent, f32, layers = 2, heads = 3, dim = 160, page = 16>
!scan = !kv.collection<recurrent, f32, layers = 2, heads = 8, dim = 128, page = 16>
!any  = !kv.collection<recurrent, bf16, layers = 2, heads = 2, dim = 24, page = 16>

// CHECK-LABEL: func.func private @step(
// CHECK-COUNT-3: kv.rt.call "checkStep"(
// CHECK: kv.rt.call "stateConvolution"({{.*}} absent [7] : (memref<?x1x2x1x3x160xf32>, memref<?xi32>, memref<?x2xi32>, memref<?xi32>, i64, memref<?x160xf32>, memref<4x160xf32>, memref<?x160xf32>)
// Keys are columns of what the convolution makes.
// CHECK: kv.rt.call "unitNorm"({{.*}} : (memref<?x16xf32, strided<[160, 1]>>, f32, f32, memref<?x8xf32>)
// CHECK: kv.rt.call "stateScan"({{.*}} absent [10] : (memref<?x1x2x1x8x128xf32>, memref<?xi32>, memref<?x2xi32>, memref<?xi32>, i64, memref<?x2x8xf32>, memref<?x2x8xf32>, memref<?x2x4x16xf32, strided<[160, 64, 16, 1], offset: 32>>, memref<?x2x4xf32>, memref<?x2x4xf32>, i32, memref<?x2x4x16xf32>)
func.func @step(%x: tensor<?x160xf32> {kv.dims = ["T"]}, %w: tensor<4x160xf32>, %g: tensor<?x2x4xf32> {kv.dims = ["T"]},
    %conv: !conv {kv.name = "conv"}, %scan: !scan {kv.name = "scan"}, %ro: tensor<?xi32> {kv.name = "row_offsets"})
    -> (tensor<?x2x4x16xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x160xf32>
  %y = kv.state_convolution %x, %w in %conv[%c1] rows %ro
      : tensor<?x160xf32>, tensor<4x160xf32> in !conv, tensor<?xi32> -> tensor<?x160xf32>
  %k = tensor.extract_slice %y[0, 0] [%rows, 16] [1, 1] : tensor<?x160xf32> to tensor<?x16xf32>
  %v = tensor.extract_slice %y[0, 32] [%rows, 128] [1, 1] : tensor<?x160xf32> to tensor<?x128xf32>
  %heads = tensor.expand_shape %k [[0], [1, 2]] output_shape [%rows, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %flat = tensor.collapse_shape %heads [[0, 1], [2]] : tensor<?x2x8xf32> into tensor<?x8xf32>
  %units = call @unit_rows(%flat) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %keys = tensor.expand_shape %units [[0, 1], [2]] output_shape [%rows, 2, 8] : tensor<?x8xf32> into tensor<?x2x8xf32>
  %values = tensor.expand_shape %v [[0], [1, 2, 3]] output_shape [%rows, 2, 4, 16]
      : tensor<?x128xf32> into tensor<?x2x4x16xf32>
  %o = kv.state_scan %keys, %keys, %values decay %g strength %g in %scan[%c1] rows %ro {delta}
      : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x4x16xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
        in !scan, tensor<?xi32> -> tensor<?x2x4x16xf32>
  return %o : tensor<?x2x4x16xf32>
}

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func private @unit_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.5 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %column = tensor.empty(%rows) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %square = arith.mulf %value, %value : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares : tensor<?x8xf32>, tensor<?xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%value: f32, %sum: f32, %unused: f32):
    %least = arith.constant 1.0e-6 : f32
    %shifted = arith.addf %sum, %least : f32
    %scale = math.rsqrt %shifted : f32
    %unit = arith.mulf %value, %scale : f32
    %scaled = arith.mulf %unit, %factor : f32
    linalg.yield %scaled : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @others(
// CHECK-COUNT-2: kv.rt.call "checkStep"(
// CHECK: kv.rt.call "stateRead"({{.*}}, %[[S:.*]]) : (memref<?x1x2x1x2x24xbf16>, memref<?x2xi32>, i64, memref<?x2x24xf32>)
// CHECK: kv.rt.call "stateWrite"({{.*}}, %[[S]]) : (memref<?x1x2x1x2x24xbf16>, memref<?x2xi32>, i64, memref<?x2x24xf32>)
// CHECK: kv.rt.call "update"({{.*}} absent [1] : (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, i64, i64, i32, memref<64xf32>, f32, i32)
// CHECK: kv.rt.call "load"({{.*}} absent [1] : (memref<?x2x2x16x1x64xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, i64, i64, i64, memref<?x48x1x64xf32>, memref<?xi32>)
func.func @others(%weight: tensor<64xf32>, %kv: !kv, %any: !any {kv.name = "any"}, %ro: tensor<?xi32> {kv.name = "row_offsets"})
    -> (tensor<?x48x1x64xf32> {kv.dims = ["kv.batch"]}, tensor<?xi32> {kv.dims = ["kv.batch"]}) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = kv.state_read %any[%c1] rows %ro : !any, tensor<?xi32> -> tensor<?x2x24xf32>
  kv.state_write %s into %any[%c0] rows %ro : tensor<?x2x24xf32> into !any, tensor<?xi32>
  %keys = kv.key_cache %kv[%c1] : !kv
  kv.update %keys rows %ro rms_norm(%weight) eps 1.0e-6 : !keys, tensor<?xi32>, tensor<64xf32>
  %dense, %lengths = kv.load %keys rows %ro : !keys, tensor<?xi32> -> tensor<?x48x1x64xf32>, tensor<?xi32>
  return %dense, %lengths : tensor<?x48x1x64xf32>, tensor<?xi32>
}
