//===- Generator.cpp - Random modules of the kv dialect -------------------===//

#include "Generator.h"

#include "FunctionBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

void kv::fuzz::loadGeneratorDialects(MLIRContext *context) {
  context->loadDialect<KVDialect, arith::ArithDialect, func::FuncDialect,
                       linalg::LinalgDialect, scf::SCFDialect,
                       tensor::TensorDialect>();
}

static CollectionType anyCollection(MLIRContext *context, Random &random,
                                    const GeneratorOptions &options) {
  CacheGeometry geometry;
  geometry.dtype = random.oneOf({KV_DTYPE_F32, KV_DTYPE_F32, KV_DTYPE_BF16,
                                 KV_DTYPE_BF16, KV_DTYPE_F16, KV_DTYPE_I8,
                                 KV_DTYPE_F8E4M3FN, KV_DTYPE_F8E5M2});
  geometry.layers = random.between(1, 4);
  geometry.heads = random.oneOf({1, 1, 2, 2, 3, 4});
  geometry.dim = random.oneOf({1, 2, 4, 8, 8, 16, 5});
  geometry.page = random.oneOf({1, 2, 4, 4, 16, 3});
  if (!options.executable && random.percent(5))
    geometry.page = random.oneOf({128, 1 << 20});
  if (random.percent(25)) {
    geometry.strategy = CacheStrategy::Continuous;
    geometry.page = 64; // holds what all advances may add
  }
  if (random.percent(20)) {
    geometry.heads = 1;
    geometry.vDim = random.between(1, geometry.dim);
  }
  if (elementBytes(geometry.dtype) == 1 &&
      (geometry.dtype == KV_DTYPE_I8 || random.percent(70))) {
    do
      geometry.scaleGroup = random.between(1, geometry.dim);
    while (geometry.dim % geometry.scaleGroup != 0);
    geometry.scaleDType = random.oneOf({KV_DTYPE_F32, KV_DTYPE_F8E8M0FNU});
  }
  geometry.layout = random.oneOf(
      {CacheLayout::NHD, CacheLayout::NHD, CacheLayout::HND, CacheLayout::CPU});
  if (random.percent(30))
    geometry.window = random.between(1, 12);
  if (geometry.isPaged() && random.percent(30))
    geometry.pageLayers = random.between(1, geometry.layers);
  if (!options.executable && !geometry.isLatent() && random.percent(2))
    geometry.heads = CacheGeometry::Unknown;
  return CollectionType::get(context, geometry);
}

/// A dynamic size by what it counts; equal names are equal sizes at run time.
static ArrayAttr dimsOf(Builder &b, Role role, ShapedType type) {
  SmallVector<StringRef> names;
  switch (role) {
  case Role::Rows:
  case Role::Flat:
  case Role::Logarithms:
  case Role::Positions:
  case Role::Tree:
    names = {"tokens"};
    break;
  case Role::Offsets:
    names = {"offsets"};
    break;
  case Role::Lengths:
    names = {"sequences"};
    break;
  case Role::Table:
    names = {"sequences", "pitch"};
    break;
  case Role::MaxLengths:
    names = {"steps"};
    break;
  case Role::Pages:
    names = {"ids"};
    break;
  case Role::Dense:
    names = {"sequences", "longest"};
    break;
  default:
    names = {"size"};
  }
  names.truncate(type.getNumDynamicDims());
  return b.getStrArrayAttr(names);
}

static StringRef nameOf(Role role) {
  switch (role) {
  case Role::Rows:
    return "rows";
  case Role::Flat:
    return "flat";
  case Role::Logarithms:
    return "logarithms";
  case Role::Offsets:
    return "offsets";
  case Role::Positions:
    return "positions";
  case Role::Pages:
    return "pages";
  case Role::Freqs:
    return "freqs";
  case Role::Sinks:
    return "sinks";
  case Role::Tree:
    return "tree";
  case Role::Weight:
    return "weight";
  default:
    return "other";
  }
}

/// Names that tell a host what to pass; elsewhere only some, as it comes.
static void nameArguments(FunctionBuilder &f, func::FuncOp function) {
  Random &random = f.random;
  Builder b(function.getContext());
  int64_t collections = 0;
  for (auto [i, role] : llvm::enumerate(f.argumentRoles)) {
    Type type = function.getArgumentTypes()[i];
    // The components of a fetch would have to be named after one collection.
    if (!f.executable &&
        (llvm::is_contained(kComponentRoles, role) || random.percent(50)))
      continue;
    std::string name = (nameOf(role) + Twine(i)).str();
    if (role == Role::Handle)
      name = "kv" + std::to_string(collections++);
    if (role == Role::Weight && !f.executable && random.percent(80)) {
      function.setArgAttr(i, KVDialect::getWeightAttrName(),
                          b.getStringAttr(name));
      continue;
    }
    function.setArgAttr(i, KVDialect::getNameAttrName(), b.getStringAttr(name));
    if (auto shaped = dyn_cast<RankedTensorType>(type))
      function.setArgAttr(i, KVDialect::getDimsAttrName(),
                          dimsOf(b, role, shaped));
  }
  if (!f.executable)
    return;
  for (auto [i, role] : llvm::enumerate(f.resultRoles)) {
    function.setResultAttr(i, KVDialect::getNameAttrName(),
                           b.getStringAttr("out" + Twine(i)));
    function.setResultAttr(
        i, KVDialect::getDimsAttrName(),
        dimsOf(b, role, cast<ShapedType>(function.getResultTypes()[i])));
  }
}

OwningOpRef<ModuleOp>
kv::fuzz::generateModule(MLIRContext *context, uint64_t seed,
                         const GeneratorOptions &options) {
  ModuleState state{Random(seed), options, {}, 0, 0, {}};
  Random &random = state.random;
  state.tokens = options.executable ? kTokens : random.between(1, 9);
  state.sequences = options.executable ? kSequences : random.between(1, 4);
  for (int64_t i = random.between(1, 3); i > 0; --i)
    state.collections.push_back(anyCollection(context, random, options));

  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b(module->getBodyRegion());
  auto make = [&](StringRef name) {
    return func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  };
  for (int64_t i = random.below(3); i > 0; --i) {
    func::FuncOp function = make(("helper" + Twine(i)).str());
    function.setPrivate();
    FunctionBuilder f(state, function, /*isEntry=*/false);
    f.build(random.between(1, 6));
    state.helpers.push_back(
        {function, f.argumentRoles, f.resultRoles, f.advances});
  }
  int64_t entries = options.executable ? 1 : random.between(1, 2);
  for (int64_t i = 0; i < entries; ++i) {
    func::FuncOp function = make(i ? ("f" + Twine(i)).str() : "f");
    bool isEntry = options.executable || random.percent(85);
    FunctionBuilder f(state, function, isEntry);
    f.build(random.between(2, 12));
    if (isEntry)
      function->setAttr(KVDialect::getEntryAttrName(), b.getUnitAttr());
    nameArguments(f, function);
  }
  return module;
}
