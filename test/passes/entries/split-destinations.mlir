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

// An argument that is only read is a tensor for each operation that reads it:
// what looks at all uses of a tensor for each of them would take the square of
// the layers.
// CHECK-LABEL: func.func @arguments(
// CHECK-DAG: %[[FIRST:.*]] = bufferization.to_tensor %[[M:.*]] restrict
// CHECK-DAG: %[[SECOND:.*]] = bufferization.to_tensor %[[M]] restrict
// CHECK: tensor.extract %[[FIRST]]
// CHECK: tensor.extract %[[SECOND]]
func.func @arguments(%lengths: memref<?xi32>, %i: index, %j: index) -> i32 {
  %t = bufferization.to_tensor %lengths restrict : memref<?xi32> to tensor<?xi32>
  %a = tensor.extract %t[%i] : tensor<?xi32>
  %b = tensor.extract %t[%j] : tensor<?xi32>
  %sum = arith.addi %a, %b : i32
  return %sum : i32
}

// So is what a loop computed, if many read it and nothing writes to it.
// CHECK-LABEL: func.func @computed(
// CHECK: %[[P:.*]] = scf.for
// CHECK: %[[MEM:.*]] = bufferization.to_buffer %[[P]] read_only
// CHECK-COUNT-8: bufferization.to_tensor %[[MEM]] restrict
// CHECK-NOT: tensor.extract %[[P]][
// BUFFER-LABEL: func.func @computed(
func.func @computed(%n: index, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %empty = tensor.empty(%n) : tensor<?xi32>
  %p = scf.for %at = %c0 to %n step %c1 iter_args(%done = %empty) -> tensor<?xi32> {
    %next = tensor.insert %one into %done[%at] : tensor<?xi32>
    scf.yield %next : tensor<?xi32>
  }
  %0 = tensor.extract %p[%i] : tensor<?xi32>
  %1 = tensor.extract %p[%i] : tensor<?xi32>
  %2 = tensor.extract %p[%i] : tensor<?xi32>
  %3 = tensor.extract %p[%i] : tensor<?xi32>
  %4 = tensor.extract %p[%i] : tensor<?xi32>
  %5 = tensor.extract %p[%i] : tensor<?xi32>
  %6 = tensor.extract %p[%i] : tensor<?xi32>
  %7 = tensor.extract %p[%i] : tensor<?xi32>
  %8 = arith.addi %0, %1 : i32
  %9 = arith.addi %2, %3 : i32
  %10 = arith.addi %4, %5 : i32
  %11 = arith.addi %6, %7 : i32
  %12 = arith.addi %8, %9 : i32
  %13 = arith.addi %10, %11 : i32
  %14 = arith.addi %12, %13 : i32
  return %14 : i32
}
