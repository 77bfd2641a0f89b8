//===- Driver.cpp - The CUDA driver, cuBLASLt and NCCL, loaded ------------===//

#include "Driver.h"
#include "FindCublasLt.h"
#include "Nccl.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace kv;
using namespace kv::cuda::driver;

/// Opens the first of `names` that can be opened; if the environment variable
/// `variable` or KV_CUDA_DRIVER is set, only the file that it names. Error: a
/// sentence with `needed`.
static Expected<void *> openLibrary(const std::vector<std::string> &names,
                                    const char *needed,
                                    const char *variable = nullptr) {
  const char *given = variable ? std::getenv(variable) : nullptr;
  if (!given)
    given = std::getenv("KV_CUDA_DRIVER");
  std::string problem;
  auto open = [&](const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      problem = dlerror();
    return library;
  };
  if (given) {
    if (void *library = open(given))
      return library;
  } else {
    for (const std::string &name : names)
      if (void *library = open(name.c_str()))
        return library;
  }
  return makeError(KV_STATUS_UNSUPPORTED, needed,
                   " cannot be loaded: ", problem);
}

static void load(void *library, const char *symbol, auto &function,
                 bool optional, std::string &missing) {
  void *found = dlsym(library, symbol);
  if (!found && !optional && missing.empty())
    missing = symbol;
  function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
}

Expected<const Driver *> kv::cuda::driver::loadDriver() {
  static Driver driver;
  Expected<void *> library = openLibrary(
      {"libcuda.so.1"}, "NVIDIA's driver, which a CUDA device needs,");
  if (!library)
    return std::unexpected(library.error());
  std::string missing;
#define KV_DRIVER(member, symbol, ...)                                         \
  load(*library, #symbol, driver.member, false, missing);
#define KV_DRIVER_OPTIONAL(member, symbol, ...)                                \
  load(*library, #symbol, driver.member, true, missing);
#include "Driver.def"
  if (!missing.empty())
    return makeError(KV_STATUS_UNSUPPORTED,
                     "NVIDIA's driver is too old: it has no ", missing);
  return &driver;
}

Expected<const CublasLt *> kv::cuda::driver::loadCublasLt() {
  static CublasLt cublas;
  Expected<void *> library = openLibrary(
      cublasLtCandidates(), "cuBLASLt, which multiplies on a CUDA device,");
  if (!library)
    return std::unexpected(library.error());
  std::string missing;
#define KV_CUBLASLT(member, symbol, ...)                                       \
  load(*library, #symbol, cublas.member, false, missing);
#include "CublasLt.def"
  if (!missing.empty())
    return makeError(KV_STATUS_UNSUPPORTED, "cuBLASLt is too old: it has no ",
                     missing);
  return &cublas;
}

Expected<const kv::cuda::nccl::Nccl *> kv::cuda::nccl::loadNccl() {
  static Nccl nccl;
  Expected<void *> library = openLibrary(ncclCandidates(),
                                         "NCCL, by which GPUs of several ranks "
                                         "exchange what they have,",
                                         "KV_NCCL_LIBRARY");
  if (!library)
    return std::unexpected(library.error());
  std::string missing;
#define KV_NCCL(result, member, symbol, ...)                                   \
  load(*library, #symbol, nccl.member, false, missing);
#include "Nccl.def"
  if (!missing.empty())
    return makeError(KV_STATUS_UNSUPPORTED, "NCCL is too old: it has no ",
                     missing);
  return &nccl;
}
