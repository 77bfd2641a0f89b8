//===- DiskStore.cpp - Records on a disk ----------------------------------===//

#include "DiskStore.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

using namespace kv;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static constexpr size_t Block = 4096; // of file systems and disks
static constexpr int32_t MostThreads = 256;

DiskStore::DiskStore(const PageConnector::Options &options, SystemCalls &calls,
                     TierMetrics &metrics, Waker &waker, ChangeList &told)
    : calls(calls), metrics(metrics), waker(waker), told(told),
      directory(options.directory),
      headerBytes(recordHeaderBytes(options.pageSize)),
      slotBytes((headerBytes + options.recordBytes + Block - 1) / Block *
                Block),
      numSlots(std::clamp<int64_t>(
          options.diskBytes / static_cast<int64_t>(slotBytes), 0, INT32_MAX)),
      recency(0) {}

static std::unexpected<Error> unusable(const std::string &directory,
                                       const std::string &why) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, "disk tier: ", directory, " ",
                   why);
}

static std::unexpected<Error> brokenIndex(const std::string &directory,
                                          const Error &why) {
  return unusable(directory,
                  concat("has an index that cannot be used (", why.message,
                         "): use another directory, or delete this one"));
}

Expected<std::unique_ptr<DiskStore>>
DiskStore::open(const PageConnector::Options &options, SystemCalls &calls,
                TierMetrics &metrics, Waker &waker, ChangeList &told) {
  std::unique_ptr<DiskStore> store(
      new DiskStore(options, calls, metrics, waker, told));
  if (store->numSlots < 1)
    return makeError(
        KV_STATUS_INVALID_ARGUMENT, "disk tier: ", options.diskBytes,
        " bytes hold no record, which takes ", store->slotBytes, " bytes");
  if (options.ioThreads < 1 || options.ioThreads > MostThreads)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "disk tier: ioThreads is ",
                     options.ioThreads, ", allowed: 1 to ", MostThreads);
  if (Expected<void> locked = store->lockDirectory(); !locked)
    return std::unexpected(locked.error());
  Expected<RecordIndex> index = RecordIndex::open(
      options.directory + "/index.mdb", store->numSlots, calls);
  if (!index)
    return brokenIndex(options.directory, index.error());
  store->index.emplace(std::move(*index));
  if (Expected<void> known = store->adopt(options); !known)
    return std::unexpected(known.error());
  if (Expected<void> made = store->openFile(); !made)
    return std::unexpected(made.error());
  if (Expected<void> read = store->readIndex(); !read)
    return std::unexpected(read.error());
  metrics.diskPages = static_cast<int32_t>(store->numSlots);
  if (Expected<void> started = store->startThreads(options.ioThreads); !started)
    return std::unexpected(started.error());
  return store;
}

Expected<void> DiskStore::startThreads(int32_t count) {
  try {
    while (count-- > 0)
      threads.emplace_back([this] { work(); });
  } catch (const std::system_error &error) {
    return makeError(KV_STATUS_OUT_OF_MEMORY, "disk tier: no more than ",
                     threads.size(), " threads can be started: ", error.what());
  }
  return {};
}

Expected<void> DiskStore::lockDirectory() {
  auto failed = [&](const std::string &why) {
    return unusable(directory, concat("cannot be used: ", why));
  };
  std::error_code made;
  std::filesystem::create_directories(directory, made);
  if (made)
    return failed(made.message());
  lockFile =
      ::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lockFile < 0)
    return failed(std::strerror(errno));
  while (flock(lockFile, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return unusable(directory, "is in use by another process");
    if (errno != EINTR)
      return failed(std::strerror(errno));
  }
  return {};
}

Expected<void> DiskStore::adopt(const PageConnector::Options &options) {
  std::string layout = concat("records 1, ", slotBytes, " bytes a slot of ",
                              options.pageSize, " tokens");
  for (auto [name, wanted] :
       {std::pair<const char *, const std::string *>("layout", &layout),
        {"geometry", &options.geometry}}) {
    Expected<std::optional<std::string>> found = index->text(name);
    if (!found)
      return brokenIndex(directory, found.error());
    if (!*found) {
      if (Expected<void> set = index->setText(name, *wanted); !set)
        return brokenIndex(directory, set.error());
    } else if (**found != *wanted) {
      return unusable(directory,
                      concat("was made for another ", name, ": '", **found,
                             "', not '", *wanted,
                             "': use another directory, or delete this one"));
    }
  }
  return {};
}

Expected<void> DiskStore::openFile() {
  std::string path = directory + "/pages.bin";
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return unusable(directory,
                    concat("cannot be used: ", std::strerror(errno)));
  off_t bytes = static_cast<off_t>(numSlots) * static_cast<off_t>(slotBytes);
  struct stat before;
  if (fstat(file, &before) != 0)
    return unusable(directory,
                    concat("cannot be used: ", std::strerror(errno)));
  // Space that is allocated now cannot be missing later.
  int result;
  while ((result = calls.allocate(file, bytes)) == EINTR)
    ;
  // Some file systems cannot; there, writes may fail.
  if ((result == EOPNOTSUPP || result == EINVAL) &&
      (before.st_size >= bytes || ftruncate(file, bytes) == 0))
    result = 0;
  if (result) {
    (void)!ftruncate(file, before.st_size); // a part may have been allocated
    return makeError(KV_STATUS_OUT_OF_MEMORY, "disk tier: ", directory,
                     " has no room for ", bytes,
                     " bytes: ", std::strerror(result));
  }
  if (before.st_size > bytes)
    (void)!ftruncate(file, bytes); // the store was larger before
  return {};
}

Expected<void> DiskStore::readIndex() {
  Expected<uint64_t> generation = index->generation();
  if (!generation)
    return brokenIndex(directory, generation.error());
  epoch = *generation;
  all.resize(static_cast<size_t>(numSlots));
  slots.reserve(static_cast<size_t>(numSlots));
  // Later than all uses of earlier processes, if clocks are right.
  recency = Recency(static_cast<int32_t>(numSlots), uint64_t(now()));
  std::vector<std::pair<PrefixName, IndexedRecord>> known;
  Expected<void> read =
      index->visit([&](const PrefixName &name, const IndexedRecord &record) {
        known.push_back({name, record});
      });
  if (!read)
    return brokenIndex(directory, read.error());
  // If two say that they are in a slot, it is the one written last.
  std::ranges::sort(known, std::ranges::greater(),
                    [](const auto &one) { return one.second.use; });
  std::erase_if(known, [&](const auto &one) {
    const auto &[name, record] = one;
    if (record.slot < 0 || record.slot >= numSlots || all[record.slot].isUsed) {
      note({{name, record, /*forget=*/true}, epoch});
      return true;
    }
    all[record.slot] = {name, 0, true, true};
    slots[name] = record.slot;
    return false;
  });
  for (const auto &[name, record] : std::views::reverse(known))
    recency.insert(record.slot, std::min(record.priority, Retention::Highest),
                   record.until);
  for (int32_t slot = static_cast<int32_t>(numSlots); slot-- > 0;)
    if (!all[slot].isUsed)
      unused.push_back(slot);
  metrics.usedDiskPages = static_cast<int32_t>(slots.size());
  return {};
}

DiskStore::~DiskStore() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
    reads.clear();
  }
  more.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  if (!isCleared)
    (void)index->clear(epoch);
  if (file >= 0)
    close(file);
  if (lockFile >= 0)
    close(lockFile); // and the lock with it
}

int64_t DiskStore::now() {
  return std::chrono::nanoseconds(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

void DiskStore::touch(const PrefixName &name, uint8_t priority, int64_t until) {
  auto at = slots.find(name);
  if (at == slots.end())
    return;
  int32_t slot = at->second;
  uint8_t before = recency.priority(slot);
  recency.touch(slot, priority, until);
  // A later process must know; mere recency is not worth a write.
  if (recency.priority(slot) != before && all[slot].isWhole)
    tellIndex({name, recordOf(slot)});
}

IndexedRecord DiskStore::recordOf(int32_t slot) const {
  return {slot, recency.priority(slot), recency.until(slot), recency.use(slot)};
}

void DiskStore::tellIndex(const RecordIndex::Change &change) {
  std::lock_guard lock(mutex);
  note({change, epoch});
  more.notify_one();
}

/// The slot is given up as soon as no thread reads or writes it.
void DiskStore::leave(DiskSlot &slot, int32_t index) {
  if (slot.isWhole)
    told.add(Tier::Disk, slot.name, /*isStored=*/false);
  slot.isUsed = false;
  if (slot.users == 0)
    unused.push_back(index);
  metrics.usedDiskPages = static_cast<int32_t>(slots.size());
}

void DiskStore::drop(int32_t slot) {
  slots.erase(all[slot].name);
  recency.remove(slot);
  leave(all[slot], slot);
  tellIndex({all[slot].name, {.slot = slot}, /*forget=*/true});
}

int32_t DiskStore::takeSlot(std::optional<PrefixName> &evicted) {
  if (unused.empty()) {
    int32_t victim = recency.victim(
        now(), [&](int32_t slot) { return all[slot].users == 0; });
    if (victim < 0)
      return -1;
    evicted = all[victim].name;
    slots.erase(all[victim].name);
    recency.remove(victim);
    leave(all[victim], victim);
    ++metrics.evictedDiskPages;
  }
  int32_t slot = unused.back();
  unused.pop_back();
  return slot;
}

void DiskStore::submit(Job job) {
  ++all[job.slot].users;
  ++metrics.diskOperations;
  job.epoch = epoch;
  {
    std::lock_guard lock(mutex);
    (job.isRead ? reads : writes).push_back(job);
  }
  more.notify_one();
}

bool DiskStore::write(const OwnedPage &page, std::span<const std::byte> data,
                      uint8_t priority, int64_t until, int32_t token) {
  Job job = {.token = token, .page = &page};
  job.slot = takeSlot(job.evicted);
  if (job.slot < 0)
    return false;
  job.data = {const_cast<std::byte *>(data.data()), data.size()};
  all[job.slot] = {page.name, 0, true, false};
  slots[page.name] = job.slot;
  recency.insert(job.slot, priority, until);
  metrics.usedDiskPages = static_cast<int32_t>(slots.size());
  job.record = recordOf(job.slot);
  submit(job);
  return true;
}

bool DiskStore::read(const OwnedPage &page, std::span<std::byte> data,
                     int32_t token) {
  auto at = slots.find(page.name);
  if (at == slots.end() || !all[at->second].isWhole)
    return false;
  submit({.isRead = true,
          .token = token,
          .slot = at->second,
          .page = &page,
          .data = data});
  return true;
}

void DiskStore::take(std::vector<Finished> &result) {
  {
    std::lock_guard lock(mutex);
    ended.swap(finished);
  }
  for (const Job &job : ended) {
    DiskSlot &slot = all[job.slot];
    --slot.users;
    metrics.diskOperations += -1;
    // reset() may have forgotten the record meanwhile.
    bool isCurrent = slot.isUsed && job.epoch == epoch;
    if (!slot.isUsed && slot.users == 0)
      unused.push_back(job.slot);
    if (isCurrent && job.done) {
      if (!slot.isWhole)
        told.add(Tier::Disk, slot.name, /*isStored=*/true);
      slot.isWhole = true;
      // Has it been touched meanwhile?
      if (!job.isRead && recency.priority(job.slot) != job.record.priority)
        tellIndex({slot.name, recordOf(job.slot)});
    } else if (isCurrent)
      drop(job.slot);
    ++(job.isRead ? job.done ? metrics.readPages : metrics.failedReads
       : job.done ? metrics.writtenPages
                  : metrics.failedWrites);
    result.push_back({job.token, job.isRead, job.done});
  }
  ended.clear();
}

Expected<void> DiskStore::reset() {
  for (auto [name, slot] : slots) {
    recency.remove(slot);
    all[slot].isUsed = false;
    if (all[slot].users == 0)
      unused.push_back(slot);
  }
  slots.clear();
  metrics.usedDiskPages = 0;
  std::lock_guard lock(indexMutex);
  Expected<void> cleared = index->clear(++epoch);
  isCleared = bool(cleared);
  return cleared;
}
