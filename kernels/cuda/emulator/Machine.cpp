//===- Machine.cpp - Runs a kernel body's blocks --------------------------===//

#include "Machine.h"

#include <cstring>
#include <numeric>

using namespace kv::cuda;

Machine::Machine(MachineOptions options)
    : options(options), random(options.seed) {
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
  runnable.reset(threadCount);
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
  int count = runnable.size();
  if (count == 0)
    return Fibers::Outside;
  switch (options.schedule) {
  case Schedule::LatestFirst:
    return runnable.popLast();
  case Schedule::OldestFirst:
    return runnable.popFirst();
  case Schedule::Random:
    return runnable.pop(int(uint64_t(random()) * uint64_t(count) >> 32));
  }
  return Fibers::Outside;
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
      sharedMemory.landCopy(t, copy.offset, copy.source, ChunkBytes,
                            copy.bytes);
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

void Machine::collective(int thread, const WarpRequest &request) {
  int number = thread / WarpLanes;
  Warp &warp = warps[number];
  warp.requests[thread % WarpLanes] = request;
  threads[thread].waiting = Waiting::Warp;
  if (++warp.waiting < WarpLanes)
    return yield();
  for (const WarpRequest &other : warp.requests)
    if (other.kind != request.kind || other.line != request.line)
      return yield(); // for ever
  executeWarp(number);
  warp.waiting = 0;
  for (int t = number * WarpLanes; t < (number + 1) * WarpLanes; ++t)
    if (t != thread)
      makeRunnable(t);
  threads[thread].waiting = Waiting::No;
}

void Machine::executeWarp(int warp) {
  WarpRequest *lanes = warps[warp].requests;
  switch (lanes[0].kind) {
  case WarpRequest::None:
    break;
  case WarpRequest::Shuffle:
    return executeShuffle(lanes);
  case WarpRequest::LoadMatrix:
    return executeLoad(warp, false);
  case WarpRequest::LoadTransposed:
    return executeLoad(warp, true);
  case WarpRequest::MultiplyAdd:
    // Bf16 has argument 0, F16 has 1.
    return lanes[0].argument ? executeMultiplyAdd<F16>(lanes)
                             : executeMultiplyAdd<Bf16>(lanes);
  }
}

void Machine::executeShuffle(WarpRequest *lanes) {
  uint32_t values[WarpLanes];
  for (int l = 0; l < WarpLanes; ++l)
    values[l] = *lanes[l].words;
  for (int l = 0; l < WarpLanes; ++l)
    *lanes[l].words = values[l ^ lanes[l].argument];
}

void Machine::executeLoad(int warp, bool transposed) {
  WarpRequest *lanes = warps[warp].requests;
  uint16_t rows[WarpLanes][8];
  for (int l = 0; l < WarpLanes; ++l)
    sharedRead(warp * WarpLanes + l, lanes[l].argument, ChunkBytes, rows[l]);
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place low = matrixElement(l, 0, transposed);
      Place high = matrixElement(l, 1, transposed);
      lanes[l].words[i] = rows[i * 8 + low.row][low.column] |
                          uint32_t(rows[i * 8 + high.row][high.column]) << 16;
    }
}

template <class T> void Machine::executeMultiplyAdd(WarpRequest *lanes) {
  float a[16][16], b[16][8], sums[16][8];
  for (int l = 0; l < WarpLanes; ++l) {
    const WarpRequest &request = lanes[l];
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i) {
        Place place = fragmentA(l, i, half);
        a[place.row][place.column] = widenHalf<T>(request.words[i], half);
      }
      for (int i = 0; i < 2; ++i) {
        Place place = fragmentB(l, i, half);
        b[place.row][place.column] = widenHalf<T>(request.words[4 + i], half);
      }
    }
    for (int i = 0; i < 4; ++i) {
      Place place = fragmentC(l, i);
      sums[place.row][place.column] = request.sums[i];
    }
  }
  bool last = options.order == SumOrder::AccumulatorLast;
  for (int row = 0; row < 16; ++row) {
    float sum[8] = {};
    if (!last)
      std::memcpy(sum, sums[row], sizeof(sum));
    if (options.order == SumOrder::Pairs) {
      for (int k = 0; k < 16; k += 2)
        for (int n = 0; n < 8; ++n)
          sum[n] += a[row][k] * b[k][n] + a[row][k + 1] * b[k + 1][n];
    } else {
      for (int k : sumOrder)
        for (int n = 0; n < 8; ++n)
          sum[n] += a[row][k] * b[k][n];
    }
    for (int n = 0; n < 8; ++n)
      sums[row][n] = last ? sum[n] + sums[row][n] : sum[n];
  }
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place place = fragmentC(l, i);
      lanes[l].sums[i] = sums[place.row][place.column];
    }
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
  if (reinterpret_cast<uintptr_t>(p) % alignment == 0 &&
      globalMemory.allowed(p, bytes, access))
    return true;
  report("thread " + std::to_string(thread) + " leaves global memory: " +
         (access == Access::Read ? "reads " : "writes ") +
         std::to_string(bytes) + " bytes where nothing was allocated");
  return false;
}

void Machine::copyAsync(int thread, int offset, const void *source,
                        uint32_t bytes) {
  if (bytes && !globalAllowed(thread, source, bytes, Access::Read))
    bytes = 0;
  if (sharedMemory.beginCopy(thread, offset, ChunkBytes)) {
    threads[thread].copies.push_back({offset, bytes, source});
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
                                                       now};
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

uint32_t Machine::arrive(int thread, uint32_t *counter) {
  if (!globalAllowed(thread, counter, sizeof(*counter), Access::Write))
    return 0;
  ThreadClock &clock = clocks[thread];
  BlockClocks &published = globalMemory.counter(counter);
  join(clock.acquired, published);
  join(published, clock.fenced);
  return (*counter)++;
}

void Machine::reportDeadlock() {
  auto line = [&](int t) {
    return warps[t / WarpLanes].requests[t % WarpLanes].line;
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
        (thread.waiting != Waiting::Warp ||
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
