//===- FaultyKernel.h - A kernel with mistakes ------------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_FAULTYKERNEL_H
#define KV_TEST_KERNELS_FAULTS_FAULTYKERNEL_H

#include "Planted.h"
#include "kernels/emulator/faults/Faulty.h"

#include <string>

namespace kv::cuda {
template <Block B, class C> struct Consumers;

/// The consumers of a kernel whose warps have roles call a block of their own.
template <class B, class C>
struct Consumers<faults::Faulty<B>, C> : faults::Faulty<Consumers<B, C>> {
  explicit Consumers(const faults::Faulty<B> &b)
      : faults::Faulty<Consumers<B, C>>(Consumers<B, C>(b)) {}
};
} // namespace kv::cuda

namespace kv::cuda::test {
using namespace faults;

/// What a run has left.
struct Outcome {
  std::vector<std::string> reports;
  std::string wrong; // of its numbers, where there is no report
  bool isGood() const { return reports.empty() && wrong.empty(); }
};

/// Runs a kernel's body on Faulty blocks, with numbers that a test knows.
using Case = std::function<Outcome(Schedule)>;

/// Calls of a member by a function of a body: all of them, or the n-th in the
/// order of the source.
struct Where {
  std::string_view file, function;
  Member member;
  int which = -1;
};

/// A mistake, or what members do instead at places.
struct What {
  struct Instead {
    Where place;
    Action action = Action::LeaveOut;
    std::function<bool(int)> threads = nullptr;
    int call = -1;
  };
  Mistake mistake = Mistake::None;
  std::vector<Instead> instead;

  What(Mistake mistake) : mistake(mistake) {}
  What(std::initializer_list<Instead> all) : instead(all) {}
};

/// A mistake that each schedule shows: by a report with `text` in it, "" by
/// any, or, where that is null, by its numbers alone.
struct Row {
  const char *name;
  What what;
  const char *text;
  Case run;
};

/// What may be left out, and why.
struct Survivor {
  Where place;
  const char *reason;
};

struct FaultyKernel {
  const char *name;
  /// All barriers, fences, waits, arrivals and commits that these meet are left
  /// out once, and each must be seen by one of them.
  std::vector<Case> cases;
  std::vector<Row> rows = {};
  std::vector<Survivor> survivors = {};
};

/// Makes tests of the rows, and one of all places.
bool addKernel(FaultyKernel kernel);

/// The schedules that a case is run under.
inline constexpr Schedule Schedules[] = {
    Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random};

/// For what one thread alone does otherwise.
inline bool is37(int thread) { return thread == 37; }

/// What a case leaves with a mistake. Its places are those of a run without.
Outcome runWith(const What &what, const Case &run, Schedule schedule);

/// Fails where a schedule does not show the mistake.
void expectSeen(const What &what, const char *text, const Case &run);

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_FAULTYKERNEL_H
