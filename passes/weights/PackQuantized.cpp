//===- PackQuantized.cpp - Quantised weights become bytes -----------------===//

#include "kv/Passes/Passes.h"

#include "WeightProduct.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace kv {
#define GEN_PASS_DEF_KVPACKQUANTIZED
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static remark::RemarkOpts remarkOpts(StringRef name) {
  return remark::RemarkOpts::name(name).category("kv-pack-quantized");
}

static QuantType quantOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<QuantType>(tensor.getElementType()) : QuantType();
}

/// The bytes that a quantised weight becomes; null, with an error, if it
/// cannot.
static RankedTensorType packedType(func::FuncOp function, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  QuantFormat format = quantOf(type).getFormat();
  int64_t unit = sizesOf(format).unit();
  if (tensor.getRank() != 2 || !tensor.hasStaticShape() ||
      tensor.getDimSize(0) % kPackedRows || tensor.getDimSize(1) % unit) {
    function.emitOpError() << "has a weight " << type << "; one of "
                           << stringifyQuantFormat(format)
                           << " must be a static [N, K] with N a "
                           << "multiple of " << kPackedRows << " and K one of "
                           << unit;
    return {};
  }
  return RankedTensorType::get(
      packedShape(format, tensor.getDimSize(0), tensor.getDimSize(1)),
      IntegerType::get(type.getContext(), 8));
}

namespace {
struct PackQuantized : kv::impl::KVPackQuantizedBase<PackQuantized> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto activations =
        module->getAttrOfType<TypeAttr>(KVDialect::getActivationsAttrName());
    integers = activations && activations.getValue().isInteger(8);
    // Before any type changes: operations are verified with their operands.
    SmallVector<DequantizeOp> conversions;
    SmallVector<ExpertMatmulOp> products;
    module.walk([&](Operation *op) {
      if (auto conversion = dyn_cast<DequantizeOp>(op);
          conversion && quantOf(conversion.getWeight().getType()))
        conversions.push_back(conversion);
      if (auto product = dyn_cast<ExpertMatmulOp>(op);
          product && llvm::any_of(product.getWeights().getTypes(), quantOf))
        products.push_back(product);
    });
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(packArguments(function)))
        return signalPassFailure();
    for (DequantizeOp op : conversions)
      if (failed(pack(op)))
        return signalPassFailure();
    for (ExpertMatmulOp op : products)
      if (failed(pack(op)))
        return signalPassFailure();
    if (failed(findLeft(module)))
      signalPassFailure();
  }

private:
  LogicalResult packArguments(func::FuncOp function) {
    SmallVector<Type> types(function.getArgumentTypes());
    for (auto [i, type] : llvm::enumerate(types)) {
      QuantType quant = quantOf(type);
      if (!quant)
        continue;
      unsigned index = static_cast<unsigned>(i);
      RankedTensorType packed = packedType(function, type);
      if (!packed)
        return failure();
      types[i] = packed;
      if (!function.isExternal()) {
        BlockArgument argument = function.getArgument(index);
        formats[argument] = quant.getFormat();
        argument.setType(packed);
      }
      if (function.getArgAttr(index, KVDialect::getWeightAttrName())) {
        function.setArgAttr(
            index, KVDialect::getLayoutAttrName(),
            StringAttr::get(&getContext(), layoutName(quant.getFormat())));
        ++numPacked;
      }
    }
    function.setType(
        FunctionType::get(&getContext(), types, function.getResultTypes()));
    return success();
  }

  LogicalResult pack(DequantizeOp op) {
    auto it = formats.find(op.getWeight());
    if (it == formats.end())
      return op.emitOpError("takes a quantised weight from an argument of its "
                            "function");
    op.setFormat(it->second);
    if (op.getRows())
      return success();
    for (OpOperand &use :
         llvm::make_early_inc_range(op.getResult().getUses())) {
      auto product = dyn_cast<linalg::MatmulOp>(use.getOwner());
      if (!integers || !product || !isWeightProduct(product, use)) {
        remarkLeft(op, use);
        continue;
      }
      OpBuilder b(product);
      auto format = QuantFormatAttr::get(&getContext(), it->second);
      auto packed = MatmulOp::create(
          b, product.getLoc(), product.getResultTypes(), product.getInputs()[0],
          op.getWeight(), ValueRange(), b.getArrayAttr({format}));
      product.getResult(0).replaceAllUsesWith(packed.getProducts()[0]);
      product.erase();
    }
    if (op.getResult().use_empty())
      op.erase();
    return success();
  }

  LogicalResult pack(ExpertMatmulOp op) {
    if (!integers)
      return op.emitOpError("takes a quantised weight only where the module "
                            "says kv.activations = i8");
    Builder b(&getContext());
    SmallVector<Attribute> entries;
    for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
      auto it = formats.find(weight);
      std::optional<QuantFormat> format = op.getFormat(i);
      if (it != formats.end())
        format = it->second;
      else if (quantOf(weight.getType()))
        return op.emitOpError("takes a quantised weight from an argument of "
                              "its function");
      entries.push_back(
          format ? Attribute(QuantFormatAttr::get(&getContext(), *format))
                 : b.getUnitAttr());
    }
    op.setFormatsAttr(b.getArrayAttr(entries));
    return success();
  }

  void remarkLeft(DequantizeOp op, OpOperand &use) {
    remark::missed(op.getLoc(), remarkOpts("Dequantized")) << remark::add(
        "a weight of {0} is made in f32 in each step: {1}",
        stringifyQuantFormat(*op.getFormat()).str(),
        integers ? ("'" + use.getOwner()->getName().getStringRef() +
                    "' does not multiply rows with all of it")
                       .str()
                 : std::string("the module does not say "
                               "kv.activations = i8"));
  }

  /// Nothing else may hold quantised values.
  LogicalResult findLeft(ModuleOp module) {
    WalkResult result = module.walk([&](Operation *op) {
      auto isQuant = [](Value value) { return (bool)quantOf(value.getType()); };
      if (!llvm::any_of(op->getOperands(), isQuant) &&
          !llvm::any_of(op->getResults(), isQuant))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' takes a quantised weight; only kv.dequantize, "
                         "kv.expert_matmul and calls do";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// The format of every packed argument.
  llvm::DenseMap<Value, QuantFormat> formats;
  bool integers = false; // the activations
};
} // namespace
