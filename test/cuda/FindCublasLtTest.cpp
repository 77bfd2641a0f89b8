//===- FindCublasLtTest.cpp - Where cuBLASLt may lie ----------------------===//

#include "runtime/cuda/driver/FindCublasLt.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace fs = std::filesystem;
using kv::cuda::driver::cublasLtCandidates;

namespace {

class FindCublasLt : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "kv-cublas-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  void TearDown() override {
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV"})
      unsetenv(variable);
    fs::remove_all(root);
  }
  std::string make(const fs::path &file) {
    fs::path path = root / file;
    fs::create_directories(path.parent_path());
    fs::create_symlink(KV_FAKE_CUDA_PATH, path);
    return path.string();
  }
  /// Its place among the candidates; -1: it is none.
  static ptrdiff_t placeOf(const std::string &file) {
    std::vector<std::string> all = cublasLtCandidates();
    auto at = std::find(all.begin(), all.end(), file);
    return at == all.end() ? -1 : at - all.begin();
  }
  fs::path root;
};

} // namespace

TEST_F(FindCublasLt, TheLoadersComeFirst) {
  EXPECT_EQ(cublasLtCandidates()[0], "libcublasLt.so.13");
}

TEST_F(FindCublasLt, InToolkitsAndWheels) {
  std::string wheel = make("env/lib/python3.12/site-packages/nvidia/cu13/lib/"
                           "libcublasLt.so.13"),
              older = make("env/lib/python3.12/site-packages/nvidia/cublas/lib/"
                           "libcublasLt.so.12"),
              toolkit = make("cuda/lib64/libcublasLt.so.13");
  EXPECT_EQ(placeOf(wheel), -1);
  EXPECT_EQ(placeOf(toolkit), -1);
  setenv("VIRTUAL_ENV", (root / "env").c_str(), 1);
  setenv("CUDA_HOME", (root / "cuda").c_str(), 1);
  EXPECT_GT(placeOf(toolkit), 2);
  EXPECT_GT(placeOf(wheel), placeOf(toolkit));
  EXPECT_GT(placeOf(older), placeOf(wheel));
  void *library = dlopen(wheel.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "cublasLtCreate"), nullptr);
}

TEST_F(FindCublasLt, NcclLiesBesideIt) {
  std::string wheel = make("env/lib/python3.12/site-packages/nvidia/nccl/lib/"
                           "libnccl.so.2");
  setenv("VIRTUAL_ENV", (root / "env").c_str(), 1);
  std::vector<std::string> all = kv::cuda::driver::ncclCandidates();
  EXPECT_EQ(all[0], "libnccl.so.2");
  EXPECT_NE(std::ranges::find(all, wheel), all.end());
}
