//===- gpu-verify.cpp - One suite's rows on a GPU -------------------------===//
//
// scripts/gpu-verify starts this program, once a suite or again after a row
// that ended it, and tells it on its standard input which row to run next. It
// answers on its standard output by lines that begin with "@ ". It runs from a
// folder that scripts/gpu-verify --pack made: needs no compiler, no MLIR, and
// of the machine only CUDA's driver, and cuBLASLt for products.
//
//===----------------------------------------------------------------------===//

#include "../../kernels/cuda/KernelTable.h"
#include "GpuBackend.h"
#include "Suite.h"
#include "VerifyKernels.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

struct Options : SuiteOptions {
  std::string folder, suite;
  bool list = false;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    auto value = [&](std::string_view name, std::string &into) {
      if (!argument.starts_with(name))
        return false;
      into = argument.substr(name.size());
      return true;
    };
    std::string peer;
    if (argument == "--list")
      options.list = true;
    else if (argument == "--small")
      options.small = true;
    else if (value("--peer=", peer) && peer.find('=') != std::string::npos)
      options.peers.push_back(peer);
    else if (!value("--suite=", options.suite)) {
      if (argument.starts_with("-") || !options.folder.empty())
        return false;
      options.folder = argument;
    }
  }
  return !options.folder.empty();
}

/// The first file that a GPU of the chips with images could want and that is
/// not there. PTX, which other chips want, is not carried to every machine.
/// A folder for a 9.0 alone has none of sm_80.
std::string missingImage(const std::string &folder) {
  bool for90 =
      !std::filesystem::exists(folder + "/kv-cuda/kv_movers.sm_80.cubin");
  std::set<std::string> images = {"kv-cuda/kv_movers"};
  for (const AttentionKernel &kernel : AttentionKernels)
    images.insert("kv-cuda/" + std::string(kernel.name));
  std::set<std::string> only90;
  for (const VerifyKernel &kernel : VerifyKernels)
    (kernel.only90 ? only90 : images)
        .insert("kv-verify/" + std::string(kernel.image));
  for (const AttentionKernel &kernel : TileKernels)
    if (kv::kernels::onlyChipOf(kernel.name) == "sm_90a")
      only90.insert("kv-cuda/" + std::string(kernel.name));
  for (const std::string &image : only90)
    if (std::string path = folder + "/" + image + ".sm_90a.cubin";
        !std::filesystem::exists(path))
      return path;
  for (const std::string &image : images)
    for (const char *kind : {".sm_80.cubin", ".sm_90a.cubin"})
      if (std::string path = folder + "/" + image + kind;
          !(for90 && path.ends_with(".sm_80.cubin")) &&
          !std::filesystem::exists(path))
        return path;
  return "";
}

template <class Strings> std::string jsonList(const Strings &strings) {
  std::string list;
  for (const std::string &text : strings)
    list += (list.empty() ? "" : ", ") + jsonString(text);
  return "[" + list + "]";
}

std::string facts(const Gpu &gpu) {
  std::vector<std::string> kernels;
  for (const KernelLaunch &kernel : KernelLaunches)
    // No images of other chips' own kernels travel.
    if (std::string_view chip = kv::kernels::onlyChipOf(kernel.name);
        chip.empty() || chip == "sm_90a")
      kernels.emplace_back(kernel.name);
  return "{\"device\": " + jsonString(gpu.name) +
         ", \"compute_capability\": \"" + std::to_string(gpu.major) + "." +
         std::to_string(gpu.minor) +
         "\", \"multiprocessors\": " + std::to_string(gpu.multiprocessors) +
         ", \"memory_bytes\": " + std::to_string(gpu.memoryBytes) +
         ", \"l2_bytes\": " + std::to_string(gpu.l2Bytes) +
         ", \"shared_bytes\": " + std::to_string(gpu.sharedBytes) +
         ", \"driver\": " + std::to_string(gpu.driverVersion) +
         ", \"kernels\": " + jsonList(kernels) +
         ", \"left_out\": " + jsonList(kernelsLeftOut()) + "}";
}

void say(const std::string &line) {
  std::printf("@ %s\n", line.c_str());
  std::fflush(stdout);
}

void serve(Suite &suite, Gpu &gpu) {
  std::set<std::string> known;
  for (const Row &row : suite.rows())
    known.insert(row.name);
  for (std::string row; std::getline(std::cin, row);) {
    gpu.takeLaunched();
    Result result = known.contains(row)
                        ? suite.run(row)
                        : Result::failed("there is no such row");
    say("{\"result\": " + json(result) +
        ", \"kernels\": " + jsonList(gpu.takeLaunched()) + "}");
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("usage: gpu-verify LIBRARIES [--suite=NAME [--list]] [--small] "
               "[--peer=NAME=LIBRARY]...\n",
               stderr);
    return ExitUsage;
  }
  if (std::string path = missingImage(options.folder); !path.empty()) {
    std::fprintf(stderr, "gpu-verify: %s is missing\n", path.c_str());
    return ExitUsage;
  }
  auto gpu = Gpu::open(options.folder);
  if (!gpu) {
    std::fprintf(stderr, "gpu-verify: %s\n", gpu.error().message.c_str());
    return ExitNoGpu;
  }
  setGpu(gpu->get());
  if (options.suite.empty()) {
    say(facts(**gpu));
    return ExitPassed;
  }
  std::unique_ptr<Suite> suite = makeSuite(options.suite, **gpu, options);
  if (!suite) {
    std::fprintf(stderr, "gpu-verify: there is no suite %s; there are %s\n",
                 options.suite.c_str(), SuiteNames);
    return ExitUsage;
  }
  if (options.list) {
    for (const Row &row : suite->rows())
      say("{\"row\": " + jsonString(row.name) +
          ", \"seconds\": " + std::to_string(row.seconds) + "}");
    return ExitPassed;
  }
  serve(*suite, **gpu);
  return ExitPassed;
}
