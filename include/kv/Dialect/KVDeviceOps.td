//===- KVDeviceOps.td - Operations of a device's host code -*- tablegen -*-===//
//
// Operations that passes make of a graph for a device with kernels of its own.
// Their names have the prefix kv.rt, like all that a front end never writes.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVDEVICEOPS_TD
#define KV_DIALECT_KVDEVICEOPS_TD

include "kv/Dialect/KVOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def KV_LaunchOp : KV_Op<"rt.launch", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a computation by a kernel of the device";
  let description = [{
    `callee` is a function of `kv/ABI/Symbols.def`. `outs` are what it writes and
    does not read, in the order of its parameters; `arguments` are the others.
    `absent` are the places of parameters that are null, of which 0 is the first
    one behind the context. On tensors it returns its `outs`; on buffers it reads
    its arguments, writes its `outs` and returns nothing. The blocks and scales of
    a cache are buffers in either form: the row says whether they are read or
    written, or whether the function looks at the shape alone.

    ```mlir
    %n = kv.rt.launch "norm"(%x, %weight, %epsilon, %offset) outs(%empty)
        : tensor<?x64xf32>, tensor<64xf32>, f32, f32 outs tensor<?x64xbf16>
       -> tensor<?x64xbf16>
    kv.rt.launch "store"(%blocks, %lengths, %table, %offsets, %layer, %k, %v) absent [1]
        : memref<?x2x4x16x3x64xbf16>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, i64,
          tensor<?x3x64xf32>, tensor<?x3x64xf32>
    ```
    Made by `kv-form-launches` and `kv-select-kernel`.
  }];
  let arguments = (ins KV_RuntimeFunctionAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$absent);
  let results = (outs Variadic<AnyRankedTensor>:$made);
  let assemblyFormat = [{
    custom<Callee>($callee) `(` $arguments `)` (`absent` $absent^)?
    (`outs` `(` $outs^ `)`)? attr-dict
    `:` type($arguments) (`outs` type($outs)^)? (`->` type($made)^)?
  }];
  let builders = [
    // With the types of the outs that are tensors as results.
    OpBuilder<(ins "::kv::RuntimeFunction":$callee,
                   "::mlir::ValueRange":$arguments, "::mlir::ValueRange":$outs,
                   CArg<"::llvm::ArrayRef<int64_t>", "{}">:$absent)>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The out operand and the result of a launch that has one.
    ::mlir::Value getOut() { return getOuts().front(); }
    ::mlir::Value getResult() { return getMade().front(); }
    /// The operands in the order of the function's parameters after the
    /// context; null for those that are absent. Only of a verified operation.
    ::llvm::SmallVector<::mlir::OpOperand *> getParameters();
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def KV_PlanBytesOp : KV_Op<"rt.plan_bytes", [Pure]> {
  let summary = "the device memory that a step's plan needs";
  let description = [{
    In bytes, for so many sequences and rows of queries: what `planBytes` of the
    device's runtime says. Of the blocks, in logical order, only the shape is
    looked at.

    ```mlir
    %bytes = kv.rt.plan_bytes %blocks, %sequences, %tokens heads 9 : memref<?x2x30x16x3x64xbf16>
    ```
  }];
  let arguments = (ins KV_Blocks:$blocks, Index:$sequences, Index:$tokens,
                       I64Attr:$heads);
  let results = (outs Index:$bytes);
  let assemblyFormat = [{
    $blocks `,` $sequences `,` $tokens `heads` $heads attr-dict
    `:` type($blocks)
  }];
}

#endif // KV_DIALECT_KVDEVICEOPS_TD
