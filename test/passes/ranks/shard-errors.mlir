// RUN: kv-opt %s --split-input-file --kv-shard=ranks=2 --verify-diagnostics

!kv = !kv.collection<paged, f32, layers = 2, heads = ?, dim = 16, page = 16>

// expected-error @below {{no kv.store says how many heads '!kv.collection<paged, f32, layers = 2, heads = ?, dim = 16, page = 16>' has}}
module {
  func.func @f(%kv: !kv, %offsets: tensor<?xi32>) attributes {kv.entry} {
    %positions = kv.positions %kv, %offsets : !kv, tensor<?xi32> -> tensor<?xi32>
    return
  }
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = ?, dim = 16, page = 16>

func.func @f(%kv: !kv, %layer: index, %offsets: tensor<?xi32>, %a: tensor<?x4x16xf32>,
             %b: tensor<?x2x16xf32>) attributes {kv.entry} {
  kv.store %a, %a into %kv[%layer] rows %offsets
      : tensor<?x4x16xf32>, tensor<?x4x16xf32> into !kv, tensor<?xi32>
  // expected-error @+1 {{stores 'tensor<?x2x16xf32>' to '!kv.collection<paged, f32, layers = 2, heads = ?, dim = 16, page = 16>': all stores must say how many heads it has, and say the same}}
  kv.store %b, %b into %kv[%layer] rows %offsets
      : tensor<?x2x16xf32>, tensor<?x2x16xf32> into !kv, tensor<?xi32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 16, page = 16>

func.func @f(%kv: !kv) attributes {kv.entry} {
  // expected-error @+1 {{opens a collection: kv-shard takes collections as arguments, not their components}}
  %all:4 = kv.unpack %kv : !kv -> memref<?x2x2x16x2x16xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return
}

// -----

// expected-error @below {{the module is for 4 ranks already: kv-shard takes one for one}}
module attributes {kv.ranks = 4} {}

// -----

// One of two weights of a product is also used whole.
func.func @f(%x: tensor<?x32xf32>, %experts: tensor<?x2xi32>,
             %gate: tensor<128x32xf32> {kv.weight = "gate"},
             %up: tensor<128x32xf32> {kv.weight = "up"})
    -> (tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<128x32xf32>) attributes {kv.entry} {
  // expected-error @+1 {{has weights whose shards differ: use each weight in products of one width}}
  %g, %u = kv.expert_matmul %x, %gate, %up experts(%experts)
      : tensor<?x32xf32>, tensor<128x32xf32>, tensor<128x32xf32> experts tensor<?x2xi32>
     -> tensor<?x2x32xf32>, tensor<?x2x32xf32>
  return %g, %u, %gate : tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<128x32xf32>
}
