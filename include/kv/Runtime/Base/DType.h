//===- DType.h - Element types by name --------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_DTYPE_H
#define KV_RUNTIME_BASE_DTYPE_H

#include "kv/ABI/TensorView.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kv {

/// The element types of DTypes.def; the values are those of KvDType.
enum class DType : int64_t {
#define KV_DTYPE(Name, Value, Spelling, Bytes) Name = Value,
#include "kv/ABI/DTypes.def"
};

/// "bf16", or "unknown" for a value that is no DType.
constexpr std::string_view dtypeName(DType dtype) {
  switch (dtype) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  case DType::Name:                                                            \
    return Spelling;
#include "kv/ABI/DTypes.def"
  }
  return "unknown";
}

/// Bytes of one element; 0 for a value that is no DType.
constexpr size_t dtypeBytes(DType dtype) {
  switch (dtype) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  case DType::Name:                                                            \
    return Bytes;
#include "kv/ABI/DTypes.def"
  }
  return 0;
}

constexpr std::optional<DType> parseDType(std::string_view name) {
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  if (name == Spelling)                                                        \
    return DType::Name;
#include "kv/ABI/DTypes.def"
  return std::nullopt;
}

} // namespace kv

#endif // KV_RUNTIME_BASE_DTYPE_H
