//===- TensorOperands.h - Operands of tensor memory -------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSOROPERANDS_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSOROPERANDS_H

#include "kernels/cuda/attention/common/Works.h"
#include "kernels/cuda/parameters/LatentTensor.h"

namespace kv::cuda {

/// The part of an operand that begins at a byte of shared memory.
template <class C, TensorBlock B>
KV_BODY TensorDescriptor operandAt(B &b, int offset) {
  return encodeTensor({b.sharedAddress(offset), C::SlabBytes, AtomBytes});
}

/// A product of a tile's rows with `columns` columns.
template <class C, int Rows>
KV_BODY constexpr TensorInstruction instruction(Major majorB, int columns) {
  return encode(
      TensorProduct{TensorFormat<typename C::Product>, majorB, columns, Rows});
}

/// A tile of a ring: keys and values take turns.
template <int Stages> struct RingCursor {
  int stage = 0, phase = 0;
  KV_BODY void move(int count) {
    stage += count;
    if (stage >= Stages) {
      stage -= Stages;
      phase ^= 1;
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSOROPERANDS_H
