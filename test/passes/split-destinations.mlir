// What CSE shared is apart again: a buffer that two layers write is a copy, and
// work that grows with the square of the layers.
//
// RUN: kv-opt --kv-split-destinations %s | FileCheck %s
// RUN: kv-opt --kv-split-destinations --eliminate-empty-tensors \
// RUN:   --one-shot-bufferize=bufferize-function-boundaries %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER --implicit-check-not=memref.copy

// CHECK-LABEL: func.func @layers(
// CHECK: %[[E0:.*]] = tensor.empty
// CHECK: %[[F0:.*]] = linalg.fill {{.*}} outs(%[[E0]]
// CHECK: linalg.matmul {{.*}} outs(%[[F0]]
// CHECK: %[[E1:.*]] = tensor.empty
// CHECK: %[[F1:.*]] = linalg.fill {{.*}} outs(%[[E1]]
// CHECK: linalg.matmul {{.*}} outs(%[[F1]]
// CHECK: %[[E2:.*]] = tensor.empty
// CHECK: linalg.add {{.*}} outs(%[[E2]]
// BUFFER-LABEL: func.func @layers(
func.func @layers(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.add ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// A fill that is read stays one, and what reads it keeps it. A destination
// inside a loop stays outside: the arena would grow with each iteration.
// CHECK-LABEL: func.func @readers(
// CHECK: %[[E0:.*]] = tensor.empty
// CHECK: %[[READ:.*]] = linalg.fill {{.*}} outs(%[[E0]]
// CHECK: %[[E1:.*]] = tensor.empty
// CHECK: %[[START:.*]] = linalg.fill {{.*}} outs(%[[E1]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK-NOT: linalg.fill
// CHECK-NOT: tensor.empty
// CHECK: linalg.add ins({{.*}}, %[[READ]] :
// BUFFER-LABEL: func.func @readers(
func.func @readers(%n: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%done = %fill) -> tensor<4xf32> {
    %next = linalg.add ins(%done, %fill : tensor<4xf32>, tensor<4xf32>)
        outs(%done : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
