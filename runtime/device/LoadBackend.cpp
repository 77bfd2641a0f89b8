//===- LoadBackend.cpp - Finds libkv_cuda.so ------------------------------===//

#include "LoadBackend.h"
#include "runtime/base/LoadSymbol.h"

#include <map>
#include <mutex>

using namespace kv;

static Expected<OpenDevice> openLibrary() {
  Expected<void *> symbol =
      loadSymbol("libkv_cuda.so", "KV_CUDA_LIBRARY", KV_OPEN_DEVICE_SYMBOL);
  if (!symbol)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "the runtime's CUDA library cannot be loaded: ",
                     symbol.error().message);
  return reinterpret_cast<OpenDevice>(*symbol);
}

Expected<DeviceBackend *> kv::loadCudaBackend(int index) {
  // Never destroyed, since objects with static lifetime may free device memory.
  static auto &mutex = *new std::mutex;
  static auto &opened = *new std::map<int, DeviceBackend *>;
  static OpenDevice open = nullptr;
  std::lock_guard lock(mutex);
  if (auto it = opened.find(index); it != opened.end())
    return it->second;
  Error error;
  if (!open) {
    Expected<OpenDevice> library = openLibrary();
    if (!library) {
      error = library.error();
      return makeError(error.code, "device cuda:", index, ": ", error.message);
    }
    open = *library;
  }
  DeviceBackend *backend = open(DeviceInterfaceVersion, index, &error);
  if (!backend)
    return makeError(error.code, "device cuda:", index, ": ", error.message);
  return opened[index] = backend;
}
