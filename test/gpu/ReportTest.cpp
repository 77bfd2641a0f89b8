//===- ReportTest.cpp - What gpu-verify writes ----------------------------===//

#include "Report.h"
#include "Logits.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace kv::cuda::test;

namespace {

const Check Good{"Mover.Norm", true, "", 0.25};
const Check Bad{"Mover.Rope", false, "line 3:\n\t\"x\" is 1\\2", 1};

} // namespace

TEST(GpuReport, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
}

TEST(GpuReport, QuotesWhatJsonDoesNotHold) {
  std::string text = "a\"b\\c\nd\x01";
  EXPECT_EQ(nlohmann::json::parse(jsonString(text)).get<std::string>(), text);
}

TEST(GpuReport, PassesWhenAllAreGoodAndThereAreSome) {
  EXPECT_FALSE(Report{}.passed());
  Report report;
  report.checks = {Good};
  EXPECT_TRUE(report.passed());
  report.checks.push_back(Bad);
  EXPECT_FALSE(report.passed());
}

TEST(GpuReport, Json) {
  Report report;
  report.commit = "abc";
  report.checks = {Good, Bad};
  report.rows = {
      {"decode", "K and V read once", "GB/s", 2500, "the read ceiling", 0.9,
       0.88},
      {"prefill", "operations", "TFLOP/s", 300, "the GEMM ceiling", 0.4, 0.42},
      {"decode", "time", "us", 45.5, "", {}, {}}};
  report.left = {"a peer"};
  GpuFacts facts{"A GPU", 9,         0,        13000,
                 132,     227 << 10, 50 << 20, int64_t(80) << 30};
  auto json = nlohmann::json::parse(report.json(facts));
  EXPECT_EQ(json["commit"], "abc");
  EXPECT_EQ(json["device"], "A GPU");
  EXPECT_EQ(json["compute_capability"], "9.0");
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["checks"][1]["message"], Bad.message);
  EXPECT_EQ(json["rows"][0]["met"], true);
  EXPECT_EQ(json["rows"][1]["met"], false);
  EXPECT_TRUE(json["rows"][2]["ratio"].is_null());
  EXPECT_TRUE(json["rows"][2]["met"].is_null());
  EXPECT_EQ(json["left"][0], "a peer");
}

TEST(GpuReport, Table) {
  Report report;
  report.checks = {Good, Bad};
  report.rows = {{"decode", "K and V read once", "GB/s", 2500,
                  "the read ceiling", 0.5, 0.88}};
  std::string table = report.table();
  EXPECT_NE(table.find("FAILED"), std::string::npos);
  EXPECT_NE(table.find("0.5 of the read ceiling, aim 0.88 MISSED"),
            std::string::npos);
}

TEST(GpuLogits, Compared) {
  double largest = 0;
  EXPECT_EQ(compareLogits({1, 2, 3}, {1, 2.25f, 3}, largest), "");
  EXPECT_EQ(largest, 0.25);
  EXPECT_EQ(compareLogits({1, 2}, {1, 3}, largest),
            "logit 1 is 3.000000, expected 2.000000 +- 0.840000");
  EXPECT_NE(compareLogits({1}, {NAN}, largest), "");
  EXPECT_EQ(compareLogits({1, 2}, {1}, largest),
            "there are 1 logits, expected 2");
  EXPECT_NE(compareLogits({}, {}, largest), "");
}
