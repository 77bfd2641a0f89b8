//===- Environment.h - How much a test does ---------------------*- C++ -*-===//

#ifndef KV_TEST_ENVIRONMENT_H
#define KV_TEST_ENVIRONMENT_H

#include <cstdint>
#include <cstdlib>

namespace kv::test {

/// The number in an environment variable; `otherwise` if it is not set.
inline int64_t environment(const char *name, int64_t otherwise) {
  const char *value = std::getenv(name);
  return value ? std::atoll(value) : otherwise;
}

} // namespace kv::test

#endif // KV_TEST_ENVIRONMENT_H
