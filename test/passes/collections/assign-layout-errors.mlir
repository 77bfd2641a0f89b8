// RUN: not kv-opt --kv-assign-layout=layout=dhn %s 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not kv-opt --kv-assign-layout=target=tpu %s 2>&1 | FileCheck %s --check-prefix=TARGET

// LAYOUT: error: kv-assign-layout: no layout 'dhn', only nhd, hnd, cpu
// TARGET: error: kv-assign-layout: no target 'tpu', only cpu, cuda
module {}
