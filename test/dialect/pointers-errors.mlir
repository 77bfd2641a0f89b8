// Text that names no type of LLVM but means one: an error, not a crash.
// RUN: not kv-opt %s 2>&1 | FileCheck %s

// CHECK: error: use of undeclared SSA value name
func.func @f(%n: index) {
  kv.rt.parallel_for @body(%ctx) count %n grain 1
  return
}
