//===- Tests.cpp - The tests of test/kernels as rows ----------------------===//

#include "Suite.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace kv::cuda::test;

namespace {

constexpr std::string_view LargePool = "APoolBeyondTwoToThe31Elements";
constexpr int64_t LargePoolBytes = int64_t(16) << 30;
constexpr std::string_view Product = "AttentionMatrix.Product";

/// The first failure of the test that runs, and why it does not run.
class Listener : public ::testing::EmptyTestEventListener {
public:
  void OnTestPartResult(const ::testing::TestPartResult &result) override {
    if (result.failed() && message.empty())
      message = result.message();
    if (result.skipped() && leftOut.empty())
      leftOut = std::string("left out: ") + result.message();
  }
  std::string message, leftOut;
};

class Tests final : public Suite {
public:
  Tests(std::vector<std::string> prefixes, double seconds, int64_t memoryBytes,
        int shards, bool third)
      : prefixes(std::move(prefixes)), seconds(seconds),
        memoryBytes(memoryBytes), shards(shards), third(third) {
    static bool isReady = false;
    if (!isReady) {
      int one = 1;
      char name[] = "gpu-verify", *none[] = {name, nullptr};
      ::testing::InitGoogleTest(&one, none);
      auto &listeners = ::testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      isReady = true;
    }
    ::testing::UnitTest::GetInstance()->listeners().Append(&listener);
  }
  ~Tests() override {
    ::testing::UnitTest::GetInstance()->listeners().Release(&listener);
  }

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    const auto &unit = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < unit.total_test_suite_count(); ++i)
      for (int j = 0; j < unit.GetTestSuite(i)->total_test_count(); ++j) {
        const ::testing::TestInfo &test = *unit.GetTestSuite(i)->GetTestInfo(j);
        std::string name =
            std::string(test.test_suite_name()) + "." + test.name();
        bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                  [&](const std::string &prefix) {
                                    return name.starts_with(prefix);
                                  });
        if (name == Product && shards && wanted)
          for (int shard = 0; shard < shards; ++shard)
            rows.push_back({name + "/" + std::to_string(shard), seconds});
        else if (wanted && name != Product &&
                 (memoryBytes >= LargePoolBytes || !name.ends_with(LargePool)))
          rows.push_back({name, seconds});
      }
    if (!third)
      return rows;
    std::vector<Row> kept;
    for (size_t i = 1; i < rows.size(); i += 3)
      kept.push_back(rows[i]);
    return kept;
  }

  Result run(const std::string &row) override {
    size_t slash = row.starts_with(Product) ? row.find('/') : row.npos;
    if (slash != row.npos) {
      setenv("KV_TEST_SHARDS", std::to_string(ProductShards).c_str(), 1);
      setenv("KV_TEST_SHARD", row.c_str() + slash + 1, 1);
    }
    ::testing::GTEST_FLAG(filter) = row.substr(0, slash);
    listener.message.clear();
    listener.leftOut.clear();
    int failed = RUN_ALL_TESTS();
    if (!::testing::UnitTest::GetInstance()->test_to_run_count())
      return Result::failed("there is no such test");
    if (!failed)
      return {true, listener.leftOut};
    return Result::failed(listener.message.empty() ? "a failure in no test"
                                                   : listener.message);
  }

private:
  /// About a hundred cases each.
  static constexpr int ProductShards = 389;
  std::vector<std::string> prefixes;
  double seconds;
  int64_t memoryBytes;
  int shards;
  bool third; // of the rows alone
  Listener listener;
};

} // namespace

std::unique_ptr<Suite>
kv::cuda::test::makeTests(std::vector<std::string> prefixes, double seconds,
                          int64_t memoryBytes, int shards, bool third) {
  return std::make_unique<Tests>(std::move(prefixes), seconds, memoryBytes,
                                 shards, third);
}

std::unique_ptr<Suite> kv::cuda::test::makeSuite(std::string_view name,
                                                 Gpu &gpu,
                                                 const SuiteOptions &options) {
  if (name == "instructions")
    return makeTests({"Instruction."}, 0.5, gpu.memoryBytes);
  if (name == "movers")
    return makeTests({"Mover."}, 1, gpu.memoryBytes);
  if (name == "attention")
    return makeTests({"Attention.", "AttentionTrees."}, 5, gpu.memoryBytes);
  if (name == "tiles")
    return makeTests({"AttentionTiles."}, 3, gpu.memoryBytes, 0, options.small);
  if (name == "bytes")
    return makeTests({"ByteTiles.", "Heads/AttentionBytes."}, 2,
                     gpu.memoryBytes, 0, options.small);
  if (name == "bits")
    return makeTests({"AttentionBits."}, 5, gpu.memoryBytes);
  if (name == "pairs")
    return makeTests({"AttentionMatrix.E"}, 20, gpu.memoryBytes);
  if (name == "cases")
    return makeTests({std::string(Product)}, 5, gpu.memoryBytes, 40);
  if (name == "probes")
    return makeProbes(gpu);
  if (name == "long")
    return makeLongRuns(gpu, options);
  if (name == "products")
    return makeProducts(gpu, options);
  if (name == "ceilings")
    return makeCeilings(gpu, options);
  if (name == "timing")
    return makeTimings(gpu, options);
  return nullptr;
}
