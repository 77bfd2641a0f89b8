//===- runtime_host.cpp - The runtime for tests in Python -----------------===//
//
// Runs one entry of an artifact in a context of the runtime.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Base/ThreadPool.h"
#include "kv/Runtime/Device/ExecutionContext.h"
#include "kv/Runtime/Session/InferenceSession.h"

#include <cstdio>
#include <dlfcn.h>

/// Calls `entry` of the shared object at `path`. Returns a KvStatus; a message
/// of at most `room` bytes says why it is not 0.
extern "C" __attribute__((visibility("default"))) int32_t
kv_test_call(const char *path, const char *entry, const KvTensorView *args,
             int32_t count, int32_t threads, char *message, size_t room) {
  if (auto enabled = kv::enableCpuLevel(kv::hostCpuLevel()); !enabled) {
    std::snprintf(message, room, "%s", enabled.error().message.c_str());
    return enabled.error().code;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, entry) : nullptr;
  if (!symbol) {
    std::snprintf(message, room, "%s", dlerror());
    return KV_STATUS_INTERNAL;
  }
  kv::ThreadPool pool(threads);
  auto context = kv::ExecutionContext::create(pool, size_t(1) << 30);
  auto result = context ? (*context)->call(reinterpret_cast<KvEntry>(symbol),
                                           {args, static_cast<size_t>(count)})
                        : kv::Expected<void>(std::unexpected(context.error()));
  dlclose(library);
  if (result)
    return KV_STATUS_OK;
  std::snprintf(message, room, "%s", result.error().message.c_str());
  return result.error().code;
}
