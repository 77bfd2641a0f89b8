//===- PagePool.cpp - Which pages are held, cached or blank ---------------===//

#include "kv/Runtime/PagePool.h"

#include <cassert>

using namespace kv;

PagePool::PagePool(int32_t count) : records(count + 1), total(count) {
  blank.reserve(count);
  for (PageId page = count; page > NullPage; --page)
    blank.push_back(page);
}

PageId PagePool::takeBlank() {
  if (blank.empty())
    return NullPage;
  PageId page = blank.back();
  blank.pop_back();
  records[page].holds = 1;
  return page;
}

void PagePool::hold(PageId page) {
  assert(page > NullPage && page <= total && "not a usable page");
  Record &record = records[page];
  if (record.holds++ == 0) {
    assert(record.content != NoContent && "a blank page is taken, not held");
    unlink(page);
  }
}

bool PagePool::release(PageId page) {
  assert(page > NullPage && page <= total && "not a usable page");
  Record &record = records[page];
  assert(record.holds > 0 && "released twice");
  if (--record.holds > 0)
    return false;
  if (record.content == NoContent) {
    blank.push_back(page);
    return true;
  }
  Record &sentinel = records[NullPage];
  record.previous = sentinel.previous;
  record.next = NullPage;
  records[sentinel.previous].next = page;
  sentinel.previous = page;
  ++cached;
  return true;
}

void PagePool::setContent(PageId page, uint32_t content) {
  assert(records[page].holds > 0 && "content is given while held");
  records[page].content = content;
}

void PagePool::clearContent(PageId page) {
  Record &record = records[page];
  if (record.holds == 0 && record.content != NoContent) {
    unlink(page);
    blank.push_back(page);
  }
  record.content = NoContent;
}

void PagePool::unlink(PageId page) {
  Record &record = records[page];
  records[record.previous].next = record.next;
  records[record.next].previous = record.previous;
  record.previous = record.next = NullPage;
  --cached;
}
