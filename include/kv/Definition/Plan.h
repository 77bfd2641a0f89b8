//===- Plan.h - Who computes which keys of which rows -----------*- C++ -*-===//
//
// The attention plan: the attention of one step, cut into parts of equal work.
// The plan is made once per step from the lengths of the sequences, by the same
// functions on the host and on a device. All layers with the same mask share
// it.
//
//   row    packed row r of a sequence and a KV head is the new token r / group
//          with the query head r % group of this KV head
//   tile   up to `tileRows` packed rows of one sequence
//   unit   one tile with one KV head. Its keys are the leaves [leafBegin,
//          leafEnd), each of `leaf` keys at absolute positions
//   line   all units one after the other, tile by tile and within a tile head
//          by head. The length of a unit is its number of leaves and a fixed
//          cost
//   part   the stretch of the line that one worker computes: part p is
//          [p, p + 1) * payload, with both ends moved down to the next place
//          where a unit may be cut
//   piece  the partial softmax (Fold.h) that a part writes to scratch memory
//          where it does not own a whole unit: of a leaf group, or of one leaf
//          in a leaf group that began in an earlier part
//
// No bit of the result depends on the cuts. A part folds leaves only into leaf
// groups that it computes from the first leaf on. The merge folds the pieces in
// the order in which a single worker would have folded leaves and groups. The
// merge has two levels: the last of the parts that share a leaf group folds its
// pieces, and the part that completes the last group of the unit folds the
// groups.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_PLAN_H
#define KV_DEFINITION_PLAN_H

#include "kv/Definition/Divisor.h"
#include "kv/Definition/Masks.h"
#include "kv/Definition/Trees.h"

namespace kv::plan {

/// Keys of a leaf: on a GPU, there over a latent cache, and on a CPU.
constexpr int32_t GpuLeaf = 128, LatentLeaf = 64, CpuLeaf = 256;
/// Leaves of a leaf group, which so has 1024, 512 or 2048 keys.
constexpr int32_t LeavesPerGroup = 8;
/// The fixed cost of a unit, in leaves: loading its queries, waiting for its
/// first keys, writing its results. An estimate, not confirmed by measurement.
constexpr int64_t UnitCost = 2;
/// A unit is not cut if it costs at most payload / WholeFraction.
constexpr int64_t WholeFraction = 4;
/// With this payload or more, cuts lie only between leaf groups. This leaves
/// few pieces, and parts that are so large stay nearly equal.
constexpr int64_t GroupPayload = 8 * LeavesPerGroup;

/// The lengths of a step, which lie in arrays that may hold anything, and the
/// sizes of the buffers, which are known to be right. sequenceAt() clamps the
/// lengths to the sizes, so that no kernel leaves its buffers.
struct Batch {
  const int32_t *cacheLengths; // [sequences]
  const int32_t *rowOffsets;   // [sequences + 1]
  int32_t sequences;
  int32_t tokens;   // rows of q
  int64_t capacity; // keys that a row of the lookup table has pages for
};

struct Sequence {
  int64_t token;  // row of q that holds its first new token
  int64_t added;  // new tokens of this step
  int64_t cached; // tokens in the cache before; position of the first new one
  int64_t length; // its keys have the positions [0, length)
};

/// Sequence `index` of the batch, within the bounds that `batch` gives.
KV_HD constexpr Sequence sequenceAt(const Batch &batch, int32_t index) {
  int64_t tokens = batch.tokens;
  int64_t first = greater<int64_t>(batch.rowOffsets[index], 0);
  first = lesser(first, tokens);
  int64_t last = greater<int64_t>(batch.rowOffsets[index + 1], first);
  last = lesser(last, tokens);
  // Less than 0 where there are fewer keys than rows: of cross attention.
  int64_t cached = batch.cacheLengths[index];
  int64_t length = lesser(cached + last - first, batch.capacity);
  length = greater<int64_t>(lesser<int64_t>(length, INT32_MAX), 0);
  return {first, last - first, greater<int64_t>(cached, 0), length};
}

/// The kernel, the cache and the mask that a plan is made for.
struct Shape {
  int32_t heads;    // KV heads of the cache
  Divisor group;    // query heads that share a KV head
  int32_t tileRows; // most packed rows of a tile
  int32_t leaf;     // keys of a leaf
  int32_t mask;     // a KvMask
  int64_t window;   // the mask's window in tokens
  /// The plan covers the sequences whose number of packed rows is in [rowsFrom,
  /// rowsTo): a batch is divided between the decode kernel and the prefill
  /// kernel.
  int64_t rowsFrom;
  int64_t rowsTo;
  int32_t parts;     // workers
  int32_t slots;     // pieces for which each part has scratch memory
  int32_t trees = 0; // 1: the last tokens of sequences are nodes of trees
};

struct Tile {
  int32_t sequence; // index in the batch
  int32_t row;      // the first packed row
  int32_t leafBegin;
  int32_t leafEnd;
  int64_t start; // place on the line where its first unit begins
};

struct Header {
  int64_t total;   // length of the line, in leaves
  int64_t payload; // length of a part
  int32_t tiles;   // number of tiles
};

/// Number of tiles of a sequence; 0 if the plan does not cover it.
KV_HD constexpr int64_t tilesOf(const Shape &shape, const Sequence &sequence) {
  int64_t rows = sequence.added * shape.group;
  if (rows < shape.rowsFrom || rows >= shape.rowsTo)
    return 0;
  return ceilDivide(rows, shape.tileRows);
}

/// An upper bound of the tiles of any batch with `tokens` new tokens in
/// `sequences` sequences.
KV_HD constexpr int64_t maxTiles(const Shape &shape, int64_t sequences,
                                 int64_t tokens) {
  return tokens * shape.group / shape.tileRows + sequences;
}

/// The keys that at least one row of a tile sees. `row` is the first packed
/// row. Chunks as visibleKeys() has it.
template <bool Chunks = true>
KV_HD constexpr Keys tileKeys(const Shape &shape, const Sequence &sequence,
                              int64_t row) {
  int64_t rows = sequence.added * shape.group;
  int64_t last = lesser(row + shape.tileRows, rows) - 1;
  int64_t token = shape.group.quotient(int32_t(row));
  // The nodes of a tree may be as near to its root as the first.
  if (shape.trees)
    token = lesser(token, tokensBeforeTree(sequence.added));
  Keys first = visibleKeys<Chunks>(shape.mask, shape.window,
                                   sequence.cached + token, sequence.length);
  Keys end = visibleKeys<Chunks>(
      shape.mask, shape.window,
      sequence.cached + shape.group.quotient(int32_t(last)), sequence.length);
  return {first.first, end.last};
}

/// Tile `number` of sequence `index`, which begins at `start` on the line.
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

/// Length on the line of each unit of a tile.
KV_HD constexpr int64_t unitCost(const Tile &tile) {
  return tile.leafEnd - tile.leafBegin + UnitCost;
}

/// Length of a part where `parts` parts share a line of length `total`.
KV_HD constexpr int64_t payloadOf(int64_t total, int32_t parts) {
  return greater<int64_t>(ceilDivide(total, parts), 1);
}

/// Number of pieces of the leaves [begin, end): one for each leaf before the
/// first leaf group that begins there, then one for each leaf group.
KV_HD constexpr int64_t pieceCount(int64_t begin, int64_t end) {
  int64_t group = ceilDivide(begin, LeavesPerGroup) * LeavesPerGroup;
  return lesser(group, end) - begin +
         (end > group ? ceilDivide(end - group, LeavesPerGroup) : 0);
}

/// The end of the piece that begins at `leaf`, where a part's leaves end at
/// `end`.
KV_HD constexpr int64_t pieceEnd(int64_t leaf, int64_t end) {
  return leaf % LeavesPerGroup ? leaf + 1 : lesser(leaf + LeavesPerGroup, end);
}

/// An upper bound of the pieces of a part. A part shares at most two units with
/// other parts, its first and its last one. In each of them, up to seven leaves
/// belong to a leaf group that began earlier.
KV_HD constexpr int64_t slotsFor(int64_t payload) {
  return 2 * LeavesPerGroup + 1 +
         ceilDivide(payload + LeavesPerGroup, LeavesPerGroup);
}

/// Whether a unit of this cost may be shared by several parts: it is large
/// enough, and each part has scratch memory for its pieces.
KV_HD constexpr bool mayCut(const Shape &shape, const Header &header,
                            int64_t cost) {
  if (cost * WholeFraction <= header.payload)
    return false;
  return slotsFor(header.payload) <= shape.slots ||
         2 * (LeavesPerGroup + 2 + cost / LeavesPerGroup) <= shape.slots;
}

/// A place on the line where a part may begin: a leaf of a unit. The beginning
/// of a unit is represented by its first leaf, the end of the line by {tiles,
/// 0, 0}.
struct Cut {
  int32_t tile;
  int32_t head;
  int32_t leaf;
  friend KV_HD constexpr bool operator==(const Cut &a, const Cut &b) {
    return a.tile == b.tile && a.head == b.head && a.leaf == b.leaf;
  }
};

/// The leaf at which a part begins whose place on the line is `offset` after
/// the beginning of a unit of `tile`.
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

/// The place where part number `part` begins; for `parts` and beyond the end of
/// the line.
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

/// Makes the whole plan on one thread. Writes at most maxTiles() tiles and
/// exactly parts + 1 cuts.
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

/// The parts [first, last], both included, that compute leaves of one unit.
struct Parts {
  int64_t first;
  int64_t last;
};

/// Place on the line where the unit of `tile` and `head` begins.
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
  // A cut within the fixed cost of the unit moves down to its beginning, so the
  // part before has none of its leaves. If parts are shorter than the fixed
  // cost, several parts have none.
  while (first < last &&
         cutLeaf(shape, header, tile, (first + 1) * header.payload - start) ==
             tile.leafBegin)
    ++first;
  return {first, last};
}

/// Leaves [begin, end) of a unit.
struct Leaves {
  int32_t begin;
  int32_t end;
};

/// The leaves of a unit that `part` computes. `parts` is unitParts() of the
/// unit and contains `part`.
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

/// The part that computes a leaf of a unit; `parts` is unitParts() of the unit.
KV_HD constexpr int64_t partOf(const Shape &shape, const Header &header,
                               const Tile &tile, int32_t head, Parts parts,
                               int64_t leaf) {
  if (parts.first == parts.last)
    return parts.first;
  if (header.payload >= GroupPayload) // cuts have moved down to a group
    leaf |= LeavesPerGroup - 1;
  int64_t place = unitStart(tile, head) + leaf - tile.leafBegin + UnitCost;
  return greater(lesser(place / header.payload, parts.last), parts.first);
}

/// Number of leaf groups that a unit of `tile` has leaves of.
KV_HD constexpr int32_t groupCount(const Tile &tile) {
  return (tile.leafEnd - 1) / LeavesPerGroup - tile.leafBegin / LeavesPerGroup +
         1;
}

/// The leaves of its leaf group `number`.
KV_HD constexpr Leaves groupLeaves(const Tile &tile, int32_t number) {
  int32_t group = tile.leafBegin / LeavesPerGroup + number;
  return {greater(group * LeavesPerGroup, tile.leafBegin),
          lesser((group + 1) * LeavesPerGroup, tile.leafEnd)};
}

/// Whether a piece of a part begins at `leaf`, which is one of its `leaves`.
KV_HD constexpr bool pieceBegins(Leaves leaves, int32_t leaf) {
  return leaf % LeavesPerGroup == 0 ||
         (leaves.begin % LeavesPerGroup != 0 &&
          leaf / LeavesPerGroup == leaves.begin / LeavesPerGroup);
}

/// The stretch that a part computes at a time: leaves [leafBegin, leafEnd) of a
/// unit.
struct Work {
  int32_t tile;
  int32_t head;
  int32_t leafBegin;
  int32_t leafEnd;
  bool starts; // contains the unit's first leaf
  bool ends;   // contains the unit's last leaf
  KV_HD constexpr bool whole() const { return starts && ends; }
};

/// The stretch of a part that begins at `at`, a place within `tile`; false at
/// the part's `end`. The leaf of `at` may be FirstLeaf, that of its unit: a
/// tile is read once, when it is needed.
constexpr int32_t FirstLeaf = -1;
KV_HD constexpr bool workAt(const Tile &tile, const Cut &at, const Cut &end,
                            Work &work) {
  int32_t begin = at.leaf == FirstLeaf ? tile.leafBegin : at.leaf;
  bool ends = (at.tile != end.tile) | (at.head != end.head);
  if (!ends && begin == end.leaf)
    return false;
  work = {at.tile,
          at.head,
          begin,
          ends ? tile.leafEnd : end.leaf,
          begin == tile.leafBegin,
          ends};
  return true;
}

/// Where the stretch after `work` begins.
KV_HD constexpr Cut cutAfter(const Shape &shape, const Work &work) {
  if (!work.ends)
    return {work.tile, work.head, work.leafEnd};
  if (work.head + 1 < shape.heads)
    return {work.tile, work.head + 1, FirstLeaf};
  return {work.tile + 1, 0, FirstLeaf};
}

/// The slot in scratch memory of piece `index` that `part` writes of a unit.
/// Pieces of a unit that an earlier part has begun (`starts` is false) fill the
/// part's slots from the front. Pieces of a unit that this part begins fill
/// them from the back.
KV_HD constexpr int64_t slotOf(const Shape &shape, int64_t part, bool starts,
                               int64_t index) {
  return part * shape.slots + (starts ? shape.slots - 1 - index : index);
}

/// The slot of the piece of a unit that begins at a leaf of it; -1 if none
/// does. `parts` is unitParts() of the unit.
KV_HD constexpr int64_t pieceSlot(const Shape &shape, const Header &header,
                                  const Tile &tile, int32_t head, Parts parts,
                                  int32_t leaf) {
  int64_t part = partOf(shape, header, tile, head, parts, leaf);
  Leaves leaves = partLeaves(shape, header, tile, head, parts, part);
  if (!pieceBegins(leaves, leaf))
    return -1;
  return slotOf(shape, part, part == parts.first,
                pieceCount(leaves.begin, leaf));
}

} // namespace kv::plan

#endif // KV_DEFINITION_PLAN_H
