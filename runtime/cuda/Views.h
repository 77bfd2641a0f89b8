//===- Views.h - Tensors as kernels take them -------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_VIEWS_H
#define KV_RUNTIME_CUDA_VIEWS_H

#include "Context.h"
#include "kv/Runtime/DType.h"

namespace kv::cuda {

/// One call of a row of Symbols.def: where its errors go.
struct Call {
  ExecutionContext::State &state;
  std::string_view name;

  Call(KvContext *context, std::string_view name)
      : state(ExecutionContext::State::of(context)), name(name) {}

  bool failed() const { return state.failed(); }
  template <class... Parts> void fail(KvStatus code, const Parts &...parts) {
    state.recordError(code, concat(name, ": ", parts...));
  }
  template <class... Parts> void unsupported(const Parts &...parts) {
    fail(KV_STATUS_UNSUPPORTED, parts...);
  }
  int multiprocessors() const {
    return Context::of(state).backend().info().multiprocessors;
  }
};

/// A tensor as rows at equal distances, as movers take it.
struct Rows {
  void *data;
  int64_t stride; // elements between rows
  int64_t count;
  int64_t width;
  int32_t type;
};

inline void *firstElement(const KvTensorView &view) {
  return static_cast<char *>(view.data) +
         view.offset * int64_t(dtypeBytes(static_cast<DType>(view.dtype)));
}

/// Distances, for a message: "strides [512, 64, 1]".
std::string strides(const KvTensorView &view);

/// The last dimension is a row. False, and an error in the call, where rows do
/// not lie so that a kernel can move them: chunks of 8 elements, aligned to 16
/// bytes, at equal distances.
bool rowsOf(Call &call, std::string_view argument, const KvTensorView &view,
            Rows &rows);

/// [tokens, heads, dim] of f32, f16 or bf16 with a contiguous last dimension.
/// False as above.
bool checkHeads(Call &call, std::string_view argument,
                const KvTensorView &view);

/// A contiguous i32 tensor of rank 1. False as above.
bool checkIntegers(Call &call, std::string_view argument,
                   const KvTensorView &view);

/// [pages, planes, layers, tokens, heads, dim] in logical order.
struct Cache {
  CacheView view;
  int64_t planes, layers, heads, dim;
  KvDType type;
};
/// Only the shape, the strides and the type are looked at; `data` may be null.
bool cacheOf(Call &call, const KvTensorView &blocks, Cache &cache);

/// A step's lengths, without capacity. False, and an error, where row_offsets
/// has not an entry for each sequence and its end: what lies on the device is
/// clamped there, how much of it there is must be known here.
bool batchOf(Call &call, const KvTensorView &cacheLengths,
             const KvTensorView &rowOffsets, int64_t tokens,
             kv::plan::Batch &batch);

/// The pages of a step's sequences.
struct Table {
  const int32_t *entries;
  int64_t pitch;
  int32_t columns;
};
/// Both, with the capacity of the table. False as above, where the table has
/// not a row for each sequence, and for a cache with slots.
bool pagedBatchOf(Call &call, const KvTensorView &cacheLengths,
                  const KvTensorView &lookupTable,
                  const KvTensorView &rowOffsets, int64_t tokens,
                  const Cache &cache, Table &table, kv::plan::Batch &batch);

/// The rows of Symbols.def that run on a device, by their names: those are
/// defined, and what is missing does not link.
namespace rows {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  KV_C_##Result Name(KV_C_PARAMS(__VA_ARGS__));
#include "kv/ABI/Symbols.def"
} // namespace rows

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_VIEWS_H
