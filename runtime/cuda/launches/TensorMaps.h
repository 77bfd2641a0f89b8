//===- TensorMaps.h - Tensors that kernels copy by tiles --------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H
#define KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H

#include "kernels/block/TensorMap.h"
#include "runtime/cuda/driver/Driver.h"

namespace kv::cuda {

/// Makes a kernel's map of a tensor, by a driver that has tensorMapEncodeTiled.
/// Returns the driver's status; problemOf() of the tensor says why a driver
/// might refuse it.
driver::Result encodeTensor(const driver::Driver &api,
                            const TensorDescription &tensor, TensorMap &map);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_LAUNCHES_TENSORMAPS_H
