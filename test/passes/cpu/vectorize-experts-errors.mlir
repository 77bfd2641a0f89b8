// RUN: kv-opt --kv-vectorize --verify-diagnostics %s

func.func private @row_major(%x: memref<?x24xf32>, %w: memref<128x24xbf16>, %e: memref<?x3xi32>,
    %y: memref<?x3x32xf32>) attributes {kv.kernel} {
  // expected-error @+1 {{has the kernel 'vector', which takes packed weights only}}
  kv.expert_matmul %x, %w experts(%e) outs(%y) {kv.kernel = #kv.kernel<vector>}
      : memref<?x24xf32>, memref<128x24xbf16> experts memref<?x3xi32> outs memref<?x3x32xf32>
  return
}
