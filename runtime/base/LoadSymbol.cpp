//===- LoadSymbol.cpp - Libraries that are loaded on demand ---------------===//

#include "LoadSymbol.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

using namespace kv;

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

static std::vector<std::string> candidates(const char *library,
                                           const char *variable) {
  if (const char *given = std::getenv(variable))
    return {given};
  std::vector<std::string> paths;
  std::error_code error;
  if (std::filesystem::path own = ownFile(); !own.empty())
    for (const char *relative : {".", "../lib"})
      if (auto path = own.parent_path() / relative / library;
          std::filesystem::exists(path, error))
        paths.push_back(path.string());
  paths.emplace_back(library);
  return paths;
}

Expected<void *> kv::loadSymbol(const char *library, const char *variable,
                                const char *symbol) {
  std::string problem;
  for (const std::string &path : candidates(library, variable)) {
    void *loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
      problem = dlerror();
      continue;
    }
    if (void *found = dlsym(loaded, symbol))
      return found;
    problem = concat(path, ": it has no symbol ", symbol);
  }
  return makeError(KV_STATUS_UNSUPPORTED, problem);
}
