// RUN: not kv-opt --kv-vectorize=rows=0 %s 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: kv-vectorize: rows is 0, expected 1 to 64
// RUN: not kv-opt --kv-vectorize=rows=9223372036854775807 %s 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: kv-vectorize: rows is 9223372036854775807, expected 1 to 64
// RUN: not kv-opt --kv-vectorize=blocks=-1 %s 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: kv-vectorize: blocks is -1, expected 1 to 16

module {}
