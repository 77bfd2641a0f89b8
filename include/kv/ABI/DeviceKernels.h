//===- DeviceKernels.h - Questions about the kernels of GPUs ----*- C++ -*-===//
//
// The rows of DeviceKernels.def as constants, and questions about them. Used by
// the compiler, the runtime and the kernels; needs no CUDA.
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

/// Kernels read rows in chunks of RowChunk elements; rows begin at multiples of
/// RowAlignment bytes.
inline constexpr int64_t RowChunk = 8, RowAlignment = 16;

/// The bytes of a row of `width` elements that is rounded to 8 bits: `width`
/// bytes, then an f32 for each 32, then what makes a multiple of 16.
constexpr int64_t roundedRowBytes(int64_t width) {
  return (width + width / 8 + 15) / 16 * 16;
}

/// Choices of experts are ordered in tiles of ExpertRows, each of one expert. A
/// tile's record is its expert, how many choices it has, and their numbers, of
/// which the last ones may be left out. An expert's tiles follow each other.
inline constexpr int ExpertRows = 64, ExpertRecord = 2 + ExpertRows;

/// The limits of kernels for kv.state_convolution and kv.state_scan: the most
/// taps, and the most elements of a key.
inline constexpr int MostTaps = 4, MostScanKeys = 256;

/// The limit of kernels for kv.update: the most elements of a head, which a
/// warp has in chunks.
inline constexpr int MostUpdated = 256;

/// The name of the image with all movers. Each attention kernel has an image of
/// its own, named like the kernel.
inline constexpr std::string_view MoversImage = "kv_movers";

struct RowType {
  KvDType type;
  bool multiplied; // whether matmul takes it
};
inline constexpr RowType RowTypes[] = {
#define KV_ROW_TYPE(type, multiplied) {KV_DTYPE_##type, multiplied != 0},
#include "kv/ABI/DeviceKernels.def"
};

/// How many scales a row of a cache has.
enum class Scales { None, Row, Groups };
/// A group has a multiple of ScaleChunk elements, and a row at most
/// mostGroups() groups.
inline constexpr int ScaleChunk = 16;
constexpr int mostGroups(int headDim) {
  return std::min(headDim / ScaleChunk, headDim > 128 ? 2 : 4);
}

struct AttentionKernel {
  std::string_view name;
  KvDType query, cache;
  Scales scales;
  int64_t headDim; // of a key
  int64_t vDim;    // of a value of a latent cache; 0: not latent
};
inline constexpr AttentionKernel AttentionKernels[] = {
#define KV_ATTENTION_KERNEL(kind, name, query, cache, scales, dim, ...)        \
  {"kv_attention_" #kind "_" #name "_" #dim,                                   \
   KV_DTYPE_##query,                                                           \
   KV_DTYPE_##cache,                                                           \
   Scales::scales,                                                             \
   dim,                                                                        \
   0},
#define KV_LATENT_KERNEL(kind, name, query, cache, dim, vDim, ...)             \
  {"kv_latent_" #kind "_" #name "_" #dim,                                      \
   KV_DTYPE_##query,                                                           \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   vDim},
#include "kv/ABI/DeviceKernels.def"
};

/// Kernels of one chip: for more rows than decode has, which it takes where it
/// can, or for products of 8 bits.
struct TileKernel {
  std::string_view name, chip;
  KvDType cache;
  Scales scales;
  int64_t headDim;
  int64_t vDim; // as above
  /// Whether it is of operations with `products` of 8 bits: a chip has one for
  /// prompts and for decoding, or one for both, which copies tiles.
  bool eightBitProducts = false;
  /// Requirement of kernels that copy tiles: the tokens of a page, or of a
  /// slot, are a multiple of this.
  int64_t pageTokens = 1;
};
inline constexpr TileKernel TileKernels[] = {
#define KV_TILE_KERNEL(name, query, cache, scales, dim, ...)                   \
  {"kv_attention_tiles_" #name "_" #dim,                                       \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::scales,                                                             \
   dim,                                                                        \
   0},
#define KV_BYTE_TILE_KERNEL(name, query, cache, dim, ...)                      \
  {"kv_attention_tiles_" #name "_" #dim,                                       \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   0,                                                                          \
   true,                                                                       \
   8},
#define KV_DRAFT_KERNEL(name, query, cache, scales, dim, ...)                  \
  {"kv_attention_drafts_" #name "_" #dim,                                      \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::scales,                                                             \
   dim,                                                                        \
   0},
#define KV_DRAFT_TILE_KERNEL(name, query, cache, scales, dim, ...)             \
  {"kv_attention_draft_tiles_" #name "_" #dim,                                 \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::scales,                                                             \
   dim,                                                                        \
   0},
#define KV_TENSOR_KERNEL(name, query, cache, dim, ...)                         \
  {"kv_attention_tensor_" #name "_" #dim,                                      \
   "sm_100a",                                                                  \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   0,                                                                          \
   KV_DTYPE_##cache != KV_DTYPE_##query,                                       \
   KV_DTYPE_##cache != KV_DTYPE_##query ? 8 : 1},
#define KV_BYTE_KERNEL(kind, name, query, cache, dim, ...)                     \
  {"kv_attention_" #kind "_" #name "_" #dim,                                   \
   "sm_120",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   0,                                                                          \
   true},
#define KV_LATENT_TILE_KERNEL(name, query, cache, dim, vDim, ...)              \
  {"kv_latent_tiles_" #name "_" #dim,                                          \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   vDim},
#define KV_LATENT_PAIR_KERNEL(name, query, cache, dim, vDim, ...)              \
  {"kv_latent_pairs_" #name "_" #dim,                                          \
   "sm_90a",                                                                   \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   vDim},
#define KV_LATENT_TENSOR_KERNEL(name, query, cache, dim, vDim, ...)            \
  {"kv_latent_tensor_" #name "_" #dim,                                         \
   "sm_100a",                                                                  \
   KV_DTYPE_##cache,                                                           \
   Scales::None,                                                               \
   dim,                                                                        \
   vDim},
#include "kv/ABI/DeviceKernels.def"
};

/// The one chip that has an image; nothing of those that all have.
constexpr std::string_view onlyChipOf(std::string_view image) {
  for (const TileKernel &row : TileKernels)
    if (row.name == image)
      return row.chip;
  return {};
}

/// Whether others do without an image.
constexpr bool isOptional(std::string_view image) {
  return !onlyChipOf(image).empty();
}

/// Whether this KvDType is an element type of rows.
constexpr bool isRowType(int64_t type) {
  return std::any_of(std::begin(RowTypes), std::end(RowTypes),
                     [&](const RowType &row) { return row.type == type; });
}

/// Whether matmul takes rows and weights of this KvDType.
constexpr bool isMultiplied(int64_t type) {
  return std::any_of(
      std::begin(RowTypes), std::end(RowTypes),
      [&](const RowType &row) { return row.type == type && row.multiplied; });
}

/// The element type of queries that attention kernels take for a cache of this
/// KvDType; nullopt if there is no such kernel.
constexpr std::optional<KvDType> queryTypeOf(int64_t cache) {
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.cache == cache)
      return kernel.query;
  return std::nullopt;
}

/// The kernels for a cache of this KvDType whose rows have `groups` scales,
/// none or more. If a type has no kernels without scales, those with one scale
/// per row do.
constexpr Scales scalesFor(int64_t cache, int64_t groups) {
  if (groups > 0)
    return groups == 1 ? Scales::Row : Scales::Groups;
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.cache == cache && kernel.scales == Scales::None)
      return Scales::None;
  return Scales::Row;
}

/// Whether there are attention kernels for such a cache; `vDim` is a value's
/// elements of a latent one, else 0.
constexpr bool hasKernels(int64_t cache, Scales scales, int64_t headDim,
                          int64_t vDim = 0) {
  return std::any_of(std::begin(AttentionKernels), std::end(AttentionKernels),
                     [&](const AttentionKernel &kernel) {
                       return kernel.cache == cache &&
                              kernel.scales == scales &&
                              kernel.headDim == headDim && kernel.vDim == vDim;
                     });
}

/// The row of an image's kernel, if it is one with products of 8 bits.
constexpr const TileKernel *eightBitKernel(std::string_view image) {
  for (const TileKernel &row : TileKernels)
    if (row.eightBitProducts && row.name == image)
      return &row;
  return nullptr;
}

/// Whether there are attention kernels for latent caches of this KvDType, of
/// rows of `dim` elements of which the first `vDim` are the value.
constexpr bool isLatentRow(int64_t cache, int64_t dim, int64_t vDim) {
  return vDim != 0 && hasKernels(cache, Scales::None, dim, vDim);
}

//===--- Lists for messages -----------------------------------------------===//

/// "a, b and c" from the words of `all`, without repetitions; `last` is "and"
/// or "or".
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

/// The type as MLIR spells it, such as "bf16".
constexpr const char *spellingOf(KvDType type) {
  switch (type) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  case KV_DTYPE_##Name:                                                        \
    return Spelling;
#include "kv/ABI/DTypes.def"
  }
  return "";
}

/// The element types of rows: "f32, bf16 and f16".
inline std::string rowTypes(std::string_view last = "and") {
  std::vector<std::string> words;
  for (const RowType &row : RowTypes)
    words.push_back(spellingOf(row.type));
  return enumerate(words, last);
}

/// The types that matmul takes: "bf16 and f16".
inline std::string multipliedTypes() {
  std::vector<std::string> words;
  for (const RowType &row : RowTypes)
    if (row.multiplied)
      words.push_back(spellingOf(row.type));
  return enumerate(words, "and");
}

/// The types of caches that attention kernels take: "bf16, f16 and f8E4M3FN".
inline std::string cacheTypes() {
  std::vector<std::string> words;
  for (const AttentionKernel &kernel : AttentionKernels)
    words.push_back(spellingOf(kernel.cache));
  return enumerate(words, "and");
}

/// The head dimensions of the attention kernels for such a cache, such as "64,
/// 128 and 256".
inline std::string headDims(int64_t cache, Scales scales) {
  std::vector<std::string> words;
  for (const AttentionKernel &kernel : AttentionKernels)
    if (!kernel.vDim && kernel.cache == cache && kernel.scales == scales)
      words.push_back(std::to_string(kernel.headDim));
  return enumerate(words, "and");
}

/// The head dimensions of the kernels with products of 8 bits.
inline std::string eightBitHeadDims() {
  std::vector<std::string> words;
  for (const TileKernel &kernel : TileKernels)
    if (kernel.eightBitProducts)
      words.push_back(std::to_string(kernel.headDim));
  return enumerate(words, "and");
}

/// The chips that have them: "sm_90a, sm_100a and sm_120".
inline std::string eightBitChips() {
  std::vector<std::string> words;
  for (const TileKernel &kernel : TileKernels)
    if (kernel.eightBitProducts)
      words.push_back(std::string(kernel.chip));
  return enumerate(words, "and");
}

/// The types and rows of latent caches that attention kernels take, a row with
/// how much of it is the value: "bf16 and f16 rows of 192/128 and 576/512".
inline std::string latentRows() {
  std::vector<std::string> types, rows;
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.vDim) {
      types.push_back(spellingOf(kernel.cache));
      rows.push_back(std::to_string(kernel.headDim) + "/" +
                     std::to_string(kernel.vDim));
    }
  return enumerate(types, "and") + " rows of " + enumerate(rows, "and");
}

} // namespace kv::kernels

#endif // KV_ABI_DEVICEKERNELS_H
