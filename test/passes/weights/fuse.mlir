// Multiplications of one input become one; each group says what became of it.
//
// RUN: kv-opt --kv-fuse %s | FileCheck %s
// RUN: kv-opt --kv-fuse %s -o /dev/null --remarks-filter=kv-fuse 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: kv-opt --kv-fuse="max-weights=2" %s | FileCheck %s --check-prefix=TWO
// RUN: kv-opt --kv-fuse="max-weights=2" %s -o /dev/null --remarks-filter=kv-fuse 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK-TWO

// CHECK-LABEL: func.func @qkv(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x24xf32>, %[[Q:[a-z0-9]*]]: tensor<3x24x16xbf16>, %[[K:[a-z0-9]*]]: tensor<1x24x16xbf16>, %[[V:[a-z0-9]*]]: tensor<1x24x16xf32>, %[[O:[a-z0-9]*]]: tensor<3x48x16xf32>)
// CHECK: %[[Y:.*]]:3 = kv.matmul %[[X]], %[[Q]], %[[K]], %[[V]]
// CHECK-SAME: : tensor<?x24xf32>, tensor<3x24x16xbf16>, tensor<1x24x16xbf16>, tensor<1x24x16xf32> -> tensor<?x48xf32>, tensor<?x16xf32>, tensor<?x16xf32>
// CHECK: %[[S:.*]] = arith.addf %[[Y]]#1, %[[Y]]#2
// A multiplication of something else.
// CHECK: %[[L:.*]] = kv.matmul %[[Y]]#0, %[[O]]
// CHECK: return %[[S]], %[[L]]
// REMARK: fuse.mlir:[[#@LINE+12]]:8: remark: [Passed] Fused | Category:kv-fuse | Remark="the multiplications of one input to 48, 16, 16 columns are one parallel region instead of 3"
//
// TWO-LABEL: func.func @qkv(
// TWO: %[[Y:.*]]:2 = kv.matmul %{{.*}}, %{{.*}}, %{{.*}} :
// TWO: kv.matmul %{{.*}}, %{{.*}} :
// TWO: return
// REMARK-TWO: [Missed] NotFused | {{.*}}"the multiplication to 16 columns stays alone: the ones before have 2 weights, and max-weights is 2"
// REMARK-TWO: [Passed] Fused | {{.*}}"the multiplications of one input to 48, 16 columns are one parallel region instead of 2"
func.func @qkv(%x: tensor<?x24xf32>, %wq: tensor<3x24x16xbf16>, %wk: tensor<1x24x16xbf16>,
    %wv: tensor<1x24x16xf32>, %wo: tensor<3x48x16xf32>)
    -> (tensor<?x16xf32>, tensor<?x48xf32>) {
  // The line that the remark names.
  %q = kv.matmul %x, %wq : tensor<?x24xf32>, tensor<3x24x16xbf16> -> tensor<?x48xf32>
  %k = kv.matmul %x, %wk : tensor<?x24xf32>, tensor<1x24x16xbf16> -> tensor<?x16xf32>
  %v = kv.matmul %x, %wv : tensor<?x24xf32>, tensor<1x24x16xf32> -> tensor<?x16xf32>
  %s = arith.addf %k, %v : tensor<?x16xf32>
  %l = kv.matmul %q, %wo : tensor<?x48xf32>, tensor<3x48x16xf32> -> tensor<?x48xf32>
  return %s, %l : tensor<?x16xf32>, tensor<?x48xf32>
}

// A weight that is not there yet where the first stands.
// CHECK-LABEL: func.func @late(
// CHECK: %[[Y:.*]]:2 = kv.matmul %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: %[[W:.*]] = arith.addf
// CHECK: kv.matmul %{{.*}}, %[[W]] :
// REMARK: [Missed] NotFused | {{.*}}"the multiplication to 32 columns stays alone: its weight is made after the first of its input"
// REMARK: [Passed] Fused | {{.*}} to 16, 16 columns
func.func @late(%x: tensor<?x24xf32>, %w: tensor<1x24x16xf32>, %u: tensor<2x24x16xf32>)
    -> (tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x16xf32>) {
  %a = kv.matmul %x, %w : tensor<?x24xf32>, tensor<1x24x16xf32> -> tensor<?x16xf32>
  %sum = arith.addf %u, %u : tensor<2x24x16xf32>
  %b = kv.matmul %x, %sum : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
  %c = kv.matmul %x, %w : tensor<?x24xf32>, tensor<1x24x16xf32> -> tensor<?x16xf32>
  return %a, %b, %c : tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x16xf32>
}

// Blocks that may not run stay what they are.
// CHECK-LABEL: func.func @blocks(
// CHECK: kv.matmul
// CHECK: scf.if
// CHECK: kv.matmul
// REMARK: [Missed] NotFused | {{.*}}"the multiplication to 16 columns stays alone: the others of its input stand in other blocks"
// REMARK: [Missed] NotFused | {{.*}}"the multiplication to 32 columns stays alone: the others of its input stand in other blocks"
func.func @blocks(%x: tensor<?x24xf32>, %w: tensor<1x24x16xf32>, %u: tensor<2x24x16xf32>,
    %e: tensor<?x32xf32>, %c: i1) -> (tensor<?x16xf32>, tensor<?x32xf32>) {
  %a = kv.matmul %x, %w : tensor<?x24xf32>, tensor<1x24x16xf32> -> tensor<?x16xf32>
  %b = scf.if %c -> tensor<?x32xf32> {
    %d = kv.matmul %x, %u : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
    scf.yield %d : tensor<?x32xf32>
  } else {
    scf.yield %e : tensor<?x32xf32>
  }
  return %a, %b : tensor<?x16xf32>, tensor<?x32xf32>
}

// One that is fused already takes part; buffers are left alone, in silence.
// CHECK-LABEL: func.func @again(
// CHECK: %[[Y:.*]]:3 = kv.matmul
// CHECK: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
// REMARK: [Passed] Fused | {{.*}} to 16, 16, 32 columns are one parallel region instead of 2"
// REMARK-NOT: kv-fuse
func.func @again(%x: tensor<?x24xf32>, %w: tensor<1x24x16xf32>, %u: tensor<2x24x16xf32>)
    -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x32xf32>) {
  %a, %b = kv.matmul %x, %w, %w : tensor<?x24xf32>, tensor<1x24x16xf32>, tensor<1x24x16xf32>
      -> tensor<?x16xf32>, tensor<?x16xf32>
  %c = kv.matmul %x, %u : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
  return %a, %b, %c : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK-COUNT-2: kv.matmul
func.func @buffers(%x: memref<?x24xf32>, %w: memref<1x24x16xf32>, %a: memref<?x16xf32>,
    %b: memref<?x16xf32>) {
  kv.matmul %x, %w outs(%a) : memref<?x24xf32>, memref<1x24x16xf32> outs memref<?x16xf32>
  kv.matmul %x, %w outs(%b) : memref<?x24xf32>, memref<1x24x16xf32> outs memref<?x16xf32>
  return
}
