//===- gpu-verify.cpp - One suite's rows on a GPU -------------------------===//
//
// tools/gpu-verify/gpu-verify starts this program, once a suite or again after
// a row that ended it, and tells it on its standard input which row to run
// next. It answers on its standard output by lines that begin with "@ ". It
// runs from a folder that tools/gpu-verify/gpu-verify --pack made: needs no
// compiler, no MLIR, and of the machine only CUDA's driver, and cuBLASLt for
// products.
//
//===----------------------------------------------------------------------===//

#include "GpuBackend.h"
#include "Suite.h"
#include "VerifyKernels.h"
#include "kernels/cuda/parameters/KernelTable.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

struct Options : SuiteOptions {
  std::string folder, suite;
  bool list = false, watchdog = false;
  std::set<std::string> without; // kernels that no row launches
};
constexpr std::string_view AllSuites = "all";

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    auto value = [&](std::string_view name, std::string &into) {
      if (!argument.starts_with(name))
        return false;
      into = argument.substr(name.size());
      return true;
    };
    std::string peer, kernel;
    if (argument == "--list")
      options.list = true;
    else if (argument == "--watchdog")
      options.watchdog = true;
    else if (value("--without=", kernel))
      options.without.insert(kernel);
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
  return !options.folder.empty() && !options.suite.empty();
}

/// Images of a chip.
struct ImageSet {
  std::string_view chip, suffix;
  /// Whether all kernels for every chip have one; of later chips and as PTX
  /// there are as many as somebody has built.
  bool isWhole;
};
constexpr ImageSet ImageSets[] = {
    {"sm_80", ".sm_80.cubin", true},
    {"sm_90a", ".sm_90a.cubin", true},
    {"sm_100a", ".sm_100a.cubin", false},
    {"sm_120", ".sm_120.cubin", false},
    {"compute_80", ".compute_80.ptx", false},
};

std::set<std::string> imagesOf(const ImageSet &set) {
  std::set<std::string> images;
  for (const VerifyKernel &kernel : VerifyKernels)
    if (kernel.isFor(set.chip))
      images.insert("kv-verify/" + std::string(kernel.image));
  for (const AttentionKernel &kernel : AttentionKernels)
    if (set.isWhole)
      images.insert("kv-cuda/" + std::string(kernel.name));
  for (const AttentionKernel &kernel : TileKernels)
    if (kernels::onlyChipOf(kernel.name) == set.chip)
      images.insert("kv-cuda/" + std::string(kernel.name));
  return images;
}

/// The first file that is not there of a chip whose movers are.
std::string missingImage(const std::string &folder) {
  auto path = [&](const ImageSet &set, const std::string &image) {
    return folder + "/" + image + std::string(set.suffix);
  };
  const std::string movers = "kv-cuda/" + std::string(kernels::MoversImage);
  bool any = false;
  for (const ImageSet &set : ImageSets) {
    if (!std::filesystem::exists(path(set, movers)))
      continue;
    any = true;
    for (const std::string &image : imagesOf(set))
      if (!std::filesystem::exists(path(set, image)))
        return path(set, image);
  }
  return any ? "" : path(ImageSets[0], movers);
}

template <class Strings> std::string jsonList(const Strings &strings) {
  std::string list;
  for (const std::string &text : strings)
    list += (list.empty() ? "" : ", ") + jsonString(text);
  return "[" + list + "]";
}

std::string facts(const Gpu &gpu) {
  std::vector<std::string> kernels, left;
  for (const KernelLaunch &kernel : KernelLaunches) {
    std::string name(kernel.name), why = whyLeftOut(name);
    std::string_view only = kernels::onlyChipOf(name);
    if (why.empty())
      kernels.push_back(name);
    else if (only.empty() || only == gpu.chip())
      left.push_back(name + ": " + why);
  }
  return "{\"device\": " + jsonString(gpu.name) +
         ", \"compute_capability\": \"" + std::to_string(gpu.major) + "." +
         std::to_string(gpu.minor) +
         "\", \"multiprocessors\": " + std::to_string(gpu.multiprocessors) +
         ", \"memory_bytes\": " + std::to_string(gpu.memoryBytes) +
         ", \"l2_bytes\": " + std::to_string(gpu.l2Bytes) +
         ", \"shared_bytes\": " + std::to_string(gpu.sharedBytes) +
         ", \"driver\": " + std::to_string(gpu.driverVersion) +
         ", \"kernels\": " + jsonList(kernels) +
         ", \"left_out\": " + jsonList(left) + "}";
}

void say(const std::string &line) {
  std::printf("@ %s\n", line.c_str());
  std::fflush(stdout);
}

void list(const std::string &name, Suite &suite) {
  for (const Row &row : suite.rows())
    say("{\"suite\": " + jsonString(name) + ", \"row\": " +
        jsonString(row.name) + ", \"seconds\": " + std::to_string(row.seconds) +
        ", \"first\": " + (row.isFirst ? "true" : "false") + "}");
}

/// A row's result, unless it would have launched a kernel that it must not.
Result runRow(Suite &suite, const std::string &row) {
  try {
    return suite.run(row);
  } catch (const Refused &) {
    return Result::failed("a kernel was not launched");
  }
}

void serve(Suite &suite, Gpu &gpu) {
  std::set<std::string> known;
  for (const Row &row : suite.rows())
    known.insert(row.name);
  say("{\"ready\": true}");
  for (std::string row; std::getline(std::cin, row);) {
    gpu.launches().take();
    Result result = known.contains(row)
                        ? runRow(suite, row)
                        : Result::failed("there is no such row");
    // Also where a test took the exception for its own.
    if (std::string kernel = gpu.launches().takeRefused(); !kernel.empty())
      say("{\"left\": " + jsonString(kernel + " has hung before") + "}");
    else
      say("{\"result\": " + json(result) +
          ", \"kernels\": " + jsonList(gpu.launches().take()) + "}");
  }
}

/// Rows of all suites, or of one, behind the facts of the machine.
int list(const Options &options, Gpu &gpu) {
  say(facts(gpu));
  for (const char *name : SuiteNames)
    if (options.suite == AllSuites || options.suite == name)
      list(name, *makeSuite(name, gpu, options));
  return ExitPassed;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(
        "usage: gpu-verify LIBRARIES --suite=NAME|all [--list] [--small] "
        "[--watchdog] [--without=KERNEL]... [--peer=NAME=LIBRARY]...\n",
        stderr);
    return ExitUsage;
  }
  if (std::string path = missingImage(options.folder); !path.empty()) {
    std::fprintf(stderr, "gpu-verify: %s is missing\n", path.c_str());
    return ExitUsage;
  }
  auto gpu = Gpu::open(options.folder, options.watchdog);
  if (!gpu) {
    std::fprintf(stderr, "gpu-verify: %s\n", gpu.error().message.c_str());
    return ExitNoGpu;
  }
  setGpu(gpu->get());
  if (!canRun("kv_plan")) {
    std::fprintf(stderr,
                 "gpu-verify: %s has no images for a GPU of compute capability "
                 "%d.%d\n",
                 options.folder.c_str(), (*gpu)->major, (*gpu)->minor);
    return ExitUsage;
  }
  if (options.list && options.suite == AllSuites)
    return list(options, **gpu);
  std::unique_ptr<Suite> suite = makeSuite(options.suite, **gpu, options);
  if (!suite) {
    std::string names(AllSuites);
    for (const char *name : SuiteNames)
      names += std::string(", ") + name;
    std::fprintf(stderr, "gpu-verify: there is no suite %s; there are %s\n",
                 options.suite.c_str(), names.c_str());
    return ExitUsage;
  }
  if (options.list)
    return list(options, **gpu);
  (*gpu)->launches().refuse(options.without);
  if (options.small)
    setenv("KV_TEST_EARLY_LAUNCHES", "30", /*overwrite=*/0);
  serve(*suite, **gpu);
  return ExitPassed;
}
