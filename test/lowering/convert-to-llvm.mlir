// RUN: kv-opt --convert-to-llvm --canonicalize %s | FileCheck %s
// RUN: kv-opt --convert-to-llvm %s | FileCheck %s --check-prefix=TABLE

// A view on the stack: made in the entry block, not in the loop that uses it.
// CHECK-LABEL: llvm.func @in_a_loop(
// CHECK: %[[VIEW:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: llvm.br ^[[HEAD:bb[0-9]+]]
// CHECK: ^[[HEAD]]
// CHECK-NOT: llvm.alloca
// CHECK: llvm.call %{{.*}}(%{{.*}}, %[[VIEW]],
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return
func.func @in_a_loop(%ctx: !llvm.ptr, %x: memref<?xi32>, %go: i1) {
  cf.br ^head
^head:
  %c = arith.constant 0 : i64
  kv.rt.call "store"(%ctx, %x, %c) absent [1, 2, 3, 4, 6, 7] : (memref<?xi32>, i64) -> ()
  cf.cond_br %go, ^head, ^end
^end:
  return
}

// Static sizes of an argument are constants; its first dimension is read.
// CHECK-LABEL: llvm.func @argument(
// CHECK-DAG: %[[SIZE:.*]] = llvm.mlir.constant(24 : i64)
// CHECK: llvm.return
func.func @argument(%args: !llvm.ptr) -> memref<?x24xf32> {
  %a = kv.rt.argument %args[1] : memref<?x24xf32>
  return %a : memref<?x24xf32>
}

// The table of arguments stands beside the entry, as data.
// TABLE: llvm.mlir.global internal constant @kv_arguments_kv_entry_f(
// CHECK-LABEL: llvm.func @kv_entry_f(
func.func @kv_entry_f(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32
    attributes {kv.interface = {inputs = [{dtype = f32, kind = "input", name = "x", shape = ["T", 4]}], name = "f",
                                outputs = []}} {
  %s = kv.rt.check_arguments %ctx, %args, %count
  return %s : i32
}
