//===- ElfSection.h - Finds a section of an artifact ------------*- C++ -*-===//

#ifndef KV_RUNTIME_ELFSECTION_H
#define KV_RUNTIME_ELFSECTION_H

#include "MappedFile.h"

namespace kv {

/// What the section holds, without loading the file. Any file is safe to give.
/// Errors begin with `source`.
Expected<std::string_view> findSection(const MappedFile &file,
                                       std::string_view name,
                                       std::string_view source);

} // namespace kv

#endif // KV_RUNTIME_ELFSECTION_H
