//===- PageTiers.cpp - Pages of requests beside the devices ---------------===//

#include "PageTiers.h"

#include "../engine/ScopeTable.h"

using namespace kv;

Expected<std::unique_ptr<PageTiers>> PageTiers::create(const Options &options) {
  int64_t slots = options.hostBytes / options.recordBytes;
  if (slots < 1 || slots > INT32_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache manager: host_kvcache_swap_space_gb is ",
                     options.hostBytes,
                     " bytes, allowed: ", options.recordBytes,
                     " (one page) to ", INT32_MAX, " pages");
  std::unique_ptr<PageTiers> tiers(new PageTiers(options, slots));
  Expected<Memory> memory =
      options.device.allocatePinned(size_t(slots * options.recordBytes));
  if (!memory)
    return makeError(memory.error().code,
                     "host tier: ", memory.error().message);
  tiers->memory = std::move(*memory);
  PageConnector::Options wanted = options.connector;
  wanted.memory = tiers->memory.as<std::byte>();
  wanted.recordBytes = static_cast<size_t>(options.recordBytes);
  wanted.numSlots = tiers->numSlots;
  Expected<std::unique_ptr<PageConnector>> connector = options.open(wanted);
  if (!connector)
    return std::unexpected(connector.error());
  tiers->connector = std::move(*connector);
  return tiers;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void PageTiers::open(size_t request, const Scope &scope) {
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
  return PrefixPage{.name = own[index + 1],
                    .parent = own[index],
                    .scope = own[0],
                    .tokens = tokens,
                    .images = images};
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

int64_t PageTiers::find(size_t request, const Prompt &prompt, int64_t first,
                        int64_t last) {
  using Place = PageConnector::Place;
  // Of a store, that many are asked for at once, before it has said whether
  // there is the first.
  constexpr int64_t Ahead = 1024;
  giveBackCopied();
  connector->poll();
  auto placeOf = [&](int64_t at) {
    std::optional<PrefixPage> wanted = page(request, prompt, at);
    return wanted ? connector->find(*wanted) : Place::Absent;
  };
  isAsked = false;
  int64_t end = first;
  for (; end < last; ++end) {
    Place place = placeOf(end);
    isAsked = place == Place::Asked;
    if (isAsked || place == Place::Absent)
      break;
  }
  if (!isAsked)
    return end;
  last = std::min(last, end + Ahead);
  for (int64_t at = end + 1; at < last && placeOf(at) != Place::Absent;)
    ++at;
  connector->poll(); // sends the questions
  return end;
}

PageTiers::Progress PageTiers::load(size_t request, const Prompt &prompt,
                                    const Sequence &sequence, int64_t first,
                                    int64_t end, int64_t &asked,
                                    CacheMemory &memory) {
  using Place = PageConnector::Place;
  giveBackCopied();
  connector->poll();
  slots.clear();
  records.clear();
  int64_t at = first;
  for (; at < end; ++at) {
    std::optional<PrefixPage> wanted = page(request, prompt, at);
    if (!wanted)
      break;
    PageConnector::Slot slot = connector->acquire(*wanted);
    if (!slot)
      break;
    slots.push_back(slot);
    CacheMemory::Record &record = records.emplace_back();
    record.data = slot.data;
    for (int32_t group = 0; group < memory.numGroups(); ++group)
      record.pages[group] = sequence.pages(group)[at];
  }
  copy(memory, /*toDevices=*/true);
  Progress progress = {.loaded = at - first};
  if (at == end)
    return progress;
  // What comes next takes at most half of the slots, so that it does not drive
  // out what has come. The first page may have been, nevertheless.
  int64_t ahead = std::min<int64_t>(end, at + std::max(numSlots / 2, 1));
  std::optional<PrefixPage> wanted = page(request, prompt, at);
  Place place = wanted ? connector->find(*wanted) : Place::Absent;
  bool isBehind = place == Place::Disk || place == Place::Store;
  for (asked = isBehind ? at : std::max(asked, at + 1); asked < ahead; ++asked)
    if (wanted = page(request, prompt, asked);
        !wanted || !connector->fetch(*wanted))
      break;
  progress.isComing = place == Place::Coming || (isBehind && asked > at);
  return progress;
}

void PageTiers::stage(const Sequence &sequence, int64_t first, int64_t end,
                      const CacheMemory &memory) {
  staged.resize(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  for (size_t i = 0; i < staged.size(); ++i)
    for (int32_t group = 0; group < memory.numGroups(); ++group)
      staged[i][group] = sequence.pages(group)[first + static_cast<int64_t>(i)];
}

void PageTiers::store(size_t request, const Prompt &prompt,
                      const Retention &retention, int64_t first, int64_t end,
                      CacheMemory &memory) {
  giveBackCopied();
  connector->poll();
  slots.clear();
  records.clear();
  for (int64_t at = first; at < end; ++at) {
    std::optional<PrefixPage> wanted = page(request, prompt, at);
    if (!wanted)
      break;
    if (PageConnector::Slot slot =
            connector->reserve(*wanted, worthOf(retention, at))) {
      slots.push_back(slot);
      records.push_back({slot.data, staged[static_cast<size_t>(at - first)]});
    }
  }
  copy(memory, /*toDevices=*/false);
}

void PageTiers::copy(CacheMemory &memory, bool toDevices) {
  if (slots.empty())
    return;
  memory.copyRecords(records, toDevices);
  for (size_t i = 0; i < slots.size(); ++i)
    queued.push_back({slots[i], &memory, toDevices, records[i].pages});
  giveBackCopied();
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
                          CacheMemory &memory) {
  auto isWritten = [&](PageId page) {
    for (int32_t group = 0; group < memory.numGroups(); ++group) {
      std::span<const PageId> row = sequence.pages(group);
      row = row.subspan(static_cast<size_t>(first));
      if (std::ranges::find(row, page) != row.end())
        return true;
    }
    return false;
  };
  // A page may have been of another group when it was stored.
  for (const Copy &one : queued)
    if (one.memory == &memory && !one.toDevices &&
        std::ranges::any_of(
            std::span(one.pages).first(size_t(memory.numGroups())), isWritten))
      return memory.followCopies();
}

void PageTiers::touch(size_t request, int64_t pages,
                      const Retention &retention) {
  // From the last to the first, so that what depends on a record goes first. A
  // page without a name has never been looked for or stored.
  const std::vector<PrefixName> &own = names[request];
  for (int64_t at = std::min<int64_t>(pages, std::ssize(own) - 1); at-- > 0;)
    connector->touch(own[at + 1], worthOf(retention, at));
}
