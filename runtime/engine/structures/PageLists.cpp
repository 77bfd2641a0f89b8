//===- PageLists.cpp - Unrolled lists of pages ----------------------------===//

#include "PageLists.h"

using namespace kv;

bool PageLists::create(const PageRecords &ofPages, int32_t pages,
                       int32_t lists) {
  records = &ofPages;
  numLists = numMade = lists;
  // Two neighbouring chunks hold at least MergeAt ids together, except at the
  // ends of each list and at one seam for each list, which append() makes.
  int32_t most = pages / (MergeAt / 2) + std::min(3 * lists, pages) + 1;
  if (!chunks.create(size_t(lists) + most))
    return false;
  for (List list = 0; list < numLists; ++list)
    chunks[list].next = chunks[list].previous = list;
  return true;
}

uint32_t PageLists::roomBehind(List list) {
  uint32_t last = chunks[list].previous;
  if (last != list && chunks[last].count <= MergeAt) {
    compact(last);
    return last;
  }
  uint32_t fresh = unused;
  if (fresh != NoChunk)
    unused = chunks[fresh].next;
  else
    fresh = numMade++;
  Chunk &chunk = chunks[fresh];
  chunk.occupied = 0;
  chunk.end = chunk.count = 0;
  chunk.next = list;
  chunk.previous = last;
  chunks[last].next = chunks[list].previous = fresh;
  return fresh;
}

void PageLists::unlink(uint32_t at) {
  Chunk &chunk = chunks[at];
  chunks[chunk.previous].next = chunk.next;
  chunks[chunk.next].previous = chunk.previous;
  chunk.next = unused;
  unused = at;
}

void PageLists::pushBack(List list, const PageId *pages, int32_t count) {
  while (count > 0) {
    uint32_t at = chunks[list].previous;
    if (at == list || chunks[at].end == PerChunk)
      at = roomBehind(list);
    Chunk &chunk = chunks[at];
    uint32_t slot = chunk.end;
    int32_t added = std::min(count, PerChunk - int32_t(slot));
    chunk.occupied |= static_cast<uint16_t>(((1u << added) - 1) << slot);
    chunk.end += added;
    chunk.count += added;
    for (int32_t i = 0; i < added; ++i) {
      chunk.ids[slot + i] = pages[i];
      (*records)[pages[i]].position = at << 4 | (slot + i);
    }
    pages += added;
    count -= added;
  }
}

int32_t PageLists::takeFront(List list, PageId *to, int32_t count) {
  int32_t taken = 0;
  while (taken < count && !empty(list)) {
    uint32_t at = chunks[list].next;
    Chunk &chunk = chunks[at];
    uint32_t left = chunk.occupied;
    for (; left && taken < count; left &= left - 1, --chunk.count)
      to[taken++] = chunk.ids[std::countr_zero(left)];
    chunk.occupied = static_cast<uint16_t>(left);
    if (chunk.count == 0)
      unlink(at);
    else if (chunk.count < MergeAt)
      merge(at);
  }
  return taken;
}

void PageLists::compact(uint32_t at) {
  Chunk &chunk = chunks[at];
  uint32_t end = 0;
  for (uint32_t left = chunk.occupied; left; left &= left - 1) {
    uint32_t slot = std::countr_zero(left);
    if (slot != end) {
      chunk.ids[end] = chunk.ids[slot];
      (*records)[chunk.ids[end]].position = at << 4 | end;
    }
    ++end;
  }
  chunk.end = static_cast<uint8_t>(end);
  chunk.occupied = static_cast<uint16_t>((1u << end) - 1);
}

void PageLists::move(uint32_t to, uint32_t from) {
  Chunk &target = chunks[to], &source = chunks[from];
  if (target.end + source.count > PerChunk)
    compact(to);
  for (uint32_t left = source.occupied; left; left &= left - 1) {
    PageId page = source.ids[std::countr_zero(left)];
    target.ids[target.end] = page;
    target.occupied |= 1u << target.end;
    (*records)[page].position = to << 4 | target.end++;
  }
  target.count += source.count;
  unlink(from);
}

void PageLists::merge(uint32_t at) {
  auto count = [&](uint32_t chunk) { return chunks[chunk].count; };
  // The sentinels have the lowest indices, and are never merged with.
  uint32_t next = chunks[at].next, previous = chunks[at].previous;
  if (next >= numLists && count(at) + count(next) <= MergeAt)
    move(at, next);
  else if (previous >= numLists && count(previous) + count(at) <= MergeAt)
    move(previous, at);
}

void PageLists::append(List to, List from) {
  if (empty(from))
    return;
  uint32_t first = chunks[from].next, last = chunks[from].previous;
  uint32_t seam = chunks[to].previous;
  chunks[seam].next = first;
  chunks[first].previous = seam;
  chunks[last].next = to;
  chunks[to].previous = last;
  chunks[from].next = chunks[from].previous = from;
  if (seam != to)
    merge(first);
}

const char *PageLists::check(List list) const {
  for (uint32_t at = list;; at = chunks[at].next) {
    if (chunks[chunks[at].next].previous != at)
      return "a chunk's neighbours disagree";
    if (at != list) {
      const Chunk &chunk = chunks[at];
      if (chunk.occupied == 0 || chunk.occupied >> chunk.end ||
          chunk.end > PerChunk ||
          chunk.count != std::popcount(uint32_t(chunk.occupied)))
        return "a chunk's slots are out of order";
      for (uint32_t left = chunk.occupied; left; left &= left - 1) {
        uint32_t slot = std::countr_zero(left);
        if ((*records)[chunk.ids[slot]].position != (at << 4 | slot))
          return "a page is not where its record says";
      }
    }
    if (chunks[at].next == list)
      break;
  }
  return nullptr;
}
