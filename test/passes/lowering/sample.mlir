// Tokens are drawn by a runtime function on a CPU, by a kernel on a GPU.
//
// RUN: kv-opt --one-shot-bufferize=bufferize-function-boundaries --kv-thread-context --convert-kv-to-runtime --split-input-file %s | FileCheck %s --check-prefix=CPU
// RUN: kv-opt --kv-form-launches --split-input-file %s | FileCheck %s --check-prefix=GPU
// RUN: kv-opt --kv-add-sampler --split-input-file %s | FileCheck %s --check-prefix=ADD

// CPU-LABEL: func.func @tensors(
// CPU: kv.rt.call "sample"(%{{.*}}, %{{.*}}, %[[F:[^,]*]], %[[K:[^,]*]], %[[F]], %[[F]], %{{.*}}, %[[K]], %{{.*}}) : (memref<?x24xf32{{.*}}>, memref<?xf32{{.*}}>, memref<?xi32{{.*}}>, memref<?xf32{{.*}}>, memref<?xf32{{.*}}>, memref<?xi64{{.*}}>, memref<?xi32{{.*}}>, memref<?xi32>)
// CPU-NOT: kv.sample
// GPU-LABEL: func.func @tensors(
// GPU-SAME: %[[L:[^:]*]]: tensor<?x24xf32>, %[[F:[^:]*]]: tensor<?xf32>
// GPU: %[[ROWS:.*]] = tensor.dim
// GPU: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?xi32>
// GPU: kv.rt.launch "sample"(%[[L]], %[[F]], {{.*}}) outs(%[[EMPTY]])
// GPU-NOT: kv.sample
func.func @tensors(%l: tensor<?x24xf32>, %f: tensor<?xf32>, %k: tensor<?xi32>, %s: tensor<?xi64>)
    -> tensor<?xi32> {
  %0 = kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
      : tensor<?x24xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi64>,
        tensor<?xi32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// What makes logits gets an entry that draws from them.
// ADD-LABEL: func.func @forward(
// ADD: func.func @sample(%{{.*}}: tensor<?x32xf32> {kv.dims = ["R"], kv.name = "logits"}
// ADD-SAME: {kv.dims = ["R"], kv.name = "tokens"}) attributes {kv.entry}
// ADD: kv.sample
func.func @forward(%x: tensor<?x32xf32> {kv.name = "x", kv.dims = ["R"]})
    -> (tensor<?x32xf32> {kv.name = "logits", kv.dims = ["R"]}) attributes {kv.entry} {
  return %x : tensor<?x32xf32>
}

// -----

// A row of 12 elements is read by no kernel, and another result is no logits.
// ADD-LABEL: func.func @forward(
// ADD-NOT: @sample
func.func @forward(%x: tensor<?x12xf32> {kv.name = "x", kv.dims = ["R"]})
    -> (tensor<?x12xf32> {kv.name = "logits", kv.dims = ["R"]}) attributes {kv.entry} {
  return %x : tensor<?x12xf32>
}

// -----

// ADD-LABEL: func.func @forward(
// ADD-NOT: @sample
func.func @forward(%x: tensor<?x32xf32> {kv.name = "x", kv.dims = ["R"]})
    -> (tensor<?x32xf32> {kv.name = "hidden", kv.dims = ["R"]}) attributes {kv.entry} {
  return %x : tensor<?x32xf32>
}

// -----

// The module's own stays.
// ADD-LABEL: func.func @forward(
// ADD: func.func private @sample()
// ADD-NOT: kv.sample
func.func @forward(%x: tensor<?x32xf32> {kv.name = "x", kv.dims = ["R"]})
    -> (tensor<?x32xf32> {kv.name = "logits", kv.dims = ["R"]}) attributes {kv.entry} {
  return %x : tensor<?x32xf32>
}
func.func private @sample() {
  return
}
