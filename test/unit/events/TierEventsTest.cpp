//===- TierEventsTest.cpp - Routers know what tiers have ------------------===//
//
// Managers with host memory and disks tell of them, messages are lost, and a
// router predicts what requests find.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ManagerEvents.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "runtime/routing/PrefixHashes.h"

#include "FollowAll.h"
#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

using Machine = PrefixRouter::Machine;
constexpr int32_t PageSize = 4;
constexpr int64_t HostPages = 40;

std::string endpoint(const char *kind, int index) {
  return localEndpoint(concat("tiers-", kind, "-", index));
}

/// A machine whose device holds few pages, its host memory more, its disk most.
class TieredMachine {
public:
  TieredMachine(int index, bool tells = true) {
    KVCacheParams params = {.geometry = {.dtype = KV_DTYPE_F16,
                                         .layers = 1,
                                         .heads = 1,
                                         .dim = 8,
                                         .page = PageSize},
                            .enablePrefixCaching = true,
                            .connector = KVConnector::Tiered,
                            .hostSwapSpaceGB =
                                std::ldexp(HostPages * 128, -30)};
    using Encoding = EventPublisher::Encoding;
    auto opened = openEventPublishers(
        params, {.endpoint = endpoint("events", index),
                 .replayEndpoint = endpoint("replay", index),
                 .encoding = index % 2 ? Encoding::Map : Encoding::Array,
                 .tiers = tells,
                 .replayBatches = 3, // soon only a snapshot helps
                 .queueBytes = 1 << 16,
                 .interval = std::chrono::milliseconds(1)});
    EXPECT_TRUE(opened) << text(opened);
    publisher = std::move(opened->front());
    auto made = PagedKVCacheManager::create(
        params, {.maxBatchSize = 2,
                 .maxSeqLen = 160,
                 .numPages = 60,
                 .events = {publisher.get()},
                 .tiers = {.diskDirectory = folder(index).path(),
                           .diskBytes = 120 * 4096,
                           .model = "a model"}});
    EXPECT_TRUE(made) << text(made);
    manager = std::move(*made);
  }

  /// Tokens that the prompt finds here.
  int64_t serve(const Tokens &prompt) {
    TextGenerationContext request(1, prompt);
    EXPECT_TRUE(manager->claim(1));
    EXPECT_TRUE(manager->alloc(request));
    int64_t found = request.processed();
    const TextGenerationContext *batch[] = {&request};
    EXPECT_TRUE(manager->runtimeInputs(batch));
    request.advance();
    EXPECT_TRUE(manager->step(batch));
    EXPECT_TRUE(manager->release(1));
    return found;
  }
  /// What the disk has written is told.
  void settle() {
    while (manager->tierMetrics()->diskOperations > 0)
      (void)manager->waitForLoads(1'000'000'000);
    (void)manager->waitForLoads(0);
  }

  /// Which a later machine has again.
  static TemporaryFolder &folder(int index) {
    static std::map<int, TemporaryFolder> folders;
    return folders[index];
  }

  std::unique_ptr<EventPublisher> publisher;
  std::unique_ptr<PagedKVCacheManager> manager;
};

Tokens conversation(std::mt19937 &random) {
  auto document = static_cast<int32_t>(random() % 6);
  Tokens tokens =
      iota(2 + static_cast<int32_t>(random() % 150), 1000 * document);
  if (random() % 4 == 0)
    for (size_t at = random() % tokens.size(); at < tokens.size(); ++at)
      tokens[at] += 500;
  return tokens;
}

} // namespace

TEST(TierEvents, RoutersPredictWhatIsLoaded) {
  constexpr int NumMachines = 3;
  zmq::context_t context;
  PrefixRouter router(NumMachines);
  std::vector<std::unique_ptr<TieredMachine>> machines;
  std::vector<std::unique_ptr<Follower>> followers;
  std::mt19937 random(1), lossy(2);
  for (int i = 0; i < NumMachines; ++i) {
    machines.push_back(std::make_unique<TieredMachine>(i));
    auto follower =
        Follower::open(context,
                       {.events = endpoint("events", i),
                        .replay = endpoint("replay", i),
                        .interval = std::chrono::milliseconds(2),
                        .loses =
                            [&, left = 0]() mutable {
                              if (left == 0 && lossy() % 16 == 0)
                                left = static_cast<int>(lossy() % 20);
                              return left > 0 ? left-- > 0 : lossy() % 8 == 0;
                            }},
                       router, static_cast<Machine>(i));
    ASSERT_TRUE(follower) << text(follower);
    followers.push_back(std::move(*follower));
  }
  // Until everything that was told has come.
  auto follow = [&] {
    std::vector<const EventPublisher *> publishers;
    for (auto &machine : machines) {
      machine->settle();
      publishers.push_back(machine->publisher.get());
    }
    return followAll(followers, publishers);
  };
  PrefixHashes hashes(PageSize);
  int64_t requests = 0, right = 0, fromTiers = 0, fromDevices = 0;
  for (int round = 0; round < 120; ++round) {
    for (int i = 0; i < 4; ++i)
      machines[random() % NumMachines]->serve(conversation(random));
    if (round % 24 == 10) { // another process, which has the disk's records
      size_t which = random() % NumMachines;
      machines[which].reset();
      machines[which] = std::make_unique<TieredMachine>(which);
    }
    if (round % 24 == 20)
      machines[random() % NumMachines]->manager->resetPrefixCache();
    ASSERT_TRUE(follow()) << round;
    Tokens prompt = conversation(random);
    PrefixRouter::Choice choice = router.choose(hashes.of({}, {prompt}));
    ASSERT_TRUE(choice.isFound);
    int64_t found = machines[choice.machine]->serve(prompt);
    ++requests;
    right += found == choice.hitPages * PageSize;
    fromTiers += choice.tierPages;
    fromDevices += choice.hitPages - choice.tierPages;
    router.addLoad(choice.machine, 4);
    router.addLoad(static_cast<Machine>(random() % NumMachines), -4);
  }
  int64_t loaded = 0;
  for (auto &machine : machines)
    loaded += machine->manager->figures(0).loadedPages;
  std::cout << requests << " requests, " << right << " predicted, "
            << fromDevices << " pages of devices and " << fromTiers
            << " of tiers; " << loaded << " loaded\n";
  EXPECT_GE(right * 100, requests * 99);
  EXPECT_GT(fromTiers, requests);
  EXPECT_GT(fromDevices, requests);
}

TEST(TierEvents, WithoutTheOptionTiersAreNotTold) {
  TieredMachine machine(10, /*tells=*/false);
  EXPECT_EQ(machine.publisher->tierInterest(),
            CacheEventSink::TierInterest::None);
  zmq::context_t context;
  PrefixRouter router(1);
  auto follower = Follower::open(
      context,
      {.events = endpoint("events", 10), .replay = endpoint("replay", 10)},
      router, 0);
  ASSERT_TRUE(follower) << text(follower);
  Tokens first = iota(120, 0), second = iota(156, 1000),
         third = iota(156, 2000);
  for (const Tokens &prompt : {first, second, third})
    machine.serve(prompt);
  PrefixHashes hashes(PageSize);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (router.choose(hashes.of({}, {third})).hitPages < 38 &&
         std::chrono::steady_clock::now() < end) {
    (*follower)->step();
    (*follower)->check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(router.choose(hashes.of({}, {third})).tierPages, 0);
  // The device has lost it; host memory or the disk has it.
  EXPECT_EQ(router.choose(hashes.of({}, {first})).hitPages, 0);
  EXPECT_EQ(machine.serve(first), 116);
}
