//===- PeerPrompts.h - Prompts that peers want ------------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_PEERPROMPTS_H
#define KV_RUNTIME_SERVING_PEERPROMPTS_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "kv/Runtime/Serving/Scheduler.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <map>
#include <memory>

namespace kv {

/// The prompts of a prefilling side as requests of a generator, whose only
/// answer is their pages. The owner of the generator takes them between steps,
/// and passes on what its sink hears of them.
class PeerPrompts {
public:
  /// Both outlive this.
  PeerPrompts(PeerConnector &peer, PagedKVCacheManager &manager)
      : peer(peer), manager(manager) {}

  /// Appends the prompts that have come, as requests that stay where they are
  /// until they are over and a step is done.
  void take(std::vector<const GenerationRequest *> &arrived);
  bool owns(const GenerationRequest &request) const {
    return requests.contains(&request);
  }
  /// A prompt is answered, or has failed.
  void over(const GenerationRequest &request) { ended.push_back(&request); }
  /// After a step, also one that has done nothing: peers hear of what is over.
  void stepDone();
  /// The prompts that are not over, to be given up.
  std::vector<const GenerationRequest *> all() const;
  bool empty() const { return requests.empty(); }

private:
  struct Request {
    uint64_t prompt;
    GenerationRequest request;
  };

  PeerConnector &peer;
  PagedKVCacheManager &manager;
  std::map<const GenerationRequest *, std::unique_ptr<Request>> requests;
  std::vector<const GenerationRequest *> ended;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_PEERPROMPTS_H
