//===- Graphs.cpp - Captures and graphs of the fake driver ----------------===//

#include "State.h"

#include <utility>

using namespace kv::fake;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Works = std::vector<Work>;

struct Executable {
  Works work;
  FakeStream *stream = nullptr; // that it was launched on last
  int64_t until = 0;            // operations of the stream, its own among them
};

bool &isRefused() {
  static bool refused = false;
  return refused;
}

} // namespace

static int64_t inUse = 0;
int64_t kv::fake::graphsInUse() { return inUse; }

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
  static_cast<FakeStream *>(stream)->captured = new Works;
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
  Works *work = std::exchange(from.captured, nullptr);
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
  ++inUse;
  *exec = new Executable{*static_cast<Works *>(graph)};
  return Success;
}

EXPORT int cuGraphLaunch(void *exec, void *stream) {
  State &state = State::get();
  if (Status status = state.checkStream("cuGraphLaunch", stream))
    return status;
  auto &graph = *static_cast<Executable *>(exec);
  ++state.counters.graphLaunches;
  state.trace("graph " + std::to_string(graph.work.size()));
  for (const Work &operation : graph.work)
    state.enqueue(stream, operation);
  graph.stream = static_cast<FakeStream *>(stream);
  graph.until = graph.stream->total();
  return Success;
}

EXPORT int cuGraphExecDestroy(void *exec) {
  State &state = State::get();
  auto *graph = static_cast<Executable *>(exec);
  if (graph->stream && graph->stream->done < graph->until)
    return state.problem(InvalidValue, "cuGraphExecDestroy of a graph that may "
                                       "be running");
  --inUse;
  delete graph;
  return Success;
}
EXPORT int cuGraphDestroy(void *graph) {
  delete static_cast<Works *>(graph);
  return Success;
}
