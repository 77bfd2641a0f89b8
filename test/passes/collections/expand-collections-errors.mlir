// RUN: kv-opt --kv-expand-collections --split-input-file --verify-diagnostics %s

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

// expected-error @+1 {{argument 0 is the blocks of a kv.fetch: its 'kv.name' must be the collection's and '.blocks', not 'cache'}}
func.func @name(%b: memref<?x2x1x8x1x4xf32> {kv.name = "cache"}, %l: tensor<?xi32>,
    %t: tensor<?x?xi32>, %m: tensor<?x2xi32>) attributes {kv.entry} {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

// expected-error @+1 {{argument 1 is 'cache_lengths' of the collection 'kv': its 'kv.name' must be 'kv.cache_lengths', not 'lengths'}}
func.func @other_name(%b: memref<?x2x1x8x1x4xf32>, %l: tensor<?xi32> {kv.name = "lengths"},
    %t: tensor<?x?xi32>, %m: tensor<?x2xi32>) attributes {kv.entry} {
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

func.func @made(%b: memref<?x2x1x8x1x4xf32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>)
    attributes {kv.entry} {
  %l = arith.constant dense<0> : tensor<3xi32>
  // expected-error @+1 {{has blocks that are an argument of an entry, but makes 'cache_lengths' in the graph: take an argument for it, or take a collection, and open it by kv.unpack}}
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<3xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

func.func @shared(%b: memref<?x2x1x8x1x4xf32>, %c: memref<?x2x1x8x1x4xf32>, %l: tensor<?xi32>,
    %t: tensor<?x?xi32>, %m: tensor<?x2xi32>) attributes {kv.entry} {
  %0 = kv.fetch %b, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  // expected-error @+1 {{takes argument 2 as 'cache_lengths', which is a component already: each component of a collection is an argument of its own}}
  %1 = kv.fetch %c, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

func.func @own(%l: tensor<?xi32>, %t: tensor<?x?xi32>, %m: tensor<?x2xi32>) attributes {kv.entry} {
  %b = memref.alloc() : memref<4x2x1x8x1x4xf32>
  // expected-error @+1 {{has blocks that are of no collection, so the manifest would not know the cache: fetch what kv.unpack or an entry's arguments give}}
  %kv = kv.fetch %b, %l, %t, %m
      : memref<4x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 4, page = 8>

// The caller has the blocks from its own arguments, of which none is fetched.
func.func private @inner(%b: memref<?x2x1x8x1x4xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>) {
  // expected-error @+1 {{has blocks that are of no collection}}
  %kv = kv.fetch %b, %l, %t, %m
      : memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32> -> !kv
  return
}
func.func @outer(%b: memref<?x2x1x8x1x4xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>,
    %m: tensor<?x2xi32>) attributes {kv.entry} {
  call @inner(%b, %l, %t, %m)
      : (memref<?x2x1x8x1x4xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x2xi32>) -> ()
  return
}
