// Files of older versions stay readable: Inputs/ holds this module as each
// version of the dialect wrote it.
//
// RUN: kv-opt %s -o %t.mlir
// RUN: kv-opt %S/Inputs/version-1.mlirbc | cmp - %t.mlir
// RUN: kv-opt --emit-bytecode %s -o %t.mlirbc
// RUN: kv-opt %t.mlirbc | cmp - %t.mlir
//
// A file of a newer version is refused in one sentence.
// RUN: %python %check/newer_version.py %t.mlirbc > %t.newer.mlirbc
// RUN: not kv-opt %t.newer.mlirbc 2>&1 | FileCheck %s
// CHECK: written with version 8 of the kv dialect, this tool reads up to 7

!kv = !kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>
func.func @f(%q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %kv: !kv, %ro: tensor<?xi32>, %freqs: tensor<8x64xf32>) -> tensor<?x9x64xf32> attributes {masks = [#kv.mask<none>, #kv.mask<chunked = 9>]} {
  %l = arith.constant 3 : index
  %p = kv.positions %kv, %ro : !kv, tensor<?xi32> -> tensor<?xi32>
  %r = kv.rope %k, %p, %freqs : tensor<?x3x64xf32>, tensor<?xi32>, tensor<8x64xf32>
  kv.store %r, %k into %kv[%l] rows %ro : tensor<?x3x64xf32>, tensor<?x3x64xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%l] rows %ro mask <sliding = 7> scale 0.125 : tensor<?x9x64xf32> in !kv, tensor<?xi32> -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}
