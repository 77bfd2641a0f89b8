//===- TemporaryFile.h - A file that a test writes --------------*- C++ -*-===//

#ifndef KV_TEST_UNIT_TEMPORARYFILE_H
#define KV_TEST_UNIT_TEMPORARYFILE_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace kv::test {

inline std::string readWhole(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Removed at the end of its scope.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string_view contents = {}) {
    std::string pattern =
        std::filesystem::temp_directory_path() / "kv-test-XXXXXX";
    int file = mkstemp(pattern.data());
    if (file >= 0)
      close(file);
    name = pattern;
    write(contents);
  }
  ~TemporaryFile() { std::filesystem::remove(name); }
  TemporaryFile(const TemporaryFile &) = delete;

  void write(std::string_view contents) {
    std::ofstream(name, std::ios::binary | std::ios::trunc) << contents;
  }
  /// Overwrites one byte in place, which is much faster than write.
  void poke(size_t offset, char value) {
    std::fstream file(name, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(value);
  }
  void truncate(size_t bytes) { std::filesystem::resize_file(name, bytes); }
  const std::filesystem::path &path() const { return name; }

private:
  std::filesystem::path name;
};

/// A new folder, removed with what is in it at the end of its scope. In memory,
/// if the machine has a file system there: nobody waits for a disk then.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::filesystem::path base = "/dev/shm";
    if (access(base.c_str(), W_OK) != 0)
      base = std::filesystem::temp_directory_path();
    std::string pattern = base / "kv-test-XXXXXX";
    name = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(name); }
  TemporaryFolder(const TemporaryFolder &) = delete;

  std::string path() const { return name; }

private:
  std::filesystem::path name;
};

/// An endpoint of ZeroMQ on this machine. It lies in one folder of the process,
/// which goes when that ends: libzmq leaves its sockets where they were bound.
inline std::string localEndpoint(std::string_view socket) {
  static const TemporaryFolder folder;
  return "ipc://" + folder.path() + "/" + std::string(socket);
}

/// Replaces every `from`; both have the same length, so offsets stay.
inline std::string replaced(std::string text, std::string_view from,
                            std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

} // namespace kv::test

#endif // KV_TEST_UNIT_TEMPORARYFILE_H
