//===- Print.cpp - A layer of the cache as text ---------------------------===//

#include "Elements.h"
#include "PagedCache.h"
#include "kv/Kernels/Reference.h"

#include <cstdio>

using namespace kv::reference;

/// At most this many elements of a row.
constexpr int64_t Shown = 4;

static void printRow(std::string &text, const char *name,
                     const KvTensorView &blocks, int64_t row) {
  text += name;
  int64_t dim = blocks.sizes[5];
  withFormat(blocks.dtype, [&](auto format) {
    using Format = decltype(format);
    const auto *source =
        static_cast<const typename Format::Storage *>(blocks.data) + row;
    for (int64_t d = 0; d < std::min(dim, Shown); ++d) {
      char number[32];
      std::snprintf(number, sizeof(number), " %g",
                    double(Format::widen(source[d])));
      text += number;
    }
  });
  if (dim > Shown)
    text += " ...";
}

std::string kv::reference::print(const PrintArguments &args) {
  LayerBlocks cache(*args.blocks, args.layer);
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string text = "kv.print: layer " + number(args.layer) + "\n";
  for (int64_t b = 0; b < args.cacheLengths->sizes[0]; ++b) {
    int64_t length = loadIndex(*args.cacheLengths, b);
    if (args.rowOffsets)
      length += int64_t(loadIndex(*args.rowOffsets, b + 1)) -
                loadIndex(*args.rowOffsets, b);
    text += "sequence " + number(b) + ": " + number(length) + " tokens\n";
    for (int64_t position = 0; position < length; ++position) {
      int64_t entry = position / cache.pageSize();
      if (entry >= args.lookupTable->sizes[1]) {
        text += "  the lookup table ends\n";
        break;
      }
      int64_t page = loadIndex(*args.lookupTable, b, entry);
      if (page < 0 || page >= cache.pages()) {
        text += "  " + number(position) + ": no page\n";
        continue;
      }
      for (int64_t head = 0; head < cache.heads(); ++head) {
        int64_t slot = position % cache.pageSize();
        text += "  " + number(position) + " (page " + number(page) + ") head " +
                number(head) + ":";
        printRow(text, " k", *args.blocks, cache.row(0, page, slot, head));
        if (cache.planes() == 2)
          printRow(text, " v", *args.blocks, cache.row(1, page, slot, head));
        text += "\n";
      }
    }
  }
  return text;
}
