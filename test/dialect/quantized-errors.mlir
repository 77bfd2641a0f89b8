// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

func.func @f(%w: tensor<2x2x544xi8>, %x: tensor<?x64xf32>) {

// -----

(%w: tensor<32x48x!kv.quant<q8_0>>)
// expected-error @+1 {{rows of q8_0 must be blocks of 32 elements, not those of 'tensor<32x48x!kv.quant<q8_0>>'}}
%a = kv.dequantize %w : tensor<32x48x!kv.quant<q8_0>> -> tensor<32x48xf32>

// -----

(%w: tensor<?x64x!kv.quant<q8_0>>)
// expected-error @+1 {{weight must have a static shape, not 'tensor<?x64x!kv.quant<q8_0>>'}}
%a = kv.dequantize %w : tensor<?x64x!kv.quant<q8_0>> -> tensor<?x64xf32>

// -----

(%w: tensor<32x64x!kv.quant<q8_0>>)
// expected-error @+1 {{takes a format only with a packed weight}}
%a = kv.dequantize %w format <q8_0> : tensor<32x64x!kv.quant<q8_0>> -> tensor<32x64xf32>

// -----

// expected-error @+1 {{must name the format of a packed weight}}
%a = kv.dequantize %w : tensor<2x2x544xi8> -> tensor<32x64xf32>

// -----

(%w: tensor<2x2x288xi8>)
// expected-error @+1 {{a packed weight of q8_0 must be a static [N / 16, K / 32, 544], not 'tensor<2x2x288xi8>'}}
%a = kv.dequantize %w format <q8_0> : tensor<2x2x288xi8> -> tensor<32x64xf32>

// -----

(%w: tensor<2x1x1000xi8>)
// expected-error @+1 {{a packed weight of i8 must be a static [N / 16, 1, 64 + 16 * K] with K a multiple of 32, not 'tensor<2x1x1000xi8>'}}
%a = kv.dequantize %w format <i8> : tensor<2x1x1000xi8> -> tensor<32x64xf32>

// -----

(%w: tensor<2x2x1088xi8>)
// expected-error @+1 {{a packed weight of i8 must be a static [N / 16, 1, 64 + 16 * K] with K a multiple of 32, not 'tensor<2x2x1088xi8>'}}
%a = kv.dequantize %w format <i8> : tensor<2x2x1088xi8> -> tensor<32x64xf32>

// -----

(%w: tensor<32x48x!kv.quant<i8>>)
// expected-error @+1 {{rows of i8 must be blocks of 32 elements, not those of 'tensor<32x48x!kv.quant<i8>>'}}
%a = kv.dequantize %w : tensor<32x48x!kv.quant<i8>> -> tensor<32x48xf32>

// -----

(%w: tensor<32x64x!kv.quant<f8e4m3>>)
// expected-error @+1 {{rows of f8e4m3 must be blocks of 128 elements, not those of 'tensor<32x64x!kv.quant<f8e4m3>>'}}
%a = kv.dequantize %w : tensor<32x64x!kv.quant<f8e4m3>> -> tensor<32x64xf32>

// -----

// expected-error @+1 {{result must have the 32 rows of the weight, not those of 'tensor<31x64xf32>'}}
%a = kv.dequantize %w format <q8_0> : tensor<2x2x544xi8> -> tensor<31x64xf32>

// -----

// expected-error @+1 {{result must have the 64 columns of the weight, not those of 'tensor<32x63xf32>'}}
%a = kv.dequantize %w format <q8_0> : tensor<2x2x544xi8> -> tensor<32x63xf32>

// -----

(%i: tensor<3xi32>)
// expected-error @+1 {{'rows' has 3 rows, 'result' has 4}}
%a = kv.dequantize %w rows(%i) format <q8_0> : tensor<2x2x544xi8>, tensor<3xi32> -> tensor<4x64xf32>

// -----

// expected-error @+1 {{formats must say what weight 0, 'tensor<2x2x544xi8>', holds}}
%y = kv.matmul %x, %w : tensor<?x64xf32>, tensor<2x2x544xi8> -> tensor<?x32xf32>

// -----

(%w: tensor<2x64x16xbf16>)
// expected-error @+1 {{formats must be unit for weight 0, 'tensor<2x64x16xbf16>'}}
%y = kv.matmul %x, %w {formats = [#kv.quant<q8_0>]} : tensor<?x64xf32>, tensor<2x64x16xbf16> -> tensor<?x32xf32>

// -----

// expected-error @+1 {{formats has 2 entries for 1 weights}}
%y = kv.matmul %x, %w {formats = [#kv.quant<q8_0>, unit]} : tensor<?x64xf32>, tensor<2x2x544xi8> -> tensor<?x32xf32>

// -----

(%w: tensor<2x64x16xbf16>)
// expected-error @+1 {{formats holds 7 : i64, expected a #kv.quant or unit}}
%y = kv.matmul %x, %w {formats = [7]} : tensor<?x64xf32>, tensor<2x64x16xbf16> -> tensor<?x32xf32>

// -----

(%x: tensor<?x32xf32>)
// expected-error @+1 {{x has 32 columns, the weight takes 64}}
%y = kv.matmul %x, %w {formats = [#kv.quant<q8_0>]} : tensor<?x32xf32>, tensor<2x2x544xi8> -> tensor<?x32xf32>

// -----

// expected-error @+2 {{expected one of [q8_0, q4_0, q4_1, q4_k, q6_k, i8, f8e4m3, f8e5m2] for a format of quantised weights, got: q5_k}}
// expected-error @+1 {{failed to parse}}
func.func private @unknown(tensor<32x64x!kv.quant<q5_k>>)
