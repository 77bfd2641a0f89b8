//===- DiskThreads.cpp - What the threads of a disk store do --------------===//

#include "DiskStore.h"

#include <algorithm>

using namespace kv;

/// Calls transfer(part, position) until all bytes are through.
template <class Transfer>
static bool transferAll(std::span<std::byte> data, off_t at,
                        Transfer &&transfer) {
  return moveAll(data.size(), [&](size_t done) {
    iovec part = {data.data() + done, data.size() - done};
    return transfer(part, at + static_cast<off_t>(done));
  });
}

/// Calls move(part, position) for parts that fit a CPU's caches, until it
/// fails: what has just been moved is summed up there.
template <class Move>
static bool moveParts(std::span<std::byte> data, off_t at, Move &&move) {
  constexpr size_t Most = size_t(256) << 10;
  while (!data.empty()) {
    std::span<std::byte> part = data.first(std::min(data.size(), Most));
    if (!move(part, at))
      return false;
    at += static_cast<off_t>(part.size());
    data = data.subspan(part.size());
  }
  return true;
}

bool DiskStore::read(const Job &job, RecordHeader &header) {
  auto transfer = [&](const iovec &part, off_t from) {
    return calls.read(file, &part, 1, from);
  };
  off_t at = static_cast<off_t>(job.slot) * static_cast<off_t>(slotBytes);
  std::vector<std::byte> found(headerBytes);
  // The disk may read it all while its first part is summed up.
  (void)posix_fadvise(file, at, static_cast<off_t>(slotBytes),
                      POSIX_FADV_WILLNEED);
  header.begin(job.page->view(), job.data.size(), job.epoch);
  return transferAll(found, at, transfer) &&
         moveParts(job.data, at + static_cast<off_t>(headerBytes),
                   [&](std::span<std::byte> part, off_t from) {
                     bool moved = transferAll(part, from, transfer);
                     header.add(part);
                     return moved;
                   }) &&
         std::ranges::equal(found, header.finish());
}

bool DiskStore::write(const Job &job, RecordHeader &header) {
  auto transfer = [&](const iovec &part, off_t to) {
    return calls.write(file, &part, 1, to);
  };
  off_t at = static_cast<off_t>(job.slot) * static_cast<off_t>(slotBytes);
  header.begin(job.page->view(), job.data.size(), job.epoch);
  // The header last: a record that has one is likely to be whole.
  return moveParts(job.data, at + static_cast<off_t>(headerBytes),
                   [&](std::span<std::byte> part, off_t to) {
                     header.add(part);
                     return transferAll(part, to, transfer);
                   }) &&
         transferAll(header.finish(), at, transfer);
}

void DiskStore::apply(std::span<const Change> wanted) {
  std::lock_guard lock(indexMutex);
  std::vector<RecordIndex::Change> current;
  for (const Change &one : wanted)
    if (one.epoch == epoch)
      current.push_back(one.change);
  if (!isCleared)
    isCleared = bool(index->clear(epoch));
  // A later process does not find records that the index does not learn of.
  if (!current.empty() && !(isCleared && index->apply(current)))
    metrics.unindexedPages += static_cast<int64_t>(current.size());
}

void DiskStore::note(const Change &change) {
  if (changes.empty())
    firstChange = std::chrono::steady_clock::now();
  changes.push_back(change);
}

void DiskStore::work() {
  // A change of the index waits for the disk, and for everything written
  // before. So it is made seldom, for many records at a time, when there is
  // much to do. A process that is killed loses the latest ones.
  constexpr size_t ManyChanges = 1024;
  constexpr auto Patience = std::chrono::milliseconds(250);
  RecordHeader header(headerBytes);
  std::vector<Change> taken;
  std::unique_lock lock(mutex);
  for (;;) {
    bool canApply = !changes.empty() && !isApplying;
    bool hasJob = !reads.empty() || !writes.empty();
    if (canApply &&
        (!hasJob || changes.size() >= ManyChanges ||
         std::chrono::steady_clock::now() >= firstChange + Patience)) {
      isApplying = true;
      taken.swap(changes);
      lock.unlock();
      apply(taken);
      taken.clear();
      lock.lock();
      isApplying = false;
    } else if (hasJob) {
      // A read is waited for, a write is not.
      std::deque<Job> &queue = reads.empty() ? writes : reads;
      Job job = queue.front();
      queue.pop_front();
      lock.unlock();
      job.done = job.isRead ? read(job, header) : write(job, header);
      lock.lock();
      // After a failed write, too, the slot's old record is gone.
      if (job.evicted)
        note({{*job.evicted, {.slot = job.slot}, /*forget=*/true}, job.epoch});
      if (!job.isRead && job.done)
        note({{job.page->name, job.record}, job.epoch});
      finished.push_back(job);
      waker.signal();
    } else if (isEnding) {
      return;
    } else {
      more.wait(lock);
    }
  }
}
