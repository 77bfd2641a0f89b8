//===- TensorMaps.cpp - Tensors that kernels copy by tiles ----------------===//

#include "TensorMaps.h"

#include <cstring>

using namespace kv::cuda;

driver::Result kv::cuda::encodeTensor(const driver::Driver &api,
                                      const TensorDescription &tensor,
                                      TensorMap &map) {
  static constexpr unsigned Steps[TileDims] = {1, 1, 1, 1};
  driver::TensorMapWords words;
  driver::Result result = api.tensorMapEncodeTiled(
      &words, driver::TensorUint16, TileDims, const_cast<void *>(tensor.data),
      tensor.sizes, tensor.strides, tensor.box, Steps, driver::TensorPlain,
      tensor.plain ? driver::TensorNoSwizzle : driver::TensorSwizzle128,
      driver::TensorFetch256, driver::TensorZeros);
  static_assert(sizeof(map) == sizeof(words));
  std::memcpy(&map, &words, sizeof(map));
  return result;
}
