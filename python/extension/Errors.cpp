//===- Errors.cpp - Statuses as Python exceptions -------------------------===//

#include "Common.h"
#include "RequestIds.h"

using namespace kv::python;

static const char *classOf(int32_t status, int32_t refusal) {
  switch (refusal) {
  case KV_REFUSAL_WAIT:
  case KV_REFUSAL_FULL:
  case KV_REFUSAL_NEVER_FITS:
  case KV_REFUSAL_LOADING:
    return "InsufficientBlocksError";
  default:
    break;
  }
  switch (status) {
  case KV_STATUS_INVALID_ARGUMENT:
    return "InvalidArgumentError";
  case KV_STATUS_OUT_OF_RANGE:
    return "OutOfRangeError";
  case KV_STATUS_OUT_OF_MEMORY:
    return "OutOfMemoryError";
  case KV_STATUS_UNSUPPORTED:
    return "UnsupportedError";
  default:
    return "InternalError";
  }
}

void kv::python::raise(int32_t status, int32_t refusal) {
  raise(status, refusal, kvErrorMessage());
}

void kv::python::raise(int32_t status, int32_t refusal, std::string message) {
  nb::object type =
      nb::module_::import_("kvmlir.errors").attr(classOf(status, refusal));
  nb::object error = type(withNames(std::move(message)));
  constexpr const char *Reasons[] = {"",           "wait", "full",
                                     "never_fits", "",     "loading"};
  if (refusal != KV_REFUSAL_NONE && refusal != KV_REFUSAL_INVALID)
    error.attr("reason") = Reasons[refusal];
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

const char *kv::python::cString(const std::string &text, const char *name) {
  if (size_t at = text.find('\0'); at != std::string::npos)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          std::string(name) + " has a NUL at " + std::to_string(at) +
              ", allowed: a text without");
  return text.c_str();
}

nb::object kv::python::dtypeOf(int64_t dtype) {
  return nb::module_::import_("kvmlir.types").attr("DTYPES")[nb::int_(dtype)];
}

nb::tuple kv::python::argumentOf(const KvArgument &argument) {
  nb::list sizes;
  for (int32_t i = 0; i < argument.rank; ++i)
    if (argument.symbols[i])
      sizes.append(argument.symbols[i]);
    else
      sizes.append(argument.sizes[i]);
  auto text = [](const char *given) {
    return given ? nb::object(nb::str(given)) : nb::none();
  };
  return nb::make_tuple(argument.name, argument.kind, argument.dtype,
                        argument.onHost != 0, nb::tuple(sizes),
                        text(argument.collection), text(argument.layout));
}
