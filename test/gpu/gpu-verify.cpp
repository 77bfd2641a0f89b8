//===- gpu-verify.cpp - The kernels on a GPU ------------------------------===//
//
// The tests of test/kernels on a GPU, then ceilings and timing. Runs from a
// folder that scripts/gpu-verify --pack made: needs no compiler, no MLIR, and
// of the machine only CUDA's driver.
//
//===----------------------------------------------------------------------===//

#include "../../kernels/cuda/KernelTable.h"
#include "GpuBackend.h"
#include "Logits.h"
#include "Timing.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

struct Options {
  std::string folder, json, commit = "unknown", logits;
  std::string only = "*-AttentionMatrix.Product"; // a filter of tests
  bool timing = true, small = false;
  std::vector<std::string> peers;
};

constexpr const char *Usage =
    "usage: gpu-verify LIBRARIES [--json=FILE] [--commit=ID] [--only=TESTS] "
    "[--no-timing | --small] [--peer=NAME=LIBRARY]..., or gpu-verify LIBRARIES "
    "--logits=EXPECTED,GOT\n";

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
    if (argument == "--no-timing")
      options.timing = false;
    else if (argument == "--small")
      options.small = true;
    else if (value("--peer=", peer) && peer.find('=') != std::string::npos)
      options.peers.push_back(peer);
    else if (!value("--json=", options.json) &&
             !value("--commit=", options.commit) &&
             !value("--logits=", options.logits) &&
             !value("--only=", options.only)) {
      if (argument.starts_with("-") || !options.folder.empty())
        return false;
      options.folder = argument;
    }
  }
  return !options.folder.empty();
}

/// The first file that a GPU could want and that is not there.
std::string missingImage(const std::string &folder) {
  std::vector<std::string> images = {"kv-cuda/kv_movers",
                                     "kv-verify/kv_instructions",
                                     "kv-verify/kv_ceilings"};
  for (const AttentionKernel &kernel : AttentionKernels)
    images.push_back("kv-cuda/" + std::string(kernel.name));
  for (const std::string &image : images)
    for (const char *kind :
         {".sm_80.cubin", ".sm_90a.cubin", ".compute_80.ptx"})
      if (std::string path = folder + "/" + image + kind;
          !std::filesystem::exists(path))
        return path;
  return "";
}

/// Each test's result, into a report.
class Listener : public ::testing::EmptyTestEventListener {
public:
  explicit Listener(Report &report) : report(report) {}
  void OnTestStart(const ::testing::TestInfo &info) override {
    message.clear();
  }
  void OnTestPartResult(const ::testing::TestPartResult &result) override {
    if (result.failed() && message.empty())
      message = result.message();
  }
  void OnTestEnd(const ::testing::TestInfo &info) override {
    const ::testing::TestResult &result = *info.result();
    std::string name = std::string(info.test_suite_name()) + "." + info.name();
    report.checks.push_back(
        {name, result.Passed(), message, result.elapsed_time() / 1000.0});
    std::printf("%-40s %s\n", name.c_str(),
                result.Passed() ? "passed" : "FAILED");
    std::fflush(stdout);
  }

private:
  Report &report;
  std::string message;
};

void runTests(const std::string &only, Report &report) {
  ::testing::GTEST_FLAG(filter) = only;
  auto &listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Listener(report));
  // What fails outside of a test is in no report of one.
  if (RUN_ALL_TESTS() && report.passed())
    report.checks.push_back({"GoogleTest", false, "a failure in no test", 0});
}

/// "EXPECTED,GOT"
int runLogits(const std::string &files) {
  size_t comma = files.find(',');
  if (comma == std::string::npos) {
    std::fputs(Usage, stderr);
    return ExitUsage;
  }
  double largest = 0;
  std::string problem = compareLogitFiles(files.substr(0, comma),
                                          files.substr(comma + 1), largest);
  if (problem.empty())
    std::printf("the model's logits differ by at most %.3g\n", largest);
  else
    std::fprintf(stderr, "gpu-verify: %s\n", problem.c_str());
  return problem.empty() ? ExitPassed : ExitFailed;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(Usage, stderr);
    return ExitUsage;
  }
  if (!options.logits.empty())
    return runLogits(options.logits);
  if (std::string path = missingImage(options.folder); !path.empty()) {
    std::fprintf(stderr, "gpu-verify: %s is missing\n", path.c_str());
    return ExitUsage;
  }
  auto gpu = Gpu::open(options.folder);
  if (!gpu) {
    std::fprintf(stderr, "gpu-verify: %s\n", gpu.error().message.c_str());
    return ExitNoGpu;
  }
  std::printf("%s, compute capability %d.%d, driver %d\n", (*gpu)->name.c_str(),
              (*gpu)->major, (*gpu)->minor, (*gpu)->driverVersion);
  Report report;
  report.commit = options.commit;
  setGpu(gpu->get());
  report.left = kernelsLeftOut();
  char *none[] = {argv[0], nullptr};
  int one = 1;
  ::testing::InitGoogleTest(&one, none);
  runTests(options.only, report);
  // What computes wrongly has no speed.
  if (report.passed() && options.timing) {
    Ceilings ceilings;
    if (!options.small)
      ceilings = measureCeilings(**gpu, report);
    measureKernels(**gpu, ceilings, options.peers, options.small, report);
  } else if (!report.passed()) {
    report.left.push_back("timing: a check failed");
  }
  std::fputs(report.table().c_str(), stdout);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << report.json(**gpu);
    if (!file.flush()) {
      std::fprintf(stderr, "gpu-verify: %s cannot be written\n",
                   options.json.c_str());
      return ExitFailed;
    }
  }
  return report.passed() ? ExitPassed : ExitFailed;
}
