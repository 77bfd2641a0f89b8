//===- AddSampler.cpp - Logits get an entry that draws from them ----------===//

#include "kv/Passes/Passes.h"

#include "kv/ABI/DeviceKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

namespace kv {
#define GEN_PASS_DEF_KVADDSAMPLER
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// {0}: elements of a row.
static constexpr StringLiteral kSampler = R"mlir(
  func.func @sample(
      %logits: tensor<?x{0}xf32> {{kv.name = "logits", kv.dims = ["R"]},
      %temperature: tensor<?xf32> {{kv.name = "temperature", kv.dims = ["R"]},
      %top_k: tensor<?xi32> {{kv.name = "top_k", kv.dims = ["R"]},
      %top_p: tensor<?xf32> {{kv.name = "top_p", kv.dims = ["R"]},
      %min_p: tensor<?xf32> {{kv.name = "min_p", kv.dims = ["R"]},
      %seed: tensor<?xi64> {{kv.name = "seed", kv.dims = ["R"]},
      %index: tensor<?xi32> {{kv.name = "index", kv.dims = ["R"]})
      -> (tensor<?xi32> {{kv.name = "tokens", kv.dims = ["R"]})
      attributes {{kv.entry} {{
    %tokens = kv.sample %logits temperature %temperature top_k %top_k
        top_p %top_p min_p %min_p seed %seed index %index
        : tensor<?x{0}xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>,
          tensor<?xf32>, tensor<?xi64>, tensor<?xi32> -> tensor<?xi32>
    return %tokens : tensor<?xi32>
  }
)mlir";

namespace {
struct AddSampler : kv::impl::KVAddSamplerBase<AddSampler> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward || forward.isExternal() || module.lookupSymbol("sample") ||
        !forward->hasAttr(KVDialect::getEntryAttrName()) ||
        forward.getNumResults() != 1)
      return;
    auto name = forward.getResultAttrOfType<StringAttr>(
        0, KVDialect::getNameAttrName());
    auto logits = dyn_cast<RankedTensorType>(forward.getResultTypes()[0]);
    if (!name || name.getValue() != "logits" || !logits ||
        logits.getRank() != 2 || !logits.getElementType().isF32() ||
        logits.isDynamicDim(1) || logits.getDimSize(1) == 0 ||
        logits.getDimSize(1) % kernels::RowChunk)
      return;
    std::string text = llvm::formatv(kSampler.data(), logits.getDimSize(1));
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(text, ParserConfig(&getContext()));
    if (!parsed)
      return signalPassFailure();
    Operation *sampler = parsed->lookupSymbol("sample");
    sampler->remove();
    module.push_back(sampler);
  }
};
} // namespace
