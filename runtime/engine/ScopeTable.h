//===- ScopeTable.h - Scopes and images as small numbers --------*- C++ -*-===//
//
// Interns framed bytes: equal bytes have the same number as long as somebody
// refers to it. Compared in full, so two tenants never become one. Single
// writer; nothing is allocated after create().
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_SCOPETABLE_H
#define KV_RUNTIME_ENGINE_SCOPETABLE_H

#include "FixedArray.h"

#include "kv/Runtime/Engine/Scope.h"

#include <cstddef>
#include <cstdint>

namespace kv {

/// Bytes of a scope, or of the images on a page. Fields are framed by a
/// presence byte and their length.
class ScopeBytes {
public:
  static constexpr int32_t Most = 4096;

  /// The scope in this epoch.
  static ScopeBytes of(const Scope &scope, uint32_t epoch);
  /// The images that overlap the tokens [begin, end), places relative to it.
  /// Empty if none does.
  static ScopeBytes of(std::span<const ImageSpan> images, int64_t begin,
                       int64_t end);

  bool empty() const { return wanted == 0; }
  /// More than Most: not all of them are there.
  size_t size() const { return wanted; }
  const std::byte *data() const { return bytes; }

private:
  void add(const void *data, size_t size);
  void addField(std::optional<std::string_view> field);

  size_t wanted = 0;
  std::byte bytes[Most];
};

class ScopeTable {
public:
  static constexpr uint32_t None = UINT32_MAX;

  /// Room for `capacity` entries of `entryBytes`. False: no memory.
  [[nodiscard]] bool create(int32_t capacity, int32_t entryBytes, uint64_t key);

  size_t entryBytes() const { return room; }
  int32_t size() const { return used; }
  int32_t capacity() const { return static_cast<int32_t>(entries.size()); }

  /// None if nobody refers to such bytes.
  uint32_t find(const ScopeBytes &bytes) const;
  /// Adds a reference, and the bytes if they are new. None: the table is full,
  /// or they are too long for it.
  uint32_t intern(const ScopeBytes &bytes);
  void refer(uint32_t id) { ++entries[id].references; }
  /// With the last reference the number may come to mean something else.
  void release(uint32_t id);

  bool isLive(uint32_t id) const { return entries[id].references > 0; }
  int32_t references(uint32_t id) const { return entries[id].references; }
  /// Differs each time that the number means something else.
  uint32_t generation(uint32_t id) const { return entries[id].generation; }
  /// A keyed hash of the bytes.
  uint64_t tag(uint32_t id) const { return entries[id].tag; }
  /// Of any bytes, interned or not.
  uint64_t tagOf(const ScopeBytes &bytes) const;

  size_t totalBytes() const { return entries.bytes() + storage.bytes(); }

private:
  struct Entry {
    uint64_t tag;
    int32_t references;
    uint32_t generation;
    uint32_t size;
    uint32_t next; // in its bucket, or of the unused
    uint32_t bucket;
  };

  FixedArray<Entry> entries;
  FixedArray<uint32_t> buckets; // first entry plus one
  FixedArray<std::byte> storage;
  size_t room = 0;
  uint64_t key = 0;
  uint32_t unused = None;
  int32_t used = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_SCOPETABLE_H
