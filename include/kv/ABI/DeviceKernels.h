//===- DeviceKernels.h - Questions about the kernels of GPUs ----*- C++ -*-===//
//
// DeviceKernels.def as data. Used by the compiler, the runtime and the kernels;
// needs no CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_DEVICEKERNELS_H
#define KV_ABI_DEVICEKERNELS_H

#include "kv/ABI/TensorView.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kv::kernels {

/// Rows are read in chunks of so many elements, and lie at multiples of so many
/// bytes.
inline constexpr int64_t RowChunk = 8, RowAlignment = 16;
/// A rotation turns so many elements together: a chunk and its partner.
inline constexpr int64_t RopeChunk = 2 * RowChunk;

/// The image of all movers; an attention kernel is an image of its own name.
inline constexpr std::string_view MoversImage = "kv_movers";

struct RowType {
  KvDType type;
  bool multiplied;
};
inline constexpr RowType RowTypes[] = {
#define KV_ROW_TYPE(type, multiplied) {KV_DTYPE_##type, multiplied != 0},
#include "kv/ABI/DeviceKernels.def"
};

struct AttentionKernel {
  std::string_view name;
  KvDType query, cache;
  int64_t headDim;
};
inline constexpr AttentionKernel AttentionKernels[] = {
#define KV_ATTENTION_KERNEL(kind, name, query, cache, dim, ...)                \
  {"kv_attention_" #kind "_" #name "_" #dim, KV_DTYPE_##query,                 \
   KV_DTYPE_##cache, dim},
#include "kv/ABI/DeviceKernels.def"
};

/// Whether rows have this KvDType.
constexpr bool isRowType(int64_t type) {
  return std::any_of(std::begin(RowTypes), std::end(RowTypes),
                     [&](const RowType &row) { return row.type == type; });
}

/// Whether rows and weights of this KvDType are multiplied.
constexpr bool isMultiplied(int64_t type) {
  return std::any_of(
      std::begin(RowTypes), std::end(RowTypes),
      [&](const RowType &row) { return row.type == type && row.multiplied; });
}

/// The type of queries over a cache of this KvDType; nothing where no kernel
/// attends over one.
constexpr std::optional<KvDType> queryTypeOf(int64_t cache) {
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.cache == cache)
      return kernel.query;
  return std::nullopt;
}

/// Whether there are kernels for this head dimension, of any type.
constexpr bool isHeadDim(int64_t dim) {
  return std::any_of(
      std::begin(AttentionKernels), std::end(AttentionKernels),
      [&](const AttentionKernel &kernel) { return kernel.headDim == dim; });
}

//===--- What there is, for sentences -------------------------------------===//

/// "a, b and c", each once; `last` is the word before the last one.
inline std::string enumerate(const std::vector<std::string> &all,
                             std::string_view last) {
  std::vector<std::string> words;
  for (const std::string &word : all)
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(word);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 < words.size() ? ", " : " " + std::string(last) + " ";
    text += words[i];
  }
  return text;
}

/// As MLIR spells it.
constexpr const char *spellingOf(KvDType type) {
  switch (type) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  case KV_DTYPE_##Name:                                                        \
    return Spelling;
#include "kv/ABI/DTypes.def"
  }
  return "";
}

/// "f32, bf16 and f16"
inline std::string rowTypes(std::string_view last = "and") {
  std::vector<std::string> words;
  for (const RowType &row : RowTypes)
    words.push_back(spellingOf(row.type));
  return enumerate(words, last);
}

/// "bf16 and f16"
inline std::string multipliedTypes() {
  std::vector<std::string> words;
  for (const RowType &row : RowTypes)
    if (row.multiplied)
      words.push_back(spellingOf(row.type));
  return enumerate(words, "and");
}

/// "bf16, f16 and f8E4M3FN"
inline std::string cacheTypes() {
  std::vector<std::string> words;
  for (const AttentionKernel &kernel : AttentionKernels)
    words.push_back(spellingOf(kernel.cache));
  return enumerate(words, "and");
}

/// "64, 128 and 256"
inline std::string headDims() {
  std::vector<std::string> words;
  for (const AttentionKernel &kernel : AttentionKernels)
    words.push_back(std::to_string(kernel.headDim));
  return enumerate(words, "and");
}

} // namespace kv::kernels

#endif // KV_ABI_DEVICEKERNELS_H
