//===- Context.h - What a compiled graph is called with ---------*- C++ -*-===//
//
// The binary interface between generated code and the runtime. Generated code
// reads only `functions` and `status` of a KvContext, and passes the context to
// every function that it calls.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_CONTEXT_H
#define KV_ABI_CONTEXT_H

#include "kv/ABI/TensorView.h"

/// Raised by every change of this interface, except for rows that are appended
/// to Symbols.def.
#define KV_ABI_VERSION 2

typedef struct KvContext KvContext;

enum KvStatus {
  KV_STATUS_OK = 0,
  KV_STATUS_INVALID_ARGUMENT = 1,
  KV_STATUS_OUT_OF_RANGE = 2,
  KV_STATUS_OUT_OF_MEMORY = 3,
  KV_STATUS_UNSUPPORTED = 4,
  KV_STATUS_INTERNAL = 5
};

/// Masks: which keys a query sees. The query is at position p, the key at
/// position k, both counted from the beginning of the sequence; W is the
/// window.
enum KvMask {
  KV_MASK_NONE = 0,              // every cached key
  KV_MASK_CAUSAL = 1,            // k <= p
  KV_MASK_SLIDING = 2,           // p - W < k <= p
  KV_MASK_CHUNKED = 3,           // k / W == p / W
  KV_MASK_SLIDING_NONCAUSAL = 4, // p - W < k
  KV_MASK_CHUNKED_CAUSAL = 5     // k / W == p / W and k <= p
};

/// Added to a mask: the step's last tokens are nodes of trees (Trees.h).
enum { KV_MASK_TREE = 16 };

/// Added to the mask of a plan and its attentions on a device: their products
/// are of f8E4M3FN (docs/reference/products.md).
enum { KV_MASK_EIGHT_BIT_PRODUCTS = 32 };

/// The computations of the function `pair`, element by element.
enum KvPair {
  KV_PAIR_ADD = 0,     // a + b
  KV_PAIR_SILU_MUL = 1 // a / (1 + exp(-a)) * b
};

/// Flags of the function `shares`, which are added: shares are divided by their
/// sum; shares are logistic functions of the logits, not parts of a softmax.
enum { KV_SHARES_NORMALISED = 1, KV_SHARES_SIGMOID = 2 };

/// The changes of a row by the function `update`.
enum KvUpdate { KV_UPDATE_ROPE = 0, KV_UPDATE_RMS_NORM = 1, KV_UPDATE_ADD = 2 };

/// The most dimension symbols, names of dynamic sizes, that one entry may have.
#define KV_MAX_DIMENSION_SYMBOLS 256

/// The demands of an entry on one argument. sizes[i] >= 0 is a static size.
/// sizes[i] = -1 - s is the dimension symbol s, less than
/// KV_MAX_DIMENSION_SYMBOLS. The first argument with this symbol gives it a
/// value, and all later arguments must have the same size there. `dtype` is a
/// KvDType. `name` is NUL-terminated, and cut to fit.
typedef struct KvArgumentSpec {
  int64_t dtype;
  int64_t rank;
  int64_t sizes[KV_MAX_RANK];
  char name[80];
} KvArgumentSpec;

/// The body of a parallelFor: executes the iterations [lo, hi).
typedef void (*KvParallelBody)(KvContext *ctx, void *env, int64_t lo,
                               int64_t hi);

/// The function kv_entry_<name>, which executes an entry. `args` holds `count`
/// views: those of the inputs, then those of the buffers for results. The
/// caller owns all of them. Returns a KvStatus.
typedef int32_t (*KvEntry)(KvContext *ctx, const KvTensorView *args,
                           int32_t count);

#define KV_C_Void void
#define KV_C_I32 int32_t
#define KV_C_I64 int64_t
#define KV_C_F32 float
#define KV_C_Ctx KvContext *
#define KV_C_View const KvTensorView *
#define KV_C_Pool KV_C_View
#define KV_C_PoolOut KV_C_View
#define KV_C_Out KV_C_View
#define KV_C_OutAny KV_C_View
#define KV_C_OutAsWeight KV_C_View
#define KV_C_OutAsInput KV_C_View
#define KV_C_Ptr void *

/// KV_C_PARAMS(Ctx, View, I64) -> KvContext *, const KvTensorView *, int64_t
#define KV_C_PARAMS_1(a) KV_C_##a
#define KV_C_PARAMS_2(a, ...) KV_C_##a, KV_C_PARAMS_1(__VA_ARGS__)
#define KV_C_PARAMS_3(a, ...) KV_C_##a, KV_C_PARAMS_2(__VA_ARGS__)
#define KV_C_PARAMS_4(a, ...) KV_C_##a, KV_C_PARAMS_3(__VA_ARGS__)
#define KV_C_PARAMS_5(a, ...) KV_C_##a, KV_C_PARAMS_4(__VA_ARGS__)
#define KV_C_PARAMS_6(a, ...) KV_C_##a, KV_C_PARAMS_5(__VA_ARGS__)
#define KV_C_PARAMS_7(a, ...) KV_C_##a, KV_C_PARAMS_6(__VA_ARGS__)
#define KV_C_PARAMS_8(a, ...) KV_C_##a, KV_C_PARAMS_7(__VA_ARGS__)
#define KV_C_PARAMS_9(a, ...) KV_C_##a, KV_C_PARAMS_8(__VA_ARGS__)
#define KV_C_PARAMS_10(a, ...) KV_C_##a, KV_C_PARAMS_9(__VA_ARGS__)
#define KV_C_PARAMS_11(a, ...) KV_C_##a, KV_C_PARAMS_10(__VA_ARGS__)
#define KV_C_PARAMS_12(a, ...) KV_C_##a, KV_C_PARAMS_11(__VA_ARGS__)
#define KV_C_PARAMS_13(a, ...) KV_C_##a, KV_C_PARAMS_12(__VA_ARGS__)
#define KV_C_PARAMS_14(a, ...) KV_C_##a, KV_C_PARAMS_13(__VA_ARGS__)
#define KV_C_PARAMS_15(a, ...) KV_C_##a, KV_C_PARAMS_14(__VA_ARGS__)
#define KV_C_PARAMS_16(a, ...) KV_C_##a, KV_C_PARAMS_15(__VA_ARGS__)
#define KV_C_PARAMS_17(a, ...) KV_C_##a, KV_C_PARAMS_16(__VA_ARGS__)
#define KV_C_PARAMS_18(a, ...) KV_C_##a, KV_C_PARAMS_17(__VA_ARGS__)
#define KV_C_PARAMS_19(a, ...) KV_C_##a, KV_C_PARAMS_18(__VA_ARGS__)
#define KV_C_SELECT(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13,    \
                    _14, _15, _16, _17, _18, _19, N, ...)                      \
  N
#define KV_C_PARAMS(...)                                                       \
  KV_C_SELECT(__VA_ARGS__, KV_C_PARAMS_19, KV_C_PARAMS_18, KV_C_PARAMS_17,     \
              KV_C_PARAMS_16, KV_C_PARAMS_15, KV_C_PARAMS_14, KV_C_PARAMS_13,  \
              KV_C_PARAMS_12, KV_C_PARAMS_11, KV_C_PARAMS_10, KV_C_PARAMS_9,   \
              KV_C_PARAMS_8, KV_C_PARAMS_7, KV_C_PARAMS_6, KV_C_PARAMS_5,      \
              KV_C_PARAMS_4, KV_C_PARAMS_3, KV_C_PARAMS_2,                     \
              KV_C_PARAMS_1)(__VA_ARGS__)

/// The functions of Symbols.def, in its order.
typedef struct KvFunctionTable {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  KV_C_##Result (*Name)(KV_C_PARAMS(__VA_ARGS__));
#include "kv/ABI/Symbols.def"
} KvFunctionTable;

/// The state that an execution of an entry needs. With one context, only one
/// thread executes an entry at a time.
struct KvContext {
  uint32_t abiVersion;              // KV_ABI_VERSION of the runtime
  int32_t status;                   // sticky: the first KvStatus recorded
  const KvFunctionTable *functions; // never null
  void *runtime;                    // the runtime's own state
  void *stream;                     // the device's stream; null on a CPU
};

#ifdef __cplusplus
static_assert(sizeof(KvContext) == 32, "KvContext is part of the ABI");
static_assert(sizeof(KvArgumentSpec) == 160, "KvArgumentSpec is ABI");
#endif

#endif // KV_ABI_CONTEXT_H
