//===- RequestParserTest.cpp - What kv-run reads and writes ---------------===//

#include "tools/kv-run/RequestStream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

namespace {

/// The message for a request with the given fields beside id and tokens.
std::string fault(const std::string &fields, bool dumps = false) {
  auto request = parseRequest(R"({"id": "a", "tokens": [1, 2])" +
                                  (fields.empty() ? "" : ", " + fields) + "}",
                              3, dumps);
  return request ? "no error" : request.error().message;
}

std::string lineFault(std::string_view line) {
  auto request = parseRequest(line, 3, false);
  return request ? "no error" : request.error().message;
}

/// What `write` makes an AnswerWriter print.
template <class Write> std::string printed(bool stream, Write &&write) {
  char *text = nullptr;
  size_t size = 0;
  std::FILE *file = open_memstream(&text, &size);
  AnswerWriter writer(file, stream, nullptr);
  write(writer);
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

} // namespace

/// The lines of a text that is given in pieces of so many bytes.
std::vector<std::pair<std::string, bool>> lines(std::string_view text,
                                                size_t piece) {
  std::vector<std::pair<std::string, bool>> found;
  auto take = [&](std::string_view line, bool isTooLong) {
    found.emplace_back(line, isTooLong);
  };
  LineBuffer buffer;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    buffer.append(text.substr(0, piece), take);
  buffer.finish(take);
  return found;
}

TEST(LineBuffer, LinesAreTheSameInPiecesOfAnySize) {
  std::string text = "one\n\ntwo and more\n" +
                     std::string(LineBuffer::Most, 'a') + "\n" +
                     std::string(LineBuffer::Most + 1, 'b') + "\nlast";
  for (size_t piece : {size_t(1), size_t(3), size_t(1 << 16), text.size()}) {
    auto found = lines(text, piece);
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[0].first, "one");
    EXPECT_EQ(found[1].first, "");
    EXPECT_EQ(found[2].first, "two and more");
    EXPECT_EQ(found[3].first.size(), LineBuffer::Most);
    EXPECT_EQ(found[4], std::pair(std::string(), true));
    EXPECT_EQ(found[5], std::pair(std::string("last"), false));
  }
}

TEST(RequestParser, Defaults) {
  auto request = parseRequest(R"({"id": "a", "tokens": [5, 0]})", 1, false);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id, "a");
  EXPECT_EQ(request->tokens, (std::vector<int32_t>{5, 0}));
  EXPECT_EQ(request->maxNewTokens, 128);
  EXPECT_EQ(request->sampling.temperature, 0);
  EXPECT_EQ(request->sampling.topK, 0);
  EXPECT_EQ(request->sampling.topP, 1);
  EXPECT_EQ(request->sampling.minP, 0);
  EXPECT_EQ(request->sampling.seed, 0u);
  EXPECT_TRUE(request->stopTokens.empty());
  EXPECT_EQ(request->arrivalStep, 0);
  EXPECT_FALSE(request->digests);
  EXPECT_FALSE(request->promptLogits);
}

TEST(RequestParser, EveryField) {
  auto request = parseRequest(
      R"({"id": "", "tokens": [1], "max_new_tokens": 0, "temperature": 0.5,
          "top_k": 4, "top_p": 0.25, "min_p": 0.5, "seed": 18446744073709551615,
          "stop_tokens": [2, 3], "arrival_step": 9, "logits": "digest"})",
      1, true);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->maxNewTokens, 0);
  EXPECT_EQ(request->sampling.temperature, 0.5);
  EXPECT_EQ(request->sampling.topK, 4);
  EXPECT_EQ(request->sampling.topP, 0.25);
  EXPECT_EQ(request->sampling.minP, 0.5);
  EXPECT_EQ(request->sampling.seed, UINT64_MAX);
  EXPECT_EQ(request->stopTokens, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(request->arrivalStep, 9);
  EXPECT_TRUE(request->digests);
  EXPECT_TRUE(request->promptLogits);
}

TEST(RequestParser, LinesThatAreNoRequest) {
  EXPECT_EQ(lineFault("{"), "line 3 is not valid JSON, an object is needed");
  EXPECT_EQ(lineFault("[1]"), "line 3 is [1], an object is needed");
  EXPECT_EQ(lineFault(R"({"tokens": [1]})"), "line 3: the field id is missing");
  EXPECT_EQ(lineFault(R"({"id": 7, "tokens": [1]})"),
            "line 3: id is 7, allowed: a string");
  EXPECT_EQ(lineFault(R"({"id": "b"})"),
            "request b: the field tokens is missing");
  EXPECT_EQ(lineFault(R"({"id": "b", "tokens": []})"),
            "request b: tokens is empty, at least one is needed");
  EXPECT_EQ(lineFault(R"({"id": "b", "tokens": "hi"})"),
            "request b: tokens is \"hi\", allowed: an array of token ids");
  EXPECT_EQ(lineFault(R"({"id": "b", "tokens": [1, -1]})"),
            "request b: tokens[1] is -1, allowed: an integer from 0 to "
            "2147483647");
  EXPECT_EQ(lineFault(R"({"id": "b", "tokens": [1.5]})"),
            "request b: tokens[0] is 1.5, allowed: an integer from 0 to "
            "2147483647");
  EXPECT_EQ(lineFault(R"({"id": "b", "tokens": [4294967296]})"),
            "request b: tokens[0] is 4294967296, allowed: an integer from 0 "
            "to 2147483647");
}

TEST(RequestParser, FieldsOutOfRange) {
  EXPECT_EQ(fault(""), "no error");
  EXPECT_EQ(
      fault(R"("top_q": 1)"),
      "request a: unknown field \"top_q\", allowed: id, tokens, "
      "max_new_tokens, temperature, top_k, top_p, min_p, seed, stop_tokens, "
      "arrival_step, logits, salt, priority, keep_seconds");
  EXPECT_EQ(fault(R"("max_new_tokens": -1)"),
            "request a: max_new_tokens is -1, allowed: an integer from 0 to "
            "9223372036854775807");
  EXPECT_EQ(fault(R"("max_new_tokens": 0)"), "no error");
  EXPECT_EQ(fault(R"("salt": 5)"), "request a: salt is 5, allowed: a string");
  EXPECT_EQ(fault(R"("priority": 128)"),
            "request a: priority is 128, allowed: an integer from 0 to 127");
  EXPECT_EQ(fault(R"("keep_seconds": 4001)"),
            "request a: keep_seconds is 4001, allowed: a number from 0 to "
            "4000");
  EXPECT_EQ(fault(R"("max_new_tokens": 0)", /*dumps=*/true), "no error");
  EXPECT_EQ(fault(R"("temperature": -0.5)"),
            "request a: temperature is -0.5, allowed: a number of at least 0");
  EXPECT_EQ(fault(R"("temperature": null)"),
            "request a: temperature is null, allowed: a number of at least 0");
  EXPECT_EQ(fault(R"("top_p": 0)"),
            "request a: top_p is 0, allowed: a number above 0 and at most 1");
  EXPECT_EQ(fault(R"("min_p": -0.1)"),
            "request a: min_p is -0.1, allowed: a number from 0 to 1");
  EXPECT_EQ(fault(R"("top_p": 1.01)"), "request a: top_p is 1.01, allowed: a "
                                       "number above 0 and at most 1");
  EXPECT_EQ(fault(R"("top_k": true)"),
            "request a: top_k is true, allowed: an integer from 0 to "
            "9223372036854775807");
  EXPECT_EQ(fault(R"("seed": 1e3)"),
            "request a: seed is 1000.0, allowed: an integer from 0 to "
            "18446744073709551615");
  EXPECT_EQ(fault(R"("stop_tokens": 5)"),
            "request a: stop_tokens is 5, allowed: an array of token ids");
  EXPECT_EQ(fault(R"("arrival_step": "now")"),
            "request a: arrival_step is \"now\", allowed: an integer from 0 "
            "to 9223372036854775807");
  EXPECT_EQ(fault(R"("logits": "all")"),
            "request a: logits is \"all\", allowed: \"none\", \"digest\"");
}

TEST(RequestParser, LongValuesAreCut) {
  std::string name(300, 'x');
  EXPECT_LT(fault(concat("\"logits\": \"", name, "\"")).size(), 120u);
}

/// A pipe whose reading end a RequestStream reads.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    ::close(ends[0]);
    close();
  }
  void write(std::string_view text) {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (ends[1] >= 0)
      ::close(std::exchange(ends[1], -1));
  }
  int ends[2] = {-1, -1};
};

TEST(RequestStream, BadLinesFailAlone) {
  Pipe pipe;
  pipe.write("{\"id\": \"a\", \"tokens\": [1]}\r\n"
             "\n"
             "nonsense\n"
             "{\"id\": \"b\", \"tokens\": [2], \"seed\": -1}\n"
             "{\"id\": \"c\", \"tokens\": [3]}");
  pipe.close();
  RequestStream stream(pipe.ends[0], false);
  std::vector<const GenerationRequest *> arrived;
  std::string lines = printed(true, [&](AnswerWriter &writer) {
    stream.setWriter(writer);
    stream.poll(true, arrived);
  });
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[1]->id, "c");
  EXPECT_EQ(stream.numBad(), 2);
  EXPECT_NE(lines.find("line 3 is not valid JSON, an object is needed"),
            std::string::npos);
  EXPECT_NE(lines.find("\"id\":\"b\",\"error\""), std::string::npos);
}

TEST(RequestStream, TakesWhatIsThereAndWaitsOnlyWhenAsked) {
  Pipe pipe;
  RequestStream stream(pipe.ends[0], false);
  std::vector<const GenerationRequest *> arrived;
  stream.poll(false, arrived);
  EXPECT_TRUE(arrived.empty());
  pipe.write("{\"id\": \"a\", \"tokens\": [1]}\n{\"id\": \"b\", ");
  stream.poll(true, arrived);
  ASSERT_EQ(arrived.size(), 1u);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipe.write("\"tokens\": [2]}\n");
  });
  stream.poll(true, arrived);
  writer.join();
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[0]->id, "a");
  EXPECT_EQ(arrived[1]->id, "b");
  pipe.close();
  stream.poll(true, arrived);
  EXPECT_EQ(arrived.size(), 2u);
}

TEST(AnswerWriter, Lines) {
  GenerationRequest request;
  request.id = "a\"b";
  GenerationCounts counts = {
      .promptTokens = 31, .cachedTokens = 16, .newTokens = 2};
  EXPECT_EQ(
      printed(true,
              [&](AnswerWriter &writer) {
                writer.token(request, 0, 260, 0x8full);
                writer.token(request, 1, 7, std::nullopt);
                writer.finished(request, FinishReason::Stop, counts);
                writer.failed(request, "no");
                writer.bad({std::nullopt, "line 3"});
              }),
      R"({"id":"a\"b","index":0,"token":260,"logits_digest":"000000000000008f"})"
      "\n"
      R"({"id":"a\"b","index":1,"token":7})"
      "\n"
      R"({"id":"a\"b","finish_reason":"stop","prompt_tokens":31,"cached_tokens":16,"new_tokens":2})"
      "\n"
      R"({"id":"a\"b","error":"no"})"
      "\n"
      R"({"id":null,"error":"line 3"})"
      "\n");
  EXPECT_EQ(
      printed(false,
              [&](AnswerWriter &writer) {
                writer.token(request, 0, 260, std::nullopt);
                writer.token(request, 1, 7, std::nullopt);
                writer.finished(request, FinishReason::Length, counts);
              }),
      R"({"id":"a\"b","finish_reason":"length","prompt_tokens":31,"cached_tokens":16,"new_tokens":2,"tokens":[260,7]})"
      "\n");
}

TEST(AnswerWriter, StatisticsHaveEveryField) {
  std::string line = printed(true, [&](AnswerWriter &writer) {
    writer.statistics(
        {.requests = 2, .prefillTokens = 30, .prefillSeconds = 0.5},
        {.pagesTotal = 9});
  });
  size_t at = 0;
  for (const char *field : {"requests",
                            "failed_requests",
                            "steps",
                            "preemptions",
                            "prefill_tokens",
                            "prefill_seconds",
                            "prefill_tokens_per_second",
                            "decode_tokens",
                            "decode_seconds",
                            "decode_tokens_per_second",
                            "draft_tokens",
                            "accepted_tokens",
                            "cached_tokens",
                            "prefix_hits",
                            "pages_total",
                            "pages_peak",
                            "page_size",
                            "threads",
                            "load_seconds",
                            "weights_bytes",
                            "pool_bytes",
                            "peak_rss_bytes",
                            "seconds"}) {
    size_t found = line.find(concat("\"", field, "\":"), at);
    ASSERT_NE(found, std::string::npos) << field;
    at = found;
  }
  EXPECT_NE(line.find("\"prefill_tokens_per_second\":60.0"), std::string::npos);
}
