//===- Safetensors.h - Weights files ---------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_SESSION_SAFETENSORS_H
#define KV_RUNTIME_SESSION_SAFETENSORS_H

#include "kv/Runtime/Base/DType.h"
#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Base/FileMemory.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kv {

/// A safetensors file, mapped read-only or copied to memory. Copies of this
/// object share it.
class SafetensorsFile {
public:
  struct Tensor {
    std::string name;
    std::string fileDType;      // as the file spells it: "BF16"
    std::optional<DType> dtype; // empty for types that kv-mlir does not know
    std::vector<int64_t> shape;
    const void *data = nullptr; // may be aligned to one byte only
    size_t bytes = 0;
  };

  /// Opens the file and checks every offset: damaged and hostile files are
  /// errors, which name the file.
  static Expected<SafetensorsFile> open(const std::filesystem::path &path,
                                        FileMemory memory = FileMemory::Mapped);

  /// Sorted by name.
  std::span<const Tensor> tensors() const;
  /// Null if there is none.
  const Tensor *find(std::string_view name) const;
  /// The value of `key` in __metadata__; null if there is none.
  const std::string *metadata(std::string_view key) const;
  const std::filesystem::path &path() const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

} // namespace kv

#endif // KV_RUNTIME_SESSION_SAFETENSORS_H
