//===- LoadNixl.cpp - Finds libnixl_capi.so -------------------------------===//

#include "NixlTransport.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

using namespace kv;
using namespace kv::nixl;

static constexpr const char *Library = "libnixl_capi.so";

/// Where the wheel of a virtual environment, `root`, has put it.
static void addWheels(const std::filesystem::path &root,
                      std::vector<std::string> &paths) {
  std::error_code error;
  for (const auto &python :
       std::filesystem::directory_iterator(root / "lib", error))
    for (const auto &folder : std::filesystem::directory_iterator(
             python.path() / "site-packages", error))
      if (auto path = folder.path() / Library;
          folder.path().filename().string().starts_with(".nixl_") &&
          std::filesystem::exists(path, error))
        paths.push_back(path);
}

static std::vector<std::string> candidates() {
  if (const char *given = std::getenv("KV_NIXL_LIBRARY"))
    return {given};
  std::vector<std::string> paths = {Library};
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    addWheels(environment, paths);
  return paths;
}

/// Sets environment variables that users have not set.
static void setDefaults() {
  auto set = [](const char *variable, const char *value) {
    ::setenv(variable, value, /*overwrite=*/0);
  };
  // Logs of NIXL and UCX are not for users.
  set("NIXL_LOG_LEVEL", "FATAL");
  set("UCX_LOG_LEVEL", "fatal");
  // UCX's modules for InfiniBand load the system's libibverbs, and so a second
  // libnl in addition to the wheel's own: the symbols of one end up in the
  // other, and the process crashes when it ends. Without such a device nothing
  // is lost.
  std::error_code error;
  if (std::filesystem::is_empty("/sys/class/infiniband", error) || error)
    set("UCX_MODULES", "^ib,rdmacm");
}

static Expected<Functions> loadFunctions() {
  setDefaults();
  void *library = nullptr;
  std::string problem;
  for (const std::string &path : candidates())
    if ((library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    else if (problem.empty())
      problem = dlerror();
  if (!library)
    return makeError(
        KV_STATUS_UNSUPPORTED,
        "pages of peers need NIXL: install the package nixl-cu12 1.5.1 (pip "
        "install --no-deps nixl-cu12==1.5.1) and set KV_NIXL_LIBRARY to its ",
        Library,
        ", or activate the virtual environment that has it: ", problem);
  Functions made;
  const char *missing = nullptr;
  auto find = [&]<class Function>(Function &function, const char *symbol) {
    void *found = dlsym(library, symbol);
    if (!found)
      missing = symbol;
    function = reinterpret_cast<Function>(found);
  };
#define KV_NIXL(name, ...) find(made.name, "nixl_capi_" #name);
#include "Nixl.def"
  if (missing)
    return makeError(KV_STATUS_UNSUPPORTED, "NIXL's ", Library,
                     " has no function ", missing, ", version 1.5.1 has it");
  return made;
}

Expected<const Functions *> nixl::load() {
  static const Expected<Functions> loaded = loadFunctions();
  if (!loaded)
    return std::unexpected(loaded.error());
  return &*loaded;
}
