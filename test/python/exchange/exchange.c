/* What Exchange.h computes, for test_exchange.py, in C99 as other engines
   compile it. */
#include "kv/ABI/Exchange.h"

#define KV_TEST_API __attribute__((visibility("default")))

KV_TEST_API const char *readDescriptor(const void *bytes, uint64_t size,
                                       KvExchange *it) {
  return kvExchangeRead(bytes, size, it);
}

KV_TEST_API const char *writeDescriptor(const KvExchange *it, uint8_t *bytes) {
  return kvExchangeWrite(it, bytes);
}

KV_TEST_API uint64_t rowOffset(const KvExchange *it, int ofScales,
                               const uint64_t index[5]) {
  return kvExchangeOffset(it, ofScales, index[0], (uint32_t)index[1],
                          (uint32_t)index[2], (uint32_t)index[3],
                          (uint32_t)index[4]);
}
