//===- Watchdog.h - Reports of waits that do not end ------------*- C++ -*-===//
//
// Images that are built with KV_WATCHDOG give up a wait on an mbarrier after
// about a second: the thread says where it stands, and traps. Other images wait
// for ever. gpu-verify takes them where a right result matters and time does
// not.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_WATCHDOG_H
#define KV_KERNELS_CUDA_PARAMETERS_WATCHDOG_H

#include "kv/Definition/HostDevice.h"

#include <cstdint>

namespace kv::cuda {

/// A warp that waits.
struct StuckWait {
  int32_t block, warp;
  int32_t barrier; // its offset in shared memory, a multiple of 8 below 2^18
  int32_t parity;  // of the phase that does not come
  int32_t leaf;    // where the warp stands, as Block::atLeaf() was told; or -1
};

constexpr uint64_t StuckMark = uint64_t(1) << 63;

KV_HD constexpr uint64_t packStuckWait(StuckWait wait) {
  return StuckMark | uint64_t(wait.block & 0x1fffff) << 42 |
         uint64_t(wait.warp & 31) << 37 |
         uint64_t(wait.barrier >> 3 & 0x7fff) << 22 |
         uint64_t(wait.parity & 1) << 21 | uint64_t(wait.leaf & 0x1fffff);
}
constexpr StuckWait unpackStuckWait(uint64_t word) {
  int32_t leaf = word & 0x1fffff;
  return {int32_t(word >> 42 & 0x1fffff), int32_t(word >> 37 & 31),
          int32_t(word >> 22 & 0x7fff) * 8, int32_t(word >> 21 & 1),
          leaf == 0x1fffff ? -1 : leaf};
}

/// In memory that the host reads when the launch has failed. The global
/// variable of an image that is called WatchdogSymbol has its address.
struct WatchdogReport {
  static constexpr uint32_t Most = 31;
  uint32_t count; // of waits, also those without room
  uint32_t unused;
  uint64_t waits[Most];
};
constexpr char WatchdogSymbol[] = "kv_watchdog";

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_WATCHDOG_H
