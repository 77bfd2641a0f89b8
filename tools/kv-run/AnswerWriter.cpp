//===- AnswerWriter.cpp - Answers as JSON lines ---------------------------===//

#include "AnswerWriter.h"

#include <nlohmann/json.hpp>

using namespace kv;
using namespace kv::run;
using json = nlohmann::ordered_json;

namespace {

std::string hex(uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(digest));
  return text;
}

std::string dumpLine(const json &object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

double perSecond(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

} // namespace

void AnswerWriter::write(std::string line) {
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size())
    written = false;
}

void AnswerWriter::stepDone() {
  if (std::fflush(file) != 0)
    written = false;
}

void AnswerWriter::token(const GenerationRequest &request, int64_t index,
                         int32_t token, std::optional<uint64_t> digest) {
  if (!stream) {
    Held &own = held[&request];
    own.tokens.push_back(token);
    if (digest)
      own.digests.push_back(hex(*digest));
    return;
  }
  json line = {{"id", request.id}, {"index", index}, {"token", token}};
  if (digest)
    line["logits_digest"] = hex(*digest);
  write(dumpLine(line));
}

void AnswerWriter::finished(const GenerationRequest &request,
                            FinishReason reason,
                            const GenerationCounts &counts) {
  json line = {
      {"id", request.id},
      {"finish_reason", reason == FinishReason::Stop ? "stop" : "length"},
      {"prompt_tokens", counts.promptTokens},
      {"cached_tokens", counts.cachedTokens},
      {"new_tokens", counts.newTokens}};
  if (!stream) {
    Held own = std::move(held[&request]);
    held.erase(&request);
    line["tokens"] = std::move(own.tokens);
    if (request.digests)
      line["logits_digests"] = std::move(own.digests);
  }
  write(dumpLine(line));
}

void AnswerWriter::failed(const GenerationRequest &request,
                          std::string_view message) {
  held.erase(&request);
  if (dump)
    dump->clear(request);
  write(dumpLine({{"id", request.id}, {"error", message}}));
}

void AnswerWriter::promptLogits(const GenerationRequest &request,
                                int64_t position, std::span<const float> row) {
  if (dump)
    dump->write(request, position, row);
}

void AnswerWriter::bad(const BadRequest &request) {
  json id = request.id ? json(*request.id) : json(nullptr);
  write(dumpLine({{"id", id}, {"error", request.message}}));
}

void AnswerWriter::statistics(const GenerationStatistics &statistics,
                              const RunFigures &figures) {
  const GenerationStatistics &s = statistics;
  json values = {
      {"requests", s.requests},
      {"failed_requests", s.failedRequests},
      {"steps", s.steps},
      {"preemptions", s.preemptions},
      {"prefill_tokens", s.prefillTokens},
      {"prefill_seconds", s.prefillSeconds},
      {"prefill_tokens_per_second",
       perSecond(s.prefillTokens, s.prefillSeconds)},
      {"decode_tokens", s.decodeTokens},
      {"decode_seconds", s.decodeSeconds},
      {"decode_tokens_per_second", perSecond(s.decodeTokens, s.decodeSeconds)},
      {"draft_tokens", s.draftTokens},
      {"accepted_tokens", s.acceptedTokens},
      {"cached_tokens", s.cachedTokens},
      {"prefix_hits", s.prefixHits},
      {"pages_total", figures.pagesTotal},
      {"pages_peak", figures.cache.peakUsedPages},
      {"host_pages", figures.hostPages},
      {"stored_pages", figures.cache.storedPages},
      {"loaded_pages", figures.cache.loadedPages},
      {"disk_pages_written", figures.cache.diskPagesWritten},
      {"disk_pages_read", figures.cache.diskPagesRead},
      {"store_pages_written", figures.cache.storePagesWritten},
      {"store_pages_read", figures.cache.storePagesRead},
      {"page_size", figures.pageSize},
      {"threads", figures.threads},
      {"ranks", figures.ranks},
      {"load_seconds", figures.loadSeconds},
      {"weights_bytes", figures.weightsBytes},
      {"pool_bytes", figures.poolBytes},
      {"peak_rss_bytes", figures.peakRssBytes},
      {"seconds", s.seconds}};
  if (const PeerMetrics *peer = figures.peer)
    values["peer"] = {{"prompts", int64_t(peer->asks)},
                      {"pages_read", int64_t(peer->readPages)},
                      {"bytes_read", int64_t(peer->readBytes)},
                      {"pages_not_got", int64_t(peer->failedPages)},
                      {"leases", int64_t(peer->grantedLeases)},
                      {"leases_returned", int64_t(peer->returnedLeases)},
                      {"leases_expired", int64_t(peer->expiredLeases)},
                      {"late_returns", int64_t(peer->refusedReturns)}};
  write(dumpLine({{"statistics", std::move(values)}}));
  stepDone();
}
