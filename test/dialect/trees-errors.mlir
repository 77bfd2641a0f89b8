// RUN: %rows %s | kv-opt --verify-diagnostics --split-input-file

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>

// -----

func.func @mask(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %tree: tensor<?xi64>) -> tensor<?x4x8xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{has a tree and the mask #kv.mask<none>: that of a tree must be causal, sliding or chunked_causal}}
  %o = kv.attention %q in %kv[%l] rows %rows tree %tree mask <none> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @mask_of_a_plan(%kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4xi32> {
  // expected-error @+1 {{has a tree and the mask #kv.mask<chunked = 4>: that of a tree must be causal, sliding or chunked_causal}}
  %plan = kv.plan %kv rows %rows mask <chunked = 4> tree : !kv, tensor<?xi32> -> tensor<?x4xi32>
  return %plan : tensor<?x4xi32>
}

// -----

func.func @keys(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %tree: tensor<?xi64>) -> tensor<?x4x8xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{takes a tree or 'keys', not both: the nodes of a tree are keys of this step's rows}}
  %o = kv.attention %q in %kv[%l] rows %rows keys %rows tree %tree mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> tree tensor<?xi64> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @rows(%q: tensor<6x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %tree: tensor<5xi64>) -> tensor<6x4x8xf32> {
  %l = arith.constant 1 : index
  // expected-error @+1 {{'q' has 6 rows, 'tree' has 5}}
  %o = kv.attention %q in %kv[%l] rows %rows tree %tree mask <causal> scale 0.5
      : tensor<6x4x8xf32> in !kv, tensor<?xi32> tree tensor<5xi64> -> tensor<6x4x8xf32>
  return %o : tensor<6x4x8xf32>
}

// -----

func.func @positions(%kv: !kv, %rows: tensor<?xi32>, %tree: tensor<5xi64>) -> tensor<6xi32> {
  // expected-error @+1 {{'tree' has 5 rows, 'result' has 6}}
  %p = kv.positions %kv, %rows tree %tree : !kv, tensor<?xi32> tree tensor<5xi64> -> tensor<6xi32>
  return %p : tensor<6xi32>
}

// -----

func.func @words(%kv: !kv, %rows: tensor<?xi32>, %tree: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @+1 {{tensor of 64-bit signless integer values}}
  %p = kv.positions %kv, %rows tree %tree : !kv, tensor<?xi32> tree tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

func.func @plan_without(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %tree: tensor<?xi64>) -> tensor<?x4x8xf32> {
  %l = arith.constant 1 : index
  %plan = kv.plan %kv rows %rows mask <causal> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  // expected-error @+1 {{has a tree, its plan is for attentions with none}}
  %o = kv.attention %q in %kv[%l] rows %rows tree %tree plan %plan mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> tree tensor<?xi64> plan tensor<?x4xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @plan_with(%q: tensor<?x4x8xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4x8xf32> {
  %l = arith.constant 1 : index
  %plan = kv.plan %kv rows %rows mask <causal> tree : !kv, tensor<?xi32> -> tensor<?x4xi32>
  // expected-error @+1 {{has no tree, its plan is for attentions with one}}
  %o = kv.attention %q in %kv[%l] rows %rows plan %plan mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
