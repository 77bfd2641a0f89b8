//===- Scope.h - Which sequences may share pages ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_SCOPE_H
#define KV_RUNTIME_ENGINE_SCOPE_H

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kv {

/// Two sequences share pages only if all fields of their scopes are equal; an
/// absent field differs from an empty one. The engine adds its epoch, so that
/// resetPrefixes() separates old sequences from new ones. The strings are the
/// caller's and may end with the call.
struct Scope {
  std::optional<std::string_view> model = {};   // weights and their version
  std::optional<std::string_view> adapter = {}; // adapter and its version
  /// Separates tenants; to be set by a trusted gateway, not by the tenant.
  std::optional<std::string_view> salt = {};
};

/// The placeholder tokens [begin, begin + length) stand for the image (or other
/// medium) with this hash. A page that overlaps them is shared only with pages
/// that overlap an image with the same hash at the same place.
struct ImageSpan {
  int64_t begin = 0;
  int64_t length = 0;
  std::string_view hash; // the digest as bytes, not shortened
};

/// The tokens and images of a sequence, as far as they are known. The caller
/// owns both lists. Images are in order and do not overlap.
struct Prompt {
  std::span<const int32_t> tokens;
  std::span<const ImageSpan> images = {};

  Prompt(std::span<const int32_t> tokens,
         std::span<const ImageSpan> images = {})
      : tokens(tokens), images(images) {}
  template <class Container>
    requires std::convertible_to<const Container &, std::span<const int32_t>>
  Prompt(const Container &tokens) : tokens(tokens) {}

  int64_t length() const { return static_cast<int64_t>(tokens.size()); }
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_SCOPE_H
