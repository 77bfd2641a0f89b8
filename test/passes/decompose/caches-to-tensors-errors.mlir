// RUN: kv-opt --kv-to-attention=target=iree --allow-unregistered-dialect --verify-diagnostics --split-input-file %s
// RUN: echo "module {}" | not kv-opt --kv-to-attention=target=iree 2>&1 | FileCheck %s --check-prefix=UNREGISTERED
// RUN: echo "module {}" | not kv-opt --kv-to-attention=target=tm_tensor 2>&1 | FileCheck %s --check-prefix=TMTENSOR
// RUN: sed 's/^ *.. expected-.*//' %s | not kv-opt --kv-to-attention=target=tm_tensor --allow-unregistered-dialect --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SINKS
// RUN: echo "module {}" | not kv-opt --kv-to-attention=target=xla 2>&1 | FileCheck %s --check-prefix=TARGET
// UNREGISTERED: kv-to-attention: target=iree writes operations of another project's dialect: add --allow-unregistered-dialect
// TMTENSOR: target=tm_tensor writes operations of another project's dialect
// SINKS: has sinks: tm_tensor.attention has no place for it; target=linalg takes it
// SINKS-NOT: elements: IREE
// TARGET: kv-to-attention: the target is 'xla', allowed: iree, linalg, tm_tensor

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>

func.func @sinks(%q: tensor<?x2x8xf32>, %kv: !kv, %rows: tensor<?xi32>, %sinks: tensor<2xf32>)
    -> tensor<?x2x8xf32> attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{has sinks: iree_linalg_ext.attention has no place for it; target=linalg takes it}}
  %o = kv.attention %q in %kv[%c0] rows %rows sinks %sinks mask <causal> scale 1.0
      : tensor<?x2x8xf32> in !kv, tensor<?xi32> sinks tensor<2xf32> -> tensor<?x2x8xf32>
  return %o : tensor<?x2x8xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>

func.func @cap(%q: tensor<?x2x8xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x2x8xf32> attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{has a softcap}}
  %o = kv.attention %q in %kv[%c0] rows %rows mask <causal> scale 1.0 softcap 5.0
      : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>
  return %o : tensor<?x2x8xf32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 192, page = 16>

func.func @wide(%q: tensor<?x2x192xf32>, %kv: !kv, %rows: tensor<?xi32>) -> tensor<?x2x192xf32>
    attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  // expected-warning @+1 {{has heads of 192 elements: IREE 3.13 computes wrong results of more than 128 on CPUs}}
  %o = kv.attention %q in %kv[%c0] rows %rows mask <causal> scale 1.0
      : tensor<?x2x192xf32> in !kv, tensor<?xi32> -> tensor<?x2x192xf32>
  return %o : tensor<?x2x192xf32>
}

// -----

!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 8, page = 16>

func.func @eight(%kv: !kv, %rows: tensor<?xi32>) -> tensor<?xi32> attributes {kv.entry} {
  // expected-error @+1 {{has a collection of 8-bit elements: '!kv.collection<paged, f8E4M3FN, layers = 2, heads = 2, dim = 8, page = 16>' has no form for other compilers}}
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

!kv = !kv.collection<continuous, f32, layers = 2, heads = 2, dim = 8, max_seq = 16>

func.func @slots(%kv: !kv, %rows: tensor<?xi32>) -> tensor<?xi32> attributes {kv.entry} {
  // expected-error @+1 {{has a collection that is not paged}}
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16, layout = hnd>

func.func @layout(%kv: !kv, %rows: tensor<?xi32>) -> tensor<?xi32> attributes {kv.entry} {
  // expected-error @+1 {{has a collection whose layout is not nhd}}
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>

func.func @loop(%kv: !kv, %k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %n: index) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{is within scf.for: kv-to-attention takes straight-line code}}
    kv.store %k, %k into %kv[%c0] rows %rows
        : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  }
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>

func.func @update(%kv: !kv, %w: tensor<8xf32>, %rows: tensor<?xi32>) attributes {kv.entry} {
  %c0 = arith.constant 0 : index
  %keys = kv.key_cache %kv[%c0] : !kv
  // expected-error @+1 {{has no form for other compilers}}
  kv.update %keys rows %rows rms_norm(%w) eps 1.0e-6 : !kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>, tensor<?xi32>, tensor<8xf32>
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 16>

func.func @copy(%kv: !kv, %from: tensor<?xi32>, %to: tensor<?xi32>) attributes {kv.entry} {
  %b, %l, %t, %m = kv.unpack %kv
      : !kv -> memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>
  // expected-error @+1 {{takes the blocks of a cache: only what reads or stores rows has a form for other compilers}}
  kv.copy_pages %b from %from to %to : memref<?x2x2x16x2x8xf32>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @weight(%w: tensor<32x64x!kv.quant<q8_0>>) -> tensor<32x64xf32> attributes {kv.entry} {
  // expected-error @+1 {{has a quantised weight, which has no form for other compilers: use dense weights}}
  %d = kv.dequantize %w : tensor<32x64x!kv.quant<q8_0>> -> tensor<32x64xf32>
  return %d : tensor<32x64xf32>
}
