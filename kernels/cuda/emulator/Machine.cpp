//===- Machine.cpp - Runs a kernel body's blocks --------------------------===//

#include "Machine.h"

#include <array>
#include <cstring>
#include <numeric>

using namespace kv::cuda;

Machine::Machine(MachineOptions options) : options(options) {
  std::mt19937 seeds(options.seed);
  random.seed(seeds());
  std::iota(sumOrder, sumOrder + 16, 0);
  if (options.order == SumOrder::Shuffled)
    std::shuffle(sumOrder, sumOrder + 16, random);
}

void Machine::report(std::string text) {
  // One cause has many effects.
  if (problems.size() < 8)
    problems.push_back("block " + std::to_string(currentBlock) + ": " +
                       std::move(text));
}

void Machine::reportView(int thread, int count, int index) {
  report("thread " + std::to_string(thread) + " leaves a view of " +
         std::to_string(count) + " elements at " + std::to_string(index));
}

void Machine::launch(int blocks, int threads, int sharedBytes,
                     const std::function<void(Machine &, int)> &body) {
  blockCount = blocks;
  threadCount = threads;
  sharedSize = sharedBytes;
  globalMemory.beginLaunch();
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  if (options.schedule == Schedule::LatestFirst)
    std::reverse(order.begin(), order.end());
  if (options.schedule == Schedule::Random)
    std::shuffle(order.begin(), order.end(), random);
  for (int block : order) {
    currentBlock = block;
    runBlock(body);
  }
}

void Machine::runBlock(const std::function<void(Machine &, int)> &body) {
  lastBarrier = ++now;
  known.clear();
  clocks.clear();
  sharedMemory.reset(sharedSize, now,
                     [this](std::string text) { report(std::move(text)); });
  threads.resize(threadCount);
  warps.assign((threadCount + WarpLanes - 1) / WarpLanes, Warp());
  runnable.reset(threadCount, options.schedule, random());
  atBarrier = 0;
  for (int t = 0; t < threadCount; ++t) {
    Thread &thread = threads[t];
    thread.waiting = Waiting::No;
    thread.copies.clear();
    thread.groups.clear();
    thread.open = 0;
    runnable.push(t);
  }
  fibers.start(threadCount, [&](int t) {
    body(*this, t);
    return takeRunnable();
  });
  do
    yield();
  while (landCopies());
  bool stuck = false;
  for (int t = 0; t < threadCount; ++t)
    stuck |= !fibers.finished(t);
  if (stuck)
    return reportDeadlock();
  for (int t = 0; t < threadCount; ++t)
    if (!threads[t].copies.empty())
      return report("thread " + std::to_string(t) +
                    " leaves with a copy under way");
}

void Machine::makeRunnable(int thread) {
  threads[thread].waiting = Waiting::No;
  runnable.push(thread);
}

int Machine::takeRunnable() {
  if (runnable.empty())
    return Fibers::Outside;
  int thread = runnable.pop();
  if (!runnable.empty())
    fibers.prefetch(runnable.next());
  return thread;
}

/// Lets the copies land that threads wait for: all at once, since they are
/// independent, and nobody could run in between.
bool Machine::landCopies() {
  bool any = false;
  for (int t = 0; t < threadCount; ++t) {
    Thread &thread = threads[t];
    if (thread.waiting != Waiting::Copies)
      continue;
    int groups = int(thread.groups.size()) - thread.pendingAllowed;
    int landed = 0;
    for (int g = 0; g < groups; ++g)
      landed += thread.groups[g];
    for (int i = 0; i < landed; ++i) {
      const Copy &copy = thread.copies[i];
      sharedMemory.landCopy(t, copy.offset, copy.source, ChunkBytes);
    }
    thread.copies.erase(thread.copies.begin(), thread.copies.begin() + landed);
    thread.groups.erase(thread.groups.begin(), thread.groups.begin() + groups);
    makeRunnable(t);
    any = true;
  }
  return any;
}

void Machine::sync(int thread) {
  threads[thread].waiting = Waiting::Barrier;
  if (++atBarrier == threadCount)
    releaseBarrier();
  else
    yield();
}

void Machine::releaseBarrier() {
  atBarrier = 0;
  lastBarrier = ++now;
  sharedMemory.barrier(now);
  for (auto &[thread, clock] : clocks) {
    join(known, clock.others);
    clock.others.clear();
  }
  for (int t = 0; t < threadCount; ++t)
    makeRunnable(t);
  // The caller is running: it yields like everybody, so that the schedule
  // decides who goes first.
  yield();
}

void Machine::executeShuffle(WarpRequest *lanes) {
  uint32_t values[WarpLanes];
  for (int l = 0; l < WarpLanes; ++l)
    values[l] = *lanes[l].words;
  for (int l = 0; l < WarpLanes; ++l)
    *lanes[l].words = values[l ^ lanes[l].argument];
}

template <bool Transposed> void Machine::executeLoad(int warp) {
  WarpRequest *lanes = warps[warp].requests;
  uint16_t rows[WarpLanes][8];
  for (int l = 0; l < WarpLanes; ++l)
    sharedRead(warp * WarpLanes + l, lanes[l].argument, ChunkBytes, rows[l]);
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place low = matrixElement(l, 0, Transposed);
      Place high = matrixElement(l, 1, Transposed);
      lanes[l].words[i] = rows[i * 8 + low.row][low.column] |
                          uint32_t(rows[i * 8 + high.row][high.column]) << 16;
    }
}

namespace {

/// What an mma multiplies and adds. A's columns and B's rows, k, are split:
/// a[k % 2][row * 8 + k / 2], b[k % 2][k / 2 * 8 + column].
struct MultiplyAddOperands {
  float a[2][16 * 8];
  float b[2][8 * 8];
  float sums[16 * 8];
};

/// Both halves of pairs of T.
template <class T, int N>
void widenPairs(const uint32_t (&pairs)[N], float (&halves)[2][N]) {
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < N; ++i)
      halves[half][i] = widenHalf<T>(pairs[i], half);
}

/// Where a lane's registers lie in the operands: pairs of A and B, and sums.
struct FragmentPlaces {
  uint8_t a[4], b[2], sums[4];
};
constexpr auto Fragments = [] {
  std::array<FragmentPlaces, WarpLanes> lanes{};
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place a = fragmentA(l, i, 0), sum = fragmentC(l, i);
      lanes[l].a[i] = a.row * 8 + a.column / 2;
      lanes[l].sums[i] = sum.row * 8 + sum.column;
      if (i < 2) {
        Place b = fragmentB(l, i, 0);
        lanes[l].b[i] = b.row / 2 * 8 + b.column;
      }
    }
  return lanes;
}();

template <class T>
void gather(const WarpRequest *lanes, MultiplyAddOperands &x) {
  uint32_t a[16 * 8], b[8 * 8];
  for (int l = 0; l < WarpLanes; ++l) {
    const FragmentPlaces &places = Fragments[l];
    for (int i = 0; i < 4; ++i) {
      a[places.a[i]] = lanes[l].words[i];
      x.sums[places.sums[i]] = lanes[l].sums[i];
    }
    for (int i = 0; i < 2; ++i)
      b[places.b[i]] = lanes[l].words[4 + i];
  }
  widenPairs<T>(a, x.a);
  widenPairs<T>(b, x.b);
}

/// A row of B or of the sums.
using Columns = float __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void
multiplyAdd(MultiplyAddOperands &x, SumOrder order, const int *sumOrder) {
  Columns b[2][8];
  std::memcpy(b, x.b, sizeof(b));
  constexpr int Rows = 8; // at a time, so that sums stay in registers
  for (int first = 0; first < 16; first += Rows) {
    Columns before[Rows], sums[Rows] = {};
    std::memcpy(before, x.sums + first * 8, sizeof(before));
    const float *a[2] = {x.a[0] + first * 8, x.a[1] + first * 8};
    if (order != SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] = before[r];
    if (order == SumOrder::Pairs) {
      for (int k = 0; k < 8; ++k)
        for (int r = 0; r < Rows; ++r)
          sums[r] += a[0][r * 8 + k] * b[0][k] + a[1][r * 8 + k] * b[1][k];
    } else {
      for (int i = 0; i < 16; ++i) {
        int half = sumOrder[i] % 2, k = sumOrder[i] / 2;
        for (int r = 0; r < Rows; ++r)
          sums[r] += a[half][r * 8 + k] * b[half][k];
      }
    }
    if (order == SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] += before[r];
    std::memcpy(x.sums + first * 8, sums, sizeof(sums));
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void
multiplyAddAvx2(MultiplyAddOperands &x, SumOrder order, const int *sumOrder) {
  multiplyAdd(x, order, sumOrder);
}
const bool HasAvx2 = __builtin_cpu_supports("avx2");
#endif

} // namespace

void Machine::executeMultiplyAdd(WarpRequest *lanes) {
  MultiplyAddOperands operands;
  // Bf16 has argument 0, F16 has 1.
  if (lanes[0].argument)
    gather<F16>(lanes, operands);
  else
    gather<Bf16>(lanes, operands);
#ifdef __x86_64__
  if (HasAvx2)
    multiplyAddAvx2(operands, options.order, sumOrder);
  else
#endif
    multiplyAdd(operands, options.order, sumOrder);
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i)
      lanes[l].sums[i] = operands.sums[Fragments[l].sums[i]];
}

void Machine::request(int thread, unsigned what, int argument, uint32_t *words,
                      float *sums) {
  Warp &warp = warps[unsigned(thread) / WarpLanes];
  warp.requests[unsigned(thread) % WarpLanes] = {what, argument, words, sums};
  if (warp.waiting == 0)
    warp.what = what;
  warp.mixed |= warp.what != what;
  if (++warp.waiting < WarpLanes || warp.mixed)
    return yield();
  executeWarp(thread / WarpLanes, thread);
}

void Machine::executeWarp(int number, int thread) {
  Warp &warp = warps[number];
  switch (warp.requests[0].operation()) {
  case WarpOperation::Shuffle:
    executeShuffle(warp.requests);
    break;
  case WarpOperation::LoadMatrix:
    executeLoad<false>(number);
    break;
  case WarpOperation::LoadTransposed:
    executeLoad<true>(number);
    break;
  case WarpOperation::MultiplyAdd:
    executeMultiplyAdd(warp.requests);
    break;
  }
  warp.waiting = 0;
  for (int t = number * WarpLanes; t < (number + 1) * WarpLanes; ++t)
    if (t != thread)
      runnable.push(t);
}

void Machine::sharedRead(int thread, int offset, int bytes, void *target) {
  if (options.detectRaces && !sharedMemory.read(thread, offset, bytes))
    return void(std::memset(target, 0xff, bytes));
  std::memcpy(target, sharedMemory.data() + offset, bytes);
}

void Machine::sharedWrite(int thread, int offset, int bytes,
                          const void *source) {
  if (!options.detectRaces || sharedMemory.write(thread, offset, bytes))
    std::memcpy(sharedMemory.data() + offset, source, bytes);
}

bool Machine::globalAllowed(int thread, const void *p, size_t bytes,
                            Access access) {
  // A value is aligned to the largest power of two in its size.
  size_t alignment = std::min<size_t>(bytes & -bytes, 16);
  if ((reinterpret_cast<uintptr_t>(p) & (alignment - 1)) == 0 &&
      globalMemory.allowed(p, bytes, access))
    return true;
  report("thread " + std::to_string(thread) + " leaves global memory: " +
         (access == Access::Read ? "reads " : "writes ") +
         std::to_string(bytes) + " bytes where nothing was allocated");
  return false;
}

bool Machine::plainLoad(int thread, const void *p, size_t bytes) {
  if (!globalAllowed(thread, p, bytes, Access::Read))
    return false;
  for (size_t i = 0; i < bytes; i += sizeof(float)) {
    const auto *writer = globalMemory.written(static_cast<const char *>(p) + i);
    if (writer && writer->block >= 0 && !writer->plain)
      report("thread " + std::to_string(thread) +
             " reads scratch as if nobody else wrote it");
  }
  return true;
}

bool Machine::plainStore(int thread, void *p, size_t bytes) {
  if (!globalAllowed(thread, p, bytes, Access::Write))
    return false;
  for (size_t i = 0; i < bytes; i += sizeof(float))
    globalMemory.writer(static_cast<char *>(p) + i) = {currentBlock, thread,
                                                       now, /*plain=*/true};
  return true;
}

void Machine::copyAsync(int thread, int offset, int64_t address) {
  const void *source = reinterpret_cast<const void *>(address);
  if (address < 0 || !globalAllowed(thread, source, ChunkBytes, Access::Read))
    source = nullptr;
  if (sharedMemory.beginCopy(thread, offset, ChunkBytes)) {
    threads[thread].copies.push_back({offset, source});
    ++threads[thread].open;
  }
}

void Machine::commit(int thread) {
  Thread &self = threads[thread];
  self.groups.push_back(self.open);
  self.open = 0;
}

void Machine::wait(int thread, int pending) {
  Thread &self = threads[thread];
  if (int(self.groups.size()) <= pending)
    return;
  self.pendingAllowed = pending;
  self.waiting = Waiting::Copies;
  yield();
}

/// Whether `clocks` say that what the writer did happened before.
static bool happened(const BlockClocks &clocks,
                     const GlobalMemory::Writer &writer) {
  auto found = clocks.find(writer.block);
  return found != clocks.end() && found->second[writer.thread] >= writer.moment;
}

void Machine::checkScratch(int thread, const void *p) {
  const GlobalMemory::Writer &writer = globalMemory.writer(p);
  if (writer.block < 0)
    return;
  if (writer.plain && writer.block != currentBlock)
    report("thread " + std::to_string(thread) + " reads scratch that block " +
           std::to_string(writer.block) + " wrote as if nobody else read it");
  bool ordered;
  if (writer.block == currentBlock) {
    ordered = writer.thread == thread || writer.moment < lastBarrier;
  } else {
    auto own = clocks.find(thread);
    ordered = happened(known, writer) ||
              (own != clocks.end() && happened(own->second.others, writer));
  }
  if (!ordered)
    report("race: thread " + std::to_string(thread) +
           " reads scratch unordered with the write of block " +
           std::to_string(writer.block) + ", thread " +
           std::to_string(writer.thread));
}

void Machine::loadScratch(int thread, const void *p, size_t bytes,
                          void *target) {
  if (!globalAllowed(thread, p, bytes, Access::Read))
    return void(std::memset(target, 0xff, bytes));
  for (size_t i = 0; i < bytes; i += sizeof(float))
    checkScratch(thread, static_cast<const char *>(p) + i);
  std::memcpy(target, p, bytes);
}

void Machine::storeScratch(int thread, void *p, size_t bytes,
                           const void *source) {
  if (!globalAllowed(thread, p, bytes, Access::Write))
    return;
  for (size_t i = 0; i < bytes; i += sizeof(float))
    globalMemory.writer(static_cast<char *>(p) + i) = {currentBlock, thread,
                                                       now, /*plain=*/false};
  std::memcpy(p, source, bytes);
}

void Machine::fence(int thread) {
  ThreadClock &clock = clocks[thread];
  join(clock.others, clock.acquired);
  clock.acquired.clear();
  clock.fenced = clock.others;
  join(clock.fenced, known);
  ClockVector own(threadCount, lastBarrier - 1);
  own[thread] = now;
  clock.fenced[currentBlock] = std::move(own);
  ++now; // what this thread does from here on is not published
}

uint32_t Machine::arrive(int thread, uint32_t *counter, uint32_t count,
                         Order order) {
  if (!globalAllowed(thread, counter, sizeof(*counter), Access::Write))
    return 0;
  if (order != Order::Acquire)
    fence(thread);
  ThreadClock &clock = clocks[thread];
  BlockClocks &published = globalMemory.counter(counter);
  join(clock.acquired, published);
  join(published, clock.fenced);
  if (order != Order::Release)
    fence(thread);
  return (*counter += count) - count;
}

void Machine::reportDeadlock() {
  auto line = [&](int t) {
    return warps[t / WarpLanes].requests[t % WarpLanes].line();
  };
  std::string text = "deadlock:";
  int left = 0, listed = 0;
  for (int t = 0; t < threadCount; ++t) {
    if (fibers.finished(t)) {
      ++left;
      continue;
    }
    const Thread &thread = threads[t];
    // Neighbours wait for the same thing.
    if (t && !fibers.finished(t - 1) &&
        threads[t - 1].waiting == thread.waiting &&
        (thread.waiting != Waiting::No ||
         (line(t - 1) == line(t) && t % WarpLanes != 0)))
      continue;
    if (++listed > 6)
      continue;
    text += " thread " + std::to_string(t) + " waits ";
    if (thread.waiting == Waiting::Barrier)
      text += "at a barrier;";
    else
      text += "for its warp at line " + std::to_string(line(t)) + ";";
  }
  report(text + " " + std::to_string(left) + " threads have left");
}
