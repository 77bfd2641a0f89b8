// What operations trust of a step is checked once, where its values come into
// being.
//
// RUN: kv-opt --kv-check-steps --split-input-file %s | FileCheck %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
!blocks = memref<?x2x2x16x2x8xf32>

// Two layers with the same rows: the entry checks for both, before the first.
// CHECK-LABEL: func.func private @layer(
// CHECK-NOT: kv.rt.check_step
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x4x8xf32>, %[[K:[a-z0-9]*]]: tensor<?x2x8xf32>, %[[R:[a-z0-9]*]]: tensor<?xi32>, %{{[a-z0-9]*}}: memref<{{[^>]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>)
// CHECK-DAG: %[[NQ:.*]] = tensor.dim %[[Q]]
// CHECK-DAG: %[[NK:.*]] = tensor.dim %[[K]]
// CHECK-DAG: kv.rt.check_step %[[R]] of %[[L]], %[[T]] max %[[M]] rows %[[NQ]] page 16
// CHECK-DAG: kv.rt.check_step %[[R]] of %[[L]], %[[T]] max %[[M]] rows %[[NK]] page 16
// CHECK-NOT: kv.rt.check_step
// CHECK: call @layer
// CHECK-NOT: kv.rt.check_step
// CHECK: return
func.func private @layer(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %r: tensor<?xi32>, %i: index,
    %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>) -> tensor<?x4x8xf32> {
  kv.store %k, %k into (%b, %l, %t, %m)[%i] rows %r : tensor<?x2x8xf32>, tensor<?x2x8xf32>
      into (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  %o = kv.attention %q in (%b, %l, %t, %m)[%i] rows %r mask <causal> scale 0.5
      : tensor<?x4x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
func.func @forward(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %r: tensor<?xi32>,
    %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>)
    -> tensor<?x4x8xf32> attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %x = call @layer(%q, %k, %r, %0, %b, %l, %t, %m) : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, index,
      !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) -> tensor<?x4x8xf32>
  %y = call @layer(%x, %k, %r, %1, %b, %l, %t, %m) : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, index,
      !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) -> tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>
!blocks = memref<?x2x2x16x2x8xf32>

// Static rows and sequences are what the step must have; what is weaker is part of
// what is stronger. Cross attention: queries have no keys of their own.
// CHECK-LABEL: func.func @sizes(
// CHECK: %[[SIX:.*]] = arith.constant 6 : index
// CHECK: kv.rt.check_step %arg0 of %arg2, %arg3 rows %[[SIX]] sequences 3 :
// CHECK: kv.rt.check_step %arg5 of %arg2, %arg3 max %arg4 page 16 :
// CHECK-NOT: kv.rt.check_step
// CHECK: return
func.func @sizes(%r: tensor<?xi32>, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>, %keys: tensor<?xi32>, %q: tensor<6x4x8xf32>) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %p = kv.positions (%b, %l, %t, %m), %r
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  %o = kv.row_offsets (%b, %l, %t, %m), %r
      : (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<4xi32>
  %a = kv.attention %q in (%b, %l, %t, %m)[%0] rows %r keys %keys mask <none> scale 0.5
      : tensor<6x4x8xf32> in (!blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
        keys tensor<?xi32> -> tensor<6x4x8xf32>
  return
}

// -----

!kv = !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 8, max_seq = 32>
!blocks = memref<?x2x2x32x2x8xf32>

// Offsets of the graph: where they are made. Lengths of a loop: in each turn.
// Under a condition: where it holds.
// CHECK-LABEL: func.func @places(
// CHECK: %[[MADE:.*]] = linalg.add
// CHECK: %[[ROWS:.*]] = tensor.dim %arg5
// CHECK-NEXT: kv.rt.check_step %[[MADE]] of %arg2, %arg3 max %arg4 rows %[[ROWS]] page 32
// CHECK: kv.store
// CHECK: scf.for {{.*}} iter_args(%[[NOW:.*]] = %arg2)
// CHECK: kv.rt.check_step %arg0 of %[[NOW]], %arg3 rows
// CHECK: kv.positions
// CHECK: scf.if
// CHECK-NEXT: kv.rt.check_step %arg0 of %arg2, %arg3 :
// CHECK: kv.row_offsets
func.func @places(%r: tensor<?xi32>, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?xi32>,
    %m: tensor<?x2xi32>, %k: tensor<?x2x8xf32>, %c: i1, %n: index) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %made = linalg.add ins(%r, %r : tensor<?xi32>, tensor<?xi32>) outs(%r : tensor<?xi32>) -> tensor<?xi32>
  kv.store %k, %k into (%b, %l, %t, %m)[%0] rows %made : tensor<?x2x8xf32>, tensor<?x2x8xf32>
      into (!blocks, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32>
  %last = scf.for %i = %0 to %n step %1 iter_args(%now = %l) -> tensor<?xi32> {
    %p = kv.positions (%b, %now, %t, %m), %r
        : (!blocks, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<4xi32>
    %next = linalg.add ins(%now, %now : tensor<?xi32>, tensor<?xi32>) outs(%now : tensor<?xi32>) -> tensor<?xi32>
    scf.yield %next : tensor<?xi32>
  }
  scf.if %c {
    %o = kv.row_offsets (%b, %l, %t, %m), %r
        : (!blocks, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<?xi32>
  }
  return
}

// -----

!kv = !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 8, max_seq = 32>
!blocks = memref<?x2x2x32x2x8xf32>

// What stands there (of kv.advance) is hoisted and joined like the others; a
// function that something else than calls names checks for itself.
// CHECK-LABEL: func.func private @inner(
// CHECK-NOT: kv.rt.check_step
// CHECK-LABEL: func.func @outer(
// CHECK-NEXT: kv.rt.check_step %arg0 of %arg2, %arg3 sequences 2 :
// CHECK-NEXT: call
func.func private @inner(%r: tensor<?xi32>, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?xi32>,
    %m: tensor<?x2xi32>) {
  kv.rt.check_step %r of %l, %t : tensor<?xi32> of tensor<?xi32>, tensor<?xi32>
  %o = kv.row_offsets (%b, %l, %t, %m), %r
      : (!blocks, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) as !kv, tensor<?xi32> -> tensor<3xi32>
  return
}
func.func @outer(%r: tensor<?xi32>, %b: !blocks, %l: tensor<?xi32>, %t: tensor<?xi32>,
    %m: tensor<?x2xi32>) attributes {kv.entry} {
  call @inner(%r, %b, %l, %t, %m) : (tensor<?xi32>, !blocks, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) -> ()
  return
}
