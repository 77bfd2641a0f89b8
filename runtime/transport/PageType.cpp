//===- PageType.cpp - What pages of two peers must have in common ---------===//

#include "PageType.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

using namespace kv;

PageType PageType::of(const MultiKVCacheParams &params,
                      const std::string &model) {
  PageType type;
  type.shards = params.tensorParallelDegree();
  type.model = model;
  for (const KVCacheParams &one : params.params) {
    const CacheGeometry &of = one.geometry;
    type.names.push_back(one.name);
    type.fields.push_back({of.dtype, of.layers, of.heads, of.dim, of.vDim,
                           of.scaleGroup, of.hasScales() ? of.scaleDType : 0,
                           of.window, of.pageLayers,
                           static_cast<int64_t>(of.strategy), of.page,
                           static_cast<int64_t>(of.layout)});
  }
  return type;
}

std::string PageType::digest() const {
  std::string text = concat(shards, " shards of ", model);
  for (size_t i = 0; i < fields.size(); ++i) {
    text += concat("; ", names[i]);
    for (size_t field = 0; field < numCompared(i); ++field)
      text += concat(" ", fields[i][field]);
  }
  XXH128_hash_t sum = XXH3_128bits(text.data(), text.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(sum.high64),
                static_cast<unsigned long long>(sum.low64));
  return digits;
}

std::string PageType::difference(const PageType &decoding) const {
  auto differ = [](const auto &what, const auto &ours, const auto &theirs) {
    return concat(what, " is ", ours, " on the prefilling side and ", theirs,
                  " on the decoding side");
  };
  if (names.size() != decoding.names.size())
    return differ("the number of collections", names.size(),
                  decoding.names.size());
  if (shards != decoding.shards)
    return differ("the number of shards", shards, decoding.shards);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != decoding.names[i])
      return differ(concat("the name of collection ", i), names[i],
                    decoding.names[i]);
    auto text = [](size_t field, int64_t value) {
      bool isType = field == 0 || field == 6;
      if (field == Strategy) // fromParams() has seen both
        return std::string(kCacheStrategyNames[static_cast<size_t>(value)]);
      return isType ? std::string(dtypeName(static_cast<DType>(value)))
                    : concat(value);
    };
    for (size_t field = 0; field < numCompared(i); ++field)
      if (fields[i][field] != decoding.fields[i][field])
        return differ(concat(FieldNames[field], " of ", names[i]),
                      text(field, fields[i][field]),
                      text(field, decoding.fields[i][field]));
  }
  return differ("the model", model, decoding.model);
}

Expected<MultiKVCacheParams> PageType::params() const {
  std::vector<KVCacheParams> made;
  if (names.size() != fields.size())
    return makeError(KV_STATUS_INVALID_ARGUMENT, names.size(), " names of ",
                     fields.size(), " collections");
  for (size_t i = 0; i < names.size(); ++i) {
    const auto &field = fields[i];
    CacheGeometry geometry;
    geometry.dtype = static_cast<KvDType>(field[0]);
    geometry.layers = field[1];
    geometry.heads = field[2];
    geometry.dim = field[3];
    geometry.vDim = field[4];
    geometry.scaleGroup = field[5];
    geometry.scaleDType = static_cast<KvDType>(field[6]);
    geometry.window = field[7];
    geometry.pageLayers = field[8];
    constexpr auto Last = static_cast<int64_t>(CacheStrategy::Recurrent);
    if (field[Strategy] < 0 || field[Strategy] > Last)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "strategy ",
                       field[Strategy]);
    geometry.strategy = static_cast<CacheStrategy>(field[Strategy]);
    geometry.page = field[Page];
    int64_t layout = field.back();
    if (layout < 0 || layout > static_cast<int64_t>(CacheLayout::CPU))
      return makeError(KV_STATUS_INVALID_ARGUMENT, "layout ", layout);
    geometry.layout = static_cast<CacheLayout>(layout);
    made.push_back({.name = names[i],
                    .geometry = geometry,
                    .numDevices = shards,
                    .enablePrefixCaching = true});
  }
  return MultiKVCacheParams::fromParams(std::move(made));
}
