//===- VectorizeMatmul.cpp - Products with packed weights as tiled loops --===//
//
// A work item is a tile of output columns of one of the weights, for all rows,
// so that a weight is read once. With experts, it is for the rows that chose
// the expert. Within it, for weights of f32 and bf16, register tiles of R rows
// x B vectors of 16 outputs, each output one chain of explicit fma with k
// ascending: its bits do not depend on the tile that computed it. Tiles of
// packed blocks: VectorizeBlocks.cpp; by a matrix unit: VectorizeMatrix.cpp.
//
//===----------------------------------------------------------------------===//

#include "VectorizeMatmul.h"

#include "TileRows.h"
#include "VectorizeBlocks.h"
#include "VectorizeMatrix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"

using namespace mlir;
using namespace kv;

static Value index(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

namespace {
/// Weights of one type: they share their code, which takes the weight of its
/// tile.
struct WeightGroup {
  WeightGroup(Value weight, std::optional<QuantFormat> format, int64_t columns,
              bool matrix)
      : format(format), matrix(!format && matrix && fitsMatrixUnit(weight)),
        numBlocks(columns / kPackedRows) {
    if (format)
      return;
    auto type = cast<MemRefType>(weight.getType());
    vector = VectorType::get({kPackedRows}, type.getElementType());
    // Wide enough for the fma latency with one row, narrow enough to share out.
    for (int64_t candidate : {4, 3, 2})
      if (numBlocks % candidate == 0) {
        width = candidate;
        break;
      }
  }

  bool takes(Value weight, std::optional<QuantFormat> itsFormat,
             Value out) const {
    return weight.getType() == weights.front().getType() &&
           itsFormat == format && out.getType() == outs.front().getType();
  }
  /// Tiles of `width` blocks: of one weight, of all.
  int64_t tilesOfOne() const { return numBlocks / width; }
  int64_t tiles() const { return tilesOfOne() * weights.size(); }

  SmallVector<Value> weights, outs;
  std::optional<QuantFormat> format; // of bytes
  bool matrix;                       // multiplied by the matrix unit
  int64_t numBlocks, width = 1;      // blocks of a product, of a tile
  VectorType vector;                 // of numbers
};

/// Builds the loops of one product on buffers.
class MatmulBuilder {
public:
  template <typename Op>
  MatmulBuilder(Op op, const MatmulTiling &tiling)
      : x(op.getX()), loc(op.getLoc()), rows(tiling.rows),
        blocks(tiling.blocks), dot(tiling.dot),
        depth(cast<MemRefType>(x.getType()).getShape().back()),
        accumulator(
            VectorType::get({kPackedRows}, Float32Type::get(op.getContext()))) {
    for (auto [i, weight, product] :
         llvm::enumerate(op.getWeights(), op.getOuts())) {
      std::optional<QuantFormat> format = op.getFormat(i);
      auto group = llvm::find_if(groups, [&](const WeightGroup &each) {
        return each.takes(weight, format, product);
      });
      if (group == groups.end())
        group = groups.insert(
            groups.end(),
            WeightGroup(weight, format, op.getWidth(i), tiling.matrix));
      group->weights.push_back(weight);
      group->outs.push_back(product);
    }
  }

  void build(OpBuilder &b) {
    tileRows = {index(b, loc, 0), memref::DimOp::create(b, loc, x, 0)};
    prepare(b);
    buildForall(
        b, loc, index(b, loc, tiles), grain(),
        [&](OpBuilder &b, Value tile) { buildGroups(b, groups, tile); });
  }

  /// Builds the products of each expert that a row has chosen, with the rows
  /// that have.
  void buildExperts(OpBuilder &b, Value experts, int64_t numExperts) {
    auto type = cast<MemRefType>(experts.getType());
    ExpertOrder by = orderByExpert(b, loc, experts, numExperts);
    prepare(b);
    Value each = index(b, loc, tiles);
    buildForall(b, loc, arith::MulIOp::create(b, loc, by.count, each), grain(),
                [&](OpBuilder &b, Value item) {
                  auto load = [&](Value from, Value at) -> Value {
                    Value number = memref::LoadOp::create(b, loc, from, at);
                    return arith::IndexCastUIOp::create(
                        b, loc, b.getIndexType(), number);
                  };
                  Value place = arith::DivUIOp::create(b, loc, item, each);
                  Value tile = arith::RemUIOp::create(b, loc, item, each);
                  expert = load(by.chosen, place);
                  tileRows = {load(by.bounds, expert),
                              load(by.bounds, offset(b, expert, 1)), by.order,
                              type.getDimSize(1),
                              cast<MemRefType>(x.getType()).getRank() == 3};
                  buildGroups(b, groups, tile);
                });
  }

private:
  /// Emits the code before the tiles.
  void prepare(OpBuilder &b) {
    if (llvm::any_of(groups, [](const WeightGroup &group) {
          return group.format.has_value();
        }))
      quantized = quantizeRows(b, loc, x);
    if (llvm::any_of(groups,
                     [](const WeightGroup &group) { return group.matrix; }))
      tiled = tileMatrixRows(b, loc, x);
    for (const WeightGroup &group : groups) {
      tiles += group.tiles();
      widest = std::max(widest, group.width);
    }
  }
  int64_t grain() const { return grainOf(widest * kPackedRows * depth); }

  /// Tile `tile` of `rest`, whose tiles stand one after the other.
  void buildGroups(OpBuilder &b, ArrayRef<WeightGroup> rest, Value tile) {
    const WeightGroup &group = rest.front();
    if (rest.size() == 1)
      return buildGroup(b, group, tile);
    Value count = index(b, loc, group.tiles());
    Value here =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tile, count);
    scf::IfOp::create(
        b, loc, here,
        [&](OpBuilder &b, Location loc) {
          buildGroup(b, group, tile);
          scf::YieldOp::create(b, loc);
        },
        [&](OpBuilder &b, Location loc) {
          Value left = arith::SubIOp::create(b, loc, tile, count);
          buildGroups(b, rest.drop_front(), left);
          scf::YieldOp::create(b, loc);
        });
  }

  void buildGroup(OpBuilder &b, const WeightGroup &group, Value tile) {
    w = group.weights.front();
    out = group.outs.front();
    weightVector = group.vector;
    if (group.weights.size() > 1) {
      Value each = index(b, loc, group.tilesOfOne());
      Value member = arith::DivUIOp::create(b, loc, tile, each);
      tile = arith::RemUIOp::create(b, loc, tile, each);
      for (size_t i = 1; i < group.weights.size(); ++i) {
        Value chosen =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, member,
                                  index(b, loc, static_cast<int64_t>(i)));
        w = arith::SelectOp::create(b, loc, chosen, group.weights[i], w);
        out = arith::SelectOp::create(b, loc, chosen, group.outs[i], out);
      }
    }
    firstBlock = Value();
    if (expert)
      firstBlock =
          arith::MulIOp::create(b, loc, expert, index(b, loc, group.numBlocks));
    if (group.format)
      return buildBlockTile(b, loc, {*group.format, dot, w, out, quantized},
                            ofWeight(b, tile), tile, tileRows);
    Value first =
        arith::MulIOp::create(b, loc, tile, index(b, loc, group.width));
    if (group.matrix)
      return buildMatrixTile(b, loc, {w, out, tiled}, first, group.width);
    buildColumns(b, first, group.width);
  }

  /// The block of the weight that has the columns of block `block` of its
  /// product.
  Value ofWeight(OpBuilder &b, Value block) {
    return firstBlock ? arith::AddIOp::create(b, loc, firstBlock, block)
                      : block;
  }

  /// All rows of `width` blocks from `first`: as many as there are tiles of
  /// `rows` for, then of fewer, so that few rows read a weight once.
  void buildColumns(OpBuilder &b, Value first, int64_t width) {
    SmallVector<int64_t> heights = {rows};
    for (int64_t height : {8, 4, 2, 1})
      if (height < rows)
        heights.push_back(height);
    tileRows.forEachTile(
        b, loc, heights, [&](OpBuilder &b, int64_t height, Value row) {
          // With few rows a wide tile hides the latency that rows would.
          int64_t tile = height == 1 ? width : std::min(width, blocks);
          for (int64_t j = 0; j < width; j += tile)
            buildTile(b, row, height, offset(b, first, j),
                      std::min(tile, width - j));
        });
  }

  Value offset(OpBuilder &b, Value base, int64_t by) {
    if (by == 0)
      return base;
    return arith::AddIOp::create(b, loc, base, index(b, loc, by));
  }

  /// height x width accumulators over the whole depth.
  void buildTile(OpBuilder &b, Value row, int64_t height, Value block,
                 int64_t width) {
    SmallVector<TileRow> places;
    SmallVector<Value> blockIndices, weightBlocks;
    for (int64_t i = 0; i < height; ++i)
      places.push_back(tileRows.at(b, loc, offset(b, row, i)));
    for (int64_t j = 0; j < width; ++j) {
      blockIndices.push_back(offset(b, block, j));
      weightBlocks.push_back(ofWeight(b, blockIndices.back()));
    }
    Value zero = arith::ConstantOp::create(b, loc, accumulator,
                                           b.getZeroAttr(accumulator));
    SmallVector<Value> initial(height * width, zero);
    // Few accumulators leave loop overhead visible: unroll k.
    int64_t unroll = depth % 4 != 0         ? 1
                     : height * width <= 8  ? 4
                     : height * width <= 16 ? 2
                                            : 1;
    auto loop = scf::ForOp::create(
        b, loc, index(b, loc, 0), index(b, loc, depth), index(b, loc, unroll),
        initial, [&](OpBuilder &b, Location loc, Value k, ValueRange carried) {
          SmallVector<Value> sums(carried);
          // More rows use what the first ones have brought.
          if (height < rows)
            for (Value each : weightBlocks)
              prefetch(b, loc, w, ValueRange{each, k, index(b, loc, 0)},
                       prefetchDistance(width),
                       unroll * kPackedRows *
                           weightVector.getElementTypeBitWidth() / 8);
          for (int64_t u = 0; u < unroll; ++u)
            buildStep(b, offset(b, k, u), places, weightBlocks, sums);
          scf::YieldOp::create(b, loc, sums);
        });
    for (int64_t j = 0; j < width; ++j) {
      Value column = arith::MulIOp::create(b, loc, blockIndices[j],
                                           index(b, loc, kPackedRows));
      for (int64_t i = 0; i < height; ++i) {
        SmallVector<Value> at = places[i].product;
        at.push_back(column);
        vector::StoreOp::create(b, loc, loop.getResult(i * width + j), out, at);
      }
    }
  }

  /// sums[i][j] += x[row i, k] * w[block j, k, :]
  void buildStep(OpBuilder &b, Value k, ArrayRef<TileRow> places,
                 ArrayRef<Value> weightBlocks, SmallVectorImpl<Value> &sums) {
    Value zero = index(b, loc, 0);
    SmallVector<Value> weights;
    for (Value block : weightBlocks) {
      Value loaded = vector::LoadOp::create(b, loc, weightVector, w,
                                            ValueRange{block, k, zero});
      if (weightVector != accumulator)
        loaded = arith::ExtFOp::create(b, loc, accumulator, loaded);
      weights.push_back(loaded);
    }
    for (auto [i, place] : llvm::enumerate(places)) {
      SmallVector<Value> at = place.x;
      at.push_back(k);
      Value scalar = memref::LoadOp::create(b, loc, x, at);
      Value spread = vector::BroadcastOp::create(b, loc, accumulator, scalar);
      for (auto [j, weight] : llvm::enumerate(weights)) {
        Value &sum = sums[i * weights.size() + j];
        // Not vector.fma: that becomes fmuladd, which fuses only where the
        // backend likes to.
        sum = math::FmaOp::create(b, loc, spread, weight, sum);
      }
    }
  }

  Value x;
  Location loc;
  int64_t rows, blocks;
  DotKind dot;
  int64_t depth;
  VectorType accumulator;
  SmallVector<WeightGroup> groups;
  int64_t tiles = 0, widest = 1; // of the groups together, of any
  QuantizedRows quantized;       // where a weight is quantised
  MatrixRows tiled;              // where the matrix unit multiplies one
  // Members of the tile that is being built.
  TileRows tileRows;
  Value expert;     // null: there are none
  Value firstBlock; // of the expert
  Value w, out;
  VectorType weightVector;
};
} // namespace

void kv::vectorizeMatmul(OpBuilder &b, MatmulOp op,
                         const MatmulTiling &tiling) {
  MatmulBuilder(op, tiling).build(b);
}

void kv::vectorizeExpertMatmul(OpBuilder &b, ExpertMatmulOp op,
                               const MatmulTiling &tiling) {
  MatmulBuilder(op, tiling)
      .buildExperts(b, op.getExperts(), op.getNumExperts());
}
