//===- ManifestTest.cpp - Reading manifests of any file -------------------===//

#include "kv/Runtime/Session/Manifest.h"
#include "test/unit/TemporaryFile.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <random>

using namespace kv;
using namespace kv::test;

namespace {

std::string parseError(std::string_view json) {
  auto manifest = Manifest::parse(json, "a.so");
  return manifest ? "no error" : manifest.error().message;
}

TEST(Manifest, ReadsWithoutLoading) {
  auto manifest = Manifest::readFile(KV_TINY_ARTIFACT);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->abiVersion, 2);
  EXPECT_EQ(manifest->producer, "by hand");
  EXPECT_EQ(manifest->targetKind, "cpu");
  EXPECT_EQ(manifest->targetCpu, "x86-64-v2");
  EXPECT_EQ(manifest->model.vocabSize, 16);
  EXPECT_EQ(manifest->model.maxSeqLen, 8);
  EXPECT_NE(manifest->model.json.find("\"extra\":[1,2]"), std::string::npos);
  ASSERT_EQ(manifest->entries.size(), 4u);

  const Collection *kv = manifest->findCollection("kv");
  ASSERT_NE(kv, nullptr);
  EXPECT_EQ(kv->geometry, (CacheGeometry{.strategy = CacheStrategy::Paged,
                                         .dtype = KV_DTYPE_BF16,
                                         .layers = 2,
                                         .heads = 3,
                                         .dim = 64,
                                         .page = 16,
                                         .layout = CacheLayout::NHD}));
  EXPECT_EQ(manifest->findCollection("other"), nullptr);

  const Entry *forward = manifest->findEntry("forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->symbol, "kv_entry_forward");
  ASSERT_EQ(forward->inputs.size(), 4u);
  EXPECT_EQ(forward->inputs[0].shape[0].symbol, "T");
  const Argument *packed = forward->findInput("packed");
  ASSERT_NE(packed, nullptr);
  EXPECT_EQ(packed->kind, ArgumentKind::Weight);
  EXPECT_EQ(packed->layout, "n16k");
  EXPECT_EQ(packed->shape[1].size, 3);
  EXPECT_EQ(forward->findInput("bias")->layout, "row_major");
  const Argument *logits = forward->findOutput("logits");
  ASSERT_NE(logits, nullptr);
  EXPECT_EQ(logits->kind, ArgumentKind::Output);
  EXPECT_EQ(logits->shape[1], (Dimension{32, ""}));

  const Entry *caches = manifest->findEntry("caches");
  const Argument *lengths = caches->findInput(ArgumentKind::MaxLengths, "kv");
  ASSERT_NE(lengths, nullptr);
  EXPECT_TRUE(lengths->host);
  EXPECT_EQ(caches->findInput(ArgumentKind::Blocks, "other"), nullptr);
}

TEST(Manifest, NotJson) {
  for (const char *text : {"", "{", "{\"abi_version\": 2", "\xff\xfe", "{} {}"})
    EXPECT_EQ(parseError(text),
              "a.so: the manifest is not valid JSON, an object is needed")
        << text;
  for (const char *text : {"[]", "null"})
    EXPECT_EQ(parseError(text),
              concat("a.so: the manifest is ", text, ", an object is needed"));
}

/// What is replaced in a good manifest, and the error.
static const struct {
  const char *from, *to, *message;
} cases[] = {
    {"\"abi_version\": 2", "\"abi_version\": 3",
     "abi_version is 3, this runtime has version 2: compile the model "
     "again"},
    {"\"abi_version\": 2", "\"abi_version\": \"1\"",
     "abi_version is \"1\", expected an integer of 0 or more"},
    {"\"abi_version\": 2", "\"abi_version\": 18446744073709551615",
     "abi_version is 18446744073709551615, expected an integer of 0 or "
     "more"},
    {"\"abi_version\": 2,", "", "abi_version is missing"},
    {"\"weight\"", "\"wait\"",
     "entries[0].inputs[0].kind is \"wait\", expected one of input, weight, "
     "kv.blocks, kv.cache_lengths, kv.lookup_table, kv.max_lengths, "
     "kv.scales"},
    {"\"i32\"", "\"int\"",
     "entries[0].inputs[1].dtype is \"int\", expected one of f32, f16, bf16, "
     "f8E4M3FN, f8E5M2, f8E8M0FNU, i8, i32, i64"},
    {"[2, 3]", "[2, -3]",
     "entries[0].inputs[0].shape holds -3, expected a size or the name of a "
     "dimension"},
    {"[2, 3]", "[1,1,1,1,1,1,1,1,1]",
     "entries[0].inputs[0].shape is [1,1,1,1,1,1,1,1,1], expected an array "
     "of at most 8 sizes"},
    {"[2, 3]", "[\"N\", 3]",
     "entries[0].inputs[0].shape of the weight w holds the symbol \"N\", "
     "expected sizes"},
    {"row_major", "column",
     "entries[0].inputs[0].layout is \"column\", expected row_major, "
     "n16k, q8_0x16, q4_0x16, q4_1x16, q4_kx16, q6_kx16, i8x16, f8e4m3x16, "
     "f8e5m2x16"},
    {"\"row_major\"", "\"row_major\", \"stored\": 3",
     "entries[0].inputs[0].stored is 3, expected an object with shape and "
     "order"},
    {"\"row_major\"",
     "\"row_major\", \"stored\": {\"shape\": [4], \"order\": [1]}",
     "entries[0].inputs[0].stored of the weight w is "
     "{\"order\":[1],\"shape\":[4]}, expected a shape with 6 elements and an "
     "order of its dimensions"},
    {"\"row_major\"", "\"row_major\", \"shard\": 3",
     "entries[0].inputs[0].shard is 3, expected an object"},
    {"\"row_major\"", "\"row_major\", \"shard\": {\"runs\": 1}",
     "entries[0].inputs[0].shard.size is missing"},
    {"\"row_major\"",
     "\"row_major\", \"shard\": {\"runs\": 2, \"size\": 4, \"shard\": 2, "
     "\"copies\": 1}",
     "entries[0].inputs[0].shard of the weight w is 2 runs of 2 of 4 rows, "
     "the argument has 2 rows in groups of 1"},
    {"\"abi_version\": 2", "\"abi_version\": 2, \"ranks\": 0",
     "ranks is 0, expected an integer of 1 or more"},
    {"row_major", "n16k",
     "entries[0].inputs[0].shape of the n16k weight w is not [N / 16, K, "
     "16]"},
    {"row_major", "q4_0x16",
     "entries[0].inputs[0].shape of the q4_0x16 weight w is not i8 [N / 16, "
     "K / group, 288]"},
    {"row_major", "i8x16",
     "entries[0].inputs[0].shape of the i8x16 weight w is not i8 [N / 16, 1, "
     "64 + 16 * K]"},
    {"\"y\"", "\"x\"", "entries[0].outputs[0].name \"x\" is used twice"},
    {"\"symbol\": \"s\",", "", "entries[0].symbol is missing"},
    {"\"page\": 16", "\"page\": 0",
     "collections[0].page is 0, expected an integer of 1 or more"},
    {"{\"kind\": \"cpu\"}", "7", "target is 7, expected an object"},
    {"[{\"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"T\"]}]", "{}",
     "entries[0].outputs is {}, expected an array"},
    {"[{\"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"T\"]}]", "[3]",
     "entries[0].outputs[0] is 3, expected an object"},
};

TEST(Manifest, NamesTheField) {
  std::string good = R"({"abi_version": 2, "target": {"kind": "cpu"},
    "collections": [{"name": "kv", "strategy": "paged", "dtype": "bf16",
      "layers": 2, "heads": 3, "dim": 64, "page": 16}],
    "entries": [{"name": "f", "symbol": "s",
      "inputs": [{"name": "w", "kind": "weight", "dtype": "f32",
                  "shape": [2, 3], "layout": "row_major"},
                 {"name": "x", "kind": "input", "dtype": "i32",
                  "shape": ["T"]}],
      "outputs": [{"name": "y", "dtype": "f32", "shape": ["T"]}]}]})";
  ASSERT_EQ(parseError(good), "no error");
  for (const auto &[from, to, message] : cases) {
    std::string bad = replaced(good, from, to);
    ASSERT_NE(bad, good) << from;
    EXPECT_EQ(parseError(bad), concat("a.so: manifest: ", message));
  }
}

/// A manifest of one collection with these fields.
static Expected<Collection> parseCollection(std::string_view fields) {
  auto manifest = Manifest::parse(
      concat(R"({"abi_version": 2, "target": {"kind": "cpu"}, "entries": [],
                 "collections": [{"name": "c", )",
             fields, "}]}"),
      "a.so");
  if (!manifest)
    return std::unexpected(manifest.error());
  return manifest->collections[0];
}

TEST(Manifest, CollectionsCarryTheWholeGeometry) {
  auto latent = parseCollection(
      R"("strategy": "paged", "dtype": "bf16", "layers": 61, "heads": 1,
         "dim": 576, "v_dim": 512, "page": 64, "layout": "cpu")");
  ASSERT_TRUE(latent) << latent.error().message;
  EXPECT_EQ(latent->geometry, (CacheGeometry{.dtype = KV_DTYPE_BF16,
                                             .layers = 61,
                                             .heads = 1,
                                             .dim = 576,
                                             .page = 64,
                                             .vDim = 512,
                                             .layout = CacheLayout::CPU}));
  auto continuous = parseCollection(
      R"("strategy": "continuous", "dtype": "i8", "layers": 2, "heads": 2,
         "dim": 16, "max_seq": 256, "layout": "hnd",
         "scale": {"dtype": "f8E8M0FNU", "group": 8})");
  ASSERT_TRUE(continuous) << continuous.error().message;
  EXPECT_EQ(continuous->geometry,
            (CacheGeometry{.strategy = CacheStrategy::Continuous,
                           .dtype = KV_DTYPE_I8,
                           .layers = 2,
                           .heads = 2,
                           .dim = 16,
                           .page = 256,
                           .layout = CacheLayout::HND,
                           .scaleGroup = 8,
                           .scaleDType = KV_DTYPE_F8E8M0FNU}));
  auto windowed = parseCollection(
      R"("strategy": "paged", "dtype": "bf16", "layers": 24, "heads": 8,
         "dim": 64, "page": 16, "window": 128, "page_layers": 4)");
  ASSERT_TRUE(windowed) << windowed.error().message;
  EXPECT_EQ(windowed->geometry, (CacheGeometry{.dtype = KV_DTYPE_BF16,
                                               .layers = 24,
                                               .heads = 8,
                                               .dim = 64,
                                               .page = 16,
                                               .window = 128,
                                               .pageLayers = 4}));
}

TEST(Manifest, CollectionErrorsNameTheField) {
  std::string good = R"("strategy": "paged", "dtype": "f8E4M3FN", "layers": 2,
    "heads": 3, "dim": 64, "page": 16, "scale": {"dtype": "f32", "group": 32})";
  ASSERT_TRUE(parseCollection(good));
  struct {
    const char *from, *to, *message;
  } cases[] = {
      {"\"paged\"", "\"naive\"",
       ".strategy is \"naive\", expected one of paged, continuous, recurrent"},
      {"\"paged\"", "\"continuous\"", ".max_seq is missing"},
      {"\"page\": 16", "\"page\": 16, \"layout\": \"x\"",
       ".layout is \"x\", expected one of nhd, hnd, cpu"},
      {"\"page\": 16", "\"page\": 16, \"v_dim\": 64",
       ": 'heads' must be 1 in a latent cache, not 3"},
      {"\"page\": 16", "\"page\": 1048577",
       ": 'page' must be at most 1048576, not 1048577"},
      {"\"f32\"", "\"bf16\"", ": the scale's type must be f32 or f8E8M0FNU"},
      {"32}", "24}", ": 'group' must be a divisor of dim = 64, not 24"},
      {"32}", "0}", ".scale.group is 0, expected an integer of 1 or more"},
      {"{\"dtype\": \"f32\", \"group\": 32}", "7",
       ".scale is 7, expected an object"},
      {"f8E4M3FN", "i32",
       ": the element type must be f32, f16, bf16, f8E4M3FN, f8E5M2 or i8"},
      {", \"scale\": {\"dtype\": \"f32\", \"group\": 32}",
       ", \"scale\": {\"group\": 32}", ".scale.dtype is missing"},
      {"\"page\": 16", "\"page\": 16, \"window\": 0",
       ".window is 0, expected an integer of 1 or more"},
      {"\"page\": 16", "\"page\": 16, \"window\": \"all\"",
       ".window is \"all\", expected an integer of 1 or more"},
      {"\"page\": 16", "\"page\": 16, \"window\": 2147483648",
       ": 'window' must be 0 to 2147483647, not 2147483648"},
      {"\"page\": 16", "\"page\": 16, \"page_layers\": -1",
       ".page_layers is -1, expected an integer of 1 or more"},
      {"\"page\": 16", "\"page\": 16, \"page_layers\": 3",
       ": 'page_layers' must be 1 to layers = 2, not 3"},
  };
  for (const auto &[from, to, message] : cases) {
    std::string bad = replaced(good, from, to);
    ASSERT_NE(bad, good) << from;
    auto collection = parseCollection(bad);
    ASSERT_FALSE(collection) << to;
    EXPECT_EQ(collection.error().message,
              concat("a.so: manifest: collections[0]", message));
  }
}

TEST(Manifest, DeepNesting) {
  // A message that shows the value would need as deep a stack.
  std::string begin(200000, '['), end(200000, ']');
  for (const std::string &text :
       {begin, begin + end, "{\"target\": " + begin + end + "}",
        "{\"model\": {\"x\": " + begin + end + "}}"})
    EXPECT_EQ(parseError(text),
              "a.so: the manifest is nested deeper than 64 levels");
}

TEST(ManifestFile, EveryTruncationIsAnError) {
  std::string whole = readWhole(KV_TINY_ARTIFACT);
  TemporaryFile file(whole);
  ASSERT_TRUE(Manifest::readFile(file.path()));
  for (size_t length = whole.size(); length-- > 0;) {
    file.truncate(length);
    auto manifest = Manifest::readFile(file.path());
    ASSERT_FALSE(manifest) << length;
    ASSERT_TRUE(
        manifest.error().message.starts_with(file.path().string() + ": "))
        << manifest.error().message;
    ASSERT_EQ(manifest.error().message.find('\n'), std::string::npos);
  }
}

// Nothing to compare with: the reader must survive, and sanitizers look on.
TEST(ManifestFile, SurvivesEveryChangedByte) {
  std::string whole = readWhole(KV_TINY_ARTIFACT);
  TemporaryFile file(whole);
  std::mt19937 random(5);
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    file.poke(i, char(random()));
    auto manifest = Manifest::readFile(file.path());
    refused += !manifest;
    file.poke(i, whole[i]);
  }
  EXPECT_GT(refused, 100u);
}

TEST(ManifestFile, ForeignFiles) {
  TemporaryFile file("hello, this is no artifact at all, but a text\n");
  auto error = [&] {
    auto manifest = Manifest::readFile(file.path());
    std::string prefix = file.path().string() + ": ";
    return manifest ? "no error"
                    : manifest.error().message.substr(prefix.size());
  };
  EXPECT_EQ(error(), "not an ELF file");
  file.write("");
  EXPECT_EQ(error(), "not an ELF file");
  std::string whole = readWhole(KV_TINY_ARTIFACT);
  file.write(replaced(whole, ".kv.manifest", ".kv.manifesT"));
  EXPECT_EQ(error(), "no section .kv.manifest: not an artifact of kv-compile");
  std::string other = whole;
  other[18] = 40; // e_machine
  file.write(other);
  EXPECT_EQ(error(), "made for ELF machine 40, expected 62 (x86-64)");
  other = whole;
  other[4] = 1; // EI_CLASS
  file.write(other);
  EXPECT_EQ(error(), "not a 64-bit little-endian ELF file");
  other = whole;
  other[16] = 1; // e_type
  file.write(other);
  EXPECT_EQ(error(), "not a shared object");

  // The first segment, moved so that only its end is outside.
  other = whole;
  Elf64_Ehdr header;
  std::memcpy(&header, other.data(), sizeof(header));
  Elf64_Phdr segment;
  std::memcpy(&segment, other.data() + header.e_phoff, sizeof(segment));
  segment.p_offset = whole.size() - 10;
  segment.p_filesz = 20;
  std::memcpy(other.data() + header.e_phoff, &segment, sizeof(segment));
  file.write(other);
  EXPECT_EQ(error(), "cut off: a segment lies outside of the file");

  EXPECT_EQ(Manifest::readFile("/nowhere/a.so").error().message,
            "/nowhere/a.so: No such file or directory");
  EXPECT_EQ(Manifest::readFile("/").error().message, "/: not a regular file");
}

} // namespace
