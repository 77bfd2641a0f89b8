// One attention over a paged cache: two layers, two KV heads that serve four query heads.
!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 32, page = 16>

module attributes {kv.model = {name = "attend", max_seq_len = 1024 : i64}} {
  func.func @attend(%q: tensor<?x4x32xf32> {kv.name = "q", kv.dims = ["T"]},
                    %k: tensor<?x2x32xf32> {kv.name = "k", kv.dims = ["T"]},
                    %v: tensor<?x2x32xf32> {kv.name = "v", kv.dims = ["T"]},
                    %row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]},
                    %kv: !kv {kv.name = "kv"})
      -> (tensor<?x4x32xf32> {kv.name = "o", kv.dims = ["T"]}) attributes {kv.entry} {
    %layer = arith.constant 1 : index
    kv.store %k, %v into %kv[%layer] rows %row_offsets
        : tensor<?x2x32xf32>, tensor<?x2x32xf32> into !kv, tensor<?xi32>
    %o = kv.attention %q in %kv[%layer] rows %row_offsets mask <causal> scale 0.25
        : tensor<?x4x32xf32> in !kv, tensor<?xi32> -> tensor<?x4x32xf32>
    return %o : tensor<?x4x32xf32>
  }
}
