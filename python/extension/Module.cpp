//===- Module.cpp - The extension kvmlir._kvmlir --------------------------===//

#include "Common.h"

using namespace kv::python;

NB_MODULE(_kvmlir, module) {
  module.doc() = "The C interface of the runtime. Use the package kvmlir.";
  nb::dict dtypes;
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  dtypes[Spelling] = nb::make_tuple(Value, Bytes);
#include "kv/ABI/DTypes.def"
  module.attr("DTYPES") = dtypes;
  module.attr("ABI_VERSION") = KV_ABI_VERSION;
  bindBuffers(module);
  bindSpecs(module);
  bindExchange(module);
  bindRequests(module);
  bindInputs(module);
  bindFigures(module);
  bindManagers(module);
  bindSessions(module);
  bindServing(module);
  module.def(
      "type_modified",
      [](nb::handle type) {
        PyType_Modified(reinterpret_cast<PyTypeObject *>(type.ptr()));
      },
      nb::arg("type"), nb::sig("def type_modified(type: type) -> None"),
      "Python forgets what it knows of a type's attributes.");
}
