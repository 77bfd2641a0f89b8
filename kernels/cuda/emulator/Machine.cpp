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
  sharedMemory.reset(sharedSize, threadCount,
                     [this](std::string text) { report(std::move(text)); });
  threads.assign(threadCount, Thread());
  runnable.clear();
  atBarrier = 0;
  for (int t = 0; t < threadCount; ++t) {
    threads[t].clock.own.assign(threadCount, 0);
    threads[t].clock.own[t] = 1;
    threads[t].groups.resize(1);
    runnable.push_back(t);
  }
  fibers.start(threadCount, [&](int t) { body(*this, t); });
  while (true) {
    while (!runnable.empty())
      fibers.resume(takeRunnable());
    if (!landOne())
      break;
  }
  bool stuck = false;
  for (int t = 0; t < threadCount; ++t)
    stuck |= !fibers.finished(t);
  if (stuck)
    return reportDeadlock();
  for (int t = 0; t < threadCount; ++t)
    for (const std::vector<Copy> &group : threads[t].groups)
      if (!group.empty())
        return report("thread " + std::to_string(t) +
                      " leaves with a copy under way");
}

void Machine::makeRunnable(int thread) {
  threads[thread].waiting = Waiting::No;
  runnable.push_back(thread);
}

int Machine::takeRunnable() {
  if (options.schedule == Schedule::Random)
    std::swap(runnable[random() % runnable.size()], runnable.back());
  int thread;
  if (options.schedule == Schedule::OldestFirst) {
    thread = runnable.front();
    runnable.pop_front();
  } else {
    thread = runnable.back();
    runnable.pop_back();
  }
  return thread;
}

/// Lets the copies land that one thread waits for.
bool Machine::landOne() {
  std::vector<int> waiting;
  for (int t = 0; t < threadCount; ++t)
    if (threads[t].waiting == Waiting::Copies)
      waiting.push_back(t);
  if (waiting.empty())
    return false;
  // All at once: they are independent, and nobody could run in between.
  for (int t : waiting) {
    Thread &thread = threads[t];
    while (int(thread.groups.size()) - 1 > thread.pendingAllowed) {
      for (const Copy &copy : thread.groups.front())
        sharedMemory.landCopy(t, thread.clock.own, copy.offset, copy.source,
                              ChunkBytes, copy.bytes);
      thread.groups.erase(thread.groups.begin());
    }
    makeRunnable(t);
  }
  return true;
}

void Machine::sync(int thread) {
  threads[thread].waiting = Waiting::Barrier;
  if (++atBarrier == threadCount)
    releaseBarrier();
  else
    fibers.yield();
}

void Machine::releaseBarrier() {
  atBarrier = 0;
  ClockVector joined(threadCount);
  BlockClocks others;
  for (Thread &thread : threads) {
    join(joined, thread.clock.own);
    join(others, thread.clock.others);
  }
  for (int t = 0; t < threadCount; ++t) {
    threads[t].clock.own = joined;
    ++threads[t].clock.own[t];
    if (!others.empty())
      threads[t].clock.others = others;
    makeRunnable(t);
  }
  // The caller is running: it yields like everybody, so that the schedule
  // decides who goes first.
  fibers.yield();
}

void Machine::collective(int thread, const WarpRequest &request) {
  Thread &self = threads[thread];
  self.request = request;
  self.waiting = Waiting::Warp;
  int warp = thread / WarpLanes;
  Thread *lanes = &threads[warp * WarpLanes];
  for (int l = 0; l < WarpLanes; ++l)
    if (lanes[l].waiting != Waiting::Warp ||
        lanes[l].request.kind != request.kind ||
        lanes[l].request.line != request.line)
      return fibers.yield();
  executeWarp(warp);
  for (int l = 0; l < WarpLanes; ++l)
    if (warp * WarpLanes + l != thread)
      makeRunnable(warp * WarpLanes + l);
  self.waiting = Waiting::No;
}

void Machine::executeWarp(int warp) {
  Thread *lanes = &threads[warp * WarpLanes];
  switch (lanes[0].request.kind) {
  case WarpRequest::None:
    break;
  case WarpRequest::Shuffle:
    return executeShuffle(lanes);
  case WarpRequest::LoadMatrix:
    return executeLoad(warp, lanes, false);
  case WarpRequest::LoadTransposed:
    return executeLoad(warp, lanes, true);
  case WarpRequest::MultiplyAdd:
    return executeMultiplyAdd(lanes);
  }
}

void Machine::executeShuffle(Thread *lanes) {
  uint32_t values[WarpLanes];
  for (int l = 0; l < WarpLanes; ++l)
    values[l] = *lanes[l].request.words;
  for (int l = 0; l < WarpLanes; ++l)
    *lanes[l].request.words = values[l ^ lanes[l].request.argument];
}

void Machine::executeLoad(int warp, Thread *lanes, bool transposed) {
  uint16_t rows[WarpLanes][8];
  for (int l = 0; l < WarpLanes; ++l)
    sharedRead(warp * WarpLanes + l, lanes[l].request.argument, ChunkBytes,
               rows[l]);
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      uint32_t halves[2];
      for (int half = 0; half < 2; ++half) {
        Place place = matrixElement(l, half, transposed);
        halves[half] = rows[i * 8 + place.row][place.column];
      }
      lanes[l].request.words[i] = halves[0] | halves[1] << 16;
    }
}

/// Bf16 has argument 0, F16 has 1.
static float widenAs(int type, uint32_t pair, int half) {
  return type == 0 ? widenHalf<Bf16>(pair, half) : widenHalf<F16>(pair, half);
}

void Machine::executeMultiplyAdd(Thread *lanes) {
  float a[16][16], b[16][8], sums[16][8];
  for (int l = 0; l < WarpLanes; ++l) {
    const WarpRequest &request = lanes[l].request;
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i) {
        Place place = fragmentA(l, i, half);
        a[place.row][place.column] =
            widenAs(request.argument, request.words[i], half);
      }
      for (int i = 0; i < 2; ++i) {
        Place place = fragmentB(l, i, half);
        b[place.row][place.column] =
            widenAs(request.argument, request.words[4 + i], half);
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
      lanes[l].request.sums[i] = sums[place.row][place.column];
    }
}

void Machine::sharedRead(int thread, int offset, int bytes, void *target) {
  if (options.detectRaces &&
      !sharedMemory.read(thread, threads[thread].clock.own, offset, bytes))
    return void(std::memset(target, 0xff, bytes));
  std::memcpy(target, sharedMemory.data() + offset, bytes);
}

void Machine::sharedWrite(int thread, int offset, int bytes,
                          const void *source) {
  if (!options.detectRaces ||
      sharedMemory.write(thread, threads[thread].clock.own, offset, bytes))
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
  if (sharedMemory.beginCopy(thread, threads[thread].clock.own, offset,
                             ChunkBytes))
    threads[thread].groups.back().push_back({offset, source, bytes});
}

void Machine::commit(int thread) { threads[thread].groups.emplace_back(); }

void Machine::wait(int thread, int pending) {
  Thread &self = threads[thread];
  if (int(self.groups.size()) - 1 <= pending)
    return;
  self.pendingAllowed = pending;
  self.waiting = Waiting::Copies;
  fibers.yield();
}

void Machine::loadScratch(int thread, const void *p, size_t bytes,
                          void *target) {
  if (!globalAllowed(thread, p, bytes, Access::Read))
    return void(std::memset(target, 0xff, bytes));
  std::string writer;
  for (size_t i = 0; i < bytes; i += sizeof(float))
    if (!globalMemory.scratchKnown(static_cast<const char *>(p) + i,
                                   currentBlock, threads[thread].clock, writer))
      report("race: thread " + std::to_string(thread) +
             " reads scratch unordered with the write of " + writer);
  std::memcpy(target, p, bytes);
}

void Machine::storeScratch(int thread, void *p, size_t bytes,
                           const void *source) {
  if (!globalAllowed(thread, p, bytes, Access::Write))
    return;
  for (size_t i = 0; i < bytes; i += sizeof(float))
    globalMemory.scratchWritten(static_cast<char *>(p) + i, currentBlock,
                                thread, threads[thread].clock.own[thread]);
  std::memcpy(p, source, bytes);
}

void Machine::fence(int thread) {
  ThreadClock &clock = threads[thread].clock;
  join(clock.others, clock.acquired);
  clock.acquired.clear();
  clock.fenced = clock.others;
  clock.fenced[currentBlock] = clock.own;
  ++clock.own[thread];
}

uint32_t Machine::arrive(int thread, uint32_t *counter) {
  if (!globalAllowed(thread, counter, sizeof(*counter), Access::Write))
    return 0;
  ThreadClock &clock = threads[thread].clock;
  BlockClocks &published = globalMemory.counter(counter);
  join(clock.acquired, published);
  join(published, clock.fenced);
  return (*counter)++;
}

void Machine::reportDeadlock() {
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
         (threads[t - 1].request.line == thread.request.line &&
          t % WarpLanes != 0)))
      continue;
    if (++listed > 6)
      continue;
    text += " thread " + std::to_string(t) + " waits ";
    if (thread.waiting == Waiting::Barrier)
      text += "at a barrier;";
    else
      text +=
          "for its warp at line " + std::to_string(thread.request.line) + ";";
  }
  report(text + " " + std::to_string(left) + " threads have left");
}
