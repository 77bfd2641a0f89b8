//===- AttentionShape.cpp - An attention's sizes and tiles ----------------===//

#include "AttentionShape.h"

#include "passes/cpu/vector/MatrixUnit.h"

using namespace mlir;
using namespace kv;

/// Rows of a tile for a matrix unit: enough that bringing keys and values into
/// the unit's tiles takes a small part of the time.
constexpr int64_t kMatrixRows = 128;

/// The rows of the largest register tile, at most `most`: the number that
/// leaves the fewest registers unused with `group` query heads per KV head.
static int64_t chooseRows(int64_t group, int64_t most) {
  if (group <= most)
    return most / group * group;
  int64_t best = most, bestRest = 0;
  for (int64_t rows = most; rows * 2 > most; --rows) {
    int64_t rest = group % rows;
    if (rest == 0)
      return rows;
    // A small rest makes a slow tile.
    if (rest * best > bestRest * rows) {
      best = rows;
      bestRest = rest;
    }
  }
  return best;
}

/// At least 8 sums hide the latency of an fma where two are begun in a cycle.
/// There are at most 24 in 32 registers and 12 in 16. A score is a sum in one
/// register at a time, a vector of values has two registers of 256 bits.
static RegisterTile makeTile(int64_t rows, bool wide) {
  if (wide)
    return {rows, rows > 3 ? 4 : 8, rows > 3 ? 24 / rows : 8};
  return {rows, rows > 3 ? 2 : rows > 1 ? 4 : 8, rows > 1 ? 6 / rows : 4};
}

/// Whether a matrix unit multiplies queries and weights with keys and values.
static bool fitsMatrixUnit(const CacheGeometry &geometry) {
  // A larger tile would take more stack than a thread has.
  constexpr int64_t largest = 256;
  return geometry.dtype == KV_DTYPE_BF16 && !geometry.scaleGroup &&
         !geometry.isLatent() && geometry.dim <= largest &&
         geometry.dim % MatrixUnit::tileDepth == 0;
}

AttentionShape::AttentionShape(AttentionOp op, bool wide, bool matrix)
    : type(cast<CacheOpInterface>(op.getOperation()).getCollectionType()),
      geometry(type.getGeometry()), heads(geometry.heads),
      group(cast<ShapedType>(op.getQ().getType()).getDimSize(1) / heads),
      dim(geometry.dim), valueDim(geometry.valueDim()),
      paddedDim(llvm::alignTo(dim, kLanes)),
      paddedValueDim(llvm::alignTo(valueDim, kLanes)),
      registerLanes(wide ? kLanes : kLanes / 2),
      // A tree's rows have no interval of keys in common.
      usesMatrixUnit(matrix && !op.getAncestors() && fitsMatrixUnit(geometry)) {
  constexpr int64_t most = 24;
  if (usesMatrixUnit) {
    tileRows = kMatrixRows;
  } else if (group <= most) {
    tileRows = most / group * group;
  } else {
    int64_t tiles = llvm::divideCeil(group, most);
    tileRows = llvm::divideCeil(group, tiles);
  }
  paddedRows = llvm::alignTo(tileRows, kLanes);
  // The largest tile, the tile of the rows that one token has beyond the
  // largest, and single rows.
  int64_t largest = chooseRows(group, 6);
  int64_t rest = group < largest ? group : group % largest;
  for (int64_t rows : {largest, rest, int64_t(1)})
    if (rows > 0 && (registerTiles.empty() || rows < registerTiles.back().rows))
      registerTiles.push_back(makeTile(rows, wide));
}

std::optional<std::string> kv::whyNotVectorized(AttentionOp op) {
  auto cache = cast<CacheOpInterface>(op.getOperation());
  CacheGeometry geometry = cache.getCollectionType().getGeometry();
  if (geometry.heads <= 0)
    return "its number of heads is not known";
  // A vector's elements have one scale, or whole groups of it.
  int64_t scaled = geometry.scaleGroup;
  if (scaled && scaled != geometry.dim && scaled % kLanes && kLanes % scaled)
    return "its groups of " + std::to_string(scaled) +
           " elements with a scale neither fill vectors of 16 nor divide them";
  return std::nullopt;
}
