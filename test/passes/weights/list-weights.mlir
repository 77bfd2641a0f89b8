// RUN: kv-opt --split-input-file --kv-list-weights %s -o %t | FileCheck %s --check-prefix=PLAIN
// RUN: kv-opt --split-input-file --kv-pack-weights --kv-list-weights %s -o %t | FileCheck %s --check-prefix=PACKED

// Scalars, and what no entry multiplies, are listed as they are.
// PLAIN:      [{"dtype":"f32","name":"scale","shape":[]},
// PLAIN-SAME:  {"dtype":"bf16","name":"w","shape":[32,8],"stored":{"order":[1,0],"shape":[8,32]}},
// PLAIN-SAME:  {"dtype":"!kv.quant<q8_0>","name":"q","shape":[16,32]}]
// PACKED: {"name":"any"}
// PACKED:      {"dtype":"f32","name":"scale","shape":[]},
// PACKED-SAME: {"dtype":"f32","layout":"n16k","name":"w","shape":[2,8,16],"stored":{"order":[1,0],"shape":[8,32]}}

func.func @forward(%x: tensor<?x8xf32>, %scale: tensor<f32> {kv.weight = "scale"},
                   %w: tensor<32x8xbf16> {kv.stored = {order = [1, 0], shape = [8, 32]}, kv.weight = "w"},
                   %q: tensor<16x32x!kv.quant<q8_0>> {kv.weight = "q"}) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// Nothing but tokens: no weight. What is no entry's tensor has a name alone.
// PLAIN: {{^}}[]{{$}}
func.func @empty(%x: tensor<?xi32>) -> tensor<?xi32> {
  return %x : tensor<?xi32>
}

// -----

// PLAIN: {{^}}[{"name":"any"}]{{$}}
func.func @unranked(%x: tensor<*xf32> {kv.weight = "any"}) {
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

func.func @multiplies(%x: tensor<?x8xf32>, %scale: tensor<f32> {kv.weight = "scale"},
                      %w: tensor<32x8xf32> {kv.stored = {order = [1, 0], shape = [8, 32]}, kv.weight = "w"})
    -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
      ins(%x, %w : tensor<?x8xf32>, tensor<32x8xf32>)
      outs(%zeros : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
