//===- Peers.cpp - Prompts that another kv-run computes -------------------===//

#include "Peers.h"
#include "Tiers.h"

#include <csignal>
#include <iostream>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

/// What decides about the bits of a page beside the collection's type: the
/// weights, and how products are rounded. Page sizes and processors may differ.
static Expected<std::string> identify(const Options &options,
                                      const Manifest &manifest) {
  Expected<std::string> weights = digestFile(options.weights);
  if (!weights)
    return weights;
  // Products of rounded rows by AMX have an order of their own.
  bool ownOrder =
      !manifest.activations.empty() && manifest.targetCpu.ends_with("amx");
  return concat(manifest.model.name, " of weights ", *weights, " on ",
                manifest.targetKind, ownOrder ? " with amx" : "",
                manifest.activations.empty() ? "" : ", activations ",
                manifest.activations);
}

Expected<void> kv::run::choosePeer(const Options &options,
                                   const Manifest &manifest,
                                   const MultiKVCacheParams &params,
                                   PagedKVCacheManager::TierOptions &tiers,
                                   PeerConnector *&peer) {
  if (options.role.empty())
    return {};
  bool computes = options.role == "prefill";
  if (computes && !(options.requests.empty() && options.dumpLogits.empty()))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "--role is prefill, which answers no requests of its own, "
                     "and ",
                     options.requests.empty() ? "--dump-logits" : "--requests",
                     " is given");
  Expected<std::string> model = identify(options, manifest);
  if (!model)
    return std::unexpected(model.error());
  PeerConnector::Options wanted = {
      .role =
          computes ? PeerConnector::Role::Prefill : PeerConnector::Role::Decode,
      .endpoint = options.peer,
      .cache = params,
      .model = std::move(*model),
      .note = [](std::string_view sentence) {
        std::cerr << "kv-run: note: " << sentence << '\n';
      }};
  tiers.open = [wanted, &peer](const PageConnector::Options &slots)
      -> Expected<std::unique_ptr<PageConnector>> {
    Expected<std::unique_ptr<PageConnector>> records =
        PageConnector::open(slots);
    if (!records)
      return records;
    Expected<std::unique_ptr<PeerConnector>> opened =
        PeerConnector::open(slots, std::move(*records), wanted);
    if (!opened)
      return makeError(opened.error().code, "--peer: ", opened.error().message);
    peer = opened->get();
    return std::move(*opened);
  };
  return {};
}

/// Readable since a signal has told the program to end.
static int toldToEnd = -1;

static void tellToEnd(int) {
  uint64_t one = 1;
  (void)!::write(toldToEnd, &one, sizeof one);
}

PeerRequests::PeerRequests(PeerConnector &peer, PagedKVCacheManager &manager)
    : peer(peer), manager(manager) {
  toldToEnd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action = {};
  action.sa_handler = tellToEnd;
  for (int signal : {SIGTERM, SIGINT})
    ::sigaction(signal, &action, nullptr);
}

void PeerRequests::take(std::vector<const GenerationRequest *> &arrived) {
  while (auto prompt = peer.takePrompt()) {
    if (prompt->model || prompt->adapter) { // nobody here has these
      peer.promptDone(prompt->id);
      continue;
    }
    Request &added = requests.emplace_back();
    added.prompt = prompt->id;
    added.request.id = concat("prompt ", prompt->id);
    added.request.tokens = std::move(prompt->tokens);
    added.request.maxNewTokens = 0;
    added.request.salt = std::move(prompt->salt);
    arrived.push_back(&added.request);
  }
}

void PeerRequests::poll(bool wait,
                        std::vector<const GenerationRequest *> &arrived) {
  stepDone(); // for those that have failed before any step
  for (;;) {
    pollfd ready[] = {{toldToEnd, POLLIN, 0},
                      {peer.promptDescriptor(), POLLIN, 0},
                      {manager.resetDescriptor(), POLLIN, 0}};
    (void)::poll(ready, 3, wait ? -1 : 0);
    if (ready[0].revents)
      return;
    if (ready[2].revents)
      manager.serveResets();
    take(arrived);
    if (!wait || !arrived.empty())
      return;
  }
}

void PeerRequests::stepDone() {
  if (over.empty())
    return;
  // Their pages may still be copied; afterwards they can be read.
  (void)manager.waitForLoads(0);
  for (const GenerationRequest *request : over)
    for (auto at = requests.begin(); at != requests.end(); ++at)
      if (&at->request == request) {
        peer.promptDone(at->prompt);
        requests.erase(at);
        break;
      }
  over.clear();
}
