// Attention that is spelled out, with a logit more a head: a window over capped scores, and
// scores with a multiple of the key's position added.
//
// RUN: kv-opt --allow-unregistered-dialect "--kv-raise=dtype=bf16 page=16" --split-input-file %s | FileCheck %s
// RUN: kv-opt --allow-unregistered-dialect "--kv-raise=dtype=bf16 page=16" --remarks-filter=kv-raise --split-input-file %s \
// RUN:   -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK: !kv.collection<paged, bf16, layers = 1, heads = 4, dim = 16, page = 16, window = 7>
// CHECK: kv.attention %{{.*}} sinks %{{.*}} mask <sliding = 7> scale 2.500000e-01 softcap 2.000000e+00
// CHECK-SAME: sinks tensor<4xf32>

// Two digits of eight bits, and rows of whole vectors.
// CHECK: !kv.collection<paged, bf16, layers = 1, heads = 4, dim = 24, page = 16> {kv.name = "kv"}
// CHECK-DAG: arith.constant 2.560000e+02 : f32
// CHECK-DAG: arith.constant 1.000000e+00 : f32
// CHECK: arith.remui
// CHECK: kv.store %{{.*}} : tensor<?x4x24xf32>
// CHECK: kv.attention %{{.*}} sinks %{{.*}} mask <causal> scale 5.000000e-01
// CHECK: tensor.extract_slice %{{.*}} [%{{.*}}, 4, 16] [1, 1, 1] : tensor<?x4x24xf32>
// CHECK-NOT: tm_tensor

// REMARK-DAG: a product with a softmax of 0.25 * q . k is attention
// REMARK-DAG: 4 query heads read 4 KV heads, #kv.mask<causal>, scale 0.50, sinks, positions are added

#row = affine_map<(t, e) -> (t)>
#both = affine_map<(t, e) -> (t, e)>
#all3 = affine_map<(h, q, k) -> (h, q, k)>
#query3 = affine_map<(h, q, k) -> (h, q)>
#head3 = affine_map<(h, q, k) -> (h)>
module attributes {kv.model = {name = "t", max_seq_len = 64 : i64}} {
  func.func @forward(%ids: tensor<1x?xi64>, %embed: tensor<32x64xf32> {kv.weight = "embed"},
                     %head: tensor<32x64xf32>, %sinks: tensor<4xf32> {kv.weight = "sinks"}) -> tensor<1x?x32xf32> {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %hidden = arith.constant -3.0e38 : f32
    %scale = arith.constant 0.25 : f32
    %cap = arith.constant 2.0 : f32
    %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
    %t1 = arith.addi %t, %c1 : index
    %ids1 = tensor.collapse_shape %ids [[0, 1]] : tensor<1x?xi64> into tensor<?xi64>
    %e = tensor.empty(%t) : tensor<?x64xf32>
    %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%ids1 : tensor<?xi64>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%id: i64, %out: f32):
      %i = arith.index_cast %id : i64 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %embed[%i, %j] : tensor<32x64xf32>
      linalg.yield %v : f32
    } -> tensor<?x64xf32>
    %q3 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
    %qe = tensor.empty(%t) : tensor<4x?x16xf32>
    %q = linalg.transpose ins(%q3 : tensor<?x4x16xf32>) outs(%qe : tensor<4x?x16xf32>) permutation = [1, 0, 2]
    %ke = tensor.empty(%t) : tensor<4x16x?xf32>
    %k = linalg.transpose ins(%q3 : tensor<?x4x16xf32>) outs(%ke : tensor<4x16x?xf32>) permutation = [1, 2, 0]
    %se = tensor.empty(%t, %t) : tensor<4x?x?xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %qk = linalg.batch_matmul ins(%q, %k : tensor<4x?x16xf32>, tensor<4x16x?xf32>) outs(%s0 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %s = linalg.generic {indexing_maps = [#all3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%qk : tensor<4x?x?xf32>) outs(%se : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %scaled = arith.mulf %in, %scale : f32
      %part = arith.divf %scaled, %cap : f32
      %bent = math.tanh %part : f32
      %capped = arith.mulf %bent, %cap : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %c7 = arith.constant 7 : index
      %seen = arith.cmpi sle, %j, %i : index
      %end = arith.addi %j, %c7 : index
      %near = arith.cmpi slt, %i, %end : index
      %shown = arith.andi %seen, %near : i1
      %v = arith.select %shown, %capped, %hidden : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %oe1 = tensor.empty(%t) : tensor<4x?x1xf32>
    %sink = linalg.generic {indexing_maps = [#head3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%sinks : tensor<4xf32>) outs(%oe1 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %w = tensor.concat dim(2) %s, %sink : (tensor<4x?x?xf32>, tensor<4x?x1xf32>) -> tensor<4x?x?xf32>
    %we = tensor.empty(%t, %t1) : tensor<4x?x?xf32>
    %re = tensor.empty(%t) : tensor<4x?xf32>
    %r0 = linalg.fill ins(%low : f32) outs(%re : tensor<4x?xf32>) -> tensor<4x?xf32>
    %m = linalg.generic {indexing_maps = [#all3, #query3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%w : tensor<4x?x?xf32>) outs(%r0 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = arith.maximumf %in, %out : f32
      linalg.yield %v : f32
    } -> tensor<4x?xf32>
    %p = linalg.generic {indexing_maps = [#all3, #query3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%w, %m : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%we : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %most: f32, %out: f32):
      %d = arith.subf %in, %most : f32
      %v = math.exp %d : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%re : tensor<4x?xf32>) -> tensor<4x?xf32>
    %z = linalg.generic {indexing_maps = [#all3, #query3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<4x?x?xf32>) outs(%z0 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = arith.addf %in, %out : f32
      linalg.yield %v : f32
    } -> tensor<4x?xf32>
    %a = linalg.generic {indexing_maps = [#all3, #query3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %z : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%we : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %v = arith.divf %in, %sum : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %part = tensor.extract_slice %a[0, 0, 0] [4, %t, %t] [1, 1, 1] : tensor<4x?x?xf32> to tensor<4x?x?xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%qe : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %o = linalg.batch_matmul ins(%part, %q : tensor<4x?x?xf32>, tensor<4x?x16xf32>) outs(%o0 : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %oe = tensor.empty(%t) : tensor<?x4x16xf32>
    %ot = linalg.transpose ins(%o : tensor<4x?x16xf32>) outs(%oe : tensor<?x4x16xf32>) permutation = [1, 0, 2]
    %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
    %he = tensor.empty() : tensor<64x32xf32>
    %ht = linalg.transpose ins(%head : tensor<32x64xf32>) outs(%he : tensor<64x32xf32>) permutation = [1, 0]
    %le = tensor.empty(%t) : tensor<?x32xf32>
    %lz = linalg.fill ins(%zero : f32) outs(%le : tensor<?x32xf32>) -> tensor<?x32xf32>
    %l = linalg.matmul ins(%r, %ht : tensor<?x64xf32>, tensor<64x32xf32>) outs(%lz : tensor<?x32xf32>) -> tensor<?x32xf32>
    %logits = tensor.expand_shape %l [[0, 1], [2]] output_shape [1, %t, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %logits : tensor<1x?x32xf32>
  }
}

// -----

#row = affine_map<(t, e) -> (t)>
#both = affine_map<(t, e) -> (t, e)>
#all3 = affine_map<(h, q, k) -> (h, q, k)>
#query3 = affine_map<(h, q, k) -> (h, q)>
#head3 = affine_map<(h, q, k) -> (h)>
module attributes {kv.model = {name = "t", max_seq_len = 512 : i64}} {
  func.func @forward(%ids: tensor<1x?xi64>, %embed: tensor<32x64xf32> {kv.weight = "embed"},
                     %head: tensor<32x64xf32>, %sinks: tensor<4xf32> {kv.weight = "sinks"}) -> tensor<1x?x32xf32> {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %hidden = arith.constant -3.0e38 : f32
    %scale = arith.constant 0.5 : f32
    %t = tensor.dim %ids, %c1 : tensor<1x?xi64>
    %t1 = arith.addi %t, %c1 : index
    %ids1 = tensor.collapse_shape %ids [[0, 1]] : tensor<1x?xi64> into tensor<?xi64>
    %e = tensor.empty(%t) : tensor<?x64xf32>
    %x = linalg.generic {indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%ids1 : tensor<?xi64>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%id: i64, %out: f32):
      %i = arith.index_cast %id : i64 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %embed[%i, %j] : tensor<32x64xf32>
      linalg.yield %v : f32
    } -> tensor<?x64xf32>
    %q3 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
    %qe = tensor.empty(%t) : tensor<4x?x16xf32>
    %q = linalg.transpose ins(%q3 : tensor<?x4x16xf32>) outs(%qe : tensor<4x?x16xf32>) permutation = [1, 0, 2]
    %ke = tensor.empty(%t) : tensor<4x16x?xf32>
    %k = linalg.transpose ins(%q3 : tensor<?x4x16xf32>) outs(%ke : tensor<4x16x?xf32>) permutation = [1, 2, 0]
    %se = tensor.empty(%t, %t) : tensor<4x?x?xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %qk = linalg.batch_matmul ins(%q, %k : tensor<4x?x16xf32>, tensor<4x16x?xf32>) outs(%s0 : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    %base = arith.constant 0.25 : f32
    %ae = tensor.empty() : tensor<4xf32>
    %slopes = linalg.generic {indexing_maps = [affine_map<(h) -> (h)>], iterator_types = ["parallel"]}
        outs(%ae : tensor<4xf32>) {
    ^bb0(%out: f32):
      %h = linalg.index 0 : index
      %h64 = arith.index_cast %h : index to i64
      %power = arith.sitofp %h64 : i64 to f32
      %slope = math.powf %base, %power : f32
      linalg.yield %slope : f32
    } -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#all3, #head3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%qk, %slopes : tensor<4x?x?xf32>, tensor<4xf32>) outs(%se : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %slope: f32, %out: f32):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %far = arith.subi %j, %i : index
      %far64 = arith.index_cast %far : index to i64
      %number = arith.sitofp %far64 : i64 to f32
      %bias = arith.mulf %number, %slope : f32
      %shifted = arith.addf %in, %bias : f32
      %scaled = arith.mulf %shifted, %scale : f32
      %none = arith.cmpi sgt, %j, %i : index
      %mask = arith.select %none, %hidden, %zero : f32
      %v = arith.addf %scaled, %mask : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %oe1 = tensor.empty(%t) : tensor<4x?x1xf32>
    %sink = linalg.generic {indexing_maps = [#head3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%sinks : tensor<4xf32>) outs(%oe1 : tensor<4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x?x1xf32>
    %w = tensor.concat dim(2) %s, %sink : (tensor<4x?x?xf32>, tensor<4x?x1xf32>) -> tensor<4x?x?xf32>
    %we = tensor.empty(%t, %t1) : tensor<4x?x?xf32>
    %re = tensor.empty(%t) : tensor<4x?xf32>
    %r0 = linalg.fill ins(%low : f32) outs(%re : tensor<4x?xf32>) -> tensor<4x?xf32>
    %m = linalg.generic {indexing_maps = [#all3, #query3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%w : tensor<4x?x?xf32>) outs(%r0 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = arith.maximumf %in, %out : f32
      linalg.yield %v : f32
    } -> tensor<4x?xf32>
    %p = linalg.generic {indexing_maps = [#all3, #query3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%w, %m : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%we : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %most: f32, %out: f32):
      %d = arith.subf %in, %most : f32
      %v = math.exp %d : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%re : tensor<4x?xf32>) -> tensor<4x?xf32>
    %z = linalg.generic {indexing_maps = [#all3, #query3], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<4x?x?xf32>) outs(%z0 : tensor<4x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = arith.addf %in, %out : f32
      linalg.yield %v : f32
    } -> tensor<4x?xf32>
    %a = linalg.generic {indexing_maps = [#all3, #query3, #all3], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %z : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%we : tensor<4x?x?xf32>) {
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %v = arith.divf %in, %sum : f32
      linalg.yield %v : f32
    } -> tensor<4x?x?xf32>
    %part = tensor.extract_slice %a[0, 0, 0] [4, %t, %t] [1, 1, 1] : tensor<4x?x?xf32> to tensor<4x?x?xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%qe : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %o = linalg.batch_matmul ins(%part, %q : tensor<4x?x?xf32>, tensor<4x?x16xf32>) outs(%o0 : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
    %oe = tensor.empty(%t) : tensor<?x4x16xf32>
    %ot = linalg.transpose ins(%o : tensor<4x?x16xf32>) outs(%oe : tensor<?x4x16xf32>) permutation = [1, 0, 2]
    %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
    %he = tensor.empty() : tensor<64x32xf32>
    %ht = linalg.transpose ins(%head : tensor<32x64xf32>) outs(%he : tensor<64x32xf32>) permutation = [1, 0]
    %le = tensor.empty(%t) : tensor<?x32xf32>
    %lz = linalg.fill ins(%zero : f32) outs(%le : tensor<?x32xf32>) -> tensor<?x32xf32>
    %l = linalg.matmul ins(%r, %ht : tensor<?x64xf32>, tensor<64x32xf32>) outs(%lz : tensor<?x32xf32>) -> tensor<?x32xf32>
    %logits = tensor.expand_shape %l [[0, 1], [2]] output_shape [1, %t, 32] : tensor<?x32xf32> into tensor<1x?x32xf32>
    return %logits : tensor<1x?x32xf32>
  }
}
