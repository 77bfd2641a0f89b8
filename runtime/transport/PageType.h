//===- PageType.h - What pages of two peers must have in common -*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_PAGETYPE_H
#define KV_RUNTIME_TRANSPORT_PAGETYPE_H

#include "kv/Runtime/Manager/KVCacheParams.h"

#include <msgpack.hpp>

namespace kv {

/// The type of the collections whose pages a peer has, as it is sent: element
/// types, heads, dimensions, scales, layers, windows, shards. Page size and
/// layout are converted, so they are told and may differ; but states lie where
/// pages end, so with recurrent collections the page size must be equal.
struct PageType {
  /// Fields of CacheGeometry in the order of FieldNames.
  static constexpr std::array FieldNames = {
      "dtype",       "layers",      "heads",       "dim",
      "v_dim",       "scale_group", "scale dtype", "window",
      "page_layers", "strategy",    "page",        "layout"};
  static constexpr size_t NumFields = FieldNames.size();
  static constexpr size_t Strategy = NumFields - 3, Page = NumFields - 2;

  int64_t shards = 1;
  std::vector<std::string> names; // of the collections
  std::vector<std::array<int64_t, NumFields>> fields;
  std::string model; // weights and kind of code
  MSGPACK_DEFINE(shards, names, fields, model)

  static PageType of(const MultiKVCacheParams &params,
                     const std::string &model);

  /// How many of a collection's fields must be equal, from the first on.
  size_t numCompared(size_t collection) const {
    bool isRecurrent = fields[collection][Strategy] ==
                       static_cast<int64_t>(CacheStrategy::Recurrent);
    return isRecurrent ? Page + 1 : Page;
  }

  /// XXH3-128 of everything that must be equal, in hexadecimal.
  std::string digest() const;
  /// The first difference, if the digests differ: "heads of kv is 4 on the
  /// prefilling side and 8 on the decoding side". This object is the type of
  /// the prefilling side.
  std::string difference(const PageType &decoding) const;
  /// One replica of such caches. Error: they are not valid.
  Expected<MultiKVCacheParams> params() const;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_PAGETYPE_H
