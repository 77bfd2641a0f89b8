// Products of 8 bits on a GPU: an attention with them has a plan of its own, whose
// mask has KV_MASK_EIGHT_BIT_PRODUCTS, 32, in it, and device code of its own; the
// runtime's function gets the same mask.
//
// RUN: kv-opt --kv-resolve-collections=device --canonicalize --kv-select-kernel="target=cuda" --cse \
// RUN:   --kv-form-launches %s | FileCheck %s
// RUN: kv-opt --kv-cuda="chips=sm_120" %s -o /dev/null --mlir-print-ir-after=convert-kv-to-runtime 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CALL

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 1, dim = 64, page = 16>

// CHECK: images = [
// CHECK-SAME: "kv_attention_decode_f8_64"
// CHECK-SAME: "kv_attention_decode_f8p_64"
// CHECK-SAME: "kv_attention_prefill_f8p_64"
// CHECK-SAME: "kv_attention_tensor_f8p_64"
// CHECK-SAME: "kv_attention_tiles_f8p_64"
// CHECK-LABEL: func.func @forward(
// CHECK-DAG: %[[WIDE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 33 : i32
// CHECK-DAG: %[[FIRST:.*]] = kv.rt.launch "plan"({{.*}}, %[[BYTES]], %{{[^,]*}}) outs
// CHECK-DAG: %[[SECOND:.*]] = kv.rt.launch "plan"({{.*}}, %[[WIDE]], %{{[^,]*}}) outs
// CHECK: kv.rt.launch "plannedAttention"({{.*}}, %[[FIRST]], {{.*}}, %[[BYTES]], %{{[^,]*}}) absent
// CHECK: kv.rt.launch "plannedAttention"({{.*}}, %[[SECOND]], {{.*}}, %[[WIDE]], %{{[^,]*}}) absent
//
// CALL: kv.rt.call "plannedAttention"({{.*}}, %c33_i32{{[_0-9]*}}, %{{[^,]*}}) absent
// CALL: kv.rt.call "plannedAttention"({{.*}}, %c1_i32{{[_0-9]*}}, %{{[^,]*}}) absent
func.func @forward(%q: tensor<?x2x64xbf16> {kv.name = "q"}, %kv: !kv {kv.name = "kv"}, %ro: tensor<?xi32> {kv.name = "ro"})
    -> (tensor<?x2x64xbf16> {kv.name = "a"}) attributes {kv.entry} {
  %l = arith.constant 0 : index
  %a = kv.attention %q in %kv[%l] rows %ro mask <causal> scale 1.0 products f8E4M3FN
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> -> tensor<?x2x64xbf16>
  %b = kv.attention %a in %kv[%l] rows %ro mask <causal> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> -> tensor<?x2x64xbf16>
  return %b : tensor<?x2x64xbf16>
}
