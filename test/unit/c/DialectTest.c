/*===- DialectTest.c - The dialect from C -----------------------*- C -*-===*/

#include "kv-c/KV.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* Text that MLIR prints, of at most this many bytes. */
typedef struct {
  char bytes[1 << 20];
  size_t size;
} Text;

static Text text;

static void append(MlirStringRef part, void *data) {
  Text *to = data;
  if (to->size + part.length < sizeof to->bytes) {
    memcpy(to->bytes + to->size, part.data, part.length);
    to->size += part.length;
    to->bytes[to->size] = 0;
  }
}

static const char *printType(MlirType type) {
  text.size = 0;
  mlirTypePrint(type, append, &text);
  return text.bytes;
}

static const char *printAttribute(MlirAttribute attribute) {
  text.size = 0;
  mlirAttributePrint(attribute, append, &text);
  return text.bytes;
}

static MlirLogicalResult keepError(MlirDiagnostic diagnostic, void *data) {
  text.size = 0;
  mlirDiagnosticPrint(diagnostic, append, data);
  return mlirLogicalResultSuccess();
}

static MlirStringRef string(const char *of) {
  return mlirStringRefCreateFromCString(of);
}

static void testCollections(MlirContext context) {
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirAttribute none = {NULL};
  MlirKVGeometry geometry = {
      0, 0, mlirBF16TypeGet(context), 30, 3, 64, 128, 0, none, 0, 0};
  MlirType type = mlirKVCollectionTypeGetChecked(here, &geometry);
  EXPECT(mlirTypeIsAKVCollection(type));
  EXPECT(mlirTypeEqual(
      type, mlirTypeParseGet(context,
                             string("!kv.collection<paged, bf16, layers = 30, "
                                    "heads = 3, dim = 64, page = 128>"))));
  MlirKVGeometry back = mlirKVCollectionTypeGetGeometry(type);
  EXPECT(back.layers == 30 && back.heads == 3 && back.dim == 64 &&
         back.page == 128 && back.vDim == 0 && back.window == 0 &&
         back.pageLayers == 0 && back.strategy == 0 && back.layout == 0);
  EXPECT(mlirTypeEqual(back.elementType, mlirBF16TypeGet(context)));
  EXPECT(mlirAttributeIsNull(back.scale));
  EXPECT(mlirKVCollectionTypeGetNumComponents(type) == 4);
  EXPECT(strcmp(printType(mlirKVCollectionTypeGetComponent(type, 0)),
                "memref<?x2x30x128x3x64xbf16>") == 0);

  MlirType cache = mlirKVCacheTypeGet(type);
  EXPECT(mlirTypeIsAKVCache(cache) && !mlirTypeIsAKVCollection(cache));
  EXPECT(mlirTypeEqual(mlirKVCacheTypeGetCollection(cache), type));

  geometry.elementType = mlirIntegerTypeGet(context, 8);
  geometry.layout = 1;
  EXPECT(mlirTypeIsNull(mlirKVCollectionTypeGetChecked(here, &geometry)));
  EXPECT(strstr(text.bytes, "scale") != NULL);
  geometry.scale = mlirKVScaleAttrGet(mlirF32TypeGet(context), 64);
  type = mlirKVCollectionTypeGetChecked(here, &geometry);
  EXPECT(mlirTypeIsAKVCollection(type));
  back = mlirKVCollectionTypeGetGeometry(type);
  EXPECT(mlirAttributeIsAKVScale(back.scale) && back.layout == 1);
  EXPECT(mlirKVScaleAttrGetGroup(back.scale) == 64);
  EXPECT(mlirTypeEqual(mlirKVScaleAttrGetType(back.scale),
                       mlirF32TypeGet(context)));
  geometry.strategy = 7;
  EXPECT(mlirTypeIsNull(mlirKVCollectionTypeGetChecked(here, &geometry)));
  EXPECT(strcmp(text.bytes, "strategy is 7, layout is 1, allowed: 0 to 2") ==
         0);
}

static void testOthers(MlirContext context) {
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirType quant = mlirKVQuantTypeGet(context, string("q4_0"));
  EXPECT(mlirTypeIsAKVQuant(quant));
  EXPECT(strcmp(printType(quant), "!kv.quant<q4_0>") == 0);
  EXPECT(mlirStringRefEqual(mlirKVQuantTypeGetFormat(quant), string("q4_0")));
  EXPECT(mlirTypeIsNull(mlirKVQuantTypeGet(context, string("q3"))));

  MlirAttribute mask = mlirKVMaskAttrGetChecked(here, string("sliding"), 128);
  EXPECT(mlirAttributeIsAKVMask(mask));
  EXPECT(strcmp(printAttribute(mask), "#kv.mask<sliding = 128>") == 0);
  EXPECT(mlirStringRefEqual(mlirKVMaskAttrGetKind(mask), string("sliding")));
  EXPECT(mlirKVMaskAttrGetWindow(mask) == 128);
  EXPECT(mlirAttributeIsNull(
      mlirKVMaskAttrGetChecked(here, string("sliding"), 0)));
  EXPECT(mlirAttributeIsNull(mlirKVMaskAttrGetChecked(here, string("odd"), 0)));
  EXPECT(strcmp(text.bytes, "there is no mask 'odd'") == 0);
}

static const char *const Module =
    "!kv = !kv.collection<paged, bf16, layers = 1, heads = 3, dim = 64, page = "
    "16>\n"
    "func.func @attend(%q: tensor<?x9x64xf32> {kv.name = \"q\", kv.dims = "
    "[\"T\"]},\n"
    "    %rows: tensor<?xi32> {kv.name = \"row_offsets\", kv.dims = "
    "[\"offsets\"]},\n"
    "    %kv: !kv {kv.name = \"kv\"})\n"
    "    -> (tensor<?x9x64xf32> {kv.name = \"o\", kv.dims = [\"T\"]})\n"
    "    attributes {kv.entry} {\n"
    "  %layer = arith.constant 0 : index\n"
    "  %o = kv.attention %q in %kv[%layer] rows %rows mask <causal> scale "
    "0.125\n"
    "    : tensor<?x9x64xf32> in !kv, tensor<?xi32> -> tensor<?x9x64xf32>\n"
    "  return %o : tensor<?x9x64xf32>\n"
    "}\n";

static void testPasses(MlirContext context) {
  MlirModule module = mlirModuleCreateParse(context, string(Module));
  EXPECT(!mlirModuleIsNull(module));
  MlirPassManager passes = mlirPassManagerCreate(context);
  EXPECT(mlirLogicalResultIsSuccess(mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes),
      string("builtin.module(kv-expand-collections)"), append, &text)));
  MlirOperation operation = mlirModuleGetOperation(module);
  EXPECT(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, operation)));
  text.size = 0;
  mlirOperationPrint(operation, append, &text);
  EXPECT(strstr(text.bytes, "kv.fetch") != NULL);
  EXPECT(strstr(text.bytes, "kv.attention") != NULL);
  mlirPassManagerDestroy(passes);
  mlirModuleDestroy(module);
}

/* The function of the file README.md; empty if there is none. */
static MlirStringRef readme(const char *path) {
  static char page[1 << 16];
  FILE *file = fopen(path, "r");
  page[file ? fread(page, 1, sizeof page - 1, file) : 0] = 0;
  if (file)
    fclose(file);
  char *begin = strstr(page, "!kv = !kv.collection");
  char *end = begin ? strstr(begin, "```") : NULL;
  return end ? mlirStringRefCreate(begin, end - begin) : string("");
}

static void set(MlirOperationState *state, const char *name,
                MlirAttribute attribute) {
  MlirContext context = mlirAttributeGetContext(attribute);
  MlirNamedAttribute named = {mlirIdentifierGet(context, string(name)),
                              attribute};
  mlirOperationStateAddAttributes(state, 1, &named);
}

static MlirAttribute sizes(MlirContext context, intptr_t count,
                           const int32_t *values) {
  return mlirDenseI32ArrayGet(context, count, values);
}

/* README's function, operation by operation, is what its text says. */
static void testBuilding(MlirContext context, MlirStringRef wanted) {
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirAttribute none = {NULL};
  MlirKVGeometry geometry = {
      0, 0, mlirBF16TypeGet(context), 30, 3, 64, 128, 0, none, 0, 0};
  MlirType rows = mlirTypeParseGet(context, string("tensor<?x9x64xf32>"));
  MlirType keys = mlirTypeParseGet(context, string("tensor<?x3x64xf32>"));
  MlirType types[] = {rows,
                      keys,
                      keys,
                      mlirKVCollectionTypeGetChecked(here, &geometry),
                      mlirIndexTypeGet(context),
                      mlirTypeParseGet(context, string("tensor<?xi32>"))};
  MlirLocation places[] = {here, here, here, here, here, here};
  MlirBlock body = mlirBlockCreate(6, types, places);
  MlirValue arguments[6];
  for (intptr_t i = 0; i < 6; ++i)
    arguments[i] = mlirBlockGetArgument(body, i);

  MlirOperationState store = mlirOperationStateGet(string("kv.store"), here);
  mlirOperationStateAddOperands(&store, 5, arguments + 1);
  const int32_t each[] = {1, 1, 1, 1, 1};
  set(&store, "operandSegmentSizes", sizes(context, 5, each));
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&store));

  MlirOperationState attention =
      mlirOperationStateGet(string("kv.attention"), here);
  mlirOperationStateAddOperands(&attention, 1, arguments);
  mlirOperationStateAddOperands(&attention, 3, arguments + 3);
  mlirOperationStateAddResults(&attention, 1, &rows);
  const int32_t operands[] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, results[] = {1, 0};
  set(&attention, "operandSegmentSizes", sizes(context, 10, operands));
  set(&attention, "resultSegmentSizes", sizes(context, 2, results));
  set(&attention, "mask", mlirKVMaskAttrGetChecked(here, string("causal"), 0));
  set(&attention, "scale",
      mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), 0.125));
  MlirOperation made = mlirOperationCreate(&attention);
  mlirBlockAppendOwnedOperation(body, made);

  MlirOperationState end = mlirOperationStateGet(string("func.return"), here);
  MlirValue result = mlirOperationGetResult(made, 0);
  mlirOperationStateAddOperands(&end, 1, &result);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&end));

  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  MlirOperationState function =
      mlirOperationStateGet(string("func.func"), here);
  set(&function, "sym_name", mlirStringAttrGet(context, string("attend")));
  set(&function, "function_type",
      mlirTypeAttrGet(mlirFunctionTypeGet(context, 6, types, 1, &rows)));
  mlirOperationStateAddOwnedRegions(&function, 1, &region);
  MlirModule module = mlirModuleCreateEmpty(here);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&function));
  EXPECT(mlirOperationVerify(mlirModuleGetOperation(module)));

  static Text built;
  mlirOperationPrint(mlirModuleGetOperation(module), append, &built);
  MlirModule parsed = mlirModuleCreateParse(context, wanted);
  EXPECT(!mlirModuleIsNull(parsed));
  if (mlirModuleIsNull(parsed))
    return;
  text.size = 0;
  mlirOperationPrint(mlirModuleGetOperation(parsed), append, &text);
  EXPECT(strcmp(built.bytes, text.bytes) == 0);
  mlirModuleDestroy(parsed);
  mlirModuleDestroy(module);
}

/* DialectTest README.md */
int main(int argc, char **argv) {
  mlirRegisterKVPasses();
  MlirContext context = mlirContextCreate();
  MlirDialectHandle handle = mlirGetDialectHandle__kv__();
  EXPECT(
      mlirStringRefEqual(mlirDialectHandleGetNamespace(handle), string("kv")));
  EXPECT(!mlirDialectIsNull(mlirDialectHandleLoadDialect(handle, context)));
  mlirContextAttachDiagnosticHandler(context, keepError, &text, NULL);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__func__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__arith__(), context);
  testCollections(context);
  testOthers(context);
  testPasses(context);
  EXPECT(argc == 2);
  testBuilding(context, readme(argv[argc - 1]));
  mlirContextDestroy(context);
  if (failures == 0)
    printf("all as expected\n");
  return failures != 0;
}
