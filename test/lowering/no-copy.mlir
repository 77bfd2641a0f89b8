// At no point of either pipeline is a buffer with the cache's shape allocated or
// copied.
//
// RUN: kv-opt --kv-cpu --mlir-disable-threading --mlir-print-ir-after-all \
// RUN:   %S/../integration/two-layers.mlir -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="memref.copy {{.*}}2x2x16x2x16x" --implicit-check-not="alloc{{[a-z_ ]*}}{{[^:]*}} : memref<{{[^>]*}}2x2x16x2x16x" --implicit-check-not="tensor<{{[^>]*}}2x2x16x2x16x"
// RUN: kv-opt --kv-reference --mlir-disable-threading --mlir-print-ir-after-all \
// RUN:   %S/../integration/two-layers.mlir -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not="memref.copy {{.*}}2x2x16x2x16x" --implicit-check-not="alloc{{[a-z_ ]*}}{{[^:]*}} : memref<{{[^>]*}}2x2x16x2x16x" --implicit-check-not="tensor<{{[^>]*}}2x2x16x2x16x"
//
// The check does see a copy.
// RUN: kv-opt --canonicalize --mlir-disable-threading --mlir-print-ir-after-all %s -o /dev/null 2>&1 \
// RUN:   | not FileCheck %s --implicit-check-not="memref.copy {{.*}}2x2x16x2x16x"
// RUN: kv-opt --canonicalize --mlir-disable-threading --mlir-print-ir-after-all %s -o /dev/null 2>&1 \
// RUN:   | not FileCheck %s --implicit-check-not="alloc{{[a-z_ ]*}}{{[^:]*}} : memref<{{[^>]*}}2x2x16x2x16x"

// CHECK: IR Dump After

func.func @copies(%n: index, %b: memref<?x2x2x16x2x16xbf16>) -> memref<?x2x2x16x2x16xbf16> {
  %c = memref.alloc(%n) : memref<?x2x2x16x2x16xbf16>
  memref.copy %b, %c : memref<?x2x2x16x2x16xbf16> to memref<?x2x2x16x2x16xbf16>
  return %c : memref<?x2x2x16x2x16xbf16>
}
