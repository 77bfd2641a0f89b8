//===- Views.h - Tensors as kernels take them -------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_LAUNCHES_VIEWS_H
#define KV_RUNTIME_CUDA_LAUNCHES_VIEWS_H

#include "kv/Runtime/Base/DType.h"
#include "runtime/cuda/Context.h"

namespace kv::cuda {

/// One call of a row of Symbols.def: the state in which its errors are
/// recorded, and its name, with which their messages begin.
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

/// A tensor as a list of rows at equal distances, the form that movers take.
struct Rows {
  void *data;
  int64_t stride; // elements between rows
  int64_t count;  // number of rows
  int64_t width;  // elements of a row
  int32_t type;   // a KvDType
};

/// Address of the element at index 0 in all dimensions.
inline void *firstElement(const KvTensorView &view) {
  return static_cast<char *>(view.data) +
         view.offset * int64_t(dtypeBytes(static_cast<DType>(view.dtype)));
}

/// Whether it begins at a multiple of 16 bytes.
bool aligned(const KvTensorView &view);

int64_t elementsOf(const KvTensorView &view);

/// Whether elements lie one after the other, in the order of the dimensions.
bool isDense(const KvTensorView &view);

/// The strides in elements, for a message: "strides [512, 64, 1]".
std::string strides(const KvTensorView &view);

/// Reads `view` as rows: the last dimension is a row, all others number the
/// rows. Returns false, with an error in the call that names `argument`, unless
/// rows are contiguous chunks of 8 elements, aligned to 16 bytes, at equal
/// distances.
bool rowsOf(Call &call, std::string_view argument, const KvTensorView &view,
            Rows &rows);

/// Whether `view` is [tokens, heads, dim] of f32, f16 or bf16 with a contiguous
/// last dimension. If not, records an error that names `argument`.
bool checkHeads(Call &call, std::string_view argument,
                const KvTensorView &view);

/// Whether `view` is a contiguous i32 tensor of rank 1. If not, records an
/// error that names `argument`.
bool checkIntegers(Call &call, std::string_view argument,
                   const KvTensorView &view);

/// The blocks of a cache: [pages, planes, layers, tokens, heads, dim] in
/// logical order, `view` with the addresses and strides that kernels take.
struct Cache {
  CacheView view;
  int64_t planes, layers, heads, dim;
  KvDType type;
};
/// Reads the blocks of a cache. Only shape, strides and type are checked;
/// `data` may be null. If kernels cannot read such blocks, records an error and
/// returns false.
bool cacheOf(Call &call, const KvTensorView &blocks, Cache &cache);

/// Any pages of such blocks, of whatever elements: what is copied.
bool poolOf(Call &call, const KvTensorView &blocks, Cache &cache);
/// Reads the scales of blocks; without any (null), a view of none. Returns
/// false, with an error in the call, if kernels cannot read them.
bool scalesOf(Call &call, const KvTensorView *scales,
              const KvTensorView &blocks, ScalesView &view);

/// Fills `batch`, except for its capacity, from the lengths of a step with
/// `tokens` new tokens. Returns false, with an error in the call, unless
/// row_offsets has one entry for each sequence and one more. Only sizes are
/// checked: the kernels themselves clamp the entries, which lie on the device.
bool batchOf(Call &call, const KvTensorView &cacheLengths,
             const KvTensorView &rowOffsets, int64_t tokens,
             kv::plan::Batch &batch);

/// The lookup table of a step: page ids [sequences, columns] on the device. A
/// continuous cache is one whose sequences have one page each, of the whole
/// slot, and none of whose pages is the null page.
struct Table {
  const int32_t *entries;
  int64_t pitch;     // entries between rows
  int32_t columns;   // entries of a row
  int32_t firstPage; // ids before it are no pages that may be written
};
/// Fills `table`, and `batch` with the capacity that the table gives. Returns
/// false, with an error in the call, where batchOf() does, and if the table has
/// not one row for each sequence.
bool tableOf(Call &call, const KvTensorView &cacheLengths,
             const KvTensorView &lookupTable, const KvTensorView &rowOffsets,
             int64_t tokens, const Cache &cache, Table &table,
             kv::plan::Batch &batch);

/// The words of a step's trees, i64 [tokens]. False, with an error in the call,
/// if they are not that.
bool treeOf(Call &call, const KvTensorView &ancestors, int64_t tokens,
            const int64_t *&words);

/// All rows of Symbols.def, declared under their names. The rows that run on a
/// device are defined in this folder; the program does not link if one is
/// missing.
namespace rows {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  KV_C_##Result Name(KV_C_PARAMS(__VA_ARGS__));
#include "kv/ABI/Symbols.def"
} // namespace rows

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_LAUNCHES_VIEWS_H
