//===- LoadSymbol.h - Libraries that are loaded on demand -------*- C++ -*-===//

#ifndef KV_RUNTIME_LOADSYMBOL_H
#define KV_RUNTIME_LOADSYMBOL_H

#include "kv/Runtime/Error.h"

namespace kv {

/// A symbol of a library of the runtime's, e.g. "libkv_cuda.so", which is
/// loaded and stays so. It is the file that the environment variable `variable`
/// names; if that is not set, the library is searched for beside the file that
/// contains this code, in ../lib, and where the system searches. The error's
/// message says what was found wrong, without a subject.
Expected<void *> loadSymbol(const char *library, const char *variable,
                            const char *symbol);

} // namespace kv

#endif // KV_RUNTIME_LOADSYMBOL_H
