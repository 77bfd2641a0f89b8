//===- TierDriver.cpp - Stores and loads until it is killed ---------------===//
//
// KVTierDriver FOLDER SEED [OPERATIONS]: uses FOLDER/tiers as a process that
// ends at any moment, and finds what an earlier one has left there. FOLDER/done
// says what has been done, one line each, written at once:
//
//   w ID   the record is on the disk
//   s 0    a process has begun; what it has found follows
//   r N    the N-th reset begins
//   R N    it has returned
//
// Prints one line: how many of the last records were found. Exits with 1, and a
// sentence, if a record is not what it should be.
//
//===----------------------------------------------------------------------===//

#include "TierFixture.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>
#include <unistd.h>

using namespace kv;
using namespace kv::test;

static constexpr int32_t DiskRecords = 512, Ids = 2000;
/// Of the last records, those that must be on the disk, but for those that the
/// index may not have learnt of yet: it learns of 64 at once.
static constexpr size_t Warm = 400, Fresh = 128;

[[noreturn]] static void fail(const std::string &text) {
  std::cerr << "KVTierDriver: " << text << std::endl;
  std::_Exit(1);
}

namespace {
/// What an earlier run has said, and this one goes on to say.
struct Log {
  std::vector<int32_t> written; // since the last reset
  uint32_t resets = 0, begun = 0;
  int file;

  explicit Log(const std::string &path) {
    std::ifstream before(path);
    char kind;
    for (uint32_t number; before >> kind >> number;) {
      if (kind == 'w')
        written.push_back(static_cast<int32_t>(number));
      else
        written.clear();
      if (kind == 'r')
        begun = number;
      else if (kind == 'R')
        resets = number;
    }
    file =
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }

  void say(char what, uint32_t number) const {
    std::string line = concat(std::string(1, what), " ", number, "\n");
    if (::write(file, line.data(), line.size()) !=
        static_cast<ssize_t>(line.size()))
      fail("the log cannot be written");
  }
};
} // namespace

static bool check(TestTiers &tiers, int32_t id) {
  TestTiers::Found found = tiers.load(id);
  if (found == TestTiers::Found::Wrong)
    fail(concat("record ", id, " is a wrong one"));
  return found == TestTiers::Found::Right;
}

/// The last records of the earlier run that are there.
static std::vector<int32_t> findWarm(TestTiers &tiers, const Log &log,
                                     std::mt19937 &random) {
  std::vector<int32_t> written = log.written;
  if (written.size() > Warm)
    written.erase(written.begin(), written.end() - Warm);
  size_t warm = 0, wanted = std::max(written.size(), Fresh) - Fresh, all = 0;
  std::vector<int32_t> left;
  for (size_t i = 0; i < written.size(); ++i)
    if (check(tiers, written[i])) {
      left.push_back(written[i]);
      warm += i < wanted;
    }
  for (int i = 0; i < 200; ++i)
    all += check(tiers, static_cast<int32_t>(random() % Ids));
  std::cout << warm << " of " << wanted << " warm, " << all
            << " of 200 others, " << log.begun << " resets" << std::endl;
  return left;
}

static void reset(TestTiers &tiers, Log &log) {
  log.say('r', ++log.begun);
  if (Expected<void> done = tiers.connector->reset(); !done)
    fail(done.error().message);
  log.say('R', log.begun);
  tiers.weights = tiers.oldestWeights = log.begun;
}

int main(int argc, char **argv) {
  if (argc < 3)
    fail("usage: KVTierDriver FOLDER SEED [OPERATIONS]");
  std::string folder = argv[1];
  std::mt19937 random(static_cast<uint32_t>(std::atoll(argv[2])));
  int64_t operations = argc > 3 ? std::atoll(argv[3]) : INT64_MAX;
  Log log(folder + "/done");
  TestTiers tiers(folder + "/tiers", /*slots=*/8, DiskRecords);
  tiers.options.ioThreads = 3;
  if (Expected<void> opened = tiers.open(); !opened)
    fail(opened.error().message);
  // A record has the contents of the reset before it. One that was under way
  // has happened, or has not.
  tiers.weights = log.begun;
  tiers.oldestWeights = log.resets;
  std::vector<int32_t> left = findWarm(tiers, log, random);
  log.say('s', 0);
  for (int32_t id : left)
    log.say('w', static_cast<uint32_t>(id));
  // Were it not whole, old and new records could not be told from each other.
  if (log.begun != log.resets)
    reset(tiers, log);
  std::vector<int32_t> stored;
  for (int64_t i = 0; i < operations; ++i) {
    int32_t id = static_cast<int32_t>(random() % Ids);
    switch (random() % 8) {
    default: {
      RecordWorth worth = {.priority = uint8_t(random() % 16 ? 64 : 70),
                           .duration = 50'000'000};
      if (tiers.store(id, worth))
        stored.push_back(id);
      break;
    }
    case 0:
      check(tiers, id);
      break;
    case 1:
      if (!tiers.drain())
        fail("a write does not end");
      for (int32_t one : stored)
        log.say('w', static_cast<uint32_t>(one));
      stored.clear();
      // As if something had been computed. The index follows as fast as it can
      // be synchronized with the disk.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      break;
    case 2:
      if (random() % 512 == 0) {
        reset(tiers, log);
        stored.clear();
      }
      break;
    }
  }
}
