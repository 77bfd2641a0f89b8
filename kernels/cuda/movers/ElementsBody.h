//===- ElementsBody.h - Programs of elementwise steps -----------*- C++ -*-===//
//
// Elementwise arithmetic of a model that no other mover does: activations,
// scales, caps. All threads of a launch are at the same step, so the branch to
// its code never diverges.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_ELEMENTSBODY_H
#define KV_KERNELS_CUDA_MOVERS_ELEMENTSBODY_H

#include "MoverBodies.h"

#include <cmath>

namespace kv::cuda {

KV_BODY void copyEight(float (&to)[Eight], const float (&from)[Eight]) {
  KV_UNROLL for (int j = 0; j < Eight; ++j)
    to[j] = from[j];
}

/// x = f(x, y)
template <class Function>
KV_BODY void change(float (&x)[Eight], const float (&y)[Eight], Function f) {
  KV_UNROLL for (int j = 0; j < Eight; ++j)
    x[j] = f(x[j], y[j]);
}

template <class B>
KV_BODY void elementwiseBody(B &b, const ElementwiseParams &p) {
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    float x[Eight] = {}, y[Eight] = {}, t[Eight] = {}, u[Eight] = {};
    for (int i = 0; i < p.count; ++i) {
      const ElementStep step = p.steps[i];
      if (step.op == ElementOp::Keep) {
        if (step.source == ElementSource::T) // of registers there is no address
          copyEight(t, x);
        else
          copyEight(u, x);
        continue;
      }
      switch (step.source) {
      case ElementSource::A:
        loadEight(b, p.a, row * p.aStride + column, p.aType, y);
        break;
      case ElementSource::B:
        loadEight(b, p.b, row * p.bStride + column, p.bType, y);
        break;
      case ElementSource::T:
        copyEight(y, t);
        break;
      case ElementSource::U:
        copyEight(y, u);
        break;
      case ElementSource::Number:
        change(y, y, [&](float, float) { return step.number; });
        break;
      case ElementSource::None:
        break;
      }
      switch (step.op) {
#define KV_ELEMENT_OP(name, spelling, source, value)                           \
  case ElementOp::name:                                                        \
    change(x, y, []([[maybe_unused]] float x, [[maybe_unused]] float y) {      \
      return value;                                                            \
    });                                                                        \
    break;
#include "kv/ABI/ElementOps.def"
      }
    }
    storeEight(b, p.out, row * p.outStride + column, p.outType, x);
  });
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_ELEMENTSBODY_H
