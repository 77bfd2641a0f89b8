//===- KV.h - The dialect from C --------------------------------*- C -*-===//
//
// For programs that use MLIR's C interface, mlir-c, and through it any
// language. Operations are built as there, by their names
// (mlirOperationCreate).
//
//===----------------------------------------------------------------------===//

#ifndef KV_C_KV_H
#define KV_C_KV_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// mlirGetDialectHandle__kv__.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(KV, kv);

/// Registers every pass and pipeline of kv-mlir, for
/// mlirParsePassPipeline("builtin.module(kv-cpu)").
MLIR_CAPI_EXPORTED void mlirRegisterKVPasses(void);

/// The parameters of !kv.collection and !kv.cache. Numbers of enumerations are
/// those of KVTypes.td.
typedef struct {
  int32_t strategy; // 0 paged, 1 continuous, 2 recurrent
  int32_t layout;   // 0 nhd, 1 hnd, 2 cpu
  MlirType elementType;
  int64_t layers;
  int64_t heads; // INT64_MIN: not known before sharding
  int64_t dim;
  int64_t page;        // tokens of a page, or of a continuous cache's slot
  int64_t vDim;        // of a latent cache; else 0
  MlirAttribute scale; // #kv.scale, or null
  int64_t window;      // 0: a query sees all tokens
  int64_t pageLayers;  // 0: a page holds all layers
} MlirKVGeometry;

MLIR_CAPI_EXPORTED bool mlirTypeIsAKVCollection(MlirType type);
/// Null, and an error at `location`, if the verifier refuses the parameters.
MLIR_CAPI_EXPORTED MlirType mlirKVCollectionTypeGetChecked(
    MlirLocation location, const MlirKVGeometry *geometry);
MLIR_CAPI_EXPORTED MlirKVGeometry
mlirKVCollectionTypeGetGeometry(MlirType type);
/// The types of the runtime inputs, in the order of kv.fetch's operands.
MLIR_CAPI_EXPORTED intptr_t mlirKVCollectionTypeGetNumComponents(MlirType type);
MLIR_CAPI_EXPORTED MlirType mlirKVCollectionTypeGetComponent(MlirType type,
                                                             intptr_t index);

MLIR_CAPI_EXPORTED bool mlirTypeIsAKVCache(MlirType type);
/// The keys or the values of one layer of a collection, and back.
MLIR_CAPI_EXPORTED MlirType mlirKVCacheTypeGet(MlirType collection);
MLIR_CAPI_EXPORTED MlirType mlirKVCacheTypeGetCollection(MlirType type);

/// Formats by their names, such as "q4_0".
MLIR_CAPI_EXPORTED bool mlirTypeIsAKVQuant(MlirType type);
/// Null if no format has this name.
MLIR_CAPI_EXPORTED MlirType mlirKVQuantTypeGet(MlirContext context,
                                               MlirStringRef format);
MLIR_CAPI_EXPORTED MlirStringRef mlirKVQuantTypeGetFormat(MlirType type);

/// Masks by their names, such as "causal" and "sliding"; `window` is 0 for
/// those without one.
MLIR_CAPI_EXPORTED bool mlirAttributeIsAKVMask(MlirAttribute attribute);
/// Null, and an error at `location`, if there is no such mask.
MLIR_CAPI_EXPORTED MlirAttribute mlirKVMaskAttrGetChecked(MlirLocation location,
                                                          MlirStringRef kind,
                                                          int64_t window);
MLIR_CAPI_EXPORTED MlirStringRef mlirKVMaskAttrGetKind(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t mlirKVMaskAttrGetWindow(MlirAttribute attribute);

MLIR_CAPI_EXPORTED bool mlirAttributeIsAKVScale(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirKVScaleAttrGet(MlirType type,
                                                    int64_t group);
MLIR_CAPI_EXPORTED MlirType mlirKVScaleAttrGetType(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t mlirKVScaleAttrGetGroup(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif

#endif // KV_C_KV_H
