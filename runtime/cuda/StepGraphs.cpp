//===- StepGraphs.cpp - Calls of entries as CUDA graphs -------------------===//

#include "StepGraphs.h"

#include <algorithm>
#include <utility>

using namespace kv;
using namespace kv::cuda;
using driver::Result;

StepGraphs::~StepGraphs() {
  backend.enter();
  // The device may still run one.
  (void)backend.synchronize();
  for (auto &[call, graph] : graphs)
    if (graph.exec)
      backend.driver().graphExecDestroy(graph.exec);
}

bool StepGraphs::start(std::span<const uint64_t> call) {
  if (isOff || call.empty())
    return false;
  const driver::Driver &api = backend.driver();
  backend.enter();
  auto found = graphs.find(call);
  bool isNew = found == graphs.end();
  if (isNew) {
    if (graphs.size() >= MostGraphs)
      dropOldest();
    found = graphs.try_emplace(std::vector<uint64_t>(call.begin(), call.end()))
                .first;
  }
  Graph &graph = found->second;
  graph.used = ++calls;
  if (graph.exec) {
    backend.check(api.graphLaunch(graph.exec, backend.stream()),
                  "cuGraphLaunch");
    return true;
  }
  if (isNew)
    return false;
  if (Result refused =
          api.streamBeginCapture(backend.stream(), driver::CaptureThreadLocal))
    turnOff(backend.fail(refused, "cuStreamBeginCapture").error().message);
  else
    capturing = &graph;
  return false;
}

void StepGraphs::turnOff(std::string_view why) {
  isOff = true;
  if (log)
    log(concat("steps are not kept as CUDA graphs, but queued call by call: ",
               why));
}

bool StepGraphs::finish(bool sound) {
  if (!capturing)
    return true;
  Graph &graph = *std::exchange(capturing, nullptr);
  const driver::Driver &api = backend.driver();
  driver::Graph captured = nullptr;
  const char *call = "cuStreamEndCapture";
  Result result = api.streamEndCapture(backend.stream(), &captured);
  if (!result && sound) {
    call = "cuGraphInstantiateWithFlags";
    result = api.graphInstantiate(&graph.exec, captured, 0);
  }
  if (captured)
    api.graphDestroy(captured);
  if (!result && sound) {
    backend.check(api.graphLaunch(graph.exec, backend.stream()),
                  "cuGraphLaunch");
    return true;
  }
  // Nothing of the capture has been executed. Calling the entry again shows
  // whether the mistake was the call's.
  graph.exec = nullptr;
  // The first call that the capture did not take says more than its end.
  if (Expected<void> status = backend.status(); !status)
    turnOff(status.error().message);
  else if (result)
    turnOff(backend.fail(result, call).error().message);
  else
    turnOff("the entry failed while its work was captured");
  backend.forgetFailure();
  return false;
}

/// The device may still run it. So seldom, a wait costs nothing.
void StepGraphs::dropOldest() {
  auto oldest = std::min_element(graphs.begin(), graphs.end(),
                                 [](const auto &a, const auto &b) {
                                   return a.second.used < b.second.used;
                                 });
  if (oldest->second.exec && backend.synchronize())
    backend.check(backend.driver().graphExecDestroy(oldest->second.exec),
                  "cuGraphExecDestroy");
  graphs.erase(oldest);
}
