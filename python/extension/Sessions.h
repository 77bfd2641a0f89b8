//===- Sessions.h - Sessions, models and entries ----------------*- C++ -*-===//

#ifndef KV_PYTHON_SESSIONS_H
#define KV_PYTHON_SESSIONS_H

#include "Common.h"

#include <unordered_map>

namespace kv::python {

/// What the handles of a session share: one of them runs at a time, and without
/// the GIL. What a call gives back may end handles in the same thread.
struct SessionState {
  ~SessionState() {
    nb::gil_scoped_acquire acquired;
    log.reset();
  }

  std::recursive_mutex mutex;
  nb::object log; // is called with notes
};

/// A handle of a session. Python ends it in any thread.
template <class Handle, void (*Destroy)(Handle *)> struct SessionHandle {
  SessionHandle(std::shared_ptr<SessionState> state, Handle *handle)
      : state(std::move(state)), handle(handle) {}
  SessionHandle(const SessionHandle &) = delete;
  ~SessionHandle() {
    nb::gil_scoped_release released;
    std::lock_guard lock(state->mutex);
    Destroy(handle);
  }

  std::shared_ptr<SessionState> state;
  Handle *handle;
};

struct Session : SessionHandle<KvSession, kvSessionDestroy> {
  using SessionHandle::SessionHandle;
};

struct Model : SessionHandle<KvModel, kvModelDestroy> {
  using SessionHandle::SessionHandle;
};

struct Invocation : SessionHandle<KvInvocation, kvInvocationDestroy> {
  using SessionHandle::SessionHandle;

  nb::object manager;                                // of the cache arguments
  std::unordered_map<std::string, nb::object> bound; // outputs
  std::vector<std::string> outputs;
};

} // namespace kv::python

#endif // KV_PYTHON_SESSIONS_H
