//===- ScopeTable.h - Interned scopes and images ----------------*- C++ -*-===//
//
// Gives scopes, and the images on a page, small ids: equal bytes have the same
// id as long as somebody refers to it. Bytes are compared in full, so two
// tenants never share an id. One thread; nothing is allocated after create().
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_SCOPETABLE_H
#define KV_RUNTIME_ENGINE_STRUCTURES_SCOPETABLE_H

#include "FixedArray.h"

#include "kv/Runtime/Engine/Scope.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kv {

/// The bytes of a scope, or of the images on a page. A field is preceded by a
/// byte that says whether it is there, and by its length.
class ScopeBytes {
public:
  static constexpr int32_t Most = 4096;

  /// Of the scope in this epoch.
  static ScopeBytes of(const Scope &scope, uint32_t epoch);
  /// The prefix of a scope's fields: a letter and the epoch.
  static constexpr size_t ScopeHeader = 1 + sizeof(uint32_t);
  /// The epoch in the bytes of a scope.
  static uint32_t epochOf(std::span<const std::byte> scope) {
    uint32_t epoch;
    std::memcpy(&epoch, scope.data() + 1, sizeof(epoch));
    return epoch;
  }
  /// Of the images that overlap the tokens [begin, end), with their places
  /// relative to `begin`. Empty if none does.
  static ScopeBytes of(std::span<const ImageSpan> images, int64_t begin,
                       int64_t end);

  bool empty() const { return wanted == 0; }
  /// If this is more than Most, only the leading fields that fit are in data().
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

  /// The id of these bytes; None if no scope refers to them.
  uint32_t find(const ScopeBytes &bytes) const;
  /// The id of these bytes, with a reference more. None: they are new and the
  /// table is full, or they are longer than entryBytes().
  uint32_t intern(const ScopeBytes &bytes);
  /// Adds a reference.
  void refer(uint32_t id) { ++entries[id].references; }
  /// Drops a reference. Without any, the id may be given to other bytes.
  void release(uint32_t id);

  bool isLive(uint32_t id) const { return entries[id].references > 0; }
  int32_t references(uint32_t id) const { return entries[id].references; }
  /// Grows each time that the id is given up, so that a stale use is noticed.
  uint32_t generation(uint32_t id) const { return entries[id].generation; }
  /// The bytes; valid as long as the id is.
  std::span<const std::byte> bytes(uint32_t id) const {
    return {&storage[id * room], entries[id].size};
  }
  /// A keyed hash of the bytes.
  uint64_t tag(uint32_t id) const { return entries[id].tag; }
  /// The same hash of any bytes, interned or not.
  uint64_t tagOf(const ScopeBytes &bytes) const;

  size_t totalBytes() const { return entries.bytes() + storage.bytes(); }

private:
  struct ScopeEntry {
    uint64_t tag;
    int32_t references;
    uint32_t generation;
    uint32_t size;
    uint32_t next; // in its bucket: index plus 1; unused: index, or None
    uint32_t bucket;
  };

  FixedArray<ScopeEntry> entries;
  FixedArray<uint32_t> buckets; // index of the first entry, plus 1; 0: empty
  FixedArray<std::byte> storage;
  size_t room = 0;
  uint64_t key = 0;
  uint32_t unused = None;
  int32_t used = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_SCOPETABLE_H
