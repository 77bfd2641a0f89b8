//===- CpuBlock.h - A block on a CPU ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_CPUBLOCK_H
#define KV_KERNELS_EMULATOR_CPUBLOCK_H

#include "AsyncBlock.h"
#include "Machine.h"
#include "kernels/emulator/base/Earlier.h"

#include <type_traits>

namespace kv::cuda {

/// One fiber's view of its block; see Block.h.
class CpuBlock {
public:
  template <class T> struct Shared {
    Machine *machine;
    int thread_, offset, count;

    T load(int i) const {
      T x;
      machine->sharedRead(thread_, place(i), sizeof(T), &x);
      return x;
    }
    void store(int i, T x) const {
      machine->sharedWrite(thread_, place(i), sizeof(T), &x);
    }
    int place(int i) const {
      if (i < 0 || i >= count) [[unlikely]]
        machine->reportView(thread_, count, i);
      return offset + i * int(sizeof(T));
    }
  };

  CpuBlock(Machine &machine, int thread)
      : machine(machine), self(thread), rank(machine.rankOf(thread)),
        own(thread - rank * machine.threadsOfBlock()),
        begin(machine.partBegin(rank)) {}

  int thread() const { return own; }
  int block() const { return machine.block(self); }
  int blocks() const { return machine.blocks(); }
  bool waitForEarlier() { return EarlyRun::passWait(); }
  void letLaterBegin() {}
  void sync() { machine.sync(self); }

  template <class T> Shared<T> shared(int offset, int count) const {
    return {&machine, self, begin + offset, count};
  }

  template <class T> T load(const T *p) const {
    if (machine.plainLoad(self, p, sizeof(T)))
      return *p;
    return T();
  }
  template <class T> void store(T *p, T x) const {
    if (machine.hasRoles())
      machine.checkFinished(self, &x, sizeof(T));
    if (machine.plainStore(self, p, sizeof(T)))
      *p = x;
  }
  template <class T> T loadScratch(const T *p) const {
    T x;
    machine.loadScratch(self, p, sizeof(T), &x);
    return x;
  }
  template <class T> void storeScratch(T *p, T x) const {
    machine.storeScratch(self, p, sizeof(T), &x);
  }
  template <Order order> uint32_t arrive(uint32_t *counter, uint32_t count) {
    return machine.arrive(self, counter, count, order);
  }
  void storeLargest(uint64_t *p, uint64_t x) const {
    if (machine.globalAllowed(self, p, sizeof(x), Access::Write) && *p < x)
      *p = x;
  }

  void copyAsync(Shared<Chunk> target, int index, int64_t address,
                 int further = 0) {
    machine.copyAsync(self, target.place(index),
                      address < 0 ? address : address + further);
  }
  void commit() { machine.commit(self); }
  template <int Pending> void wait() { machine.wait(self, Pending); }

  float shuffleXor(float x, int mask,
                   std::source_location at = std::source_location::current()) {
    uint32_t word = bitsAs<uint32_t>(x);
    machine.collective(self, WarpOperation::Shuffle, at.line(), mask, &word);
    return bitsAs<float>(word);
  }
  int uniform(int i,
              std::source_location at = std::source_location::current()) {
    // Each lane takes what lane 0 has.
    uint32_t word = bitsAs<uint32_t>(i);
    machine.collective(self, WarpOperation::Shuffle, at.line(),
                       self % WarpLanes, &word);
    if (bitsAs<int>(word) != i)
      machine.report("thread " + std::to_string(self) +
                     " has another uniform() number than its warp");
    return i;
  }
  void loadMatrix(uint32_t (&r)[4], Shared<Chunk> from, int row,
                  std::source_location at = std::source_location::current()) {
    machine.collective(self, WarpOperation::LoadMatrix, at.line(),
                       from.place(row), r);
  }
  void loadMatrixTransposed(
      uint32_t (&r)[4], Shared<Chunk> from, int row,
      std::source_location at = std::source_location::current()) {
    machine.collective(self, WarpOperation::LoadTransposed, at.line(),
                       from.place(row), r);
  }
  void storeMatrix(const uint32_t (&r)[4], Shared<Chunk> to, int row,
                   std::source_location at = std::source_location::current()) {
    uint32_t words[4] = {r[0], r[1], r[2], r[3]};
    machine.collective(self, WarpOperation::StoreMatrix, at.line(),
                       to.place(row), words);
  }
  template <class T>
  void multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                   uint32_t b1,
                   std::source_location at = std::source_location::current()) {
    uint32_t words[6] = {a[0], a[1], a[2], a[3], b0, b1};
    machine.collective(self, WarpOperation::MultiplyAdd, at.line(),
                       int(MatrixElementOf<T>), words, c);
  }

  //===--- From sm_90a on -------------------------------------------------===//

  struct SharedBarrier {
    int offset;
  };
  uint32_t sharedAddress(int offset) const { return SharedBase + offset; }
  SharedBarrier barrier(int offset) const { return {begin + offset}; }
  void init(SharedBarrier bar, int arrivals) {
    machine.async().barriers.init(self, bar.offset, arrivals);
  }
  void fenceInit() { machine.async().barriers.fenceInit(self); }
  void arriveAt(SharedBarrier bar) {
    machine.async().barriers.arrive(self, bar.offset);
  }
  void expectBytes(SharedBarrier bar, int bytes) {
    machine.async().barriers.expectBytes(self, bar.offset, bytes);
  }
  void awaitPhase(SharedBarrier bar, int parity) {
    machine.async().barriers.awaitPhase(self, bar.offset, parity);
  }
  void atLeaf(int) const {}
  void copyTile(const TensorMap &map, int offset, const TileAt &from,
                SharedBarrier bar) {
    machine.async().boxes.copy(self, &map, begin + offset, from, bar.offset);
  }
  void fenceAsync() { machine.async().clocks.fence(self); }
  void syncWarp() { machine.async().named.syncWarp(self); }
  void syncNamed(int id, int threads) {
    machine.async().named.sync(self, id, threads);
  }
  void arriveNamed(int id, int threads) {
    machine.async().named.arrive(self, id, threads);
  }
  template <int Count>
  void registersUp(std::source_location at = std::source_location::current()) {
    machine.async().registers.change(self, Count, /*up=*/true, at.line());
  }
  template <int Count>
  void
  registersDown(std::source_location at = std::source_location::current()) {
    machine.async().registers.change(self, Count, /*up=*/false, at.line());
  }

  template <int Tiles> void forget(float (&acc)[Tiles][4]) const {
    std::fill_n(acc[0], Tiles * 4, bitsAs<float>(ForgottenSum));
  }
  template <class... Registers> void fenceProducts(Registers &...x) {
    NamedRegisters named[] = {{&x, int(sizeof(x) / 4)}..., {}};
    machine.async().products.fence(self, named, sizeof...(x));
  }
  template <class T, Major MajorB, int Tiles>
    requires Multiplied<T, MajorB>
  void
  multiplyGroup(float (&acc)[Tiles][4], Descriptor a, Descriptor b,
                bool accumulates,
                std::source_location at = std::source_location::current()) {
    machine.async().products.multiply(self, {acc[0], Tiles, nullptr, a, b,
                                             MajorB, accumulates,
                                             MatrixElementOf<T>, at.line()});
  }
  template <class T, Major MajorB, int Tiles>
    requires Multiplied<T, MajorB>
  void
  multiplyGroup(float (&acc)[Tiles][4], const uint32_t (&a)[4], Descriptor b,
                bool accumulates,
                std::source_location at = std::source_location::current()) {
    machine.async().products.multiply(self, {acc[0],
                                             Tiles,
                                             a,
                                             {},
                                             b,
                                             MajorB,
                                             accumulates,
                                             MatrixElementOf<T>,
                                             at.line()});
  }
  void commitProducts() { machine.async().products.commit(self); }
  template <int Pending, class... Accumulators>
  void awaitProducts(Accumulators &...acc) {
    NamedRegisters named[] = {{&acc, int(sizeof(acc) / 4)}..., {}};
    machine.async().products.await(self, Pending, named, sizeof...(acc));
  }

  //===--- Of clusters ----------------------------------------------------===//

  int clusterRank() const { return rank; }
  int clusterBlocks() const { return machine.clusterBlocks(); }
  void syncCluster() { machine.syncAll(self); }
  SharedBarrier remote(SharedBarrier bar, int to) {
    bool there = machine.async().cluster.touch(self, to);
    return {there ? bar.offset + distanceTo(to) : bar.offset};
  }
  void releaseAt(SharedBarrier bar, int to, bool arrives) {
    if (arrives)
      arriveAt(remote(bar, to));
  }
  template <class T> void storeRemote(Shared<T> view, int to, int i, T x) {
    static_assert(sizeof(T) == 4);
    AsyncBlock &async = machine.async();
    if (async.cluster.touch(self, to))
      async.cluster.store(self, view.place(i) + distanceTo(to), sizeof(T), &x);
  }
  void copyTileTo(uint32_t blocks, const TensorMap &map, int offset,
                  const TileAt &from, SharedBarrier bar) {
    AsyncBlock &async = machine.async();
    for (int to = 0; blocks >> to; ++to)
      if (blocks >> to & 1 && async.cluster.touch(self, to))
        async.boxes.copy(self, &map, begin + offset + distanceTo(to), from,
                         bar.offset + distanceTo(to));
  }

protected:
  Machine &machine;
  int self; // within its cluster

private:
  int distanceTo(int to) const { return machine.partBegin(to) - begin; }

  int rank;  // of its block
  int own;   // within that
  int begin; // of that one's shared memory
};

static_assert(ClusterBlock<CpuBlock>);

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_CPUBLOCK_H
