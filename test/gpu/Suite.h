//===- Suite.h - Rows that gpu-verify can run -------------------*- C++ -*-===//
//
// A suite names its rows before it runs any, each with the seconds that it
// should take on a GPU, so that tools/gpu-verify/gpu-verify can plan a visit.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_SUITE_H
#define KV_TEST_GPU_SUITE_H

#include "Gpu.h"
#include "Result.h"

#include <memory>

namespace kv::cuda::test {

struct Row {
  std::string name;
  double seconds;
  bool isFirst = false; // one of those that come before other suites' rest
};

class Suite {
public:
  virtual ~Suite() = default;
  virtual std::vector<Row> rows() = 0;
  /// Runs one of rows(), any number of times.
  virtual Result run(const std::string &row) = 0;
};

struct SuiteOptions {
  /// Shapes that try this program out, on the fake driver.
  bool small = false;
  /// "NAME=LIBRARY": libraries with a kvPeerAttention (Peer.h).
  std::vector<std::string> peers;
};

/// The tests of test/kernels whose names begin so; a row is a test. Of
/// AttentionMatrix.Product, if it is asked for, `shards` rows. Pools of 2^31
/// elements only where a device's `memoryBytes` have room for them. `third`:
/// every third row alone, for the emulator.
std::unique_ptr<Suite> makeTests(std::vector<std::string> prefixes,
                                 double seconds, int64_t memoryBytes,
                                 int shards = 0, bool third = false);
std::unique_ptr<Suite> makeProbes(Gpu &gpu);
std::unique_ptr<Suite> makeLongRuns(Gpu &gpu, const SuiteOptions &options);
std::unique_ptr<Suite> makeProducts(Gpu &gpu, const SuiteOptions &options);
std::unique_ptr<Suite> makeCeilings(Gpu &gpu, const SuiteOptions &options);
std::unique_ptr<Suite> makeTimings(Gpu &gpu, const SuiteOptions &options);

/// The suite of that name on the device; null: there is none.
std::unique_ptr<Suite> makeSuite(std::string_view name, Gpu &gpu,
                                 const SuiteOptions &options);
constexpr const char *SuiteNames[] = {
    "instructions", "probes",   "movers", "attention", "tiles",
    "bytes",        "bits",     "pairs",  "cases",     "long",
    "products",     "ceilings", "timing"};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_SUITE_H
