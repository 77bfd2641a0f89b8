// RUN: kv-opt --convert-kv-to-runtime %s | FileCheck %s

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
!blocks = memref<?x2x2x16x1x8xf32>

// The order of the arguments is that of Symbols.def.
// CHECK-LABEL: func.func private @calls(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr, %[[B:[a-z0-9]*]]: memref<?x2x2x16x1x8xf32>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[T:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>,
// CHECK-SAME: %[[RO:[a-z0-9]*]]: memref<?xi32>, %[[LAYER:[a-z0-9]*]]: index, %[[K:[a-z0-9]*]]: memref<?x1x8xf32>, %[[V:[a-z0-9]*]]: memref<?x1x8xf32>, %[[O:[a-z0-9]*]]: memref<?x1x8xf32>, %[[LSE:[a-z0-9]*]]: memref<?x1xf32>, %[[SINKS:[a-z0-9]*]]: memref<1xf32>)
// CHECK: %[[I:.*]] = arith.index_cast %[[LAYER]] : index to i64
// CHECK: kv.rt.call "store"(%[[CTX]], %[[B]], %[[L]], %[[T]], %[[RO]], %[[I]], %[[K]], %[[V]]) absent [1] :
// CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[CAP:.*]] = arith.constant 3.000000e+01 : f32
// CHECK: %[[MASK:.*]] = arith.constant 2 : i32
// CHECK: %[[WINDOW:.*]] = arith.constant 4 : i64
// CHECK: kv.rt.call "attention"(%[[CTX]], %[[B]], %[[L]], %[[T]], %[[RO]], %{{.*}}, %[[K]], %[[O]], %[[SCALE]], %[[CAP]], %[[MASK]], %[[WINDOW]]) absent [1, 8, 13, 14] :
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: arith.constant 1 : i32
// CHECK: arith.constant 0 : i64
// CHECK: kv.rt.call "attention"
// CHECK: kv.rt.call "attention"(%[[CTX]], %[[B]], %[[L]], %[[T]], %[[RO]], %{{.*}}, %[[K]], %[[O]], %[[LSE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SINKS]]) absent [1, 14] :
func.func private @calls(%ctx: !llvm.ptr, %b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>,
    %ro: memref<?xi32>, %layer: index, %k: memref<?x1x8xf32>, %v: memref<?x1x8xf32>, %o: memref<?x1x8xf32>,
    %lse: memref<?x1xf32>, %sinks: memref<1xf32>) {
  kv.store %k, %v into (%b, %l, %t, %m)[%layer] rows %ro
      : memref<?x1x8xf32>, memref<?x1x8xf32>
        into (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv, memref<?xi32>
  kv.attention %k in (%b, %l, %t, %m)[%layer] rows %ro outs(%o) mask <sliding = 4> scale 0.5 softcap 30.0
      : memref<?x1x8xf32> in (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?x1x8xf32>
  kv.attention %k in (%b, %l, %t, %m)[%layer] rows %ro outs(%o) mask <causal> scale 0.5
      : memref<?x1x8xf32> in (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> outs memref<?x1x8xf32>
  kv.attention %k in (%b, %l, %t, %m)[%layer] rows %ro sinks %sinks outs(%o, %lse) mask <causal> scale 0.5
      : memref<?x1x8xf32> in (!blocks, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>) as !kv,
        memref<?xi32> sinks memref<1xf32> outs memref<?x1x8xf32>, memref<?x1xf32>
  return
}
