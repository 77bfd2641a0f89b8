//===- TieredConnector.cpp - Records in memory, on disk and shared --------===//

#include "TieredConnector.h"

using namespace kv;

TieredConnector::TieredConnector(const Options &wanted)
    : options(wanted), slots(wanted.numSlots), recency(wanted.numSlots) {
  if (!wanted.model.empty())
    modelMark = hasher.root(std::as_bytes(std::span(wanted.model)));
  if (wanted.tellsChanges)
    told = ChangeList(
        [this](const PrefixName &name) { return wireHash(mark(name)); });
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
  static StoreCalls network;
  return open(options, calls, network);
}

Expected<std::unique_ptr<TieredConnector>>
TieredConnector::open(const Options &options, SystemCalls &calls,
                      StoreCalls &storeCalls) {
  std::unique_ptr<TieredConnector> made(new TieredConnector(options));
  if (!options.directory.empty()) {
    Expected<std::unique_ptr<DiskStore>> disk =
        DiskStore::open(options, calls, made->figures, made->waker, made->told);
    if (!disk)
      return std::unexpected(disk.error());
    made->disk = std::move(*disk);
  }
  if (!options.blockStoreEndpoint.empty()) {
    Expected<std::unique_ptr<RespStore>> store = RespStore::open(
        options, storeCalls, made->figures, made->waker, made->told);
    if (!store)
      return std::unexpected(store.error());
    made->store = std::move(*store);
  }
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

/// The slot's record is not found any more.
void TieredConnector::forget(int32_t slot) {
  if (slots[slot].state == State::Ready)
    told.add(Tier::Host, slots[slot].page.name, /*isStored=*/false);
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
  if (disk && disk->contains(page.name))
    return Place::Disk;
  switch (store ? store->look(page.name) : RespStore::Known::Absent) {
  case RespStore::Known::Absent:
    return Place::Absent;
  case RespStore::Known::Asked:
    return Place::Asked;
  case RespStore::Known::Present:
    return Place::Store;
  }
  return Place::Absent;
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
  Place place = find(page);
  if (place != Place::Disk && place != Place::Store)
    return false;
  int32_t slot = take(page, State::Coming, {});
  if (slot < 0)
    return figures.diskOperations > 0 || figures.storeOperations > 0;
  if (place == Place::Disk ? disk->read(slots[slot].page, data(slot), slot)
                           : store->read(slots[slot].page, data(slot), slot))
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
    told.add(Tier::Host, host.page.name, /*isStored=*/true);
    ++figures.storedPages;
    writeToDisk(slot.index);
    if (store && store->write(host.page, data(slot.index), slot.index))
      ++host.users;
  }
  drop(slot.index);
}

void TieredConnector::writeToDisk(int32_t slot) {
  if (disk && disk->write(slots[slot].page, data(slot), recency.priority(slot),
                          recency.until(slot), slot))
    ++slots[slot].users;
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

bool TieredConnector::takeNote(bool isStore) {
  bool any = false;
  if (isStore)
    any = store->take(finished);
  else
    disk->take(finished);
  any |= !finished.empty();
  for (const DiskStore::Finished &one : finished) {
    HostSlot &host = slots[one.token];
    if (one.isRead && host.isKnown) {
      if (one.done) {
        host.state = State::Ready;
        told.add(Tier::Host, host.page.name, /*isStored=*/true);
      } else {
        forget(one.token);
      }
      if (one.done && isStore)
        writeToDisk(one.token);
    }
    drop(one.token);
  }
  finished.clear();
  return any;
}

bool TieredConnector::pollAll() {
  seen = waker.signals();
  bool any = disk && takeNote(/*isStore=*/false);
  if (store) {
    any |= takeNote(/*isStore=*/true);
    store->flush();
  }
  return any;
}

void TieredConnector::poll() { (void)pollAll(); }

bool TieredConnector::wait(std::chrono::nanoseconds most) {
  using Clock = std::chrono::steady_clock;
  // Far from the end of the clock.
  most = std::min(most, std::chrono::nanoseconds::max() / 4);
  Clock::time_point end = Clock::now() + most;
  for (;;) {
    if (pollAll())
      return true;
    bool isBusy = figures.diskOperations > 0 || (store && store->isBusy());
    if (!isBusy || !waker.wait(seen, end - Clock::now()))
      return false;
  }
}

Expected<void> TieredConnector::reset() {
  for (int32_t slot = 0; slot < options.numSlots; ++slot)
    if (slots[slot].isKnown) {
      forget(slot);
      ++slots[slot].users; // so that drop() gives it up
      drop(slot);
    }
  told.lose();
  // Resets both tiers, even if one fails.
  Expected<void> told = store ? store->reset() : Expected<void>();
  Expected<void> done = disk ? disk->reset() : Expected<void>();
  return done ? told : done;
}

bool TieredConnector::takeChanges(bool all, std::vector<TierChange> &changes) {
  if (!options.tellsChanges || !told.take(all, changes))
    return false;
  for (const HostSlot &host : slots)
    if (host.isKnown && host.state == State::Ready)
      changes.push_back(told.here(Tier::Host, host.page.name));
  if (disk)
    disk->visit([&](const PrefixName &name) {
      changes.push_back(told.here(Tier::Disk, name));
    });
  return true;
}
