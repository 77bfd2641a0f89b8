//===- KvRunTest.cpp - The program, with an artifact by hand --------------===//

#include "test/unit/FakeModel.h"

#include "kv/Runtime/Manager/ManagerSetup.h"
#include "kv/Runtime/Serving/GenerationRequest.h"
#include "kv/Runtime/Serving/TextGenerator.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace kv;
using namespace kv::test;
using nlohmann::json;

namespace {

class KvRun : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             concat("kv-run-test-", static_cast<int64_t>(::getpid()));
    std::filesystem::create_directories(folder);
    std::string header =
        R"({"bias":{"dtype":"F32","shape":[50],"data_offsets":[0,200]}})";
    uint64_t size = header.size();
    write("weights",
          std::string(reinterpret_cast<const char *>(&size), sizeof(size)) +
              header + std::string(200, '\0'));
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(std::string_view name) const { return folder / name; }
  void write(std::string_view name, std::string_view text) {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(std::string_view name) {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Runs kv-run; returns its exit code. Output: the files out and err.
  int run(std::string_view options,
          std::string_view artifact = KV_HISTORY_ARTIFACT,
          std::string_view weights = "weights") {
    std::string command = concat(
        KV_RUN, " ", artifact, " --threads 1 --weights ", path(weights), " ",
        options, " < ", path("in"), " > ", path("out"), " 2> ", path("err"));
    int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::vector<json> lines() {
    std::vector<json> result;
    std::ifstream file(path("out"));
    for (std::string line; std::getline(file, line);)
      result.push_back(json::parse(line));
    return result;
  }

  std::filesystem::path folder;
};

/// The tokens that `lines` stream for `id`, whose indices must ascend from 0.
std::vector<int32_t> tokensOf(const std::vector<json> &lines,
                              std::string_view id) {
  std::vector<int32_t> result;
  for (const json &line : lines)
    if (line.contains("token") && line["id"] == id) {
      EXPECT_EQ(line["index"], result.size());
      result.push_back(line["token"]);
    }
  return result;
}

TEST(Options, AreWhatTheTablesSay) {
  ManagerSetup setup;
  Scheduler::Options steps;
#define IS_NUMBER(name, type, place, standard, ...)                            \
  EXPECT_EQ(setup.place, type(standard)) << #name;
#define IS_COUNT IS_NUMBER
#define IS_SWITCH(name, place, ...)                                            \
  EXPECT_EQ(setup.place, decltype(setup.place)(0)) << #name;
#define IS_TEXT(name, place, ...) EXPECT_EQ(setup.place, "") << #name;
#define IS_CHOICE IS_SWITCH
#define IS_OTHER(...)
#define KV_OPTION(kind, ...) IS_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
#define KV_OPTION(kind, name, type, place, standard, ...)                      \
  EXPECT_EQ(steps.place, type(standard)) << #name;
#include "kv/ABI/ServerOptions.def"
}

} // namespace

TEST_F(KvRun, ServesRequests) {
  write("in", R"({"id": "a", "tokens": [1,2,3,4,5,6,7,8,9], "max_new_tokens": 9}
{"id": "b", "tokens": [1,2,3,4,5,6,7,8,9], "max_new_tokens": 7, "temperature": 1, "seed": 4, "arrival_step": 2, "logits": "digest"}
{"id": "c", "tokens": [50]}
{"id": "d"}
)");
  EXPECT_EQ(run("--pages 6"), 1) << read("err");
  std::vector<json> answers = lines();
  GenerationRequest a, b;
  a.tokens = b.tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  a.maxNewTokens = 9;
  b.maxNewTokens = 7;
  b.sampling = {.temperature = 1, .seed = 4};
  EXPECT_EQ(tokensOf(answers, "a"), FakeModel::answer(a, 64));
  EXPECT_EQ(tokensOf(answers, "b"), FakeModel::answer(b, 64));
  int ends = 0;
  for (const json &line : answers) {
    if (line.contains("token") && line["id"] == "b" && line["index"] == 0) {
      char digest[17];
      std::snprintf(digest, sizeof(digest), "%016llx",
                    static_cast<unsigned long long>(
                        digestLogits(FakeModel::logits(b.tokens))));
      EXPECT_EQ(line["logits_digest"], digest);
    }
    if (line.contains("finish_reason") && line["id"] == "b") {
      EXPECT_EQ(line["cached_tokens"], 8);
    }
    ends += line.contains("finish_reason") || line.contains("error");
  }
  EXPECT_EQ(ends, 4);
  json statistics = answers.back()["statistics"];
  EXPECT_EQ(statistics["requests"], 4);
  EXPECT_EQ(statistics["failed_requests"], 2);
  EXPECT_EQ(statistics["pages_total"], 6);
  EXPECT_EQ(statistics["page_size"], 4);
  // Seven pages, and lengths and tables of two steps for 16 requests.
  EXPECT_EQ(statistics["pool_bytes"], 7 * 4 * 2 * 4 + 2 * 16 * (1 + 24) * 4);
  EXPECT_EQ(statistics["weights_bytes"], 200);
  EXPECT_EQ(statistics["threads"], 1);
}

TEST_F(KvRun, ReplicasHaveCachesOfTheirOwn) {
  std::string input;
  for (int i = 0; i < 9; ++i)
    input += concat(R"({"id": ")", i, R"(", "tokens": [1,2,3,4,5,6,)", 10 + i,
                    R"(], "max_new_tokens": )", 3 + i % 4,
                    R"(, "arrival_step": )", i / 3, "}\n");
  write("in", input);
  EXPECT_EQ(run("--replicas 3 --pages 8 --max-batch 6"), 0) << read("err");
  std::vector<json> answers = lines();
  for (int i = 0; i < 9; ++i) {
    GenerationRequest request;
    request.tokens = {1, 2, 3, 4, 5, 6, 10 + i};
    request.maxNewTokens = 3 + i % 4;
    EXPECT_EQ(tokensOf(answers, std::to_string(i)),
              FakeModel::answer(request, 64));
  }
  json statistics = answers.back()["statistics"];
  EXPECT_EQ(statistics["pages_total"], 24);
  EXPECT_EQ(statistics["pool_bytes"],
            3 * (9 * 4 * 2 * 4 + 2 * 2 * (1 + 24) * 4));

  EXPECT_EQ(run("--replicas 3 --max-batch 2"), 2);
  EXPECT_EQ(read("err"), "kv-run: error: --replicas is 3, --max-batch is 2: "
                         "each replica needs a request\n");
  // Lengths and tables of two steps for 8 requests, and pages of 32 bytes.
  constexpr int64_t Tables = 2 * 8 * (1 + 24) * 4;
  EXPECT_EQ(run("--replicas 2 --cache-bytes 63"), 2);
  EXPECT_EQ(read("err"),
            concat("kv-run: error: --cache-bytes is 63, one page, the null "
                   "page and the tables of each of 2 replicas take ",
                   Tables + 2 * 32, "\n"));
  EXPECT_EQ(
      run(concat("--replicas 2 --cache-bytes ", 2 * (Tables + 5 * 32) + 63)),
      0);
  EXPECT_EQ(lines().back()["statistics"]["pages_total"], 8);
}

TEST_F(KvRun, ServesAContinuousCache) {
  write("in", R"({"id": "a", "tokens": [1,2,3], "max_new_tokens": 9}
{"id": "b", "tokens": [4,5], "max_new_tokens": 70}
{"id": "c", "tokens": [6], "max_new_tokens": 2}
)");
  EXPECT_EQ(run("--max-batch 2", KV_SLOTS_ARTIFACT), 0) << read("err");
  std::vector<json> answers = lines();
  for (auto [id, tokens, count] :
       {std::tuple("a", std::vector<int32_t>{1, 2, 3}, 9),
        {"b", {4, 5}, 70},
        {"c", {6}, 2}}) {
    GenerationRequest request;
    request.tokens = tokens;
    request.maxNewTokens = count;
    EXPECT_EQ(tokensOf(answers, id), FakeModel::answer(request, 64)) << id;
  }
  EXPECT_EQ(answers.back()["statistics"]["pages_total"], 2);
  EXPECT_EQ(run("--pages 3", KV_SLOTS_ARTIFACT), 2);
  EXPECT_EQ(read("err"),
            "kv-run: error: --pages is given, the artifact's cache "
            "has no pages: its slots are --max-batch\n");
}

TEST_F(KvRun, DumpsLogitsInRequestOrder) {
  write(
      "in",
      R"({"id": "a", "tokens": [1,2,3,4,5], "max_new_tokens": 1, "arrival_step": 5}
{"id": "b", "tokens": [1,2,3,4,5,6], "max_new_tokens": 0}
)");
  EXPECT_EQ(run(concat("--max-batch-tokens 4 --dump-logits ", path("dump"))), 0)
      << read("err");
  std::vector<float> expected;
  std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6};
  for (size_t count : {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6}) {
    std::vector<float> row = FakeModel::logits(std::span(tokens).first(count));
    expected.insert(expected.end(), row.begin(), row.end());
  }
  std::string bytes = read("dump");
  ASSERT_EQ(bytes.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST_F(KvRun, TokensWithTheFinishLine) {
  write("in", R"({"id": "a", "tokens": [1], "max_new_tokens": 3})");
  EXPECT_EQ(run("--no-stream"), 0) << read("err");
  GenerationRequest a;
  a.tokens = {1};
  a.maxNewTokens = 3;
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_EQ(lines()[0]["tokens"], FakeModel::answer(a, 64));
}

TEST_F(KvRun, UnusableFilesAndOptions) {
  write("in", "");
  write("junk", "junk");
  std::ifstream artifact(KV_HISTORY_ARTIFACT, std::ios::binary);
  std::string whole{std::istreambuf_iterator<char>(artifact), {}};
  write("cut", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(run("", path("absent")), 2);
  EXPECT_NE(read("err").find(path("absent")), std::string::npos);
  EXPECT_EQ(run("", path("junk")), 2);
  EXPECT_NE(read("err").find(path("junk")), std::string::npos);
  EXPECT_EQ(run("", path("cut")), 2);
  EXPECT_NE(read("err").find(path("cut")), std::string::npos);
  for (std::string_view weights : {"absent", "junk"}) {
    EXPECT_EQ(run("", KV_HISTORY_ARTIFACT, weights), 2);
    EXPECT_NE(read("err").find(path(weights)), std::string::npos);
  }
  EXPECT_EQ(run("--page-size 8"), 2);
  EXPECT_EQ(read("err"), "kv-run: error: --page-size is 8, the artifact's page "
                         "size is 4\n");
  EXPECT_EQ(run("--cache-bytes 31"), 2);
  EXPECT_EQ(read("err"),
            concat("kv-run: error: --cache-bytes is 31, one page, the null "
                   "page and the tables take ",
                   2 * 32 + 2 * 16 * (1 + 24) * 4, "\n"));
  EXPECT_EQ(run(concat("--requests ", path("absent"))), 2);
  EXPECT_EQ(run(concat("--dump-logits ", path("absent/file"))), 2);
  EXPECT_EQ(run("--frobnicate"), 2);
  EXPECT_EQ(run("--page-size 4"), 0);
  EXPECT_EQ(run("--help"), 0);
}
