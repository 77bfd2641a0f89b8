//===- FaultyKernel.cpp - Each mistake is seen ----------------------------===//

#include "FaultyKernel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <set>

using namespace kv::cuda;
using namespace kv::cuda::test;

using Sites = std::set<Site>;

static Sites record(const Case &run, Schedule schedule) {
  Outcome outcome;
  Sites sites = Garden::get().record([&] { outcome = run(schedule); });
  EXPECT_TRUE(outcome.isGood())
      << "without a mistake: "
      << (outcome.reports.empty() ? outcome.wrong : outcome.reports[0]);
  return sites;
}

/// Those of a place, in the order of the source.
static std::vector<Site> find(const Sites &sites, const Where &place) {
  std::vector<Site> found;
  for (const Site &site : sites)
    if (site.member == place.member && site.file == place.file &&
        site.function == place.function)
      found.push_back(site);
  EXPECT_LT(place.which, int(found.size()))
      << place.file << ' ' << place.function << ' ' << nameOf(place.member);
  if (place.which < 0 || found.empty())
    return found;
  return {found[place.which]};
}

Outcome kv::cuda::test::runWith(const What &what, const Case &run,
                                Schedule schedule) {
  std::vector<Plant> plants;
  if (!what.instead.empty()) {
    Sites sites = record(run, schedule);
    for (const What::Instead &instead : what.instead) {
      std::vector<Site> found = find(sites, instead.place);
      EXPECT_FALSE(found.empty())
          << instead.place.file << ' ' << instead.place.function << " calls no "
          << nameOf(instead.place.member);
      for (const Site &site : found)
        plants.push_back({site, instead.action, instead.threads, instead.call});
    }
  }
  Outcome outcome;
  withMistake(what.mistake, [&] {
    Garden::get().plant(plants, /*stops=*/false,
                        [&] { outcome = run(schedule); });
  });
  return outcome;
}

void kv::cuda::test::expectSeen(const What &what, const char *text,
                                const Case &run) {
  if (what.instead.empty()) // else runWith() looks at a run without
    record(run, Schedule::LatestFirst);
  for (Schedule schedule : Schedules) {
    Outcome outcome = runWith(what, run, schedule);
    if (!text) {
      EXPECT_TRUE(outcome.reports.empty()) << outcome.reports[0];
      EXPECT_FALSE(outcome.wrong.empty());
      continue;
    }
    bool seen = false;
    for (const std::string &report : outcome.reports)
      seen |= report.find(text) != std::string::npos;
    EXPECT_TRUE(seen) << "schedule " << int(schedule) << ": "
                      << (outcome.reports.empty() ? "nothing"
                                                  : outcome.reports[0]);
  }
}

namespace {

class Body : public ::testing::Test {
public:
  explicit Body(std::function<void()> body) : body(std::move(body)) {}
  void TestBody() override { body(); }

private:
  std::function<void()> body;
};

void addTest(const char *suite, const char *name, std::function<void()> body) {
  ::testing::RegisterTest(
      suite, name, nullptr, nullptr, __FILE__, __LINE__,
      [body]() -> ::testing::Test * { return new Body(body); });
}

/// Whether a member belongs to the systematic list.
bool orders(Member member) { return member < Member::FreeTensor; }

/// KV_TEST_FAULTS=all: also those that nothing shows, which all cases must
/// miss.
bool looksAtAll() {
  const char *text = getenv("KV_TEST_FAULTS");
  return text && std::string_view(text) == "all";
}

/// Whether a case shows that a place is left out.
bool isSeen(const FaultyKernel &kernel, const Site &site,
            const std::vector<size_t> &cases) {
  for (Schedule schedule : Schedules)
    for (size_t i : cases) {
      Outcome outcome;
      Garden::get().plant({{site}}, /*stops=*/true,
                          [&] { outcome = kernel.cases[i](schedule); });
      if (!outcome.isGood())
        return true;
    }
  return false;
}

void leaveOutEach(const FaultyKernel &kernel) {
  std::map<Site, std::vector<size_t>> cases; // that meet it
  Sites all;
  for (size_t i = 0; i < kernel.cases.size(); ++i)
    for (const Site &site : record(kernel.cases[i], Schedule::LatestFirst))
      if (orders(site.member)) {
        cases[site].push_back(i);
        all.insert(site);
      }
  EXPECT_FALSE(all.empty());
  std::set<Site> expected;
  for (const Survivor &survivor : kernel.survivors) {
    std::vector<Site> found = find(all, survivor.place);
    EXPECT_FALSE(found.empty())
        << survivor.place.file << ' ' << survivor.place.function << " calls no "
        << nameOf(survivor.place.member);
    expected.insert(found.begin(), found.end());
  }
  size_t seen = 0;
  for (const auto &[site, which] : cases) {
    if (expected.contains(site) && !looksAtAll())
      continue;
    auto begin = std::chrono::steady_clock::now();
    bool isSeenNow = isSeen(kernel, site, which);
    seen += isSeenNow;
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin;
    if (getenv("KV_TEST_VERBOSE"))
      std::cout << (isSeenNow ? "seen " : "LEFT ") << site << " "
                << passed.count() << "\n";
    EXPECT_NE(isSeenNow, expected.contains(site))
        << site
        << (isSeenNow ? " is seen, and is listed as what is not"
                      : " is left out, and nothing shows it");
  }
  std::cout << kernel.name << ": of " << cases.size() << " places " << seen
            << " are seen, " << expected.size() << " need not be\n";
}

} // namespace

bool kv::cuda::test::addKernel(FaultyKernel kernel) {
  auto shared = std::make_shared<FaultyKernel>(std::move(kernel));
  for (const Row &row : shared->rows)
    addTest(shared->name, row.name,
            [shared, &row] { expectSeen(row.what, row.text, row.run); });
  if (!shared->cases.empty())
    addTest(shared->name, "EachPlace", [shared] { leaveOutEach(*shared); });
  return true;
}

TEST(Mistakes, ApplyOnce) {
#define KV_MISTAKE(name)
#define KV_CHANGE(name, file, count)                                           \
  EXPECT_EQ(count, 1) << #name << " in " << file;
#include "Mistakes.inc"
#undef KV_MISTAKE
#undef KV_CHANGE
}
