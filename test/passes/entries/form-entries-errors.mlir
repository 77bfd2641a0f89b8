// RUN: kv-opt --kv-form-entries --verify-diagnostics --split-input-file %s

// expected-error @+1 {{an entry takes ranked tensors and collections, not 'index'}}
func.func @f(%i: index) attributes {kv.entry} { return }

// -----

// expected-error @+1 {{an entry takes ranked tensors and collections, not 'tensor<*xf32>'}}
func.func @f(%i: tensor<*xf32>) attributes {kv.entry} { return }

// -----

// expected-error @+1 {{an entry returns ranked tensors, not 'f32'}}
func.func @f(%t: tensor<f32>) -> f32 attributes {kv.entry} {
  %e = tensor.extract %t[] : tensor<f32>
  return %e : f32
}

// -----

// expected-error @+1 {{an entry's body is one block}}
func.func @f(%t: tensor<i1>) attributes {kv.entry} {
  %c = tensor.extract %t[] : tensor<i1>
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}
