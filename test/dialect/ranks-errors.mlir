// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?x16xf32>) {

// -----

// expected-error @+1 {{dim must be one of x, 'tensor<?x16xf32>', not 2}}
%y = kv.gather %x dim 2 shard 16 of 32 ranks 2 : tensor<?x16xf32> -> tensor<?x32xf32>

// -----

// expected-error @+1 {{ranks must be a positive multiple of copies, not 3 of 2}}
%y = kv.gather %x dim 1 shard 16 of 16 ranks 3 copies 2 : tensor<?x16xf32> -> tensor<?x16xf32>

// -----

// expected-error @+1 {{size must be 1 to the 2 different shards of 16, not 33}}
%y = kv.gather %x dim 1 shard 16 of 33 ranks 2 : tensor<?x16xf32> -> tensor<?x33xf32>

// -----

// expected-error @+1 {{dimension 1 of x, 'tensor<?x16xf32>', must hold shards of 12}}
%y = kv.gather %x dim 1 shard 12 of 24 ranks 2 : tensor<?x16xf32> -> tensor<?x24xf32>

// -----

(%x: tensor<4x?xf32>)
// expected-error @+1 {{dimensions of x after 0 must be static, not those of 'tensor<4x?xf32>'}}
%y = kv.gather %x dim 0 shard 4 of 8 ranks 2 : tensor<4x?xf32> -> tensor<8x?xf32>

// -----

// expected-error @+1 {{result must be like 'tensor<?x30xf32>', not 'tensor<?x32xf32>'}}
%y = kv.gather %x dim 1 shard 16 of 30 ranks 2 : tensor<?x16xf32> -> tensor<?x32xf32>

// -----

// expected-error @+1 {{result must be like 'tensor<?x32xf32>', not 'tensor<?x32xbf16>'}}
%y = kv.gather %x dim 1 shard 16 of 32 ranks 2 : tensor<?x16xf32> -> tensor<?x32xbf16>

// -----

// expected-error @+1 {{'kv.ranks' is a positive integer, of a module}}
module attributes {kv.ranks = 0 : i64} {}

// -----

// expected-error @+1 {{argument 0: 'kv.stored' is a dictionary with 'shape', and an 'order' of its dimensions, with as many elements as the argument}}
func.func private @stored(tensor<16x8xf32> {kv.stored = {shape = [8, 16], order = [1, 1]}})

// -----

// expected-error @+1 {{argument 0: 'kv.shard' is a dictionary with 'runs', 'size', 'shard' and 'copies', positive integers}}
func.func private @f(tensor<16x8xf32> {kv.shard = {runs = 1, size = 32}})
