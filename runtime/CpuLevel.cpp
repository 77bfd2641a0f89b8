//===- CpuLevel.cpp - x86-64 micro-architecture levels --------------------===//

#include "kv/ABI/CpuLevel.h"
#include "kv/Runtime/InferenceSession.h"

#include <algorithm>
#include <array>

using namespace kv;

static constexpr std::array<std::string_view, 4> Levels = {
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

std::string_view kv::hostCpuLevel() {
  int level = hostCpuLevelNumber();
  return level == 0 ? "no x86-64" : Levels[level - 1];
}

Expected<void> kv::checkCpuLevel(std::string_view wanted,
                                 std::string_view have) {
  auto level = std::find(Levels.begin(), Levels.end(), wanted);
  if (level == Levels.end())
    return makeError(KV_STATUS_UNSUPPORTED, "target.cpu is \"", wanted,
                     "\", expected x86-64, x86-64-v2, x86-64-v3 or x86-64-v4");
  auto host = std::find(Levels.begin(), Levels.end(), have);
  if (host == Levels.end() || host < level)
    return makeError(KV_STATUS_UNSUPPORTED, "target.cpu is ", wanted,
                     ", this machine has ", have,
                     ": compile the model for this level");
  return {};
}
