// RUN: kv-opt --kv-vectorize --verify-diagnostics %s

!kv = !kv.collection<paged, i8, layers = 2, heads = 1, dim = 48, page = 16, scale = #kv.scale<f32, group = 24>>

func.func private @scales(%b: memref<?x2x2x16x1x48xi8>, %l: memref<?xi32>, %t: memref<?x?xi32>,
    %m: memref<?x2xi32>, %s: memref<?x2x2x16x1x2xf32>, %ro: memref<?xi32>, %q: memref<?x1x48xf32>, %layer: index)
    attributes {kv.kernel} {
  // expected-error @+1 {{has the kernel 'vector', but its groups of 24 elements with a scale neither fill vectors of 16 nor divide them}}
  kv.attention %q in (%b, %l, %t, %m, %s)[%layer] rows %ro outs(%q) mask <none> scale 1.0
      {kv.kernel = #kv.kernel<vector>}
      : memref<?x1x48xf32> in (memref<?x2x2x16x1x48xi8>, memref<?xi32>, memref<?x?xi32>, memref<?x2xi32>,
                               memref<?x2x2x16x1x2xf32>) as !kv,
        memref<?xi32> outs memref<?x1x48xf32>
  return
}
