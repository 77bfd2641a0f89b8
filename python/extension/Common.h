//===- Common.h - What the files of the extension share ---------*- C++ -*-===//
//
// The extension kvmlir._kvmlir binds the C interface, one subject a file. What
// of the package needs no speed is Python, in python/kvmlir.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PYTHON_COMMON_H
#define KV_PYTHON_COMMON_H

#include "Integers.h"
#include "kv/Runtime/C/Runtime.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace kv::python {

namespace nb = nanobind;

/// A message of the C interface with options and functions as Python spells
/// them.
std::string inPython(std::string message);

/// "max_seq_len" for "maxSeqLen".
std::string toSnake(std::string_view name);

/// Raises the exception of kvmlir.errors that stands for a status, with the
/// message of the call that failed in this thread. `refusal` is a KvRefusal.
[[noreturn]] void raise(int32_t status, int32_t refusal = KV_REFUSAL_NONE);
[[noreturn]] void raise(int32_t status, int32_t refusal, std::string message);

inline void check(int32_t status) {
  if (status != KV_STATUS_OK) [[unlikely]]
    raise(status);
}

/// What a call of the C interface writes through its last argument.
template <class T, class Fn> T get(Fn &&fn) {
  T result{};
  check(fn(&result));
  return result;
}

/// Calls fn() -> status without the GIL, as the only one who holds the mutex.
/// Never lock one while holding the GIL: what holds it may need the GIL to give
/// a tensor back.
template <class Mutex, class Fn> void unlocked(Mutex &mutex, Fn &&fn) {
  int32_t status;
  std::string message;
  {
    nb::gil_scoped_release released;
    std::lock_guard lock(mutex);
    status = fn();
    if (status != KV_STATUS_OK)
      message = kvErrorMessage();
  }
  if (status != KV_STATUS_OK) [[unlikely]]
    raise(status, KV_REFUSAL_NONE, std::move(message));
}

/// Calls a function of Python's, for a caller that may not hold the GIL. What
/// it raises is reported, since nobody waits for it.
template <class... Parts>
void tell(void *function, const char *name, const Parts &...parts) {
  nb::gil_scoped_acquire acquired;
  try {
    nb::handle(static_cast<PyObject *>(function))(parts...);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable(
        ("kvmlir: the function `" + std::string(name) + "`").c_str());
  }
}

/// A text as the C interface takes it. Raises ValueError where it has a NUL:
/// what follows would be cut off, and two salts could be one.
const char *cString(const std::string &text, const char *name);

/// The enumerator of kvmlir.DType for a KvDType.
nb::object dtypeOf(int64_t dtype);

/// An argument of an entry or a graph, as a tuple: name, kind, KvDType, whether
/// it lies on the host, sizes (numbers and symbols), collection or None, layout
/// or None.
nb::tuple argumentOf(const KvArgument &argument);

/// The symbolic inputs of each device, as lists of argumentOf().
nb::list symbolicInputsOf(const KvManager *manager, int32_t devices,
                          int64_t layers);

void bindBuffers(nb::module_ &module);
void bindSpecs(nb::module_ &module);
void bindExchange(nb::module_ &module);
void bindRequests(nb::module_ &module);
void bindFigures(nb::module_ &module);
void bindManagers(nb::module_ &module);
void bindInputs(nb::module_ &module);
void bindSessions(nb::module_ &module);
void bindServing(nb::module_ &module);

} // namespace kv::python

#endif // KV_PYTHON_COMMON_H
