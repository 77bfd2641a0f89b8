//===- MappedFile.h - A file in memory, read-only ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_MAPPEDFILE_H
#define KV_RUNTIME_BASE_MAPPEDFILE_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Base/FileMemory.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace kv {

/// A regular file, mapped read-only or copied; it may be empty. Move-only.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Errors name the file.
  static Expected<MappedFile> open(const std::filesystem::path &path,
                                   FileMemory memory = FileMemory::Mapped);

  std::span<const std::byte> bytes() const { return {base, length}; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(base), length};
  }

private:
  const std::byte *base = nullptr;
  size_t length = 0;
  // The pages that are given back: the file's, or those that hold the copy.
  void *pages = nullptr;
  size_t pageBytes = 0;
};

} // namespace kv

#endif // KV_RUNTIME_BASE_MAPPEDFILE_H
