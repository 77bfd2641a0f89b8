// Numbers of rows that a caller gives are checked before they are used; those
// that are computed are kept inside.
//
// RUN: kv-opt --kv-check-indices %s | FileCheck %s
// RUN: kv-opt --kv-cpu %s | FileCheck %s --check-prefix=LLVM

#i = affine_map<(i, j) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>

// The names, of which the runtime speaks.
// LLVM-DAG: @kv_message{{.*}}("tokens\00")
// LLVM-DAG: @kv_message{{.*}}("logit_rows\00")

// Of the same numbers and as many rows there is one check.
// CHECK-LABEL: func.func @embed(
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<?xi32>
// CHECK: %[[COUNT:.*]] = arith.constant 272 : index
// CHECK: kv.rt.check_indices %[[IDS]] "tokens" below %[[COUNT]] : tensor<?xi32>
// CHECK-NOT: kv.rt.check_indices
// CHECK: tensor.extract
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @embed(%ids: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}, %table: tensor<272x16xf32>)
    -> (tensor<?x16xf32> {kv.dims = ["T"]}, tensor<?x16xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %n = tensor.dim %ids, %0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %a = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%empty : tensor<?x16xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<272x16xf32>
    linalg.yield %value : f32
  } -> tensor<?x16xf32>
  %b = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%empty : tensor<?x16xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<272x16xf32>
    %twice = arith.addf %value, %value : f32
    linalg.yield %twice : f32
  } -> tensor<?x16xf32>
  return %a, %b : tensor<?x16xf32>, tensor<?x16xf32>
}

// As many rows as there are at run time, which the caller's tensor has: the
// check comes first.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<?xi64> {{.*}}, %[[X:[a-z0-9]*]]: tensor<?xf32>
// CHECK: %[[COUNT:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: kv.rt.check_indices %[[IDS]] "logit_rows" below %[[COUNT]] : tensor<?xi64>
// CHECK: linalg.generic
// CHECK: scf.for
func.func @rows(%ids: tensor<?xi64> {kv.name = "logit_rows"}, %x: tensor<?xf32> {kv.dims = ["T"]})
    -> tensor<1xf32> attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = tensor.dim %ids, %0 : tensor<?xi64>
  %xn = tensor.dim %x, %0 : tensor<?xf32>
  %empty = tensor.empty(%xn) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    linalg.yield %square : f32
  } -> tensor<?xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %sum = scf.for %i = %0 to %n step %1 iter_args(%now = %zero) -> tensor<1xf32> {
    %id = tensor.extract %ids[%i] : tensor<?xi64>
    %row = arith.index_cast %id : i64 to index
    %value = tensor.extract %y[%row] : tensor<?xf32>
    %next = tensor.insert %value into %now[%0] : tensor<1xf32>
    scf.yield %next : tensor<1xf32>
  }
  return %sum : tensor<1xf32>
}

// What stands under a condition may be read for good numbers only.
// CHECK-LABEL: func.func @computed(
// CHECK-NOT: kv.rt.check_indices
// CHECK: scf.if
// CHECK: %[[LOW:.*]] = arith.minsi
// CHECK: %[[IN:.*]] = arith.maxsi %[[LOW]]
// CHECK: tensor.extract %{{.*}}[%[[IN]]]
// CHECK: arith.addi
// CHECK: arith.minsi
// CHECK: %[[IN:.*]] = arith.maxsi
// CHECK: tensor.extract %{{.*}}[%[[IN]]]
func.func @computed(%ids: tensor<4xi32>, %x: tensor<9xf32>, %c: i1) -> tensor<2xf32> {
  %0 = arith.constant 0 : index
  %3 = arith.constant 3 : i32
  %none = arith.constant 0.0 : f32
  %id = tensor.extract %ids[%0] : tensor<4xi32>
  %a = scf.if %c -> f32 {
    %row = arith.index_cast %id : i32 to index
    %value = tensor.extract %x[%row] : tensor<9xf32>
    scf.yield %value : f32
  } else {
    scf.yield %none : f32
  }
  %moved = arith.addi %id, %3 : i32
  %row = arith.index_cast %moved : i32 to index
  %b = tensor.extract %x[%row] : tensor<9xf32>
  %both = tensor.from_elements %a, %b : tensor<2xf32>
  return %both : tensor<2xf32>
}

// Rows of packed weights stay inside by themselves; wrong numbers are errors.
// CHECK-LABEL: func.func @widened(
// CHECK: %[[COUNT:.*]] = arith.constant 64 : index
// CHECK: kv.rt.check_indices %{{.*}} "tokens" below %[[COUNT]] : tensor<?xi32>
// CHECK: kv.dequantize
func.func @widened(%ids: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}, %w: tensor<64x256x!kv.quant<q4_k>>)
    -> (tensor<?x256xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
  %rows = kv.dequantize %w rows(%ids) : tensor<64x256x!kv.quant<q4_k>>, tensor<?xi32> -> tensor<?x256xf32>
  return %rows : tensor<?x256xf32>
}
