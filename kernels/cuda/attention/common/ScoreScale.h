//===- ScoreScale.h - From products to powers of two ------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_SCORESCALE_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_SCORESCALE_H

#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/AttentionTiles.h"

namespace kv::cuda {

/// Right to about 1e-7. The GPU's own approximation is off by 2^-11 of the
/// result, which a soft cap of 50 makes two percent of a weight.
KV_BODY float hyperbolicTangent(float x) {
  float power = kv::plan::powerOfTwo(x * (2 * kv::plan::Log2E));
  return kv::plan::fusedMultiplyAdd(-2.0f, kv::plan::reciprocal(power + 1),
                                    1.0f);
}

/// The factor of the products of a query and a key.
template <Block B, class C> class ScoreScale {
public:
  KV_BODY ScoreScale(B &b, const AttentionParams &p) : b(b), p(p) {
    comesFirst = p.softcap > 0 || !(p.scale > 0);
    toLog2 = comesFirst ? kv::plan::Log2E : p.scale * kv::plan::Log2E;
  }

  /// A row's scores are its products times this.
  KV_BODY float scoreFactor(int row) const {
    return C::Widens ? view<C, slot::QueryScales, float>(b).load(row) : 1.0f;
  }
  /// The factor by which a row's scores become the exponents of weights.
  KV_BODY float powerFactor(int row) const {
    return comesFirst ? logFactor() : logFactor() * scoreFactor(row);
  }
  /// The factor of a score before its soft cap, without scoreFactor().
  KV_BODY float before() const {
    return p.softcap > 0 ? p.scale / p.softcap : p.scale;
  }

  B &b;
  const AttentionParams &p;
  /// Whether scores are scaled before their maxima: a soft cap is none of a
  /// power, and a scale that is not positive would turn their order.
  bool comesFirst;
  float toLog2; // what they are multiplied by then

private:
  KV_BODY float logFactor() const {
    // Computed anew: leaves have no register for it.
    if constexpr (TileRows<C> && ByteProducts<C>)
      return comesFirst ? kv::plan::Log2E : p.scale * kv::plan::Log2E;
    else
      return toLog2;
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_SCORESCALE_H
