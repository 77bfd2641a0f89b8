//===- Scope.h - Who may share with whom ------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_SCOPE_H
#define KV_RUNTIME_ENGINE_SCOPE_H

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kv {

/// Sequences share pages only when all of this is equal. Each field is framed:
/// absent, empty and "0" differ, and ("a", "bc") is not ("ab", "c"). The engine
/// adds its epoch. The salt should come from a trusted gateway.
struct Scope {
  std::optional<std::string_view> model = {};   // weights and their version
  std::optional<std::string_view> adapter = {}; // with its version
  std::optional<std::string_view> salt = {};    // of a tenant
};

/// Placeholder tokens [begin, begin + length) stand for the image (or other
/// medium) with this hash. Pages that overlap it are shared only with pages
/// that overlap an equal one at the same place.
struct ImageSpan {
  int64_t begin = 0;
  int64_t length = 0;
  std::string_view hash; // the whole digest, as bytes
};

/// What the caller knows of a sequence: it owns both lists. Images are in
/// order and do not overlap.
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
