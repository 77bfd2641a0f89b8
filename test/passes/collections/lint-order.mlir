// RUN: kv-opt --kv-lint-order --verify-diagnostics --split-input-file %s
// RUN: kv-opt --kv-resolve-collections --kv-lint-order --verify-diagnostics --split-input-file %s
// RUN: kv-opt --kv-resolve-collections --kv-resolve-bands --canonicalize --cse --kv-lint-order --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func @early(%kv: !kv, %ro: tensor<?xi32>, %x: tensor<?x1x8xf32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  // expected-warning @+1 {{attends over layer 0 before this step's store of it}}
  %o = kv.attention %x in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  // expected-note @+1 {{the store is here}}
  kv.store %x, %x into %kv[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  return %o : tensor<?x1x8xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

func.func @twice(%kv: !kv, %ro: tensor<?xi32>, %x: tensor<?x1x8xf32>, %c: i1) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the first store is here}}
  kv.store %x, %x into %kv[%c1] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  scf.if %c {
    // expected-warning @+1 {{stores layer 1 of this step again}}
    kv.store %x, %x into %kv[%c1] rows %ro
        : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  }
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// Stores of other layers, other rows, the next step or an unknown layer; an
// attention whose layer some branch has stored, or that nobody here stores.
func.func @fine(%kv: !kv, %ro: tensor<?xi32>, %ro2: tensor<?xi32>, %x: tensor<?x1x8xf32>,
    %layer: index, %c: i1)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.if %c {
    kv.store %x, %x into %kv[%c0] rows %ro
        : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  } else {
    kv.store %x, %x into %kv[%c0] rows %ro
        : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  }
  %0 = kv.attention %x in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %1 = kv.attention %x in %kv[%c1] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %2 = kv.attention %x in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  kv.store %x, %x into %kv[%c0] rows %ro2
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  kv.store %x, %x into %kv[%layer] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %next = kv.advance %kv rows %ro : !kv, tensor<?xi32>
  kv.store %x, %x into %next[%c1] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  return %0, %1, %2 : tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
}

// -----

// Layers 0 and 2 have the same place in pages of different bands.
!kv = !kv.collection<paged, f32, layers = 4, heads = 1, dim = 8, page = 16, page_layers = 2>

func.func @bands(%kv: !kv, %ro: tensor<?xi32>, %x: tensor<?x1x8xf32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  kv.store %x, %x into %kv[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %x in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  kv.store %o, %o into %kv[%c2] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  return %o : tensor<?x1x8xf32>
}
