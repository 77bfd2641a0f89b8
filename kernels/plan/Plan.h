//===- Plan.h - Who computes which keys of which rows -----------*- C++ -*-===//
//
// Attention's work of one step, cut into equal parts. Made once a step from
// lengths, on the host or on the device by the same functions, and shared by
// all layers with the same mask.
//
//   tile   up to `tileRows` packed rows of one sequence: row r of a sequence
//          is new token r / group of query head r % group of a KV head
//   unit   one tile with one KV head; its keys are leaves [leafBegin, leafEnd)
//          of `leaf` keys at absolute positions
//   line   all units one after the other, each as long as its leaves and a
//          fixed cost; heads are inner, tiles outer
//   part   one worker's stretch of the line, [p, p + 1) * payload, with ends
//          moved down to where a unit may be cut
//   piece  what a part writes of a unit that it does not own whole: one group
//          of leaves, or one leaf of a group that began in an earlier part
//
// Where the cuts lie changes no bit of the result: a part never folds more
// than leaves of one group that it has from its beginning, and the merge folds
// pieces as one worker would have.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_PLAN_PLAN_H
#define KV_KERNELS_PLAN_PLAN_H

#include "Masks.h"

namespace kv::plan {

constexpr int32_t GpuLeaf = 128, CpuLeaf = 256;
/// 1024 keys on a GPU, 2048 on a CPU.
constexpr int32_t LeavesPerGroup = 8;
/// What a unit costs beside its leaves, in leaves: its queries, the first
/// load's latency, its results. Unconfirmed.
constexpr int64_t UnitCost = 2;
/// A unit that is at most this part of a payload is not cut.
constexpr int64_t WholeFraction = 4;
/// From this payload on, cuts lie between groups: that many leaves make the
/// imbalance small, and pieces few.
constexpr int64_t GroupPayload = 8 * LeavesPerGroup;

/// A step's lengths, and the room that is really there. Nothing that is read
/// from the two arrays can lead a kernel out of this room.
struct Batch {
  const int32_t *cacheLengths; // [sequences]
  const int32_t *rowOffsets;   // [sequences + 1]
  int32_t sequences;
  int32_t tokens;   // rows of q
  int64_t capacity; // keys that a row of the page table has room for
};

struct Sequence {
  int64_t token; // its first row of q
  int64_t added;
  int64_t cached; // the position of its first row
  int64_t length; // its keys are the positions 0 .. length
};

KV_HD constexpr Sequence sequenceAt(const Batch &batch, int32_t index) {
  int64_t tokens = batch.tokens;
  int64_t first = greater<int64_t>(batch.rowOffsets[index], 0);
  first = lesser(first, tokens);
  int64_t last = greater<int64_t>(batch.rowOffsets[index + 1], first);
  last = lesser(last, tokens);
  int64_t cached = greater<int64_t>(batch.cacheLengths[index], 0);
  int64_t length = lesser(cached + last - first, batch.capacity);
  return {first, last - first, cached, lesser<int64_t>(length, INT32_MAX)};
}

/// What a plan is for.
struct Shape {
  int32_t heads; // of the cache
  int32_t group; // query heads of each
  int32_t tileRows;
  int32_t leaf;
  int32_t mask; // a KvMask
  int64_t window;
  /// Sequences with packed rows in [rowsFrom, rowsTo) only: decode and prefill
  /// kernels share a batch.
  int64_t rowsFrom;
  int64_t rowsTo;
  int32_t parts;
  int32_t slots; // room for pieces in each part
};

struct Tile {
  int32_t sequence;
  int32_t row; // the first packed row
  int32_t leafBegin;
  int32_t leafEnd;
  int64_t start; // on the line
};

struct Header {
  int64_t total;   // length of the line
  int64_t payload; // of a part
  int32_t tiles;
};

KV_HD constexpr int64_t tilesOf(const Shape &shape, const Sequence &sequence) {
  int64_t rows = sequence.added * shape.group;
  if (rows < shape.rowsFrom || rows >= shape.rowsTo)
    return 0;
  return ceilDivide(rows, shape.tileRows);
}

/// No batch of `tokens` rows in `sequences` sequences makes more tiles.
KV_HD constexpr int64_t maxTiles(const Shape &shape, int64_t sequences,
                                 int64_t tokens) {
  return tokens * shape.group / shape.tileRows + sequences;
}

/// The keys that any row of a tile sees.
KV_HD constexpr Keys tileKeys(const Shape &shape, const Sequence &sequence,
                              int64_t row) {
  int64_t rows = sequence.added * shape.group;
  int64_t last = lesser(row + shape.tileRows, rows) - 1;
  Keys first =
      visibleKeys(shape.mask, shape.window, sequence.cached + row / shape.group,
                  sequence.length);
  Keys end = visibleKeys(shape.mask, shape.window,
                         sequence.cached + last / shape.group, sequence.length);
  return {first.first, end.last};
}

KV_HD constexpr Tile makeTile(const Shape &shape, const Sequence &sequence,
                              int32_t index, int64_t number, int64_t start) {
  int64_t row = number * shape.tileRows;
  Keys keys = tileKeys(shape, sequence, row);
  Tile tile{index, static_cast<int32_t>(row), 0, 0, start};
  if (keys.first < keys.last) {
    tile.leafBegin = static_cast<int32_t>(keys.first / shape.leaf);
    tile.leafEnd = static_cast<int32_t>(ceilDivide(keys.last, shape.leaf));
  }
  return tile;
}

KV_HD constexpr int64_t unitCost(const Tile &tile) {
  return tile.leafEnd - tile.leafBegin + UnitCost;
}

KV_HD constexpr int64_t payloadOf(int64_t total, int32_t parts) {
  // At least one leaf, else two cuts could fall on one place.
  return greater(ceilDivide(total, parts), UnitCost + 1);
}

/// Pieces of the leaves [begin, end): each leaf before the first group that
/// begins there, then groups.
KV_HD constexpr int64_t pieceCount(int64_t begin, int64_t end) {
  int64_t group = ceilDivide(begin, LeavesPerGroup) * LeavesPerGroup;
  return lesser(group, end) - begin +
         (end > group ? ceilDivide(end - group, LeavesPerGroup) : 0);
}

/// Where the piece that begins at a leaf ends, within [.., end).
KV_HD constexpr int64_t pieceEnd(int64_t leaf, int64_t end) {
  return leaf % LeavesPerGroup ? leaf + 1 : lesser(leaf + LeavesPerGroup, end);
}

/// No part of a payload has more pieces: two units that it shares, up to seven
/// leaves of a group begun before in each.
KV_HD constexpr int64_t slotsFor(int64_t payload) {
  return 2 * LeavesPerGroup + 1 +
         ceilDivide(payload + LeavesPerGroup, LeavesPerGroup);
}

KV_HD constexpr bool mayCut(const Shape &shape, const Header &header,
                            int64_t cost) {
  if (cost * WholeFraction <= header.payload)
    return false;
  return slotsFor(header.payload) <= shape.slots ||
         2 * (LeavesPerGroup + 2 + cost / LeavesPerGroup) <= shape.slots;
}

/// A place on the line where a part may begin: a leaf of a unit. Its first
/// leaf stands for the unit's beginning. The line's end is {tiles, 0, 0}.
struct Cut {
  int32_t tile;
  int32_t head;
  int32_t leaf;
  friend KV_HD constexpr bool operator==(const Cut &a, const Cut &b) {
    return a.tile == b.tile && a.head == b.head && a.leaf == b.leaf;
  }
};

/// The leaf of a unit at which a part begins that begins `offset` after it.
KV_HD constexpr int32_t cutLeaf(const Shape &shape, const Header &header,
                                const Tile &tile, int64_t offset) {
  int64_t leaf = tile.leafBegin;
  if (mayCut(shape, header, unitCost(tile))) {
    leaf += greater<int64_t>(offset - UnitCost, 0);
    if (header.payload >= GroupPayload)
      leaf = leaf / LeavesPerGroup * LeavesPerGroup;
  }
  return static_cast<int32_t>(greater<int64_t>(leaf, tile.leafBegin));
}

/// Where `part` begins; part `parts` is the line's end.
KV_HD constexpr Cut partBegin(const Shape &shape, const Header &header,
                              const Tile *tiles, int64_t part) {
  int64_t place = part * header.payload;
  if (part >= shape.parts || place >= header.total)
    return {header.tiles, 0, 0};
  int32_t low = 0, high = header.tiles;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    (tiles[middle].start <= place ? low : high) = middle;
  }
  const Tile &tile = tiles[low];
  int64_t cost = unitCost(tile), offset = place - tile.start;
  return {low, static_cast<int32_t>(offset / cost),
          cutLeaf(shape, header, tile, offset % cost)};
}

/// The host's form. `tiles` has room for maxTiles, `cuts` for parts + 1.
KV_HD constexpr Header makePlan(const Shape &shape, const Batch &batch,
                                Tile *tiles, Cut *cuts) {
  Header header{0, 0, 0};
  int64_t room = maxTiles(shape, batch.sequences, batch.tokens);
  for (int32_t b = 0; b < batch.sequences; ++b) {
    Sequence sequence = sequenceAt(batch, b);
    int64_t count = tilesOf(shape, sequence);
    for (int64_t i = 0; i < count && header.tiles < room; ++i) {
      Tile tile = makeTile(shape, sequence, b, i, header.total);
      header.total += unitCost(tile) * shape.heads;
      tiles[header.tiles++] = tile;
    }
  }
  header.payload = payloadOf(header.total, shape.parts);
  for (int32_t part = 0; part <= shape.parts; ++part)
    cuts[part] = partBegin(shape, header, tiles, part);
  return header;
}

/// The parts [first, last] that share a unit.
struct Parts {
  int64_t first;
  int64_t last;
};

KV_HD constexpr int64_t unitStart(const Tile &tile, int32_t head) {
  return tile.start + head * unitCost(tile);
}

KV_HD constexpr Parts unitParts(const Shape &shape, const Header &header,
                                const Tile &tile, int32_t head) {
  int64_t cost = unitCost(tile), start = unitStart(tile, head);
  int64_t last = (start + cost - 1) / header.payload;
  if (!mayCut(shape, header, cost))
    return {last, last};
  int64_t first = start / header.payload;
  // A cut in the unit's fixed cost is its beginning.
  if (first < last &&
      cutLeaf(shape, header, tile, (first + 1) * header.payload - start) ==
          tile.leafBegin)
    ++first;
  return {first, last};
}

/// The leaves of a unit that `part`, one of unitParts, has.
struct Leaves {
  int32_t begin;
  int32_t end;
};

KV_HD constexpr Leaves partLeaves(const Shape &shape, const Header &header,
                                  const Tile &tile, int32_t head, Parts parts,
                                  int64_t part) {
  int64_t offset = part * header.payload - unitStart(tile, head);
  Leaves leaves{tile.leafBegin, tile.leafEnd};
  if (part > parts.first)
    leaves.begin = cutLeaf(shape, header, tile, offset);
  if (part < parts.last)
    leaves.end = cutLeaf(shape, header, tile, offset + header.payload);
  return leaves;
}

/// What a part does at a time: leaves [leafBegin, leafEnd) of a unit.
struct Work {
  int32_t tile;
  int32_t head;
  int32_t leafBegin;
  int32_t leafEnd;
  bool starts; // has the unit's first leaf
  bool ends;   // and its last
  KV_HD constexpr bool whole() const { return starts && ends; }
};

/// Takes the next work off [at, end); false when there is none.
KV_HD constexpr bool nextWork(const Shape &shape, const Header &header,
                              const Tile *tiles, Cut &at, const Cut &end,
                              Work &work) {
  if (at == end)
    return false;
  const Tile &tile = tiles[at.tile];
  bool ends = at.tile != end.tile || at.head != end.head;
  work = {at.tile,
          at.head,
          at.leaf,
          ends ? tile.leafEnd : end.leaf,
          at.leaf == tile.leafBegin,
          ends};
  if (!ends) {
    at = end;
    return true;
  }
  ++at.head;
  if (at.head == shape.heads) {
    at.head = 0;
    ++at.tile;
  }
  at.leaf = at.tile < header.tiles ? tiles[at.tile].leafBegin : 0;
  return true;
}

/// The slot of piece `index` of a unit's leaves in `part`. The unit that a
/// part only continues counts from the front of the part's slots, the unit
/// that it begins from their back.
KV_HD constexpr int64_t slotOf(const Shape &shape, int64_t part, bool starts,
                               int64_t index) {
  return part * shape.slots + (starts ? shape.slots - 1 - index : index);
}

} // namespace kv::plan

#endif // KV_KERNELS_PLAN_PLAN_H
