// RUN: kv-opt --kv-resolve-collections %s \
// RUN:   | FileCheck %s --implicit-check-not="kv.fetch" --implicit-check-not="kv.unpack"
//
// One-Shot Bufferize must be able to take what comes out.
// RUN: kv-opt --kv-resolve-collections --canonicalize \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" %s \
// RUN:   | FileCheck %s --check-prefix=BUFFER

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// Argument attributes stay with their argument: a weight behind a handle is the
// sixth argument afterwards, and still named.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<?x1x8xf32> {kv.name = "x"},
// CHECK-SAME: %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: tensor<?xi32>, %[[T:[a-z0-9]*]]: tensor<?x?xi32>, %[[M:[a-z0-9]*]]: tensor<?x2xi32>,
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<8xf32> {kv.weight = "w"}, %{{[a-z0-9]*}}: tensor<?xi32> {kv.name = "offsets"})
// CHECK-SAME: -> (tensor<?x1x8xf32> {kv.name = "y"}, memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
// CHECK: kv.store %{{.*}}, %{{.*}} into (%[[B]], %[[L]], %[[T]], %[[M]])
// CHECK: kv.attention %{{.*}} in (%[[B]], %[[L]], %[[T]], %[[M]])
// CHECK: return %{{.*}}, %[[B]], %[[L]], %[[T]], %[[M]]
func.func private @layer(%x: tensor<?x1x8xf32> {kv.name = "x"}, %kv: !kv {kv.name = "cache"},
    %w: tensor<8xf32> {kv.weight = "w"}, %ro: tensor<?xi32> {kv.name = "offsets"})
    -> (tensor<?x1x8xf32> {kv.name = "y"}, !kv) {
  %c0 = arith.constant 0 : index
  kv.store %x, %x into %kv[%c0] rows %ro
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %x in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %o, %kv : tensor<?x1x8xf32>, !kv
}

// CHECK-LABEL: func.func @calls(
// CHECK: %[[R:.*]]:5 = call @layer(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK: kv.positions (%[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#4), %{{.*}}
func.func @calls(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %x: tensor<?x1x8xf32>, %w: tensor<8xf32>, %ro: tensor<?xi32>) -> tensor<?xi32> {
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %o, %kv2 = call @layer(%x, %kv, %w, %ro)
      : (tensor<?x1x8xf32>, !kv, tensor<8xf32>, tensor<?xi32>) -> (tensor<?x1x8xf32>, !kv)
  %p = kv.positions %kv2, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// CHECK-LABEL: func.func @branches(
// CHECK: %[[R:.*]]:4 = scf.if %{{.*}} -> (memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
// CHECK: kv.positions (%[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3)
func.func @branches(%c: i1, %kv: !kv, %kv2: !kv, %ro: tensor<?xi32>) -> tensor<?xi32> {
  %r = scf.if %c -> (!kv) {
    scf.yield %kv : !kv
  } else {
    scf.yield %kv2 : !kv
  }
  %p = kv.positions %r, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// Sizes that are static at one fetch are forgotten, so that all handles of a
// type expand alike.
// CHECK-LABEL: func.func @static_sizes(
// CHECK-DAG: memref.cast %{{.*}} : memref<5x2x2x16x1x8xf32> to memref<?x2x2x16x1x8xf32>
// CHECK-DAG: tensor.cast %{{.*}} : tensor<3xi32> to tensor<?xi32>
// CHECK-DAG: tensor.cast %{{.*}} : tensor<1x2xi32> to tensor<?x2xi32>
func.func @static_sizes(%b: memref<5x2x2x16x1x8xf32>, %l: tensor<3xi32>, %t: tensor<?x?xi32>,
    %m: tensor<1x2xi32>) -> (tensor<?xi32>, tensor<3xi32>) {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<5x2x2x16x1x8xf32>, tensor<3xi32>, tensor<?x?xi32>, tensor<1x2xi32> -> !kv
  %u:4 = kv.unpack %kv : !kv -> !blocks, tensor<3xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  %p = kv.positions %kv, %l : !kv, tensor<3xi32> -> tensor<?xi32>
  return %p, %u#1 : tensor<?xi32>, tensor<3xi32>
}

// Lengths changed in place between fetch and attention: the view holds the old
// ones. With the tensor visible, bufferization copies before it writes; behind
// a handle it would not.
// CHECK-LABEL: func.func @changed_lengths(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<{{[^,]*}}>, %[[L:[a-z0-9]*]]: tensor<?xi32>
// CHECK: %[[NEW:.*]] = tensor.insert %{{.*}} into %[[L]]
// CHECK: kv.attention %{{.*}} in (%{{[^,]*}}, %[[L]],
// BUFFER-LABEL: func.func @changed_lengths(
// BUFFER-SAME: %{{[a-z0-9]*}}: memref<{{[^,]*}}>, %[[L:[a-z0-9]*]]: memref<?xi32
// BUFFER: %[[COPY:.*]] = memref.alloc
// BUFFER: memref.copy %[[L]], %[[COPY]]
// BUFFER: memref.store %{{.*}}, %[[COPY]][
// BUFFER-NOT: memref.store %{{.*}}, %[[L]][
// BUFFER: kv.attention %{{.*}} in (%{{[^,]*}}, %[[L]],
func.func @changed_lengths(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %q: tensor<?x1x8xf32>) -> (tensor<?x1x8xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %l2 = tensor.insert %one into %l[%c0] : tensor<?xi32>
  %o = kv.attention %q in %kv[%c0] rows %ro mask <causal> scale 1.0
      : tensor<?x1x8xf32> in !kv, tensor<?xi32> -> tensor<?x1x8xf32>
  return %o, %l2 : tensor<?x1x8xf32>, tensor<?xi32>
}

// A handle that a loop carries: the lengths made in the body are carried as a
// tensor, so their buffer lives as long as the loop needs it.
// CHECK-LABEL: func.func @carried(
// CHECK: scf.for {{.*}} iter_args(%[[LB:.*]] = %{{.*}}, %[[LL:.*]] = %{{.*}}, %[[LT:.*]] = %{{.*}}, %[[LM:.*]] = %{{.*}}) -> (memref<?x2x2x16x1x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>)
// CHECK: kv.store %{{.*}}, %{{.*}} into (%[[LB]], %[[LL]], %[[LT]], %[[LM]])
// CHECK: %[[NEXT:.*]] = linalg.add ins(%[[LL]],
// CHECK: scf.yield %[[LB]], %[[NEXT]], %[[LT]], %[[LM]]
// BUFFER-LABEL: func.func @carried(
// BUFFER: scf.for
// BUFFER: kv.store
func.func @carried(%b: !blocks, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>,
    %ro: tensor<?xi32>, %x: tensor<?x1x8xf32>, %by: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = kv.fetch %b, %l, %t, %m : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%now = %kv) -> !kv {
    kv.store %x, %x into %now[%c0] rows %ro
        : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
    %u:4 = kv.unpack %now : !kv -> !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
    %size = tensor.dim %u#1, %c0 : tensor<?xi32>
    %empty = tensor.empty(%size) : tensor<?xi32>
    %grown = linalg.add ins(%u#1, %by : tensor<?xi32>, tensor<?xi32>) outs(%empty : tensor<?xi32>)
        -> tensor<?xi32>
    %next = kv.fetch %u#0, %grown, %u#2, %u#3
        : !blocks, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
    scf.yield %next : !kv
  }
  %p = kv.positions %last, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}
