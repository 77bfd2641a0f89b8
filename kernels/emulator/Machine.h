//===- Machine.h - Runs a kernel body's blocks ------------------*- C++ -*-===//
//
// Blocks run one after the other, in an order that the options choose; a
// block's threads are fibers that run until they need each other. A copy lands
// only when no thread can run any more. If no thread can go on, a deadlock is
// reported, with what each thread waits for.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_MACHINE_H
#define KV_KERNELS_EMULATOR_MACHINE_H

#include "kernels/block/Block.h"
#include "kernels/emulator/base/Fiber.h"
#include "kernels/emulator/base/GlobalMemory.h"
#include "kernels/emulator/base/MatrixUnit.h"
#include "kernels/emulator/base/SharedMemory.h"

#include <bit>
#include <memory>
#include <random>
#include <source_location>

namespace kv::cuda {

/// In which order runnable threads go on.
enum class Schedule { LatestFirst, OldestFirst, Random };

struct MachineOptions {
  Schedule schedule = Schedule::LatestFirst;
  SumOrder order = usualOrder();
  uint32_t seed = 1;
  bool detectRaces = true;
  int sm = 90;  // whose shapes the twins have, as AttentionKernel
  int chip = 0; // whose products (FusedSum.h); 0: sm's
};

/// Where shared memory begins for instructions, which is not where a kernel's
/// own does.
constexpr uint32_t SharedBase = AtomBytes;

/// A launch of a kernel.
struct LaunchShape {
  int blocks, threads, sharedBytes;
  /// A thread's, as it is compiled. A kernel whose warps have roles says it:
  /// its accesses are watched by clocks, and it may use what is there from
  /// sm_90a on. 0: one that knows the barrier of the whole block alone.
  int registers = 0;
  /// Blocks that run together and see one another's shared memory; divides
  /// `blocks`. Such launches say their registers.
  int cluster = 1;
  /// The only chip that has the kernel, by its number; 0: the options'.
  int chip = 0;
};

/// The collective operations of a warp.
enum class WarpOperation {
  Shuffle,
  LoadMatrix,
  LoadTransposed,
  StoreMatrix,
  MultiplyAdd
};

/// An operation of a warp, as a lane sees it.
struct WarpRequest {
  unsigned what;   // the operation, and where in the body
  int argument;    // shuffle mask, shared byte offset, or a MatrixElement
  uint32_t *words; // in and out
  float *sums;

  static constexpr unsigned Operations = 5;
  WarpOperation operation() const { return WarpOperation(what % Operations); }
  unsigned line() const { return what / Operations; }
};

/// Threads that can go on, each at most once. Who is next is known while the
/// one before still runs.
class RunQueue {
public:
  void reset(int threads, Schedule order, uint32_t seed) {
    size_t capacity = std::bit_ceil(size_t(threads));
    ring.resize(std::max(ring.size(), capacity));
    first = count = 0;
    schedule = order;
    random.seed(seed);
  }
  void push(int thread) { at(count++) = thread; }
  bool empty() const { return count == 0; }
  int next() {
    return schedule == Schedule::LatestFirst ? at(count - 1) : at(0);
  }
  int pop() {
    int thread = next();
    --count;
    if (schedule == Schedule::LatestFirst)
      return thread;
    ++first;
    if (schedule == Schedule::Random && count)
      std::swap(at(0), at(int(uint64_t(random()) * uint64_t(count) >> 31)));
    return thread;
  }

private:
  int &at(int i) { return ring[(first + i) & (ring.size() - 1)]; }

  std::vector<int> ring; // a power of two
  size_t first = 0;
  int count = 0;
  Schedule schedule = Schedule::OldestFirst;
  std::minstd_rand random;
};

struct AsyncBlock;

class Machine {
public:
  explicit Machine(MachineOptions options = {});
  ~Machine();

  GlobalMemory &global() { return globalMemory; }
  /// The first few problems so far.
  const std::vector<std::string> &reports() const { return problems; }
  void report(std::string text);
  /// What is said behind each report: where in its program a thread is.
  void describePlaces(std::function<std::string(int thread)> describe) {
    placeOf = std::move(describe);
  }
  /// The thread goes no further.
  [[noreturn]] void reportView(int thread, int count, int index);

  /// Runs `body(machine, thread)` in every thread of every block.
  void launch(const LaunchShape &shape,
              const std::function<void(Machine &, int)> &body);
  void launch(int blocks, int threads, int sharedBytes,
              const std::function<void(Machine &, int)> &body) {
    launch({blocks, threads, sharedBytes}, body);
  }

  // Members that CpuBlock calls, from inside a fiber.
  int sm() const { return options.sm; }
  // Threads and bytes of shared memory are numbered within their cluster.
  int block(int thread) const { return currentBlock + rankOf(thread); }
  int rankOf(int thread) const {
    return shape.cluster == 1 ? 0 : thread / shape.threads;
  }
  /// Where the shared memory of a block of the cluster begins.
  int partBegin(int rank) const { return rank * partBytes; }
  int clusterBlocks() const { return shape.cluster; }
  int blocks() const { return shape.blocks; }
  void sync(int thread) {
    if (shape.cluster == 1) [[likely]]
      syncAll(thread);
    else
      syncPart(thread);
  }
  /// All threads of the cluster.
  void syncAll(int thread);
  void collective(int thread, WarpOperation operation, unsigned line,
                  int argument, uint32_t *words, float *sums = nullptr) {
    request(thread, line * WarpRequest::Operations + unsigned(operation),
            argument, words, sums);
  }
  void sharedRead(int thread, int offset, int bytes, void *target);
  void sharedWrite(int thread, int offset, int bytes, const void *source);
  bool globalAllowed(int thread, const void *p, size_t bytes, Access access);
  /// Accesses that a block's own cache may answer: not of what others store.
  bool plainLoad(int thread, const void *p, size_t bytes);
  bool plainStore(int thread, void *p, size_t bytes);
  void copyAsync(int thread, int offset, int64_t address);
  void commit(int thread);
  void wait(int thread, int pending);
  void loadScratch(int thread, const void *p, size_t bytes, void *target);
  void storeScratch(int thread, void *p, size_t bytes, const void *source);
  uint32_t arrive(int thread, uint32_t *counter, uint32_t count, Order order);
  /// The hardware of sm_90a and later; a launch that names no registers is
  /// reported.
  AsyncBlock &async();
  bool hasRoles() const { return shape.registers > 0; }
  /// Checks that a stored value is not of an accumulator that was not waited
  /// for.
  void checkFinished(int thread, const void *data, size_t bytes);

  // Members that the parts of an AsyncBlock call.
  unsigned char *sharedData() const { return sharedMemory.data(); }
  int sharedBytes() const { return shape.sharedBytes; }
  bool watches() const { return options.detectRaces; }
  int threadsOfBlock() const { return shape.threads; }
  /// Whether the bytes lie in one block's shared memory; says so, if not.
  bool contains(int thread, int offset, int bytes);
  /// Whether all threads of a block have left.
  bool hasLeft(int rank) const;
  /// tile.sums += A B, as the chip does it that the launch is for.
  void multiplyAdd(MatrixTile &tile, MatrixElement element,
                   MatrixInstruction instruction) const {
    int chip = shape.chip     ? shape.chip
               : options.chip ? options.chip
                              : options.sm;
    matrices.multiplyAdd(tile, element, fusedSumOf(chip, instruction, element));
  }
  /// The running thread stops, until resume() and the schedule let it go on.
  void yield() { fibers.switchTo(takeRunnable()); }
  void resume(int thread) { makeRunnable(thread); }
  /// Chooses one of `count` things that wait, the oldest first.
  int choose(int count);

private:
  /// How accesses of shared memory are watched.
  enum class Watch { Nothing, Barriers, Clocks };
  /// A thread that cannot run and waits for none of these waits for its warp,
  /// or for what its AsyncBlock says.
  enum class Waiting { No, Barrier, Copies };
  struct Copy {
    int offset;
    const void *source; // null: zeros
  };
  struct Thread {
    Waiting waiting = Waiting::No;
    int pendingAllowed = 0;
    std::vector<Copy> copies; // in flight, the oldest first
    std::vector<int> groups;  // how many of them in each committed group
    int open = 0;             // and in none yet
  };
  struct Warp {
    int waiting = 0;
    unsigned what = 0;
    bool mixed = false; // two lanes ask for different things
    WarpRequest requests[WarpLanes] = {};
  };

  void runBlock(const std::function<void(Machine &, int)> &body);
  void makeRunnable(int thread);
  int takeRunnable();
  bool landCopies();
  void releaseBarrier();
  void request(int thread, unsigned what, int argument, uint32_t *words,
               float *sums);
  void executeWarp(int warp, int thread);
  void executeShuffle(WarpRequest *lanes);
  template <bool Transposed> void executeLoad(int warp);
  void executeStore(int warp);
  void executeMultiplyAdd(WarpRequest *lanes);
  /// Whether what the writer did happened before what the thread does.
  bool isOrdered(int thread, const GlobalMemory::Writer &writer) const;
  void checkScratch(int thread, const void *p);
  Moment momentOf(int thread) const;
  void sharedReadByClocks(int thread, int offset, int bytes, void *target);
  void sharedWriteByClocks(int thread, int offset, int bytes,
                           const void *source);
  void syncPart(int thread);
  std::string waitsFor(int thread) const;
  void fence(int thread);
  void reportDeadlock();

  MachineOptions options;
  std::mt19937 random;
  Fibers fibers;
  SharedMemory sharedMemory;
  GlobalMemory globalMemory;
  std::vector<std::string> problems;
  std::function<std::string(int)> placeOf;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  RunQueue runnable;
  MatrixUnit matrices;
  LaunchShape shape{};
  Watch watch = Watch::Barriers;
  std::unique_ptr<AsyncBlock> asyncBlock; // from the first launch with roles on
  int currentBlock = 0;                   // the first one of its cluster
  int threadCount = 0;                    // of a cluster
  int partBytes = 0; // from a block's shared memory to the next one's
  int atBarrier = 0;

  Moment now = 0, lastBarrier = 0;
  BlockClocks known; // of other blocks, since the last barrier by all threads
  std::map<int, ThreadClock> clocks; // of threads that fenced or arrived
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_MACHINE_H
