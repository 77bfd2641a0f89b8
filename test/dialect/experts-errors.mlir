// RUN: %rows %s | kv-opt --split-input-file --verify-diagnostics

func.func @f(%l: tensor<?x8xf32>, %x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %e: tensor<?x2xi32>) {

// -----

(%oe: memref<?x2xi32>, %os: memref<?x2xf32>)
// expected-error @+1 {{'kv.route' op on tensors returns its result and takes no 'outs'}}
kv.route %l outs(%oe, %os) : tensor<?x8xf32> outs memref<?x2xi32>, memref<?x2xf32>

// -----

(%l: tensor<?x?xf32>)
// expected-error @+1 {{logits must be [T, E] with a static E, not 'tensor<?x?xf32>'}}
%e, %s = kv.route %l : tensor<?x?xf32> -> tensor<?x2xi32>, tensor<?x2xf32>

// -----

// expected-error @+1 {{experts must be [T, C] with a static C of 1 to 8, not 'tensor<?x9xi32>'}}
%e, %s = kv.route %l : tensor<?x8xf32> -> tensor<?x9xi32>, tensor<?x9xf32>

// -----

// expected-error @+1 {{experts must be [T, C] with a static C of 1 to 8, not 'tensor<?x?xi32>'}}
%e, %s = kv.route %l : tensor<?x8xf32> -> tensor<?x?xi32>, tensor<?x?xf32>

// -----

// expected-error @+1 {{shares must be [T, 2] like experts, not 'tensor<?x3xf32>'}}
%e, %s = kv.route %l : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x3xf32>

// -----

(%l: tensor<3x8xf32>)
// expected-error @+1 {{'logits' has 3 rows, 'experts' has 4}}
%e, %s = kv.route %l : tensor<3x8xf32> -> tensor<4x2xi32>, tensor<4x2xf32>

// -----

// expected-error @+1 {{takes one weight a product, not 2 weights for 1}}
%y = kv.expert_matmul %x, %w, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%e: tensor<?x?xi32>)
// expected-error @+1 {{experts must be [T, C] with a static C of at least 1, not 'tensor<?x?xi32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x64xf32> experts tensor<?x?xi32> -> tensor<?x2x16xf32>

// -----

(%x: tensor<?x3x64xf32>)
// expected-error @+1 {{x must be [T, K], or [T, 2, K]: a row for each choice, not 'tensor<?x3x64xf32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x3x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%x: tensor<3x64xf32>, %e: tensor<4x2xi32>)
// expected-error @+1 {{'x' has 3 rows, 'experts' has 4}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<3x64xf32>, tensor<64x64xf32> experts tensor<4x2xi32> -> tensor<3x2x16xf32>

// -----

(%x: tensor<3x64xf32>, %e: tensor<3x2xi32>)
// expected-error @+1 {{'x' has 3 rows, 'result' has 4}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<3x64xf32>, tensor<64x64xf32> experts tensor<3x2xi32> -> tensor<4x2x16xf32>

// -----

// expected-error @+1 {{result must be [T, 2, N] with N a multiple of 16, not 'tensor<?x2x8xf32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32> -> tensor<?x2x8xf32>

// -----

// expected-error @+1 {{result must be [T, 2, N] with N a multiple of 16, not 'tensor<?x3x16xf32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32> -> tensor<?x3x16xf32>

// -----

(%w: tensor<80x64xf32>)
// expected-error @+1 {{weight must have rows of whole experts, 32 each, not 80}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<80x64xf32> experts tensor<?x2xi32> -> tensor<?x2x32xf32>

// -----

(%w: tensor<5x64x16xf32>)
// expected-error @+1 {{weight must have rows of whole experts, 32 each, not 80}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<5x64x16xf32> experts tensor<?x2xi32> -> tensor<?x2x32xf32>

// -----

(%v: tensor<64x64xf32>)
// expected-error @+1 {{weights must be of equally many experts, not of 4 and 2}}
%y, %z = kv.expert_matmul %x, %w, %v experts(%e)
    : tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32>
    -> tensor<?x2x16xf32>, tensor<?x2x32xf32>

// -----

(%w: tensor<64x48xf32>)
// expected-error @+1 {{x has 64 columns, the weight takes 48}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x48xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%w: tensor<?x64xf32>)
// expected-error @+1 {{weight must have a static shape, not 'tensor<?x64xf32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<?x64xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%w: tensor<4x64x8xf32>)
// expected-error @+1 {{weight must be a static [N / 16, K, 16], not 'tensor<4x64x8xf32>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<4x64x8xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%w: tensor<64x48x!kv.quant<q8_0>>)
// expected-error @+1 {{rows of q8_0 must be blocks of 32 elements, not those of 'tensor<64x48x!kv.quant<q8_0>>'}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<64x48x!kv.quant<q8_0>> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%w: tensor<4x2x544xi8>)
// expected-error @+1 {{formats must say what weight 0, 'tensor<4x2x544xi8>', holds}}
%y = kv.expert_matmul %x, %w experts(%e)
    : tensor<?x64xf32>, tensor<4x2x544xi8> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

// expected-error @+1 {{'kv.kernel' of a kv.expert_matmul is 'vector' or 'decomposition', not 'reference'}}
%y = kv.expert_matmul %x, %w experts(%e) {kv.kernel = #kv.kernel<reference>}
    : tensor<?x64xf32>, tensor<64x64xf32> experts tensor<?x2xi32> -> tensor<?x2x16xf32>

// -----

(%k: tensor<?x4xf32>)
// expected-error @+1 {{by must be like the logits, 'tensor<?x8xf32>', not 'tensor<?x4xf32>'}}
%e, %s = kv.route %l by %k : tensor<?x8xf32> by tensor<?x4xf32> -> tensor<?x2xi32>, tensor<?x2xf32>

// -----

(%x: tensor<?x8xf32>)
// expected-error @+1 {{result must be like x, 'tensor<?x8xf32>', not 'tensor<?x4xf32>'}}
%y = kv.keep_groups %x groups 4 keep 2 best 1 : tensor<?x8xf32> -> tensor<?x4xf32>

// -----

(%x: tensor<?x8xf32>)
// expected-error @+1 {{x must be [T, E] with a static E, a multiple of the 3 groups, not 'tensor<?x8xf32>'}}
%y = kv.keep_groups %x groups 3 keep 2 best 1 : tensor<?x8xf32> -> tensor<?x8xf32>

// -----

(%x: tensor<4x?xf32>)
// expected-error @+1 {{x must be [T, E] with a static E, a multiple of the 2 groups, not 'tensor<4x?xf32>'}}
%y = kv.keep_groups %x groups 2 keep 2 best 1 : tensor<4x?xf32> -> tensor<4x?xf32>

// -----

(%x: tensor<?x8xf32>)
// expected-error @+1 {{keeps 5 of 4 groups, allowed are 1 to 4}}
%y = kv.keep_groups %x groups 4 keep 5 best 1 : tensor<?x8xf32> -> tensor<?x8xf32>

// -----

(%x: tensor<?x8xf32>)
// expected-error @+1 {{adds up the 3 best elements of a group, allowed are 1 to the 2 that it has}}
%y = kv.keep_groups %x groups 4 keep 2 best 3 : tensor<?x8xf32> -> tensor<?x8xf32>

// -----

(%x: tensor<?x8xf32>, %y: memref<?x8xf32>)
// expected-error @+1 {{on tensors returns its result and takes no 'outs'}}
kv.keep_groups %x outs(%y) groups 4 keep 2 best 1 : tensor<?x8xf32> outs memref<?x8xf32>
