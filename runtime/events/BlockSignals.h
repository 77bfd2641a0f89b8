//===- BlockSignals.h - Threads that no signal interrupts -------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_BLOCKSIGNALS_H
#define KV_RUNTIME_EVENTS_BLOCKSIGNALS_H

#include <csignal>

namespace kv {

/// Signals are the business of the program's own threads: in this one, a call
/// of libzmq would end with an error.
inline void blockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

} // namespace kv

#endif // KV_RUNTIME_EVENTS_BLOCKSIGNALS_H
