//===- Peers.h - Prompts that another process decodes -----------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_PEERS_H
#define KV_TOOLS_KVRUN_PEERS_H

#include "kv/Runtime/Serving/PeerPrompts.h"
#include "kv/Runtime/Serving/TextGenerator.h"

namespace kv::run {

/// The requests of --role prefill: prompts of peers. Ends at SIGTERM or SIGINT.
class PeerRequests : public RequestSource, public GenerationSink {
public:
  /// From now on, the two signals are caught. Both arguments outlive this.
  PeerRequests(PeerConnector &peer, PagedKVCacheManager &manager);

  void poll(bool wait,
            std::vector<const GenerationRequest *> &arrived) override;

  void token(const GenerationRequest &, int64_t, int32_t,
             std::optional<uint64_t>) override {}
  void finished(const GenerationRequest &request, FinishReason,
                const GenerationCounts &) override {
    prompts.over(request);
  }
  void failed(const GenerationRequest &request, std::string_view) override {
    prompts.over(request);
  }
  void stepDone() override { prompts.stepDone(); }

private:
  PeerConnector &peer;
  PagedKVCacheManager &manager;
  PeerPrompts prompts;
};

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_PEERS_H
