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
  // expected-error @+1 {{'tensor.empty' takes a quantised weight; only kv.dequantize and calls do}}
  %q = tensor.empty() : tensor<32x64x!kv.quant<q8_0>>
  %d = tensor.dim %q, %c0 : tensor<32x64x!kv.quant<q8_0>>
  return %d : index
}
