//===- Buffers.h - Tensors without copies -----------------------*- C++ -*-===//

#ifndef KV_PYTHON_BUFFERS_H
#define KV_PYTHON_BUFFERS_H

#include "Common.h"

#include "kv/Runtime/C/Dlpack.h"

#include <nanobind/ndarray.h>

namespace kv::python {

/// A tensor in the memory of somebody, which it keeps.
struct Buffer {
  KvTensorView view = {};
  DLDevice place = {kDLCPU, 0};
  bool readOnly = false;
  std::shared_ptr<void> owner;

  /// Takes a tensor that the runtime has made.
  static Buffer take(DLManagedTensor *tensor, int64_t dtype);
  /// Looks at an array of any library. Errors: it is none; an element type that
  /// there is not.
  static Buffer from(nb::handle array);

  /// "cpu:0", "cuda:1".
  std::string device() const;
  /// As an array of the caller, which the runtime gives back when it is done.
  DLManagedTensorVersioned *lend() const;
};

} // namespace kv::python

#endif // KV_PYTHON_BUFFERS_H
