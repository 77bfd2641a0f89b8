// A target that is not this machine: its level is the artifact's, and the
// artifact's cache arguments are checked with a cache manager without memory.
//
// REQUIRES: kv-compile
// RUN: kv-compile %S/../integration/two-layers.mlir -o %t.so --target=virtual:x86-64-v4
// RUN: grep -a -o 'x86-64-v[34]' %t.so | FileCheck %s --check-prefix=LEVEL
// RUN: not kv-compile %s -o %t.so --target=tpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not kv-compile %s -o %t.so --target=virtual:x86-64-v9 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not kv-compile %s -o %t.so --target=virtual:x86-64-v3 --mcpu=native 2>&1 | FileCheck %s --check-prefix=BOTH

// LEVEL: x86-64-v4
// DEVICE: kv-compile: error: --target: "tpu": expected cpu, cuda:CHIP,..., virtual:CHIP or virtual:LEVEL
// CPU: kv-compile: error: unknown CPU 'x86-64-v9'
// BOTH: kv-compile: error: --target is virtual:x86-64-v3, which says what --mcpu=native says

func.func @nothing() {
  return
}
