// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

func.func @f(%r: tensor<?xi32>, %l: tensor<?xi32>, %t: tensor<?xi32>) {

// -----

// expected-error @+1 {{sequences must be at least 0, not -2}}
kv.rt.check_step %r of %l, %t sequences -2 : tensor<?xi32> of tensor<?xi32>, tensor<?xi32>

// -----

// expected-error @+1 {{page must be at least 1 token, not 0}}
kv.rt.check_step %r of %l, %t page 0 : tensor<?xi32> of tensor<?xi32>, tensor<?xi32>

// -----

(%t: tensor<?x?xi32>)
// expected-error @+1 {{bands must be at least 1, beside a page, not 2}}
kv.rt.check_step %r of %l, %t bands 2 : tensor<?xi32> of tensor<?xi32>, tensor<?x?xi32>

// -----

(%l: memref<?xi32>)
// expected-error @+1 {{mixes tensors and buffers}}
kv.rt.check_step %r of %l, %t : tensor<?xi32> of memref<?xi32>, tensor<?xi32>
