//===- CacheEngine.h - Reuse, reserve, commit, evict ------------*- C++ -*-===//
//
// The one place where pool, index and sequences meet. Managers are facades on
// it. Single writer, no lock; after construction and open() nothing is
// allocated, and each call costs O(pages touched).
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_CACHEENGINE_H
#define KV_RUNTIME_CACHEENGINE_H

#include "kv/Runtime/PagePool.h"
#include "kv/Runtime/PrefixIndex.h"
#include "kv/Runtime/Sequence.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kv {

class CacheEngine {
public:
  struct Options {
    int32_t numPages = 0; // usable pages, without the null page
    int32_t pageSize = 0; // tokens
    bool prefixCaching = true;
    uint64_t key = 0; // of the index's tags
    PrefixIndex::TagFunction tagFunction = PrefixIndex::defaultTag;
  };

  /// What a reservation asks for.
  struct Demand {
    /// Pages for so many tokens in all, known or to come.
    int64_t length = 0;
    /// But for at most so many beyond the computed prefix, hits included:
    /// chunked prefill reserves what it is about to compute.
    int64_t chunk = INT64_MAX;
    /// Whether cached prefixes may be taken over.
    bool reuse = true;
  };

  /// What a reservation would take. It fits when newPages + revivedPages is at
  /// most the number of free pages.
  struct Plan {
    int32_t hitPages = 0;     // pages of the prefix that are reused
    int32_t revivedPages = 0; // of those, pages that nobody holds at present
    int32_t newPages = 0;     // pages that must be blank or evicted
    bool fits = false;
  };

  explicit CacheEngine(const Options &options);

  int32_t pageSize() const { return options.pageSize; }
  const PagePool &pool() const { return pages; }
  const PrefixIndex &index() const { return nodes; }
  bool prefixCaching() const { return options.prefixCaching; }
  /// Cached pages that were given up for new content, ever.
  int64_t numEvictions() const { return evictions; }

  /// Starts an empty sequence. Room for `maxPages` pages is set aside, so that
  /// reservations of at most so many do not allocate memory.
  void open(Sequence &sequence, int32_t maxPages) const;

  /// Plans pages for a sequence of which `tokens` are known. The longest cached
  /// prefix counts, but never all of `tokens`: at least one is left to compute.
  /// A sequence takes a hit only while it holds nothing beyond its committed
  /// pages. Changes nothing.
  Plan plan(const Sequence &sequence, std::span<const int32_t> tokens,
            const Demand &demand) const;

  /// Does what plan() says, if it fits; otherwise changes nothing. A hit raises
  /// the sequence's processed tokens.
  Plan reserve(Sequence &sequence, std::span<const int32_t> tokens,
               const Demand &demand);

  /// The first `processed` tokens have been computed: makes newly full pages
  /// findable. A page that another sequence committed meanwhile replaces this
  /// sequence's own copy. `processed` fits the sequence's pages and is at most
  /// tokens.size().
  void commit(Sequence &sequence, std::span<const int32_t> tokens,
              int64_t processed);

  /// Gives every page back, the last first, and leaves the sequence empty.
  void release(Sequence &sequence);

  /// Forgets every prefix: O(1). Sequences keep their pages and no longer
  /// commit; cached pages become the first to be evicted.
  void resetPrefixes() { nodes.reset(); }

  /// Compares all bookkeeping with `sequences`, which must be all that are
  /// open. Returns the first contradiction, or an empty string. For tests and
  /// for managers with runtime checks: O(pages).
  std::string check(std::span<const Sequence *const> sequences) const;

private:
  PageId allocate();
  /// Fills `hits` with the nodes that the sequence could take over.
  void match(const Sequence &sequence, std::span<const int32_t> tokens) const;
  std::span<const int32_t> pageTokens(std::span<const int32_t> tokens,
                                      int64_t page) const {
    return tokens.subspan(page * options.pageSize, options.pageSize);
  }

  Options options;
  PagePool pages;
  PrefixIndex nodes;
  mutable std::vector<NodeRef> hits; // scratch of match()
  int64_t evictions = 0;
};

} // namespace kv

#endif // KV_RUNTIME_CACHEENGINE_H
