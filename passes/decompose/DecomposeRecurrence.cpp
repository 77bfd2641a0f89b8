//===- DecomposeRecurrence.cpp - Convolutions and scans with a state ------===//
//
// Each goes through the rows of each sequence in order, whatever the step, so
// that no bit depends on how a prompt is cut. A row is computed in the buffers
// that the loops carry: bufferization copies nothing.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "passes/common/States.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

using Body = function_ref<SmallVector<Value>(Emitter &, ValueRange)>;

/// A linalg.generic on tensors. `maps` gives the dimensions that number the
/// elements of each operand; `reduced`: the dimension that is summed over.
static SmallVector<Value> generic(Emitter &b, ValueRange inputs,
                                  ValueRange outs,
                                  ArrayRef<SmallVector<unsigned>> maps,
                                  unsigned loops, Body body,
                                  std::optional<unsigned> reduced = {}) {
  SmallVector<AffineMap> affine;
  for (const SmallVector<unsigned> &map : maps) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim : map)
      dims.push_back(b.getAffineDimExpr(dim));
    affine.push_back(AffineMap::get(loops, 0, dims, b.getContext()));
  }
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  if (reduced)
    iterators[*reduced] = utils::IteratorType::reduction;
  auto op = linalg::GenericOp::create(
      b, TypeRange(outs), inputs, outs, affine, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        Emitter b(loc, nested);
        linalg::YieldOp::create(b, body(b, arguments));
      });
  return llvm::to_vector<4>(ValueRange(op.getResults()));
}

/// `tensor[row, ...]` without its first dimension, and back.
static Value rowOf(Emitter &b, Value tensor, Value row) {
  ArrayRef<int64_t> shape = cast<ShapedType>(tensor.getType()).getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
      sizes(1, b.getIndexAttr(1)), strides(shape.size(), b.getIndexAttr(1));
  offsets[0] = row;
  for (int64_t size : shape.drop_front())
    sizes.push_back(b.getIndexAttr(size));
  auto type = RankedTensorType::get(shape.drop_front(), b.getF32Type());
  return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes,
                                        strides);
}
static Value withRow(Emitter &b, Value row, Value tensor, ValueRange at) {
  ArrayRef<int64_t> shape = cast<ShapedType>(tensor.getType()).getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
      sizes(at.size(), b.getIndexAttr(1)),
      strides(shape.size(), b.getIndexAttr(1));
  for (auto [i, index] : llvm::enumerate(at))
    offsets[i] = index;
  for (int64_t size : shape.drop_front(at.size()))
    sizes.push_back(b.getIndexAttr(size));
  return tensor::InsertSliceOp::create(b, row, tensor, offsets, sizes, strides);
}

/// A loop that carries values.
static SmallVector<Value>
loop(Emitter &b, Value low, Value high, ValueRange inits,
     function_ref<SmallVector<Value>(Emitter &, Value, ValueRange)> body) {
  auto made = scf::ForOp::create(
      b, low, high, b.index(1), inits,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        Emitter b(loc, nested);
        scf::YieldOp::create(b, body(b, i, carried));
      });
  return llvm::to_vector<4>(ValueRange(made.getResults()));
}

/// The rows of a sequence.
static std::pair<Value, Value> rowsOf(Emitter &b, Value offsets,
                                      Value sequence) {
  Value first = b.extractIndex(offsets, sequence);
  return {first, b.extractIndex(offsets, b.add(sequence, b.index(1)))};
}

static Value multiply(Emitter &b, Value x, Value y) {
  return arith::MulFOp::create(b, x, y);
}

/// x * y + z, rounded once.
static Value fused(Emitter &b, Value x, Value y, Value z) {
  return math::FmaOp::create(b, x, y, z);
}

//===----------------------------------------------------------------------===//
// kv.state_convolution
//===----------------------------------------------------------------------===//

/// The sum over the taps of an element: arguments are the new row's, the
/// weights', the bias if there is one, the result's place, and the rows before.
static Value convolved(Emitter &b, ValueRange arguments, unsigned taps,
                       bool biased) {
  ValueRange before = arguments.take_back(taps - 1);
  auto row = [&](unsigned i) {
    return i + 1 < taps ? before[i] : arguments[0];
  };
  Value sum = multiply(b, row(0), arguments[1]);
  for (unsigned i = 1; i < taps; ++i)
    sum = fused(b, row(i), arguments[1 + i], sum);
  if (biased)
    sum = arith::AddFOp::create(b, sum, arguments[1 + taps]);
  Value one = b.constant(b.getF32Type(), 1);
  Value decayed = math::ExpOp::create(b, arith::NegFOp::create(b, sum));
  Value below = arith::AddFOp::create(b, decayed, one);
  return arith::DivFOp::create(b, sum, below);
}

/// for b: for t in sequence b: (out[t], the rows before t + 1) = ...
static SmallVector<Value> decompose(Emitter &b, StateConvolutionOp op) {
  auto cache = cast<CacheOpInterface>(*op);
  Value x = op.getX(), offsets = op.getRowOffsets();
  int64_t taps = cast<ShapedType>(op.getWeight().getType()).getDimSize(0);
  int64_t width = cast<ShapedType>(x.getType()).getDimSize(1);
  auto stateType = RankedTensorType::get(
      {ShapedType::kDynamic, taps - 1, width}, b.getF32Type());
  Value states = readStates(b, cache, op.getLayer(), stateType);
  SmallVector<Value> fixed;
  for (int64_t i = 0; i < taps; ++i)
    fixed.push_back(rowOf(b, op.getWeight(), b.index(i)));
  if (op.getBias())
    fixed.push_back(op.getBias());
  auto type = op.getResult().getType();
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(x, 0));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  auto token = [&](Emitter &b, Value t, ValueRange carried) {
    SmallVector<Value> inputs = {rowOf(b, x, t)};
    llvm::append_range(inputs, fixed);
    SmallVector<Value> outs = {rowOf(b, carried[0], t)};
    llvm::append_range(outs, carried.drop_front());
    SmallVector<SmallVector<unsigned>> maps(inputs.size() + outs.size(), {0});
    SmallVector<Value> made =
        generic(b, inputs, outs, maps, /*loops=*/1,
                [&](Emitter &b, ValueRange arguments) {
                  SmallVector<Value> next = {
                      convolved(b, arguments, taps, !!op.getBias())};
                  llvm::append_range(next, arguments.take_back(taps - 2));
                  next.push_back(arguments[0]);
                  return next;
                });
    made[0] = withRow(b, made[0], carried[0], t);
    return made;
  };
  auto sequence = [&](Emitter &b, Value s, ValueRange carried) {
    auto [first, end] = rowsOf(b, offsets, s);
    Value now = rowOf(b, carried[1], s);
    SmallVector<Value> inits = {carried[0]};
    for (int64_t i = 0; i + 1 < taps; ++i)
      inits.push_back(rowOf(b, now, b.index(i)));
    SmallVector<Value> done = loop(b, first, end, inits, token);
    Value left = carried[1];
    for (int64_t i = 0; i + 1 < taps; ++i)
      left = withRow(b, done[i + 1], left, {s, b.index(i)});
    return SmallVector<Value>{done[0], left};
  };
  SmallVector<Value> made =
      loop(b, b.index(0), b.dim(states, 0), {empty, states}, sequence);
  writeStates(b, cache, op.getLayer(), made[1]);
  return {made[0]};
}

//===----------------------------------------------------------------------===//
// kv.state_scan
//===----------------------------------------------------------------------===//

namespace {
/// One scan, and what a token does. Dimensions of loops: key head g, value head
/// r of it, element n of a key, p of a value.
struct Scan {
  StateScanOp op;
  RankedTensorType value = RankedTensorType::get(
      cast<ShapedType>(op.getV().getType()).getShape().drop_front(),
      op.getResult().getType().getElementType());

  static constexpr unsigned G = 0, R = 1, N = 2, P = 3;

  static SmallVector<unsigned> state() { return {G, R, N, P}; }

  /// The part of its value that a token writes: [G, R, P], in the place
  /// `spare`.
  Value written(Emitter &b, Value s, Value k, Value v, Value decay,
                Value strength, Value spare) {
    if (!op.getDelta())
      return generic(b, {v, strength}, spare, {{0, 1, 2}, {0, 1}, {0, 1, 2}}, 3,
                     [](Emitter &b, ValueRange x) {
                       return SmallVector<Value>{multiply(b, x[0], x[1])};
                     })[0];
    Value zero = b.constant(b.getF32Type(), 0);
    Value nothing =
        linalg::FillOp::create(b, ValueRange(zero), ValueRange(spare))
            .getResult(0);
    Value known = generic(
        b, {s, k, decay}, nothing, {state(), {G, N}, {G, R}, {G, R, P}}, 4,
        [](Emitter &b, ValueRange x) {
          Value decayed = multiply(b, x[0], x[2]);
          return SmallVector<Value>{fused(b, decayed, x[1], x[3])};
        },
        N)[0];
    return generic(b, {v, strength}, known, {{0, 1, 2}, {0, 1}, {0, 1, 2}}, 3,
                   [](Emitter &b, ValueRange x) {
                     Value change = arith::SubFOp::create(b, x[0], x[2]);
                     return SmallVector<Value>{multiply(b, change, x[1])};
                   })[0];
  }

  /// (out, state, spare) -> the same after token t.
  SmallVector<Value> token(Emitter &b, Value t, ValueRange carried) {
    Value q = rowOf(b, op.getQ(), t), k = rowOf(b, op.getK(), t);
    Value v = rowOf(b, op.getV(), t), decay = rowOf(b, op.getDecay(), t);
    Value strength = rowOf(b, op.getStrength(), t);
    Value place = rowOf(b, carried[0], t), s = carried[1];
    Value write = written(b, s, k, v, decay, strength, carried[2]);
    Value next =
        generic(b, {k, write, decay}, s, {{G, N}, {G, R, P}, {G, R}, state()},
                4, [](Emitter &b, ValueRange x) {
                  Value decayed = multiply(b, x[3], x[2]);
                  return SmallVector<Value>{fused(b, x[0], x[1], decayed)};
                })[0];
    Value start;
    if (op.getSkip()) {
      start =
          generic(b, {v, op.getSkip()}, place, {{0, 1, 2}, {0, 1}, {0, 1, 2}},
                  3, [](Emitter &b, ValueRange x) {
                    return SmallVector<Value>{multiply(b, x[0], x[1])};
                  })[0];
    } else {
      Value zero = b.constant(b.getF32Type(), 0);
      start = linalg::FillOp::create(b, ValueRange(zero), ValueRange(place))
                  .getResult(0);
    }
    Value asked = generic(
        b, {next, q}, start, {state(), {G, N}, {G, R, P}}, 4,
        [](Emitter &b, ValueRange x) {
          return SmallVector<Value>{fused(b, x[0], x[1], x[2])};
        },
        N)[0];
    return {withRow(b, asked, carried[0], t), next, write};
  }
};
} // namespace

/// for b: for t in sequence b: ...
static SmallVector<Value> decompose(Emitter &b, StateScanOp op) {
  auto cache = cast<CacheOpInterface>(*op);
  ArrayRef<int64_t> q = cast<ShapedType>(op.getQ().getType()).getShape();
  ArrayRef<int64_t> v = cast<ShapedType>(op.getV().getType()).getShape();
  int64_t dynamic = ShapedType::kDynamic;
  Type f32 = b.getF32Type();
  auto flat = RankedTensorType::get({dynamic, v[1] * v[2], q[2] * v[3]}, f32);
  auto shaped = RankedTensorType::get({dynamic, v[1], v[2], q[2], v[3]}, f32);
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}, {3, 4}};
  Value read = readStates(b, cache, op.getLayer(), flat);
  Value count = b.dim(read, 0);
  SmallVector<OpFoldResult> sizes = {count};
  for (int64_t size : shaped.getShape().drop_front())
    sizes.push_back(b.getIndexAttr(size));
  Value states = tensor::ExpandShapeOp::create(b, shaped, read, groups, sizes);
  auto type = op.getResult().getType();
  SmallVector<Value> rows;
  if (type.isDynamicDim(0))
    rows.push_back(b.dim(op.getQ(), 0));
  Value empty = tensor::EmptyOp::create(b, type, rows);
  Scan scan{op};
  Value spare = tensor::EmptyOp::create(b, scan.value, ValueRange());
  auto sequence = [&](Emitter &b, Value s, ValueRange carried) {
    auto [first, end] = rowsOf(b, op.getRowOffsets(), s);
    Value before = rowOf(b, carried[1], s);
    SmallVector<Value> done =
        loop(b, first, end, {carried[0], before, carried[2]},
             [&](Emitter &b, Value t, ValueRange carried) {
               return scan.token(b, t, carried);
             });
    done[1] = withRow(b, done[1], carried[1], s);
    return done;
  };
  SmallVector<Value> made =
      loop(b, b.index(0), count, {empty, states, spare}, sequence);
  Value left = tensor::CollapseShapeOp::create(b, flat, made[1], groups);
  writeStates(b, cache, op.getLayer(), left);
  return {made[0]};
}

void kv::attachRecurrenceDecompositions(MLIRContext *context) {
  StateConvolutionOp::attachInterface<
      Decomposition<StateConvolutionOp, decompose>>(*context);
  StateScanOp::attachInterface<Decomposition<StateScanOp, decompose>>(*context);
}
