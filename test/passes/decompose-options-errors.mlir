// RUN: not kv-opt --kv-decompose=ops=typo %s 2>&1 | FileCheck %s
// CHECK: kv-decompose: no operation 'typo' to decompose, only positions, row_offsets, plan, store, update, attention, load, copy_pages, rope, matmul, merge

module {}
