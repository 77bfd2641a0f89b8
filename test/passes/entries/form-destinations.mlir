// Private functions write tensors that their callers give.
//
// RUN: kv-opt --kv-form-destinations --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[N:.*]]: index, %[[Y:.*]]: tensor<?x64xf32>, %[[Z:.*]]: tensor<4xi32>)
// CHECK: %[[S:.*]] = kv.rt.launch "pair"
// CHECK: %[[SW:.*]] = bufferization.materialize_in_destination %[[S]] in %[[Y]]
// CHECK: %[[PW:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[Z]]
// CHECK: return %[[SW]], %[[N]], %[[PW]] : tensor<?x64xf32>, index, tensor<4xi32>
func.func private @layer(%x: tensor<?x64xf32>, %n: index) -> (tensor<?x64xf32>, index, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %add = arith.constant 0 : i32
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %y = kv.rt.launch "pair"(%add, %x, %x) outs(%empty)
      : i32, tensor<?x64xf32>, tensor<?x64xf32> outs tensor<?x64xf32> -> tensor<?x64xf32>
  %places = tensor.empty() : tensor<4xi32>
  return %y, %n, %places : tensor<?x64xf32>, index, tensor<4xi32>
}

// Sizes come from the call's arguments, through all calls; an entry's results
// have places already.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>) -> tensor<?x64xf32>
// CHECK: %[[T:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[E:.*]] = tensor.empty(%[[T]]) : tensor<?x64xf32>
// CHECK: %[[F:.*]] = tensor.empty() : tensor<4xi32>
// CHECK: %[[A:.*]]:3 = call @layer(%[[X]], %c0, %[[E]], %[[F]])
// CHECK: %[[B:.*]]:3 = call @layer(%[[A]]#0, %c0, %[[E]], %[[F]])
// CHECK-NOT: materialize
// CHECK: return %[[B]]#0
func.func @forward(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %a:3 = call @layer(%x, %c0) : (tensor<?x64xf32>, index) -> (tensor<?x64xf32>, index, tensor<4xi32>)
  %b:3 = call @layer(%a#0, %c0) : (tensor<?x64xf32>, index) -> (tensor<?x64xf32>, index, tensor<4xi32>)
  return %b#0 : tensor<?x64xf32>
}
