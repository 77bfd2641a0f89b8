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
  if (api.streamBeginCapture(backend.stream(), driver::CaptureThreadLocal))
    isOff = true;
  else
    capturing = &graph;
  return false;
}

bool StepGraphs::finish(bool sound) {
  if (!capturing)
    return true;
  Graph &graph = *std::exchange(capturing, nullptr);
  const driver::Driver &api = backend.driver();
  driver::Graph captured = nullptr;
  Result result = api.streamEndCapture(backend.stream(), &captured);
  if (!result && sound)
    result = api.graphInstantiate(&graph.exec, captured, 0);
  if (captured)
    api.graphDestroy(captured);
  if (!result && sound) {
    backend.check(api.graphLaunch(graph.exec, backend.stream()),
                  "cuGraphLaunch");
    return true;
  }
  // Nothing of it has been executed. Whoever calls the entry again sees whether
  // the mistake was the call's.
  graph.exec = nullptr;
  isOff = true;
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
