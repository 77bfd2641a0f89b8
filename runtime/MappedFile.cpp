//===- MappedFile.cpp - A file in memory, read-only -----------------------===//

#include "MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace kv;

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(base, other.base);
  std::swap(length, other.length);
  return *this;
}

MappedFile::~MappedFile() {
  if (base)
    munmap(const_cast<std::byte *>(base), length);
}

Expected<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  auto systemError = [&] {
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(), ": ",
                     std::strerror(errno));
  };
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return systemError();
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } closer{file};
  struct stat status;
  if (fstat(file, &status) != 0)
    return systemError();
  if (!S_ISREG(status.st_mode))
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(),
                     ": not a regular file");
  MappedFile mapped;
  if (status.st_size == 0)
    return mapped;
  void *base = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (base == MAP_FAILED)
    return systemError();
  mapped.base = static_cast<const std::byte *>(base);
  mapped.length = status.st_size;
  return mapped;
}
