//===- Sessions.h - Sessions, models and entries ----------------*- C++ -*-===//

#ifndef KV_PYTHON_SESSIONS_H
#define KV_PYTHON_SESSIONS_H

#include "Common.h"

#include <unordered_map>

namespace kv::python {

template <class Handle, void (*Destroy)(Handle *)> struct Destroyer {
  void operator()(Handle *handle) const { Destroy(handle); }
};
template <class Handle, void (*Destroy)(Handle *)>
using Owned = std::unique_ptr<Handle, Destroyer<Handle, Destroy>>;

/// What the handles of a session share: one of them runs at a time, and without
/// the GIL.
struct SessionState {
  std::mutex mutex;
  nb::object log; // is called with notes
  ~SessionState() {
    nb::gil_scoped_acquire acquired;
    log.reset();
  }
};

struct Session {
  std::shared_ptr<SessionState> state;
  Owned<KvSession, kvSessionDestroy> handle;
};

struct Model {
  std::shared_ptr<SessionState> state;
  Owned<KvModel, kvModelDestroy> handle;
};

struct Invocation {
  ~Invocation();

  std::shared_ptr<SessionState> state;
  Owned<KvInvocation, kvInvocationDestroy> handle;
  nb::object manager;                                // of the cache arguments
  std::unordered_map<std::string, nb::object> bound; // outputs
  std::vector<std::string> outputs;
};

} // namespace kv::python

#endif // KV_PYTHON_SESSIONS_H
