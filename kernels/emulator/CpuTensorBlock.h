//===- CpuTensorBlock.h - A block with tensor memory on a CPU ---*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_CPUTENSORBLOCK_H
#define KV_KERNELS_EMULATOR_CPUTENSORBLOCK_H

#include "CpuBlock.h"
#include "kernels/block/TensorBlock.h"
#include "kv/Definition/Fold.h"

namespace kv::cuda {

/// See TensorBlock.h; not of a cluster.
class CpuTensorBlock : public CpuBlock {
  using Place = std::source_location;

public:
  explicit CpuTensorBlock(const CpuBlock &b) : CpuBlock(b) {}

  bool elect() const { return self % WarpLanes == 0; }
  void allocateTensor(int offset, int columns, Place at = Place::current()) {
    memory().allocate(self, offset, columns, at.line());
  }
  void relinquishTensor(Place at = Place::current()) {
    memory().relinquish(self, at.line());
  }
  void freeTensor(TensorAddress address, int columns,
                  Place at = Place::current()) {
    memory().free(self, address, columns, at.line());
  }
  template <int Count>
  void loadTensor(float (&r)[Count], TensorAddress address,
                  Place at = Place::current()) {
    memory().load(self, address, r, Count, /*fragments=*/false, at.line());
  }
  template <int Tiles>
  void loadTensor(float (&r)[Tiles][4], TensorAddress address,
                  Place at = Place::current()) {
    memory().load(self, address, &r[0][0], Tiles * 4, /*fragments=*/true,
                  at.line());
  }
  template <class Registers>
  void awaitLoads(Registers &r, Place at = Place::current()) {
    NamedRegisters named = {&r, int(sizeof(r) / 4)};
    memory().awaitLoads(self, &named, 1, at.line());
  }
  template <class Registers, class Others>
  void awaitLoads(Registers &r, Others &others, Place at = Place::current()) {
    NamedRegisters named[] = {{&r, int(sizeof(r) / 4)},
                              {&others, int(sizeof(others) / 4)}};
    memory().awaitLoads(self, named, 2, at.line());
  }
  template <int Count>
  void storeTensor(TensorAddress address, const uint32_t (&r)[Count],
                   Place at = Place::current()) {
    memory().store(self, address, r, Count, at.line());
  }
  void awaitStores(Place at = Place::current()) {
    memory().awaitStores(self, at.line());
  }
  template <TensorKind Kind = TensorKind::F16>
  void multiplyTensor(TensorAddress d, TensorDescriptor a, TensorDescriptor b,
                      TensorInstruction instruction, bool accumulates,
                      Place at = Place::current()) {
    products().multiply(
        self, {d, false, {}, a, b, Kind, instruction, accumulates, at.line()});
  }
  template <TensorKind Kind = TensorKind::F16>
  void multiplyTensor(TensorAddress d, TensorAddress a, TensorDescriptor b,
                      TensorInstruction instruction, bool accumulates,
                      Place at = Place::current()) {
    products().multiply(
        self, {d, true, a, {}, b, Kind, instruction, accumulates, at.line()});
  }
  void commitTensor(SharedBarrier bar) { products().commit(self, bar.offset); }
  bool anyLane(bool condition) {
    float any = condition;
    for (int mask = 1; mask < WarpLanes; mask *= 2)
      any += shuffleXor(any, mask);
    return any > 0;
  }
  FloatPair multiply(FloatPair x, FloatPair y) const {
    return {kv::plan::multiply(x.x, y.x), kv::plan::multiply(x.y, y.y)};
  }
  FloatPair fusedMultiplyAdd(FloatPair x, FloatPair y, FloatPair z) const {
    return {kv::plan::fusedMultiplyAdd(x.x, y.x, z.x),
            kv::plan::fusedMultiplyAdd(x.y, y.y, z.y)};
  }
  void fenceBefore() { memory().fenceBefore(self); }
  void fenceAfter() { memory().fenceAfter(self); }

private:
  TensorMemory &memory() { return machine.async().tensor; }
  TensorProducts &products() { return machine.async().tensorProducts; }
};

static_assert(TensorBlock<CpuTensorBlock>);

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_CPUTENSORBLOCK_H
