//===- PriorityLimits.cpp - Which pages' priorities end when --------------===//

#include "PriorityLimits.h"

using namespace kv;

void PriorityLimits::link(PageId page, Tick until) {
  assert(until > current && until <= current + Most && "not on the wheel");
  PageRecord &record = (*records)[page];
  LimitSlot &slot = slots[until & Most];
  record.limit = static_cast<uint16_t>((until & Most) + 1);
  record.earlier = slot.last;
  record.later = NullPage;
  (slot.last ? (*records)[slot.last].later : slot.first) = page;
  slot.last = page;
  ++count;
}

void PriorityLimits::unlink(PageId page) {
  PageRecord &record = (*records)[page];
  LimitSlot &slot = slots[record.limit - 1];
  (record.earlier ? (*records)[record.earlier].later : slot.first) =
      record.later;
  (record.later ? (*records)[record.later].earlier : slot.last) =
      record.earlier;
  record.limit = 0;
  --count;
}

const char *PriorityLimits::check(int32_t pages) const {
  int32_t limited = 0;
  for (PageId page = 1; page <= pages; ++page) {
    const PageRecord &record = (*records)[page];
    if (record.limit == 0)
      continue;
    ++limited;
    const LimitSlot &slot = slots[record.limit - 1];
    auto agrees = [&](PageId neighbour, PageId end, PageId PageRecord::*back) {
      if (neighbour == NullPage)
        return end == page;
      const PageRecord &other = (*records)[neighbour];
      return other.limit == record.limit && other.*back == page;
    };
    if (!agrees(record.earlier, slot.first, &PageRecord::later) ||
        !agrees(record.later, slot.last, &PageRecord::earlier))
      return "a page is not where the wheel of limits has it";
  }
  return limited == count ? nullptr : "a limit is not on the wheel";
}
