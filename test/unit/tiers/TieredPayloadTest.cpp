//===- TieredPayloadTest.cpp - Payloads of pages in other tiers -----------===//

#include "test/unit/PayloadServer.h"
#include "test/unit/TemporaryFile.h"

#include <random>

using namespace kv;
using namespace kv::test;

using enum CacheEngine::Reason;
using Reasons = std::vector<CacheEngine::Reason>;

namespace {

PagedKVCacheManager::Options onDisk(int64_t pages, const std::string &folder,
                                    bool asynchronous = false) {
  return {.numPages = pages,
          .tiers = {.diskDirectory = folder,
                    .diskBytes = 64 << 20,
                    .asynchronous = asynchronous}};
}

} // namespace

TEST(TieredPayload, ComesFromTheHost) {
  PayloadServer server({.numPages = 6}, /*hostPages=*/100);
  EXPECT_EQ(server.manager->totalNumHostPages(), 100);
  EXPECT_EQ(server.serve(iota(14)), 0);
  EXPECT_EQ(server.serve(iota(22, 100), /*hasPayload=*/false), 0);
  EXPECT_EQ(server.explain(iota(14)),
            (Reasons{OtherTier, OtherTier, OtherTier, AlwaysComputed}));
  EXPECT_EQ(server.serve(iota(14)), 11);
  EXPECT_EQ(server.manager->metrics().loadedPages, 3);
  EXPECT_EQ(server.serve(iota(14)), 11); // of the device
  EXPECT_EQ(server.manager->metrics().loadedPages, 3);
}

/// A record without a payload is no hit for who needs one; there are then two
/// records of the page, and others find both.
TEST(TieredPayload, ARecordWithoutItIsNoHit) {
  PayloadServer server({.numPages = 6}, /*hostPages=*/100);
  Tokens prompt = iota(14), far = iota(18, 100);
  EXPECT_EQ(server.serve(prompt, /*hasPayload=*/false), 0);
  EXPECT_EQ(server.serve(far, /*hasPayload=*/false), 0);
  EXPECT_EQ(server.explain(prompt), (Reasons{WithoutPayload, WithoutPayload,
                                             WithoutPayload, AlwaysComputed}));
  EXPECT_EQ(server.serve(prompt), 0);
  EXPECT_EQ(server.serve(far), 0);
  EXPECT_EQ(server.manager->metrics().storedPages, 2 * (3 + 4));
  EXPECT_EQ(server.serve(prompt), 11);
  EXPECT_EQ(server.serve(far), 15);
  // What only a request with a payload has computed, others find.
  Tokens third = iota(14, 200);
  EXPECT_EQ(server.serve(third), 0);
  EXPECT_EQ(server.serve(far), 15);
  EXPECT_EQ(server.serve(third, /*hasPayload=*/false), 12);
  EXPECT_EQ(server.manager->metrics().storedPages, 2 * (3 + 4) + 3);
  // On the device the page has none now, and its record has.
  EXPECT_EQ(server.serve(third), 11);
}

TEST(TieredPayload, OutlivesTheProcess) {
  TemporaryFolder folder;
  for (bool asynchronous : {false, true, true}) {
    bool isFirst = !asynchronous;
    PayloadServer server(onDisk(12, folder.path(), asynchronous), 60);
    for (int32_t seed = 0; seed < 4; ++seed)
      EXPECT_EQ(server.serve(iota(18, 100 * seed)), isFirst ? 0 : 15);
  }
  PayloadServer server(onDisk(12, folder.path()), 8);
  EXPECT_EQ(server.serve(iota(18), /*hasPayload=*/false), 16);
}

/// A directory holds records with payloads of one size, or none.
TEST(TieredPayload, ADirectoryIsOfOneSize) {
  TemporaryFolder folder;
  {
    PayloadServer server(onDisk(12, folder.path()), 60);
  }
  KVCacheParams params = fakeParams(PayloadServer::PageSize);
  params.connector = KVConnector::Tiered;
  params.hostSwapSpaceGB = 1e-6;
  PagedKVCacheManager::Options options = onDisk(12, folder.path());
  options.maxSeqLen = 64;
  auto refused = PagedKVCacheManager::create({{params}}, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(text(refused).find("; payload 96"), std::string::npos)
      << text(refused);
}

/// Prompts that share prefixes, with and without payloads, on few pages before
/// few slots and a disk: a payload is the right one or its page is computed.
TEST(TieredPayload, RandomRequests) {
  TemporaryFolder folder, ofWindows;
  std::mt19937 random(5);
  int64_t cached = 0, warm = 0;
  for (int process = 0; process < 4; ++process) {
    std::string place = process == 0   ? ""
                        : process == 3 ? ofWindows.path()
                                       : folder.path();
    PayloadServer server(onDisk(18, place, process % 2), 12,
                         process == 3 ? 4 : 0);
    for (int i = 0; i < 400; ++i) {
      Tokens prompt = iota(random() % 30 + 2);
      for (int32_t at : {8, 17})
        if (at < std::ssize(prompt))
          prompt[at] = static_cast<int32_t>(random() % 4);
      bool hasPayload = random() % 3 != 0;
      int64_t chunk = random() % 2 ? 64 : 1 + random() % 8;
      int64_t hit = server.serve(prompt, hasPayload, chunk);
      cached += hit;
      if (!hasPayload)
        continue;
      EXPECT_TRUE(hit == 0 || hit % 4 == 3) << hit;
      // At once again: all but the last page's last token.
      if (random() % 4 == 0) {
        int64_t pages = (std::ssize(prompt) - 1) / 4;
        EXPECT_EQ(server.serve(prompt), std::max<int64_t>(4 * pages - 1, 0));
        ++warm;
      }
    }
    ASSERT_TRUE(server.manager->check());
    EXPECT_EQ(server.manager->metrics().diskPagesRead > 0, process > 0);
  }
  EXPECT_GT(cached, 1000);
  EXPECT_GT(warm, 100);
}
