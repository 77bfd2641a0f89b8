//===- TensorMaps.h - Tensors that kernels copy by tiles --------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H
#define KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H

#include "kernels/block/TensorMap.h"
#include "runtime/cuda/driver/Driver.h"

namespace kv::cuda {

/// What a kernel takes of a tensor, by a driver that has tensorMapEncodeTiled.
/// Returns what the driver says; problemOf() a tensor says why it might not
/// take it.
driver::Result encodeTensor(const driver::Driver &api,
                            const TensorDescription &tensor, TensorMap &map);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H
