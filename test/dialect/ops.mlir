// Every operation in all of its forms: a handle or components, tensors or
// buffers.
//
// RUN: kv-opt --verify-roundtrip %s | FileCheck %s
// RUN: kv-opt --mlir-print-op-generic %s | kv-opt | FileCheck %s
// RUN: kv-opt --emit-bytecode %s | kv-opt | FileCheck %s

!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>

// CHECK-LABEL: func.func @views
// CHECK: %[[KV:.*]] = kv.fetch %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16>
// CHECK: kv.unpack %[[KV]] : !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 16> -> memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
func.func @views(%b: memref<?x2x2x16x2x8xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>) -> memref<?x2x2x16x2x8xbf16> {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  %b2, %l2, %t2, %m2 = kv.unpack %kv
      : !kv -> memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  return %b2 : memref<?x2x2x16x2x8xbf16>
}

// Static sizes are allowed wherever the component is dynamic.
// CHECK-LABEL: func.func @static_components
// CHECK: kv.fetch {{.*}} : memref<5x2x2x16x2x8xbf16>, tensor<3xi32>, tensor<3x4xi32>, tensor<1x2xi32> ->
func.func @static_components(%b: memref<5x2x2x16x2x8xbf16>, %l: tensor<3xi32>, %t: tensor<3x4xi32>,
    %m: tensor<1x2xi32>) -> !kv {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<5x2x2x16x2x8xbf16>, tensor<3xi32>, tensor<3x4xi32>, tensor<1x2xi32> -> !kv
  return %kv : !kv
}

// CHECK-LABEL: func.func @handle
// CHECK: kv.positions %[[KV:.*]], %[[RO:.*]] : !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?xi32>
// CHECK: kv.store %{{.*}}, %{{.*}} into %[[KV]][%[[LAYER:.*]]] rows %[[RO]] : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv.collection<{{.*}}>, tensor<?xi32>
// CHECK: kv.attention %{{.*}} in %[[KV]][%[[LAYER]]] rows %[[RO]] mask <causal> scale 2.500000e-01 : tensor<?x4x8xf32> in !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x4x8xf32>
// CHECK: kv.attention %{{.*}} mask <sliding = 4> scale 1.000000e+00 softcap 3.000000e+01 {note = "x"} :
func.func @handle(%kv: !kv, %ro: tensor<?xi32>, %layer: index, %k: tensor<?x2x8xf32>,
    %q: tensor<?x4x8xf32>) -> (tensor<?xi32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  kv.store %k, %k into %kv[%layer] rows %ro
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %ro mask <causal> scale 0.25
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
  %o2 = kv.attention %q in %kv[%layer] rows %ro mask <sliding = 4> scale 1.0 softcap 30.0 {note = "x"}
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
  return %p, %o, %o2 : tensor<?xi32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>
}

// CHECK-LABEL: func.func @components
// CHECK: kv.positions (%[[B:.*]], %[[L:.*]], %[[T:.*]], %[[M:.*]]), %[[RO:.*]] : (memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?xi32>
// CHECK: kv.store %{{.*}}, %{{.*}} into (%[[B]], %[[L]], %[[T]], %[[M]])[%{{.*}}] rows %[[RO]] : tensor<?x2x8xf16>, tensor<?x2x8xf16> into (memref<{{.*}}) as !kv.collection<{{.*}}>, tensor<?xi32>
// CHECK: kv.attention %{{.*}} in (%[[B]], %[[L]], %[[T]], %[[M]])[%{{.*}}] rows %[[RO]] mask <causal> scale {{.*}} : tensor<?x4x8xf16> in (memref<{{.*}}) as !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x4x8xf16>
func.func @components(%b: memref<?x2x2x16x2x8xbf16>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>, %ro: tensor<?xi32>, %layer: index, %k: tensor<?x2x8xf16>,
    %q: tensor<?x4x8xf16>) -> (tensor<?xi32>, tensor<?x4x8xf16>) {
  %p = kv.positions (%b, %l, %t, %m), %ro
      : (memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?xi32>
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro
      : tensor<?x2x8xf16>, tensor<?x2x8xf16>
        into (memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32>
  %o = kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro mask <causal> scale 0.25
      : tensor<?x4x8xf16>
        in (memref<?x2x2x16x2x8xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) as !kv,
        tensor<?xi32> -> tensor<?x4x8xf16>
  return %p, %o : tensor<?xi32>, tensor<?x4x8xf16>
}

// CHECK-LABEL: func.func @buffers
// CHECK: kv.positions ({{.*}}), %{{.*}} outs(%{{.*}}) : (memref<{{.*}}>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv.collection<{{.*}}>, memref<?xi32> outs memref<?xi32>
// CHECK: kv.store {{.*}} : memref<?x2x8xf32>, memref<?x2x8xf32> into (memref<
// CHECK: kv.attention {{.*}} outs(%{{.*}}) mask <causal> scale {{.*}} : memref<?x4x8xf32> in (memref<{{.*}}> outs memref<?x4x8xf32>
// CHECK: kv.rope %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}}) interleaved : memref<?x4x8xf32>, memref<?xi32>, memref<64x8xf32> outs memref<?x4x8xf32>
// CHECK: kv.matmul %{{.*}}, %{{.*}} outs(%{{.*}}) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
func.func @buffers(%b: memref<?x2x2x16x2x8xbf16>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %ro: memref<?xi32>, %layer: index, %k: memref<?x2x8xf32>,
    %q: memref<?x4x8xf32>, %o: memref<?x4x8xf32>, %p: memref<?xi32>, %f: memref<64x8xf32>,
    %x: memref<?x24xf32>, %w: memref<2x24x16xbf16>, %y: memref<?x32xf32>) {
  kv.positions (%b, %l, %t, %m), %ro outs(%p)
      : (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?xi32>
  kv.store %k, %k into (%b, %l, %t, %m)[%layer] rows %ro
      : memref<?x2x8xf32>, memref<?x2x8xf32>
        into (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32>
  kv.attention %q in (%b, %l, %t, %m)[%layer] rows %ro outs(%o) mask <causal> scale 0.25
      : memref<?x4x8xf32>
        in (memref<?x2x2x16x2x8xbf16>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?x4x8xf32>
  kv.rope %q, %p, %f outs(%o) interleaved
      : memref<?x4x8xf32>, memref<?xi32>, memref<64x8xf32> outs memref<?x4x8xf32>
  kv.matmul %x, %w outs(%y) : memref<?x24xf32>, memref<2x24x16xbf16> outs memref<?x32xf32>
  return
}

// CHECK-LABEL: func.func @values
// CHECK: kv.rope %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x8xf32>, tensor<?xi32>, tensor<64x8xf32>
// CHECK: kv.rope %{{.*}}, %{{.*}}, %{{.*}} interleaved : tensor<?x4x8xbf16>, tensor<?xi32>, tensor<64x4xf32>
// CHECK: kv.matmul %{{.*}}, %{{.*}} : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
// CHECK: kv.matmul %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x24xf32>, tensor<2x24x16xf32>, tensor<1x24x16xbf16> -> tensor<?x32xf32>, tensor<?x16xf32>
func.func @values(%x: tensor<?x4x8xf32>, %y: tensor<?x4x8xbf16>, %p: tensor<?xi32>, %f: tensor<64x8xf32>,
    %g: tensor<64x4xf32>, %a: tensor<?x24xf32>, %w: tensor<2x24x16xf32>, %v: tensor<1x24x16xbf16>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xbf16>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x16xf32>) {
  %0 = kv.rope %x, %p, %f : tensor<?x4x8xf32>, tensor<?xi32>, tensor<64x8xf32>
  %1 = kv.rope %y, %p, %g interleaved : tensor<?x4x8xbf16>, tensor<?xi32>, tensor<64x4xf32>
  %2 = kv.matmul %a, %w : tensor<?x24xf32>, tensor<2x24x16xf32> -> tensor<?x32xf32>
  %3, %4 = kv.matmul %a, %w, %v : tensor<?x24xf32>, tensor<2x24x16xf32>, tensor<1x24x16xbf16>
      -> tensor<?x32xf32>, tensor<?x16xf32>
  return %0, %1, %2, %3, %4
      : tensor<?x4x8xf32>, tensor<?x4x8xbf16>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @sinks_and_lse
// CHECK: kv.attention %{{.*}} in %{{.*}}[%{{.*}}] rows %{{.*}} sinks %{{.*}} mask <causal> scale 2.500000e-01 : tensor<?x4x8xf32> in !kv.collection<{{.*}}>, tensor<?xi32> sinks tensor<4xf32> -> tensor<?x4x8xf32>{{$}}
// CHECK: kv.attention {{.*}} mask <none> scale 2.500000e-01 : tensor<?x4x8xf32> in !kv.collection<{{.*}}>, tensor<?xi32> -> tensor<?x4x8xf32>, tensor<?x4xf32>
// CHECK: kv.merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<?x4x8xf32>, tensor<?x4xf32>{{$}}
// CHECK: kv.merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<?x4x8xf32>, tensor<?x4xf32> and tensor<5x4x8xf32>, tensor<5x4xf32>{{$}}
func.func @sinks_and_lse(%kv: !kv, %ro: tensor<?xi32>, %layer: index, %q: tensor<?x4x8xf32>,
    %sinks: tensor<4xf32>, %x: tensor<5x4x8xf32>, %y: tensor<5x4xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) {
  %o = kv.attention %q in %kv[%layer] rows %ro sinks %sinks mask <causal> scale 0.25
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> sinks tensor<4xf32> -> tensor<?x4x8xf32>
  %p, %lse = kv.attention %q in %kv[%layer] rows %ro mask <none> scale 0.25
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>, tensor<?x4xf32>
  %a, %a_lse = kv.merge (%p, %lse), (%o, %lse) : tensor<?x4x8xf32>, tensor<?x4xf32>
  %b, %b_lse = kv.merge (%a, %a_lse), (%x, %y)
      : tensor<?x4x8xf32>, tensor<?x4xf32> and tensor<5x4x8xf32>, tensor<5x4xf32>
  return %o, %b, %b_lse : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sinks_and_lse_buffers
// CHECK: kv.attention {{.*}} sinks %{{.*}} outs(%[[O:.*]], %[[L:.*]]) mask {{.*}}, memref<?xi32> sinks memref<4xf32> outs memref<?x4x8xf32>, memref<?x4xf32>
// CHECK: kv.merge (%[[O]], %[[L]]), (%{{.*}}, %[[L]]) outs(%{{.*}}, %{{.*}}) : memref<?x4x8xf32>, memref<?x4xf32> outs memref<?x4x8xf32>, memref<?x4xf32>
func.func @sinks_and_lse_buffers(%kv: !kv, %ro: memref<?xi32>, %layer: index, %q: memref<?x4x8xf32>,
    %sinks: memref<4xf32>, %o: memref<?x4x8xf32>, %lse: memref<?x4xf32>, %r: memref<?x4x8xf32>,
    %s: memref<?x4xf32>) {
  kv.attention %q in %kv[%layer] rows %ro sinks %sinks outs(%o, %lse) mask <causal> scale 0.25
      : memref<?x4x8xf32> in !kv, memref<?xi32> sinks memref<4xf32>
        outs memref<?x4x8xf32>, memref<?x4xf32>
  kv.merge (%o, %lse), (%q, %lse) outs(%r, %s)
      : memref<?x4x8xf32>, memref<?x4xf32> outs memref<?x4x8xf32>, memref<?x4xf32>
  return
}

// CHECK-LABEL: func.func @lowered
// CHECK: kv.rt.argument %{{.*}}[2] : memref<?x4xf32>
// CHECK: kv.rt.check_arguments %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: kv.rt.status %
// CHECK: kv.rt.call "attention"(%{{.*}}, %{{.*}}) absent [1] : (memref<?x4xf32>) -> ()
// CHECK: kv.rt.arena_mark %
// CHECK: kv.rt.arena_alloc %{{.*}}(%{{.*}}) : memref<?x4xf32>
// CHECK: kv.rt.arena_return %{{.*}}, %{{.*}}, %{{.*}} : memref<?x4xf32> -> memref<?x4xf32>
// CHECK: kv.rt.arena_release %
// CHECK: kv.rt.parallel_for @body(%{{.*}}) count %{{.*}} grain 4 captures(%{{.*}} : memref<?x4xf32>)
// CHECK: kv.rt.captures %{{.*}} : memref<?x4xf32>
func.func @lowered(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32, %n: index) -> i32 {
  %a = kv.rt.argument %args[2] : memref<?x4xf32>
  %c = kv.rt.check_arguments %ctx, %args, %count
  %s = kv.rt.status %ctx
  kv.rt.call "attention"(%ctx, %a) absent [1] : (memref<?x4xf32>) -> ()
  %mark = kv.rt.arena_mark %ctx
  %t = kv.rt.arena_alloc %ctx(%n) : memref<?x4xf32>
  %u = kv.rt.arena_return %ctx, %mark, %t : memref<?x4xf32> -> memref<?x4xf32>
  kv.rt.arena_release %ctx, %mark
  kv.rt.parallel_for @body(%ctx) count %n grain 4 captures(%u : memref<?x4xf32>)
  return %s : i32
}
func.func private @body(%ctx: !llvm.ptr, %env: !llvm.ptr, %lo: i64, %hi: i64) {
  %a = kv.rt.captures %env : memref<?x4xf32>
  return
}
