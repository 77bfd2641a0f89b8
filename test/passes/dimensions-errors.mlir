// A constant dimension that a tensor does not have: valid IR, which no pass
// follows, and which has no meaning. Passes alone leave it, pipelines refuse it.
//
// RUN: split-file %s %t
// RUN: kv-opt --kv-check-steps --kv-decompose %t/behind.mlir > /dev/null
// RUN: not kv-opt --kv-cpu %t/behind.mlir 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not kv-opt --kv-reference %t/behind.mlir 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not kv-opt --kv-cpu %t/below.mlir 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not kv-opt --kv-cpu="ranks=2" %t/computed.mlir 2>&1 | FileCheck %s --check-prefix=COMPUTED

//--- behind.mlir
// BEHIND: error: 'tensor.dim' op asks for the size of dimension 3 of a tensor of rank 3
func.func @f(%q: tensor<?x1x16xf32>) -> tensor<?x1x16xf32> attributes {kv.entry} {
  %c = arith.constant 3 : index
  %n = tensor.dim %q, %c : tensor<?x1x16xf32>
  %e = tensor.empty(%n) : tensor<?x1x16xf32>
  return %e : tensor<?x1x16xf32>
}

//--- below.mlir
// BELOW: error: 'tensor.dim' op asks for the size of dimension -1 of a tensor of rank 3
!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 16, page = 16>
func.func @attend(%q: tensor<?x1x16xf32>, %kv: !kv, %offsets: tensor<?xi32>) -> tensor<?x1x16xf32> attributes {kv.entry} {
  %zero = arith.constant 0 : index
  %c = arith.constant -1 : index
  %n = tensor.dim %q, %c : tensor<?x1x16xf32>
  %e = tensor.empty(%n) : tensor<?x1x16xf32>
  %o = kv.attention %e in %kv[%zero] rows %offsets mask <causal> scale 0.25 : tensor<?x1x16xf32> in !kv, tensor<?xi32> -> tensor<?x1x16xf32>
  return %o : tensor<?x1x16xf32>
}

//--- computed.mlir
// COMPUTED: error: 'tensor.dim' op asks for the size of dimension 7 of a tensor of rank 2
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {kv.entry} {
  %3 = arith.constant 3 : index
  %4 = arith.constant 4 : index
  %c = arith.addi %3, %4 : index
  %n = tensor.dim %x, %c : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  return %e : tensor<?x4xf32>
}
