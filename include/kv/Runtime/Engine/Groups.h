//===- Groups.h - Which pages the layers of a group need --------*- C++ -*-===//
//
// Layers whose attention looks equally far back form a layer group. In every
// sequence each group has its own row of pages, all from one pool. A group says
// which pages its layers still need, and how much of a cached prefix has to be
// there for a sequence to take it over.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_GROUPS_H
#define KV_RUNTIME_ENGINE_GROUPS_H

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <span>

namespace kv {

struct CacheGroup {
  /// Tokens that a query sees, itself included; 0: all of them.
  int64_t window = 0;
  /// Whether new pages must be zeroed before their first use, because kernels
  /// multiply unwritten positions by 0, and 0 times a stale NaN is NaN.
  bool zeroFill = false;

  static constexpr CacheGroup full() { return {}; }
  static constexpr CacheGroup slidingWindow(int64_t tokens) { return {tokens}; }

  bool isFull() const { return window == 0; }

  /// The first position that the query at `position`, or any later query, sees:
  /// those below may be given up.
  int64_t skippable(int64_t position) const {
    return isFull() ? 0 : std::max<int64_t>(position - window + 1, 0);
  }

  /// Whether a sequence can take over a prefix of `pages` pages if the last
  /// `run` of them are cached.
  bool accepts(int64_t pages, int64_t run, int32_t pageSize) const {
    return run >= pages - skippable(pages * pageSize) / pageSize;
  }

  bool operator==(const CacheGroup &) const = default;
};

/// Most pages of all groups together that a sequence holds at any moment on its
/// way from `from` to `length` computed tokens. Each of its reservations is for
/// at most `chunk` tokens, and `draft` slots after them.
///
/// With p computed tokens a reservation ends at min(p + chunk, length) + draft,
/// and a window's pages begin at skippable(p). Up to length - chunk the end
/// moves with p; a page later there are as many pages or more, since windows
/// pass a page where every group has got one. So the most is reached within the
/// last page of that range, right where the end comes upon a new page.
inline int64_t mostPages(std::span<const CacheGroup> groups, int64_t pageSize,
                         int64_t length, int64_t chunk, int64_t draft,
                         int64_t from = 0) {
  assert(length >= from && chunk > 0 && "a reservation is for something");
  int64_t last = std::max(from, length - std::min(chunk, length));
  int64_t end = length + draft; // of the reservation made there
  int64_t at = end == 0 ? from : std::max(from, last - (end - 1) % pageSize);
  int64_t all = (end + pageSize - 1) / pageSize, pages = 0;
  for (const CacheGroup &group : groups)
    pages += all - group.skippable(at) / pageSize;
  return pages;
}

/// The groups of a model, by value. At least one.
class CacheGroups {
public:
  static constexpr int32_t Most = 16;

  /// One full group: plain attention.
  constexpr CacheGroups() : groups{CacheGroup::full()}, count(1) {}
  constexpr CacheGroups(std::initializer_list<CacheGroup> list)
      : CacheGroups(std::span(list.begin(), list.size())) {}
  constexpr explicit CacheGroups(std::span<const CacheGroup> list) {
    assert(list.size() >= 1 && list.size() <= Most);
    std::copy(list.begin(), list.end(), groups.begin());
    count = static_cast<int32_t>(list.size());
  }

  int32_t size() const { return count; }
  const CacheGroup &operator[](int32_t group) const { return groups[group]; }
  const CacheGroup *begin() const { return groups.data(); }
  const CacheGroup *end() const { return groups.data() + count; }
  bool operator==(const CacheGroups &) const = default;

private:
  std::array<CacheGroup, Most> groups = {};
  int32_t count = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_GROUPS_H
