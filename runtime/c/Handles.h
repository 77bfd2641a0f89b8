//===- Handles.h - What the C interface's handles stand for -----*- C++ -*-===//

#ifndef KV_RUNTIME_C_HANDLES_H
#define KV_RUNTIME_C_HANDLES_H

#include "kv/Runtime/C/Arguments.h"
#include "kv/Runtime/C/CacheManager.h"
#include "kv/Runtime/Serving/ManagerHost.h"

#include <deque>
#include <functional>
#include <memory>
#include <new>

struct KvRequest {
  KvRequest(uint64_t id, std::span<const int32_t> given)
      : tokens(given.begin(), given.end()), context(id, tokens) {}

  std::vector<int32_t> tokens;
  kv::TextGenerationContext context; // looks at the rest
  std::optional<std::string> model, adapter, salt;
  std::deque<std::string> hashes; // never moved
  std::vector<kv::ImageSpan> images;
  std::vector<std::byte> payload;
  int64_t reserved = 0; // tokens that an alloc has looked at
};

struct KvManager {
  /// DLPack tensors keep it alive.
  struct State : kv::ManagerHost {
    std::span<kv::RaggedKVCacheInputs> inputs; // the latest
    std::vector<const kv::TextGenerationContext *> batch;
    std::vector<std::string> devices; // their names
  };
  std::shared_ptr<State> state;

  kv::KVCacheManager *operator->() const { return state->manager.get(); }
};

struct KvSymbolicInputs {
  std::vector<std::vector<kv::Argument>> devices;
};

namespace kv::capi {

/// Keeps the message; the error's code.
int32_t fail(const Error &error);

template <class... Parts> int32_t invalid(const Parts &...parts) {
  return fail(Error{KV_STATUS_INVALID_ARGUMENT, concat(parts...)});
}

/// Runs fn() -> int32_t; what it throws is a status.
template <class Fn> int32_t guarded(Fn &&fn) noexcept {
  try {
    return fn();
  } catch (const std::bad_alloc &) {
    return fail(Error{KV_STATUS_OUT_OF_MEMORY, "no memory"});
  } catch (...) {
    return fail(Error{KV_STATUS_INTERNAL, "an exception was thrown"});
  }
}

/// The status of a result; its value goes to `out`.
template <class T, class Out>
int32_t give(const Expected<T> &result, Out *out) {
  if (!result)
    return fail(result.error());
  *out = *result;
  return KV_STATUS_OK;
}
inline int32_t give(const Expected<void> &result) {
  return result ? KV_STATUS_OK : fail(result.error());
}

/// A function of C that is told sentences, as C++ takes it.
inline std::function<void(std::string_view)>
listener(void (*function)(void *, const char *), void *context) {
  return [=](std::string_view sentence) {
    function(context, std::string(sentence).c_str());
  };
}

/// Refuses null pointers by name: KV_REQUIRE("kvManagerClaim", manager).
#define KV_REQUIRE(function, pointer)                                          \
  if (!(pointer))                                                              \
  return kv::capi::invalid(function, ": " #pointer " is null")

/// The result of fn(handle), for calls without a status; 0 for a null pointer,
/// with the message of the other calls.
template <class Handle, class Fn>
auto figure(const char *function, const char *name, const Handle *handle,
            Fn &&fn) noexcept -> decltype(fn(*handle)) {
  if (handle)
    return fn(*handle);
  guarded([&] { return invalid(function, ": ", name, " is null"); });
  return 0;
}

/// Errors: no spec, values that are no enumerator, parameters that do not
/// validate.
Expected<MultiKVCacheParams> readSpec(const KvCacheSpec *spec);

/// The latest inputs of the device at `device`, one for each collection.
/// Errors: none were made; there is no such device.
Expected<std::span<const RaggedKVCacheInputs>>
latestInputs(const KvManager &manager, int32_t device);

/// The argument in C: looks at the strings of `argument`.
KvArgument toC(const Argument &argument);

/// Calls fn(params) and gives the figure that it returns, or its error.
template <class Out, class Fn>
int32_t withSpec(const char *function, const KvCacheSpec *spec, Out *out,
                 Fn &&fn) {
  return guarded([&] {
    if (!out)
      return invalid(function, ": there is no place for the result");
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    return give(Expected<int64_t>(fn(*params)), out);
  });
}

} // namespace kv::capi

#endif // KV_RUNTIME_C_HANDLES_H
