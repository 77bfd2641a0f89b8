// Slots, scales and layouts on their way through the passes.
// RUN: kv-opt --split-input-file --kv-expand-collections %s | FileCheck %s --check-prefix=EXPAND
// RUN: kv-opt --split-input-file --kv-expand-collections --kv-resolve-collections --canonicalize %s | FileCheck %s --check-prefix=RESOLVE
// RUN: kv-opt --split-input-file --kv-expand-collections --kv-resolve-collections --kv-decompose --canonicalize --cse %s | FileCheck %s --check-prefix=PLAIN
// RUN: kv-opt --split-input-file --kv-cpu %s | FileCheck %s --check-prefix=CPU

!kv = !kv.collection<paged, i8, layers = 2, heads = 3, dim = 8, page = 16, scale = #kv.scale<f8E8M0FNU, group = 4>, layout = hnd>
// EXPAND-LABEL: func.func @scaled(
// EXPAND-SAME: memref<?x2x2x3x16x8xi8> {kv.collection = {{.*}}, kv.component = "blocks", kv.dims = ["kv.pages"], kv.name = "kv.blocks"}
// EXPAND-SAME: tensor<?x2xi32> {kv.collection = {{.*}}, kv.component = "max_lengths", kv.dims = ["kv.steps"], kv.host, kv.name = "kv.max_lengths"}
// EXPAND-SAME: memref<?x2x2x3x16x2xf8E8M0FNU> {kv.collection = {{.*}}, kv.component = "scales", kv.dims = ["kv.pages"], kv.name = "kv.scales"}
// RESOLVE-LABEL: func.func @scaled(
// RESOLVE: kv.store %{{.*}}, %{{.*}} into (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})[
// A layout is a view in logical order: nothing is copied.
// PLAIN-LABEL: func.func @scaled(
// PLAIN: memref.transpose %{{.*}} (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d3, d5) : memref<?x2x2x3x16x8xi8>
// PLAIN: memref.transpose %{{.*}} (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d3, d5) : memref<?x2x2x3x16x2xf8E8M0FNU>
// PLAIN-NOT: memref.copy
// PLAIN-NOT: memref.alloc
// CPU-LABEL: llvm.func @kv_entry_scaled(
func.func @scaled(%k: tensor<?x3x8xf32>, %rows: tensor<?xi32>, %kv: !kv) -> tensor<?xi32> attributes {kv.entry} {
  %i = arith.constant 1 : index
  kv.store %k, %k into %kv[%i] rows %rows : tensor<?x3x8xf32>, tensor<?x3x8xf32> into !kv, tensor<?xi32>
  return %rows : tensor<?xi32>
}

// -----

!kv = !kv.collection<continuous, f32, layers = 2, heads = 3, dim = 8, max_seq = 64>
// EXPAND-LABEL: func.func @continuous(
// EXPAND-SAME: memref<?x2x2x64x3x8xf32> {kv.collection = {{.*}}, kv.component = "blocks", kv.dims = ["kv.slots"], kv.name = "kv.blocks"}
// EXPAND-SAME: tensor<?xi32> {kv.collection = {{.*}}, kv.component = "lookup_table", kv.dims = ["kv.batch"], kv.name = "kv.lookup_table"}
// A slot is looked up by the sequence alone, and slot 0 is an ordinary one.
// PLAIN-LABEL: func.func @continuous(
// PLAIN: tensor.extract %{{.*}}[%[[SEQUENCE:.*]]] : tensor<?xi32>
// PLAIN-NOT: arith.divui
// PLAIN: return
// CPU-LABEL: llvm.func @kv_entry_continuous(
func.func @continuous(%k: tensor<?x3x8xf32>, %rows: tensor<?xi32>, %kv: !kv) -> tensor<?xi32> attributes {kv.entry} {
  %i = arith.constant 1 : index
  kv.store %k, %k into %kv[%i] rows %rows : tensor<?x3x8xf32>, tensor<?x3x8xf32> into !kv, tensor<?xi32>
  return %rows : tensor<?xi32>
}
