// RUN: kv-opt --kv-form-destinations --verify-diagnostics --split-input-file %s

func.func private @some(%n: index) -> tensor<?xf32> {
  %y = tensor.empty(%n) : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @caller(%n: index) {
  // expected-error @+1 {{returns a 'tensor<?xf32>' whose dimension 0 is not known before the call: it must be that of an argument}}
  %y = call @some(%n) : (index) -> tensor<?xf32>
  return
}

// -----

// expected-error @+1 {{must have one block to be compiled for a device}}
func.func private @branches(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^yes, ^no
^yes:
  return %x : tensor<4xf32>
^no:
  return %y : tensor<4xf32>
}

// -----

func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @takes() {
  // expected-error @+1 {{names @layer, which a device's host code can only call}}
  %f = func.constant @layer : (tensor<4xf32>) -> tensor<4xf32>
  return
}
