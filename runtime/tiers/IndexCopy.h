//===- IndexCopy.h - What an index of unknown state holds -------*- C++ -*-===//
//
// LMDB trusts its file: a byte that a disk has changed makes it read and write
// outside of its memory. So a child process, which may crash, reads the file of
// an earlier process, and the entries that it finds go into a new file.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_INDEXCOPY_H
#define KV_RUNTIME_TIERS_INDEXCOPY_H

#include "kv/Runtime/Base/Error.h"

#include <string>
#include <vector>

namespace kv {

/// An entry of a database of an index.
struct IndexEntry {
  uint8_t database = 0; // of the names that readIndexInChild() is given
  std::string key, value;
};

/// All entries of the named databases of the LMDB file `path`, in the order of
/// their keys; a database that is not there has none. Errors: the file cannot
/// be read, or is no whole LMDB file.
Expected<std::vector<IndexEntry>>
readIndexInChild(const std::string &path,
                 const std::vector<const char *> &databases);

} // namespace kv

#endif // KV_RUNTIME_TIERS_INDEXCOPY_H
