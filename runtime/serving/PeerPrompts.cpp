//===- PeerPrompts.cpp - Prompts that peers want --------------------------===//

#include "kv/Runtime/Serving/PeerPrompts.h"

using namespace kv;

void PeerPrompts::take(std::vector<const GenerationRequest *> &arrived) {
  while (auto prompt = peer.takePrompt()) {
    if (prompt->model || prompt->adapter) { // not available here
      peer.promptDone(prompt->id);
      continue;
    }
    auto made = std::make_unique<Request>();
    made->prompt = prompt->id;
    made->request.id = concat("peer's prompt ", prompt->id);
    made->request.tokens = std::move(prompt->tokens);
    made->request.maxNewTokens = 0;
    made->request.salt = std::move(prompt->salt);
    const GenerationRequest *request = &made->request;
    requests.emplace(request, std::move(made));
    arrived.push_back(request);
  }
}

void PeerPrompts::stepDone() {
  if (ended.empty())
    return;
  // Pages of the prompts may still be in copy; afterwards they can be read.
  (void)manager.waitForLoads(0);
  for (const GenerationRequest *request : ended)
    if (auto at = requests.find(request); at != requests.end()) {
      peer.promptDone(at->second->prompt);
      requests.erase(at);
    }
  ended.clear();
}

std::vector<const GenerationRequest *> PeerPrompts::all() const {
  std::vector<const GenerationRequest *> found;
  found.reserve(requests.size());
  for (const auto &[request, own] : requests)
    found.push_back(request);
  return found;
}
