//===- LoadBackend.cpp - Finds libkv_cuda.so ------------------------------===//

#include "LoadBackend.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>

using namespace kv;

static constexpr const char *LibraryName = "libkv_cuda.so";

/// The file that contains this code: a library, or the program. For a program,
/// dladdr only knows argv[0], which has no folder if the shell found it in
/// PATH.
static std::filesystem::path ownFile() {
  Dl_info own;
  std::error_code error;
  if (!dladdr(reinterpret_cast<void *>(&ownFile), &own) || !own.dli_fname)
    return {};
  std::string_view name = own.dli_fname;
  return std::filesystem::canonical(
      name.contains('/') ? name : "/proc/self/exe", error);
}

/// The places where libkv_cuda.so may be: KV_CUDA_LIBRARY alone if it is set;
/// otherwise beside the file that contains this code, in ../lib, and where the
/// system searches for libraries.
static std::vector<std::string> candidates() {
  if (const char *given = std::getenv("KV_CUDA_LIBRARY"))
    return {given};
  std::vector<std::string> paths;
  std::error_code error;
  if (std::filesystem::path own = ownFile(); !own.empty())
    for (const char *relative : {".", "../lib"})
      if (auto path = own.parent_path() / relative / LibraryName;
          std::filesystem::exists(path, error))
        paths.push_back(path.string());
  paths.push_back(LibraryName);
  return paths;
}

static Expected<OpenDevice> openLibrary() {
  std::string problem;
  for (const std::string &path : candidates()) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = dlerror();
      continue;
    }
    if (void *symbol = dlsym(library, KV_OPEN_DEVICE_SYMBOL))
      return reinterpret_cast<OpenDevice>(symbol);
    problem = concat(path, ": it has no symbol ", KV_OPEN_DEVICE_SYMBOL);
  }
  return makeError(KV_STATUS_UNSUPPORTED,
                   "the runtime's CUDA library cannot be loaded: ", problem);
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
