//===- RecordIndex.h - Which slots of a file hold which records -*- C++ -*-===//
//
// An LMDB database next to the file of records, so that a later process finds
// records of an earlier one. The index is a hint, which may be out of date: its
// reader compares the record that it finds (RecordFormat.h). LMDB keeps the
// index whole whenever a process is killed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_RECORDINDEX_H
#define KV_RUNTIME_TIERS_RECORDINDEX_H

#include "IndexCopy.h"
#include "SystemCalls.h"

#include "kv/Runtime/Tiers/PageConnector.h"

#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace kv {

/// The entry of a record in the index.
struct IndexedRecord {
  int32_t slot = 0;
  uint8_t priority = 0;
  int64_t until = 0; // nanoseconds since 1970; 0: for good
  uint64_t use = 0;  // grows with every use
};

class RecordIndex {
public:
  /// Opens or makes the database `path` of at most `records` records. A child
  /// process reads and copies the entries of an existing one: a damaged file is
  /// an error (IndexCopy.h). Errors: LMDB's.
  static Expected<RecordIndex> open(const std::string &path, int64_t records,
                                    SystemCalls &calls);
  RecordIndex(RecordIndex &&other) noexcept
      : environment(std::exchange(other.environment, nullptr)),
        about(other.about), records(other.records), calls(other.calls) {}
  ~RecordIndex() { mdb_env_close(environment); }

  /// A text that describes the store; nullopt: there is none.
  Expected<std::optional<std::string>> text(const char *name) const;
  Expected<void> setText(const char *name, const std::string &text);

  Expected<void>
  visit(const std::function<void(const PrefixName &, const IndexedRecord &)>
            &visit) const;

  struct Change {
    PrefixName name;
    IndexedRecord record;
    /// Instead: the record is forgotten, if it is in record.slot.
    bool forget = false;
  };
  /// All of the changes, or none.
  Expected<void> apply(std::span<const Change> changes);
  /// Forgets all records, even if the machine loses power, and begins this
  /// generation of them.
  Expected<void> clear(uint64_t generation);
  /// The generation of the last clear(); 0 if there was none.
  Expected<uint64_t> generation() const;

private:
  static Expected<RecordIndex> openNew(const std::string &path, int64_t records,
                                       std::span<const IndexEntry> entries,
                                       SystemCalls &calls);
  RecordIndex(MDB_env *environment, SystemCalls &calls)
      : environment(environment), calls(&calls) {}
  /// Lengthens the file to the size that LMDB states, because LMDB maps it.
  int lengthen();
  Expected<void> change(const std::function<int(MDB_txn *)> &change);

  MDB_env *environment;
  MDB_dbi about = 0, records = 0;
  SystemCalls *calls;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_RECORDINDEX_H
