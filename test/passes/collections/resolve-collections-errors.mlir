// RUN: kv-opt --allow-unregistered-dialect --kv-resolve-collections --verify-diagnostics --split-input-file %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>

// An operation that nobody taught to take components.
func.func @f(%kv: !kv) {
  // expected-error @+1 {{failed to legalize}}
  "test.takes_a_handle"(%kv) : (!kv) -> ()
  return
}
