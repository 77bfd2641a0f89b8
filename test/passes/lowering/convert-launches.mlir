// What stands for a GPU's kernels becomes runtime calls.
//
// RUN: kv-opt --convert-kv-to-runtime %s | FileCheck %s

!blocks = memref<?x2x2x16x1x64xbf16>

// CHECK-LABEL: func.func private @launch(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: memref<4x64xf32>, %[[F:.*]]: i32, %[[Y:.*]]: memref<4x64xf32>)
// CHECK: kv.rt.call "pair"(%[[CTX]], %[[F]], %[[X]], %[[X]], %[[Y]]) : (i32, memref<4x64xf32>, memref<4x64xf32>, memref<4x64xf32>) -> ()
func.func private @launch(%ctx: !llvm.ptr, %x: memref<4x64xf32>, %f: i32, %y: memref<4x64xf32>) {
  kv.rt.launch "pair"(%f, %x, %x) outs(%y) : i32, memref<4x64xf32>, memref<4x64xf32> outs memref<4x64xf32>
  return
}

// CHECK-LABEL: func.func private @plan_bytes(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[B:.*]]: memref<?x2x2x16x1x64xbf16>, %[[S:.*]]: index, %[[T:.*]]: index)
// CHECK-DAG: %[[H:.*]] = arith.constant 9 : i64
// CHECK-DAG: %[[S64:.*]] = arith.index_cast %[[S]] : index to i64
// CHECK-DAG: %[[T64:.*]] = arith.index_cast %[[T]] : index to i64
// CHECK: %[[N:.*]] = kv.rt.call "planBytes"(%[[CTX]], %[[B]], %[[H]], %[[S64]], %[[T64]]) : (memref<?x2x2x16x1x64xbf16>, i64, i64, i64) -> i64
// CHECK: %[[I:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: return %[[I]]
func.func private @plan_bytes(%ctx: !llvm.ptr, %b: !blocks, %sequences: index, %tokens: index) -> index {
  %n = kv.rt.plan_bytes %b, %sequences, %tokens heads 9 : !blocks
  return %n : index
}

// What the function writes stands where its row says, and a view that is absent
// stays so.
// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: %[[CTX:[a-z0-9]*]]: !llvm.ptr, %[[B:[a-z0-9]*]]: memref<{{[^>]*}}>, %[[L:[a-z0-9]*]]: memref<?xi32>, %[[TA:[a-z0-9]*]]: memref<?x?xi32>, %[[M:[a-z0-9]*]]: memref<?x2xi32>, %[[RO:[a-z0-9]*]]: memref<?xi32>, %[[Q:[a-z0-9]*]]: memref<?x9x64xbf16>, %[[P:[a-z0-9]*]]: memref<?xi8>, %[[SI:[a-z0-9]*]]: memref<9xf32>, %[[LSE:[a-z0-9]*]]: memref<?x9xf32>, %[[O:[a-z0-9]*]]: memref<?x9x64xbf16>, %[[I:[a-z0-9]*]]: i64, %[[F:[a-z0-9]*]]: f32, %[[MASK:[a-z0-9]*]]: i32)
// CHECK: kv.rt.call "plannedAttention"(%[[CTX]], %[[B]], %[[L]], %[[TA]], %[[RO]], %[[M]], %[[P]], %[[I]], %[[Q]], %[[O]], %[[LSE]], %[[F]], %[[F]], %[[MASK]], %[[I]], %[[SI]]) absent [1]
// CHECK: kv.rt.call "plannedAttention"(%[[CTX]], %[[B]], %[[L]], %[[TA]], %[[RO]], %[[M]], %[[P]], %[[I]], %[[Q]], %[[O]], %[[F]], %[[F]], %[[MASK]], %[[I]]) absent [1, 10, 15]
func.func private @attention(%ctx: !llvm.ptr, %b: !blocks, %l: memref<?xi32>, %t: memref<?x?xi32>, %m: memref<?x2xi32>,
    %ro: memref<?xi32>, %q: memref<?x9x64xbf16>, %plan: memref<?xi8>, %sinks: memref<9xf32>, %lse: memref<?x9xf32>,
    %o: memref<?x9x64xbf16>, %layer: i64, %f: f32, %mask: i32) {
  kv.rt.launch "plannedAttention"(%b, %l, %t, %ro, %m, %plan, %layer, %q, %f, %f, %mask, %layer, %sinks) absent [1] outs(%o, %lse)
      : !blocks, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x2xi32>, memref<?xi8>, i64, memref<?x9x64xbf16>, f32, f32, i32, i64, memref<9xf32>
        outs memref<?x9x64xbf16>, memref<?x9xf32>
  kv.rt.launch "plannedAttention"(%b, %l, %t, %ro, %m, %plan, %layer, %q, %f, %f, %mask, %layer) absent [1, 10, 15] outs(%o)
      : !blocks, memref<?xi32>, memref<?x?xi32>, memref<?xi32>, memref<?x2xi32>, memref<?xi8>, i64, memref<?x9x64xbf16>, f32, f32, i32, i64
        outs memref<?x9x64xbf16>
  return
}
