//===- PageTiers.cpp - Pages of requests in tiers -------------------------===//

#include "PageTiers.h"

#include "runtime/engine/structures/ScopeTable.h"

using namespace kv;

Expected<std::unique_ptr<PageTiers>> PageTiers::create(const Options &options) {
  int64_t slots = options.hostBytes / options.recordBytes;
  // A state is stored at once, with the page that was computed with it.
  int64_t least = 1 + options.stateParts;
  if (slots < least || slots > INT32_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache manager: host_kvcache_swap_space_gb is ",
                     options.hostBytes,
                     " bytes, allowed: ", least * options.recordBytes,
                     options.stateParts ? " (one page and one state) to "
                                        : " (one page) to ",
                     INT32_MAX, " pages");
  std::unique_ptr<PageTiers> tiers(new PageTiers(options, slots));
  std::ranges::copy_if(options.events, std::back_inserter(tiers->events),
                       [](const CacheEventSink *sink) {
                         return sink->tierInterest() !=
                                CacheEventSink::TierInterest::None;
                       });
  Expected<Memory> memory = options.device.allocatePinned(
      size_t(slots * (options.recordBytes + options.payloadBytes)));
  if (!memory)
    return makeError(memory.error().code,
                     "host tier: ", memory.error().message);
  tiers->memory = std::move(*memory);
  PageConnector::Options wanted = options.connector;
  wanted.memory = tiers->memory.as<std::byte>();
  wanted.recordBytes =
      static_cast<size_t>(options.recordBytes + options.payloadBytes);
  wanted.numSlots = tiers->numSlots;
  wanted.tellsChanges = !tiers->events.empty();
  Expected<std::unique_ptr<PageConnector>> connector = options.open(wanted);
  if (!connector)
    return std::unexpected(connector.error());
  tiers->connector = std::move(*connector);
  tiers->tell();
  return tiers;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void PageTiers::open(size_t request, const Scope &scope,
                     std::span<const std::byte> payload) {
  payloadPages[request] =
      payload.empty() || payloadBytes == 0
          ? NoPayload
          : static_cast<int64_t>(payload.size() / payloadBytes);
  ScopeBytes bytes = ScopeBytes::of(scope, /*epoch=*/0);
  names[request].clear();
  if (bytes.size() > ScopeBytes::Most)
    return;
  std::span<const std::byte> fields(bytes.data(), bytes.size());
  names[request].push_back(
      connector->nameScope(fields.subspan(ScopeBytes::ScopeHeader)));
}

void PageTiers::fork(size_t from, size_t to, int64_t pages) {
  names[to] = names[from];
  payloadPages[to] = NoPayload;
  truncate(to, pages);
}

void PageTiers::truncate(size_t request, int64_t pages) {
  std::vector<PrefixName> &own = names[request];
  own.resize(std::min(own.size(), static_cast<size_t>(pages) + 1));
}

std::optional<PrefixPage> PageTiers::page(size_t request, const Prompt &prompt,
                                          int64_t index) {
  std::vector<PrefixName> &own = names[request];
  if (own.empty())
    return std::nullopt;
  std::span<const int32_t> tokens;
  for (int64_t at = std::min<int64_t>(index, std::ssize(own) - 1); at <= index;
       ++at) {
    int64_t begin = at * pageSize;
    tokens = prompt.tokens.subspan(begin, pageSize);
    images.clear();
    if (!prompt.images.empty()) {
      ScopeBytes bytes = ScopeBytes::of(prompt.images, begin, begin + pageSize);
      if (bytes.size() > ScopeBytes::Most)
        return std::nullopt;
      images.assign(bytes.data(), bytes.data() + bytes.size());
    }
    if (at + 1 == std::ssize(own))
      own.push_back(connector->namePage(own.back(), images, tokens));
  }
  return PrefixPage{.name = index < payloadPages[request]
                                ? withPayload(own[index + 1])
                                : own[index + 1],
                    .parent = own[index],
                    .scope = own[0],
                    .tokens = tokens,
                    .images = images};
}

std::optional<PrefixPage> PageTiers::part(size_t request,
                                          std::span<const int32_t> tokens,
                                          int64_t pages, int32_t index) {
  const std::vector<PrefixName> &own = names[request];
  if (pages < 1 || pages >= std::ssize(own))
    return std::nullopt;
  mark = StateMark(index);
  return PrefixPage{.name =
                        connector->namePage(own[pages], mark.span(), tokens),
                    .parent = own[pages],
                    .scope = own[0],
                    .tokens = tokens,
                    .images = mark.span()};
}

std::optional<PrefixPage> PageTiers::record(size_t request,
                                            const Prompt &prompt,
                                            const Prefix &prefix,
                                            int64_t index) {
  if (index < prefix.pages)
    return page(request, prompt, index);
  return part(request,
              prompt.tokens.subspan((prefix.pages - 1) * pageSize, pageSize),
              prefix.pages, static_cast<int32_t>(index - prefix.pages));
}

RecordWorth PageTiers::worthOf(const Retention &retention,
                               int64_t index) const {
  return index * pageSize < retention.prefixTokens
             ? RecordWorth{retention.prefixPriority, retention.prefixDuration}
             : RecordWorth{retention.priority, retention.duration};
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

PageConnector::Place
PageTiers::placeOf(size_t request, const std::optional<PrefixPage> &wanted) {
  using Place = PageConnector::Place;
  if (!wanted)
    return Place::Absent;
  Place place = connector->find(*wanted);
  if (place > Place::Asked)
    return place;
  // Whoever has asked a store for one asks for both.
  std::optional<PrefixPage> second = other(request, *wanted);
  return second ? std::max(place, connector->find(*second)) : place;
}

int64_t PageTiers::find(size_t request, const Prompt &prompt, int64_t first,
                        int64_t last) {
  using Place = PageConnector::Place;
  // Of a store, that many are asked for at once, before it has said whether
  // there is the first.
  constexpr int64_t Ahead = 1024;
  poll();
  isAsked = false;
  if (int64_t most = payloadPages[request]; most != NoPayload)
    last = std::min(last, most);
  int64_t end = first;
  for (; end < last; ++end) {
    Place place = placeOf(request, page(request, prompt, end));
    isAsked = place == Place::Asked;
    if (isAsked || place == Place::Absent)
      break;
  }
  if (!isAsked)
    return end;
  last = std::min(last, end + Ahead);
  for (int64_t at = end + 1;
       at < last &&
       placeOf(request, page(request, prompt, at)) != Place::Absent;)
    ++at;
  connector->poll(); // sends the questions
  return end;
}

int64_t PageTiers::findState(size_t request, const Prompt &prompt,
                             int64_t first, int64_t last) {
  using Place = PageConnector::Place;
  isAsked = false;
  // The longest first. Of a store, the first parts of all are asked for at
  // once, then the other ones of the longest that may be there.
  for (int64_t pages = last; pages > first; --pages) {
    Prefix prefix = {.pages = pages};
    bool isThere = true, isUnknown = false;
    for (int32_t at = 0; at < stateParts && isThere; ++at) {
      Place place =
          placeOf(request, record(request, prompt, prefix, pages + at));
      isThere = place != Place::Absent;
      isUnknown |= place == Place::Asked;
      if (at == 0 && (isAsked || isUnknown))
        break;
    }
    if (isThere && !isUnknown && !isAsked)
      return pages;
    isAsked |= isThere && isUnknown;
  }
  if (isAsked)
    connector->poll(); // sends the questions
  return first;
}

PageTiers::Progress PageTiers::load(size_t request, const Prompt &prompt,
                                    std::span<std::byte> payload,
                                    const Sequence &sequence,
                                    const Prefix &prefix, int64_t first,
                                    int64_t end, int64_t &asked,
                                    CacheMemory &memory) {
  using Place = PageConnector::Place;
  poll();
  slots.clear();
  records.clear();
  int64_t at = first;
  for (; at < end; ++at) {
    std::optional<PrefixPage> wanted = record(request, prompt, prefix, at);
    if (!wanted)
      break;
    PageConnector::Slot slot =
        firstOf(request, *wanted, [&](const PrefixPage &page) {
          return connector->acquire(page);
        });
    if (!slot)
      break;
    if (at < payloadPages[request])
      std::memcpy(&payload[at * payloadBytes], slot.data + dataBytes,
                  payloadBytes);
    slots.push_back(slot);
    CacheMemory::Record &to = records.emplace_back();
    to.data = slot.data;
    if (at < prefix.pages) {
      for (int32_t group = 0; group < memory.numGroups(); ++group)
        to.pages[group] = sequence.pages(group)[at];
    } else {
      to.state = prefix.state;
      to.part = static_cast<int32_t>(at - prefix.pages);
    }
  }
  copy(memory, /*toDevices=*/true);
  Progress progress = {.loaded = at - first};
  if (at == end)
    return progress;
  // Pages that are asked for, by all requests together, take at most half of
  // the slots, so that they do not drive out pages that have come. The first
  // page may have been driven out nevertheless.
  int64_t room = roomFor(request);
  int64_t ahead = std::min(end, at + room);
  std::optional<PrefixPage> wanted = record(request, prompt, prefix, at);
  Place place = placeOf(request, wanted);
  bool isBehind = place == Place::Disk || place == Place::Store;
  // The number of records that this request itself has asked for and not
  // loaded.
  int64_t claimed = turns[request].claimed - progress.loaded;
  claimed = isBehind ? 0 : std::max<int64_t>(claimed, 0);
  asked = isBehind ? at : std::max(asked, at + 1);
  for (; asked < ahead; ++asked, ++claimed) {
    wanted = record(request, prompt, prefix, asked);
    if (!wanted || !firstOf(request, *wanted, [&](const PrefixPage &page) {
          return connector->fetch(page);
        }))
      break;
  }
  claim(request, claimed);
  tell(); // records may have made room
  progress.isComing =
      place == Place::Coming || (isBehind && (asked > at || room <= 0));
  return progress;
}

void PageTiers::claim(size_t request, int64_t count) {
  numClaimed += count - turns[request].claimed;
  turns[request].claimed = count;
  numLooks += count > 0;
}

int64_t PageTiers::roomFor(size_t request) {
  Turn &own = turns[request];
  int64_t half = std::max(numSlots / 2, 1);
  int64_t room = half - (numClaimed - own.claimed);
  if (room > 0 || own.looksBefore != numLooks) {
    own.looksBefore = numLooks;
    return room;
  }
  // No request with a claim has looked since this request has: their callers
  // have forgotten them, or load one request after the other.
  for (size_t other = 0; other < turns.size(); ++other)
    if (other != request)
      claim(other, 0);
  return half;
}

void PageTiers::stage(const Sequence &sequence, int64_t first, int64_t end,
                      const CacheMemory &memory) {
  staged.resize(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  for (size_t i = 0; i < staged.size(); ++i)
    for (int32_t group = 0; group < memory.numGroups(); ++group)
      staged[i][group] = sequence.pages(group)[first + static_cast<int64_t>(i)];
}

void PageTiers::store(size_t request, const Prompt &prompt,
                      std::span<const std::byte> payload,
                      const Retention &retention, int64_t first, int64_t end,
                      CacheMemory &memory) {
  poll();
  slots.clear();
  records.clear();
  for (int64_t at = first; at < end; ++at) {
    std::optional<PrefixPage> wanted = page(request, prompt, at);
    if (!wanted)
      break;
    if (PageConnector::Slot slot =
            connector->reserve(*wanted, worthOf(retention, at))) {
      if (at < payloadPages[request])
        std::memcpy(slot.data + dataBytes, &payload[at * payloadBytes],
                    payloadBytes);
      slots.push_back(slot);
      records.push_back({slot.data, staged[static_cast<size_t>(at - first)]});
    }
  }
  copy(memory, /*toDevices=*/false);
}

void PageTiers::storeState(size_t request, std::span<const int32_t> tokens,
                           const Retention &retention, int64_t pages,
                           StateId state, CacheMemory &memory) {
  poll();
  slots.clear();
  records.clear();
  bool isWhole = true;
  for (int32_t at = 0; at < stateParts && isWhole; ++at) {
    std::optional<PrefixPage> wanted = part(request, tokens, pages, at);
    if (!wanted)
      return;
    if (PageConnector::Slot slot =
            connector->reserve(*wanted, worthOf(retention, pages - 1))) {
      slots.push_back(slot);
      records.push_back({.data = slot.data, .state = state, .part = at});
    } else {
      isWhole = connector->find(*wanted) != PageConnector::Place::Absent;
    }
  }
  if (!isWhole) { // there is no room: a part of it is of no use
    for (PageConnector::Slot slot : slots)
      connector->publish(slot, /*written=*/false);
    return;
  }
  copy(memory, /*toDevices=*/false);
}

void PageTiers::copy(CacheMemory &memory, bool toDevices) {
  if (slots.empty())
    return;
  memory.copyRecords(records, toDevices);
  for (size_t i = 0; i < slots.size(); ++i)
    queued.push_back(
        {slots[i], &memory, toDevices, records[i].pages, records[i].state});
  giveBackCopied();
  tell();
}

void PageTiers::poll() {
  giveBackCopied();
  connector->poll();
  tell();
}

void PageTiers::tell() {
  if (events.empty())
    return;
  using Interest = CacheEventSink::TierInterest;
  bool all = std::ranges::any_of(events, [](const CacheEventSink *sink) {
    return sink->tierInterest() == Interest::All;
  });
  changes.clear();
  all = connector->takeChanges(all, changes);
  if (all || !changes.empty())
    for (CacheEventSink *sink : events)
      sink->tiersChanged(changes, all);
}

void PageTiers::giveBackCopied() {
  // Until a copy is over, the disk must neither read nor write its slot.
  const CacheMemory *asked = nullptr;
  bool isDone = false;
  std::erase_if(queued, [&](const Copy &one) {
    if (one.memory != asked)
      isDone = one.memory->areCopiesDone();
    asked = one.memory;
    if (isDone && one.toDevices)
      connector->release(one.slot);
    else if (isDone)
      connector->publish(one.slot, one.memory->status().has_value());
    return isDone;
  });
}

void PageTiers::finishCopies() {
  for (const Copy &one : queued)
    (void)one.memory->finishCopies();
  giveBackCopied();
}

void PageTiers::willWrite(const Sequence &sequence, int64_t first,
                          StateId state, CacheMemory &memory) {
  auto isWritten = [&](PageId page) {
    for (int32_t group = 0; group < memory.numGroups(); ++group) {
      std::span<const PageId> row = sequence.pages(group);
      row = row.subspan(static_cast<size_t>(first));
      if (std::ranges::find(row, page) != row.end())
        return true;
    }
    return false;
  };
  for (const Copy &one : queued) {
    if (one.memory != &memory || one.toDevices)
      continue;
    // A page may have been of another group when it was stored.
    bool isOverwritten =
        one.state != NullState
            ? one.state == state
            : std::ranges::any_of(
                  std::span(one.pages).first(size_t(memory.numGroups())),
                  isWritten);
    if (isOverwritten)
      return memory.followCopies();
  }
}

void PageTiers::touch(size_t request, int64_t pages,
                      const Retention &retention) {
  // From the last to the first, so that what depends on a record goes first. A
  // page without a name has never been looked for or stored.
  const std::vector<PrefixName> &own = names[request];
  for (int64_t at = std::min<int64_t>(pages, std::ssize(own) - 1); at-- > 0;) {
    connector->touch(own[at + 1], worthOf(retention, at));
    if (payloadBytes > 0)
      connector->touch(withPayload(own[at + 1]), worthOf(retention, at));
  }
}

void PageTiers::touchState(size_t request, std::span<const int32_t> tokens,
                           int64_t pages, const Retention &retention) {
  RecordWorth worth = worthOf(retention, pages - 1);
  for (int32_t at = 0; at < stateParts; ++at)
    if (std::optional<PrefixPage> wanted = part(request, tokens, pages, at))
      connector->touch(wanted->name, worth);
}
