// RUN: not kv-opt --kv-decompose=ops=typo %s 2>&1 | FileCheck %s
// CHECK: kv-decompose: no operation 'typo' to decompose, only attention, copy_pages, dequantize, expert_matmul, keep_groups, load, matmul, merge, plan, positions, rms_norm, rope, route, row_offsets, state_convolution, state_read, state_scan, state_write, store, update

module {}
