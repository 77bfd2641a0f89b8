//===- ElfSection.h - Finds a section of an artifact ------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_ELFSECTION_H
#define KV_RUNTIME_BASE_ELFSECTION_H

#include "MappedFile.h"

namespace kv {

/// The bytes of a section of an ELF file, which is not loaded for that. Damaged
/// and hostile files are errors; messages begin with `source`.
Expected<std::string_view> findSection(const MappedFile &file,
                                       std::string_view name,
                                       std::string_view source);

} // namespace kv

#endif // KV_RUNTIME_BASE_ELFSECTION_H
