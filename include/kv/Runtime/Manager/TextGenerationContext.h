//===- TextGenerationContext.h - A request as managers see it ---*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H
#define KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H

#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/Sequence.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kv {

/// Chosen by the caller, unique among the requests that a manager tracks.
using RequestId = uint64_t;

/// A request's tokens and how far they have been processed. The caller owns the
/// tokens; the context has a view of them, which update() replaces after each
/// step by that of the longer list.
///
///   [0, processed)                    keys and values are in the cache
///   [processed, processed + active)   what the next step computes: all, or
///                                     as much as limitActive() or endStepAt()
///                                     allow
///   [processed + active, length)      what later chunks compute
///
/// The tokens before vouched() are the request's for good. Those from there on
/// are drafts, which a step must verify: no cached page is taken over for them.
class TextGenerationContext {
public:
  TextGenerationContext(RequestId id, std::span<const int32_t> tokens)
      : request(id), all(tokens), known(length()) {}

  /// The active limit unless limitActive() is called. Sums of it and lengths
  /// fit 64 bits.
  static constexpr int64_t NoLimit = INT64_MAX / 4;

  RequestId id() const { return request; }
  std::span<const int32_t> tokens() const { return all; }
  int64_t length() const { return static_cast<int64_t>(all.size()); }
  int64_t processed() const { return done; }
  int64_t active() const {
    int64_t most = std::min(length() - done, chunk);
    return end > done ? std::min(most, end - done) : most;
  }
  std::span<const int32_t> activeTokens() const {
    return all.subspan(done, active());
  }

  /// Tokens that the context vouches for: all of a new context, and at least
  /// the processed ones. The last of them is computed before a draft that
  /// follows it can be judged, so alloc() takes over less than vouched()
  /// tokens.
  int64_t vouched() const { return known; }

  /// From now on a step computes at most `count` tokens: chunked prefill.
  void limitActive(int64_t count) {
    assert(count > 0 && "a step computes something");
    chunk = std::min(count, NoLimit);
  }
  int64_t activeLimit() const { return chunk; }
  /// The next step ends at token `position` at the latest. alloc() calls this
  /// for models with recurrent layers, where the state at `position` is worth
  /// keeping. Later tokens are for a later step. Without effect once `position`
  /// is processed.
  void endStepAt(int64_t position) { end = position; }

  /// Whether a cached prefix may be taken over instead of being computed. Must
  /// be off if the logits of the prompt are needed.
  bool reusesPrefix() const { return reuse; }
  void setReusesPrefix(bool value) { reuse = value; }

  /// Which requests it may share pages with. Read when pages are first
  /// reserved; the strings are the caller's.
  const Scope &scope() const { return sharing; }
  void setScope(const Scope &scope) { sharing = scope; }
  /// The images of placeholder tokens; the list is the caller's. Tokens that an
  /// alloc() has seen must keep their images, which the cache knows by then.
  std::span<const ImageSpan> images() const { return media; }
  void setImages(std::span<const ImageSpan> images) { media = images; }
  /// The prompt as caches know it: the tokens that the request vouches for.
  Prompt prompt() const { return {all.first(known), media}; }
  /// What the caller keeps with each of the first tokens (KVCacheManager::
  /// payloadBytesPerToken()); the memory is the caller's. If there is any, only
  /// cached pages with a payload are taken over: alloc() writes their payload
  /// here. The last of their tokens remains to be computed, so that the caller
  /// sees what the model says of the next one. step() reads the payload of the
  /// pages that it commits, which by then the caller has written here.
  std::span<std::byte> payload() const { return kept; }
  void setPayload(std::span<std::byte> payload) { kept = payload; }
  /// How long its pages should outlive the request. Read when pages are first
  /// reserved.
  const Retention &retention() const { return keep; }
  void setRetention(const Retention &retention) { keep = retention; }

  /// The next `count` tokens are in the cache already; at least one token must
  /// remain to be computed.
  void skip(int64_t count) {
    assert(count >= 0 && done + count < length() && "nothing left to compute");
    process(count);
  }
  /// The last `count` processed tokens must be computed again.
  void rewind(int64_t count) {
    assert(count >= 0 && count <= done && "rewound to before the start");
    done -= count;
  }
  /// The active tokens have been computed: they are processed now.
  void advance() { process(active()); }
  /// Of the active tokens, which were drafts or a tree of them, `count` are
  /// accepted: KVCacheManager::acceptPath() has moved their keys and values.
  /// `tokens` has the accepted tokens after the processed ones, and then the
  /// next tokens.
  void accept(int64_t count, std::span<const int32_t> tokens) {
    assert(count > 0 && count <= active() && "accepted what was not computed");
    assert(static_cast<int64_t>(tokens.size()) >= done + count);
    all = tokens;
    process(count);
    known = done;
    vouchForNext();
  }
  /// Replaces the tokens by a list that begins with the same ones. The last
  /// `drafts` of the new tokens are drafts. By default the context vouches for
  /// all new tokens of a request of which nothing has been computed, which
  /// belong to its prompt. Later it vouches for the first active token only,
  /// which the model has chosen.
  void extend(std::span<const int32_t> tokens,
              std::optional<int64_t> drafts = std::nullopt) {
    assert(tokens.size() >= all.size() && "tokens are only added");
    bool knewAll = known == length();
    [[maybe_unused]] int64_t added =
        static_cast<int64_t>(tokens.size()) - length();
    assert(drafts.value_or(0) >= 0 && drafts.value_or(0) <= added);
    all = tokens;
    // Tokens after a draft cannot be vouched for before the draft is accepted.
    if (knewAll && (drafts || !hasBegun))
      known = length() - drafts.value_or(0);
    else
      vouchForNext();
  }
  /// Forgets the drafts, which no step has computed.
  void dropDrafts() { all = all.first(known); }
  /// advance(), then extend() by a list with the tokens generated since.
  void update(std::span<const int32_t> tokens) {
    advance();
    extend(tokens);
  }

private:
  void process(int64_t count) {
    done += count;
    known = std::max(known, done);
    hasBegun |= done > 0;
  }
  void vouchForNext() { known = std::max(known, std::min(done + 1, length())); }

  // First what every step reads.
  RequestId request;
  std::span<const int32_t> all;
  int64_t done = 0;
  int64_t chunk = NoLimit;
  int64_t end = 0;
  int64_t known;
  bool reuse = true;
  bool hasBegun = false;
  std::span<const ImageSpan> media;
  std::span<std::byte> kept;
  Scope sharing;
  Retention keep;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H
