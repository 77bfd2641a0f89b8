//===- KVDeviceOps.td - Operations of a device's host code -*- tablegen -*-===//
//
// What passes make of a graph for a device with kernels of its own; with the
// prefix kv.rt, as all that a front end never writes.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVDEVICEOPS_TD
#define KV_DIALECT_KVDEVICEOPS_TD

include "kv/Dialect/KVOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def KV_LaunchOp : KV_Op<"rt.launch", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a computation by a kernel of the device";
  let description = [{
    `callee` is a function of `kv/ABI/Symbols.def` whose last parameter is what
    it writes: `out`, which is not read. The others are its arguments, in order.
    On tensors it has no effects and returns `out`; on buffers it reads its
    arguments, writes `out` and returns nothing. The blocks of a cache are a
    buffer in either form, of which a launch looks at the shape.

    ```mlir
    %n = kv.rt.launch "norm"(%x, %weight, %epsilon, %offset) outs(%empty)
        : tensor<?x64xf32>, tensor<64xf32>, f32, f32 outs tensor<?x64xbf16>
       -> tensor<?x64xbf16>
    ```
    Made by `kv-form-launches` and `kv-select-kernel`.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$arguments,
                       AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `outs` `(` $out `)` attr-dict
    `:` type($arguments) `outs` type($out) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
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
