//===- Faulty.h - A block that leaves out what it is asked ------*- C++ -*-===//
//
// A kernel's body calls the members of its block. Here a member may do
// something else at one place of the source: nothing, the same twice, less than
// was asked, or the same later. So each barrier, fence, wait, arrival and
// commit of a body can be left out, and no body says so.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_FAULTS_FAULTY_H
#define KV_KERNELS_EMULATOR_FAULTS_FAULTY_H

#include "kernels/emulator/CpuTensorBlock.h"

#include <compare>
#include <functional>
#include <map>
#include <set>
#include <source_location>

namespace kv::cuda::faults {

enum class Member {
  Sync,
  SyncCluster,
  SyncWarp,
  SyncNamed,
  ArriveNamed,
  FenceInit,
  FenceAsync,
  FenceProducts,
  FenceBefore,
  FenceAfter,
  Wait,
  AwaitPhase,
  AwaitProducts,
  AwaitLoads,
  AwaitStores,
  Arrive,
  ArriveAt,
  ReleaseAt,
  ExpectBytes,
  Commit,
  CommitProducts,
  CommitTensor,
  // Members that order nothing, and that are no part of the systematic list.
  FreeTensor,
  LoadScratch,
  StoreScratch,
  Shuffle,
};
std::string_view nameOf(Member member);

/// Where a body calls a member.
struct Site {
  std::string_view file; // without its folder
  std::string_view function;
  Member member;
  unsigned line, column;

  auto operator<=>(const Site &) const = default;
};
std::ostream &operator<<(std::ostream &os, const Site &site);

enum class Action {
  None,
  LeaveOut,
  Double,
  /// A wait for one copy less, or for the other phase; a barrier of the block
  /// alone; a plain access; an arrival that acquires nothing.
  Weaken,
  NoRelease, // an arrival without its release
  Later,     // after the thread's next call
};

/// A planted mistake: the action of a member at a place.
struct Plant {
  Site site;
  Action action = Action::LeaveOut;
  /// The threads of the body's block that it is for; null: all.
  std::function<bool(int)> threads = nullptr;
  int call = -1; // the n-th call of each thread, from 0 on; -1: all calls
};

/// The state that all blocks of a run share.
class Garden {
public:
  static Garden &get();

  /// Calls `run`, and says which places it calls.
  std::set<Site> record(const std::function<void()> &run);
  /// Calls `run` with members that do something else. Where `stops`, a thread
  /// goes no further when something is reported.
  void plant(const std::vector<Plant> &plants, bool stops,
             const std::function<void()> &run);

  bool isActive() const { return recording || !plants.empty(); }
  bool stopsThreads() const { return stops; }
  Action actionOf(Member member, const std::source_location &at, int thread);
  void later(int thread, std::function<void()> call) {
    calls.insert_or_assign(thread, std::pair(std::move(call), 1));
  }
  /// The call that a thread delayed until after the call before this one.
  std::function<void()> takeLater(int thread);

private:
  bool recording = false, stops = false;
  std::set<std::tuple<Member, const char *, unsigned, unsigned, const char *>>
      seen;
  std::vector<Plant> plants;
  std::map<std::pair<size_t, int>, int> counts; // of plant and thread
  /// Delayed calls of each thread, with the number of calls to wait for.
  std::map<int, std::pair<std::function<void()>, int>> calls;
};

template <class B> class Faulty : public B {
  using Place = std::source_location;

public:
  using Barrier = typename B::SharedBarrier;

  explicit Faulty(const B &b) : B(b) {}

  void sync(Place at = Place::current()) {
    perform(Member::Sync, at, [this] { B::sync(); });
  }
  void syncCluster(Place at = Place::current()) {
    perform(
        Member::SyncCluster, at, [this] { B::syncCluster(); },
        [this] { B::sync(); });
  }
  void syncWarp(Place at = Place::current()) {
    perform(Member::SyncWarp, at, [this] { B::syncWarp(); });
  }
  void syncNamed(int id, int threads, Place at = Place::current()) {
    perform(Member::SyncNamed, at, [=, this] { B::syncNamed(id, threads); });
  }
  void arriveNamed(int id, int threads, Place at = Place::current()) {
    perform(Member::ArriveNamed, at,
            [=, this] { B::arriveNamed(id, threads); });
  }
  void fenceInit(Place at = Place::current()) {
    perform(Member::FenceInit, at, [this] { B::fenceInit(); });
  }
  void fenceAsync(Place at = Place::current()) {
    perform(Member::FenceAsync, at, [this] { B::fenceAsync(); });
  }
  void fenceProducts(Place at = Place::current()) {
    perform(Member::FenceProducts, at, [this] { B::fenceProducts(); });
  }
  template <class A> void fenceProducts(A &a, Place at = Place::current()) {
    perform(Member::FenceProducts, at, [&a, this] { B::fenceProducts(a); });
  }
  template <class A, class D>
  void fenceProducts(A &a, D &d, Place at = Place::current()) {
    perform(Member::FenceProducts, at,
            [&a, &d, this] { B::fenceProducts(a, d); });
  }
  template <int Pending> void wait(Place at = Place::current()) {
    perform(
        Member::Wait, at, [this] { B::template wait<Pending>(); },
        [this] { B::template wait<Pending + 1>(); });
  }
  void awaitPhase(Barrier bar, int parity, Place at = Place::current()) {
    perform(
        Member::AwaitPhase, at, [=, this] { B::awaitPhase(bar, parity); },
        [=, this] { B::awaitPhase(bar, parity ^ 1); });
  }
  template <int Pending, class A>
  void awaitProducts(A &a, Place at = Place::current()) {
    perform(Member::AwaitProducts, at,
            [&a, this] { B::template awaitProducts<Pending>(a); });
  }
  uint32_t arriveAnd(Action action, uint32_t *counter, uint32_t count) {
    switch (action) {
    case Action::LeaveOut:
      return 0;
    case Action::Weaken:
      return B::template arrive<Order::Release>(counter, count);
    case Action::NoRelease:
      return B::template arrive<Order::Acquire>(counter, count);
    case Action::Double:
      B::template arrive<Order::AcquireRelease>(counter, count);
      [[fallthrough]];
    default:
      return B::template arrive<Order::AcquireRelease>(counter, count);
    }
  }
  template <Order order>
    requires(order == Order::AcquireRelease)
  uint32_t arrive(uint32_t *counter, uint32_t count,
                  Place at = Place::current()) {
    return arriveAnd(actionAt(Member::Arrive, at), counter, count);
  }
  void arriveAt(Barrier bar, Place at = Place::current()) {
    perform(Member::ArriveAt, at, [=, this] { B::arriveAt(bar); });
  }
  void releaseAt(Barrier bar, int to, bool arrives,
                 Place at = Place::current()) {
    perform(Member::ReleaseAt, at,
            [=, this] { B::releaseAt(bar, to, arrives); });
  }
  void expectBytes(Barrier bar, int bytes, Place at = Place::current()) {
    perform(Member::ExpectBytes, at, [=, this] { B::expectBytes(bar, bytes); });
  }
  void commit(Place at = Place::current()) {
    perform(Member::Commit, at, [this] { B::commit(); });
  }
  void commitProducts(Place at = Place::current()) {
    perform(Member::CommitProducts, at, [this] { B::commitProducts(); });
  }

  template <class T>
  T loadScratch(const T *p, Place at = Place::current()) const {
    return weakens(Member::LoadScratch, at) ? B::load(p) : B::loadScratch(p);
  }
  template <class T>
  void storeScratch(T *p, T x, Place at = Place::current()) const {
    if (weakens(Member::StoreScratch, at))
      B::store(p, x);
    else
      B::storeScratch(p, x);
  }
  float shuffleXor(float x, int mask, Place at = Place::current()) {
    return actionAt(Member::Shuffle, at) == Action::LeaveOut
               ? x
               : B::shuffleXor(x, mask, at);
  }

  //===--- Of tensor memory -----------------------------------------------===//

  void fenceBefore(Place at = Place::current()) {
    perform(Member::FenceBefore, at, [this] { B::fenceBefore(); });
  }
  void fenceAfter(Place at = Place::current()) {
    perform(Member::FenceAfter, at, [this] { B::fenceAfter(); });
  }
  template <class A> void awaitLoads(A &a, Place at = Place::current()) {
    perform(Member::AwaitLoads, at, [&a, at, this] { B::awaitLoads(a, at); });
  }
  template <class A, class D>
    requires(!std::is_same_v<D, Place>)
  void awaitLoads(A &a, D &d, Place at = Place::current()) {
    perform(Member::AwaitLoads, at,
            [&a, &d, at, this] { B::awaitLoads(a, d, at); });
  }
  void awaitStores(Place at = Place::current()) {
    perform(Member::AwaitStores, at, [at, this] { B::awaitStores(at); });
  }
  void commitTensor(Barrier bar, Place at = Place::current()) {
    perform(Member::CommitTensor, at, [=, this] { B::commitTensor(bar); });
  }
  void freeTensor(TensorAddress address, int columns,
                  Place at = Place::current()) {
    perform(Member::FreeTensor, at,
            [=, this] { B::freeTensor(address, columns, at); });
  }

private:
  Action actionAt(Member member, const Place &at) const {
    Garden &garden = Garden::get();
    if (!garden.isActive()) [[likely]]
      return Action::None;
    if (auto call = garden.takeLater(this->self))
      call();
    while (garden.stopsThreads() && !this->machine.reports().empty())
      this->machine.yield();
    return garden.actionOf(member, at, B::thread());
  }
  bool weakens(Member member, const Place &at) const {
    return actionAt(member, at) == Action::Weaken;
  }
  template <class Call>
  void perform(Member member, const Place &at, Call call) {
    perform(member, at, call, call);
  }
  template <class Call, class Weaker>
  void perform(Member member, const Place &at, Call call, Weaker weaker) {
    switch (actionAt(member, at)) {
    case Action::None:
    case Action::NoRelease:
      return call();
    case Action::LeaveOut:
      return;
    case Action::Double:
      call();
      return call();
    case Action::Weaken:
      return weaker();
    case Action::Later:
      return Garden::get().later(this->self, call);
    }
  }
};

} // namespace kv::cuda::faults

#endif // KV_KERNELS_EMULATOR_FAULTS_FAULTY_H
