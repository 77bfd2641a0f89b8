// What ExchangeOf.h makes of a collection, for test_exchange.py.
#include "kv/ABI/ExchangeOf.h"

extern "C" __attribute__((visibility("default"))) void
describe(const int64_t *fields, const int64_t *rows, KvExchange *it) {
  kv::CacheGeometry cache;
  cache.dtype = static_cast<KvDType>(fields[0]);
  cache.layout = static_cast<kv::CacheLayout>(fields[1]);
  cache.layers = fields[2];
  cache.heads = fields[3];
  cache.dim = fields[4];
  cache.page = fields[5];
  cache.vDim = fields[6];
  cache.scaleGroup = fields[7];
  cache.window = fields[8];
  cache.pageLayers = fields[9];
  *it = kv::exchangeOf(cache, {.first = rows[0],
                               .tokens = rows[1],
                               .band = rows[2],
                               .rank = rows[3],
                               .ranks = rows[4]});
}
