//===- VerifyTwins.cpp - Kernels of tests on a CPU ------------------------===//

#include "VerifyTwins.h"
#include "TensorProbe.h"
#include "VerifyKernels.h"
#include "kernels/emulator/CpuTensorBlock.h"
#include "test/kernels/instructions/InstructionTwins.h"

#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

static void makeNoise(const NoiseParams &p) {
  withElement(p.type, [&]<class T>(T) {
    for (int64_t i = 0; i < p.count; ++i)
      static_cast<T *>(p.out)[i] = narrow<T>(noiseAt(p, i));
  });
}

/// A probe's product: words of k, of which a step has eight.
template <class T>
static void multiply(Machine &machine, const ProbeParams &p,
                     MatrixInstruction instruction) {
  auto wordOf = [&](const uint16_t *matrix, int row, int k) {
    uint32_t word;
    std::memcpy(&word, matrix + row * p.k + k, sizeof(word));
    return word;
  };
  for (int row = 0; row < ProbeRows; row += 16)
    for (int column = 0; column < p.n; column += 8) {
      MatrixTile tile{};
      for (int k = 0; k < p.k; k += 16) {
        for (int i = 0; i < 16 * 8; ++i)
          tile.a[i] = wordOf(p.a, row + i / 8, k + i % 8 * 2);
        for (int i = 0; i < 8 * 8; ++i)
          tile.b[i] = wordOf(p.b, column + i % 8, k + i / 8 * 2);
        machine.multiplyAdd(tile, MatrixElementOf<T>, instruction);
      }
      for (int i = 0; i < 16 * 8; ++i)
        p.out[(row + i / 8) * p.n + column + i % 8] = tile.sums[i];
    }
}

template <int Rows>
static void multiplyTensor(Machine &machine, const ProbeParams &p) {
  machine.launch({.blocks = 1,
                  .threads = ProbeThreads,
                  .sharedBytes = TileInstructionSharedBytes,
                  .registers = RingRegisters},
                 [&](Machine &m, int thread) {
                   CpuTensorBlock b(CpuBlock(m, thread));
                   tensorProbeBody<Rows>(b, p);
                 });
}

bool kv::cuda::test::runVerifyTwin(Machine &machine, std::string_view name,
                                   int blocks, const void *params) {
  if (runInstruction(machine, name, blocks, params))
    return true;
  if (name == "kv_test_read" || name == "kv_test_flush")
    return true; // changes nothing
  if (name == "kv_test_copy") {
    const auto &p = *static_cast<const CeilingParams *>(params);
    std::memcpy(p.to, p.from, p.chunks * 16);
  } else if (name == "kv_test_noise") {
    makeNoise(*static_cast<const NoiseParams *>(params));
  } else if (name == "kv_test_clock") {
    // As if at 1 GHz.
    const auto &p = *static_cast<const ClockParams *>(params);
    p.out[0] = p.out[1] = p.cycles;
  } else if (name == "kv_test_tensor_64") {
    multiplyTensor<64>(machine, *static_cast<const ProbeParams *>(params));
  } else if (name == "kv_test_tensor_128") {
    multiplyTensor<128>(machine, *static_cast<const ProbeParams *>(params));
  } else if (const VerifyKernel *kernel = findVerifyKernel(name);
             kernel && kernel->image == "kv_probes") {
    const auto &p = *static_cast<const ProbeParams *>(params);
    auto instruction = name.starts_with("kv_test_chain")
                           ? MatrixInstruction::Mma
                           : MatrixInstruction::Wgmma;
    if (name.ends_with("_e4m3"))
      multiply<F8E4M3>(machine, p, instruction);
    else
      multiply<Bf16>(machine, p, instruction);
  } else {
    return false;
  }
  return true;
}
