//===- Target.h - What an artifact is compiled for --------------*- C++ -*-===//

#ifndef KV_TOOLS_KVCOMPILE_TARGET_H
#define KV_TOOLS_KVCOMPILE_TARGET_H

#include "kv/Runtime/Device.h"

#include <vector>

namespace kv {

/// This machine, a CPU by its level, or GPUs by their chips.
struct Target {
  std::string level;              // of a CPU that is not this one's
  std::vector<std::string> chips; // of GPUs
  /// What the artifact is checked on: virtual unless it is this machine.
  Device device;

  bool isGPU() const { return !chips.empty(); }

  /// "cpu", "cuda:sm_80,sm_90a", "virtual:x86-64-v4", "virtual:sm_90a".
  static Expected<Target> parse(std::string_view text);
};

} // namespace kv

#endif // KV_TOOLS_KVCOMPILE_TARGET_H
