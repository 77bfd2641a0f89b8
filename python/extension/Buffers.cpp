//===- Buffers.cpp - Tensors without copies -------------------------------===//

#include "Buffers.h"

#include <cstring>

using namespace kv::python;

namespace {

struct ElementType {
  const char *name; // numpy's and ml_dtypes'
  DLDataType type;  // by which other libraries know it
  DLDataType raw;   // as numpy has it without ml_dtypes
};

/// By KvDType. DLPack 0.6 and many readers have no 8-bit floats: they are u8.
constexpr ElementType Elements[] = {
    {"float32", {kDLFloat, 32, 1}, {kDLFloat, 32, 1}},
    {"float16", {kDLFloat, 16, 1}, {kDLFloat, 16, 1}},
    {"bfloat16", {kDLBfloat, 16, 1}, {kDLUInt, 16, 1}},
    {"float8_e4m3fn", {kDLUInt, 8, 1}, {kDLUInt, 8, 1}},
    {"float8_e5m2", {kDLUInt, 8, 1}, {kDLUInt, 8, 1}},
    {"float8_e8m0fnu", {kDLUInt, 8, 1}, {kDLUInt, 8, 1}},
    {"int8", {kDLInt, 8, 1}, {kDLInt, 8, 1}},
    {"int32", {kDLInt, 32, 1}, {kDLInt, 32, 1}},
    {"int64", {kDLInt, 64, 1}, {kDLInt, 64, 1}},
};

[[noreturn]] void refuse(std::string message) {
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE, std::move(message));
}

/// The KvDType that numpy calls so and that DLPack cannot say; -1: none.
int64_t extendedType(const char *name) {
  for (int64_t i :
       {KV_DTYPE_BF16, KV_DTYPE_F8E4M3FN, KV_DTYPE_F8E5M2, KV_DTYPE_F8E8M0FNU})
    if (std::strcmp(Elements[i].name, name) == 0)
      return i;
  return -1;
}

nb::dlpack::dtype typeOf(DLDataType type) {
  return {type.code, type.bits, type.lanes};
}

template <class... Framework>
nb::object arrayOf(const Buffer &buffer, nb::handle self, DLDataType type) {
  size_t shape[KV_MAX_RANK];
  for (int64_t i = 0; i < buffer.view.rank; ++i)
    shape[i] = static_cast<size_t>(buffer.view.sizes[i]);
  auto make = [&]<class Array>(Array *) {
    return Array(buffer.view.data, static_cast<size_t>(buffer.view.rank), shape,
                 self, buffer.view.strides, typeOf(type),
                 buffer.place.device_type, buffer.place.device_id)
        .cast(nb::rv_policy::reference);
  };
  if (buffer.readOnly)
    return make(static_cast<nb::ndarray<nb::ro, Framework...> *>(nullptr));
  return make(static_cast<nb::ndarray<Framework...> *>(nullptr));
}

nb::object numpyOf(nb::handle self) {
  const Buffer &buffer = nb::cast<const Buffer &>(self);
  if (buffer.place.device_type != kDLCPU &&
      buffer.place.device_type != kDLCUDAHost)
    refuse("the buffer lies on " + buffer.device() +
           ", numpy sees host memory only: torch.from_dlpack(buffer)");
  const ElementType &type = Elements[buffer.view.dtype];
  nb::object array = arrayOf<nb::numpy>(buffer, self, type.raw);
  if (extendedType(type.name) < 0)
    return array;
  try {
    return array.attr("view")(
        nb::module_::import_("ml_dtypes").attr(type.name));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
    return array; // the bits
  }
}

} // namespace

Buffer Buffer::take(DLManagedTensor *tensor, int64_t dtype) {
  Buffer buffer;
  buffer.owner = std::shared_ptr<void>(tensor, [](void *given) {
    auto *own = static_cast<DLManagedTensor *>(given);
    if (own->deleter)
      own->deleter(own);
  });
  const DLTensor &own = tensor->dl_tensor;
  buffer.place = own.device;
  buffer.view = {.data = static_cast<char *>(own.data) + own.byte_offset,
                 .offset = 0,
                 .rank = own.ndim,
                 .dtype = dtype,
                 .sizes = {},
                 .strides = {}};
  std::copy_n(own.shape, own.ndim, buffer.view.sizes);
  std::copy_n(own.strides, own.ndim, buffer.view.strides);
  return buffer;
}

Buffer Buffer::from(nb::handle given) {
  if (nb::isinstance<Buffer>(given))
    return nb::cast<Buffer &>(given);
  // numpy exports neither bf16 nor 8-bit floats: its bits stand for them.
  nb::object array = nb::borrow(given);
  int64_t dtype = -1;
  nb::object given_type = nb::getattr(given, "dtype", nb::none());
  nb::object name = nb::getattr(given_type, "name", nb::none());
  if (nb::isinstance<nb::str>(name) &&
      (dtype = extendedType(nb::cast<nb::str>(name).c_str())) >= 0)
    array = given.attr("view")(dtype == KV_DTYPE_BF16 ? "uint16" : "uint8");

  auto *kept = new nb::ndarray<nb::ro>;
  Buffer buffer;
  buffer.owner = std::shared_ptr<void>(kept, [](void *own) {
    if (!nb::is_alive())
      return;
    nb::gil_scoped_acquire acquired;
    delete static_cast<nb::ndarray<nb::ro> *>(own);
  });
  nb::ndarray<> writable;
  if (nb::try_cast(array, writable, false))
    *kept = nb::ndarray<nb::ro>(writable);
  else if (nb::try_cast(array, *kept, false))
    buffer.readOnly = true;
  else
    refuse(std::string("a ") + nb::type_name(given.type()).c_str() +
           " is given, allowed: an array with __dlpack__ or a buffer");
  auto type = kept->dtype();
  for (size_t i = 0; i < std::size(Elements) && dtype < 0; ++i)
    if (type == typeOf(Elements[i].type))
      dtype = static_cast<int64_t>(i);
  if (dtype < 0)
    refuse("the array has elements of " + std::to_string(type.bits) +
           " bits with the DLPack type " + std::to_string(type.code) +
           ", allowed: float32, float16, bfloat16, int8, int32, int64, and "
           "uint8 for 8-bit floats");
  if (kept->ndim() > KV_MAX_RANK)
    refuse("the array has rank " + std::to_string(kept->ndim()) +
           ", allowed: 0 to " + std::to_string(KV_MAX_RANK));
  buffer.place = {static_cast<DLDeviceType>(kept->device_type()),
                  kept->device_id()};
  buffer.view = {.data = const_cast<void *>(kept->data()),
                 .offset = 0,
                 .rank = static_cast<int64_t>(kept->ndim()),
                 .dtype = dtype,
                 .sizes = {},
                 .strides = {}};
  for (size_t i = 0; i < kept->ndim(); ++i) {
    buffer.view.sizes[i] = static_cast<int64_t>(kept->shape(i));
    buffer.view.strides[i] = kept->stride(i);
  }
  return buffer;
}

std::string Buffer::device() const {
  const char *kind = place.device_type == kDLCUDA ? "cuda:" : "cpu:";
  return kind + std::to_string(place.device_id);
}

DLManagedTensorVersioned *Buffer::lend() const {
  struct Lent {
    DLManagedTensorVersioned tensor;
    Buffer buffer;
  };
  auto *lent =
      new Lent{.tensor = {.version = {1, 0},
                          .manager_ctx = nullptr,
                          .deleter =
                              [](DLManagedTensorVersioned *self) {
                                delete static_cast<Lent *>(self->manager_ctx);
                              },
                          .flags = readOnly,
                          .dl_tensor = {.data = view.data,
                                        .device = place,
                                        .ndim = static_cast<int>(view.rank),
                                        .dtype = Elements[view.dtype].type,
                                        .shape = nullptr,
                                        .strides = nullptr,
                                        .byte_offset = 0}},
               .buffer = *this};
  lent->tensor.manager_ctx = lent;
  lent->tensor.dl_tensor.shape = lent->buffer.view.sizes;
  lent->tensor.dl_tensor.strides = lent->buffer.view.strides;
  return &lent->tensor;
}

static void defineView(nb::class_<Buffer> &buffer) {
  buffer
      .def_static(
          "from_dlpack", [](nb::handle array) { return Buffer::from(array); },
          nb::arg("array"),
          "A view of any array that has __dlpack__ or the buffer protocol.")
      .def_static(
          "from_numpy", [](nb::handle array) { return Buffer::from(array); },
          nb::arg("array"),
          "A view of a numpy array, ml_dtypes' element types included.")
      .def_prop_ro(
          "shape",
          [](const Buffer &own) {
            nb::list sizes;
            for (int64_t i = 0; i < own.view.rank; ++i)
              sizes.append(own.view.sizes[i]);
            return nb::tuple(sizes);
          },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Sizes in elements, in the order of memory.")
      .def_prop_ro(
          "strides",
          [](const Buffer &own) {
            nb::list strides;
            for (int64_t i = 0; i < own.view.rank; ++i)
              strides.append(own.view.strides[i]);
            return nb::tuple(strides);
          },
          nb::sig("def strides(self) -> tuple[int, ...]"), "In elements.")
      .def_prop_ro(
          "rank", [](const Buffer &own) { return own.view.rank; },
          "Number of dimensions.")
      .def_prop_ro(
          "num_elements",
          [](const Buffer &own) {
            int64_t count = 1;
            for (int64_t i = 0; i < own.view.rank; ++i)
              count *= own.view.sizes[i];
            return count;
          },
          "The product of the sizes.")
      .def_prop_ro(
          "dtype", [](const Buffer &own) { return dtypeOf(own.view.dtype); },
          nb::sig("def dtype(self) -> kvmlir.types.DType"), "The element type.")
      .def_prop_ro("device", &Buffer::device, "Such as \"cpu:0\", \"cuda:1\".")
      .def_ro("read_only", &Buffer::readOnly,
              "Whether its owner lets nobody write to it.");
}

static void defineConversions(nb::class_<Buffer> &buffer) {
  buffer
      .def(
          "numpy", [](nb::handle self) { return numpyOf(self); },
          nb::sig("def numpy(self) -> kvmlir.types.Array"),
          "The same memory as a numpy array. bf16 and 8-bit floats have the "
          "types of ml_dtypes or,\nwithout that package, are their bits: "
          "uint16, uint8. Raises ValueError on a GPU.")
      .def(
          "to_numpy", [](nb::handle self) { return numpyOf(self); },
          nb::sig("def to_numpy(self) -> kvmlir.types.Array"), "As numpy().")
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            nb::object array = numpyOf(self);
            bool converts =
                !dtype.is_none() && !array.attr("dtype").equal(dtype);
            if (converts || (!copy.is_none() && nb::cast<bool>(copy)))
              return array.attr("astype")(dtype.is_none()
                                              ? nb::object(array.attr("dtype"))
                                              : nb::borrow(dtype));
            return array;
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | "
                  "None = None) -> kvmlir.types.Array"))
      .def(
          "__dlpack__",
          [](nb::handle self, const nb::kwargs &more) {
            const Buffer &own = nb::cast<const Buffer &>(self);
            return arrayOf<nb::array_api>(own, self,
                                          Elements[own.view.dtype].type)
                .attr("__dlpack__")(**more);
          },
          nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"),
          "For the from_dlpack of other libraries.")
      .def(
          "__dlpack_device__",
          [](const Buffer &own) {
            return nb::make_tuple(static_cast<int>(own.place.device_type),
                                  own.place.device_id);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__repr__", [](nb::handle self) {
        return nb::str("Buffer(dtype={}, shape={}, device={!r})")
            .format(self.attr("dtype"), self.attr("shape"),
                    self.attr("device"));
      });
}

void kv::python::bindBuffers(nb::module_ &module) {
  nb::class_<Buffer> buffer(
      module, "Buffer",
      "A tensor on the host or on a device, without a copy of "
      "its own.\n\nnumpy.asarray(buffer) and "
      "torch.from_dlpack(buffer) look at the same memory, which "
      "lives as\nlong as any of them.");
  defineView(buffer);
  defineConversions(buffer);
}
