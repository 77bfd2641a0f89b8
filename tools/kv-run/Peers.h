//===- Peers.h - Prompts that another kv-run computes -----------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_PEERS_H
#define KV_TOOLS_KVRUN_PEERS_H

#include "Options.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "kv/Runtime/Serving/TextGenerator.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <list>

namespace kv::run {

/// If --role is given, makes the manager that is created with `tiers` open a
/// connector to the peer, which `peer`, that must outlive this, points to from
/// then on. Errors name the option, or the file that cannot be read.
Expected<void> choosePeer(const Options &options, const Manifest &manifest,
                          const MultiKVCacheParams &params,
                          PagedKVCacheManager::TierOptions &tiers,
                          PeerConnector *&peer);

/// The requests of --role prefill: prompts of peers, which have no answer but
/// their pages. Ends at SIGTERM or SIGINT.
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
    over.push_back(&request);
  }
  void failed(const GenerationRequest &request, std::string_view) override {
    over.push_back(&request);
  }
  void stepDone() override;

private:
  struct Request {
    uint64_t prompt;
    GenerationRequest request;
  };

  /// Appends the prompts that there are.
  void take(std::vector<const GenerationRequest *> &arrived);

  PeerConnector &peer;
  PagedKVCacheManager &manager;
  std::list<Request> requests; // not answered yet
  std::vector<const GenerationRequest *> over;
};

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_PEERS_H
