//===- Buffer.cpp - A dense tensor that owns its memory -------------------===//

#include "kv/Runtime/Device/Buffer.h"

using namespace kv;

KvTensorView kv::makeView(void *data, DType dtype,
                          std::span<const int64_t> shape) {
  KvTensorView view = {};
  view.data = data;
  view.dtype = static_cast<int64_t>(dtype);
  view.rank = static_cast<int64_t>(shape.size());
  int64_t stride = 1;
  for (int64_t i = view.rank - 1; i >= 0; --i) {
    view.sizes[i] = shape[i];
    view.strides[i] = stride;
    stride *= shape[i];
  }
  return view;
}

KvTensorView kv::makeView(void *data, DType dtype,
                          std::initializer_list<int64_t> shape) {
  return makeView(data, dtype, std::span(shape.begin(), shape.size()));
}

std::string kv::describe(DType dtype, std::span<const int64_t> shape) {
  std::string text = concat(dtypeName(dtype), "[");
  for (size_t i = 0; i < shape.size(); ++i)
    text += concat(i ? ", " : "", shape[i]);
  return text + "]";
}

std::string kv::describe(const KvTensorView &view) {
  return describe(static_cast<DType>(view.dtype),
                  {view.sizes, static_cast<size_t>(view.rank)});
}

Expected<Buffer> Buffer::create(const Device &device, DType dtype,
                                std::span<const int64_t> shape) {
  if (shape.size() > KV_MAX_RANK)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "a tensor of rank ",
                     shape.size(), ", at most ", KV_MAX_RANK, " is allowed");
  size_t bytes = dtypeBytes(dtype);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size_t(size), &bytes))
      return makeError(KV_STATUS_INVALID_ARGUMENT, "the tensor ",
                       describe(dtype, shape), " cannot be allocated");
  Expected<Memory> memory = device.allocate(bytes);
  if (!memory)
    return makeError(memory.error().code, "the tensor ", describe(dtype, shape),
                     ": ", memory.error().message);
  Buffer buffer;
  buffer.memory = std::move(*memory);
  buffer.whole = makeView(buffer.memory.data(), dtype, shape);
  return buffer;
}

Expected<Buffer> Buffer::create(const Device &device, DType dtype,
                                std::initializer_list<int64_t> shape) {
  return create(device, dtype, std::span(shape.begin(), shape.size()));
}

int64_t Buffer::elements() const {
  int64_t count = 1;
  for (int64_t size : shape())
    count *= size;
  return count;
}
