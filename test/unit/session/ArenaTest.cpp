//===- ArenaTest.cpp - A stack of temporaries -----------------------------===//

#include "kv/Runtime/Base/Arena.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace kv;

namespace {

constexpr size_t Size = 1 << 20;

char *fill(void *memory, size_t bytes, char value) {
  std::memset(memory, value, bytes);
  return static_cast<char *>(memory);
}

bool holds(void *memory, size_t bytes, char value) {
  return std::string(static_cast<char *>(memory), bytes) ==
         std::string(bytes, value);
}

TEST(Arena, AllocatesAlignedAndDisjoint) {
  Arena arena = *Arena::reserve(Size);
  char *last = nullptr;
  for (int64_t bytes : {1, 64, 65, 1000, 3}) {
    char *memory = static_cast<char *>(arena.allocate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    EXPECT_GE(memory, last);
    last = memory + bytes;
  }
}

TEST(Arena, ReleaseReusesAndPeakStays) {
  Arena arena = *Arena::reserve(Size);
  arena.allocate(100);
  int64_t mark = arena.mark();
  void *first = arena.allocate(1000);
  arena.release(mark);
  EXPECT_EQ(arena.used(), 128u);
  EXPECT_EQ(arena.allocate(10), first);
  EXPECT_EQ(arena.peak(), 128u + 1024u);
}

TEST(Arena, RefusesWhatDoesNotFit) {
  Arena arena = *Arena::reserve(Size);
  EXPECT_EQ(arena.allocate(-1), nullptr);
  EXPECT_EQ(arena.allocate(Size + 1), nullptr);
  EXPECT_EQ(arena.allocate(INT64_MAX), nullptr);
  EXPECT_NE(arena.allocate(Size), nullptr);
  EXPECT_NE(arena.allocate(0), nullptr);
  EXPECT_EQ(arena.allocate(1), nullptr);
}

TEST(Arena, ReservesLessWhenRefused) {
  auto arena = Arena::reserve(size_t(1) << 50);
  if (arena)
    EXPECT_LE(arena->capacity(), size_t(1) << 50);
  else
    EXPECT_NE(arena.error().message.find("address space"), std::string::npos);
  EXPECT_GE(Arena::reserve(size_t(64) << 30)->capacity(), size_t(64) << 20);
}

TEST(Arena, ReturnMovesOverlapping) {
  Arena arena = *Arena::reserve(Size);
  arena.allocate(64);
  int64_t mark = arena.mark();
  char *target = static_cast<char *>(arena.allocate(64));
  // 64 bytes down by 64: source and target overlap for all but one line.
  char *source = static_cast<char *>(arena.allocate(5000));
  std::vector<char> expected(5000);
  for (int i = 0; i < 5000; ++i)
    source[i] = expected[i] = char(i * 7);
  arena.allocate(100);
  void *pointers[] = {source};
  int64_t bytes[] = {5000};
  arena.returnBuffers(mark, pointers, bytes, 1);
  EXPECT_EQ(pointers[0], target);
  EXPECT_EQ(0, std::memcmp(target, expected.data(), 5000));
  EXPECT_EQ(arena.used(), 64u + 5056u);
}

TEST(Arena, ReturnKeepsOrderOfAddressAndForeignBuffers) {
  Arena arena = *Arena::reserve(Size);
  char *below = fill(arena.allocate(64), 64, 'b');
  int64_t mark = arena.mark();
  arena.allocate(192);
  char *first = fill(arena.allocate(300), 300, '1');
  arena.allocate(10);
  char *second = fill(arena.allocate(500), 500, '2');
  char *third = fill(arena.allocate(70), 70, '3');
  char outside[8] = "outside";
  // Given out of order, one of them twice.
  void *pointers[] = {third, outside, first, below, second, first};
  int64_t bytes[] = {70, 8, 300, 64, 500, 300};
  arena.returnBuffers(mark, pointers, bytes, 6);
  EXPECT_EQ(pointers[1], outside);
  EXPECT_EQ(pointers[3], below);
  EXPECT_EQ(pointers[2], below + 64);
  EXPECT_EQ(pointers[5], pointers[2]);
  EXPECT_EQ(pointers[4], below + 64 + 320);
  EXPECT_EQ(pointers[0], below + 64 + 320 + 512);
  EXPECT_TRUE(holds(below, 64, 'b'));
  EXPECT_TRUE(holds(pointers[2], 300, '1'));
  EXPECT_TRUE(holds(pointers[4], 500, '2'));
  EXPECT_TRUE(holds(pointers[0], 70, '3'));
  EXPECT_EQ(arena.used(), 64u + 320u + 512u + 128u);
}

TEST(Arena, ReturnKeepsParts) {
  Arena arena = *Arena::reserve(Size);
  int64_t mark = arena.mark();
  arena.allocate(64);
  char *whole = static_cast<char *>(arena.allocate(256));
  for (int i = 0; i < 256; ++i)
    whole[i] = char(i);
  void *pointers[] = {whole + 100, whole};
  int64_t bytes[] = {100, 256};
  arena.returnBuffers(mark, pointers, bytes, 2);
  ASSERT_EQ(static_cast<char *>(pointers[0]),
            static_cast<char *>(pointers[1]) + 100);
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(static_cast<char *>(pointers[1])[i], char(i));
}

TEST(Arena, ReturnOfNothing) {
  Arena arena = *Arena::reserve(Size);
  int64_t mark = arena.mark();
  void *empty = arena.allocate(0);
  arena.allocate(100);
  void *pointers[] = {empty, nullptr};
  int64_t bytes[] = {0, 0};
  arena.returnBuffers(mark, pointers, bytes, 2);
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(pointers[1], nullptr);
  arena.returnBuffers(mark, nullptr, nullptr, 0);
  EXPECT_EQ(arena.used(), 0u);
}

} // namespace
