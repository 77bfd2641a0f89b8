//===- RecordConversion.h - Between page sizes and layouts ------*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_RECORDCONVERSION_H
#define KV_RUNTIME_TRANSPORT_RECORDCONVERSION_H

#include "kv/Runtime/Manager/KVCacheParams.h"

#include <cstddef>
#include <span>
#include <vector>

namespace kv {

/// Moves the rows of records (CacheMemory::Record) of caches that differ in
/// page size and layout only. No element is changed.
class RecordConversion {
public:
  RecordConversion(const MultiKVCacheParams &from,
                   const MultiKVCacheParams &to);

  /// Whether a record is the same bytes on both sides.
  bool isIdentity() const { return same; }
  int64_t sourceBytes() const { return bytesFrom; }
  int64_t sourcePage() const { return pageFrom; }

  /// Writes the record of the page `index` of a prefix. `sources` are the
  /// records, without gaps between them, of the pages of the other size from
  /// `first` on, as far as the page's tokens need them.
  void convert(std::byte *target, int64_t index, const std::byte *sources,
               int64_t first) const;
  /// Copies a record that is the same on both sides, that of a part of a
  /// state: there page sizes are equal.
  void copy(std::byte *target, int64_t index, const std::byte *sources,
            int64_t first) const;

private:
  /// Blocks or scales of one band of a collection on one shard.
  struct Part {
    size_t from, to; // in a record
    int64_t rowBytes;
    int64_t planes, layers, heads;
    /// Bytes between planes, layers, tokens, heads.
    std::array<int64_t, 4> stepsFrom, stepsTo;
  };

  bool same = false;
  int64_t pageFrom, pageTo;
  int64_t bytesFrom = 0;
  std::vector<Part> parts;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_RECORDCONVERSION_H
