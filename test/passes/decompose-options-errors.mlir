// RUN: not kv-opt --kv-decompose=ops=typo %s 2>&1 | FileCheck %s
// CHECK: kv-decompose: no operation 'typo' to decompose, only attention, copy_pages, dequantize, load, matmul, merge, plan, positions, rms_norm, rope, row_offsets, store, update

module {}
