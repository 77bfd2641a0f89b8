//===- CacheGeometry.h - The shape of a cache -------------------*- C++ -*-===//
//
// The geometry of a collection as plain data, and everything that follows from
// it: the constraints on its sizes, the runtime inputs, the order of the blocks
// in memory. The dialect derives the types of a collection's components from
// this file, and the runtime derives symbolic inputs and buffers from it, so
// that the two cannot disagree. Header only; needs neither LLVM nor the
// runtime.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_CACHEGEOMETRY_H
#define KV_ABI_CACHEGEOMETRY_H

#include "kv/ABI/TensorView.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

/// How a sequence is stored: its keys and values in pages that a lookup table
/// names, or in one contiguous slot; or, of layers that have no keys, one state
/// that every step replaces.
enum class CacheStrategy : int32_t { Paged = 0, Continuous = 1, Recurrent = 2 };

/// The order of the dimensions of blocks and scales in memory. The logical
/// order, in which operations and kernels index, is always that of NHD.
enum class CacheLayout : int32_t {
  NHD = 0, // page, plane, layer, token, head, element
  HND = 1, // page, plane, layer, head, token, element
  CPU = 2  // page, layer, head, plane, token, element: the keys and values of
           // one head in one page are contiguous
};

inline constexpr std::string_view kCacheStrategyNames[] = {
    "paged", "continuous", "recurrent"};
inline constexpr std::string_view kCacheLayoutNames[] = {"nhd", "hnd", "cpu"};

/// The logical dimension that lies at each place in memory, from the outermost
/// to the innermost.
constexpr std::array<int, 6> blockOrder(CacheLayout layout) {
  switch (layout) {
  case CacheLayout::NHD:
    break;
  case CacheLayout::HND:
    return {0, 1, 2, 4, 3, 5};
  case CacheLayout::CPU:
    return {0, 2, 4, 1, 3, 5};
  }
  return {0, 1, 2, 3, 4, 5};
}

/// A static size, or the name of a size that is known at run time.
struct ComponentDim {
  int64_t size = -1;
  const char *symbol = nullptr; // null for a static size
};

/// One component of a collection: a tensor that entries take at run time.
/// `dims` are in the order of memory.
struct CacheComponent {
  const char *name;
  KvDType dtype;
  std::vector<ComponentDim> dims;
  bool isMutable = false; // whether graphs write to it
  bool onHost = false;    // whether it lies in host memory on any device
};

/// The geometry of one cache on one device.
struct CacheGeometry {
  static constexpr int64_t Unknown = -1; // `heads` before sharding
  static constexpr int64_t DefaultPage = 128;

  CacheStrategy strategy = CacheStrategy::Paged;
  KvDType dtype = KV_DTYPE_BF16;
  int64_t layers = 0; // layers of the model that store keys and values
  /// KV heads a device; 1 if latent. Of a recurrent collection: rows of a
  /// layer's state.
  int64_t heads = 0;
  int64_t dim = 0; // elements of a head, or of a row of a state
  /// Tokens of a page; in a continuous cache tokens of a slot, which have no
  /// default. States of a recurrent collection are kept for later sequences
  /// where a page ends.
  int64_t page = strategy == CacheStrategy::Continuous ? 0 : DefaultPage;
  /// In a latent cache the leading elements of a row that are its value; else
  /// 0.
  int64_t vDim = 0;
  CacheLayout layout = CacheLayout::NHD;
  int64_t scaleGroup = 0; // elements that share a scale; 0: no scales
  KvDType scaleDType = KV_DTYPE_F32;
  /// Tokens that a query sees, itself included; 0: all of them. Pages in which
  /// no later query of the sequence sees a token may be given to other
  /// sequences.
  int64_t window = 0;
  /// Layers whose rows lie in one page; 0: all layers. With fewer, a sequence
  /// has one row of page ids for each band of `pageLayers` layers, so that
  /// pages of collections with different numbers of layers have equally many
  /// bytes.
  int64_t pageLayers = 0;

  bool operator==(const CacheGeometry &) const = default;

  bool isLatent() const { return vDim != 0; }
  bool isPaged() const { return strategy == CacheStrategy::Paged; }
  bool isRecurrent() const { return strategy == CacheStrategy::Recurrent; }
  bool hasScales() const { return scaleGroup != 0; }
  /// Size of the plane dimension: 2, keys and values; 1 in a latent cache and
  /// of states.
  int64_t planes() const { return isLatent() || isRecurrent() ? 1 : 2; }
  /// Size of the token dimension: a state is that of all tokens before it.
  int64_t tokensPerRow() const { return isRecurrent() ? 1 : page; }
  /// Elements of a head in the result of attention.
  int64_t valueDim() const { return isLatent() ? vDim : dim; }
  /// Layers that a page has room for. A page of the last band may use fewer.
  int64_t layersPerPage() const { return pageLayers ? pageLayers : layers; }
  /// Number of bands. Layer l of the model is layer l % layersPerPage() of the
  /// pages of band l / layersPerPage(). A sequence's row of the lookup table
  /// consists of one segment of page ids for each band, of pitch / bands()
  /// entries.
  int64_t bands() const {
    return (layers + layersPerPage() - 1) / layersPerPage();
  }

  /// The name of `page` in messages: "page", or "max_seq" in a continuous
  /// cache.
  const char *pageName() const {
    return strategy == CacheStrategy::Continuous ? "max_seq" : "page";
  }
  /// The name of the number of rows of blocks.
  const char *countName() const {
    return isPaged() ? "pages" : isRecurrent() ? "states" : "slots";
  }

  /// The components in the order of kv.fetch: blocks, cache_lengths,
  /// lookup_table, max_lengths and, in a cache with scales, scales. The
  /// dimensions of blocks and scales are in the order of `layout`.
  std::vector<CacheComponent> components() const;

  /// The first constraint that does not hold, for example "'dim' must be
  /// positive, not 0"; empty if all hold.
  std::string problem() const;

  /// Bytes of one page in all of its layers, of one slot, or of one state, on
  /// one device: its elements in blocks, its scales (0 without scales), and
  /// both. `heads` must be known.
  int64_t blockBytesPerPage() const;
  int64_t scaleBytesPerPage() const;
  int64_t bytesPerPage() const {
    return blockBytesPerPage() + scaleBytesPerPage();
  }
};

/// Bytes of one element.
constexpr int64_t elementBytes(KvDType dtype) {
  switch (dtype) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  case KV_DTYPE_##Name:                                                        \
    return Bytes;
#include "kv/ABI/DTypes.def"
  }
  return 0;
}

inline std::vector<CacheComponent> CacheGeometry::components() const {
  auto fixed = [](int64_t size) { return ComponentDim{size, nullptr}; };
  auto named = [](const char *symbol) { return ComponentDim{-1, symbol}; };
  auto block = [&](const char *name, KvDType type, int64_t elements) {
    ComponentDim logical[] = {named(countName()),
                              fixed(planes()),
                              fixed(layersPerPage()),
                              fixed(tokensPerRow()),
                              heads == Unknown ? named("heads") : fixed(heads),
                              fixed(elements)};
    CacheComponent component{name, type, {}, /*isMutable=*/true};
    for (int d : blockOrder(layout))
      component.dims.push_back(logical[d]);
    return component;
  };
  std::vector<CacheComponent> result = {
      block("blocks", dtype, dim),
      {"cache_lengths", KV_DTYPE_I32, {named("batch")}},
      {"lookup_table", KV_DTYPE_I32, {named("batch")}},
      {"max_lengths", KV_DTYPE_I32, {named("steps"), fixed(2)}, false, true}};
  if (isPaged())
    result[2].dims.push_back(named("pitch"));
  if (isRecurrent()) // the state before the step, and the one after it
    result[2].dims.push_back(fixed(2));
  if (hasScales())
    result.push_back(block("scales", scaleDType, dim / scaleGroup));
  return result;
}

inline std::string CacheGeometry::problem() const {
  auto fail = [](std::string_view field, std::string_view must, int64_t given) {
    std::string text = "'";
    text.append(field).append("' must be ").append(must).append(", not ");
    return text.append(std::to_string(given));
  };
  // The upper bounds keep every product of sizes within 64 bits.
  constexpr int64_t Most = int64_t(1) << 20;
  const std::pair<std::string_view, int64_t> numbers[] = {
      {"layers", layers}, {"heads", heads}, {"dim", dim}, {pageName(), page}};
  for (auto [field, value] : numbers) {
    if (field == "heads" && value == Unknown)
      continue;
    if (value < 1)
      return fail(field, "positive", value);
    if (value > Most)
      return fail(field, "at most 1048576", value);
  }
  if (window < 0 || window > INT32_MAX)
    return fail("window", "0 to 2147483647", window);
  if (pageLayers < 0 || pageLayers > layers)
    return fail("page_layers", "1 to layers = " + std::to_string(layers),
                pageLayers);
  if (!isPaged() && pageLayers != 0)
    return std::string("'page_layers' is for paged caches, not for ") +
           std::string(kCacheStrategyNames[static_cast<size_t>(strategy)]) +
           " ones";
  if (isRecurrent()) {
    if (isLatent() || hasScales() || window || layout != CacheLayout::NHD)
      return "a recurrent collection has layers, heads, dim and page alone: a "
             "state is no keys";
    if (dtype != KV_DTYPE_F32 && dtype != KV_DTYPE_F16 &&
        dtype != KV_DTYPE_BF16)
      return "the element type of a state must be f32, f16 or bf16";
  }
  if (isLatent() && heads != 1)
    return fail("heads", "1 in a latent cache", heads);
  if (vDim < 0 || vDim > dim)
    return fail("v_dim", "1 to dim = " + std::to_string(dim), vDim);

  bool isFloat8 = dtype == KV_DTYPE_F8E4M3FN || dtype == KV_DTYPE_F8E5M2;
  if (dtype != KV_DTYPE_F32 && dtype != KV_DTYPE_F16 &&
      dtype != KV_DTYPE_BF16 && dtype != KV_DTYPE_I8 && !isFloat8)
    return "the element type must be f32, f16, bf16, f8E4M3FN, f8E5M2 or i8";
  if (dtype == KV_DTYPE_I8 && !hasScales())
    return "i8 elements need a 'scale'";
  if (hasScales()) {
    if (dtype != KV_DTYPE_I8 && !isFloat8)
      return "a 'scale' needs an element type of 8 bits";
    if (scaleDType != KV_DTYPE_F32 && scaleDType != KV_DTYPE_F8E8M0FNU)
      return "the scale's type must be f32 or f8E8M0FNU";
    if (scaleGroup < 1 || dim % scaleGroup != 0)
      return fail("group", "a divisor of dim = " + std::to_string(dim),
                  scaleGroup);
  }
  // In 128 bits: each factor is bounded, but the product may exceed 64 bits.
  __int128 bytes = __int128(planes()) * layersPerPage() * tokensPerRow() *
                   (heads == Unknown ? 1 : heads) * dim * elementBytes(dtype);
  if (bytes > (__int128(1) << 40))
    return isPaged()       ? "a page must be at most 2^40 bytes"
           : isRecurrent() ? "a state must be at most 2^40 bytes"
                           : "a slot must be at most 2^40 bytes";
  return {};
}

inline int64_t CacheGeometry::blockBytesPerPage() const {
  return planes() * layersPerPage() * tokensPerRow() * heads * dim *
         elementBytes(dtype);
}

inline int64_t CacheGeometry::scaleBytesPerPage() const {
  if (!hasScales())
    return 0;
  return planes() * layersPerPage() * page * heads * (dim / scaleGroup) *
         elementBytes(scaleDType);
}

} // namespace kv

#endif // KV_ABI_CACHEGEOMETRY_H
