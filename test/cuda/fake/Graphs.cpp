//===- Graphs.cpp - Captures and graphs of the fake driver ----------------===//

#include "State.h"

#include <utility>

using namespace kv::fake;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Work = std::vector<std::function<Status()>>;

bool &isRefused() {
  static bool refused = false;
  return refused;
}

} // namespace

void kv::fake::refuseCaptures(bool refuse) { isRefused() = refuse; }

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  State &state = State::get();
  if (Status status = state.checkStream("cuStreamBeginCapture", stream))
    return status;
  if (Status status = state.checkNoCapture("cuStreamBeginCapture"))
    return status;
  if (mode != 1)
    return state.problem(InvalidValue,
                         "cuStreamBeginCapture: mode " + std::to_string(mode));
  static_cast<FakeStream *>(stream)->captured = new Work;
  state.trace("capture");
  return Success;
}

EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  State &state = State::get();
  auto &from = *static_cast<FakeStream *>(stream);
  *graph = nullptr;
  if (!from.captured)
    return state.problem(InvalidValue, "cuStreamEndCapture: nothing is "
                                       "captured");
  Work *work = std::exchange(from.captured, nullptr);
  if (isRefused()) {
    delete work;
    return CaptureUnsupported;
  }
  *graph = work;
  return Success;
}

EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph,
                                       unsigned long long flags) {
  State &state = State::get();
  if (Status status = state.checkNoCapture("cuGraphInstantiate"))
    return status;
  if (flags)
    return state.problem(InvalidValue, "cuGraphInstantiate: flags");
  ++state.counters.graphsMade;
  *exec = new Work(*static_cast<Work *>(graph));
  return Success;
}

EXPORT int cuGraphLaunch(void *exec, void *stream) {
  State &state = State::get();
  if (Status status = state.checkStream("cuGraphLaunch", stream))
    return status;
  const Work &work = *static_cast<Work *>(exec);
  ++state.counters.graphLaunches;
  state.trace("graph " + std::to_string(work.size()));
  for (const auto &operation : work)
    state.enqueue(stream, operation);
  return Success;
}

EXPORT int cuGraphExecDestroy(void *exec) {
  // The device may still run it.
  Status status = State::get().run();
  delete static_cast<Work *>(exec);
  return status;
}
EXPORT int cuGraphDestroy(void *graph) {
  delete static_cast<Work *>(graph);
  return Success;
}
