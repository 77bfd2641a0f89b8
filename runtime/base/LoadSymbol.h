//===- LoadSymbol.h - Libraries that are loaded on demand -------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_LOADSYMBOL_H
#define KV_RUNTIME_BASE_LOADSYMBOL_H

#include "kv/Runtime/Base/Error.h"

#include <cstdint>
#include <memory>

namespace kv {

/// A symbol of a library of the runtime, e.g. "libkv_cuda.so", which is loaded
/// and stays so. The environment variable `variable` names the library's file.
/// Without it, the library is searched for in the folder of the file that
/// contains this code, in ../lib, and where the system searches. The error's
/// message says what was found wrong, without a subject.
Expected<void *> loadSymbol(const char *library, const char *variable,
                            const char *symbol);

/// The object that open(version, arguments..., &error) of such a library makes.
/// The error of a library that is not there begins with `need`, which says who
/// needs it.
template <class Made, class Open, class... Arguments>
Expected<std::unique_ptr<Made>>
openFromLibrary(const char *library, const char *variable, const char *symbol,
                std::string_view need, uint32_t version,
                const Arguments *...arguments) {
  Expected<void *> found = loadSymbol(library, variable, symbol);
  if (!found)
    return makeError(KV_STATUS_UNSUPPORTED, need, ": ", found.error().message);
  Error error;
  if (Made *made =
          reinterpret_cast<Open>(*found)(version, arguments..., &error))
    return std::unique_ptr<Made>(made);
  return std::unexpected(std::move(error));
}

} // namespace kv

#endif // KV_RUNTIME_BASE_LOADSYMBOL_H
