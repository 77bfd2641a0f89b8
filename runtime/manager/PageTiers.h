//===- PageTiers.h - Pages of requests in tiers -----------------*- C++ -*-===//
//
// The use that a paged manager makes of a connector (PageConnector.h). Names
// the pages of its requests, copies computed pages to records, and records to
// the pages that a request has reserved. For the engine, a load is a chunk that
// was computed elsewhere: pages are reserved, filled and committed like any
// others. So only pages that were loaded whole can be found.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGETIERS_H
#define KV_RUNTIME_MANAGER_PAGETIERS_H

#include "kv/Runtime/Manager/CacheMemory.h"
#include "kv/Runtime/Tiers/PageConnector.h"
#include "kv/Runtime/Tiers/StateRecords.h"

#include <functional>

namespace kv {

class PageTiers {
public:
  struct Options {
    PageConnector::Options connector; // but for memory, recordBytes, numSlots
    int64_t hostBytes = 0;            // of all slots
    Device device = {};               // for whose copies host memory is pinned
    size_t requests = 0;              // that have names at the same time
    int64_t recordBytes = 0;          // without its payload
    int64_t payloadBytes = 0;         // of a record
    int64_t stateParts = 0; // records of one state; 0: there are no states
    std::function<Expected<std::unique_ptr<PageConnector>>(
        const PageConnector::Options &)>
        open;
    std::vector<CacheEventSink *> events = {}; // each is told of all records
  };
  /// Errors: the host memory holds no record, or there is none; those of
  /// PageConnector::open().
  static Expected<std::unique_ptr<PageTiers>> create(const Options &options);
  ~PageTiers() { finishCopies(); }

  //===--- Names, by the index of a request -------------------------------===//

  /// A request with a payload finds and stores records with one, as many as it
  /// is long. Others find all, and store records without one.
  void open(size_t request, const Scope &scope,
            std::span<const std::byte> payload);
  void close(size_t request) { names[request].clear(); }
  /// Request `to` has the first `pages` pages of `from`.
  void fork(size_t from, size_t to, int64_t pages);
  /// From the page `pages` on, the tokens may differ from now on.
  void truncate(size_t request, int64_t pages);

  //===--- Records --------------------------------------------------------===//

  /// The end of the run of pages from `first` on, at most to `last`, of which
  /// there are records.
  int64_t find(size_t request, const Prompt &prompt, int64_t first,
               int64_t last);
  /// The most pages of a prefix, above `first` and at most `last`, after which
  /// there is a state in records; `first`: there is none.
  int64_t findState(size_t request, const Prompt &prompt, int64_t first,
                    int64_t last);
  /// Whether the last find() or findState() may find more: a store is asked.
  bool awaitsAnswer() const { return isAsked; }
  void findNothing() { isAsked = false; }

  /// The records that are loaded, in this order: pages up to `pages`, and then
  /// the parts of the state after them, to `state`, unless that is NullState.
  struct Prefix {
    int64_t pages = 0;
    StateId state = NullState;
  };
  struct Progress {
    int64_t loaded = 0;    // leading records
    bool isComing = false; // whether more are on their way
  };
  /// Of the prefix's records [first, end), loads the leading ones that are in
  /// memory into the sequence's pages and the state. Asks for the others; those
  /// below `asked` have been asked for. A request has a claim on the slots of
  /// records that it has asked for and not loaded. While the claims of others
  /// take half of all slots it asks for nothing, and more is coming all the
  /// same: it has to look again. A claim ends by endLoad(). Nothing depends on
  /// that: if no request with a claim looks between two looks of one that has
  /// no room, their claims end.
  /// `payload`: as long as that of open().
  Progress load(size_t request, const Prompt &prompt,
                std::span<std::byte> payload, const Sequence &sequence,
                const Prefix &prefix, int64_t first, int64_t end,
                int64_t &asked, CacheMemory &memory);
  /// The request loads no more.
  void endLoad(size_t request) { claim(request, 0); }
  /// Waits until a record has come. False: it takes longer than `most`.
  bool wait(std::chrono::nanoseconds most) {
    finishCopies();
    bool hasCome = connector->wait(most);
    tell();
    return hasCome;
  }

  /// Remembers the ids of the sequence's pages [first, end), which commit() may
  /// replace by those of equal pages; then, store() copies these pages.
  void stage(const Sequence &sequence, int64_t first, int64_t end,
             const CacheMemory &memory);
  void store(size_t request, const Prompt &prompt,
             std::span<const std::byte> payload, const Retention &retention,
             int64_t first, int64_t end, CacheMemory &memory);

  /// Copies the state after the first `pages` pages, unless there is such a
  /// record. `tokens` are those of the last of these pages.
  void storeState(size_t request, std::span<const int32_t> tokens,
                  const Retention &retention, int64_t pages, StateId state,
                  CacheMemory &memory);

  /// The sequence has reserved its pages [first, ...) and the state `state`: if
  /// some are still being copied to records, later steps wait for that.
  void willWrite(const Sequence &sequence, int64_t first, StateId state,
                 CacheMemory &memory);

  /// A request that has had the first `pages` pages lets go of them.
  void touch(size_t request, int64_t pages, const Retention &retention);
  /// A request that has had the state after the first `pages` pages lets go of
  /// it.
  void touchState(size_t request, std::span<const int32_t> tokens,
                  int64_t pages, const Retention &retention);

  Expected<void> reset() {
    finishCopies();
    Expected<void> done = connector->reset();
    tell();
    return done;
  }
  const TierMetrics &metrics() const { return connector->metrics(); }
  int64_t hostBytes() const { return static_cast<int64_t>(memory.bytes()); }

private:
  PageTiers(const Options &options, int64_t slots)
      : pageSize(options.connector.pageSize), dataBytes(options.recordBytes),
        payloadBytes(static_cast<size_t>(options.payloadBytes)),
        stateParts(static_cast<int32_t>(options.stateParts)),
        numSlots(static_cast<int32_t>(slots)), names(options.requests),
        payloadPages(options.requests, NoPayload), turns(options.requests) {}

  /// The page of a request's prompt, named. Valid until the next call. Nullopt:
  /// it has no name, since its scope or images are too long for one.
  std::optional<PrefixPage> page(size_t request, const Prompt &prompt,
                                 int64_t index);
  /// A part of the state after the first `pages` pages, of which `tokens` are
  /// the last one's. Valid and nullopt as above, also if these are not named.
  std::optional<PrefixPage> part(size_t request,
                                 std::span<const int32_t> tokens, int64_t pages,
                                 int32_t index);
  /// A record of a prefix.
  std::optional<PrefixPage> record(size_t request, const Prompt &prompt,
                                   const Prefix &prefix, int64_t index);
  /// The record of the same page with a payload, for a request that needs none
  /// and has not found the one without it.
  std::optional<PrefixPage> other(size_t request,
                                  const PrefixPage &wanted) const {
    if (payloadBytes == 0 || payloadPages[request] != NoPayload)
      return std::nullopt;
    PrefixPage found = wanted;
    found.name = withPayload(wanted.name);
    return found;
  }
  /// What `call` gives for a record; where that is nothing, for the other one.
  template <class Call>
  auto firstOf(size_t request, const PrefixPage &wanted, Call call) const {
    auto result = call(wanted);
    if (!result)
      if (std::optional<PrefixPage> second = other(request, wanted))
        result = call(*second);
    return result;
  }
  /// Records with and without a payload have names of their own, of which
  /// events make the same hash.
  static PrefixName withPayload(PrefixName name) {
    name[0] ^= std::byte(1);
    return name;
  }
  PageConnector::Place placeOf(size_t request,
                               const std::optional<PrefixPage> &wanted);
  RecordWorth worthOf(const Retention &retention, int64_t index) const;
  void claim(size_t request, int64_t count);
  /// How many records the request may have asked for and not loaded.
  int64_t roomFor(size_t request);
  /// Queues copies between `slots` and pages, as `records` says.
  void copy(CacheMemory &memory, bool toDevices);
  /// Gives back the slots of copies that are over; does not wait.
  void giveBackCopied();
  void finishCopies();
  /// Takes note of what is over.
  void poll();
  /// Tells sinks what has changed.
  void tell();

  int64_t pageSize, dataBytes; // dataBytes: of a record, before its payload
  size_t payloadBytes;
  int32_t stateParts, numSlots;
  Memory memory; // the slots
  std::unique_ptr<PageConnector> connector;
  /// Of each request: the name of its scope, then those of its pages as far as
  /// they were needed.
  std::vector<std::vector<PrefixName>> names;
  /// Of each request: the pages that its payload covers, or NoPayload.
  static constexpr int64_t NoPayload = -1;
  std::vector<int64_t> payloadPages;
  /// Of each request: the records that it has asked for and not loaded, and
  /// numLooks when it looked last.
  struct Turn {
    int64_t claimed = 0;
    uint64_t looksBefore = 0;
  };
  std::vector<Turn> turns;
  int64_t numClaimed = 0; // of all requests
  uint64_t numLooks = 1;  // calls of load() by requests that had a claim then
  std::vector<CacheEventSink *> events; // that want to be told
  std::vector<TierChange> changes;      // scratch of tell()
  std::vector<std::byte> images;        // of page()
  std::vector<std::array<PageId, CacheGroups::Most>> staged;
  /// Slots that queued copies read or write.
  struct Copy {
    PageConnector::Slot slot;
    CacheMemory *memory;
    bool toDevices;
    std::array<PageId, CacheGroups::Most> pages; // by group
    StateId state;                               // instead of pages
  };
  std::vector<Copy> queued;
  bool isAsked = false; // awaitsAnswer()
  StateMark mark{0};    // of part()
  // Scratch.
  std::vector<PageConnector::Slot> slots;
  std::vector<CacheMemory::Record> records;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGETIERS_H
