//===- Requests.cpp - Requests in C ---------------------------------------===//

#include "Handles.h"

#include <tuple>

using namespace kv;
using namespace kv::capi;

int32_t kvRequestCreate(uint64_t id, const int32_t *tokens, int64_t count,
                        KvRequest **request) {
  return guarded([&] {
    KV_REQUIRE("kvRequestCreate", request);
    if (count < 0 || (count > 0 && !tokens))
      return invalid("kvRequestCreate: ", count, " tokens",
                     count < 0 ? ", allowed: 0 or more" : " at null");
    *request = new KvRequest(id, std::span(tokens, static_cast<size_t>(count)));
    return int32_t(KV_STATUS_OK);
  });
}

void kvRequestDestroy(KvRequest *request) { delete request; }

uint64_t kvRequestId(const KvRequest *request) {
  return figure("kvRequestId", "request", request,
                [](const KvRequest &own) { return own.context.id(); });
}
int64_t kvRequestLength(const KvRequest *request) {
  return figure("kvRequestLength", "request", request,
                [](const KvRequest &own) { return own.context.length(); });
}
const int32_t *kvRequestTokens(const KvRequest *request) {
  return figure("kvRequestTokens", "request", request,
                [](const KvRequest &own) { return own.tokens.data(); });
}
int64_t kvRequestProcessed(const KvRequest *request) {
  return figure("kvRequestProcessed", "request", request,
                [](const KvRequest &own) { return own.context.processed(); });
}
int64_t kvRequestActive(const KvRequest *request) {
  return figure("kvRequestActive", "request", request,
                [](const KvRequest &own) { return own.context.active(); });
}
int64_t kvRequestVouched(const KvRequest *request) {
  return figure("kvRequestVouched", "request", request,
                [](const KvRequest &own) { return own.context.vouched(); });
}

int32_t kvRequestSetScope(KvRequest *request, const char *model,
                          const char *adapter, const char *salt) {
  return guarded([&] {
    KV_REQUIRE("kvRequestSetScope", request);
    auto copy = [](const char *text) {
      return text ? std::optional<std::string>(text) : std::nullopt;
    };
    // All copies first: what throws changes nothing.
    auto copies = std::tuple(copy(model), copy(adapter), copy(salt));
    std::tie(request->model, request->adapter, request->salt) =
        std::move(copies);
    request->context.setScope(
        {request->model, request->adapter, request->salt});
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestAddImage(KvRequest *request, int64_t begin, int64_t length,
                          const void *hash, int64_t hashBytes) {
  return guarded([&] {
    KV_REQUIRE("kvRequestAddImage", request);
    KV_REQUIRE("kvRequestAddImage", hash);
    int64_t least = request->images.empty() ? 0
                                            : request->images.back().begin +
                                                  request->images.back().length;
    if (begin >= least && begin < request->reserved)
      return invalid("request ", request->context.id(), ": an image at token ",
                     begin, ", allowed: ", request->reserved,
                     " or later, since an alloc has looked at the tokens "
                     "before it");
    if (begin < least || length < 1 || hashBytes < 1 ||
        length > request->context.length() - begin)
      return invalid("request ", request->context.id(), ": an image of ",
                     length, " tokens at ", begin, " with a hash of ",
                     hashBytes, " bytes, allowed: 1 or more tokens from ",
                     least, " to ", request->context.length(), ", and a hash");
    request->hashes.emplace_back(static_cast<const char *>(hash), hashBytes);
    request->images.push_back({begin, length, request->hashes.back()});
    request->context.setImages(request->images);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestSetRetention(KvRequest *request,
                              const KvRetention *retention) {
  return guarded([&] {
    KV_REQUIRE("kvRequestSetRetention", request);
    KV_REQUIRE("kvRequestSetRetention", retention);
    for (int32_t value : {retention->priority, retention->prefixPriority})
      if (value < Retention::Lowest || value > Retention::Highest)
        return invalid("request ", request->context.id(), ": priority is ",
                       value, ", allowed: ", int(Retention::Lowest), " to ",
                       int(Retention::Highest));
    if (retention->prefixTokens < 0)
      return invalid("request ", request->context.id(), ": prefixTokens is ",
                     retention->prefixTokens, ", allowed: 0 or more");
    for (int64_t value : {retention->duration, retention->prefixDuration})
      if (value < 0)
        return invalid("request ", request->context.id(), ": duration is ",
                       value, " ns, allowed: 0 (for good) or more");
    request->context.setRetention(
        {.priority = static_cast<uint8_t>(retention->priority),
         .prefixTokens = retention->prefixTokens,
         .prefixPriority = static_cast<uint8_t>(retention->prefixPriority),
         .duration = retention->duration,
         .prefixDuration = retention->prefixDuration});
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestSetPayload(KvRequest *request, int64_t bytes, void **payload) {
  return guarded([&] {
    KV_REQUIRE("kvRequestSetPayload", request);
    if (bytes < 0 || request->reserved > 0)
      return invalid("request ", request->context.id(), ": a payload of ",
                     bytes, " bytes",
                     bytes < 0 ? ", allowed: 0 or more"
                               : " after an alloc, allowed: before the first");
    request->payload = std::vector<std::byte>(static_cast<size_t>(bytes));
    request->context.setPayload(request->payload);
    if (payload)
      *payload = request->payload.data();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestSetReusesPrefix(KvRequest *request, int32_t reuses) {
  return guarded([&] {
    KV_REQUIRE("kvRequestSetReusesPrefix", request);
    request->context.setReusesPrefix(reuses != 0);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestLimitActive(KvRequest *request, int64_t count) {
  return guarded([&] {
    KV_REQUIRE("kvRequestLimitActive", request);
    if (count < 0)
      return invalid("request ", request->context.id(), ": at most ", count,
                     " tokens a step, allowed: 0 (all) or more");
    request->context.limitActive(count ? count
                                       : TextGenerationContext::NoLimit);
    return int32_t(KV_STATUS_OK);
  });
}

static int32_t append(const char *function, KvRequest *request,
                      const int32_t *tokens, int64_t count,
                      std::optional<int64_t> drafts) {
  return guarded([&] {
    KV_REQUIRE(function, request);
    if (count < 0 || (count > 0 && !tokens))
      return invalid(function, ": ", count, " tokens",
                     count < 0 ? ", allowed: 0 or more" : " at null");
    if (drafts && (*drafts < 0 || *drafts > count))
      return invalid("request ", request->context.id(), ": ", *drafts, " of ",
                     count, " new tokens are drafts, allowed: 0 to ", count);
    request->tokens.insert(request->tokens.end(), tokens, tokens + count);
    request->context.extend(request->tokens, drafts);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestAppend(KvRequest *request, const int32_t *tokens,
                        int64_t count) {
  return append("kvRequestAppend", request, tokens, count, std::nullopt);
}

int32_t kvRequestAppendDrafts(KvRequest *request, const int32_t *tokens,
                              int64_t count, int64_t drafts) {
  return append("kvRequestAppendDrafts", request, tokens, count, drafts);
}

int32_t kvRequestAdvance(KvRequest *request) {
  return guarded([&] {
    KV_REQUIRE("kvRequestAdvance", request);
    request->context.advance();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestSkip(KvRequest *request, int64_t count) {
  return guarded([&] {
    KV_REQUIRE("kvRequestSkip", request);
    TextGenerationContext &context = request->context;
    int64_t most = context.length() - context.processed() - 1;
    if (count < 0 || count > most)
      return invalid("request ", context.id(), " cannot skip ", count,
                     " tokens, allowed: 0 to ", most,
                     ", since one is left to compute");
    context.skip(count);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvRequestRewind(KvRequest *request, int64_t count) {
  return guarded([&] {
    KV_REQUIRE("kvRequestRewind", request);
    TextGenerationContext &context = request->context;
    if (count < 0 || count > context.processed())
      return invalid("request ", context.id(), " cannot rewind ", count,
                     " tokens, allowed: 0 to ", context.processed());
    context.rewind(count);
    return int32_t(KV_STATUS_OK);
  });
}
