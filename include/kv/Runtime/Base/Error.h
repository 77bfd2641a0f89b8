//===- Error.h - Errors as values -------------------------------*- C++ -*-===//
//
// Nothing in the runtime throws. A function that can fail returns Expected.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_BASE_ERROR_H
#define KV_RUNTIME_BASE_ERROR_H

#include "kv/ABI/Context.h"

#include <expected>
#include <string>
#include <string_view>
#include <type_traits>

namespace kv {

/// A failure: one sentence that says what was asked and what there was.
struct Error {
  KvStatus code = KV_STATUS_INTERNAL;
  std::string message;
};

template <class T> using Expected = std::expected<T, Error>;

namespace detail {
template <class T> void append(std::string &text, const T &part) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>)
    text += std::to_string(part);
  else
    text += part;
}
} // namespace detail

/// Concatenates strings and numbers.
template <class... Parts> std::string concat(const Parts &...parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

/// return makeError(KV_STATUS_OUT_OF_RANGE, "layer ", layer, " of ", layers);
/// Cold, so that what a check does when all is well stays small and together.
template <class... Parts>
[[gnu::cold, gnu::noinline]] std::unexpected<Error>
makeError(KvStatus code, const Parts &...parts) {
  return std::unexpected<Error>(Error{code, concat(parts...)});
}

} // namespace kv

#endif // KV_RUNTIME_BASE_ERROR_H
