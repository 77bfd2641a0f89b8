//===- FindCublasLt.cpp - Where cuBLASLt and NCCL may lie -----------------===//

#include "FindCublasLt.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <glob.h>
#include <span>

using namespace kv::cuda::driver;

using Names = std::span<const char *const>;

/// Folders in which `folder`, which may have wildcards, has the library.
static void addFiles(Names names, const std::string &folder,
                     std::vector<std::string> &candidates) {
  for (const char *name : names) {
    glob_t found = {};
    if (glob((folder + "/" + name).c_str(), 0, nullptr, &found) == 0)
      // The last is the latest version of several.
      for (size_t i = found.gl_pathc; i-- > 0;)
        candidates.emplace_back(found.gl_pathv[i]);
    globfree(&found);
  }
}

/// The folder of the library or program that this code is in.
static std::filesystem::path ownFolder() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<const void *>(&cublasLtCandidates), &info) ||
      !info.dli_fname)
    return {};
  std::error_code none;
  return std::filesystem::absolute(info.dli_fname, none).parent_path();
}

static std::vector<std::string> candidatesOf(Names names) {
  std::vector<std::string> candidates(names.begin(), names.end());
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable))
      addFiles(names, std::string(folder) + "/lib64", candidates);
  addFiles(names, "/usr/local/cuda*/lib64", candidates);
  // Wheels lie side by side: site-packages/kvmlir/..., site-packages/nvidia/...
  std::filesystem::path folder = ownFolder();
  for (int level = 0; level < 3 && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    addFiles(names, folder.string() + "/nvidia/*/lib", candidates);
  }
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    addFiles(names,
             std::string(environment) +
                 "/lib/python3*/site-packages/nvidia/*/lib",
             candidates);
  for (const char *packages : {"/usr/local/lib/python3*/dist-packages",
                               "/usr/local/lib/python3*/site-packages",
                               "/usr/lib/python3*/site-packages"})
    addFiles(names, std::string(packages) + "/nvidia/*/lib", candidates);
  return candidates;
}

std::vector<std::string> kv::cuda::driver::cublasLtCandidates() {
  static constexpr const char *names[] = {
      "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  return candidatesOf(names);
}

std::vector<std::string> kv::cuda::driver::ncclCandidates() {
  static constexpr const char *names[] = {"libnccl.so.2", "libnccl.so"};
  return candidatesOf(names);
}
