// Every message of the verifiers of discardable attributes.
//
// RUN: kv-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{'kv.entry' is a unit attribute of a function}}
module attributes {kv.entry} {}

// -----

// expected-error @+1 {{'kv.entry' is a unit attribute of a function}}
func.func @f() attributes {kv.entry = 1} { return }

// -----

// expected-error @+1 {{an entry must be a public function}}
func.func private @f() attributes {kv.entry} { return }

// -----

// expected-error @+1 {{'kv.model' is a dictionary attribute}}
module attributes {kv.model = "llama"} {}

// -----

// expected-error @+1 {{'name' of 'kv.model' is a string, not 3}}
module attributes {kv.model = {name = 3}} {}

// -----

// expected-error @+1 {{'max_seq_len' of 'kv.model' is a positive integer, not 0}}
module attributes {kv.model = {max_seq_len = 0}} {}

// -----

// expected-error @+1 {{'max_seq_len' of 'kv.model' is a positive integer, not "long"}}
module attributes {kv.model = {max_seq_len = "long"}} {}

// -----

// expected-error @+1 {{'max_seq_len' of 'kv.model' is a positive integer, not 18446744073709551616}}
module attributes {kv.model = {max_seq_len = 18446744073709551616 : i128}} {}

// -----

// expected-error @+1 {{'kv.activations' is f32, bf16, f16 or i8, of a module}}
module attributes {kv.activations = f64} {}

// -----

// expected-error @+1 {{'kv.activations' is f32, bf16, f16 or i8, of a module}}
func.func @f() attributes {kv.activations = bf16} { return }

// -----

// expected-error @+1 {{argument 1: 'kv.weight' must be a string that is not empty}}
func.func @f(%a: index, %b: tensor<4xf32> {kv.weight}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.weight' must be a string that is not empty}}
func.func @f(%a: tensor<4xf32> {kv.weight = ""}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.name' must be a string that is not empty}}
func.func @f(%a: tensor<4xf32> {kv.name = 3}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.layout' must be a string that is not empty}}
func.func @f(%a: tensor<4xf32> {kv.layout = ""}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.component' must be a string that is not empty}}
func.func @f(%a: tensor<4xf32> {kv.component}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.dims' must be an array of strings}}
func.func @f(%a: tensor<?xf32> {kv.dims = "T"}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.dims' must be an array of strings}}
func.func @f(%a: tensor<?xf32> {kv.dims = [1]}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.dims' names 1 dimensions, the type has 2 dynamic ones}}
func.func @f(%a: tensor<?x4x?xf32> {kv.dims = ["T"]}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.dims' names 1 dimensions, the type has 0 dynamic ones}}
func.func @f(%a: index {kv.dims = ["T"]}) { return }

// -----

// expected-error @+1 {{result 0: 'kv.name' must be a string that is not empty}}
func.func private @f() -> (tensor<4xf32> {kv.name = ""})

// -----

// expected-error @+1 {{result 1: 'kv.dims' names 0 dimensions, the type has 1 dynamic ones}}
func.func private @f() -> (tensor<4xf32>, tensor<?xf32> {kv.dims = []})

// -----

// expected-error @+1 {{argument 0: 'kv.component' needs 'kv.collection' and a 'kv.name' that ends in '.blocks'}}
func.func @f(%a: memref<?xf32> {kv.component = "blocks"}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.component' needs 'kv.collection' and a 'kv.name' that ends in '.blocks'}}
func.func @f(%a: memref<?xf32> {kv.name = "x", kv.component = "blocks", kv.collection = !kv.collection<paged, f32, layers = 1, heads = 1, dim = 8, page = 16>}) { return }

// -----

// expected-error @+1 {{argument 0: 'kv.collection' must be a collection's type}}
func.func @f(%a: memref<?xf32> {kv.collection = f32}) { return }

// -----

// expected-error @+1 {{'kv.kernel' is a unit attribute of a function}}
func.func @f() attributes {kv.kernel = #kv.kernel<reference>} { return }

// -----

func.func @f() {
  // expected-error @+1 {{'kv.kernel' is the #kv.kernel of a kv.attention, kv.store, kv.load, kv.update, kv.copy_pages, kv.expert_matmul, kv.state_read, kv.state_write, kv.state_convolution or kv.state_scan}}
  %c = arith.constant {kv.kernel = #kv.kernel<reference>} 1 : index
  return
}

// -----

!kv = !kv.collection<paged, f32, layers = 2, heads = 1, dim = 8, page = 16>
func.func @f(%k: tensor<?x1x8xf32>, %kv: !kv, %layer: index, %ro: tensor<?xi32>) {
  // expected-error @+1 {{'kv.kernel' is the #kv.kernel of a kv.attention, kv.store, kv.load, kv.update, kv.copy_pages, kv.expert_matmul, kv.state_read, kv.state_write, kv.state_convolution or kv.state_scan}}
  kv.store %k, %k into %kv[%layer] rows %ro {kv.kernel = "reference"}
      : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
  return
}

// -----

// expected-error @+2 {{expected one of [decomposition, reference, cuda, vector] for who computes an operation, got: fast}}
// expected-error @+1 {{failed to parse KV_KernelAttr parameter 'kind'}}
func.func @f() attributes {a = #kv.kernel<fast>} { return }

// -----

// expected-error @+1 {{'kv.device_code' is a dictionary with 'chips' and 'images', arrays of strings}}
module attributes {kv.device_code = {chips = ["sm_80"]}} {}

// -----

// expected-error @+1 {{'kv.device_code' is a dictionary with 'chips' and 'images', arrays of strings}}
module attributes {kv.device_code = {chips = [80 : i64], images = []}} {}
