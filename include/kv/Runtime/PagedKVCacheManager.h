//===- PagedKVCacheManager.h - Pages for a batch of requests ----*- C++ -*-===//
//
//   manager->claim(context.id());
//   manager->alloc(context);
//   auto inputs = manager->runtimeInputs(batch);
//   ... execute ...
//   context.update(tokens);      // the caller's list, one longer
//   manager->step(batch);        // what was computed becomes shareable
//   manager->release(context.id());
//
// A facade of CacheEngine. One thread at a time. After construction, calls
// that succeed allocate no memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_PAGEDKVCACHEMANAGER_H
#define KV_RUNTIME_PAGEDKVCACHEMANAGER_H

#include "kv/Runtime/Buffer.h"
#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Engine/LookupTable.h"
#include "kv/Runtime/KVCacheParams.h"
#include "kv/Runtime/TextGenerationContext.h"

#include <memory>

namespace kv {

/// One device's cache arguments for one step. The views are the manager's: the
/// blocks stay, the other three are written by the next runtimeInputs.
struct RaggedKVCacheInputs {
  KvTensorView blocks;       // [pages + 1, 2, layers, page, heads, dim]
  KvTensorView cacheLengths; // i32 [B]: tokens in the cache before the step
  KvTensorView lookupTable;  // i32 [B, pitch]: page ids, unused entries 0
  KvTensorView maxLengths;   // i32 [steps, 2]: most new tokens, most tokens
};

/// Why a reservation was refused. It changed nothing.
struct AllocationError {
  enum class Reason {
    Full,      // not now: other requests hold the pages
    NeverFits, // not even alone
    Invalid    // the call makes no sense
  };
  Reason reason;
  Error error;
};

/// What a reservation took.
struct Allocation {
  int64_t cachedTokens; // skipped in the context
  int32_t newPages;
};

struct KVCacheMetrics {
  int64_t inputTokens = 0;  // active tokens of successful reservations
  int64_t cachedTokens = 0; // tokens that the prefix cache saved
  int64_t evictedPages = 0;
  int64_t refusals = 0; // reservations that did not fit
  int32_t peakUsedPages = 0;
};

class PagedKVCacheManager {
public:
  struct Options {
    Device device = {};
    int32_t maxBatchSize = 16; // requests tracked at a time
    int64_t maxSeqLen = 0;     // tokens of one request
    int64_t numPages = 0;      // usable pages
    int32_t maxSteps = 1;      // largest `steps` of alloc and runtimeInputs
    bool enablePrefixCaching = true;
    bool enableRuntimeChecks = false; // all invariants after every call: slow
    uint64_t key = 0;                 // of the prefix index's tags
  };

  /// Allocates the blocks, (numPages + 1) * params.bytesPerPage() bytes.
  /// Errors: parameters that do not validate, an option out of range, no
  /// memory.
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  create(const KVCacheParams &params, const Options &options);

  const KVCacheParams &params() const { return cacheParams; }
  int64_t maxSeqLen() const { return options.maxSeqLen; }
  /// Entries of a lookup table's row: the pages of the longest request, rounded
  /// up to 8, and 16 of slack for wide reads.
  static int64_t tablePitch(int64_t maxPages);

  /// Tracks a request. Errors: claimed already; maxBatchSize are tracked.
  Expected<void> claim(RequestId id);
  bool contains(RequestId id) const { return findSlot(id) >= 0; }

  /// Takes over the longest cached prefix (context.skip) and reserves pages for
  /// the processed and active tokens and `steps` - 1 more. After it, runtime
  /// inputs cannot fail for lack of memory.
  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1);

  /// What alloc would take, without taking it. Error: not claimed.
  Expected<CacheEngine::Plan> probe(const TextGenerationContext &context,
                                    int32_t steps = 1) const;

  /// Fills the inputs of a step over `batch`, in its order. Errors name the
  /// request: not claimed, no active token, pages that were not reserved.
  Expected<RaggedKVCacheInputs>
  runtimeInputs(std::span<const TextGenerationContext *const> batch,
                int32_t steps = 1);

  /// The contexts have been advanced over what was computed: commits newly full
  /// pages. Errors name the request; the others are committed all the same.
  Expected<void> step(std::span<const TextGenerationContext *const> batch);

  /// Gives a request's pages back; legal at any time. Error: not claimed.
  Expected<void> release(RequestId id);

  /// The request's pages in order, valid until its next call. Error: not
  /// claimed.
  Expected<std::span<const PageId>> getReqBlocks(RequestId id) const;

  int32_t numFreeBlocks() const { return engine->pool().numFree(); }
  int32_t totalNumPages() const { return engine->pool().numTotal(); }
  /// Fractions of the usable pages, 0 to 1.
  double freeBlocksPct() const {
    return static_cast<double>(numFreeBlocks()) / totalNumPages();
  }
  double usedBlocksPct() const { return 1.0 - freeBlocksPct(); }
  int64_t poolBytes() const {
    return (int64_t(totalNumPages()) + 1) * cacheParams.bytesPerPage();
  }

  KVCacheMetrics metrics() const;
  void resetMetrics();

  /// No prefix computed so far is found any more. Running requests keep theirs.
  void resetPrefixCache() { engine->resetPrefixes(); }

  /// Names, types and shapes of the cache arguments, in the order of
  /// RaggedKVCacheInputs.
  std::vector<Argument> symbolicInputs() const {
    return cacheParams.symbolicInputs();
  }

  /// All invariants. Error: the first contradiction.
  Expected<void> check() const;

private:
  struct Slot {
    RequestId id = 0;
    Sequence sequence; // open while the slot is used
  };

  PagedKVCacheManager(const KVCacheParams &params, const Options &options);
  int32_t findSlot(RequestId id) const;
  size_t home(RequestId id) const;
  Error unclaimed(RequestId id) const;
  Expected<void> checked() const;
  void completeStep();
  void run(std::span<const PageOp> ops);

  KVCacheParams cacheParams;
  Options options;
  std::unique_ptr<CacheEngine> engine;
  int64_t maxPages; // of one request
  int64_t pitch;
  Buffer blocks, cacheLengths, lookupTable, maxLengths;
  LookupTable rows;    // what lookupTable holds
  Ticket openStep = 0; // of the last runtimeInputs; 0: over

  std::vector<Slot> slots;
  std::vector<int32_t> unusedSlots;
  std::vector<int32_t> byId; // open addressing: slot or -1
  KVCacheMetrics counters;
  int64_t evictionsBefore = 0; // of the last resetMetrics
};

} // namespace kv

#endif // KV_RUNTIME_PAGEDKVCACHEMANAGER_H
