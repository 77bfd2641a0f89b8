//===- FileMemory.h - Where the bytes of a file lie -------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_FILEMEMORY_H
#define KV_RUNTIME_BASE_FILEMEMORY_H

namespace kv {

enum class FileMemory {
  /// The system's cache of the file, which all processes share.
  Mapped,
  /// A copy in huge pages, where there are any: what is read again and again
  /// is read faster. Small files are mapped all the same.
  Copied
};

} // namespace kv

#endif // KV_RUNTIME_BASE_FILEMEMORY_H
