//===- ConvertToLLVM.cpp - The lowered form to the LLVM dialect -----------===//

#include "kv/Dialect/KV.h"

#include "kv/ABI/Context.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

static Value constI64(OpBuilder &b, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                  b.getI64IntegerAttr(value));
}

/// An alloca in the entry block: at the operation it would grow the stack of a
/// loop.
static Value entryAlloca(ConversionPatternRewriter &rewriter, Location loc,
                         Type type, int64_t count = 1) {
  Operation *function = rewriter.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(
      &cast<FunctionOpInterface>(function).getFunctionBody().front());
  Value size = constI64(rewriter, loc, count);
  return LLVM::AllocaOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()), type,
      size, /*alignment=*/16);
}

static Value fieldAt(OpBuilder &b, Location loc, Value pointer,
                     int64_t byteOffset) {
  return LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                             b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byteOffset)});
}

static void storeAt(OpBuilder &b, Location loc, Value value, Value pointer,
                    int64_t byteOffset) {
  LLVM::StoreOp::create(b, loc, value, fieldAt(b, loc, pointer, byteOffset));
}

static Value loadAt(OpBuilder &b, Location loc, Type type, Value pointer,
                    int64_t byteOffset) {
  return LLVM::LoadOp::create(b, loc, type,
                              fieldAt(b, loc, pointer, byteOffset));
}

//===----------------------------------------------------------------------===//
// The function table
//===----------------------------------------------------------------------===//

/// context->functions->callee(context, arguments...)
static LLVM::CallOp callRuntime(OpBuilder &b, Location loc,
                                RuntimeFunction callee, Value context,
                                ValueRange arguments) {
  const RuntimeFunctionRow &row = rowOf(callee);
  MLIRContext *ctx = b.getContext();
  auto pointer = LLVM::LLVMPointerType::get(ctx);
  auto type = LLVM::LLVMFunctionType::get(
      typeOfKind(ctx, row.result),
      llvm::map_to_vector(row.parameters, [&](ParameterKind kind) {
        return typeOfKind(ctx, kind);
      }));
  Value table =
      loadAt(b, loc, pointer, context, offsetof(KvContext, functions));
  Value function = loadAt(b, loc, pointer, table,
                          static_cast<int64_t>(callee) * sizeof(void *));
  SmallVector<Value> operands{function, context};
  llvm::append_range(operands, arguments);
  return LLVM::CallOp::create(b, loc, type, operands);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// args[index] as a descriptor. The argument is contiguous: strides follow
/// from the sizes, and static ones are constants.
struct LowerArgument : ConvertOpToLLVMPattern<ArgumentOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ArgumentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getType());
    if (!type.getLayout().isIdentity())
      return rewriter.notifyMatchFailure(op, "arguments are contiguous");
    int64_t base = op.getIndex() * sizeof(KvTensorView);
    Type i64 = rewriter.getI64Type();
    auto pointerType = LLVM::LLVMPointerType::get(getContext());
    Value data = loadAt(rewriter, loc, pointerType, adaptor.getArgs(),
                        base + offsetof(KvTensorView, data));
    Value offset = loadAt(rewriter, loc, i64, adaptor.getArgs(),
                          base + offsetof(KvTensorView, offset));
    data = LLVM::GEPOp::create(
        rewriter, loc, pointerType,
        getTypeConverter()->convertType(type.getElementType()), data,
        ArrayRef<LLVM::GEPArg>{offset});

    auto descriptor = MemRefDescriptor::poison(
        rewriter, loc, getTypeConverter()->convertType(type));
    descriptor.setAllocatedPtr(rewriter, loc, data);
    descriptor.setAlignedPtr(rewriter, loc, data);
    descriptor.setConstantOffset(rewriter, loc, 0);
    Value stride = constI64(rewriter, loc, 1);
    for (int64_t i = type.getRank() - 1; i >= 0; --i) {
      Value size = type.isDynamicDim(i)
                       ? loadAt(rewriter, loc, i64, adaptor.getArgs(),
                                base + offsetof(KvTensorView, sizes) +
                                    i * sizeof(int64_t))
                       : constI64(rewriter, loc, type.getDimSize(i));
      descriptor.setSize(rewriter, loc, i, size);
      descriptor.setStride(rewriter, loc, i, stride);
      if (i > 0)
        stride = LLVM::MulOp::create(rewriter, loc, stride, size);
    }
    rewriter.replaceOp(op, {descriptor});
    return success();
  }
};

/// Whether an attribute has what kv-form-entries writes.
bool isInterface(DictionaryAttr interface) {
  auto isRow = [](Attribute attribute) {
    auto row = dyn_cast<DictionaryAttr>(attribute);
    if (!row || !row.getAs<StringAttr>("name"))
      return false;
    auto dtype = row.getAs<TypeAttr>("dtype");
    auto shape = row.getAs<ArrayAttr>("shape");
    return dtype && dtypeOf(dtype.getValue()) && shape &&
           shape.size() <= KV_MAX_RANK &&
           llvm::all_of(shape, llvm::IsaPred<IntegerAttr, StringAttr>);
  };
  const StringRef fields[] = {"inputs", "outputs"};
  return llvm::all_of(fields, [&](StringRef field) {
    auto rows = interface.getAs<ArrayAttr>(field);
    return rows && llvm::all_of(rows, isRow);
  });
}

/// Makes the argument table of an entry a constant of the module.
struct LowerCheckArguments : ConvertOpToLLVMPattern<CheckArgumentsOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(CheckArgumentsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto interface = function->getAttrOfType<DictionaryAttr>("kv.interface");
    if (!interface)
      return op.emitOpError("stands in a function without 'kv.interface'");
    if (!isInterface(interface))
      return op.emitOpError(
          "stands in a function whose 'kv.interface' does not "
          "list inputs and outputs, each with name, dtype and "
          "shape");
    SmallVector<Attribute> rows;
    llvm::append_range(rows, interface.getAs<ArrayAttr>("inputs"));
    llvm::append_range(rows, interface.getAs<ArrayAttr>("outputs"));

    std::string table;
    llvm::StringMap<int64_t> symbols;
    for (Attribute row : rows) {
      KvArgumentSpec spec = {};
      auto fields = cast<DictionaryAttr>(row);
      spec.dtype = *dtypeOf(fields.getAs<TypeAttr>("dtype").getValue());
      auto shape = fields.getAs<ArrayAttr>("shape");
      spec.rank = shape.size();
      for (auto [i, size] : llvm::enumerate(shape)) {
        if (auto number = dyn_cast<IntegerAttr>(size)) {
          spec.sizes[i] = number.getInt();
          continue;
        }
        auto [it, fresh] = symbols.try_emplace(
            cast<StringAttr>(size).getValue(), symbols.size());
        spec.sizes[i] = -1 - it->second;
      }
      StringRef name = fields.getAs<StringAttr>("name").getValue();
      name = name.take_back(sizeof(spec.name) - 1);
      llvm::copy(name, spec.name);
      table.append(reinterpret_cast<const char *>(&spec), sizeof(spec));
    }

    if (symbols.size() > KV_MAX_DIMENSION_SYMBOLS)
      return op.emitOpError() << "stands in an entry with " << symbols.size()
                              << " different dynamic sizes, at most "
                              << KV_MAX_DIMENSION_SYMBOLS << " are supported";

    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    std::string symbol = ("kv_arguments_" + function.getName()).str();
    auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), table.size());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(rewriter, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, symbol,
                             rewriter.getStringAttr(table), /*alignment=*/16);
    }
    Value specs = LLVM::AddressOfOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(getContext()), symbol);
    Value count = constI64(rewriter, loc, rows.size());
    auto call = callRuntime(
        rewriter, loc, RuntimeFunction::checkArguments, adaptor.getCtx(),
        {specs, count, adaptor.getArgs(), adaptor.getCount()});
    rewriter.replaceOp(op, call.getResult());
    return success();
  }
};

struct LowerStatus : ConvertOpToLLVMPattern<StatusOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(StatusOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       loadAt(rewriter, op.getLoc(), rewriter.getI32Type(),
                              adaptor.getCtx(), offsetof(KvContext, status)));
    return success();
  }
};

/// The address of a constant of the module. Equal texts share one.
Value addressOf(ConversionPatternRewriter &rewriter, Operation *op,
                StringRef message) {
  Location loc = op->getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  std::string text = message.str();
  std::string symbol = "kv_message_" + llvm::utohexstr(llvm::xxh3_64bits(text));
  text.push_back('\0');
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(
        rewriter, loc,
        LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
        rewriter.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(op->getContext()), symbol);
}

struct LowerText : ConvertOpToLLVMPattern<TextOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(TextOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, addressOf(rewriter, op, op.getText()));
    return success();
  }
};

struct LowerRecordError : ConvertOpToLLVMPattern<RecordErrorOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(RecordErrorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value status = LLVM::ConstantOp::create(rewriter, loc, op.getStatusAttr());
    Value message = addressOf(rewriter, op, op.getMessage());
    callRuntime(rewriter, loc, RuntimeFunction::recordError, adaptor.getCtx(),
                {status, message});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRuntimeCall : ConvertOpToLLVMPattern<RuntimeCallOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  /// A KvTensorView on the stack that describes a buffer.
  Value makeView(ConversionPatternRewriter &rewriter, Location loc,
                 MemRefType type, Value converted, int64_t dtype) const {
    MemRefDescriptor descriptor(converted);
    Value view =
        entryAlloca(rewriter, loc, rewriter.getI8Type(), sizeof(KvTensorView));
    storeAt(rewriter, loc, descriptor.alignedPtr(rewriter, loc), view,
            offsetof(KvTensorView, data));
    storeAt(rewriter, loc, descriptor.offset(rewriter, loc), view,
            offsetof(KvTensorView, offset));
    storeAt(rewriter, loc, constI64(rewriter, loc, type.getRank()), view,
            offsetof(KvTensorView, rank));
    storeAt(rewriter, loc, constI64(rewriter, loc, dtype), view,
            offsetof(KvTensorView, dtype));
    for (int64_t i = 0; i < type.getRank(); ++i) {
      storeAt(rewriter, loc, descriptor.size(rewriter, loc, i), view,
              offsetof(KvTensorView, sizes) + i * sizeof(int64_t));
      storeAt(rewriter, loc, descriptor.stride(rewriter, loc, i), view,
              offsetof(KvTensorView, strides) + i * sizeof(int64_t));
    }
    return view;
  }

  LogicalResult
  matchAndRewrite(RuntimeCallOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const RuntimeFunctionRow &row = rowOf(op.getCallee());
    Location loc = op.getLoc();
    int64_t total = op.getArguments().size() + op.getAbsent().size();
    if (total + 1 != static_cast<int64_t>(row.parameters.size()))
      return op.emitOpError()
             << "'" << row.name << "' takes " << row.parameters.size() - 1
             << " arguments, not " << total;
    SmallVector<Value> arguments;
    unsigned next = 0;
    for (int64_t i = 0; i < total; ++i) {
      if (llvm::is_contained(op.getAbsent(), i)) {
        arguments.push_back(LLVM::ZeroOp::create(
            rewriter, loc, LLVM::LLVMPointerType::get(getContext())));
        continue;
      }
      Value original = op.getArguments()[next];
      Value converted = adaptor.getArguments()[next++];
      if (auto type = dyn_cast<MemRefType>(original.getType())) {
        std::optional<int64_t> dtype = dtypeOf(type.getElementType());
        if (!dtype)
          return op.emitOpError()
                 << type.getElementType() << " cannot cross the ABI";
        arguments.push_back(makeView(rewriter, loc, type, converted, *dtype));
      } else {
        arguments.push_back(converted);
      }
      Type want = typeOfKind(getContext(), row.parameters[i + 1]);
      if (arguments.back().getType() != want)
        return op.emitOpError() << "argument " << i << " of '" << row.name
                                << "' must be " << want;
    }
    auto call =
        callRuntime(rewriter, loc, op.getCallee(), adaptor.getCtx(), arguments);
    if (op.getResult())
      rewriter.replaceOp(op, call.getResult());
    else
      rewriter.eraseOp(op);
    return success();
  }
};

struct LowerArenaMark : ConvertOpToLLVMPattern<ArenaMarkOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ArenaMarkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, callRuntime(rewriter, op.getLoc(),
                                       RuntimeFunction::arenaMark,
                                       adaptor.getCtx(), {})
                               .getResult());
    return success();
  }
};

struct LowerArenaAlloc : ConvertOpToLLVMPattern<ArenaAllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ArenaAllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getType());
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(loc, type, adaptor.getSizes(), rewriter, sizes,
                             strides, bytes, /*sizeInBytes=*/true);
    Value data = callRuntime(rewriter, loc, RuntimeFunction::arenaAlloc,
                             adaptor.getCtx(), bytes)
                     .getResult();
    Value buffer =
        createMemRefDescriptor(loc, type, data, data, sizes, strides, rewriter);
    rewriter.replaceOp(op, buffer);
    return success();
  }
};

struct LowerArenaRelease : ConvertOpToLLVMPattern<ArenaReleaseOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ArenaReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    callRuntime(rewriter, op.getLoc(), RuntimeFunction::arenaRelease,
                adaptor.getCtx(), adaptor.getMark());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerArenaReturn : ConvertOpToLLVMPattern<ArenaReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ArenaReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t count = op.getBuffers().size();
    Value pointers = entryAlloca(rewriter, loc, rewriter.getI64Type(), count);
    Value sizes = entryAlloca(rewriter, loc, rewriter.getI64Type(), count);
    for (int64_t i = 0; i < count; ++i) {
      MemRefDescriptor buffer(adaptor.getBuffers()[i]);
      auto type = cast<MemRefType>(op.getBuffers()[i].getType());
      if (!type.getLayout().isIdentity())
        return op.emitOpError("returns contiguous buffers only");
      storeAt(rewriter, loc, buffer.alignedPtr(rewriter, loc), pointers,
              i * sizeof(void *));
      Value bytes = getSizeInBytes(loc, type.getElementType(), rewriter);
      for (int64_t d = 0; d < type.getRank(); ++d)
        bytes = LLVM::MulOp::create(rewriter, loc, bytes,
                                    buffer.size(rewriter, loc, d));
      storeAt(rewriter, loc, bytes, sizes, i * sizeof(int64_t));
    }
    callRuntime(
        rewriter, loc, RuntimeFunction::arenaReturn, adaptor.getCtx(),
        {adaptor.getMark(), pointers, sizes, constI64(rewriter, loc, count)});
    SmallVector<Value> results;
    for (int64_t i = 0; i < count; ++i) {
      MemRefDescriptor buffer(adaptor.getBuffers()[i]);
      Value moved =
          loadAt(rewriter, loc, LLVM::LLVMPointerType::get(getContext()),
                 pointers, i * sizeof(void *));
      buffer.setAllocatedPtr(rewriter, loc, moved);
      buffer.setAlignedPtr(rewriter, loc, moved);
      results.push_back(buffer);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The captures as one struct on the caller's stack.
LLVM::LLVMStructType captureStruct(MLIRContext *context, TypeRange types) {
  return LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(types));
}

struct LowerParallelFor : ConvertOpToLLVMPattern<ParallelForOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ParallelForOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = captureStruct(getContext(), adaptor.getCaptures().getTypes());
    Value packed = LLVM::PoisonOp::create(rewriter, loc, type);
    for (auto [i, capture] : llvm::enumerate(adaptor.getCaptures()))
      packed = LLVM::InsertValueOp::create(rewriter, loc, packed, capture, i);
    Value environment = entryAlloca(rewriter, loc, type);
    LLVM::StoreOp::create(rewriter, loc, packed, environment);
    Value body = LLVM::AddressOfOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(getContext()), op.getBody());
    callRuntime(rewriter, loc, RuntimeFunction::parallelFor, adaptor.getCtx(),
                {body, environment, adaptor.getCount(),
                 constI64(rewriter, loc, op.getGrain())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCaptures : ConvertOpToLLVMPattern<CapturesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(CapturesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    Value packed = LLVM::LoadOp::create(rewriter, op.getLoc(),
                                        captureStruct(getContext(), types),
                                        adaptor.getEnvironment());
    SmallVector<Value> values;
    for (int64_t i = 0, e = types.size(); i < e; ++i)
      values.push_back(
          LLVM::ExtractValueOp::create(rewriter, op.getLoc(), packed, i));
    rewriter.replaceOp(op, values);
    return success();
  }
};

struct ToLLVM : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;
  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect>();
  }
  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &target, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const final {
    target.addIllegalDialect<KVDialect>();
    patterns.add<LowerArgument, LowerCheckArguments, LowerStatus,
                 LowerRecordError, LowerText, LowerRuntimeCall, LowerArenaMark,
                 LowerArenaAlloc, LowerArenaRelease, LowerArenaReturn,
                 LowerParallelFor, LowerCaptures>(converter);
  }
};

} // namespace

void kv::registerConvertToLLVMModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, KVDialect *dialect) {
    dialect->addInterfaces<ToLLVM>();
  });
}
