//===- StepGraphs.h - Calls of entries as CUDA graphs -----------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_STEPGRAPHS_H
#define KV_RUNTIME_CUDA_STEPGRAPHS_H

#include "Backend.h"

#include <algorithm>
#include <map>
#include <span>

namespace kv::cuda {

/// The work of calls that come again, kept as CUDA graphs. The first of equal
/// calls is executed as it is, since libraries load what they need then. The
/// second is captured while it queues its work. From the third on, the graph is
/// launched and the entry is not called. The least recently used go first.
class StepGraphs {
public:
  /// Graphs kept at once. A serving process has one for each number of requests
  /// of a step, for each of the two sets of a step's inputs.
  static constexpr size_t MostGraphs = 512;

  /// `log` hears once why there are no graphs any more; may be empty.
  StepGraphs(Backend &backend, std::function<void(std::string_view)> log)
      : backend(backend), log(std::move(log)) {}
  StepGraphs(const StepGraphs &) = delete;
  ~StepGraphs();

  /// Begins a call. `call` holds all that its work depends on: two calls with
  /// equal words queue the same. True: it has been queued from a graph, and is
  /// over.
  bool start(std::span<const uint64_t> call);
  /// Ends a call that was not. `sound`: the entry has recorded no error. False:
  /// nothing is queued since it could not be captured; the entry must be called
  /// again. That happens once, and there are no graphs from then on.
  bool finish(bool sound);

private:
  struct Graph {
    driver::GraphExec exec = nullptr; // null: seen once
    uint64_t used = 0;                // when, in calls
  };
  void dropOldest();
  /// From now on every entry is called; `why` is a sentence.
  void turnOff(std::string_view why);

  struct Before {
    using is_transparent = void; // looks up without making a vector
    template <class A, class B> bool operator()(const A &a, const B &b) const {
      return std::ranges::lexicographical_compare(a, b);
    }
  };

  Backend &backend;
  std::map<std::vector<uint64_t>, Graph, Before> graphs;
  Graph *capturing = nullptr;
  uint64_t calls = 0;
  bool isOff = false;
  std::function<void(std::string_view)> log;
};

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_STEPGRAPHS_H
