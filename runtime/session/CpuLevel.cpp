//===- CpuLevel.cpp - x86-64 micro-architecture levels --------------------===//

#include "kv/ABI/CpuLevel.h"
#include "kv/Runtime/Session/InferenceSession.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

using namespace kv;

std::string_view kv::hostCpuLevel() {
  int level = hostCpuLevelNumber();
  return level == 0 ? "no x86-64" : kCpuLevels[level - 1];
}

Expected<void> kv::checkCpuLevel(std::string_view wanted,
                                 std::string_view have) {
  const auto *end = std::end(kCpuLevels);
  const auto *level = std::find(std::begin(kCpuLevels), end, wanted);
  if (level == end) {
    std::string allowed;
    for (const char *each : kCpuLevels)
      allowed += (allowed.empty() ? "" : ", ") + std::string(each);
    return makeError(KV_STATUS_UNSUPPORTED, "target.cpu is \"", wanted,
                     "\", expected one of ", allowed);
  }
  const auto *host = std::find(std::begin(kCpuLevels), end, have);
  if (host == end || host < level)
    return makeError(KV_STATUS_UNSUPPORTED, "target.cpu is ", wanted,
                     ", this machine has ", have,
                     ": compile the model for this level");
  return {};
}

Expected<void> kv::enableCpuLevel([[maybe_unused]] std::string_view level) {
#ifdef __x86_64__
  if (level == kCpuLevels[5] &&
      syscall(SYS_arch_prctl, kRequestState, kTileState) != 0)
    return makeError(KV_STATUS_UNSUPPORTED, "target.cpu is ", level,
                     ", and the system does not let this process use AMX (",
                     std::strerror(errno),
                     "): compile the model for x86-64-v4-vnni");
#endif
  return {};
}
