// The plan of a GPU's attention is bytes in device memory: made once a step,
// where it begins, and shared by all layers of a mask.
//
// RUN: kv-opt --kv-resolve-collections --canonicalize --kv-select-kernel="target=cuda" --cse %s | FileCheck %s
// RUN: kv-opt --kv-resolve-collections --canonicalize --kv-select-kernel="target=cuda" %s -o /dev/null \
// RUN:   --remarks-filter=kv-select-kernel 2>&1 | FileCheck %s --check-prefix=REMARK
//
// REMARK-DAG: [Passed] Kernel | {{.*}}"store by 'cuda': the device has a kernel for it"
// REMARK-DAG: [Passed] Kernel | {{.*}}"attention by 'cuda': the device has a kernel for it"
// REMARK-DAG: [Passed] Kernel | {{.*}}"copy_pages by 'cuda': the device has a kernel for it"
// REMARK-DAG: [Passed] Plan | {{.*}}"what a row sees is found once a step, not in each layer"

!kv = !kv.collection<paged, bf16, layers = 2, heads = 1, dim = 64, page = 16, layout = hnd>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<?xi8>)
// CHECK-NOT: kv.rt.launch
// CHECK: kv.store {{.*}} {kv.kernel = #kv.kernel<cuda>}
// CHECK: kv.attention {{.*}} plan %[[P]] mask <causal> {{.*}} {kv.kernel = #kv.kernel<cuda>}
func.func private @layer(%q: tensor<?x2x64xbf16>, %k: tensor<?x1x64xbf16>, %kv: !kv, %ro: tensor<?xi32>, %layer: index)
    -> tensor<?x2x64xbf16> {
  kv.store %k, %k into %kv[%layer] rows %ro : tensor<?x1x64xbf16>, tensor<?x1x64xbf16> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> -> tensor<?x2x64xbf16>
  return %o : tensor<?x2x64xbf16>
}

// The rows are those of the queries of the first layer, whose result the second
// takes: a size of an argument. One plan a mask.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x2x64xbf16>, %{{[a-z0-9]*}}: tensor<?x1x64xbf16>, %[[B:[a-z0-9]*]]: memref<{{[^>]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>, %[[RO:[a-z0-9]*]]: tensor<?xi32>
// CHECK-DAG: %[[BLOCKS:.*]] = memref.transpose %[[B]] (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d3, d5)
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[L]], %c0
// CHECK: %[[BYTES:.*]] = kv.rt.plan_bytes %[[BLOCKS]], %[[BATCH]], %[[ROWS]] heads 2
// CHECK-COUNT-2: kv.rt.launch "plan"(%[[BLOCKS]], %[[L]], %[[T]], %[[RO]], %[[M]], %c2_i64, {{.*}} outs tensor<?xi8> -> tensor<?xi8>
// CHECK-NOT: kv.rt.launch
// CHECK: call @layer({{.*}}, %[[P:.*]]) :
// CHECK: call @layer({{.*}}, %[[P]]) :
// CHECK: kv.attention {{.*}} plan %{{.*}} mask <sliding = 8>
// CHECK: kv.copy_pages {{.*}} {kv.kernel = #kv.kernel<cuda>}
func.func @forward(%q: tensor<?x2x64xbf16>, %k: tensor<?x1x64xbf16>, %kv: !kv, %ro: tensor<?xi32>, %from: tensor<?xi32>)
    -> tensor<?x2x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = call @layer(%q, %k, %kv, %ro, %c0)
      : (tensor<?x2x64xbf16>, tensor<?x1x64xbf16>, !kv, tensor<?xi32>, index) -> tensor<?x2x64xbf16>
  %b = call @layer(%a, %k, %kv, %ro, %c1)
      : (tensor<?x2x64xbf16>, tensor<?x1x64xbf16>, !kv, tensor<?xi32>, index) -> tensor<?x2x64xbf16>
  %o = kv.attention %b in %kv[%c1] rows %ro mask <sliding = 8> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> -> tensor<?x2x64xbf16>
  %blocks:4 = kv.unpack %kv : !kv -> memref<?x2x2x1x16x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  kv.copy_pages %blocks#0 from %from to %from layout hnd : memref<?x2x2x1x16x64xbf16>, tensor<?xi32>, tensor<?xi32>
  return %o : tensor<?x2x64xbf16>
}

// The plan's row offsets are behind the cache's operands, of which scales are one.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME: %[[S:[a-z0-9]*]]: memref<?x2x2x16x1x1xf32>, %[[RO:[a-z0-9]*]]: tensor<?xi32>
// CHECK: kv.rt.launch "plan"(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %[[RO]],
!scaled = !kv.collection<paged, i8, layers = 2, heads = 1, dim = 64, page = 16, scale = #kv.scale<f32, group = 64>>
func.func @scaled(%q: tensor<?x1x64xbf16>, %b: memref<?x2x2x16x1x64xi8>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %s: memref<?x2x2x16x1x1xf32>, %ro: tensor<?xi32>, %layer: index) -> tensor<?x1x64xbf16> {
  %o = kv.attention %q in (%b, %l, %t, %m, %s)[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x64xbf16> in (memref<?x2x2x16x1x64xi8>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>, memref<?x2x2x16x1x1xf32>) as !scaled, tensor<?xi32> -> tensor<?x1x64xbf16>
  return %o : tensor<?x1x64xbf16>
}

// Slots of a continuous cache are pages as long as a sequence.
// CHECK-LABEL: func.func @continuous(
// CHECK: kv.rt.launch "plan"(
// CHECK: kv.store {{.*}} {kv.kernel = #kv.kernel<cuda>}
// CHECK: kv.attention {{.*}} {kv.kernel = #kv.kernel<cuda>}
!slots = !kv.collection<continuous, bf16, layers = 2, heads = 1, dim = 96, max_seq = 128>
func.func @continuous(%q: tensor<?x2x96xbf16>, %k: tensor<?x1x96xbf16>, %kv: !slots, %ro: tensor<?xi32>, %layer: index)
    -> tensor<?x2x96xbf16> {
  kv.store %k, %k into %kv[%layer] rows %ro : tensor<?x1x96xbf16>, tensor<?x1x96xbf16> into !slots, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x2x96xbf16> in !slots, tensor<?xi32> -> tensor<?x2x96xbf16>
  return %o : tensor<?x2x96xbf16>
}

// Keys with rows of their own are counted where the queries' rows end.
// CHECK-LABEL: func.func @cross(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x2x64xbf16>, %[[RO:[a-z0-9]*]]: tensor<?xi32>, %[[KO:[a-z0-9]*]]: tensor<?xi32>, %[[B:[a-z0-9]*]]: memref<{{[^>]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>
// CHECK: %[[MORE:.*]] = kv.rt.launch "growLengths"(%[[L]], %[[KO]], %c1_i32)
// CHECK: %[[KEYS:.*]] = kv.rt.launch "growLengths"(%[[MORE]], %[[RO]], %c-1_i32)
// CHECK: %[[UNKNOWN:.*]] = tensor.empty(%c0) : tensor<?x2xi32>
// CHECK: %[[P:.*]] = kv.rt.launch "plan"(%{{.*}}, %[[KEYS]], %{{.*}}, %[[RO]], %[[UNKNOWN]],
// CHECK: kv.attention %[[Q]] in (%[[B]], %[[KEYS]], %{{.*}}, %[[UNKNOWN]])[%c0] rows %[[RO]] plan %[[P]] mask <none>
func.func @cross(%q: tensor<?x2x64xbf16>, %ro: tensor<?xi32>, %ko: tensor<?xi32>, %kv: !kv) -> tensor<?x2x64xbf16> {
  %c0 = arith.constant 0 : index
  %o = kv.attention %q in %kv[%c0] rows %ro keys %ko mask <none> scale 1.0
      : tensor<?x2x64xbf16> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x2x64xbf16>
  return %o : tensor<?x2x64xbf16>
}
