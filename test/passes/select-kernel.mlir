// The kernel of each attention and store, and the plan of those that take one.
//
// RUN: kv-opt --kv-select-kernel %s | FileCheck %s --check-prefix=CPU
// RUN: kv-opt --kv-select-kernel="target=decomposition" %s | FileCheck %s
// RUN: kv-opt --kv-resolve-collections --kv-select-kernel="target=decomposition" %s \
// RUN:   | FileCheck %s --check-prefix=RESOLVED
// RUN: kv-opt --kv-select-kernel="target=decomposition" --kv-select-kernel %s | FileCheck %s
// RUN: kv-opt --kv-select-kernel %s -o /dev/null --remarks-filter=kv-select-kernel 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK-CPU
// RUN: kv-opt --kv-select-kernel="target=decomposition" %s -o /dev/null \
// RUN:   --remarks-filter=kv-select-kernel 2>&1 | FileCheck %s --check-prefix=REMARK
//
// REMARK-CPU-DAG: [Passed] Kernel | {{.*}}"store by 'reference': the runtime's function takes every type"
// REMARK-CPU-DAG: [Passed] Kernel | {{.*}}"attention by 'vector': kv-vectorize generates it for its types"
// REMARK-CPU-DAG: [Missed] NoPlan | {{.*}}"keys with rows of their own: a plan has those of the queries"
// REMARK-CPU-DAG: [Passed] Kernel | {{.*}}"attention by 'reference': its groups of 24 elements with a scale neither fill vectors of 16 nor divide them"
// REMARK-CPU-DAG: [Passed] Kernel | {{.*}}"store by 'decomposition': it had this kernel"
// REMARK-CPU-DAG: [Missed] NoPlan | {{.*}}"'reference' takes no plan: it finds out in each layer what a row sees"
// REMARK-DAG: [Passed] Kernel | {{.*}}"store by 'decomposition': the target has no kernels of its own"
// REMARK-DAG: [Passed] Kernel | {{.*}}"attention by 'decomposition': the target has no kernels of its own"
// REMARK-DAG: [Passed] Plan | {{.*}}"what a row sees is found once a step, not in each layer"

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// CPU-LABEL: func.func private @layer(
// CPU-SAME: %[[P:[a-z0-9]*]]: tensor<?x4xi32>)
// CPU: kv.store {{.*}} {kv.kernel = #kv.kernel<reference>}
// CPU: kv.attention {{.*}} plan %[[P]] mask <causal> {{.*}} {kv.kernel = #kv.kernel<vector>}
//
// A layer gets the plan as an argument.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[KV:[a-z0-9]*]]: !kv.collection<{{[^>]*}}>, %[[RO:[a-z0-9]*]]: tensor<?xi32>, %[[I:[a-z0-9]*]]: index, %[[P:[a-z0-9]*]]: tensor<?x4xi32>)
// CHECK-NOT: kv.plan
// CHECK: kv.store {{.*}} {kv.kernel = #kv.kernel<decomposition>}
// CHECK: kv.attention {{.*}} in %[[KV]][%[[I]]] rows %[[RO]] plan %[[P]] mask <causal> {{.*}} {kv.kernel = #kv.kernel<decomposition>}
// RESOLVED-LABEL: func.func private @layer(
// RESOLVED-NOT: kv.plan
// RESOLVED: kv.attention {{.*}} plan
func.func private @layer(%q: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>, %layer: index)
    -> tensor<?x1x8xf32> {
  kv.store %q, %q into %kv[%layer] rows %ro : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %o : tensor<?x1x8xf32>
}

// So does what calls a layer.
// CHECK-LABEL: func.func private @two_layers(
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<?x4xi32>)
// CHECK-NOT: kv.plan
// CHECK: call @layer({{.*}}, %[[P]])
// CHECK: call @layer({{.*}}, %[[P]])
func.func private @two_layers(%q: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = call @layer(%q, %kv, %ro, %c0) : (tensor<?x1x8xf32>, !kv, tensor<?xi32>, index) -> tensor<?x1x8xf32>
  %b = call @layer(%a, %kv, %ro, %c1) : (tensor<?x1x8xf32>, !kv, tensor<?xi32>, index) -> tensor<?x1x8xf32>
  return %b : tensor<?x1x8xf32>
}

// The entry makes it: one a mask and a cache, however many layers.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[KV:[a-z0-9]*]]: !kv.collection<{{[^>]*}}>, %[[DRAFT:[a-z0-9]*]]: !kv.collection<
// CHECK-DAG: %[[P:.*]] = kv.plan %[[KV]] rows %{{.*}} mask <causal>
// CHECK-DAG: %[[D:.*]] = kv.plan %[[DRAFT]] rows %{{.*}} mask <causal>
// CHECK-DAG: %[[S:.*]] = kv.plan %[[KV]] rows %{{.*}} mask <sliding = 5>
// CHECK-NOT: kv.plan
// CHECK: call @two_layers({{.*}}, %[[P]])
// CHECK: call @layer({{.*}}, %[[D]])
// CHECK: kv.attention {{.*}} plan %[[P]] mask <causal>
// CHECK: kv.attention {{.*}} plan %[[S]] mask <sliding = 5>
// RESOLVED-LABEL: func.func @forward(
// RESOLVED-COUNT-3: kv.plan (%{{.*}}) rows
// RESOLVED-NOT: kv.plan
// RESOLVED: return
func.func @forward(%q: tensor<?x1x8xf32>, %kv: !kv, %draft: !kv, %ro: tensor<?xi32>)
    -> (tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>) {
  %c1 = arith.constant 1 : index
  %a = call @two_layers(%q, %kv, %ro) : (tensor<?x1x8xf32>, !kv, tensor<?xi32>) -> tensor<?x1x8xf32>
  %b = call @layer(%a, %draft, %ro, %c1) : (tensor<?x1x8xf32>, !kv, tensor<?xi32>, index) -> tensor<?x1x8xf32>
  %c = kv.attention %b in %kv[%c1] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %d = kv.attention %b in %kv[%c1] rows %ro mask <sliding = 5> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %b, %c, %d : tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
}

// Not a function that others may call; outside of a loop over layers, inside of
// one over steps.
// CHECK-LABEL: func.func @steps(
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[NOW:[^ ]*]] =
// CHECK-NEXT: %[[P:.*]] = kv.plan %[[NOW]] rows
// CHECK: scf.for
// CHECK-NOT: kv.plan
// CHECK: kv.attention {{.*}} plan %[[P]]
func.func @steps(%q: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>, %n: index) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r, %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %now = %kv) -> (tensor<?x1x8xf32>, !kv) {
    %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%z = %x) -> tensor<?x1x8xf32> {
      %o = kv.attention %z in %now[%layer] rows %ro mask <causal> scale 1.0
          : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
      scf.yield %o : tensor<?x1x8xf32>
    }
    %next = kv.advance %now rows %ro : !kv, tensor<?xi32>
    scf.yield %y, %next : tensor<?x1x8xf32>, !kv
  }
  return %r : tensor<?x1x8xf32>
}

// A kernel that is there stays.
// CPU-LABEL: func.func @kept(
// CPU: kv.store {{.*}} {kv.kernel = #kv.kernel<decomposition>}
// CPU: kv.attention {{.*}} plan %{{.*}} {kv.kernel = #kv.kernel<vector>}
// CHECK-LABEL: func.func @kept(
// CHECK: %[[P:.*]] = kv.plan
// CHECK-NOT: kv.plan
// CHECK: kv.attention {{.*}} plan %[[P]] mask
func.func @kept(%q: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>, %layer: index) -> tensor<?x1x8xf32> {
  kv.store %q, %q into %kv[%layer] rows %ro {kv.kernel = #kv.kernel<decomposition>}
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %p = kv.plan %kv rows %ro mask <causal> : !kv, tensor<?xi32> -> tensor<?x4xi32>
  %o = kv.attention %q in %kv[%layer] rows %ro plan %p mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x8xf32>
  return %o : tensor<?x1x8xf32>
}

// What is not generated is the runtime's; a plan that it does not take goes.
// Keys with rows of their own have none.
// CPU-LABEL: func.func @fallback(
// CPU: kv.attention {{.*}} rows %{{[a-z0-9]*}} mask <causal> {{.*}} {kv.kernel = #kv.kernel<reference>}
// CPU: kv.attention {{.*}} rows %{{[a-z0-9]*}} keys %{{[a-z0-9]*}} mask <none> {{.*}} {kv.kernel = #kv.kernel<vector>}
!scaled = !kv.collection<paged, i8, layers = 2, heads = 1, dim = 48, page = 16, scale = #kv.scale<f32, group = 24>>
func.func @fallback(%q: tensor<?x1x48xf32>, %r: tensor<?x1x8xf32>, %scaled: !scaled, %kv: !kv,
    %ro: tensor<?xi32>, %keys: tensor<?xi32>, %layer: index) -> (tensor<?x1x48xf32>, tensor<?x1x8xf32>) {
  %p = kv.plan %scaled rows %ro mask <causal> : !scaled, tensor<?xi32> -> tensor<?x4xi32>
  %o = kv.attention %q in %scaled[%layer] rows %ro plan %p mask <causal> scale 1.0
      : tensor<?x1x48xf32> in !scaled, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x1x48xf32>
  %s = kv.attention %r in %kv[%layer] rows %ro keys %keys mask <none> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x1x8xf32>
  return %o, %s : tensor<?x1x48xf32>, tensor<?x1x8xf32>
}

// A function that calls itself with what it was given.
// CHECK-LABEL: func.func private @again(
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<?x4xi32>)
// CHECK: call @again({{.*}}, %[[P]])
func.func private @again(%q: tensor<?x1x8xf32>, %kv: !kv, %ro: tensor<?xi32>, %layer: index)
    -> tensor<?x1x8xf32> {
  %o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  %r = call @again(%o, %kv, %ro, %layer)
      : (tensor<?x1x8xf32>, !kv, tensor<?xi32>, index) -> tensor<?x1x8xf32>
  return %r : tensor<?x1x8xf32>
}
