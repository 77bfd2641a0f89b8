// The device code of an attention with products of 8 bits: its own kernels alone,
// without PTX, and none for chips that no such kernel is for.
//
// REQUIRES: kv-compile
// RUN: rm -rf %t && mkdir -p %t/kernels
// RUN: %python %S/Inputs/kernel-images.py make %t/kernels
// RUN: kv-compile %s -o %t/model.so --target=cuda:sm_120 --kernels=%t/kernels
// RUN: %python %S/Inputs/kernel-images.py list %t/model.so | FileCheck %s
// CHECK: target: cuda x86-64-v3 sm_120
// CHECK: kv_attention_decode_f8p_64 sm_120: code of kv_attention_decode_f8p_64.sm_120.cubin
// CHECK-NEXT: kv_attention_prefill_f8p_64 sm_120: code of kv_attention_prefill_f8p_64.sm_120.cubin
// CHECK-NEXT: kv_movers sm_120: code of kv_movers.sm_120.cubin
// CHECK-NEXT: kv_movers compute_80: code of kv_movers.compute_80.ptx
// CHECK-NOT: kv_
//
// RUN: kv-compile %s -o %t/all.so --target=cuda:sm_90a,sm_100a,sm_120 --kernels=%t/kernels
// RUN: %python %S/Inputs/kernel-images.py list %t/all.so | FileCheck %s --check-prefix=ALL
// ALL: kv_attention_decode_f8p_64 sm_120: {{.*}}
// ALL-NEXT: kv_attention_prefill_f8p_64 sm_120: {{.*}}
// ALL-NEXT: kv_attention_tensor_f8p_64 sm_100a: code of kv_attention_tensor_f8p_64.sm_100a.cubin
// ALL-NEXT: kv_attention_tiles_f8p_64 sm_90a: code of kv_attention_tiles_f8p_64.sm_90a.cubin
// ALL-NEXT: kv_movers
//
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80,sm_120 --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: an attention has products of f8E4M3FN, which no kernel makes on sm_80, which multiplies no 8 bits: there are kernels for sm_90a, sm_100a and sm_120
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_120,sm_103a --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: an attention has products of f8E4M3FN, which no kernel makes on sm_103a: there are kernels for sm_90a, sm_100a and sm_120
// RUN: sed 's/page = 16/page = 12/' %s > %t/pages.mlir
// RUN: not kv-compile %t/pages.mlir -o %t/no.so --target=cuda:sm_90a,sm_120 --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=PAGES
// RUN: not kv-compile %t/pages.mlir -o %t/no.so --target=cuda:sm_100a --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=PAGES
// PAGES: an attention has products of f8E4M3FN, which no kernel makes on sm_{{9|10}}0a, whose kernels take pages of a multiple of 8 tokens: there are kernels for sm_90a, sm_100a and sm_120
// RUN: kv-compile %t/pages.mlir -o %t/pages.so --target=cuda:sm_120 --kernels=%t/kernels

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 1, dim = 64, page = 16>
func.func @forward(%q: tensor<?x2x64xbf16> {kv.name = "q"}, %kv: !kv {kv.name = "kv"}, %ro: tensor<?xi32> {kv.name = "ro"})
    -> (tensor<?x2x64xbf16> {kv.name = "a"}) attributes {kv.entry} {
  %l = arith.constant 0 : index
  %a = kv.attention %q in %kv[%l] rows %ro mask <causal> scale 1.0 products f8E4M3FN
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> -> tensor<?x2x64xbf16>
  return %a : tensor<?x2x64xbf16>
}
