//===- ScopeTable.cpp - Interned scopes and images ------------------------===//

#include "ScopeTable.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

using namespace kv;

//===----------------------------------------------------------------------===//
// Framing
//===----------------------------------------------------------------------===//

void ScopeBytes::add(const void *data, size_t size) {
  if (wanted + size <= Most)
    std::memcpy(bytes + wanted, data, size);
  wanted += size;
}

void ScopeBytes::addField(std::optional<std::string_view> field) {
  uint8_t present = field.has_value();
  add(&present, 1);
  if (!field)
    return;
  uint64_t size = field->size();
  add(&size, sizeof(size));
  add(field->data(), field->size());
}

ScopeBytes ScopeBytes::of(const Scope &scope, uint32_t epoch) {
  ScopeBytes result;
  result.add("s", 1); // images begin with another byte
  result.add(&epoch, sizeof(epoch));
  result.addField(scope.model);
  result.addField(scope.adapter);
  result.addField(scope.salt);
  return result;
}

ScopeBytes ScopeBytes::of(std::span<const ImageSpan> images, int64_t begin,
                          int64_t end) {
  ScopeBytes result;
  for (const ImageSpan &image : images) {
    if (image.begin >= end || image.begin + image.length <= begin)
      continue;
    // Where the image begins relative to the page, and its length, decide which
    // part of the image the page holds.
    int64_t place[2] = {image.begin - begin, image.length};
    result.add("i", 1);
    result.add(place, sizeof(place));
    result.addField(image.hash);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

bool ScopeTable::create(int32_t capacity, int32_t entryBytes,
                        uint64_t withKey) {
  room = entryBytes;
  key = withKey;
  if (!entries.create(capacity) ||
      !buckets.create(std::bit_ceil(2 * static_cast<size_t>(capacity))) ||
      !storage.create(static_cast<size_t>(capacity) * entryBytes))
    return false;
  for (int32_t id = capacity - 1; id >= 0; --id) {
    entries[id].next = unused;
    unused = static_cast<uint32_t>(id);
  }
  return true;
}

uint64_t ScopeTable::tagOf(const ScopeBytes &bytes) const {
  return XXH3_64bits_withSeed(
      bytes.data(), std::min<size_t>(bytes.size(), ScopeBytes::Most), key);
}

uint32_t ScopeTable::find(const ScopeBytes &bytes) const {
  if (bytes.size() > room)
    return None;
  uint64_t tag = tagOf(bytes);
  for (uint32_t at = buckets[tag & (buckets.size() - 1)]; at > 0;) {
    const ScopeEntry &entry = entries[at - 1];
    if (entry.tag == tag && entry.size == bytes.size() &&
        std::memcmp(&storage[(at - 1) * room], bytes.data(), entry.size) == 0)
      return at - 1;
    at = entry.next;
  }
  return None;
}

uint32_t ScopeTable::intern(const ScopeBytes &bytes) {
  if (uint32_t known = find(bytes); known != None) {
    refer(known);
    return known;
  }
  if (unused == None || bytes.size() > room)
    return None;
  uint32_t id = unused;
  ScopeEntry &entry = entries[id];
  unused = entry.next;
  entry.tag = tagOf(bytes);
  entry.references = 1;
  entry.size = static_cast<uint32_t>(bytes.size());
  entry.bucket = static_cast<uint32_t>(entry.tag & (buckets.size() - 1));
  entry.next = buckets[entry.bucket];
  buckets[entry.bucket] = id + 1;
  std::memcpy(&storage[id * room], bytes.data(), entry.size);
  ++used;
  return id;
}

void ScopeTable::release(uint32_t id) {
  ScopeEntry &entry = entries[id];
  assert(entry.references > 0 && "released twice");
  if (--entry.references > 0)
    return;
  uint32_t *link = &buckets[entry.bucket];
  while (*link != id + 1)
    link = &entries[*link - 1].next;
  *link = entry.next;
  ++entry.generation;
  entry.next = unused;
  unused = id;
  --used;
}
