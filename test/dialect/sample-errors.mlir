// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

func.func @f(%f: tensor<4xf32>, %k: tensor<4xi32>, %s: tensor<4xi64>) {

// -----

(%l: tensor<4x?xf32>)
// expected-error @+1 {{'kv.sample' op logits must be [R, V] with a static V of 1 to 16777215, not 'tensor<4x?xf32>'}}
%0 = kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
    : tensor<4x?xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>,
      tensor<4xi32> -> tensor<4xi32>

// -----

(%l: tensor<4x16777216xf32>)
// expected-error @+1 {{logits must be [R, V] with a static V of 1 to 16777215}}
%0 = kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
    : tensor<4x16777216xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xi64>, tensor<4xi32> -> tensor<4xi32>

// -----

(%l: tensor<4x24xf32>, %s: tensor<3xi64>)
// expected-error @+1 {{'kv.sample' op 'logits' has 4 rows, 'seed' has 3}}
%0 = kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
    : tensor<4x24xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<3xi64>,
      tensor<4xi32> -> tensor<4xi32>

// -----

(%l: memref<4x24xf32>, %f: memref<4xf32>, %k: memref<4xi32>, %s: memref<4xi64>)
// expected-error @+1 {{'kv.sample' op on buffers writes its 'outs' and returns nothing}}
kv.sample %l temperature %f top_k %k top_p %f min_p %f seed %s index %k
    : memref<4x24xf32>, memref<4xf32>, memref<4xi32>, memref<4xf32>, memref<4xf32>, memref<4xi64>,
      memref<4xi32>
