// The stock mlir-opt, which has never heard of kv, with the plugin: the dialect
// parses, passes are there by name in --pass-pipeline, and kv-cpu ends in the
// LLVM dialect.
//
// REQUIRES: kv-plugin
// RUN: mlir-opt --load-dialect-plugin=%plugin --verify-roundtrip %s | FileCheck %s --check-prefix=PARSE
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(kv-expand-collections,kv-resolve-collections)" %s \
// RUN:   | FileCheck %s --check-prefix=EXPAND
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(kv-cpu{mcpu=x86-64-v3})" %s | FileCheck %s --check-prefix=LLVM \
// RUN:   --implicit-check-not=unrealized_conversion_cast
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(kv-reference)" %s | FileCheck %s --check-prefix=LLVM \
// RUN:   --implicit-check-not=unrealized_conversion_cast
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=STOCK

// STOCK: type created with unregistered dialect

// PARSE: func.func @attend
// PARSE: kv.attention

// EXPAND: func.func @attend(
// EXPAND-SAME: %[[BLOCKS:[a-z0-9]+]]: memref<?x2x2x16x2x16xf32>
// EXPAND-NOT: kv.fetch
// EXPAND: kv.store %{{.*}}, %{{.*}} into (%[[BLOCKS]],

// LLVM: llvm.func @kv_entry_attend(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32) -> i32

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 16, page = 16>
func.func @attend(%q: tensor<?x4x16xf32> {kv.name = "q", kv.dims = ["T"]},
                  %k: tensor<?x2x16xf32> {kv.name = "k", kv.dims = ["T"]},
                  %row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]},
                  %kv: !kv {kv.name = "kv"})
    -> (tensor<?x4x16xf32> {kv.name = "o", kv.dims = ["T"]}) attributes {kv.entry} {
  %layer = arith.constant 1 : index
  kv.store %k, %k into %kv[%layer] rows %row_offsets
      : tensor<?x2x16xf32>, tensor<?x2x16xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %row_offsets mask <causal> scale 0.25
      : tensor<?x4x16xf32> in !kv, tensor<?xi32> -> tensor<?x4x16xf32>
  return %o : tensor<?x4x16xf32>
}
