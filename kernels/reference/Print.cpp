//===- Print.cpp - A layer of the cache as text ---------------------------===//

#include "Elements.h"
#include "PagedCache.h"
#include "Scales.h"
#include "kv/Kernels/Reference.h"

#include <cstdio>

using namespace kv::reference;

/// At most this many elements of a row.
constexpr int64_t Shown = 4;

static void printRow(std::string &text, const char *name,
                     const KvTensorView &blocks, int64_t row,
                     const LayerScales &scales, int64_t scaleRow) {
  text += name;
  int64_t dim = blocks.sizes[5];
  withCacheFormat(blocks.dtype, [&](auto format) {
    using Format = decltype(format);
    const auto *source =
        static_cast<const typename Format::Storage *>(blocks.data) + row;
    for (int64_t d = 0; d < std::min(dim, Shown); ++d) {
      float scale = scales ? scales.load(scaleRow, d / scales.groupSize()) : 1;
      char number[32];
      std::snprintf(number, sizeof(number), " %g",
                    double(Format::widen(source[d]) * scale));
      text += number;
    }
  });
  if (dim > Shown)
    text += " ...";
}

std::string kv::reference::print(const PrintArguments &args) {
  LayerBlocks cache(*args.blocks, args.layer);
  LayerScales scales(args.scales, *args.blocks, args.layer);
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
      bool isPaged = args.lookupTable->rank == 2;
      if (entry >= (isPaged ? args.lookupTable->sizes[1] : 1)) {
        text += "  the lookup table ends\n";
        break;
      }
      int64_t page = pageOf(*args.lookupTable, b, position, cache.pageSize());
      if (page < 0 || page >= cache.pages()) {
        text += "  " + number(position) + ": no page\n";
        continue;
      }
      if (isPaged && page == 0) {
        text += "  " + number(position) + ": null page\n";
        continue;
      }
      for (int64_t head = 0; head < cache.heads(); ++head) {
        int64_t slot = position % cache.pageSize();
        text += "  " + number(position) + " (page " + number(page) + ") head " +
                number(head) + ":";
        for (int64_t plane = 0; plane < cache.planes(); ++plane)
          printRow(text, plane == 0 ? " k" : " v", *args.blocks,
                   cache.row(plane, page, slot, head), scales,
                   scales ? scales.row(plane, page, slot, head) : 0);
        text += "\n";
      }
    }
  }
  return text;
}
