// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s

// CHECK-LABEL: func.func private @f32(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 1, page = 1>)
func.func private @f32(!kv.collection<paged, f32, layers = 1, heads = 1, dim = 1, page = 1>)

// CHECK-LABEL: func.func private @f16(!kv.collection<paged, f16, layers = 2, heads = 8, dim = 96, page = 16>)
func.func private @f16(!kv.collection<paged, f16, layers = 2, heads = 8, dim = 96, page = 16>)

// Parameters stand in any order and print in one.
// CHECK-LABEL: func.func private @bf16(!kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>)
func.func private @bf16(!kv.collection<paged, bf16, page = 128, dim = 64, heads = 3, layers = 30>)

// CHECK-LABEL: func.func private @masks() attributes
// CHECK-SAME: a = #kv.mask<none>, b = #kv.mask<causal>, c = #kv.mask<sliding = 4>
// CHECK-SAME: d = #kv.mask<chunked = 8>, e = #kv.mask<sliding_noncausal = 1>, f = #kv.mask<chunked_causal = 8>
func.func private @masks() attributes {
  a = #kv.mask<none>, b = #kv.mask<causal>, c = #kv.mask<sliding = 4>,
  d = #kv.mask<chunked = 8>, e = #kv.mask<sliding_noncausal = 1>,
  f = #kv.mask<chunked_causal = 8>}

// CHECK-LABEL: func.func private @cache(!kv.cache<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>)
func.func private @cache(!kv.cache<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>)
