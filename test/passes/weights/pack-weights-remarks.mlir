// Every decision about a weight has a reason.
// RUN: kv-opt %S/pack-weights.mlir --kv-pack-weights -o /dev/null \
// RUN:   --remarks-filter=kv-pack-weights 2>&1 | FileCheck %s

// CHECK-DAG: [Passed] Packed | {{.*}}"w is packed as n16k: it is multiplied with"
// CHECK-DAG: [Missed] RowMajor | {{.*}}"w stays row-major: its rows are no multiple of 16, or its type is neither f32 nor bf16"
// CHECK-DAG: [Missed] RowMajor | {{.*}}"w stays row-major: used by 'linalg.add', which cannot take the packed form"
// CHECK-DAG: [Missed] RowMajor | {{.*}}"w stays row-major: it is only gathered"

module {}
