// RUN: kv-opt %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s
// A file of version 6, whose kv.route had neither `by` nor `sigmoid`.
// RUN: kv-opt %S/Inputs/version-6-route.mlirbc | FileCheck %s --check-prefix=OLD
// RUN: kv-opt --cse %s | FileCheck %s --check-prefix=CSE

// On tensors and on buffers. Without effects of its own, an operation on buffers
// would be deleted: it writes its outs.
// CHECK-LABEL: func.func @route(
// CHECK: kv.route %{{.*}} : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
// CHECK: kv.route %{{.*}} outs(%{{.*}}, %{{.*}}) normalised : memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>
// CSE-LABEL: func.func @route(
// CSE: kv.route {{.*}} tensor
// CSE-NOT: kv.route {{.*}} tensor
// CSE: kv.route {{.*}} memref
func.func @route(%l: tensor<?x8xf32>, %m: memref<4x8xf32>, %oe: memref<4x2xi32>, %os: memref<4x2xf32>)
    -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %e, %unused = kv.route %l : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %unused2, %s = kv.route %l : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  kv.route %m outs(%oe, %os) normalised : memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>
  return %e, %s : tensor<?x2xi32>, tensor<?x2xf32>
}

// OLD-LABEL: func.func @route(
// OLD: kv.route %{{.*}} normalised : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
// OLD: kv.route %{{.*}} outs(%{{.*}}, %{{.*}}) : memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>

// CHECK-LABEL: func.func @keep_groups(
// CHECK: kv.keep_groups %{{.*}} groups 4 keep 2 best 1 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kv.route %{{.*}} by %{{.*}} sigmoid normalised : tensor<?x8xf32> by tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
// CHECK: kv.keep_groups %{{.*}} outs(%{{.*}}) groups 1 keep 1 best 8 : memref<4x8xf32> outs memref<4x8xf32>
// CHECK: kv.route %{{.*}} by %{{.*}} outs(%{{.*}}, %{{.*}}) sigmoid : memref<4x8xf32> by memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>
// CSE-LABEL: func.func @keep_groups(
// CSE: kv.keep_groups {{.*}} tensor
// CSE: kv.keep_groups {{.*}} memref
func.func @keep_groups(%l: tensor<?x8xf32>, %m: memref<4x8xf32>, %k: memref<4x8xf32>, %oe: memref<4x2xi32>,
    %os: memref<4x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %kept = kv.keep_groups %l groups 4 keep 2 best 1 : tensor<?x8xf32> -> tensor<?x8xf32>
  %e, %s = kv.route %l by %kept sigmoid normalised
      : tensor<?x8xf32> by tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  kv.keep_groups %m outs(%k) groups 1 keep 1 best 8 : memref<4x8xf32> outs memref<4x8xf32>
  kv.route %m by %k outs(%oe, %os) sigmoid
      : memref<4x8xf32> by memref<4x8xf32> outs memref<4x2xi32>, memref<4x2xf32>
  return %e, %s : tensor<?x2xi32>, tensor<?x2xf32>
}

// Row-major and quantised weights as front ends write them, packed ones, and a row
// for each choice.
// CHECK-LABEL: func.func @expert_matmul(
// CHECK: kv.expert_matmul %{{.*}}, %{{.*}} experts(%{{.*}}) : tensor<?x64xf32>, tensor<64x64xbf16> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
// CHECK: kv.expert_matmul %{{.*}}, %{{.*}}, %{{.*}} experts(%{{.*}}) : tensor<?x64xf32>, tensor<64x64xbf16>, tensor<128x64x!kv.quant<q4_0>> experts tensor<?x2xi32> -> tensor<?x2x16xf32>, tensor<?x2x32xf32>
// CHECK: kv.expert_matmul %{{.*}}, %{{.*}} experts(%{{.*}}) outs(%{{.*}}, %{{.*}}) {formats = [#kv.quant<q4_0>, unit]} : memref<?x2x64xf32>, memref<8x2x288xi8>, memref<4x64x16xf32> experts memref<?x2xi32> outs memref<?x2x32xf32>, memref<?x2x16xf32>
// CSE-LABEL: func.func @expert_matmul(
// CSE: kv.expert_matmul {{.*}} outs
func.func @expert_matmul(%x: tensor<?x64xf32>, %e: tensor<?x2xi32>, %w: tensor<64x64xbf16>,
    %q: tensor<128x64x!kv.quant<q4_0>>, %bx: memref<?x2x64xf32>, %be: memref<?x2xi32>,
    %bq: memref<8x2x288xi8>, %bw: memref<4x64x16xf32>, %by: memref<?x2x32xf32>, %bz: memref<?x2x16xf32>)
    -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x32xf32>) {
  %a = kv.expert_matmul %x, %w experts(%e)
      : tensor<?x64xf32>, tensor<64x64xbf16> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
  %b:2 = kv.expert_matmul %x, %w, %q experts(%e)
      : tensor<?x64xf32>, tensor<64x64xbf16>, tensor<128x64x!kv.quant<q4_0>> experts tensor<?x2xi32>
      -> tensor<?x2x16xf32>, tensor<?x2x32xf32>
  kv.expert_matmul %bx, %bq, %bw experts(%be) outs(%by, %bz) {formats = [#kv.quant<q4_0>, unit]}
      : memref<?x2x64xf32>, memref<8x2x288xi8>, memref<4x64x16xf32> experts memref<?x2xi32>
      outs memref<?x2x32xf32>, memref<?x2x16xf32>
  return %a, %b#0, %b#1 : tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x32xf32>
}
