//===- ReferencePrintTest.cpp - The text of kv.print ----------------------===//

#include "PagedFixture.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

/// One sequence in the pages 2 and 1, and an empty one. Element d of position p
/// is p + d / 2 in K and 10 more in V.
PagedFixture smallCache() {
  PagedFixture fixture({.batch = {{2, 1}, {0, 0}},
                        .page = 2,
                        .heads = 1,
                        .dim = 5,
                        .cacheType = DType::BF16});
  fixture.lookupTable.as<int32_t>()[0] = 2;
  fixture.lookupTable.as<int32_t>()[1] = 1;
  for (int64_t p = 0; p < 3; ++p)
    for (int64_t plane : {0, 1})
      for (int64_t d = 0; d < 5; ++d)
        encode(DType::BF16, 10 * plane + p + d / 2.0f,
               PagedFixture::element(fixture.blocks,
                                     fixture.index(0, plane, p) + d));
  return fixture;
}

TEST(ReferencePrint, CachedTokens) {
  PagedFixture fixture = smallCache();
  reference::PrintArguments args{
      &fixture.blocks.view(),
      /*scales=*/nullptr,          &fixture.cacheLengths.view(),
      &fixture.lookupTable.view(), nullptr,
      PagedFixture::Layer};
  ASSERT_FALSE(reference::validate(args));
  EXPECT_EQ(reference::print(args),
            "kv.print: layer 1\n"
            "sequence 0: 2 tokens\n"
            "  0 (page 2) head 0: k 0 0.5 1 1.5 ... v 10 10.5 11 11.5 ...\n"
            "  1 (page 2) head 0: k 1 1.5 2 2.5 ... v 11 11.5 12 12.5 ...\n"
            "sequence 1: 0 tokens\n");

  // This step's tokens as well, and an entry that is no page.
  args.rowOffsets = &fixture.rowOffsets.view();
  ASSERT_FALSE(reference::validate(args));
  EXPECT_NE(reference::print(args).find("sequence 0: 3 tokens\n"),
            std::string::npos);
  EXPECT_NE(reference::print(args).find(
                "  2 (page 1) head 0: k 2 2.5 3 3.5 ... v 12 12.5 13 13.5"),
            std::string::npos);
  fixture.lookupTable.as<int32_t>()[0] = -12345;
  EXPECT_NE(
      reference::print(args).find("  0: no page\n  1: no page\n  2 (page"),
      std::string::npos);
  // A page that a window has passed.
  fixture.lookupTable.as<int32_t>()[0] = 0;
  EXPECT_NE(
      reference::print(args).find("  0: null page\n  1: null page\n  2 (page"),
      std::string::npos);
  fixture.cacheLengths.as<int32_t>()[0] = 100;
  EXPECT_NE(reference::print(args).find("  the lookup table ends\n"),
            std::string::npos);
}

TEST(ReferencePrint, Validation) {
  PagedFixture fixture = smallCache();
  KvTensorView offsets = fixture.rowOffsets.view();
  reference::PrintArguments args{&fixture.blocks.view(),
                                 /*scales=*/nullptr,
                                 &fixture.cacheLengths.view(),
                                 &fixture.lookupTable.view(),
                                 &offsets,
                                 3};
  auto failure = reference::validate(args);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "print: layer 3, the cache has 3 layers");
  args.layer = 0;
  offsets.sizes[0] = 2;
  failure = reference::validate(args);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message,
            "print: row_offsets has the size 2 in dimension 0, expected 3 (one "
            "more than cache_lengths has)");
  args.lookupTable = nullptr;
  failure = reference::validate(args);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "print: lookup_table is missing");
}

} // namespace
