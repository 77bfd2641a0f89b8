//===- Experts.h - The order of choices that products take ------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_LAUNCHES_EXPERTS_H
#define KV_RUNTIME_CUDA_LAUNCHES_EXPERTS_H

#include "Movers.h"

namespace kv::cuda {

/// The operands of a product of experts, in addition to its rows and its
/// weight.
struct ExpertOrder {
  const int32_t *records;
  int32_t tiles, choicesPerRow;
};

/// Reads the order of the choices whose products are the rows of `out`, of
/// `xRows` rows each or of one for all choices. `weightRows`: those of all
/// experts. Returns false, with an error in the call, if they do not fit.
bool orderOf(Call &call, const KvTensorView &order, int64_t xRows,
             int64_t weightRows, const Rows &out, ExpertOrder &read);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_LAUNCHES_EXPERTS_H
