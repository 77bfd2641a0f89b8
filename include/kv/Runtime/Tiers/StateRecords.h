//===- StateRecords.h - Records of states of recurrent layers ---*- C++ -*-===//
//
// The state after a prefix is kept outside the devices in as many records as it
// needs, each of a page's size. So everything that moves, compares, checks,
// leases and evicts pages does so with states. A part is named like a page that
// follows the prefix, with the tokens of the prefix's last page, and a mark in
// place of images. A snapshot is there if all of its parts are.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_STATERECORDS_H
#define KV_RUNTIME_TIERS_STATERECORDS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace kv {

/// PrefixPage::images of a part.
class StateMark {
public:
  explicit StateMark(int32_t part) {
    bytes[0] = Letter;
    std::memcpy(&bytes[1], &part, sizeof part);
  }
  std::span<const std::byte> span() const { return bytes; }

  /// The part, if this is a mark.
  static std::optional<int32_t> partOf(std::span<const std::byte> images) {
    int32_t part;
    if (images.size() != 1 + sizeof part || images[0] != Letter)
      return std::nullopt;
    std::memcpy(&part, &images[1], sizeof part);
    return part;
  }

private:
  // Scopes begin with "s", images with "i" (ScopeBytes).
  static constexpr std::byte Letter = std::byte('p');
  std::array<std::byte, 1 + sizeof(int32_t)> bytes;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_STATERECORDS_H
