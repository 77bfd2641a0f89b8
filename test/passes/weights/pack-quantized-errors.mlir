// RUN: kv-opt --kv-pack-quantized %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has a weight 'tensor<24x64x!kv.quant<q8_0>>'; one of q8_0 must be a static [N, K] with N a multiple of 16 and K one of 32}}
func.func @rows(%q: tensor<24x64x!kv.quant<q8_0>>) {
  return
}

// -----

func.func private @made() -> tensor<32x64x!kv.quant<q8_0>>
func.func @not_an_argument() -> tensor<32x64xf32> {
  %q = func.call @made() : () -> tensor<32x64x!kv.quant<q8_0>>
  // expected-error @+1 {{takes a quantised weight from an argument of its function}}
  %w = kv.dequantize %q : tensor<32x64x!kv.quant<q8_0>> -> tensor<32x64xf32>
  return %w : tensor<32x64xf32>
}

// -----

func.func @other(%c: i1) -> index {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tensor.empty' takes a quantised weight; only kv.dequantize, kv.expert_matmul and calls do}}
  %q = tensor.empty() : tensor<32x64x!kv.quant<q8_0>>
  %d = tensor.dim %q, %c0 : tensor<32x64x!kv.quant<q8_0>>
  return %d : index
}

// -----

func.func @f32_activations(%x: tensor<?x64xf32>, %e: tensor<?x2xi32>, %q: tensor<64x64x!kv.quant<q8_0>>)
    -> tensor<?x2x16xf32> {
  // expected-error @+1 {{takes a quantised weight only where the module says kv.activations = i8}}
  %y = kv.expert_matmul %x, %q experts(%e)
      : tensor<?x64xf32>, tensor<64x64x!kv.quant<q8_0>> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}

// -----

module attributes {kv.activations = i8} {
func.func @no_argument(%x: tensor<?x64xf32>, %e: tensor<?x2xi32>, %c: i1, %a: tensor<64x64x!kv.quant<q8_0>>,
    %b: tensor<64x64x!kv.quant<q8_0>>) -> tensor<?x2x16xf32> {
  %q = arith.select %c, %a, %b : tensor<64x64x!kv.quant<q8_0>>
  // expected-error @+1 {{takes a quantised weight from an argument of its function}}
  %y = kv.expert_matmul %x, %q experts(%e)
      : tensor<?x64xf32>, tensor<64x64x!kv.quant<q8_0>> experts tensor<?x2xi32> -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}
}
