//===- LogprobPayload.h - Log probabilities beside pages --------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_LOGPROBPAYLOAD_H
#define KV_RUNTIME_SERVING_LOGPROBPAYLOAD_H

#include "kv/Runtime/Serving/LogitRules.h"

#include <cstddef>
#include <cstring>

namespace kv {

/// The payload of a prompt's tokens (TextGenerationContext::payload()). Of each
/// token, what the row before it says: its log probability and rank, f32 and
/// i32, then the most likely tokens in its place as TokenLogprob. So a cached
/// page tells nothing of the token after it.
class LogprobPayload {
public:
  explicit LogprobPayload(int64_t bytesPerToken)
      : bytes(static_cast<size_t>(bytesPerToken)) {}

  size_t bytesPerToken() const { return bytes; }
  /// The number of most likely tokens that are kept; -1: nothing is kept.
  int32_t ranks() const { return static_cast<int32_t>(bytes / 8) - 1; }

  void write(std::span<std::byte> payload, int64_t position,
             const TokenLogprobs &found) const {
    std::byte *to = &payload[position * bytes];
    Head head = {found.chosen.logprob, static_cast<int32_t>(found.rank)};
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + sizeof head, found.top.data(), found.top.size_bytes());
  }
  /// With the `count` most likely tokens, at most ranks(). `token` is the one
  /// at the position; `top` owns what is returned.
  TokenLogprobs read(std::span<const std::byte> payload, int64_t position,
                     int32_t token, int32_t count,
                     std::vector<TokenLogprob> &top) const {
    const std::byte *from = &payload[position * bytes];
    Head head;
    std::memcpy(&head, from, sizeof head);
    top.resize(static_cast<size_t>(count));
    std::memcpy(top.data(), from + sizeof head, top.size() * sizeof top[0]);
    return {{token, head.logprob}, head.rank, top};
  }

private:
  struct Head {
    float logprob;
    int32_t rank;
  };
  static_assert(sizeof(Head) == 8 && sizeof(TokenLogprob) == 8);

  size_t bytes;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_LOGPROBPAYLOAD_H
