//===- SafetensorsTest.cpp - Reading weights files ------------------------===//

#include "kv/Runtime/Session/Safetensors.h"
#include "SafetensorsWriter.h"
#include "test/unit/TemporaryFile.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace kv;
using namespace kv::test;

namespace {

std::string openError(const std::string &contents) {
  TemporaryFile file(contents);
  auto opened = SafetensorsFile::open(file.path());
  if (opened)
    return "no error";
  std::string prefix = file.path().string() + ": ";
  EXPECT_TRUE(opened.error().message.starts_with(prefix));
  return opened.error().message.substr(prefix.size());
}

std::string withHeader(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header +
         data;
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  TemporaryFile file(SafetensorsWriter()
                         .add("b", "F32", {2}, std::string(8, 'b'))
                         .add("a", "BF16", {1, 3}, "aabbcc")
                         .add("odd", "U8", {5}, "12345")
                         .add("new", "F4", {4}, "zz")
                         .metadata("layout.a", "n16k")
                         .bytes());
  auto opened = SafetensorsFile::open(file.path());
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->tensors().size(), 4u);
  EXPECT_EQ(opened->tensors()[0].name, "a");
  const auto *a = opened->find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->dtype, DType::BF16);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(std::string(static_cast<const char *>(a->data), a->bytes),
            "aabbcc");
  EXPECT_EQ(opened->find("odd")->dtype, std::nullopt);
  EXPECT_EQ(opened->find("new")->fileDType, "F4");
  EXPECT_EQ(opened->find("c"), nullptr);
  ASSERT_NE(opened->metadata("layout.a"), nullptr);
  EXPECT_EQ(*opened->metadata("layout.a"), "n16k");
  EXPECT_EQ(opened->metadata("layout.b"), nullptr);
}

TEST(Safetensors, ACopyIsTheFile) {
  // Larger than two huge pages: smaller files are mapped whatever is asked for.
  std::string contents(5 << 20, '\0');
  std::mt19937 random(3);
  for (char &byte : contents)
    byte = static_cast<char>(random());
  std::string whole =
      SafetensorsWriter().add("a", "U8", {5 << 20}, contents).bytes();
  TemporaryFile file(whole);
  auto copied = SafetensorsFile::open(file.path(), FileMemory::Copied);
  ASSERT_TRUE(copied) << copied.error().message;
  const auto *a = copied->find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->bytes, contents.size());
  EXPECT_EQ(std::memcmp(a->data, contents.data(), contents.size()), 0);
  // It is no view of the file: what becomes of that does not reach it.
  std::ofstream(file.path(), std::ios::binary | std::ios::in)
      << std::string(whole.size(), 'x');
  EXPECT_EQ(std::memcmp(a->data, contents.data(), contents.size()), 0);
  auto mapped = SafetensorsFile::open(file.path());
  EXPECT_FALSE(mapped);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  std::string whole = SafetensorsWriter()
                          .add("a", "F32", {4}, std::string(16, 'x'))
                          .add("b", "F16", {3, 2}, std::string(12, 'y'))
                          .bytes();
  TemporaryFile file(whole);
  EXPECT_TRUE(SafetensorsFile::open(file.path()));
  for (size_t length = whole.size(); length-- > 0;) {
    file.truncate(length);
    ASSERT_FALSE(SafetensorsFile::open(file.path())) << length;
  }
}

TEST(Safetensors, SurvivesEveryChangedByte) {
  std::string whole = SafetensorsWriter()
                          .add("a", "F32", {4}, std::string(16, 'x'))
                          .metadata("k", "v")
                          .bytes();
  std::mt19937 random(5);
  TemporaryFile file(whole);
  size_t accepted = 0, sum = 0;
  for (size_t i = 0; i < whole.size() * 4; ++i) {
    size_t at = i % whole.size();
    file.poke(at, char(random()));
    auto opened = SafetensorsFile::open(file.path());
    file.poke(at, whole[at]); // the mapping sees it, too
    if (!opened)
      continue;
    // What is accepted must be readable to its last byte.
    ++accepted;
    for (const auto &tensor : opened->tensors())
      for (size_t b = 0; b < tensor.bytes; ++b)
        sum += static_cast<const unsigned char *>(tensor.data)[b];
  }
  EXPECT_GT(accepted, 0u); // changed data, at least
  EXPECT_GT(sum, 0u);
}

TEST(Safetensors, SaysWhatIsWrong) {
  EXPECT_EQ(openError("abc"), "not a safetensors file: 3 bytes");
  EXPECT_EQ(openError(std::string(100, '\x7f')),
            "not a safetensors file: it would have a header of "
            "9187201950435737471 bytes");
  EXPECT_EQ(openError(withHeader("{}", "").substr(0, 9)),
            "cut off: a header of 2 bytes in a file of 9");
  EXPECT_EQ(openError(withHeader("[1]", "")),
            "not a safetensors file: the header is [1], an object is needed");
  std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const char *field : {"w", "__metadata__"})
    EXPECT_EQ(openError(withHeader(
                  concat("{\"", field, "\": {\"dtype\": ", deep, "}}"), "")),
              "not a safetensors file: the header is nested deeper than 64 "
              "levels");
  EXPECT_EQ(openError(withHeader("{\"w\": 1, \"w\": 2}", "")),
            "not a safetensors file: the header has the field \"w\" twice");
  auto tensor = [](const std::string &text) {
    return openError(withHeader("{\"w\": " + text + "}", "12345678"));
  };
  EXPECT_EQ(tensor("3"), "tensor w: its description is no object");
  EXPECT_EQ(tensor("{\"dtype\": \"F32\", \"shape\": [2]}"),
            "tensor w: data_offsets is missing");
  EXPECT_EQ(
      tensor("{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 9]}"),
      "tensor w: data_offsets is [0,9], the file holds 8 bytes of data");
  EXPECT_EQ(
      tensor("{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 0]}"),
      "tensor w: data_offsets is [8,0], the file holds 8 bytes of data");
  EXPECT_EQ(
      tensor("{\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 8]}"),
      "tensor w: its type F32 and shape [3] do not make 8 bytes");
  EXPECT_EQ(tensor("{\"dtype\": \"F32\", \"shape\": "
                   "[4611686018427387904, 4], \"data_offsets\": [0, 0]}"),
            "tensor w: shape is [4611686018427387904,4], expected sizes");
  EXPECT_EQ(tensor("{\"dtype\": \"F32\", \"shape\": [-2], "
                   "\"data_offsets\": [0, 8]}"),
            "tensor w: shape is [-2], expected sizes");
  std::string ending = "\u20ac, of which a message has no half";
  EXPECT_EQ(tensor("{\"dtype\": \"F32\", \"shape\": \"" + std::string(38, 'x') +
                   ending + "\", \"data_offsets\": [0, 8]}"),
            "tensor w: shape is \"" + std::string(38, 'x') +
                "..., expected an array");
  EXPECT_EQ(
      tensor("{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}"),
      "no error");
}

} // namespace
