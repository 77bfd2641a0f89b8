//===- KVRuntimeOps.td - Operations of the lowered form ----*- tablegen -*-===//
//
// Operations that passes make between bufferization and the LLVM dialect, under
// a prefix of their own, kv.rt. A front end never writes these, and no bytecode
// file that is kept holds them. `ctx` is the KvContext, `args` an entry's array
// of KvTensorView; both are plain pointers.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVRUNTIMEOPS_TD
#define KV_DIALECT_KVRUNTIMEOPS_TD

include "kv/Dialect/KVOpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def KV_Pointer : Type<
    CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "a pointer">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

def KV_ArgumentOp : KV_Op<"rt.argument", [Pure]> {
  let summary = "an entry's argument as a buffer";
  let description = [{
    Opens the view `args[index]`. Its dtype, rank, static sizes and contiguity
    have been checked by `kv.rt.check_arguments`.
  }];
  let arguments = (ins KV_Pointer:$args, I64Attr:$index);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat =
      "$args `[` $index `]` attr-dict `:` type($result)";
}

def KV_CheckArgumentsOp : KV_Op<"rt.check_arguments"> {
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

def KV_StatusOp : KV_Op<"rt.status"> {
  let summary = "the context's sticky status";
  let arguments = (ins KV_Pointer:$ctx);
  let results = (outs I32:$status);
  let assemblyFormat = "$ctx attr-dict";
}

def KV_AssertOp : KV_Op<"rt.assert", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "run-time verification into the error slot";
  let description = [{
    Records `message` and `status` (a KvStatus) in the context when the
    condition is false and no error was recorded before. Execution goes on: what
    follows must be safe in either case.

    ```mlir
    kv.rt.assert %inside, 2, "the layer is outside the collection's 30 layers"
    ```
  }];
  let arguments = (ins I1:$condition, I32Attr:$status, StrAttr:$message);
  let assemblyFormat = "$condition `,` $status `,` $message attr-dict";
  let hasCanonicalizeMethod = 1;
}

def KV_CheckStepOp : KV_TwoFormOp<"rt.check_step", /*outs=*/[],
    [AttrSizedOperandSegments], ["::kv::ErrorResource"]> {
  let summary = "run-time verification of a step, once";
  let description = [{
    The entry is left with an error unless `row_offsets` has one element more
    than `cache_lengths`, begins with 0, does not fall and ends with `rows` (any
    number where that is absent), and `lookup_table` has a row a sequence. With
    `sequences` there are so many; with `max_lengths` its first row is at least
    the most new tokens and the most keys of a sequence; with `page` the keys of
    a sequence fit its row of the table, in pages of so many tokens; with `bands`
    the row has so many pages for each of them. What comes after trusts all of
    this.

    ```mlir
    kv.rt.check_step %row_offsets of %cache_lengths, %lookup_table max %max_lengths
        rows %tokens page 16
        : tensor<?xi32> of tensor<?xi32>, tensor<?x?xi32> max tensor<?x2xi32>
    ```
    Made by `kv-check-steps`, and by `kv-resolve-collections` of `kv.advance`.
  }];
  let arguments = (ins KV_I32Vector:$row_offsets, KV_I32Vector:$cache_lengths,
                       KV_ShapedOf<[I32], [1, 2]>:$lookup_table,
                       Optional<KV_ShapedOf<[I32], [2]>>:$max_lengths,
                       Optional<Index>:$rows,
                       OptionalAttr<I64Attr>:$sequences,
                       OptionalAttr<I64Attr>:$page,
                       OptionalAttr<I64Attr>:$bands);
  let assemblyFormat = [{
    $row_offsets `of` $cache_lengths `,` $lookup_table (`max` $max_lengths^)?
    (`rows` $rows^)? (`sequences` $sequences^)? (`page` $page^)?
    (`bands` $bands^)? attr-dict `:`
    type($row_offsets) `of` type($cache_lengths) `,` type($lookup_table)
    (`max` type($max_lengths)^)?
  }];
}

def KV_CheckResultOp : KV_Op<"rt.check_result", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "run-time verification of a caller's buffer";
  let description = [{
    The entry is left with an error unless `buffer`, the caller's for the result
    `name`, has `size` elements in `dimension`: what the entry is going to
    write.
  }];
  let arguments = (ins AnyMemRef:$buffer, StrAttr:$name, I64Attr:$dimension,
                       Index:$size);
  let assemblyFormat = [{
    $buffer $name `[` $dimension `]` `is` $size attr-dict `:` type($buffer)
  }];
}

def KV_CheckIndicesOp : KV_TwoFormOp<"rt.check_indices", /*outs=*/[],
    /*traits=*/[], ["::kv::ErrorResource"]> {
  let summary = "run-time verification of numbers that index a table";
  let description = [{
    The entry is left with an error unless all of `indices`, which the caller
    knows as `name`, are 0 or more and below `count`.

    ```mlir
    kv.rt.check_indices %tokens "tokens" below %rows : tensor<?xi32>
    ```
    Made by `kv-check-indices`.
  }];
  let arguments = (ins KV_ShapedOf<[I32, I64], [1, 2, 3, 4]>:$indices,
                       StrAttr:$name, Index:$count);
  let assemblyFormat = [{
    $indices $name `below` $count attr-dict `:` type($indices)
  }];
}

def KV_TextOp : KV_Op<"rt.text", [Pure]> {
  let summary = "the address of a constant text";
  let description = "NUL-terminated; equal texts of a module share one constant.";
  let arguments = (ins StrAttr:$text);
  let results = (outs KV_Pointer:$address);
  let assemblyFormat = "$text attr-dict";
}

def KV_RecordErrorOp : KV_Op<"rt.record_error"> {
  let summary = "records an error in the context";
  let arguments = (ins KV_Pointer:$ctx, I32Attr:$status, StrAttr:$message);
  let assemblyFormat = "$ctx `,` $status `,` $message attr-dict";
}

def KV_RuntimeCallOp : KV_Op<"rt.call"> {
  let summary = "a call through the context's function table";
  let description = [{
    `callee` is a function of `kv/ABI/Symbols.def`. Buffers are passed as pointers
    to KvTensorView, a missing one as `none` in `absent` (positions among the
    arguments that are null).
  }];
  let arguments = (ins KV_RuntimeFunctionAttr:$callee, KV_Pointer:$ctx,
                       Variadic<AnyType>:$arguments,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$absent);
  let results = (outs Optional<AnyType>:$result);
  let assemblyFormat = [{
    custom<Callee>($callee) `(` $ctx (`,` $arguments^)? `)` (`absent` $absent^)? attr-dict
    `:` functional-type($arguments, results)
  }];
  let hasVerifier = 1;
}

def KV_ArenaMarkOp : KV_Op<"rt.arena_mark"> {
  let summary = "where the arena stands";
  let arguments = (ins KV_Pointer:$ctx);
  let results = (outs I64:$mark);
  let assemblyFormat = "$ctx attr-dict";
}

def KV_ArenaAllocOp : KV_Op<"rt.arena_alloc"> {
  let summary = "a temporary in the arena";
  let arguments = (ins KV_Pointer:$ctx, Variadic<Index>:$sizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat =
      "$ctx `(` $sizes `)` attr-dict `:` type($result)";
}

def KV_ArenaReleaseOp : KV_Op<"rt.arena_release"> {
  let summary = "gives back everything above a mark";
  let arguments = (ins KV_Pointer:$ctx, I64:$mark);
  let assemblyFormat = "$ctx `,` $mark attr-dict";
}

def KV_ArenaReturnOp : KV_Op<"rt.arena_return"> {
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

def KV_ParallelForOp : KV_Op<"rt.parallel_for",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an outlined body over a range, on the context's pool";
  let description = [{
    `body` is a function (context, environment, lo, hi) that opens
    its captures with `kv.rt.captures`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, KV_Pointer:$ctx,
                       Index:$count, I64Attr:$grain,
                       Variadic<AnyType>:$captures);
  let assemblyFormat = [{
    $body `(` $ctx `)` `count` $count `grain` $grain
    (`captures` `(` $captures^ `:` type($captures) `)`)? attr-dict
  }];
}

def KV_CapturesOp : KV_Op<"rt.captures", [Pure]> {
  let summary = "opens the captures of a parallel body";
  let arguments = (ins KV_Pointer:$environment);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat =
      "$environment attr-dict `:` type($values)";
}

#endif // KV_DIALECT_KVRUNTIMEOPS_TD
