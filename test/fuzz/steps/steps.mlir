// One entry an operation that takes row offsets. kv-fuzz-steps gives each of
// them bad ones: the names of the arguments are what it knows them by.
!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>
!keys = !kv.cache<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>
!states = !kv.collection<recurrent, bf16, layers = 2, heads = 2, dim = 8, page = 4>
!slots = !kv.collection<continuous, bf16, layers = 2, heads = 2, dim = 8, max_seq = 16>

func.func @positions(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<?xi32> {kv.name = "positions", kv.dims = ["T"]}) attributes {kv.entry} {
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  return %p : tensor<?xi32>
}

// The same for as many tokens and sequences as the program gives.
func.func @positions_of_six(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> tensor<6xi32> attributes {kv.entry} {
  %p = kv.positions %kv, %rows : !kv, tensor<?xi32> -> tensor<6xi32>
  return %p : tensor<6xi32>
}

func.func @row_offsets(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> tensor<?xi32> attributes {kv.entry} {
  %o = kv.row_offsets %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
  return %o : tensor<?xi32>
}

func.func @row_offsets_of_three(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> tensor<4xi32> attributes {kv.entry} {
  %o = kv.row_offsets %kv, %rows : !kv, tensor<?xi32> -> tensor<4xi32>
  return %o : tensor<4xi32>
}

// Alone, states say nothing of the number of rows: keys beside them do.
func.func @states(%k: tensor<?x2x8xf32> {kv.name = "k", kv.dims = ["T"]},
                  %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv,
                  %states: !states {kv.name = "states"})
    -> (tensor<?x2x8xf32> {kv.name = "read", kv.dims = ["states.batch"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %s = kv.state_read %states[%0] rows %rows : !states, tensor<?xi32> -> tensor<?x2x8xf32>
  kv.state_write %s into %states[%1] rows %rows
      : tensor<?x2x8xf32> into !states, tensor<?xi32>
  kv.store %k, %k into %kv[%0] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  return %s : tensor<?x2x8xf32>
}

func.func @recurrences(%x: tensor<?x8xf32> {kv.name = "x", kv.dims = ["T"]},
                       %k: tensor<?x2x4xf32> {kv.name = "k", kv.dims = ["T"]},
                       %v: tensor<?x2x1x2xf32> {kv.name = "v", kv.dims = ["T"]},
                       %g: tensor<?x2x1xf32> {kv.name = "g", kv.dims = ["T"]},
                       %w: tensor<3x8xf32> {kv.name = "w"},
                       %rows: tensor<?xi32> {kv.name = "row_offsets"},
                       %kv: !states {kv.name = "states"})
    -> (tensor<?x2x1x2xf32> {kv.name = "scanned", kv.dims = ["T"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %y = kv.state_convolution %x, %w in %kv[%0] rows %rows
      : tensor<?x8xf32>, tensor<3x8xf32> in !states, tensor<?xi32> -> tensor<?x8xf32>
  %o = kv.state_scan %k, %k, %v decay %g strength %g in %kv[%1] rows %rows
      : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x1x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>
        in !states, tensor<?xi32> -> tensor<?x2x1x2xf32>
  return %o : tensor<?x2x1x2xf32>
}

// Two layers by a function: the entry checks for both.
func.func private @layer(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %rows: tensor<?xi32>,
                         %l: index, %kv: !kv) -> tensor<?x4x8xf32> {
  kv.store %k, %k into %kv[%l] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
func.func @attention(%q: tensor<?x4x8xf32> {kv.dims = ["T"]},
                     %k: tensor<?x2x8xf32> {kv.dims = ["T"]},
                     %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<?x4x8xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %a = call @layer(%q, %k, %rows, %0, %kv)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, index, !kv) -> tensor<?x4x8xf32>
  %b = call @layer(%a, %k, %rows, %1, %kv)
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, index, !kv) -> tensor<?x4x8xf32>
  return %b : tensor<?x4x8xf32>
}

func.func @slots(%q: tensor<?x4x8xf32> {kv.dims = ["T"]},
                 %k: tensor<?x2x8xf32> {kv.dims = ["T"]},
                 %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !slots {kv.name = "slots"})
    -> (tensor<?x4x8xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  kv.store %k, %k into %kv[%0] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !slots, tensor<?xi32>
  %o = kv.attention %q in %kv[%0] rows %rows mask <sliding = 3> scale 0.5
      : tensor<?x4x8xf32> in !slots, tensor<?xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// `row_offsets` are those of the keys: the queries have their own.
func.func @keys(%q: tensor<?x4x8xf32> {kv.dims = ["Q"]},
                %queries: tensor<?xi32> {kv.name = "query_offsets"},
                %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<?x4x8xf32> {kv.dims = ["Q"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %o = kv.attention %q in %kv[%0] rows %queries keys %rows mask <none> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// Words of ancestors, one a token.
func.func @tree(%q: tensor<?x4x8xf32> {kv.dims = ["T"]}, %tree: tensor<?xi64> {kv.dims = ["T"]},
                %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<?x4x8xf32> {kv.dims = ["T"]}, tensor<6xi32>) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %p = kv.positions %kv, %rows tree %tree
      : !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<6xi32>
  %o = kv.attention %q in %kv[%0] rows %rows tree %tree mask <sliding = 3> scale 0.5
      : tensor<?x4x8xf32> in !kv, tensor<?xi32> tree tensor<?xi64> -> tensor<?x4x8xf32>
  return %o, %p : tensor<?x4x8xf32>, tensor<6xi32>
}

func.func @load(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<3x16x2x8xf32>, tensor<3xi32>) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %keys = kv.key_cache %kv[%0] : !kv
  %dense, %lengths = kv.load %keys rows %rows
      : !keys, tensor<?xi32> -> tensor<3x16x2x8xf32>, tensor<3xi32>
  return %dense, %lengths : tensor<3x16x2x8xf32>, tensor<3xi32>
}

func.func @update(%x: tensor<?x2x8xf32> {kv.dims = ["T"]}, %freqs: tensor<16x8xf32>,
                  %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %keys = kv.key_cache %kv[%0] : !kv
  kv.update %keys rows %rows rope(%freqs) : !keys, tensor<?xi32>, tensor<16x8xf32>
  kv.update %keys rows %rows add(%x) : !keys, tensor<?xi32>, tensor<?x2x8xf32>
  return
}

func.func @plan(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<6x4xi32>) attributes {kv.entry} {
  %p = kv.plan %kv rows %rows mask <causal> : !kv, tensor<?xi32> -> tensor<6x4xi32>
  return %p : tensor<6x4xi32>
}

func.func @advance(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    -> (tensor<?xi32> {kv.dims = ["kv.batch"]}) attributes {kv.entry} {
  %next = kv.advance %kv rows %rows : !kv, tensor<?xi32>
  %lengths = kv.cache_lengths %next : !kv -> tensor<?xi32>
  return %lengths : tensor<?xi32>
}

// Steps of a loop, each with the lengths that the one before left.
func.func @steps(%x: tensor<?x2x8xf32> {kv.dims = ["T"]},
                 %rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  scf.for %i = %0 to %2 step %1 iter_args(%now = %kv) -> !kv {
    kv.store %x, %x into %now[%0] rows %rows
        : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
    %next = kv.advance %now rows %rows : !kv, tensor<?xi32>
    scf.yield %next : !kv
  }
  return
}

// Offsets that the graph makes: the check stands where they are made.
func.func @computed(%x: tensor<?x2x8xf32> {kv.dims = ["T"]},
                    %given: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %size = tensor.dim %given, %0 : tensor<?xi32>
  %empty = tensor.empty(%size) : tensor<?xi32>
  %zero = arith.constant 0 : i32
  %rows = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%given : tensor<?xi32>) outs(%empty : tensor<?xi32>) {
  ^bb0(%in: i32, %out: i32):
    %same = arith.addi %in, %zero : i32
    linalg.yield %same : i32
  } -> tensor<?xi32>
  kv.store %x, %x into %kv[%0] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  return
}

func.func @print(%rows: tensor<?xi32> {kv.name = "row_offsets"}, %kv: !kv)
    attributes {kv.entry} {
  %0 = arith.constant 0 : index
  kv.print %kv[%0] rows %rows : !kv, tensor<?xi32>
  return
}

// Rows of a table by numbers that the caller gives.
func.func @lookup(%ids: tensor<?xi32> {kv.name = "indices"},
                  %table: tensor<7x8xf32> {kv.name = "table"})
    -> (tensor<?x8xf32> {kv.dims = ["indices.0"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %n = tensor.dim %ids, %0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %rows = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<7x8xf32>
    linalg.yield %value : f32
  } -> tensor<?x8xf32>
  return %rows : tensor<?x8xf32>
}

// The same of rows that the caller gives, in a loop.
func.func @pick(%ids: tensor<?xi32> {kv.name = "indices"},
                %table: tensor<?x8xf32> {kv.name = "table", kv.dims = ["rows"]})
    -> (tensor<8xf32>) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  %n = tensor.dim %ids, %0 : tensor<?xi32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %i = %0 to %n step %1 iter_args(%now = %zero) -> tensor<8xf32> {
    %id = tensor.extract %ids[%i] : tensor<?xi32>
    %wide = arith.extsi %id : i32 to i64
    %row = arith.index_cast %wide : i64 to index
    %next = scf.for %j = %0 to %8 step %1 iter_args(%old = %now) -> tensor<8xf32> {
      %value = tensor.extract %table[%row, %j] : tensor<?x8xf32>
      %before = tensor.extract %old[%j] : tensor<8xf32>
      %after = arith.addf %before, %value : f32
      %new = tensor.insert %after into %old[%j] : tensor<8xf32>
      scf.yield %new : tensor<8xf32>
    }
    scf.yield %next : tensor<8xf32>
  }
  return %sum : tensor<8xf32>
}

// A row that is computed from a number stays inside of the table.
func.func @neighbour(%numbers: tensor<?xi32> {kv.name = "numbers"},
                     %table: tensor<7x8xf32> {kv.name = "table"})
    -> (tensor<?x8xf32> {kv.dims = ["numbers.0"]}) attributes {kv.entry} {
  %0 = arith.constant 0 : index
  %two = arith.constant 2 : i32
  %n = tensor.dim %numbers, %0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %rows = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%numbers : tensor<?xi32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%id: i32, %unused: f32):
    %next = arith.addi %id, %two : i32
    %row = arith.index_cast %next : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<7x8xf32>
    linalg.yield %value : f32
  } -> tensor<?x8xf32>
  return %rows : tensor<?x8xf32>
}
