//===- CountingDevice.h - Devices that count their memory -------*- C++ -*-===//
//
// What libkv_cuda.so is to the runtime, without a GPU: devices cuda:0, cuda:1,
// ... whose memory the host may not touch as far as managers know. Every byte
// that is allocated and not yet freed is counted.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_MANAGER_COUNTINGDEVICE_H
#define KV_TEST_UNIT_MANAGER_COUNTINGDEVICE_H

#include <cstdint>

namespace kv::test {

struct CountedBytes {
  int64_t device = 0; // of all devices together
  int64_t pinned = 0;
};

/// Of this process, now.
CountedBytes countedBytes();

} // namespace kv::test

#endif // KV_TEST_UNIT_MANAGER_COUNTINGDEVICE_H
