//===- Output.h - Results of rows -------------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_OUTPUT_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_OUTPUT_H

#include "Rows.h"

namespace kv::cuda {

/// Where the results of a unit's rows go, and what they end with.
template <Block B, class C> class Output {
public:
  KV_BODY Output(B &b, const AttentionParams &p) : b(b), p(p) {}

  KV_BODY kv::plan::Softmax sinkOf(const Rows<B, C> &rows, int row) const {
    if (!p.sinks)
      return kv::plan::Softmax();
    return {b.load(p.sinks + rows.queryHeadOf(row)) * kv::plan::Log2E, 1.0f};
  }
  /// Two elements of a row's result.
  KV_BODY void storeOut(int64_t place, int column, float low,
                        float high) const {
    auto *out = static_cast<typename C::Query *>(p.out) + place + column;
    b.store(reinterpret_cast<uint32_t *>(out),
            narrowPair<typename C::Query>(low, high));
  }
  KV_BODY void storeLogOfSum(const Rows<B, C> &rows, int row,
                             const kv::plan::Softmax &state) const {
    if (p.lse)
      b.store(p.lse + rows.tokenOf(row) * p.lseTokenStride +
                  rows.queryHeadOf(row) * p.lseHeadStride,
              kv::plan::logOfSum(state));
  }

private:
  B &b;
  const AttentionParams &p;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_OUTPUT_H
