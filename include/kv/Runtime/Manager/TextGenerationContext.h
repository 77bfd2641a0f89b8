//===- TextGenerationContext.h - A request as managers see it ---*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H
#define KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H

#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/Sequence.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>

namespace kv {

/// Chosen by the caller, unique among the requests that a manager tracks.
using RequestId = uint64_t;

/// A request's tokens and how far they have been processed. The caller owns
/// the tokens; a context only looks at them, and update() shows it the longer
/// list after each step.
///
///   0 .. processed               keys and values stand in the cache
///   processed .. + active        what the next step computes
///   .. tokens.size()             later chunks
class TextGenerationContext {
public:
  TextGenerationContext(RequestId id, std::span<const int32_t> tokens)
      : request(id), all(tokens) {}

  /// The active limit of a context that was given none. Far from overflow.
  static constexpr int64_t NoLimit = INT64_MAX / 4;

  RequestId id() const { return request; }
  std::span<const int32_t> tokens() const { return all; }
  int64_t length() const { return static_cast<int64_t>(all.size()); }
  int64_t processed() const { return done; }
  int64_t active() const { return std::min(length() - done, chunk); }
  std::span<const int32_t> activeTokens() const {
    return all.subspan(done, active());
  }

  /// At most `count` tokens a step from now on: chunked prefill.
  void limitActive(int64_t count) {
    assert(count > 0 && "a step computes something");
    chunk = std::min(count, NoLimit);
  }
  int64_t activeLimit() const { return chunk; }

  /// Whether positions may be taken from the prefix cache without being
  /// computed. Off for a request whose prompt logits are wanted.
  bool reusesPrefix() const { return reuse; }
  void setReusesPrefix(bool value) { reuse = value; }

  /// Who it may share pages with. Read when pages are first reserved; what it
  /// looks at is the caller's.
  const Scope &scope() const { return sharing; }
  void setScope(const Scope &scope) { sharing = scope; }
  /// What stands behind placeholder tokens. The caller's, like the tokens. Only
  /// tokens that no alloc has looked at may get another image, since the cache
  /// knows the others by now.
  std::span<const ImageSpan> images() const { return media; }
  void setImages(std::span<const ImageSpan> images) { media = images; }
  Prompt prompt() const { return {all, media}; }
  /// How long its pages should outlive it. Read when pages are first reserved.
  const Retention &retention() const { return keep; }
  void setRetention(const Retention &retention) { keep = retention; }

  /// `count` tokens need not be computed; at least one is left.
  void skip(int64_t count) {
    assert(count >= 0 && done + count < length() && "nothing left to compute");
    done += count;
  }
  /// The last `count` processed tokens must be computed again.
  void rewind(int64_t count) {
    assert(count >= 0 && count <= done && "rewound to before the start");
    done -= count;
  }
  /// The active tokens have been computed.
  void advance() { done += active(); }
  /// `tokens` is the list with more at its end.
  void extend(std::span<const int32_t> tokens) {
    assert(tokens.size() >= all.size() && "tokens are only added");
    all = tokens;
  }
  /// The active tokens have been computed, and `tokens` is the list with what
  /// was generated since.
  void update(std::span<const int32_t> tokens) {
    advance();
    extend(tokens);
  }

private:
  // What every step looks at comes first.
  RequestId request;
  std::span<const int32_t> all;
  int64_t done = 0;
  int64_t chunk = NoLimit;
  std::span<const ImageSpan> media;
  bool reuse = true;
  Scope sharing;
  Retention keep;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_TEXTGENERATIONCONTEXT_H
