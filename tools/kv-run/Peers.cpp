//===- Peers.cpp - Prompts that another process decodes -------------------===//

#include "Peers.h"

#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

/// Readable since a signal has told the program to end.
static int toldToEnd = -1;

static void tellToEnd(int) {
  uint64_t one = 1;
  (void)!::write(toldToEnd, &one, sizeof one);
}

PeerRequests::PeerRequests(PeerConnector &peer, PagedKVCacheManager &manager)
    : peer(peer), manager(manager), prompts(peer, manager) {
  toldToEnd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action = {};
  action.sa_handler = tellToEnd;
  for (int signal : {SIGTERM, SIGINT})
    ::sigaction(signal, &action, nullptr);
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
    prompts.take(arrived);
    if (!wait || !arrived.empty())
      return;
  }
}
