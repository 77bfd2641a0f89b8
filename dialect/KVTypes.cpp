//===- KVTypes.cpp - Types and attributes ---------------------------------===//

#include "kv/Dialect/KV.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace kv;

static_assert((int)Strategy::Paged == (int)CacheStrategy::Paged &&
                  (int)Strategy::Continuous == (int)CacheStrategy::Continuous &&
                  (int)Strategy::Recurrent == (int)CacheStrategy::Recurrent,
              "the dialect's strategies are the ABI's");
static_assert((int)Layout::NHD == (int)CacheLayout::NHD &&
                  (int)Layout::HND == (int)CacheLayout::HND &&
                  (int)Layout::CPU == (int)CacheLayout::CPU,
              "the dialect's layouts are the ABI's");

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

Type kv::typeOf(MLIRContext *context, KvDType dtype) {
  switch (dtype) {
  case KV_DTYPE_F32:
    return Float32Type::get(context);
  case KV_DTYPE_F16:
    return Float16Type::get(context);
  case KV_DTYPE_BF16:
    return BFloat16Type::get(context);
  case KV_DTYPE_F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case KV_DTYPE_F8E5M2:
    return Float8E5M2Type::get(context);
  case KV_DTYPE_F8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case KV_DTYPE_I8:
    return IntegerType::get(context, 8);
  case KV_DTYPE_I32:
    return IntegerType::get(context, 32);
  case KV_DTYPE_I64:
    return IntegerType::get(context, 64);
  }
  llvm_unreachable("a KvDType of DTypes.def");
}

std::optional<KvDType> kv::dtypeOf(Type type) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  if (type == typeOf(type.getContext(), KV_DTYPE_##Name))                      \
    return KV_DTYPE_##Name;
#include "kv/ABI/DTypes.def"
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Geometry: what a collection and a cache have in common
//===----------------------------------------------------------------------===//

/// The parameters as plain data; null types and unknown ones are the caller's
/// to exclude.
static CacheGeometry geometryOf(Strategy strategy, KvDType dtype,
                                int64_t layers, int64_t heads, int64_t dim,
                                int64_t page, int64_t vDim, ScaleAttr scale,
                                Layout layout, int64_t window,
                                int64_t pageLayers) {
  CacheGeometry geometry;
  geometry.strategy = static_cast<CacheStrategy>(strategy);
  geometry.dtype = dtype;
  geometry.layers = layers;
  geometry.heads =
      ShapedType::isDynamic(heads) ? CacheGeometry::Unknown : heads;
  geometry.dim = dim;
  geometry.page = page;
  geometry.vDim = vDim;
  geometry.layout = static_cast<CacheLayout>(layout);
  if (scale) {
    geometry.scaleGroup = scale.getGroup();
    geometry.scaleDType = dtypeOf(scale.getType()).value_or(KV_DTYPE_I64);
  }
  geometry.window = window;
  geometry.pageLayers = pageLayers;
  return geometry;
}

static LogicalResult
verifyGeometry(function_ref<InFlightDiagnostic()> emitError, StringRef what,
               Strategy strategy, Type elementType, int64_t layers,
               int64_t heads, int64_t dim, int64_t page, int64_t vDim,
               ScaleAttr scale, Layout layout, int64_t window,
               int64_t pageLayers) {
  // CacheGeometry means "none" by a group of 0, and "unknown heads" by -1.
  if (scale && scale.getGroup() < 1)
    return emitError() << what << ": 'group' must be positive, not "
                       << scale.getGroup();
  if (heads < 0 && !ShapedType::isDynamic(heads))
    return emitError() << what << ": 'heads' must be positive, not " << heads;
  // i64 stands for every type that is no KvDType: no cache may have it.
  KvDType dtype = dtypeOf(elementType).value_or(KV_DTYPE_I64);
  std::string problem = geometryOf(strategy, dtype, layers, heads, dim, page,
                                   vDim, scale, layout, window, pageLayers)
                            .problem();
  if (!problem.empty())
    return emitError() << what << ": " << problem;
  return success();
}

LogicalResult
CollectionType::verify(function_ref<InFlightDiagnostic()> emitError,
                       Strategy strategy, Type elementType, int64_t layers,
                       int64_t heads, int64_t dim, int64_t page, int64_t vDim,
                       ScaleAttr scale, Layout layout, int64_t window,
                       int64_t pageLayers) {
  return verifyGeometry(emitError, "collection", strategy, elementType, layers,
                        heads, dim, page, vDim, scale, layout, window,
                        pageLayers);
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Strategy strategy, Type elementType,
                                int64_t layers, int64_t heads, int64_t dim,
                                int64_t page, int64_t vDim, ScaleAttr scale,
                                Layout layout, int64_t window,
                                int64_t pageLayers) {
  if (strategy == Strategy::Recurrent)
    return emitError() << "cache: a recurrent collection has no keys and no "
                          "values, only states";
  return verifyGeometry(emitError, "cache", strategy, elementType, layers,
                        heads, dim, page, vDim, scale, layout, window,
                        pageLayers);
}

template <typename GeometryType>
static CacheGeometry geometryOf(GeometryType type) {
  return geometryOf(type.getStrategy(), *dtypeOf(type.getElementType()),
                    type.getLayers(), type.getHeads(), type.getDim(),
                    type.getPage(), type.getVDim(), type.getScale(),
                    type.getLayout(), type.getWindow(), type.getPageLayers());
}

template <typename GeometryType>
static GeometryType typeOf(MLIRContext *context, const CacheGeometry &of) {
  ScaleAttr scale;
  if (of.hasScales())
    scale = ScaleAttr::get(context, kv::typeOf(context, of.scaleDType),
                           of.scaleGroup);
  return GeometryType::get(
      context, static_cast<Strategy>(of.strategy),
      kv::typeOf(context, of.dtype), of.layers,
      of.heads == CacheGeometry::Unknown ? ShapedType::kDynamic : of.heads,
      of.dim, of.page, of.vDim, scale, static_cast<Layout>(of.layout),
      of.window, of.pageLayers);
}

CacheGeometry CollectionType::getGeometry() const { return geometryOf(*this); }
CacheGeometry CacheType::getGeometry() const { return geometryOf(*this); }

CollectionType CollectionType::get(MLIRContext *context,
                                   const CacheGeometry &geometry) {
  return ::typeOf<CollectionType>(context, geometry);
}

CacheType CacheType::get(MLIRContext *context, const CacheGeometry &geometry) {
  return ::typeOf<CacheType>(context, geometry);
}

CacheType CacheType::get(CollectionType of) {
  return get(of.getContext(), of.getGeometry());
}

CollectionType CacheType::getCollectionType() {
  return CollectionType::get(getContext(), getGeometry());
}

//===----------------------------------------------------------------------===//
// Syntax: <strategy, element type, name = value ...>
//===----------------------------------------------------------------------===//

namespace {
/// The parameters after the element type, in any order, each once.
class GeometryParser {
public:
  explicit GeometryParser(AsmParser &parser) : parser(parser) {}

  template <typename GeometryType> Type parse() {
    SMLoc loc = parser.getCurrentLocation();
    FailureOr<Strategy> parsed;
    Type elementType;
    if (parser.parseLess() ||
        failed(parsed = FieldParser<Strategy>::parse(parser)) ||
        parser.parseComma() || parser.parseType(elementType))
      return Type();
    strategy = *parsed;
    while (succeeded(parser.parseOptionalComma()))
      if (failed(parseParameter()))
        return Type();
    if (failed(requireAll()) || parser.parseGreater())
      return Type();
    return GeometryType::getChecked([&] { return parser.emitError(loc); },
                                    parser.getContext(), strategy, elementType,
                                    *layers, latent ? 1 : *heads, *dim, *page,
                                    vDim.value_or(0), scale, layout,
                                    window.value_or(0), pageLayers.value_or(0));
  }

private:
  StringRef pageName() const {
    return strategy == Strategy::Continuous ? "max_seq" : "page";
  }

  ParseResult parseParameter() {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(loc) << "'" << name << "' is given twice";
    seen.push_back(name);
    if (name == "latent") {
      latent = true;
      return success();
    }
    if (parser.parseEqual())
      return failure();
    if (name == "scale")
      return parser.parseAttribute(scale);
    if (name == "layout") {
      FailureOr<Layout> parsed = FieldParser<Layout>::parse(parser);
      if (failed(parsed))
        return failure();
      layout = *parsed;
      return success();
    }
    if (name == "heads" && succeeded(parser.parseOptionalQuestion())) {
      heads = ShapedType::kDynamic;
      return success();
    }
    std::optional<int64_t> *number = name == "layers"        ? &layers
                                     : name == "heads"       ? &heads
                                     : name == "dim"         ? &dim
                                     : name == pageName()    ? &page
                                     : name == "v_dim"       ? &vDim
                                     : name == "window"      ? &window
                                     : name == "page_layers" ? &pageLayers
                                                             : nullptr;
    if (!number)
      return parser.emitError(loc)
             << "no parameter '" << name << "' in a "
             << stringifyStrategy(strategy)
             << " cache, only layers, heads, latent, dim, v_dim, " << pageName()
             << ", scale, layout, window, page_layers";
    return parser.parseInteger(number->emplace());
  }

  ParseResult requireAll() {
    auto missing = [&](StringRef name) {
      return parser.emitError(parser.getCurrentLocation())
             << "'" << name << "' is missing";
    };
    auto fail = [&](const Twine &message) {
      return parser.emitError(parser.getCurrentLocation(), message);
    };
    if (!layers)
      return missing("layers");
    if (latent && heads)
      return fail("a latent cache has no 'heads'");
    if (!latent && !heads)
      return missing("heads");
    if (!dim)
      return missing("dim");
    if (latent && !vDim)
      return missing("v_dim");
    if (latent && *vDim == 0)
      return fail("'v_dim' must be positive, not 0");
    if (!latent && vDim)
      return fail("only a latent cache has a 'v_dim'");
    if (!page)
      return missing(pageName());
    // Who means none says nothing.
    if (window && *window == 0)
      return fail("'window' must be positive, not 0");
    if (pageLayers && *pageLayers == 0)
      return fail("'page_layers' must be positive, not 0");
    return success();
  }

  AsmParser &parser;
  Strategy strategy = Strategy::Paged;
  std::optional<int64_t> layers, heads, dim, page, vDim, window, pageLayers;
  bool latent = false;
  ScaleAttr scale;
  Layout layout = Layout::NHD;
  SmallVector<StringRef> seen;
};
} // namespace

template <typename GeometryType>
static void printGeometry(GeometryType type, AsmPrinter &p) {
  bool latent = type.getVDim() != 0;
  p << '<' << type.getStrategy() << ", " << type.getElementType()
    << ", layers = " << type.getLayers();
  if (latent)
    p << ", latent";
  else if (ShapedType::isDynamic(type.getHeads()))
    p << ", heads = ?";
  else
    p << ", heads = " << type.getHeads();
  p << ", dim = " << type.getDim();
  if (latent)
    p << ", v_dim = " << type.getVDim();
  p << ", " << type.getGeometry().pageName() << " = " << type.getPage();
  if (type.getScale())
    p << ", scale = " << type.getScale();
  if (type.getLayout() != Layout::NHD)
    p << ", layout = " << type.getLayout();
  if (type.getWindow())
    p << ", window = " << type.getWindow();
  if (type.getPageLayers())
    p << ", page_layers = " << type.getPageLayers();
  p << '>';
}

Type CollectionType::parse(AsmParser &parser) {
  return GeometryParser(parser).parse<CollectionType>();
}
void CollectionType::print(AsmPrinter &p) const { printGeometry(*this, p); }
Type CacheType::parse(AsmParser &parser) {
  return GeometryParser(parser).parse<CacheType>();
}
void CacheType::print(AsmPrinter &p) const { printGeometry(*this, p); }

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

SmallVector<Type> CollectionType::getComponentTypes() {
  SmallVector<Type> types;
  for (const CacheComponent &component : getGeometry().components()) {
    SmallVector<int64_t> shape;
    for (const ComponentDim &dim : component.dims)
      shape.push_back(dim.symbol ? ShapedType::kDynamic : dim.size);
    Type element = kv::typeOf(getContext(), component.dtype);
    // A component that a graph may write is a buffer from the start.
    if (component.isMutable)
      types.push_back(MemRefType::get(shape, element));
    else
      types.push_back(RankedTensorType::get(shape, element));
  }
  return types;
}

SmallVector<StringRef> CollectionType::getComponentNames() {
  return llvm::map_to_vector(getGeometry().components(),
                             [](const CacheComponent &component) -> StringRef {
                               return component.name;
                             });
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

LogicalResult MaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               MaskKind kind, int64_t window) {
  bool windowed = kind != MaskKind::None && kind != MaskKind::Causal;
  if (windowed && window <= 0)
    return emitError() << "mask '" << stringifyMaskKind(kind)
                       << "' needs a positive window, not " << window;
  if (!windowed && window != 0)
    return emitError() << "mask '" << stringifyMaskKind(kind)
                       << "' takes no window";
  return success();
}
