// Floats of 8 bits are widened, a byte of each row at a time, and multiplied as
// f32 in two chains; four rows at a time. AMX multiplies no such bytes.
//
// RUN: kv-opt --kv-vectorize="dot=avx512" %s | FileCheck %s
// RUN: kv-opt --kv-vectorize="dot=amx" %s | FileCheck %s

// CHECK-LABEL: func.func private @f8(
// CHECK-SAME: %[[X:.*]]: memref<?x128xf32>, %[[W:.*]]: memref<2x1x2112xi8>, %[[Y:.*]]: memref<?x32xf32>)
// CHECK-NOT: amx
// CHECK: scf.for %{{.*}} step %c4{{[_0-9]*}} {
// CHECK: %[[HEAD:.*]] = vector.load %[[W]]{{.*}} vector<64xi8>
// CHECK: vector.bitcast %[[HEAD]] : vector<64xi8> to vector<16xf32>
// CHECK: %[[FOUR:.*]] = vector.load %[[W]]{{.*}} vector<64xi8>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[FOUR]] : vector<64xi8> to vector<16xi32>
// CHECK: %[[BYTES:.*]] = arith.trunci %[[WORDS]] : vector<16xi32> to vector<16xi8>
// CHECK: %[[FLOATS:.*]] = arith.bitcast %[[BYTES]] : vector<16xi8> to vector<16xf8E4M3FN>
// CHECK: %[[WIDE:.*]] = arith.extf %[[FLOATS]] : vector<16xf8E4M3FN> to vector<16xf32>
// CHECK-COUNT-4: math.fma %[[WIDE]]
// CHECK: arith.shrui %[[WORDS]]
// CHECK: arith.addf
// CHECK: math.fma
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK-NOT: kv.matmul
func.func private @f8(%x: memref<?x128xf32>, %w: memref<2x1x2112xi8>, %y: memref<?x32xf32>)
    attributes {kv.kernel} {
  kv.matmul %x, %w outs(%y) {formats = [#kv.quant<f8e4m3>]}
      : memref<?x128xf32>, memref<2x1x2112xi8> outs memref<?x32xf32>
  return
}
