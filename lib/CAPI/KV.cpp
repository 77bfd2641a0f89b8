//===- KV.cpp - The dialect from C ----------------------------------------===//

#include "kv-c/KV.h"

#include "kv/Dialect/KV.h"
#include "kv/Passes/Passes.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(KV, kv, kv::KVDialect)

void mlirRegisterKVPasses(void) {
  kv::registerKVPasses();
  kv::registerPipelines();
}

template <typename T> static T as(MlirType type) {
  return llvm::cast<T>(unwrap(type));
}
template <typename T> static T as(MlirAttribute attribute) {
  return llvm::cast<T>(unwrap(attribute));
}

bool mlirTypeIsAKVCollection(MlirType type) {
  return llvm::isa<kv::CollectionType>(unwrap(type));
}

MlirType mlirKVCollectionTypeGetChecked(MlirLocation location,
                                        const MlirKVGeometry *geometry) {
  Location at = unwrap(location);
  auto strategy = kv::symbolizeStrategy(geometry->strategy);
  auto layout = kv::symbolizeLayout(geometry->layout);
  if (!strategy || !layout) {
    emitError(at) << "strategy is " << geometry->strategy << ", layout is "
                  << geometry->layout << ", allowed: 0 to 2";
    return {nullptr};
  }
  auto scale = llvm::cast_if_present<kv::ScaleAttr>(unwrap(geometry->scale));
  return wrap(static_cast<Type>(kv::CollectionType::getChecked(
      [&] { return emitError(at); }, at.getContext(), *strategy,
      unwrap(geometry->elementType), geometry->layers, geometry->heads,
      geometry->dim, geometry->page, geometry->vDim, scale, *layout,
      geometry->window, geometry->pageLayers)));
}

MlirKVGeometry mlirKVCollectionTypeGetGeometry(MlirType type) {
  auto of = as<kv::CollectionType>(type);
  return {static_cast<int32_t>(of.getStrategy()),
          static_cast<int32_t>(of.getLayout()),
          wrap(of.getElementType()),
          of.getLayers(),
          of.getHeads(),
          of.getDim(),
          of.getPage(),
          of.getVDim(),
          wrap(static_cast<Attribute>(of.getScale())),
          of.getWindow(),
          of.getPageLayers()};
}

intptr_t mlirKVCollectionTypeGetNumComponents(MlirType type) {
  return as<kv::CollectionType>(type).getComponentTypes().size();
}

MlirType mlirKVCollectionTypeGetComponent(MlirType type, intptr_t index) {
  return wrap(as<kv::CollectionType>(type).getComponentTypes()[index]);
}

bool mlirTypeIsAKVCache(MlirType type) {
  return llvm::isa<kv::CacheType>(unwrap(type));
}

MlirType mlirKVCacheTypeGet(MlirType collection) {
  return wrap(static_cast<Type>(
      kv::CacheType::get(as<kv::CollectionType>(collection))));
}

MlirType mlirKVCacheTypeGetCollection(MlirType type) {
  return wrap(static_cast<Type>(as<kv::CacheType>(type).getCollectionType()));
}

bool mlirTypeIsAKVQuant(MlirType type) {
  return llvm::isa<kv::QuantType>(unwrap(type));
}

MlirType mlirKVQuantTypeGet(MlirContext context, MlirStringRef format) {
  auto known = kv::symbolizeQuantFormat(unwrap(format));
  return known ? wrap(static_cast<Type>(
                     kv::QuantType::get(unwrap(context), *known)))
               : MlirType{nullptr};
}

MlirStringRef mlirKVQuantTypeGetFormat(MlirType type) {
  return wrap(kv::stringifyQuantFormat(as<kv::QuantType>(type).getFormat()));
}

bool mlirAttributeIsAKVMask(MlirAttribute attribute) {
  return llvm::isa<kv::MaskAttr>(unwrap(attribute));
}

MlirAttribute mlirKVMaskAttrGetChecked(MlirLocation location,
                                       MlirStringRef kind, int64_t window) {
  Location at = unwrap(location);
  auto known = kv::symbolizeMaskKind(unwrap(kind));
  if (!known) {
    emitError(at) << "there is no mask '" << unwrap(kind) << "'";
    return {nullptr};
  }
  return wrap(static_cast<Attribute>(kv::MaskAttr::getChecked(
      [&] { return emitError(at); }, at.getContext(), *known, window)));
}

MlirStringRef mlirKVMaskAttrGetKind(MlirAttribute attribute) {
  return wrap(kv::stringifyMaskKind(as<kv::MaskAttr>(attribute).getKind()));
}

int64_t mlirKVMaskAttrGetWindow(MlirAttribute attribute) {
  return as<kv::MaskAttr>(attribute).getWindow();
}

bool mlirAttributeIsAKVScale(MlirAttribute attribute) {
  return llvm::isa<kv::ScaleAttr>(unwrap(attribute));
}

MlirAttribute mlirKVScaleAttrGet(MlirType type, int64_t group) {
  Type of = unwrap(type);
  return wrap(
      static_cast<Attribute>(kv::ScaleAttr::get(of.getContext(), of, group)));
}

MlirType mlirKVScaleAttrGetType(MlirAttribute attribute) {
  return wrap(as<kv::ScaleAttr>(attribute).getType());
}

int64_t mlirKVScaleAttrGetGroup(MlirAttribute attribute) {
  return as<kv::ScaleAttr>(attribute).getGroup();
}
