//===- Arguments.h - What a kernel is given ---------------------*- C++ -*-===//

#ifndef KV_TOOLS_KV_PTX_ARGUMENTS_H
#define KV_TOOLS_KV_PTX_ARGUMENTS_H

#include "kernels/emulator/ptx/Program.h"

#include <deque>

namespace kv::ptx {

/// Parameters of a kernel, and the memory that they point to.
class Arguments {
public:
  static constexpr const char *Allowed =
      "TYPE:NUMBER with a type of s8 to s64, u8 to u64, f32, f64; bytes:FILE; "
      "in:FILE; inout:FILE; out:BYTES:FILE; tiles:SIZES:BOX:MEMORY";

  /// Adds the next parameter; returns what is wrong with the text, or "".
  std::string add(const std::string &text, const Kernel &kernel);
  /// The parameters as the kernel reads them.
  const void *data() const { return bytes.data(); }
  void allow(cuda::GlobalMemory &memory) const;
  /// Writes what the kernel has written; returns the file that cannot be.
  std::string save() const;

private:
  struct Memory {
    std::vector<char> bytes;
    std::string file; // to write it to; "": it may only be read
  };
  /// A tensor map: 64x256:64x128:in:FILE, with rows of 64 elements.
  std::string addTiles(std::string rest, std::string &value);
  std::string addMemory(const std::string &kind, std::string rest,
                        std::string &value);

  size_t count = 0;
  std::vector<char> bytes;
  std::deque<Memory> memories;
};

} // namespace kv::ptx

#endif // KV_TOOLS_KV_PTX_ARGUMENTS_H
