//===- Watchdog.h - Where a kernel says that it waited too long -*- C++ -*-===//

#ifndef KV_TEST_CUDA_FAKE_WATCHDOG_H
#define KV_TEST_CUDA_FAKE_WATCHDOG_H

namespace kv::fake {

/// As if a kernel of an image with a watchdog had waited too long; nothing
/// happens where no image has one.
void reportWait();

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_WATCHDOG_H
