//===- Watchdog.cpp - Where a kernel waited too long ----------------------===//

#include "Watchdog.h"

#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

std::string kv::cuda::test::sentenceOf(const WatchdogReport &report) {
  if (!report.isSet)
    return "";
  auto number = [](uint32_t value) { return std::to_string(value); };
  return "block " + number(report.block) + ", warp " + number(report.warp) +
         " waited too long for phase " + number(report.parity) +
         " of the barrier at byte " + number(report.barrier) +
         " of shared memory, at leaf " + number(report.leaf);
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
    if (int status = api.memHostAlloc(&memory, sizeof(WatchdogReport), 0))
      return status;
    std::memset(memory, 0, sizeof(WatchdogReport));
    report = static_cast<WatchdogReport *>(memory);
  }
  // With unified addresses, a device knows pinned memory by the same one.
  const void *address = report;
  if (int status =
          api.memcpyHtoDAsync(symbol, &address, sizeof(address), stream))
    return status;
  return api.streamSynchronize(stream);
}
