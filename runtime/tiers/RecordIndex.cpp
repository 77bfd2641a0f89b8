//===- RecordIndex.cpp - Which slots of a file hold which records ---------===//

#include "RecordIndex.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

using namespace kv;

namespace {

constexpr char About[] = "about", Records[] = "records";

MDB_val bytesOf(const void *data, size_t size) {
  return {size, const_cast<void *>(data)};
}

std::unexpected<Error> failed(const char *what, int result) {
  return makeError(KV_STATUS_INTERNAL, what, ": ", mdb_strerror(result));
}

std::optional<IndexedRecord> toRecord(const MDB_val &value) {
  IndexedRecord record;
  if (value.mv_size != sizeof record)
    return std::nullopt;
  std::memcpy(&record, value.mv_data, sizeof record);
  return record;
}

} // namespace

Expected<RecordIndex> RecordIndex::open(const std::string &path,
                                        int64_t records, SystemCalls &calls) {
  struct stat status;
  bool isThere = stat(path.c_str(), &status) == 0 && status.st_size > 0;
  if (!isThere)
    return openNew(path, records, {}, calls);
  Expected<std::vector<IndexEntry>> entries =
      readIndexInChild(path, {About, Records});
  if (!entries)
    return std::unexpected(entries.error());
  // Next to the old file, which stays if the process ends here.
  std::string fresh = path + ".new";
  unlink(fresh.c_str());
  Expected<RecordIndex> made = openNew(
      fresh, std::max<int64_t>(records, std::ssize(*entries)), *entries, calls);
  if (made && rename(fresh.c_str(), path.c_str()) != 0)
    return failed(path.c_str(), errno);
  return made;
}

Expected<RecordIndex> RecordIndex::openNew(const std::string &path,
                                           int64_t records,
                                           std::span<const IndexEntry> entries,
                                           SystemCalls &calls) {
  MDB_env *environment = nullptr;
  if (int result = mdb_env_create(&environment))
    return failed("mdb_env_create", result);
  RecordIndex index(environment, calls);
  // An entry takes 64 bytes, in pages that are half full at worst, and a
  // transaction copies the pages that it changes. The file grows as it is used.
  size_t most = (size_t(16) << 20) + 512 * static_cast<size_t>(records);
  mdb_env_set_maxdbs(environment, 2);
  mdb_env_set_mapsize(environment, most);
  // The store locks its directory, and changes come one after the other. A
  // power failure may take the last changes, not the order of the others.
  unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOMETASYNC;
  if (int result = mdb_env_open(environment, path.c_str(), flags, 0600))
    return failed(path.c_str(), result);
  MDB_txn *transaction = nullptr;
  int result = index.lengthen();
  if (!result)
    result = mdb_txn_begin(environment, nullptr, 0, &transaction);
  if (result)
    return failed(path.c_str(), result);
  result = mdb_dbi_open(transaction, About, MDB_CREATE, &index.about);
  if (!result)
    result = mdb_dbi_open(transaction, Records, MDB_CREATE, &index.records);
  for (const IndexEntry &entry : entries) {
    // Entries of a damaged file that have no valid key are not found.
    if (entry.key.empty() || entry.key.size() > sizeof(PrefixName))
      continue;
    MDB_val key = bytesOf(entry.key.data(), entry.key.size());
    MDB_val value = bytesOf(entry.value.data(), entry.value.size());
    if (!result)
      result = mdb_put(transaction,
                       entry.database == 0 ? index.about : index.records, &key,
                       &value, 0);
  }
  if (result)
    mdb_txn_abort(transaction);
  else
    result = calls.commit(transaction);
  if (result)
    return failed(path.c_str(), result);
  return index;
}

int RecordIndex::lengthen() {
  MDB_envinfo info;
  MDB_stat pages;
  mdb_filehandle_t file;
  struct stat status;
  if (int result = mdb_env_info(environment, &info))
    return result;
  if (int result = mdb_env_stat(environment, &pages))
    return result;
  if (int result = mdb_env_get_fd(environment, &file))
    return result;
  auto bytes = static_cast<off_t>((info.me_last_pgno + 1) * pages.ms_psize);
  if (fstat(file, &status) != 0 ||
      (status.st_size < bytes && ftruncate(file, bytes) != 0))
    return errno;
  return 0;
}

Expected<std::optional<std::string>> RecordIndex::text(const char *name) const {
  MDB_txn *transaction = nullptr;
  if (int result =
          mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction))
    return failed("mdb_txn_begin", result);
  MDB_val key = bytesOf(name, std::strlen(name)), value;
  std::optional<std::string> found;
  int result = mdb_get(transaction, about, &key, &value);
  if (result == 0)
    found =
        std::string(static_cast<const char *>(value.mv_data), value.mv_size);
  mdb_txn_abort(transaction);
  if (result != 0 && result != MDB_NOTFOUND)
    return failed("mdb_get", result);
  return found;
}

Expected<void>
RecordIndex::change(const std::function<int(MDB_txn *)> &change) {
  MDB_txn *transaction = nullptr;
  if (int result = mdb_txn_begin(environment, nullptr, 0, &transaction))
    return failed("mdb_txn_begin", result);
  if (int result = change(transaction)) {
    mdb_txn_abort(transaction);
    return failed("a change of the index", result);
  }
  if (int result = calls->commit(transaction))
    return failed("mdb_txn_commit", result);
  return {};
}

Expected<void> RecordIndex::setText(const char *name, const std::string &text) {
  return change([&](MDB_txn *transaction) {
    MDB_val key = bytesOf(name, std::strlen(name));
    MDB_val value = bytesOf(text.data(), text.size());
    return mdb_put(transaction, about, &key, &value, 0);
  });
}

Expected<void> RecordIndex::visit(
    const std::function<void(const PrefixName &, const IndexedRecord &)> &visit)
    const {
  MDB_txn *transaction = nullptr;
  if (int result =
          mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction))
    return failed("mdb_txn_begin", result);
  MDB_cursor *cursor = nullptr;
  int result = mdb_cursor_open(transaction, records, &cursor);
  MDB_val key, value;
  while (!result && !(result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
    if (PrefixName name; key.mv_size == name.size())
      if (std::optional<IndexedRecord> record = toRecord(value)) {
        std::memcpy(name.data(), key.mv_data, name.size());
        visit(name, *record);
      }
  if (cursor)
    mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  if (result != MDB_NOTFOUND)
    return failed("mdb_cursor_get", result);
  return {};
}

Expected<void> RecordIndex::apply(std::span<const Change> changes) {
  return change([&](MDB_txn *transaction) {
    for (const Change &change : changes) {
      MDB_val key = bytesOf(change.name.data(), change.name.size()), value;
      int result = 0;
      if (!change.forget) {
        value = bytesOf(&change.record, sizeof change.record);
        result = mdb_put(transaction, records, &key, &value, 0);
      } else if (mdb_get(transaction, records, &key, &value) == 0) {
        std::optional<IndexedRecord> known = toRecord(value);
        if (!known || known->slot == change.record.slot)
          result = mdb_del(transaction, records, &key, nullptr);
      }
      if (result)
        return result;
    }
    return 0;
  });
}

static constexpr char Generation[] = "generation";

Expected<void> RecordIndex::clear(uint64_t generation) {
  Expected<void> changed = change([&](MDB_txn *transaction) {
    MDB_val key = bytesOf(Generation, sizeof Generation - 1);
    MDB_val value = bytesOf(&generation, sizeof generation);
    if (int result = mdb_put(transaction, about, &key, &value, 0))
      return result;
    return mdb_drop(transaction, records, /*del=*/0);
  });
  if (!changed)
    return changed;
  if (int result = calls->sync(environment))
    return failed("mdb_env_sync", result);
  return {};
}

Expected<uint64_t> RecordIndex::generation() const {
  Expected<std::optional<std::string>> found = text(Generation);
  if (!found)
    return std::unexpected(found.error());
  uint64_t generation = 0;
  if (*found && (*found)->size() == sizeof generation)
    std::memcpy(&generation, (*found)->data(), sizeof generation);
  return generation;
}
