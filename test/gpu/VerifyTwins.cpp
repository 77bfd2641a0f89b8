//===- VerifyTwins.cpp - Kernels of tests on a CPU ------------------------===//

#include "VerifyTwins.h"
#include "../../kernels/cuda/emulator/CpuTensorBlock.h"
#include "../kernels/InstructionTwins.h"
#include "TensorProbe.h"
#include "VerifyKernels.h"

#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

static void makeNoise(const NoiseParams &p) {
  withElement(p.type, [&]<class T>(T) {
    for (int64_t i = 0; i < p.count; ++i)
      static_cast<T *>(p.out)[i] = narrow<T>(noiseAt(p, i));
  });
}

template <class T> static void multiply(const ProbeParams &p) {
  int k = p.k * int(sizeof(*p.a) / sizeof(T));
  const T *a = reinterpret_cast<const T *>(p.a),
          *b = reinterpret_cast<const T *>(p.b);
  for (int row = 0; row < ProbeRows; ++row)
    for (int column = 0; column < p.n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum += widen(a[row * k + i]) * widen(b[column * k + i]);
      p.out[row * p.n + column] = sum;
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
    if (name.ends_with("_e4m3"))
      multiply<F8E4M3>(p);
    else
      multiply<Bf16>(p);
  } else {
    return false;
  }
  return true;
}
