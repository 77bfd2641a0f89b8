//===- CacheOperations.cpp - Random operations on caches ------------------===//

#include "FunctionBuilder.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

namespace {

/// KV heads; any number will do before sharding.
int64_t headsOf(CollectionType type) {
  return ShapedType::isDynamic(type.getHeads()) ? 2 : type.getHeads();
}

/// How an operation names its cache: a handle, or the components and the type.
struct CacheName {
  SmallVector<Value> operands;
  TypeAttr collection;
};

/// A component's type as an operation may see it: some dynamic sizes static,
/// the same everywhere in the module. Steps are not: kv.advance drops one.
Type refined(FunctionBuilder &f, Role role, Type type) {
  auto shaped = cast<ShapedType>(type);
  if (f.executable || role == Role::MaxLengths || f.random.percent(60))
    return type;
  SmallVector<int64_t> shape(shaped.getShape());
  bool isBuffer = role == Role::Blocks || role == Role::Scales;
  shape[0] = isBuffer ? 9 : f.module.sequences;
  return shaped.clone(shape);
}

SmallVector<Type> refinedComponents(FunctionBuilder &f, CollectionType type) {
  SmallVector<Type> types = type.getComponentTypes();
  for (auto [role, component] : llvm::zip(kComponentRoles, types))
    component = refined(f, role, component);
  return types;
}

void defineComponents(FunctionBuilder &f, ValueRange components) {
  for (auto [role, component] : llvm::zip(kComponentRoles, components))
    f.define(component, role);
}

UnpackOp unpack(FunctionBuilder &f, Value handle) {
  auto type = cast<CollectionType>(handle.getType());
  return UnpackOp::create(f.b, refinedComponents(f, type), handle);
}

CacheName name(FunctionBuilder &f, Value handle) {
  if (f.random.percent(85))
    return {{handle}, {}};
  auto components = unpack(f, handle)->getResults();
  return {SmallVector<Value>(components), TypeAttr::get(handle.getType())};
}

/// A mask that sees no further back than the collection's window.
MaskAttr anyMask(FunctionBuilder &f, CollectionType type) {
  MaskKind kind =
      f.random.oneOf({MaskKind::Sliding, MaskKind::Chunked,
                      MaskKind::SlidingNoncausal, MaskKind::ChunkedCausal});
  if (!type.getWindow() && f.random.percent(40))
    kind = f.random.oneOf({MaskKind::None, MaskKind::Causal});
  bool windowed = kind != MaskKind::None && kind != MaskKind::Causal;
  int64_t most = type.getWindow() ? type.getWindow() : 12;
  return MaskAttr::get(f.b.getContext(), kind,
                       windowed ? f.random.between(1, most) : 0);
}

bool fetch(FunctionBuilder &f) {
  CollectionType type = f.random.oneOf(f.module.collections);
  SmallVector<Value> components;
  // Components of a view may be mixed with others of their kind.
  auto found = f.find(Role::Handle, type);
  if (found && f.random.percent(70)) {
    components = llvm::to_vector_of<Value>(unpack(f, found)->getResults());
  } else if (f.executable) {
    return false;
  } else {
    for (auto [role, component] :
         llvm::zip(kComponentRoles, refinedComponents(f, type)))
      components.push_back(f.operand(role, component));
  }
  f.define(FetchOp::create(f.b, type, components), Role::Handle);
  return true;
}

bool unpackOne(FunctionBuilder &f) {
  defineComponents(f, unpack(f, f.handle())->getResults());
  return true;
}

template <typename Op> bool part(FunctionBuilder &f) {
  auto handle = f.handle();
  if (std::is_same_v<Op, ValueCacheOp> && handle.getType().isLatent())
    return false;
  Value layer = f.layer(handle.getType());
  f.define(Op::create(f.b, CacheType::get(handle.getType()), handle, layer),
           Role::Cache);
  return true;
}

bool cacheLengths(FunctionBuilder &f) {
  auto type = f.tensor({f.sequences()}, f.b.getI32Type());
  f.define(CacheLengthsOp::create(f.b, type, f.handle()), Role::Lengths);
  return true;
}

bool maxLengths(FunctionBuilder &f) {
  auto type = f.tensor({ShapedType::kDynamic, 2}, f.b.getI32Type());
  f.define(MaxLengthsOp::create(f.b, type, f.handle()), Role::MaxLengths);
  return true;
}

bool advance(FunctionBuilder &f) {
  // A place in a loop counts as often as it is run.
  if (f.executable && f.advances + f.repeats > kMostAdvances)
    return false;
  auto handle = f.handle();
  f.advances += f.repeats;
  f.define(AdvanceOp::create(f.b, handle.getType(), handle, f.offsets()),
           Role::Handle);
  return true;
}

bool positions(FunctionBuilder &f) {
  auto handle = f.handle();
  CacheName cache = name(f, handle);
  auto type = f.tensor({f.tokens()}, f.b.getI32Type());
  auto causal = MaskAttr::get(f.b.getContext(), MaskKind::Causal, 0);
  Value tree = f.treeFor(causal, type.getDimSize(0));
  auto op = PositionsOp::create(f.b, type, cache.operands, f.offsets(),
                                /*out=*/Value(), tree, cache.collection);
  f.define(op.getResult(), Role::Positions);
  return true;
}

bool rowOffsets(FunctionBuilder &f) {
  auto handle = f.handle();
  CacheName cache = name(f, handle);
  Value offsets = f.offsets();
  auto op = RowOffsetsOp::create(f.b, offsets.getType(), cache.operands,
                                 offsets, /*out=*/Value(), cache.collection);
  // Offsets of all keys, not of this step's rows: nothing may use them as such.
  if (!f.executable)
    f.define(op.getResult(), Role::Offsets);
  return true;
}

/// Rows for a store: keys and values agree in all but the element.
Value rowsFor(FunctionBuilder &f, CollectionType type, int64_t tokens) {
  auto fits = [&](Type other) {
    auto shape = cast<ShapedType>(other).getShape();
    return shape[1] == headsOf(type) && shape[2] == type.getDim() &&
           (shape[0] == tokens || ShapedType::isDynamic(shape[0]) ||
            ShapedType::isDynamic(tokens));
  };
  if (Value found = f.find(Role::Rows, fits); found && f.random.percent(70))
    return found;
  return f.operand(Role::Rows, f.tensor({tokens, headsOf(type), type.getDim()},
                                        f.anyFloat()));
}

bool store(FunctionBuilder &f) {
  auto handle = f.handle();
  CollectionType type = handle.getType();
  CacheName cache = name(f, handle);
  Value k = rowsFor(f, type, f.tokens());
  Value v;
  if (!type.isLatent())
    v = rowsFor(f, type, cast<ShapedType>(k.getType()).getDimSize(0));
  Value layer = f.layer(type);
  StoreOp::create(f.b, k, v, cache.operands, layer, f.offsets(),
                  cache.collection);
  return true;
}

/// What the rows of this step see.
Value planOf(FunctionBuilder &f, Value handle, Value offsets, MaskAttr mask,
             bool tree, int64_t tokens) {
  CacheName cache = name(f, handle);
  auto type = f.tensor({tokens, 4}, f.b.getI32Type());
  return PlanOp::create(f.b, type, cache.operands, offsets, /*out=*/Value(),
                        mask, tree, cache.collection)
      .getResult();
}

bool plan(FunctionBuilder &f) {
  Value offsets = f.offsets();
  auto handle = f.handle();
  MaskAttr mask = anyMask(f, handle.getType());
  planOf(f, handle, offsets, mask, /*tree=*/false, f.tokens());
  return true;
}

bool attention(FunctionBuilder &f) {
  auto handle = f.handle();
  CollectionType type = handle.getType();
  CacheName cache = name(f, handle);
  auto fits = [&](Type other) {
    auto shape = cast<ShapedType>(other).getShape();
    return shape[1] % headsOf(type) == 0 && shape[2] == type.getDim();
  };
  Value q = f.find(Role::Rows, fits);
  if (!q || f.random.percent(40)) {
    int64_t group = f.random.oneOf({1, 1, 2, 3, 4, 8});
    q = f.operand(Role::Rows,
                  f.rows(headsOf(type) * group, type.getDim(), f.anyFloat()));
  }
  auto qType = cast<RankedTensorType>(q.getType());
  int64_t heads = qType.getDimSize(1);
  // A static size of the result may be dynamic in q, and the other way round.
  int64_t tokens = f.executable || f.random.percent(80) ? qType.getDimSize(0)
                                                        : ShapedType::kDynamic;
  auto resultType =
      f.tensor({tokens, heads, type.getValueDim()}, qType.getElementType());
  Type lseType;
  if (f.random.percent(40))
    lseType = f.tensor({resultType.getDimSize(0), heads}, f.f32());
  Value sinks;
  if (f.random.percent(30))
    sinks = f.operand(Role::Sinks, f.tensor({heads}, f.f32()));
  FloatAttr softcap;
  if (f.random.percent(30))
    softcap = f.b.getF64FloatAttr(1 + f.random.uniform() * 30);
  Value layer = f.layer(type), offsets = f.offsets();
  MaskAttr mask = anyMask(f, type);
  Value tree = f.treeFor(mask, qType.getDimSize(0));
  Value plan;
  if (f.random.percent(25))
    plan = planOf(f, handle, offsets, mask, static_cast<bool>(tree),
                  f.random.percent(50) ? ShapedType::kDynamic
                                       : qType.getDimSize(0));
  TypeAttr products;
  bool causal =
      mask.getKind() == MaskKind::Causal || mask.getKind() == MaskKind::Sliding;
  if (isa<Float8E4M3FNType>(type.getElementType()) && !type.getScale() &&
      !type.isLatent() && type.getDim() % kProductDepth == 0 && causal &&
      f.random.percent(50))
    products = TypeAttr::get(type.getElementType());
  // Cross attention with as many keys as queries: the same rows, said twice.
  Value keys;
  if (!plan && !tree && f.random.percent(20))
    keys = offsets;
  auto op = AttentionOp::create(
      f.b, resultType, lseType, q, cache.operands, layer, offsets, sinks,
      /*out=*/Value(), /*out_lse=*/Value(), plan, keys, tree, mask,
      f.b.getF64FloatAttr(0.05 + f.random.uniform() * 0.5), softcap, products,
      cache.collection);
  f.define(op.getResult(), Role::Rows);
  if (op.getLse())
    f.define(op.getLse(), Role::Logarithms);
  return true;
}

/// How an operation names the keys or the values of a layer.
struct PartName {
  SmallVector<Value> cache, place;
  TypeAttr collection;
  CollectionType type;
};

PartName namePart(FunctionBuilder &f) {
  if (Value found = f.find(Role::Cache); found && f.random.percent(70))
    return {
        {found}, {}, {}, cast<CacheType>(found.getType()).getCollectionType()};
  auto handle = f.handle();
  CollectionType type = handle.getType();
  SmallVector<Value> components(unpack(f, handle)->getResults());
  Value layer = f.layer(type);
  Value part = f.index(f.random.below(type.getGeometry().planes()));
  return {components, {layer, part}, TypeAttr::get(type), type};
}

bool update(FunctionBuilder &f) {
  auto [cache, place, collection, type] = namePart(f);
  auto kind =
      f.random.oneOf({UpdateKind::Rope, UpdateKind::RmsNorm, UpdateKind::Add});
  if (type.getDim() == 1 && kind == UpdateKind::Rope)
    return false; // nothing rotates one element
  Value operand;
  FloatAttr eps;
  UnitAttr interleaved;
  switch (kind) {
  case UpdateKind::Rope:
    operand = f.operand(
        Role::Freqs,
        f.tensor({64, 2 * f.random.between(1, type.getDim() / 2)}, f.f32()));
    if (f.random.percent(50))
      interleaved = f.b.getUnitAttr();
    break;
  case UpdateKind::RmsNorm:
    operand = f.operand(
        Role::Sinks, f.tensor({f.random.between(1, type.getDim())}, f.f32()));
    eps = f.b.getF64FloatAttr(1e-5);
    break;
  case UpdateKind::Add:
    operand = rowsFor(f, type, f.tokens());
    break;
  }
  UpdateOp::create(f.b, cache, place, f.offsets(), operand,
                   UpdateKindAttr::get(f.b.getContext(), kind), interleaved,
                   eps, collection);
  return true;
}

bool load(FunctionBuilder &f) {
  auto [cache, place, collection, type] = namePart(f);
  // A dynamic size is max_lengths': in executable modules the host must know.
  int64_t room = f.executable || f.random.percent(30) ? f.random.between(1, 20)
                                                      : ShapedType::kDynamic;
  int64_t batch = f.sequences();
  bool own = elementBytes(type.getGeometry().dtype) > 1 && f.random.percent(50);
  auto dense = f.tensor({batch, room, headsOf(type), type.getDim()},
                        own ? type.getElementType() : f.f32());
  auto lengths = f.tensor({batch}, f.b.getI32Type());
  auto op =
      LoadOp::create(f.b, dense, lengths, cache, place, f.offsets(),
                     /*out=*/Value(), /*out_lengths=*/Value(), collection);
  f.define(op.getResult(), Role::Dense);
  f.define(op.getLengths(), Role::Lengths);
  return true;
}

bool print(FunctionBuilder &f) {
  auto handle = f.handle();
  CacheName cache = name(f, handle);
  Value layer = f.layer(handle.getType());
  PrintOp::create(f.b, cache.operands, layer,
                  f.random.percent(50) ? f.offsets() : Value(),
                  cache.collection);
  return true;
}

bool copyPages(FunctionBuilder &f) {
  auto handle = f.handle();
  UnpackOp opened = unpack(f, handle);
  // Scales are copied like blocks, together or not.
  Value scales = opened.getScales();
  Value buffer = scales && f.random.percent(30) ? scales : opened.getBlocks();
  auto ids = f.tensor({f.random.percent(70) ? ShapedType::kDynamic : 3},
                      f.b.getI32Type());
  Value source = f.operand(Role::Pages, ids);
  Value destination = f.operand(Role::Pages, ids);
  Value layer;
  if (f.random.percent(50))
    // A layer of the page, of which there are fewer than of the collection.
    layer =
        f.index(f.random.below(handle.getType().getGeometry().layersPerPage()));
  CopyPagesOp::create(f.b, buffer, source, destination, layer,
                      handle.getType().getLayout());
  return true;
}

const Production productions[] = {
    {"fetch", 4, fetch},
    {"unpack", 3, unpackOne},
    {"key_cache", 3, part<KeyCacheOp>},
    {"value_cache", 3, part<ValueCacheOp>},
    {"cache_lengths", 3, cacheLengths},
    {"max_lengths", 2, maxLengths},
    {"advance", 6, advance},
    {"positions", 6, positions},
    {"row_offsets", 3, rowOffsets},
    {"store", 14, store},
    {"attention", 14, attention},
    {"update", 5, update},
    {"plan", 2, plan},
    {"load", 6, load},
    {"print", 3, print, /*executable=*/false},
    {"copy_pages", 5, copyPages},
};
} // namespace

ArrayRef<Production> kv::fuzz::cacheProductions() { return productions; }
