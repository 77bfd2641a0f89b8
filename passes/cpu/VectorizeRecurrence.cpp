//===- VectorizeRecurrence.cpp - Convolutions and scans in parallel -------===//
//
// The arithmetic of DecomposeRecurrence.cpp, in its order: no bit depends on
// which of both was used, on how a state is cut into pieces, or on threads.
//
//===----------------------------------------------------------------------===//

#include "VectorizeRecurrence.h"

#include "StatePieces.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kv;

/// Columns of a piece. The sums of a scan, one per column, are enough to hide
/// each other's latency, and a matrix of 128 rows takes half of a first-level
/// cache. A convolution reads rows in runs of a few cache lines.
constexpr int64_t kScanColumns = 64, kChannels = 128;
/// Most bytes of a piece on a thread's stack.
constexpr int64_t kMostBytes = 128 << 10;
/// Taps of a convolution; their loop is unrolled.
constexpr int64_t kMostTaps = 16;

static int64_t staticSize(Value value, int64_t dimension) {
  return cast<ShapedType>(value.getType()).getDimSize(dimension);
}

std::optional<std::string> kv::whyNotVectorized(StateConvolutionOp op) {
  int64_t taps = staticSize(op.getWeight(), 0);
  if (taps > kMostTaps)
    return ("it has " + Twine(taps) + " taps, more than " + Twine(kMostTaps))
        .str();
  return std::nullopt;
}

std::optional<std::string> kv::whyNotVectorized(StateScanOp op) {
  int64_t most = kMostBytes / (kScanColumns * sizeof(float));
  if (staticSize(op.getQ(), 2) > most)
    return ("keys have " + Twine(staticSize(op.getQ(), 2)) +
            " elements, more than " + Twine(most))
        .str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// kv.state_convolution
//===----------------------------------------------------------------------===//

/// One vector of channels of row t, whose place in the piece is `at`.
static void convolve(VectorEmitter &b, StateConvolutionOp op,
                     const StatePiece &piece, Value t, Value at,
                     int64_t lanes) {
  int64_t before = staticSize(op.getWeight(), 0) - 1;
  Value channel = b.add(piece.column, at);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < before; ++i)
    rows.push_back(b.loadLanes(piece.memory, {b.index(i), at}));
  rows.push_back(b.loadLanes(op.getX(), {t, channel}, lanes));
  Value sum;
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value weight = b.loadLanes(
        op.getWeight(), {b.index(static_cast<int64_t>(i)), channel}, lanes);
    sum = sum ? b.fma(row, weight, sum) : b.times(row, weight);
  }
  if (op.getBias())
    sum = b.plus(sum, b.loadLanes(op.getBias(), channel, lanes));
  Value decayed = math::ExpOp::create(b, arith::NegFOp::create(b, sum));
  Value below = b.plus(decayed, b.like(sum, 1));
  Value silu = arith::DivFOp::create(b, sum, below);
  b.storeLanes(silu, op.getOut(), {t, channel}, lanes);
  for (int64_t i = 0; i < before; ++i)
    b.storeLanes(rows[i + 1], piece.memory, {b.index(i), at});
}

LogicalResult kv::vectorizeConvolution(RewriterBase &rewriter,
                                       StateConvolutionOp op) {
  if (std::optional<std::string> why = whyNotVectorized(op))
    return op.emitOpError("has the kernel 'vector', but ") << *why;
  VectorEmitter b(op.getLoc(), rewriter);
  int64_t taps = staticSize(op.getWeight(), 0);
  StatePieces pieces(cast<CacheOpInterface>(*op), op.getRowOffsets(),
                     /*matrices=*/1, taps - 1, staticSize(op.getX(), 1),
                     kChannels);
  // An exponential is some twenty operations.
  uint64_t operations = kChannels * (2 * taps + 24);
  pieces.build(b, operations, [&](VectorEmitter &b, const StatePiece &piece) {
    int64_t even = piece.width / kLanes * kLanes;
    b.forEach(piece.first, piece.end, 1, [&](VectorEmitter &b, Value t) {
      b.forEach(b.index(0), b.index(even), kLanes,
                [&](VectorEmitter &b, Value at) {
                  convolve(b, op, piece, t, at, kLanes);
                });
      if (even < piece.width)
        convolve(b, op, piece, t, b.index(even), piece.width - even);
    });
  });
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// kv.state_scan
//===----------------------------------------------------------------------===//

namespace {
/// A scan's row t in one piece.
class ScanRow {
public:
  ScanRow(VectorEmitter &b, StateScanOp op, const StatePiece &piece, Value t)
      : op(op), piece(piece), t(t) {
    Value each = b.index(staticSize(op.getV(), 2));
    group = b.div(piece.matrix, each);
    head = b.rem(piece.matrix, each);
    keys = b.index(staticSize(op.getQ(), 2));
    decay = b.splat(b.loadScalar(op.getDecay(), {t, group, head}));
  }

  void compute(VectorEmitter &b) {
    SmallVector<Value> values = load(b, op.getV());
    SmallVector<Value> writes = written(b, values);
    SmallVector<Value> asked;
    Value skip;
    if (op.getSkip())
      skip = b.splat(b.loadScalar(op.getSkip(), {group, head}));
    for (Value value : values)
      asked.push_back(skip ? b.times(value, skip) : b.zeros(kLanes));
    asked = overKeys(b, asked, [&](VectorEmitter &b, Value n, ValueRange sums) {
      Value k = element(b, op.getK(), n), q = element(b, op.getQ(), n);
      SmallVector<Value> next;
      piece.forVectors([&](int64_t at, int64_t) {
        unsigned i = at / kLanes;
        Value state = b.fma(k, writes[i], decayed(b, n, at));
        b.storeLanes(state, piece.memory, {n, b.index(at)});
        next.push_back(b.fma(state, q, sums[i]));
      });
      return next;
    });
    piece.forVectors([&](int64_t at, int64_t lanes) {
      b.storeLanes(asked[at / kLanes], op.getOut(), place(b, at), lanes);
    });
  }

private:
  /// The part of its value that the row writes: u of the operation's
  /// description.
  SmallVector<Value> written(VectorEmitter &b, ArrayRef<Value> values) {
    SmallVector<Value> known, writes;
    if (op.getDelta())
      known = overKeys(b, SmallVector<Value>(values.size(), b.zeros(kLanes)),
                       [&](VectorEmitter &b, Value n, ValueRange sums) {
                         Value k = element(b, op.getK(), n);
                         SmallVector<Value> next;
                         piece.forVectors([&](int64_t at, int64_t) {
                           next.push_back(
                               b.fma(decayed(b, n, at), k, sums[at / kLanes]));
                         });
                         return next;
                       });
    Value strength = b.splat(b.loadScalar(op.getStrength(), {t, group, head}));
    for (auto [i, value] : llvm::enumerate(values)) {
      Value change = op.getDelta() ? b.minus(value, known[i]) : value;
      writes.push_back(b.times(change, strength));
    }
    return writes;
  }

  SmallVector<Value>
  overKeys(VectorEmitter &b, ArrayRef<Value> initial,
           function_ref<SmallVector<Value>(VectorEmitter &, Value, ValueRange)>
               body) {
    return b.innerLoop(b.index(0), keys, 1, initial, body);
  }

  Value element(VectorEmitter &b, Value keysOrQueries, Value n) {
    return b.splat(b.loadScalar(keysOrQueries, {t, group, n}));
  }
  Value decayed(VectorEmitter &b, Value n, int64_t at) {
    return b.times(b.loadLanes(piece.memory, {n, b.index(at)}), decay);
  }
  SmallVector<Value> place(VectorEmitter &b, int64_t at) {
    return {t, group, head, b.add(piece.column, at)};
  }
  SmallVector<Value> load(VectorEmitter &b, Value rows) {
    SmallVector<Value> vectors;
    piece.forVectors([&](int64_t at, int64_t lanes) {
      vectors.push_back(b.loadLanes(rows, place(b, at), lanes));
    });
    return vectors;
  }

  StateScanOp op;
  const StatePiece &piece;
  Value t, group, head, keys, decay;
};
} // namespace

LogicalResult kv::vectorizeScan(RewriterBase &rewriter, StateScanOp op) {
  if (std::optional<std::string> why = whyNotVectorized(op))
    return op.emitOpError("has the kernel 'vector', but ") << *why;
  VectorEmitter b(op.getLoc(), rewriter);
  int64_t rows = staticSize(op.getQ(), 2);
  ArrayRef<int64_t> v = cast<ShapedType>(op.getV().getType()).getShape();
  StatePieces pieces(cast<CacheOpInterface>(*op), op.getRowOffsets(),
                     v[1] * v[2], rows, v[3], kScanColumns);
  uint64_t operations =
      std::min(v[3], kScanColumns) * rows * (op.getDelta() ? 8 : 5);
  pieces.build(b, operations, [&](VectorEmitter &b, const StatePiece &piece) {
    b.forEach(piece.first, piece.end, 1, [&](VectorEmitter &b, Value t) {
      ScanRow(b, op, piece, t).compute(b);
    });
  });
  rewriter.eraseOp(op);
  return success();
}
