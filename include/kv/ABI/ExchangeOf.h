//===- ExchangeOf.h - The descriptor of a cache's pages ---------*- C++ -*-===//
//
// Makes the descriptor of pages from the geometry of their collection, so that
// no size is said twice.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_EXCHANGEOF_H
#define KV_ABI_EXCHANGEOF_H

#include "kv/ABI/CacheGeometry.h"
#include "kv/ABI/Exchange.h"

namespace kv {

/// Which rows of a collection are described: one sequence's `tokens` from
/// position `first` on, in the pages of one band and of one of the devices that
/// share the heads.
struct ExchangeRows {
  int64_t first = 0;
  int64_t tokens = 0;
  int64_t band = 0;
  int64_t rank = 0;
  int64_t ranks = 1;
};

/// All fields but `model` and `prefix`, which no geometry knows.
/// kvExchangeProblem() says what `rows` lack. The geometry is paged.
inline KvExchange exchangeOf(const CacheGeometry &cache,
                             const ExchangeRows &rows) {
  auto word = [](int64_t value) { return static_cast<uint32_t>(value); };
  KvExchange result = {};
  result.dtype = static_cast<uint8_t>(cache.dtype);
  result.planes = static_cast<uint8_t>(cache.planes());
  result.scaleDtype =
      cache.hasScales() ? static_cast<uint8_t>(cache.scaleDType) : 255;
  std::array<int, 6> order = blockOrder(cache.layout);
  for (int i = 0; i < KV_EXCHANGE_DIMS; ++i) // the elements are innermost
    result.order[i] = static_cast<uint8_t>(order[i]);
  result.layers = word(cache.layersPerPage());
  result.firstLayer = word(rows.band * cache.layersPerPage());
  result.heads = word(cache.heads);
  result.firstHead = cache.isLatent() ? 0 : word(rows.rank * cache.heads);
  result.allHeads = cache.isLatent() ? 1 : word(rows.ranks * cache.heads);
  result.dim = word(cache.dim);
  result.valueDim = word(cache.valueDim());
  result.scaleGroup = word(cache.scaleGroup);
  result.page = word(cache.page);
  result.window = word(cache.window);
  result.pages =
      static_cast<uint64_t>((rows.tokens + cache.page - 1) / cache.page);
  result.first = static_cast<uint64_t>(rows.first);
  result.tokens = static_cast<uint64_t>(rows.tokens);
  return result;
}

} // namespace kv

#endif // KV_ABI_EXCHANGEOF_H
