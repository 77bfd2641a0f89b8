// RUN: kv-opt --kv-expand-collections --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 2, heads = ?, dim = 8, page = 16>
!blocks = memref<?x2x2x16x?x8xf32>
// expected-error @+1 {{argument 0: the heads of '!kv.collection<paged, f32, layers = 2, heads = ?, dim = 8, page = 16>' must be known in an entry: run kv-shard before}}
func.func @entry(%kv: !kv) attributes {kv.entry} {
  return
}
