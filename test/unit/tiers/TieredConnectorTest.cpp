//===- TieredConnectorTest.cpp - Host memory and disk, on their own -------===//
//
// Whatever a disk does, a record is found with exactly its bytes or not at all,
// and nothing is lost but records.
//
//===----------------------------------------------------------------------===//

#include "FaultyCalls.h"
#include "TierFixture.h"
#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

using Found = TestTiers::Found;
using Place = PageConnector::Place;
using Plan = FaultyCalls::Plan;

int64_t openFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       {});
}

/// Changes bytes of the file of records.
class Pages {
public:
  explicit Pages(const TemporaryFolder &folder)
      : path(folder.path() + "/pages.bin") {}

  /// Where the record of this name lies; -1: nowhere.
  int64_t find(const PrefixName &name) const {
    std::string all = readWhole(path);
    for (size_t at = 0; at + 64 <= all.size(); at += TestTiers::DiskBytes)
      if (std::memcmp(all.data() + at + 32, name.data(), name.size()) == 0)
        return static_cast<int64_t>(at);
    return -1;
  }
  void flip(int64_t at, int bit) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    int value = file.get();
    file.seekp(at);
    file.put(static_cast<char>(value ^ (1 << bit)));
  }

  std::string path;
};

/// Lets threads wait before they read or write.
class GatedCalls final : public SystemCalls {
public:
  ssize_t read(int file, const iovec *parts, int count, off_t at) override {
    pass();
    return SystemCalls::read(file, parts, count, at);
  }
  ssize_t write(int file, const iovec *parts, int count, off_t at) override {
    pass();
    return SystemCalls::write(file, parts, count, at);
  }
  void set(bool open) {
    {
      std::lock_guard lock(mutex);
      isOpen = open;
    }
    changed.notify_all();
  }
  void waitUntilOneWaits() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting > 0; });
  }

private:
  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [&] { return isOpen; });
    --waiting;
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = true;
  int waiting = 0;
};

void writeIndex(
    const TemporaryFolder &folder,
    const std::vector<std::pair<PrefixName, IndexedRecord>> &entries) {
  SystemCalls calls;
  auto index = RecordIndex::open(folder.path() + "/index.mdb", 100, calls);
  ASSERT_TRUE(index) << text(index);
  std::vector<RecordIndex::Change> changes;
  ASSERT_TRUE(index->visit([&](const PrefixName &name, const IndexedRecord &r) {
    changes.push_back({name, r, /*forget=*/true});
  }));
  for (const auto &[name, record] : entries)
    changes.push_back({name, record});
  ASSERT_TRUE(index->apply(changes));
}

std::vector<std::pair<PrefixName, IndexedRecord>>
readIndex(const TemporaryFolder &folder) {
  SystemCalls calls;
  std::vector<std::pair<PrefixName, IndexedRecord>> entries;
  auto index = RecordIndex::open(folder.path() + "/index.mdb", 100, calls);
  EXPECT_TRUE(index) << text(index);
  EXPECT_TRUE(index->visit([&](const PrefixName &name, const IndexedRecord &r) {
    entries.push_back({name, r});
  }));
  return entries;
}

} // namespace

//===----------------------------------------------------------------------===//
// Every call fails in turn
//===----------------------------------------------------------------------===//

namespace {

/// Two processes, one after the other, that store, load, evict and reset.
/// Returns what is wrong.
std::string story(const std::string &folder, FaultyCalls &calls, bool mayMiss) {
  int records = 0;
  for (int process = 0; process < 2; ++process) {
    TestTiers tiers(folder, /*slots=*/3, /*diskSlots=*/5);
    int64_t before = openFiles();
    if (Expected<void> opened = tiers.open(calls); !opened) {
      if (opened.error().message.find("disk tier: ") != 0)
        return concat("not a sentence: ", opened.error().message);
      if (!mayMiss)
        return opened.error().message;
      if (openFiles() != before)
        return "open() has left files open";
      continue;
    }
    auto loadAll = [&](int least) -> std::string {
      int right = 0;
      for (int32_t id = 0; id < 8; ++id) {
        Found found = tiers.load(id);
        if (found == Found::Wrong)
          return concat("a wrong page, process ", process, ", record ", id);
        right += found == Found::Right;
      }
      if (right < (mayMiss ? std::min(least, 1) : least))
        return concat(right, " of ", least, " records, process ", process);
      return {};
    };
    // What an earlier process has written before its reset must be gone; only
    // then can a record have two owners.
    if (std::string wrong = process ? loadAll(mayMiss ? 0 : records) : "";
        !wrong.empty())
      return wrong;
    for (int32_t id = 0; id < 8; ++id)
      (void)tiers.storeAndWrite(id, {.priority = uint8_t(id == 2 ? 90 : 64)});
    if (std::string wrong = loadAll(3); !wrong.empty())
      return wrong;
    if (Expected<void> done = tiers.connector->reset(); !done && !mayMiss)
      return done.error().message;
    for (int32_t id = 0; id < 8; ++id)
      if (tiers.load(id) != Found::Nothing)
        return concat("found after a reset: ", id);
    for (int32_t id = 3; id < 5; ++id)
      (void)tiers.storeAndWrite(id);
    if (std::string wrong = loadAll(2); !wrong.empty())
      return wrong;
    records = 2;
    if (process == 0)
      continue;
    // The disk is good again, and all of it can be used.
    calls.heal();
    if (tiers.drain() && !tiers.connector->reset())
      return "a reset fails on a good disk";
    if (std::string leaked = tiers.leaks(); !leaked.empty())
      return leaked;
  }
  return {};
}

} // namespace

TEST(TieredConnector, EveryCallFailsInTurn) {
  struct Way {
    const char *name;
    Plan plan;
    bool mayMiss; // whether records may be lost
  };
  using F = FaultyCalls;
  std::vector<Way> ways;
  for (bool forGood : {false, true})
    for (int error : {EIO, ENOSPC}) {
      ways.push_back({"read", {F::Read, F::Fails, error, 0, forGood}, true});
      ways.push_back({"write", {F::Write, F::Fails, error, 0, forGood}, true});
      ways.push_back(
          {"allocate", {F::Allocate, F::Fails, error, 0, forGood}, true});
      ways.push_back(
          {"commit", {F::Commit, F::Fails, error, 0, forGood}, true});
      ways.push_back({"sync", {F::Sync, F::Fails, error, 0, forGood}, true});
    }
  for (bool forGood : {false, true}) {
    ways.push_back(
        {"full index", {F::Commit, F::Fails, MDB_MAP_FULL, 0, forGood}, true});
    ways.push_back({"torn read", {F::Read, F::Torn, EIO, 0, forGood}, true});
    ways.push_back({"end of file", {F::Read, F::Ends, EIO, 0, forGood}, true});
    ways.push_back(
        {"read of nothing", {F::Read, F::Lies, 0, 0, forGood}, true});
    ways.push_back(
        {"torn write", {F::Write, F::Torn, ENOSPC, 0, forGood}, true});
    ways.push_back({"short disk", {F::Write, F::Ends, EIO, 0, forGood}, true});
    ways.push_back({"lost write", {F::Write, F::Lies, 0, 0, forGood}, true});
    ways.push_back(
        {"torn file", {F::Allocate, F::Torn, ENOSPC, 0, forGood}, true});
  }
  ways.push_back({"short read", {F::Read, F::Short, 0, 0, true}, false});
  ways.push_back({"short write", {F::Write, F::Short, 0, 0, true}, false});
  ways.push_back({"interrupted", {F::Read, F::Interrupted}, false});
  ways.push_back({"interrupted", {F::Write, F::Interrupted}, false});
  ways.push_back({"interrupted", {F::Allocate, F::Interrupted}, false});
  ways.push_back(
      {"no allocation", {F::Allocate, F::Fails, EOPNOTSUPP, 0, true}, false});
  int64_t calls = 0;
  for (Way &way : ways)
    for (way.plan.at = 0;; ++way.plan.at) {
      TemporaryFolder folder;
      FaultyCalls faulty(way.plan);
      std::string wrong = story(folder.path(), faulty, way.mayMiss);
      EXPECT_EQ(wrong, "") << way.name << ", call " << way.plan.at << ", error "
                           << way.plan.error
                           << (way.plan.forGood ? ", for good" : "");
      if (!faulty.hasFailed() || HasFailure())
        break;
      ++calls;
      // Whatever has failed, the directory is good for a next process.
      TestTiers next(folder.path(), 3, 5);
      Expected<void> opened = next.open();
      ASSERT_TRUE(opened) << text(opened);
      for (int32_t id = 0; id < 8; ++id)
        ASSERT_NE(next.load(id), Found::Wrong) << way.name;
      ASSERT_EQ(next.leaks(), "") << way.name << ", call " << way.plan.at;
    }
  EXPECT_GT(calls, 500);
}

//===----------------------------------------------------------------------===//
// What lies on the disk is not trusted
//===----------------------------------------------------------------------===//

TEST(TieredConnector, AFlippedBitIsAMiss) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path(), /*slots=*/2, /*diskSlots=*/8);
  ASSERT_TRUE(tiers.open());
  Pages pages(folder);
  size_t header = recordHeaderBytes(TestTiers::PageSize);
  std::mt19937 random(1);
  int64_t flipped = 0;
  for (size_t byte = 0; byte < header + TestTiers::RecordBytes;
       byte += byte < header ? 1 : 1 + random() % 100) {
    int bit = static_cast<int>(random() % 8);
    ASSERT_TRUE(tiers.storeAndWrite(1)) << byte;
    for (int32_t filler : {100, 101}) { // drives it out of memory
      tiers.storeAndWrite(filler);
      ASSERT_EQ(tiers.load(filler), Found::Right);
    }
    ASSERT_EQ(tiers.find(1), Place::Disk);
    int64_t at = pages.find(tiers.page(1).name);
    ASSERT_GE(at, 0);
    pages.flip(at + static_cast<int64_t>(byte), bit);
    ASSERT_EQ(tiers.load(1), Found::Nothing)
        << "bit " << bit << " of byte " << byte;
    ASSERT_EQ(tiers.load(1), Found::Nothing);
    ASSERT_EQ(tiers.connector->metrics().failedReads, ++flipped);
  }
  EXPECT_GT(flipped, 500);
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(TieredConnector, ARecordIsCheckedToTheLastBit) {
  TestTiers tiers("");
  ASSERT_TRUE(tiers.open());
  OwnedPage page = tiers.page(1);
  page.images = {std::byte(1), std::byte(2)};
  std::vector<std::byte> data(333);
  fillRecord(data, page.name);
  auto headerOf = [](const OwnedPage &page, std::span<const std::byte> data,
                     uint64_t generation) {
    RecordHeader made(recordHeaderBytes(TestTiers::PageSize));
    made.begin(page.view(), data.size(), generation);
    made.add(data.first(100)); // in parts
    made.add(data.subspan(100));
    std::span<std::byte> header = made.finish();
    return std::vector(header.begin(), header.end());
  };
  std::vector<std::byte> header = headerOf(page, data, 5);
  ASSERT_EQ(header, headerOf(page, data, 5));
  for (std::byte &one : data)
    for (int bit = 0; bit < 8; ++bit) {
      one ^= std::byte(1 << bit);
      ASSERT_NE(headerOf(page, data, 5), header);
      one ^= std::byte(1 << bit);
    }
  // Another page's, if only in one field.
  std::vector<OwnedPage> others(6, page);
  others[0].name[31] ^= std::byte(1);
  others[1].parent[31] ^= std::byte(1);
  others[2].scope[31] ^= std::byte(1);
  ++others[3].tokens[3];
  others[4].images.pop_back();
  others[5].images[1] ^= std::byte(1);
  for (const OwnedPage &other : others)
    EXPECT_NE(headerOf(other, data, 5), header);
  EXPECT_NE(headerOf(page, std::span(data).first(332), 5), header);
  EXPECT_NE(headerOf(page, data, 6), header);
}

TEST(TieredConnector, WhatAnIndexSaysIsOnlyAHint) {
  TemporaryFolder folder;
  std::vector<PrefixName> names;
  {
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open());
    for (int32_t id = 0; id < 4; ++id) {
      tiers.storeAndWrite(id);
      names.push_back(tiers.page(id).name);
    }
  }
  std::vector<std::pair<PrefixName, IndexedRecord>> good = readIndex(folder);
  ASSERT_EQ(good.size(), 4u);
  auto slotOf = [&](int id) {
    for (const auto &[name, record] : good)
      if (name == names[id])
        return record.slot;
    return -1;
  };
  struct Lie {
    const char *what;
    std::function<std::vector<std::pair<PrefixName, IndexedRecord>>()> entries;
    int least; // records that are found all the same
  };
  using Entries = std::vector<std::pair<PrefixName, IndexedRecord>>;
  std::vector<Lie> lies = {
      {"nothing", [&] { return Entries(); }, 0},
      {"wrong slots",
       [&] {
         return Entries{{names[0], {slotOf(1), 64, 0, 1}},
                        {names[1], {slotOf(0), 64, 0, 2}}};
       },
       0},
      {"two records in a slot: the newer one is right",
       [&] {
         return Entries{{names[0], {slotOf(0), 64, 0, 9}},
                        {names[1], {slotOf(0), 64, 0, 1}}};
       },
       1},
      {"no such slots",
       [&] {
         return Entries{{names[0], {-1, 64, 0, 1}},
                        {names[1], {8, 64, 0, 2}},
                        {names[2], {INT32_MAX, 64, 0, 3}},
                        {names[3], {INT32_MIN, 64, 0, 4}}};
       },
       0},
      {"an empty slot", [&] { return Entries{{names[0], {7, 64, 0, 1}}}; }, 0},
      {"strange figures",
       [&] {
         return Entries{{names[0], {slotOf(0), 255, INT64_MIN, UINT64_MAX}},
                        {names[1], {slotOf(1), 255, INT64_MAX, UINT64_MAX}},
                        {names[2], {slotOf(2), 0, -1, 0}}};
       },
       3},
  };
  for (const Lie &lie : lies) {
    writeIndex(folder, lie.entries());
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open());
    int right = 0;
    for (int32_t id = 0; id < 4; ++id) {
      Found found = tiers.load(id);
      EXPECT_NE(found, Found::Wrong) << lie.what;
      right += found == Found::Right;
    }
    EXPECT_GE(right, lie.least) << lie.what;
    ASSERT_TRUE(tiers.connector->reset());
    EXPECT_EQ(tiers.leaks(), "") << lie.what;
    ASSERT_TRUE(tiers.connector->reset());
    for (int32_t id = 0; id < 4; ++id)
      tiers.storeAndWrite(id);
    tiers.connector.reset();
    good = readIndex(folder);
    ASSERT_EQ(good.size(), 4u) << lie.what;
  }
}

TEST(TieredConnector, FilesThatAreCutAreMisses) {
  struct Cut {
    const char *file;
    int64_t bytes; // -1: the file is gone
  };
  for (Cut cut :
       {Cut{"pages.bin", -1}, Cut{"pages.bin", 0}, Cut{"pages.bin", 3000},
        Cut{"pages.bin", 8192 + 100}, Cut{"index.mdb", -1}, Cut{"index.mdb", 0},
        Cut{"index.mdb", 8192}, Cut{"index.mdb", 12288}, Cut{"lock", -1}}) {
    TemporaryFolder folder;
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open());
    for (int32_t id = 0; id < 4; ++id)
      tiers.storeAndWrite(id);
    tiers.connector.reset();
    std::string path = folder.path() + "/" + cut.file;
    if (cut.bytes < 0)
      std::filesystem::remove(path);
    else
      std::filesystem::resize_file(path, cut.bytes);
    Expected<void> opened = tiers.open();
    if (!opened) { // a sentence that says what to do
      EXPECT_NE(opened.error().message.find("or delete this one"),
                std::string::npos)
          << opened.error().message;
      EXPECT_STREQ(cut.file, "index.mdb");
      continue;
    }
    for (int32_t id = 0; id < 4; ++id)
      EXPECT_NE(tiers.load(id), Found::Wrong) << cut.file << " " << cut.bytes;
    (void)tiers.connector->reset();
    EXPECT_EQ(tiers.leaks(), "") << cut.file << " " << cut.bytes;
  }
}

//===----------------------------------------------------------------------===//
// Directories
//===----------------------------------------------------------------------===//

TEST(TieredConnector, ADirectoryBelongsToOneCacheAndOneProcess) {
  TemporaryFolder folder;
  std::string at = folder.path();
  {
    TestTiers first(at);
    ASSERT_TRUE(first.open());
    EXPECT_TRUE(first.storeAndWrite(1));
    TestTiers second(at);
    EXPECT_EQ(text(second.open()),
              "disk tier: " + at + " is in use by another process");
  }
  auto refused = [&](auto &&change) {
    TestTiers other(at);
    change(other.options);
    Expected<void> opened = other.open();
    return text(opened);
  };
  const char *Rest = ": use another directory, or delete this one";
  EXPECT_EQ(refused([](auto &options) { options.geometry = "two"; }),
            "disk tier: " + at +
                " was made for another geometry: 'one', not 'two'" + Rest);
  // Another model may use it, and finds nothing.
  EXPECT_EQ(refused([](auto &options) { options.model = "n"; }), "no error");
  EXPECT_EQ(refused([](auto &options) { options.pageSize = 5; }),
            "disk tier: " + at +
                " was made for another layout: 'records 1, 8192 bytes a slot "
                "of 4 tokens', not 'records 1, 8192 bytes a slot of 5 tokens'" +
                Rest);
  EXPECT_EQ(refused([](auto &options) { options.diskBytes = 8191; }),
            "disk tier: 8191 bytes hold no record, which takes 8192 bytes");
  for (int64_t bytes : {int64_t(0), int64_t(-1), INT64_MIN})
    EXPECT_EQ(refused([&](auto &options) { options.diskBytes = bytes; }),
              concat("disk tier: ", bytes,
                     " bytes hold no record, which takes 8192 bytes"));
  for (int32_t threads : {0, -1, 1000})
    EXPECT_EQ(
        refused([&](auto &options) { options.ioThreads = threads; }),
        concat("disk tier: ioThreads is ", threads, ", allowed: 1 to 256"));
  std::string file = folder.path() + "/lock";
  EXPECT_EQ(refused([&](auto &options) { options.directory = file + "/x"; }),
            "disk tier: " + file + "/x cannot be used: Not a directory");
  EXPECT_EQ(refused([&](auto &options) { options.directory = "/proc/none"; }),
            "disk tier: /proc/none cannot be used: No such file or directory");
  // More than any disk has.
  EXPECT_NE(refused([](auto &options) {
              options.diskBytes = INT64_MAX / 1000;
            }).find(" has no room for "),
            std::string::npos);
  // None of these has done any harm.
  TestTiers again(at);
  ASSERT_TRUE(again.open());
  EXPECT_EQ(again.load(1), Found::Right);
}

TEST(TieredConnector, AFullDiskIsGivenBackWhatItHad) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path());
  FaultyCalls full({FaultyCalls::Allocate, FaultyCalls::Torn, ENOSPC, 0});
  EXPECT_EQ(text(tiers.open(full)),
            "disk tier: " + folder.path() +
                " has no room for 65536 bytes: No space left on device");
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/pages.bin"), 0u);
}

TEST(TieredConnector, ADiskGrowsAndShrinks) {
  TemporaryFolder folder;
  auto countFound = [&](int64_t diskSlots) {
    TestTiers tiers(folder.path(), 2, diskSlots);
    EXPECT_TRUE(tiers.open());
    int right = 0;
    for (int32_t id = 0; id < 20; ++id) {
      Found found = tiers.load(id);
      EXPECT_NE(found, Found::Wrong);
      right += found == Found::Right;
    }
    EXPECT_EQ(tiers.connector->metrics().diskPages, diskSlots);
    EXPECT_EQ(std::filesystem::file_size(folder.path() + "/pages.bin"),
              size_t(diskSlots) * TestTiers::DiskBytes);
    for (int32_t id = 0; id < 20; ++id)
      tiers.storeAndWrite(id);
    EXPECT_EQ(tiers.connector->metrics().unindexedPages, 0);
    return right;
  };
  EXPECT_EQ(countFound(20), 0);
  EXPECT_EQ(countFound(20), 20);
  EXPECT_EQ(countFound(7), 7);
  EXPECT_EQ(countFound(30), 7);
  EXPECT_EQ(countFound(30), 20);
  EXPECT_EQ(countFound(1), 1);
}

/// LMDB believes its file. What a failing disk leaves of it is refused or read,
/// and no process ends of it.
TEST(TieredConnector, ADamagedIndexEndsNoProcess) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path(), /*slots=*/4, /*diskSlots=*/300);
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 300; ++id)
    tiers.storeAndWrite(id);
  tiers.connector.reset();
  std::string path = folder.path() + "/index.mdb";
  std::filesystem::copy(path, folder.path() + "/good");
  auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  int refused = 0, opened = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    std::filesystem::copy(folder.path() + "/good", path,
                          std::filesystem::copy_options::overwrite_existing);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (uint32_t left = 1u << random() % 6; left > 0; --left) {
      // Mostly what LMDB says of its pages.
      int64_t page = random() % (bytes / 4096) * 4096;
      file.seekp(page + random() % (left % 4 ? 64 : 4096));
      file.put(static_cast<char>(random() % 2 ? random() : 255));
    }
    file.close();
    if (Expected<void> made = tiers.open(); !made) {
      ++refused;
      EXPECT_TRUE(made.error().message.contains("delete this one"))
          << made.error().message;
      continue;
    }
    ++opened;
    for (int32_t id = 0; id < 300; id += 37) {
      EXPECT_NE(tiers.load(id), Found::Wrong) << seed;
      tiers.storeAndWrite(id + 1000);
    }
    tiers.connector.reset();
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(opened, 10);
}

TEST(TieredConnector, AnIndexOfManyRecordsShrinks) {
  TemporaryFolder folder;
  std::vector<std::pair<PrefixName, IndexedRecord>> entries;
  std::mt19937_64 random(1);
  for (int32_t slot = 0; slot < 200'000; ++slot) {
    PrefixName name;
    for (std::byte &one : name)
      one = static_cast<std::byte>(random());
    entries.push_back({name, {slot, 64, 0, uint64_t(slot)}});
  }
  {
    SystemCalls calls;
    auto index =
        RecordIndex::open(folder.path() + "/index.mdb", 200'000, calls);
    ASSERT_TRUE(index) << text(index);
    std::vector<RecordIndex::Change> changes;
    for (const auto &[name, record] : entries)
      changes.push_back({name, record});
    for (size_t at = 0; at < changes.size(); at += 1000)
      ASSERT_TRUE(index->apply(std::span(changes).subspan(at, 1000)));
  }
  TestTiers tiers(folder.path());
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 20; ++id)
    EXPECT_TRUE(tiers.storeAndWrite(id));
  tiers.connector.reset();
  EXPECT_EQ(tiers.options.diskBytes / int64_t(TestTiers::DiskBytes), 8);
  EXPECT_EQ(readIndex(folder).size(), 8u);
}

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

TEST(TieredConnector, HigherPrioritiesSurvive) {
  TemporaryFolder folder;
  RecordWorth high = {.priority = 100};
  RecordWorth ended = {.priority = 100, .duration = 1};
  {
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open());
    tiers.storeAndWrite(1, high);
    tiers.storeAndWrite(2, ended);
    tiers.storeAndWrite(3);
    tiers.connector->touch(tiers.page(3).name, high);
    for (int32_t id = 10; id < 30; ++id)
      tiers.storeAndWrite(id);
    EXPECT_EQ(tiers.find(1), Place::Memory);
    EXPECT_EQ(tiers.find(2), Place::Absent);
    EXPECT_EQ(tiers.find(3), Place::Memory);
  }
  {
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open());
    for (int32_t id = 40; id < 60; ++id)
      tiers.storeAndWrite(id);
    EXPECT_EQ(tiers.load(1), Found::Right);
    EXPECT_EQ(tiers.load(3), Found::Right);
    EXPECT_EQ(tiers.load(2), Found::Nothing);
    // A low priority goes before all others, however recent.
    tiers.storeAndWrite(70, {.priority = 1});
    tiers.storeAndWrite(71);
    EXPECT_EQ(tiers.load(70), Found::Nothing);
  }
}

TEST(TieredConnector, APriorityThatIsRaisedDuringTheWriteIsRemembered) {
  TemporaryFolder folder;
  GatedCalls gate;
  TestTiers tiers(folder.path());
  ASSERT_TRUE(tiers.open(gate));
  gate.set(false);
  tiers.store(1);
  gate.waitUntilOneWaits();
  tiers.connector->touch(tiers.page(1).name, {.priority = 100});
  gate.set(true);
  ASSERT_TRUE(tiers.drain());
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 10; id < 40; ++id)
    tiers.storeAndWrite(id);
  EXPECT_EQ(tiers.load(1), Found::Right);
}

TEST(TieredConnector, TheOrderOfUseOutlivesProcesses) {
  TemporaryFolder folder;
  auto store = [&](int32_t first, int32_t end) {
    TestTiers tiers(folder.path(), 2, /*diskSlots=*/4);
    ASSERT_TRUE(tiers.open());
    for (int32_t id = first; id < end; ++id)
      tiers.storeAndWrite(id);
  };
  store(0, 100);   // 96 to 99 are left
  store(100, 101); // takes the place of 96
  store(101, 102); // and of 97
  TestTiers tiers(folder.path(), 2, 4);
  ASSERT_TRUE(tiers.open());
  for (int32_t id : {98, 99, 100, 101})
    EXPECT_EQ(tiers.load(id), Found::Right) << id;
}

TEST(TieredConnector, AFailedWriteLeavesNoClaimOnItsSlot) {
  TemporaryFolder folder;
  {
    // The second write evicts the first record, and fails; the third one gets
    // its slot.
    FaultyCalls calls({FaultyCalls::Write, FaultyCalls::Torn, EIO, 1});
    TestTiers tiers(folder.path(), 2, /*diskSlots=*/1);
    ASSERT_TRUE(tiers.open(calls));
    tiers.storeAndWrite(1);
    tiers.storeAndWrite(2);
    tiers.storeAndWrite(3);
  }
  EXPECT_EQ(readIndex(folder).size(), 1u);
  TestTiers tiers(folder.path(), 2, 1);
  ASSERT_TRUE(tiers.open());
  EXPECT_EQ(tiers.load(1), Found::Nothing);
  EXPECT_EQ(tiers.load(3), Found::Right);
}

TEST(TieredConnector, ScopesNeverMeet) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path(), 2);
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.store(1, {}, "a"));
  ASSERT_TRUE(tiers.drain());
  EXPECT_EQ(tiers.load(1, "b"), Found::Nothing);
  // Not even if another scope had the same name, in memory or on disk.
  for (bool onDisk : {false, true}) {
    OwnedPage stranger = tiers.page(1, "b");
    stranger.name = tiers.page(1, "a").name;
    if (onDisk) {
      tiers.storeAndWrite(100);
      tiers.storeAndWrite(101);
      ASSERT_EQ(tiers.connector->find(stranger.view()), Place::Disk);
      ASSERT_TRUE(tiers.connector->fetch(stranger.view()));
      ASSERT_TRUE(tiers.drain());
    }
    EXPECT_FALSE(tiers.connector->acquire(stranger.view()));
  }
}

//===----------------------------------------------------------------------===//
// Reset, and the end
//===----------------------------------------------------------------------===//

TEST(TieredConnector, WhatWasUnderWayAtAResetNeverComesBack) {
  TemporaryFolder folder;
  GatedCalls gate;
  TestTiers tiers(folder.path(), 4, 4);
  ASSERT_TRUE(tiers.open(gate));
  gate.set(false);
  for (int32_t id = 0; id < 3; ++id)
    EXPECT_TRUE(tiers.store(id));
  PageConnector::Slot reserved =
      tiers.connector->reserve(tiers.page(3).view(), {});
  ASSERT_TRUE(reserved);
  gate.waitUntilOneWaits();
  ASSERT_TRUE(tiers.connector->reset());
  tiers.connector->publish(reserved, true);
  // The slots are still written, so there is no room for others.
  EXPECT_FALSE(tiers.store(0) && tiers.store(1) && tiers.store(2));
  gate.set(true);
  ASSERT_TRUE(tiers.drain());
  EXPECT_EQ(tiers.find(1), Place::Absent);
  EXPECT_EQ(tiers.find(2), Place::Absent);
  EXPECT_EQ(tiers.find(3), Place::Absent);
  ASSERT_TRUE(tiers.open(gate));
  for (int32_t id = 1; id < 4; ++id)
    EXPECT_EQ(tiers.find(id), Place::Absent);
  EXPECT_EQ(tiers.leaks(), "");
  ASSERT_TRUE(tiers.connector->reset());
  ASSERT_TRUE(tiers.open());
  EXPECT_EQ(tiers.connector->metrics().usedDiskPages, 0);

  // The same for a read.
  tiers.storeAndWrite(1);
  ASSERT_TRUE(tiers.open(gate));
  gate.set(false);
  ASSERT_TRUE(tiers.connector->fetch(tiers.page(1).view()));
  EXPECT_EQ(tiers.find(1), Place::Coming);
  gate.waitUntilOneWaits();
  ASSERT_TRUE(tiers.connector->reset());
  EXPECT_EQ(tiers.find(1), Place::Absent);
  gate.set(true);
  ASSERT_TRUE(tiers.drain());
  EXPECT_EQ(tiers.find(1), Place::Absent);
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(TieredConnector, AResetThatReturnedOutlivesAKill) {
  TemporaryFolder folder;
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) { // nothing is closed or written any more
    TestTiers tiers(folder.path());
    bool good = bool(tiers.open());
    for (int32_t id = 0; id < 5; ++id)
      good &= tiers.storeAndWrite(id);
    tiers.store(5);
    good &= bool(tiers.connector->reset());
    tiers.store(6);
    _exit(good ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  TestTiers tiers(folder.path());
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 6; ++id)
    EXPECT_EQ(tiers.load(id), Found::Nothing) << id;
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(TieredConnector, AResetThatFailedIsMadeUpFor) {
  TemporaryFolder folder;
  FaultyCalls counting;
  {
    TestTiers tiers(folder.path());
    ASSERT_TRUE(tiers.open(counting));
    for (int32_t id = 0; id < 3; ++id)
      tiers.storeAndWrite(id);
  }
  TestTiers tiers(folder.path());
  // Opening commits once, since the directory is known.
  FaultyCalls calls({FaultyCalls::Commit, FaultyCalls::Fails, EIO, 1});
  ASSERT_TRUE(tiers.open(calls));
  Expected<void> reset = tiers.connector->reset();
  ASSERT_FALSE(reset);
  EXPECT_EQ(reset.error().message, "mdb_txn_commit: Input/output error");
  EXPECT_EQ(tiers.load(1), Found::Nothing);
  tiers.storeAndWrite(10);
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 3; ++id)
    EXPECT_EQ(tiers.load(id), Found::Nothing) << id;
  EXPECT_EQ(tiers.load(10), Found::Right);
}

/// What was written before a reset must not be found through an index that
/// believes it is still there: a machine that loses power may have such a disk.
TEST(TieredConnector, AnIndexDoesNotBringBackWhatWasReset) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path());
  ASSERT_TRUE(tiers.open());
  tiers.storeAndWrite(1);
  tiers.connector.reset();
  std::vector<std::pair<PrefixName, IndexedRecord>> entries = readIndex(folder);
  ASSERT_EQ(entries.size(), 1u);
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.connector->reset());
  tiers.connector.reset();
  writeIndex(folder, entries);
  ASSERT_TRUE(tiers.open());
  ASSERT_EQ(tiers.find(1), Place::Disk);
  EXPECT_EQ(tiers.load(1), Found::Nothing);
}

TEST(TieredConnector, EndsWithReadsAndWritesUnderWay) {
  TemporaryFolder folder;
  TestTiers tiers(folder.path(), 4);
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 8; ++id)
    tiers.storeAndWrite(id);
  GatedCalls gate;
  ASSERT_TRUE(tiers.open(gate));
  gate.set(false);
  for (int32_t id = 0; id < 3; ++id)
    EXPECT_TRUE(tiers.connector->fetch(tiers.page(id).view()));
  EXPECT_TRUE(tiers.store(50));
  gate.waitUntilOneWaits();
  // Nothing comes, and nothing waits for ever.
  EXPECT_FALSE(tiers.connector->wait(std::chrono::milliseconds(1)));
  EXPECT_EQ(tiers.find(0), Place::Coming);
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.set(true);
  });
  tiers.connector.reset();
  opens.join();
  // What was to be written has been.
  ASSERT_TRUE(tiers.open());
  EXPECT_EQ(tiers.load(50), Found::Right);
}

TEST(TieredConnector, ASlotIsNotReusedWhileItIsUsed) {
  TestTiers tiers("", /*slots=*/2);
  ASSERT_TRUE(tiers.open());
  tiers.store(1);
  OwnedPage page = tiers.page(1);
  PageConnector::Slot held = tiers.connector->acquire(page.view());
  PageConnector::Slot twice = tiers.connector->acquire(page.view());
  ASSERT_TRUE(held);
  EXPECT_EQ(held.data, twice.data);
  for (int32_t id = 10; id < 20; ++id)
    EXPECT_TRUE(tiers.store(id));
  tiers.connector->release(twice);
  ASSERT_TRUE(tiers.connector->reset());
  for (int32_t id = 10; id < 20; ++id)
    EXPECT_TRUE(tiers.store(id));
  EXPECT_TRUE(isRecord({held.data, TestTiers::RecordBytes}, page.name));
  tiers.connector->release(held);
  // One that was reserved and given up is nowhere.
  PageConnector::Slot slot = tiers.connector->reserve(page.view(), {});
  ASSERT_TRUE(slot);
  EXPECT_EQ(tiers.find(1), Place::Absent);
  EXPECT_FALSE(tiers.connector->reserve(page.view(), {}));
  tiers.connector->publish(slot, /*written=*/false);
  EXPECT_EQ(tiers.find(1), Place::Absent);
  ASSERT_TRUE(tiers.connector->reset());
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(TieredConnector, WaitsAsLongAsItIsTold) {
  TemporaryFolder folder;
  GatedCalls gate;
  TestTiers tiers(folder.path());
  ASSERT_TRUE(tiers.open(gate));
  EXPECT_FALSE(tiers.connector->wait(std::chrono::nanoseconds::max()))
      << "nothing is under way";
  gate.set(false);
  tiers.store(1);
  gate.waitUntilOneWaits();
  EXPECT_FALSE(tiers.connector->wait(std::chrono::nanoseconds(0)));
  EXPECT_FALSE(tiers.connector->wait(std::chrono::nanoseconds(-5)));
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    gate.set(true);
  });
  EXPECT_TRUE(tiers.connector->wait(std::chrono::nanoseconds::max()));
  opens.join();
}
