//===- Target.h - What an artifact is compiled for --------------*- C++ -*-===//

#ifndef KV_TOOLS_KVCOMPILE_TARGET_H
#define KV_TOOLS_KVCOMPILE_TARGET_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kv {

/// This machine, a CPU by its level, or GPUs by their chips.
struct Target {
  std::string level;              // of a CPU that is not this one's
  std::vector<std::string> chips; // of GPUs

  bool isGPU() const { return !chips.empty(); }
  /// The level or first chip of the virtual device that the artifact is checked
  /// on; empty for this machine, which needs no check.
  std::string virtualDevice() const {
    return chips.empty() ? level : chips.front();
  }

  /// "cpu", "cuda:sm_80,sm_90a", "virtual:x86-64-v4", "virtual:sm_90a".
  static llvm::Expected<Target> parse(std::string_view text);
};

} // namespace kv

#endif // KV_TOOLS_KVCOMPILE_TARGET_H
