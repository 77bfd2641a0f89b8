//===- FunctionBuilder.cpp - One random function --------------------------===//

#include "FunctionBuilder.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

FunctionBuilder::FunctionBuilder(ModuleState &module, func::FuncOp function,
                                 bool isEntry)
    : b(function.getLoc(), function.getContext()), module(module),
      random(module.random), executable(module.options.executable),
      isEntry(isEntry), function(function) {
  b.setInsertionPointToStart(function.addEntryBlock());
}

Value FunctionBuilder::define(Value value, Role role) {
  roles[value] = role;
  visible.push_back(value);
  return value;
}

Value FunctionBuilder::find(Role role, function_ref<bool(Type)> wanted) {
  SmallVector<Value> found;
  for (Value value : visible)
    if (roles.lookup(value) == role && (!wanted || wanted(value.getType())))
      found.push_back(value);
  if (found.empty())
    return {};
  // The last ones more often, so that chains grow.
  if (random.percent(50))
    return found.back();
  return random.oneOf(found);
}

Value FunctionBuilder::find(Role role, Type type) {
  return find(role, [&](Type other) { return other == type; });
}

Value FunctionBuilder::argument(Role role, Type type) {
  Value value = function.getBody().front().addArgument(type, function.getLoc());
  argumentRoles.push_back(role);
  return define(value, role);
}

Value FunctionBuilder::operand(Role role, Type type) {
  Value value = find(role, type);
  // One argument of a role is as good as another where values matter.
  if (value && (executable || random.percent(80)))
    return value;
  return argument(role, type);
}

TypedValue<CollectionType> FunctionBuilder::handle() {
  if (Value value = find(Role::Handle); value && random.percent(90))
    return cast<TypedValue<CollectionType>>(value);
  CollectionType type = random.oneOf(module.collections);
  return cast<TypedValue<CollectionType>>(operand(Role::Handle, type));
}

Value FunctionBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value FunctionBuilder::layer(CollectionType type) {
  if (!isEntry && !executable && random.percent(20))
    return operand(Role::Layer, b.getIndexType());
  return index(random.below(type.getLayers()));
}

Value FunctionBuilder::treeFor(MaskAttr mask, int64_t tokens) {
  bool fits = llvm::is_contained(
      {MaskKind::Causal, MaskKind::Sliding, MaskKind::ChunkedCausal},
      mask.getKind());
  if (!fits || random.percent(70))
    return {};
  return operand(Role::Tree, tensor({tokens}, b.getI64Type()));
}

Value FunctionBuilder::offsets() {
  return operand(Role::Offsets, tensor({sequences(1)}, b.getI32Type()));
}

Type FunctionBuilder::anyFloat() {
  return random.oneOf<Type>({f32(), f32(), b.getBF16Type(), b.getF16Type()});
}

int64_t FunctionBuilder::tokens() {
  return random.percent(70) ? ShapedType::kDynamic : module.tokens;
}

int64_t FunctionBuilder::sequences(int64_t plus) {
  return random.percent(70) ? ShapedType::kDynamic : module.sequences + plus;
}

RankedTensorType FunctionBuilder::tensor(ArrayRef<int64_t> shape,
                                         Type element) {
  return RankedTensorType::get(shape, element);
}

RankedTensorType FunctionBuilder::rows(int64_t heads, int64_t dim,
                                       Type element) {
  return tensor({tokens(), heads, dim}, element);
}

SmallVector<Value> FunctionBuilder::pickValues(int64_t most) {
  SmallVector<Value> result;
  for (int64_t i = random.between(0, most); i > 0 && !visible.empty(); --i) {
    // Handles more often than their share.
    Value value = random.percent(40) ? find(Role::Handle) : Value();
    if (!value)
      value = random.oneOf(visible);
    // Buffers are carried by nobody: One-Shot Bufferize sees tensors only.
    if (!isa<BaseMemRefType>(value.getType()))
      result.push_back(value);
  }
  return result;
}

Value FunctionBuilder::substitute(Value value) {
  if (random.percent(20))
    return value;
  return find(roles.lookup(value), value.getType());
}

void FunctionBuilder::nested(int64_t numOperations,
                             function_ref<void()> yields) {
  size_t before = visible.size();
  ++depth;
  for (int64_t i = 0; i < numOperations; ++i)
    emitOne();
  yields();
  --depth;
  // New arguments of the function stay visible.
  SmallVector<Value> arguments;
  for (Value value : ArrayRef(visible).drop_front(before))
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == &function.getBody().front())
      arguments.push_back(value);
  visible.truncate(before);
  llvm::append_range(visible, arguments);
}

void FunctionBuilder::emitOne() {
  SmallVector<const Production *> productions;
  auto add = [&](ArrayRef<Production> some) {
    for (const Production &production : some)
      if (production.executable || !executable)
        productions.push_back(&production);
  };
  add(cacheProductions());
  add(tensorProductions());
  if (depth < 2)
    add(controlFlowProductions());
  int64_t total = 0;
  for (const Production *production : productions)
    total += production->weight;
  // One that cannot be had here leaves the turn to another.
  for (int64_t attempt = 0; attempt < 8; ++attempt) {
    int64_t at = random.below(total);
    for (const Production *production : productions)
      if ((at -= production->weight) < 0) {
        if (production->emit(*this))
          return;
        break;
      }
  }
}

/// What entries may return: for executable ones, what a host knows the size of.
static bool isResult(Value value, Role role, bool executable) {
  return isa<RankedTensorType>(value.getType()) && !isa<BlockArgument>(value) &&
         !(executable && (role == Role::MaxLengths || role == Role::Table));
}

void FunctionBuilder::build(int64_t numOperations) {
  for (int64_t i = 0; i < numOperations; ++i)
    emitOne();

  SmallVector<Value> results;
  for (Value value : llvm::reverse(visible)) {
    if (results.size() == 4)
      break;
    if (isEntry ? !isResult(value, roles.lookup(value), executable)
                : isa<BaseMemRefType>(value.getType()))
      continue;
    if (random.percent(executable ? 90 : 50))
      results.push_back(value);
  }
  for (Value value : results)
    resultRoles.push_back(roles.lookup(value));
  func::ReturnOp::create(b, results);
  function.setType(b.getFunctionType(function.getBody().getArgumentTypes(),
                                     ValueRange(results).getTypes()));
}
