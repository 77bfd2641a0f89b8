//===- Passes.td - Passes of kv-mlir -----------------------*- tablegen -*-===//

#ifndef KV_PASSES_PASSES_TD
#define KV_PASSES_PASSES_TD

include "kv/Passes/CachesToTensors.td"

def KVAssignLayout : Pass<"kv-assign-layout", "::mlir::ModuleOp"> {
  let summary = "caches get the order in memory that the target likes";
  let description = [{
    Every collection whose blocks the graph does not open gets the target's
    layout, everywhere in the module. Runs before `kv-expand-collections`; the
    manifest tells the manager. Operations mean the same in every layout, and
    their results have the same bits.

    | target | layout | because |
    | --- | --- | --- |
    | `cpu` | `cpu` | a head's keys and values of a page are one run |
    | `cuda` | `hnd` | a head's rows of a page are one tile of a copy |

    Leaves a remark for each collection: `Assigned`, or `Kept` when the graph
    opens its blocks.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "cpu or cuda">,
    Option<"layout", "layout", "std::string", "",
           "nhd, hnd or cpu instead of the target's">
  ];
  let dependentDialects = ["::kv::KVDialect"];
  let statistics = [
    Statistic<"numAssigned", "assigned", "collections that got a layout">
  ];
}

def KVAssignPageLayers : Pass<"kv-assign-page-layers", "::mlir::ModuleOp"> {
  let summary = "pages of collections with different windows get equal bytes";
  let description = [{
    Where the paged collections of a module's entries have different windows,
    each whose type says no `page_layers` gets one, so that a page of each has
    equally many bytes: then all of them live in one pool, and a page that a
    window has passed can be used by any. With 24 layers that slide and 4 that do
    not, of the same heads and head dimension, it is 4.

    Of the sizes that are possible the one with the fewest bytes in the last
    bands' unused layers is taken, of these the largest; all collections together
    have at most 16 bands. A collection keeps its pages when its type says
    `page_layers` or when the graph opens its blocks (`kv.fetch`, `kv.unpack`),
    and the others follow it if they can. Modules with one window stay as they
    are. Runs before `kv-expand-collections`; the manifest tells the manager.

    Leaves a remark for each collection: `Assigned`, or `Kept` with the reason;
    `NoCommonSize` where there is none.
  }];
  let dependentDialects = ["::kv::KVDialect"];
  let statistics = [
    Statistic<"numAssigned", "assigned", "collections that got page_layers">
  ];
}

def KVShard : Pass<"kv-shard", "::mlir::ModuleOp"> {
  let summary = "a module for one process becomes one for several ranks";
  let description = [{
    All ranks run the same code, each with its shard: KV heads of the collections
    with their query heads, and rows of the weights that are multiplied, chosen
    from or looked up (projections, the MLP's, those of each expert, the
    vocabulary). `heads = ?` becomes the heads of a rank, which with one rank is
    all that happens. A product's columns are
    computed whole by the rank that has the weight's rows, and gathered
    (`kv.gather`) where something needs all of them: so no sum is ever cut, and
    every bit is that of one rank.

    Shards are equal. Where `ranks` divides no heads or rows, the last ranks hold
    fewer, and zeros in the place of the rest. Where there are fewer KV heads than
    ranks, neighbouring ranks hold copies of one and share its query heads, if
    these can be divided so; otherwise the last ranks compute no head. A latent
    cache is whole on every rank, and its query heads are divided. Rows are
    divided in blocks of 16; a weight that is not such blocks, or that different
    uses want divided differently, stays whole, and so does a router.

    With `target=cuda` a table of which rows are looked up stays whole, and what a
    rank takes of a value that all have is a view: where the ranks' parts would
    not be equal, that is an error. Of a table that is multiplied, too, a rank's
    product takes such a view, if parts are equal.

    Runs on collections, after `kv-inline-helpers` and before weights are packed.
    The module gets `kv.ranks`, sharded weights of entries get `kv.shard`, which
    the manifest tells the runtime. Each weight leaves a remark: `Sharded` or
    `Whole`.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "processes that compute together">,
    Option<"target", "target", "std::string", "\"cpu\"", "cpu or cuda">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numSharded", "sharded", "weights of entries that became shards">,
    Statistic<"numGathers", "gathers", "gathers of shards, but for lookups'">,
    Statistic<"numSlices", "slices", "shards cut out of whole values">
  ];
}

def KVExpandCollections : Pass<"kv-expand-collections", "::mlir::ModuleOp"> {
  let summary = "entry arguments that are collections become their components";
  let description = [{
    Each collection argument of an entry becomes the runtime inputs of its
    type (blocks, cache_lengths, lookup_table, max_lengths, scales), named
    `<name>.<component>`, and a `kv.fetch` at the top of the body. The other
    arguments keep their attributes.

    A `kv.fetch` of an entry's own arguments makes those the components of a
    collection: `<name>` is what their `kv.name`s begin with, or `kv`, `kv1`, ...
    where they have none. A fetch whose blocks an entry has from elsewhere is an
    error: the manifest could not name the cache.
  }];
  let dependentDialects = ["::kv::KVDialect"];
}

def KVResolveCollections : Pass<"kv-resolve-collections", "::mlir::ModuleOp"> {
  let summary = "handles are replaced by their components everywhere";
  let description = [{
    A 1:N conversion through functions, calls, returns and scf. Afterwards no
    value is a handle and the operations carry the components. Must run before
    bufferization: a tensor hidden behind a handle would be analysed wrongly.

    With `device` the lengths of a step lie on a device, and `kv.advance` is a
    launch that makes the next ones; how long the longest are, nobody knows then.
  }];
  let options = [Option<"device", "device", "bool", "false",
                        "the components lie on a device">];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KVCheckSteps : Pass<"kv-check-steps", "::mlir::ModuleOp"> {
  let summary = "a step is checked once, where its values come into being";
  let description = [{
    Every operation on a cache trusts the row offsets of its step. What it trusts
    (`kv.rt.check_step`) is checked once for the whole module: a private function
    leaves it to its callers, so what an entry is given is checked where the
    entry begins. Offsets that the graph computes are checked where they are
    computed, those of a loop in each turn, and what stands under a condition
    where the condition holds. Checks of one step become one.

    Runs on resolved operations on tensors, after `kv-select-kernel`, whose plans
    trust the step too, and before anything that lowers them.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KVCheckIndices : Pass<"kv-check-indices", "::mlir::ModuleOp"> {
  let summary = "integers that index tables are checked before they do";
  let description = [{
    Where a function's argument of integers is used as the number of a table's
    row, by `tensor.extract` or `kv.dequantize`, all of its elements are checked
    before (`kv.rt.check_indices`). An index that is computed from integers is
    kept inside of the table instead: what it reads is then some row, but never
    memory beside the table.

    Runs first, before tables are packed or cut into shards. For the CPU: kernels
    of a GPU look at what they are given.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KVResolveBands : Pass<"kv-resolve-bands", "::mlir::ModuleOp"> {
  let summary = "each operation gets the page ids of its layer's band";
  let description = [{
    An operation on layer l of a collection with `page_layers = N` becomes one on
    layer l mod N of a collection of N layers, whose lookup table is the slice of
    the table's rows that holds the ids of band l / N. What follows sees ordinary
    collections only, and must take a table whose rows are further apart than
    they are long. A layer that is not constant is checked here: afterwards
    nothing knows how many there are.

    Runs on resolved operations on tensors, after `kv-select-kernel`: one plan
    serves all bands.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numResolved", "resolved", "operations that got a band">
  ];
}

def KVAddSampler : Pass<"kv-add-sampler", "::mlir::ModuleOp"> {
  let summary = "modules that make logits get an entry that draws from them";
  let description = [{
    A module whose entry `forward` has one result, `logits` f32 `[R, V]`, gets the
    entry `sample` (docs/reference/module.md), which is one `kv.sample`, unless it has
    something of that name, or rows that no kernel reads in chunks. Serving calls
    it where logits lie on a device, so that tokens alone come to the host.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::func::FuncDialect"];
}

def KVAddTrees : Pass<"kv-add-trees", "::mlir::ModuleOp"> {
  let summary = "steps may hold trees of drafts";
  let description = [{
    Every entry with a `kv.positions` or a `kv.attention` gets one more argument,
    `tree` i64 `[T]`, which these operations take as their tree (`kv.attention`
    has its meaning); so do functions that it calls. A word is -1 where there is
    no tree. Attentions with `keys` stay as they are. Part of no pipeline: a
    module that verifies drafts is made by `kv-opt --kv-add-trees`.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::func::FuncDialect"];
}

def KVFuseLaunches : Pass<"kv-fuse-launches", "::mlir::ModuleOp"> {
  let summary = "rotations of queries and keys and the store become one launch";
  let description = [{
    A `kv.store` by the kernel `cuda` of keys that a launch of `rope` makes, and
    the launch that rotates the step's queries by the same positions and angles,
    become one launch of `ropeStore`; so do the two launches of `norm` before
    them, where both are made head by head in f32. No bit changes. It stands where
    the store stood: nothing before that may use the queries, or the keys at all.
    Heads and angles are multiples of 16 elements, at most 256; groups of scales
    are whole rows, or powers of two of 8 elements.

    Leaves a remark `Fused` for each store, or `NotFused` with the reason.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "stores that became part of a launch">
  ];
}

def KVLintOrder : Pass<"kv-lint-order", "::mlir::ModuleOp"> {
  let summary = "warns about stores and attentions in a doubtful order";
  let description = [{
    Warns about an attention that comes before this step's store of its layer in
    the same function, and about a store of a layer whose rows were stored
    already. Looks at constant layers and at one step's view at a time, with
    handles or with components; an attention whose layer some path has stored
    before, or no one stores, is not remarked on. Changes nothing.
  }];
}

def KVListWeights : Pass<"kv-list-weights", "::mlir::ModuleOp"> {
  let summary = "prints the weights that entries take, as JSON";
  let description = [{
    Prints one line to standard output, a JSON array with an object for each
    argument that is a weight (`kv.weight`), in the order of the arguments:
    `name`, `dtype`, `shape` (`[]` for a scalar), and where the argument has them
    `layout` (`kv.layout`) and `stored` (`kv.stored`: `order` and `shape` of the
    tensor that the file holds). After `kv-pack-weights` these are the forms that
    generated code reads. Changes nothing.
  }];
}

def KVRoundActivations : Pass<"kv-round-activations", "::mlir::ModuleOp"> {
  let summary = "rows are rounded before they are multiplied with weights";
  let description = [{
    The module's attribute `kv.activations` is the precision of the left-hand
    sides of multiplications. For bf16 and f16, that of each `linalg.matmul`,
    `kv.matmul` and `kv.expert_matmul` on tensors of f32 is rounded to it and
    widened again: what a machine with 16-bit dot products computes. For f32, or
    without the attribute, nothing changes.
    i8 is what products with quantised weights take (`kv-pack-quantized`); rows
    that meet other weights stay f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numRounded", "rounded", "left-hand sides rounded">
  ];
}

def KVPackWeights : Pass<"kv-pack-weights", "::mlir::ModuleOp"> {
  let summary = "weights of matrix multiplications get the layout n16k";
  let description = [{
    A weight `[N, K]` with N a multiple of 16 whose every use (through calls) is
    the transposed right-hand side of a `linalg.matmul` that starts at zero, or a
    gather of elements, becomes `[N / 16, K, 16]`; the multiplications become
    `kv.matmul`. So does a weight of `kv.expert_matmul`, which takes either form. The argument gets `kv.layout = "n16k"`.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numPacked", "packed-weights", "entry weights packed">
  ];
}

def KVPackQuantized : Pass<"kv-pack-quantized", "::mlir::ModuleOp"> {
  let summary = "quantised weights become packed blocks of bytes";
  let description = [{
    An argument `[N, K]` of `!kv.quant`, N a multiple of 16, becomes bytes
    `[N / 16, K / group, bytes]`, in every function. That of an entry gets
    `kv.layout`, such as "q4_0x16": a weights file holds it in this form.

    Where the module says `kv.activations = i8`, a `linalg.matmul` that starts at
    zero with such a weight, whole and dequantised, becomes a `kv.matmul` on the
    blocks. Elsewhere the matrix is made in f32, each time, which a remark says:
    exact, and slow. A `kv.expert_matmul` gets the blocks of its weights, and is an
    error without that attribute.
  }];
  let dependentDialects = ["::kv::KVDialect"];
  let statistics = [
    Statistic<"numPacked", "packed-weights", "quantised weights of entries">
  ];
}

def KVInlineHelpers : Pass<"kv-inline-helpers", "::mlir::ModuleOp"> {
  let summary = "calls of small helper functions become their bodies";
  let description = [{
    A front end writes a linear layer, a norm or an activation once, as a private
    function, and `kv-fuse` cannot look through its calls. Inlined are calls of
    private functions on tensors that have one block, at most `max-operations`
    operations, no calls, no control flow and no cache. Layers stay functions:
    code must not grow with depth.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "int64_t", "24",
           "operations of the largest function to inline">
  ];
  let statistics = [Statistic<"numInlined", "inlined", "calls inlined">];
}

def KVFuse : Pass<"kv-fuse", "::mlir::ModuleOp"> {
  let summary = "multiplications that share their input become one";
  let description = [{
    The `kv.matmul`s of one block that have the same input (q, k and v; gate and
    up) become one with several weights and products: one parallel region
    instead of several, and the input is read once. The weights stay arguments of
    their own and the bits stay the same. Runs after `kv-pack-weights`.

    Each group leaves a remark: `Fused`, or `NotFused` with the reason.
  }];
  let options = [
    Option<"maxWeights", "max-weights", "int64_t", "8",
           "most weights of one multiplication">
  ];
  let dependentDialects = ["::kv::KVDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "multiplications that became part of one">,
    Statistic<"numGroups", "groups", "multiplications with several weights">
  ];
}

def KVSelectKernel : Pass<"kv-select-kernel", "::mlir::ModuleOp"> {
  let summary = "chooses the kernel of each attention, store, recurrence and product with experts";
  let description = [{
    Sets `kv.kernel` and, for an attention whose kernel takes one, `plan`. The
    `kv.plan` is made where the step begins: a private function that has the
    cache and the rows as arguments gets the plan as one more, so that all layers
    share what the entry makes. An attention whose kernel takes no plan loses it.

    | target | attention | store | `kv.expert_matmul` | `kv.state_convolution`, `kv.state_scan` |
    | --- | --- | --- | --- | --- |
    | `cpu` | `vector`, with a plan, or `reference` | `reference` | `vector` if its weights are packed, or `decomposition` | `vector`, or `decomposition` of more than 16 taps or 512 elements of a key |
    | `decomposition` | `decomposition`, with a plan | `decomposition` | `decomposition` | `decomposition` |
    | `cuda` | `cuda`, with a plan in device memory | `cuda`, page copies too | none | `cuda`, other operations on states too |

    What the target `cuda` has no kernel for is an error. Its plan is the bytes
    that a `kv.rt.launch "plan"` writes; its operations must be resolved.

    An operation that has a kernel keeps it. Each decision leaves a remark with
    its reason.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "what the module is compiled for: cpu, decomposition or cuda">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numSelected", "selected", "operations that got a kernel">,
    Statistic<"numPlans", "plans", "plans made">
  ];
}

def KVDecompose : Pass<"kv-decompose", "::mlir::ModuleOp"> {
  let summary = "kv operations become upstream operations on their components";
  let description = [{
    The plain meaning of each operation that has one (upstream's
    AggregatedOpInterface says which), in linalg, tensor, scf and arith. Runs
    on resolved operations on tensors, after `kv-check-steps`: row offsets are
    trusted.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "operations to decompose, e.g. positions,rope (default: all)">,
    ListOption<"except", "except", "std::string", "operations to leave">,
    Option<"keepKernels", "keep-kernels", "bool", "false",
           "leave operations with another kv.kernel than `decomposition`">,
    Option<"pure", "pure", "bool", "false",
           "leave operations that read or write a cache's contents">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def KVFormLaunches : Pass<"kv-form-launches", "::mlir::ModuleOp"> {
  let summary = "computations become launches of a GPU's kernels";
  let description = [{
    Matrix products with a transposed weight, norms, silu * mul, sums,
    embeddings, casts, argmax, `kv.rope` and `kv.positions` become `kv.rt.launch`,
    whatever operations they are written in. Other elementwise arithmetic becomes
    the program of one launch (`ElementOps.def`). Elements are cast where a kernel
    wants 16 bits (the rows of a matrix product, the queries of an attention);
    a cast is folded into the launch that makes its operand. What has no kernel
    is an error that names it.

    Host code sees no element of a tensor: the number of rows of `kv.positions`
    is that of what is rotated by them.

    Runs on resolved operations on tensors after `kv-select-kernel`, and names
    the device code that the module needs in `kv.device_code`. Each launch
    leaves a remark.
  }];
  let options = [
    ListOption<"chips", "chips", "std::string",
               "what device code is for: sm_80, sm_90a, ...">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLaunches", "launches", "launches made">,
    Statistic<"numCasts", "casts", "casts left">
  ];
}

def KVFormDestinations : Pass<"kv-form-destinations", "::mlir::ModuleOp"> {
  let summary = "private functions write tensors that their callers give";
  let description = [{
    Each tensor that a private function returns becomes an argument to write it
    to, so that no function returns memory of its own: on a device it could not
    be moved. Sizes must be known before the call.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
}

def KVCheckHostCode : Pass<"kv-check-host-code", "::mlir::ModuleOp"> {
  let summary = "host code touches no device memory";
  let description = [{
    After bufferization: buffers are sized, viewed and passed on, never read or
    written; that is an error. A copy is queued on the device, as a
    `kv.rt.launch "cast"` of equal types, and leaves a remark.
  }];
  let dependentDialects = ["::kv::KVDialect"];
  let statistics = [Statistic<"numCopies", "copies", "copies on the device">];
}

def KVFormEntries : Pass<"kv-form-entries", "::mlir::ModuleOp"> {
  let summary = "entries get the C interface of the artifact";
  let description = [{
    For an entry @f, makes `@kv_entry_f(context, args, count) -> i32`, which
    checks the arguments and calls the body, and turns @f into that body: its
    arguments are read from `args`, its results are written into the caller's
    buffers, which follow them. The interface is recorded in the attribute
    `kv.interface`. A result whose size does not follow from the arguments by the
    names of dimensions is compared with its buffer (`kv.rt.check_result`). Runs
    on resolved entries, before bufferization.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def KVSplitDestinations : Pass<"kv-split-destinations", "::mlir::ModuleOp"> {
  let summary = "each operation gets a destination of its own";
  let description = [{
    A `tensor.empty`, or a `linalg.fill`, that several operations write into (the
    work of CSE) is repeated for each. Must run right before bufferization:
    a shared destination is a buffer that everything conflicts over, which costs
    copies, and compile time that grows with the square of the layers.

    So does a tensor that all layers read. An argument that is only read becomes
    a tensor for each operation that reads it, and so does what a loop computed
    if many read it and nothing writes to it.
  }];
  let statistics = [
    Statistic<"numSplit", "split", "destinations and read tensors repeated">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def KVExpandCopies : Pass<"kv-expand-copies", "::mlir::ModuleOp"> {
  let summary = "copies of slices become computations";
  let description = [{
    A `memref.copy` between buffers of which one does not lie in memory in one
    piece becomes a `linalg.generic`: upstream lowers it to a function of its own
    runtime library, which artifacts do not have. Runs after bufferization.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def KVOutlineKernels : Pass<"kv-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "each distinct computation on buffers becomes one function";
  let description = [{
    Every linalg operation and `kv.matmul` on buffers, and what has the kernel
    `vector`, moves into a private function with the attribute `kv.kernel`; equal
    ones share it. Code size and
    compile time then grow with distinct shapes, not with layers.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"numOutlined", "outlined", "operations outlined">,
    Statistic<"numKernels", "kernels", "distinct kernels">
  ];
}

def KVVectorize : Pass<"kv-vectorize", "::mlir::ModuleOp"> {
  let summary = "kernels become tiled loops and vector code";
  let description = [{
    `kv.matmul` becomes register tiles of `rows` x `blocks` vectors of 16
    outputs, with explicit fma and one k order; of quantised weights sums of
    integer products, by the instructions that `dot` names (`amx`: tiles for
    each 16 rows, vectors for the others, the same bits); with `matrix`, of
    weights of bf16 in a module with `kv.activations = bf16`, tiles of AMX.
    `kv.expert_matmul` becomes the first two kinds of tiles, of each expert that
    a row has chosen with the rows that have, which are ordered first.
    `kv.attention` becomes two loops: over tiles of rows with all or some of
    their leaves of keys, and over the tiles whose leaves were shared out; with
    `matrix`, of a cache of bf16 in such a module, with tiles of AMX.
    `kv.state_convolution` and `kv.state_scan` become a loop over sequences and
    columns of their states, in the order of sums of their plain meaning. Other
    linalg operations become loops. The outer loop of each is an `scf.forall` with
    the attribute `kv.grain`, the least iterations worth a thread.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "12", "rows of a register tile">,
    Option<"blocks", "blocks", "int64_t", "2",
           "blocks of 16 outputs of a register tile">,
    Option<"dot", "dot", "std::string", "\"generic\"",
           "what multiplies bytes: generic, avx2, avx512, vnni or amx">,
    Option<"matrix", "matrix", "bool", "false",
           "rows of bf16 are multiplied by AMX: with weights of bf16, and in "
           "attention with a cache of bf16">,
    Option<"wide", "wide", "bool", "true",
           "attention for 32 vector registers of 512 bits, not 16 of 256">
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
    "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect"];
}

def KVExpandMath : Pass<"kv-expand-math"> {
  let summary = "math functions become arithmetic";
  let description = [{
    An artifact calls no mathematics library: exp, log, tanh, sin, cos and erf become
    polynomials (upstream's), fpowi and powf products of them, rsqrt a division by a square root, conversions of bf16 and of 8-bit
    floats integer operations that round to nearest even.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def KVThreadContext : Pass<"kv-thread-context", "::mlir::ModuleOp"> {
  let summary = "private functions get the context; temporaries go to the arena";
  let description = [{
    Every function but an entry gets the KvContext as its first argument.
    `memref.alloc` becomes `kv.rt.arena_alloc`; a function gives back what it
    took when it returns, moving down the buffers that it returns.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::LLVM::LLVMDialect"];
}

def KVOutlineParallel : Pass<"kv-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "bodies of scf.forall become functions and one runtime call";
  let dependentDialects = ["::kv::KVDialect", "::mlir::func::FuncDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def ConvertKVToRuntime : Pass<"convert-kv-to-runtime", "::mlir::ModuleOp"> {
  let summary = "operations on caches become runtime calls";
  let description = [{
    `kv.store`, `kv.attention`, `kv.print` and what stands for a device's kernels
    (`kv.rt.launch`, `kv.rt.plan_bytes`, `kv.copy_pages` of the kernel `cuda`), and
    what ranks exchange (`kv.rank`, `kv.gather`) become
    `kv.rt.call`s named in kv/ABI/Symbols.def, `kv.rt.assert` records its error
    when it fails. Runs after `kv-thread-context`.
  }];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // KV_PASSES_PASSES_TD
