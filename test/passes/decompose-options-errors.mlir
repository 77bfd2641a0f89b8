// RUN: not kv-opt --kv-decompose=ops=typo %s 2>&1 | FileCheck %s
// CHECK: kv-decompose: no operation 'typo' to decompose, only positions, row_offsets, store, attention, load, rope, copy_pages, matmul, merge

module {}
