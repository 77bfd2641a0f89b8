//===- KVRuntimeOps.td - Operations of the lowered form ----*- tablegen -*-===//
//
// What passes make between bufferization and the LLVM dialect. A front end
// never writes these. `ctx` is the KvContext, `args` an entry's array of
// KvTensorView; both are plain pointers.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVRUNTIMEOPS_TD
#define KV_DIALECT_KVRUNTIMEOPS_TD

include "kv/Dialect/KVOps.td"
include "mlir/IR/SymbolInterfaces.td"

def KV_Pointer : Type<
    CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "a pointer">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

def KV_ArgumentOp : KV_Op<"argument", [Pure]> {
  let summary = "an entry's argument as a buffer";
  let description = [{
    Opens the view `args[index]`. Its dtype, rank, static sizes and contiguity
    have been checked by `kv.check_arguments`.
  }];
  let arguments = (ins KV_Pointer:$args, I64Attr:$index);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat =
      "$args `[` $index `]` attr-dict `:` type($result)";
}

def KV_CheckArgumentsOp : KV_Op<"check_arguments"> {
  let summary = "checks an entry's arguments against its interface";
  let description = [{
    One call before any work; 0, or the status that the context now holds. The
    table is made from the function's attribute `kv.interface`.
  }];
  let arguments = (ins KV_Pointer:$ctx, KV_Pointer:$args,
                       I32:$count);
  let results = (outs I32:$status);
  let assemblyFormat =
      "$ctx `,` $args `,` $count attr-dict";
}

def KV_StatusOp : KV_Op<"status"> {
  let summary = "the context's sticky status";
  let arguments = (ins KV_Pointer:$ctx);
  let results = (outs I32:$status);
  let assemblyFormat = "$ctx attr-dict";
}

def KV_AssertOp : KV_Op<"assert", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "run-time verification into the error slot";
  let description = [{
    Records `message` and `status` (a KvStatus) in the context when the
    condition is false and no error was recorded before. Execution goes on: what
    follows must be safe in either case.

    ```mlir
    kv.assert %inside, 2, "the layer is outside the collection's 30 layers"
    ```
  }];
  let arguments = (ins I1:$condition, I32Attr:$status, StrAttr:$message);
  let assemblyFormat = "$condition `,` $status `,` $message attr-dict";
}

def KV_RecordErrorOp : KV_Op<"record_error"> {
  let summary = "records an error in the context";
  let arguments = (ins KV_Pointer:$ctx, I32Attr:$status, StrAttr:$message);
  let assemblyFormat = "$ctx `,` $status `,` $message attr-dict";
}

def KV_RuntimeCallOp : KV_Op<"runtime_call"> {
  let summary = "a call through the context's function table";
  let description = [{
    `callee` is a name of `kv/ABI/Symbols.def`. Buffers are passed as pointers
    to KvTensorView, a missing one as `none` in `absent` (positions among the
    arguments that are null).
  }];
  let arguments = (ins StrAttr:$callee, KV_Pointer:$ctx,
                       Variadic<AnyType>:$arguments,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$absent);
  let results = (outs Optional<AnyType>:$result);
  let assemblyFormat = [{
    $callee `(` $ctx (`,` $arguments^)? `)` (`absent` $absent^)? attr-dict
    `:` functional-type($arguments, results)
  }];
  let hasVerifier = 1;
}

def KV_ArenaMarkOp : KV_Op<"arena_mark"> {
  let summary = "where the arena stands";
  let arguments = (ins KV_Pointer:$ctx);
  let results = (outs I64:$mark);
  let assemblyFormat = "$ctx attr-dict";
}

def KV_ArenaAllocOp : KV_Op<"arena_alloc"> {
  let summary = "a temporary in the arena";
  let arguments = (ins KV_Pointer:$ctx, Variadic<Index>:$sizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat =
      "$ctx `(` $sizes `)` attr-dict `:` type($result)";
}

def KV_ArenaReleaseOp : KV_Op<"arena_release"> {
  let summary = "gives back everything above a mark";
  let arguments = (ins KV_Pointer:$ctx, I64:$mark);
  let assemblyFormat = "$ctx `,` $mark attr-dict";
}

def KV_ArenaReturnOp : KV_Op<"arena_return"> {
  let summary = "gives back everything above a mark but some buffers";
  let description = [{
    The buffers are moved down to the mark when they lie above it, and keep
    their place when they lie elsewhere.
  }];
  let arguments = (ins KV_Pointer:$ctx, I64:$mark,
                       Variadic<AnyMemRef>:$buffers);
  let results = (outs Variadic<AnyMemRef>:$results);
  let assemblyFormat = [{
    $ctx `,` $mark `,` $buffers attr-dict `:` type($buffers)
    `->` type($results)
  }];
}

def KV_ParallelForOp : KV_Op<"parallel_for",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an outlined body over a range, on the context's pool";
  let description = [{
    `body` is a function (context, environment, lo, hi) that opens
    its captures with `kv.captures`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, KV_Pointer:$ctx,
                       Index:$count, I64Attr:$grain,
                       Variadic<AnyType>:$captures);
  let assemblyFormat = [{
    $body `(` $ctx `)` `count` $count `grain` $grain
    (`captures` `(` $captures^ `:` type($captures) `)`)? attr-dict
  }];
}

def KV_CapturesOp : KV_Op<"captures", [Pure]> {
  let summary = "opens the captures of a parallel body";
  let arguments = (ins KV_Pointer:$environment);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat =
      "$environment attr-dict `:` type($values)";
}

#endif // KV_DIALECT_KVRUNTIMEOPS_TD
