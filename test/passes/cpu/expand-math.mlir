// RUN: kv-opt --kv-expand-math %s | FileCheck %s

// No function of a library is left to call.
// CHECK-LABEL: func.func @scalars(
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK-NOT: math.tanh
// CHECK: return
func.func @scalars(%x: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.log %x : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @vectors(
// CHECK-NOT: math.exp
// CHECK: return
func.func @vectors(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @rounding(
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @rounding(%x: f32) -> (bf16, f16) {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.truncf %x : f32 to f16
  return %0, %1 : bf16, f16
}
