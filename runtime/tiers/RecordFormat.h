//===- RecordFormat.h - A record on a disk ----------------------*- C++ -*-===//
//
// A record describes itself. A reader compares everything with what was asked
// for, and never trusts the place where it was found. Little endian:
//
//   0    8 bytes  "kvrecord"
//   8    u32      version of this format
//   12   u32      tokens of a page
//   16   u32      bytes of images
//   20   u32      bytes of the header, all of what precedes the keys and values
//   24   u64      bytes of keys and values
//   32   32 bytes name of the prefix
//   64   32 bytes name of its parent
//   96   32 bytes name of its scope
//   128  u64      generation: how often the store had been reset before
//   136  16 bytes XXH3-128 of the header, with zeros here, and of what follows
//   152  i32 each the tokens, then the images, then zeros
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_RECORDFORMAT_H
#define KV_RUNTIME_TIERS_RECORDFORMAT_H

#include "kv/Runtime/Tiers/PageConnector.h"

#include <vector>

namespace kv {

/// A page that owns what it points to: what a thread needs to know of it.
struct OwnedPage {
  PrefixName name, parent, scope;
  std::vector<int32_t> tokens;
  std::vector<std::byte> images;

  static OwnedPage of(const PrefixPage &page) {
    return {page.name,
            page.parent,
            page.scope,
            {page.tokens.begin(), page.tokens.end()},
            {page.images.begin(), page.images.end()}};
  }
  PrefixPage view() const { return {name, parent, scope, tokens, images}; }
  bool is(const PrefixPage &page) const;
};

/// Most bytes of images on a page of which a record is made: four images with
/// digests of 32 bytes.
inline constexpr size_t MostImageBytes = 256;

/// Bytes of the header of a record of pages of `pageSize` tokens.
size_t recordHeaderBytes(int32_t pageSize);

/// The header of the record of a page, whose keys and values pass by in parts:
/// on their way to a disk, or from it, while they are in the caches of the CPU.
class RecordHeader {
public:
  explicit RecordHeader(size_t bytes);
  ~RecordHeader();
  RecordHeader(const RecordHeader &) = delete;

  /// Begins a record of `dataBytes` bytes of keys and values.
  void begin(const PrefixPage &page, size_t dataBytes, uint64_t generation);
  void add(std::span<const std::byte> part);
  /// The header, after all parts. Another record has another one.
  std::span<std::byte> finish();

private:
  std::vector<std::byte> header;
  struct Sum;
  std::unique_ptr<Sum> sum;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_RECORDFORMAT_H
