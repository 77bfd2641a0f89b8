//===- PoolTest.cpp - Pools that are larger than memory -------------------===//

#include "EmulatorBackend.h"
#include "kernels/cuda/parameters/Movers.h"
#include "test/kernels/Reservation.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Pages of 4 tokens, 1 head, 64 elements of bf16 in two planes: page 2^22 and
/// those after it begin beyond element 2^31, and 2^32 bytes.
constexpr int64_t PageElements = 2 * 4 * 64;
constexpr int32_t FarPage = int32_t((int64_t(1) << 31) / PageElements);
constexpr int32_t FarPages = FarPage + 3;
static_assert(int64_t(FarPage) * PageElements > INT32_MAX);

} // namespace

TEST(MoverPool, StoreBeyondTwoToThe31Elements) {
  Reservation pool(FarPages * PageElements * 2);
  auto *cache = static_cast<Bf16 *>(pool.memory);
  std::vector<int32_t> table = {FarPage - 1, FarPage + 1}, cached = {2},
                       offsets = {0, 4};
  std::vector<Bf16> k(4 * 64);
  for (size_t i = 0; i < k.size(); ++i)
    k[i] = {uint16_t(i + 1)};
  StoreParams p{};
  p.cache = {cache, PageElements, PageElements / 2, PageElements,
             64,    64,           FarPages,         4};
  p.table = table.data();
  p.tablePitch = p.tableColumns = 2;
  p.batch = {cached.data(), offsets.data(), 1, 4, 0};
  p.heads = 1;
  p.dim = 64;
  p.k = p.v = k.data();
  p.kTokenStride = p.vTokenStride = 64;
  p.rowsType = p.cacheType = KV_DTYPE_BF16;
  EmulatorBackend backend;
  backend.give(pool.memory, pool.bytes, Access::Write);
  backend.give(k.data(), k.size() * 2, Access::Read);
  backend.give(table.data(), 8, Access::Read);
  backend.give(offsets.data(), 8, Access::Read);
  backend.launch("kv_store", 1, &p);
  ASSERT_TRUE(backend.reports().empty()) << backend.reports()[0];
  for (int token = 0; token < 4; ++token)
    for (int plane = 0; plane < 2; ++plane) {
      int position = 2 + token;
      const Bf16 *row = cache + table[position / 4] * PageElements +
                        plane * PageElements / 2 + position % 4 * 64;
      EXPECT_EQ(std::memcmp(row, &k[token * 64], 128), 0) << token;
    }
}

TEST(MoverPool, CopyBeyondTwoToThe31Elements) {
  Reservation pool(FarPages * PageElements * 2);
  auto *cache = static_cast<Bf16 *>(pool.memory);
  std::vector<int32_t> source = {1, FarPage + 2},
                       destination = {FarPage + 1, 2};
  std::memset(static_cast<void *>(cache + PageElements), 1, PageElements * 2);
  std::memset(static_cast<void *>(cache + (FarPage + 2) * PageElements), 2,
              PageElements * 2);
  CopyPagesParams p{
      cache,         PageElements * 2,   0, PageElements * 2, 1, FarPages,
      source.data(), destination.data(), 2};
  EmulatorBackend backend;
  backend.give(pool.memory, pool.bytes, Access::Write);
  backend.give(source.data(), 8, Access::Read);
  backend.give(destination.data(), 8, Access::Read);
  backend.launch("kv_copy_pages", 2, &p);
  ASSERT_TRUE(backend.reports().empty()) << backend.reports()[0];
  for (int i = 0; i < PageElements; ++i) {
    EXPECT_EQ(cache[(FarPage + 1) * PageElements + i].bits, 0x0101);
    EXPECT_EQ(cache[2 * PageElements + i].bits, 0x0202);
  }
}
