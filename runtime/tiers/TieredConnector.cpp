//===- TieredConnector.cpp - Records in host memory and on disk -----------===//

#include "TieredConnector.h"

using namespace kv;

TieredConnector::TieredConnector(const Options &wanted)
    : options(wanted), slots(wanted.numSlots), recency(wanted.numSlots) {
  known.reserve(wanted.numSlots);
  unused.reserve(wanted.numSlots);
  for (int32_t slot = wanted.numSlots; slot-- > 0;)
    unused.push_back(slot);
  figures.hostPages = wanted.numSlots;
}

Expected<std::unique_ptr<TieredConnector>>
TieredConnector::open(const Options &options) {
  static SystemCalls system;
  return open(options, system);
}

Expected<std::unique_ptr<TieredConnector>>
TieredConnector::open(const Options &options, SystemCalls &calls) {
  std::unique_ptr<TieredConnector> made(new TieredConnector(options));
  if (options.directory.empty())
    return made;
  Expected<std::unique_ptr<DiskStore>> disk =
      DiskStore::open(options, calls, made->figures);
  if (!disk)
    return std::unexpected(disk.error());
  made->disk = std::move(*disk);
  return made;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

int32_t TieredConnector::take(const PrefixPage &page, State state,
                              const RecordWorth &worth) {
  if (unused.empty()) {
    int32_t victim = recency.victim(
        DiskStore::now(), [&](int32_t slot) { return slots[slot].users == 0; });
    if (victim < 0)
      return -1;
    forget(victim);
    unused.push_back(victim);
    ++figures.evictedHostPages;
  }
  int32_t slot = unused.back();
  unused.pop_back();
  slots[slot] = {OwnedPage::of(page), /*users=*/1, state, /*isKnown=*/true};
  known[page.name] = slot;
  recency.insert(slot, worth.priority, endOf(worth));
  figures.usedHostPages = static_cast<int32_t>(known.size());
  return slot;
}

/// Nobody finds the slot's record any more.
void TieredConnector::forget(int32_t slot) {
  known.erase(slots[slot].page.name);
  recency.remove(slot);
  slots[slot].isKnown = false;
  figures.usedHostPages = static_cast<int32_t>(known.size());
}

void TieredConnector::drop(int32_t slot) {
  HostSlot &host = slots[slot];
  if (--host.users == 0 && !host.isKnown) {
    host.state = State::Free;
    unused.push_back(slot);
  }
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

PageConnector::Place TieredConnector::find(const PrefixPage &page) {
  if (auto at = known.find(page.name); at != known.end()) {
    const HostSlot &host = slots[at->second];
    if (!host.page.is(page) || host.state == State::Reserved)
      return Place::Absent;
    return host.state == State::Ready ? Place::Memory : Place::Coming;
  }
  return disk && disk->contains(page.name) ? Place::Disk : Place::Absent;
}

void TieredConnector::touch(const PrefixName &name, const RecordWorth &worth) {
  int64_t until = endOf(worth);
  if (auto at = known.find(name); at != known.end())
    recency.touch(at->second, worth.priority, until);
  if (disk)
    disk->touch(name, worth.priority, until);
}

PageConnector::Slot TieredConnector::acquire(const PrefixPage &page) {
  auto at = known.find(page.name);
  if (at == known.end() || find(page) != Place::Memory)
    return {};
  ++slots[at->second].users;
  return {data(at->second).data(), at->second};
}

void TieredConnector::release(Slot slot) { drop(slot.index); }

bool TieredConnector::fetch(const PrefixPage &page) {
  if (find(page) != Place::Disk)
    return false;
  int32_t slot = take(page, State::Coming, {});
  if (slot < 0)
    return figures.diskOperations > 0;
  if (disk->read(slots[slot].page, data(slot), slot))
    return true;
  forget(slot);
  drop(slot);
  return false;
}

PageConnector::Slot TieredConnector::reserve(const PrefixPage &page,
                                             const RecordWorth &worth) {
  if (known.contains(page.name) || (disk && disk->contains(page.name)))
    return {};
  int32_t slot = page.images.size() > MostImageBytes
                     ? -1
                     : take(page, State::Reserved, worth);
  if (slot < 0) {
    ++figures.refusedStores;
    return {};
  }
  return {data(slot).data(), slot};
}

void TieredConnector::publish(Slot slot, bool written) {
  HostSlot &host = slots[slot.index];
  if (host.isKnown && !written) {
    forget(slot.index);
  } else if (host.isKnown) {
    host.state = State::Ready;
    ++figures.storedPages;
    if (disk &&
        disk->write(host.page, data(slot.index), recency.priority(slot.index),
                    recency.until(slot.index), slot.index))
      return; // the disk uses the slot instead of the caller
  }
  drop(slot.index);
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

void TieredConnector::poll() {
  if (!disk)
    return;
  disk->take(finished);
  for (const DiskStore::Finished &one : finished) {
    HostSlot &host = slots[one.token];
    if (one.isRead && host.isKnown) {
      if (one.done)
        host.state = State::Ready;
      else
        forget(one.token);
    }
    drop(one.token);
  }
  finished.clear();
}

bool TieredConnector::wait(std::chrono::nanoseconds most) {
  bool over = disk && disk->wait(most);
  poll();
  return over;
}

Expected<void> TieredConnector::reset() {
  for (int32_t slot = 0; slot < options.numSlots; ++slot)
    if (slots[slot].isKnown) {
      forget(slot);
      ++slots[slot].users; // so that drop() gives it up
      drop(slot);
    }
  return disk ? disk->reset() : Expected<void>();
}
