//===- Requests.h - Contexts of requests ------------------------*- C++ -*-===//

#ifndef KV_PYTHON_REQUESTS_H
#define KV_PYTHON_REQUESTS_H

#include "RequestIds.h"

namespace kv::python {

struct Context {
  Context(nb::handle tokens, nb::object requestId);
  Context(const Context &) = delete;
  ~Context() { kvRequestDestroy(request); }

  nb::object id;
  IdUse use;
  KvRequest *request = nullptr;
};

/// The requests of a batch: a list, tuple or other iterable of contexts. The
/// list is filled again by each call.
class Batch {
public:
  const std::vector<KvRequest *> &read(nb::handle contexts);

private:
  std::vector<KvRequest *> requests;
};

/// Token ids from a list of integers or an array, without a copy where they are
/// int32 already. Errors name what is no token.
class Tokens {
public:
  explicit Tokens(nb::handle given);

  const int32_t *data() const { return values; }
  int64_t size() const { return count; }

private:
  std::vector<int32_t> copied;
  nb::object kept;
  const int32_t *values = nullptr;
  int64_t count = 0;
};

} // namespace kv::python

#endif // KV_PYTHON_REQUESTS_H
