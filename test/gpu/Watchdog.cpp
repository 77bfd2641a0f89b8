//===- Watchdog.cpp - Where kernels waited too long -----------------------===//

#include "Watchdog.h"

#include <algorithm>
#include <new>
#include <set>

using namespace kv::cuda;
using namespace kv::cuda::test;

std::vector<std::string>
kv::cuda::test::sentencesOf(const WatchdogReport &report) {
  std::vector<std::string> sentences;
  std::set<uint64_t> said; // a warp's lanes wait for the same
  for (uint32_t i = 0; i < std::min(report.count, WatchdogReport::Most); ++i) {
    uint64_t word = report.waits[i];
    if (!word || !said.insert(word).second)
      continue;
    StuckWait wait = unpackStuckWait(word);
    std::string sentence =
        "block " + std::to_string(wait.block) + ", warp " +
        std::to_string(wait.warp) + " waited too long for parity " +
        std::to_string(wait.parity) + " of the barrier at byte " +
        std::to_string(wait.barrier) + " of shared memory";
    if (wait.leaf >= 0)
      sentence += ", at leaf " + std::to_string(wait.leaf);
    sentences.push_back(sentence);
  }
  return sentences;
}

int Watchdog::attach(driver::Module module, driver::Stream stream) {
  driver::Pointer symbol = 0;
  size_t bytes = 0;
  // An image without a watchdog has no such symbol.
  if (!api.moduleGetGlobal ||
      api.moduleGetGlobal(&symbol, &bytes, module, WatchdogSymbol) ||
      bytes != sizeof(void *))
    return 0;
  if (!report) {
    void *memory = nullptr;
    if (int status = api.memHostAlloc(&memory, sizeof(WatchdogReport),
                                      driver::HostPortable))
      return status;
    report = new (memory) WatchdogReport();
  }
  // With unified addresses, a device knows pinned memory by the same one.
  const void *address = report;
  if (int status =
          api.memcpyHtoDAsync(symbol, &address, sizeof(address), stream))
    return status;
  return api.streamSynchronize(stream);
}
