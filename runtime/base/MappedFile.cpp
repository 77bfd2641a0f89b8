//===- MappedFile.cpp - A file in memory, read-only -----------------------===//

#include "MappedFile.h"

#include "MoveAll.h"

#include <cerrno>
#include <cstdint>
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
  std::swap(pages, other.pages);
  std::swap(pageBytes, other.pageBytes);
  return *this;
}

MappedFile::~MappedFile() {
  if (pages)
    munmap(pages, pageBytes);
}

constexpr size_t HugePage = size_t(2) << 20;

/// Reads `bytes` bytes from the beginning of a file. False with errno set; a
/// file that has become shorter is an error of input.
static bool readAll(int file, char *target, size_t bytes) {
  return moveAll(bytes, [&](size_t done) {
    ssize_t got =
        pread(file, target + done, bytes - done, static_cast<off_t>(done));
    if (got == 0)
      errno = EIO;
    return got;
  });
}

Expected<MappedFile> MappedFile::open(const std::filesystem::path &path,
                                      FileMemory memory) {
  auto systemError = [&] {
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(), ": ",
                     std::strerror(errno));
  };
  // A pipe without a writer would be waited for.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
  mapped.length = status.st_size;
  if (memory == FileMemory::Copied && mapped.length >= 2 * HugePage) {
    // Room to begin at a huge page.
    size_t bytes = mapped.length + HugePage;
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without memory for a copy the file itself does.
    if (pages != MAP_FAILED) {
      mapped.pages = pages;
      mapped.pageBytes = bytes;
      auto address = reinterpret_cast<uintptr_t>(pages);
      size_t begin = (HugePage - address % HugePage) % HugePage;
      char *copy = static_cast<char *>(pages) + begin;
      madvise(copy, mapped.length, MADV_HUGEPAGE); // refused: only slower
      if (!readAll(file, copy, mapped.length))
        return systemError();
      mapped.base = reinterpret_cast<const std::byte *>(copy);
      return mapped;
    }
  }
  void *base = mmap(nullptr, mapped.length, PROT_READ, MAP_PRIVATE, file, 0);
  if (base == MAP_FAILED)
    return systemError();
  mapped.base = static_cast<const std::byte *>(base);
  mapped.pages = base;
  mapped.pageBytes = mapped.length;
  return mapped;
}
