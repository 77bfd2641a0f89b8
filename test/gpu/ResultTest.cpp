//===- ResultTest.cpp - What gpu-verify writes ----------------------------===//

#include "Result.h"
#include "Watchdog.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace kv::cuda::test;

TEST(GpuResult, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(GpuResult, QuotesWhatJsonDoesNotHold) {
  std::string text = "a\"b\\c\nd\x01";
  EXPECT_EQ(nlohmann::json::parse(jsonString(text)).get<std::string>(), text);
  // A byte that is no UTF-8 must not make the line unreadable.
  EXPECT_TRUE(nlohmann::json::accept(jsonString("\xff\xc3")));
}

TEST(GpuResult, Watchdog) {
  EXPECT_TRUE(sentencesOf({}).empty());
  uint64_t loader = kv::cuda::packStuckWait({17, 4, 196608, 0, 31}),
           issuer = kv::cuda::packStuckWait({17, 0, 8, 1, -1});
  EXPECT_EQ(sentencesOf({3, 0, {loader, loader, issuer}}),
            (std::vector<std::string>{
                "block 17, warp 4 waited too long for parity 0 of the barrier "
                "at byte 196608 of shared memory, at leaf 31",
                "block 17, warp 0 waited too long for parity 1 of the barrier "
                "at byte 8 of shared memory"}));
}

TEST(GpuResult, Json) {
  Result result{false,
                "line 3:\n\t\"x\" is 1\\2",
                {{"time", "us", 45.5},
                 {"rate", "GB/s", std::numeric_limits<double>::infinity()},
                 {"bytes", "GB/s", 2500, Baseline::ReadCeiling, 0.88}}};
  auto parsed = nlohmann::json::parse(json(result));
  EXPECT_EQ(parsed["passed"], false);
  EXPECT_EQ(parsed["message"], result.message);
  EXPECT_EQ(parsed["measurements"][0]["value"], 45.5);
  EXPECT_EQ(parsed["measurements"][0]["baseline"], "");
  EXPECT_TRUE(parsed["measurements"][0]["aim"].is_null());
  EXPECT_EQ(parsed["measurements"][1]["value"], 0);
  EXPECT_EQ(parsed["measurements"][2]["baseline"], "read ceiling");
  EXPECT_EQ(parsed["measurements"][2]["aim"], 0.88);
}
