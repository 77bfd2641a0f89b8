//===- Dlpack.cpp - Tensors that others own or get ------------------------===//

#include "Dlpack.h"

#include <algorithm>

using namespace kv;
using namespace kv::capi;

namespace {

/// The members that a DLPack tensor of ours owns: its shape, and a share of its
/// memory.
struct SharedTensor {
  DLManagedTensor tensor = {};
  KvTensorView view = {};
  std::shared_ptr<void> owner;
};

DLDataType dlpackType(DType dtype) {
  auto bits = static_cast<uint8_t>(8 * dtypeBytes(dtype));
  switch (dtype) {
  case DType::BF16:
    return {kDLBfloat, bits, 1};
  case DType::F32:
  case DType::F16:
    return {kDLFloat, bits, 1};
  case DType::I8:
  case DType::I32:
  case DType::I64:
    return {kDLInt, bits, 1};
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E8M0FNU:
    break; // DLPack 0.6 has no f8.
  }
  return {kDLUInt, bits, 1};
}

/// The code of an 8-bit float since DLPack 1.1; -1 for other types.
int float8Code(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3FN:
    return 10;
  case DType::F8E5M2:
    return 12;
  case DType::F8E8M0FNU:
    return 14;
  default:
    return -1;
  }
}

/// "f32", "u8", or the code, for messages.
std::string nameOf(DLDataType type) {
  constexpr std::string_view Letters[] = {"i", "u", "f", "", "bf", "c", "bool"};
  std::string lanes = type.lanes == 1 ? "" : concat("x", int(type.lanes));
  if (type.code < std::size(Letters) && !Letters[type.code].empty())
    return concat(Letters[type.code], int(type.bits), lanes);
  return concat("the DLPack type ", int(type.code), " of ", int(type.bits),
                " bits", lanes);
}

} // namespace

Expected<DLManagedTensor *> capi::exportTensor(const KvTensorView &view,
                                               const Device &device,
                                               bool onHost,
                                               std::shared_ptr<void> owner) {
  // CPU devices share one host, and DLPack numbers hosts.
  DLDevice place = {kDLCPU, 0};
  if (!onHost && device.kind == Device::Kind::CUDA) {
    if (Expected<void> done = (*device.backend())->synchronize(); !done)
      return std::unexpected(done.error());
    place = {kDLCUDA, device.index};
  }
  auto shared = std::make_unique<SharedTensor>();
  shared->view = view;
  shared->owner = std::move(owner);
  shared->tensor.dl_tensor = {.data = view.data,
                              .device = place,
                              .ndim = static_cast<int>(view.rank),
                              .dtype =
                                  dlpackType(static_cast<DType>(view.dtype)),
                              .shape = shared->view.sizes,
                              .strides = shared->view.strides,
                              .byte_offset = 0};
  shared->tensor.manager_ctx = shared.get();
  shared->tensor.deleter = [](DLManagedTensor *self) {
    delete static_cast<SharedTensor *>(self->manager_ctx);
  };
  return &shared.release()->tensor;
}

Expected<ImportedTensor> capi::importTensor(const DLTensor &tensor, DType dtype,
                                            const Device &device) {
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "the tensor ", parts...);
  };
  DLDataType given = tensor.dtype, wanted = dlpackType(dtype);
  if (given.bits != wanted.bits || given.lanes != 1 ||
      (given.code != wanted.code && given.code != float8Code(dtype)))
    return refuse("has the element type ", nameOf(given), ", expected ",
                  dtypeName(dtype));
  if (tensor.ndim < 0 || tensor.ndim > KV_MAX_RANK)
    return refuse("has rank ", tensor.ndim, ", allowed: 0 to ", KV_MAX_RANK);
  if (tensor.ndim > 0 && !tensor.shape)
    return refuse("has no shape");

  bool onHost = tensor.device.device_type == kDLCPU ||
                tensor.device.device_type == kDLCUDAHost;
  bool onDevice = device.kind == Device::Kind::CUDA &&
                  tensor.device.device_type == kDLCUDA &&
                  tensor.device.device_id == device.index;
  if (!onHost && !onDevice)
    return refuse("lies on the DLPack device ", int(tensor.device.device_type),
                  ":", tensor.device.device_id, ", the session runs on ",
                  device.str());

  std::span<const int64_t> shape(tensor.shape,
                                 static_cast<size_t>(tensor.ndim));
  KvTensorView view = makeView(
      static_cast<char *>(tensor.data) + tensor.byte_offset, dtype, shape);
  // Without elements, strides mean nothing.
  if (tensor.strides && std::ranges::find(shape, 0) == shape.end())
    for (int d = 0; d < tensor.ndim; ++d)
      if (shape[d] > 1 && tensor.strides[d] != view.strides[d])
        return refuse("has the stride ", tensor.strides[d], " in dimension ", d,
                      ", expected ", view.strides[d], " (dense, row-major)");
  return ImportedTensor{view, onHost};
}
