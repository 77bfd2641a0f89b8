//===- DecomposeAttention.cpp - The plain meaning of store and attention --===//
//
// Attention as its definition: all scores [T, Hq, S], masked, a softmax over
// them, their sum of values. S is the longest sequence of the batch. Keys are
// gathered by memref.load (CacheAccess.h), so that the reads stay ordered after
// the stores into the same blocks. Memory that a sequence does not own may hold
// anything: what a row does not see is replaced by -inf or 0 before it is used,
// and no index leaves the table or the blocks.
//
// With products of 8 bits rows of q and weights are rounded as well, as
// docs/reference/products.md says.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "kv/Definition/Plan.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/Trees.h"

#include "kv/ABI/Trees.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

Value kv::generic(Emitter &b, ValueRange inputs,
                  ArrayRef<SmallVector<AffineExpr>> inputMaps, Value output,
                  ArrayRef<AffineExpr> outputMap, unsigned loops,
                  function_ref<Value(Emitter &, ValueRange)> body) {
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> map : inputMaps)
    maps.push_back(AffineMap::get(loops, 0, map, b.getContext()));
  maps.push_back(AffineMap::get(loops, 0, outputMap, b.getContext()));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned i = 0; i < loops; ++i)
    iterators.push_back(maps.back().isFunctionOfDim(i)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, output.getType(), inputs, output, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Emitter b(loc, nested);
               linalg::YieldOp::create(b, body(b, args));
             })
      .getResult(0);
}

/// for b: for t in sequence b: blocks[page, kv, layer, slot] = row t
static SmallVector<Value> decompose(Emitter &b, StoreOp op) {
  CacheAccess cache(b, op);
  Value zero = b.index(0), one = b.index(1);
  Value layer = cache.checkLayer(b, op.getLayer());
  SmallVector<std::pair<Value, Value>> planes = {{zero, op.getK()}};
  if (op.getV())
    planes.push_back({one, op.getV()});

  auto storeToken = [&](Emitter &b, const CachePlace &place, Value t) {
    for (auto [plane, rows] : planes)
      forEach(b, zero, cache.numHeads(b), [&](Emitter &b, Value head) {
        cache.storeRow(
            b, place, plane, layer, head, [&](Emitter &b, Value d) -> Value {
              return b.toF32(
                  tensor::ExtractOp::create(b, rows, ValueRange{t, head, d}));
            });
      });
  };
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  forEachRow(
      b, op.getRowOffsets(), lengths, ValueRange(),
      [](Emitter &, const StepSequence &) {},
      [&](Emitter &b, const StepRow &row) -> SmallVector<Value> {
        cache.whenWritable(b, row.sequence.index, row.position,
                           [&](Emitter &b, const CachePlace &place) {
                             storeToken(b, place, row.index);
                           });
        return {};
      });
  return {};
}

namespace {
/// The keys of the cache that a query row sees, and the row's softmax.
class AttentionDecomposer {
public:
  AttentionDecomposer(Emitter &b, AttentionOp op)
      : op(op), b(b), cache(b, op), type(cache.getType()) {
    bindDims(op.getContext(), t, h, s, d);
  }

  SmallVector<Value> run() {
    prepare();
    Value scores = makeScores();
    Value largest = largestOf(scores);
    Value weights = makeWeights(scores, largest);
    Value sums = sumsOf(weights, largest);
    SmallVector<Value> results;
    if (op.getLse())
      results.push_back(makeLse(largest, sums));
    results.insert(results.begin(), makeResult(weights, sums));
    return results;
  }

private:
  void prepare() {
    Value offsets = op.getRowOffsets();
    zero = b.index(0);
    numRows = b.dim(op.getQ(), 0);
    layer = cache.checkLayer(b, op.getLayer());
    longest = b.extractIndex(cast<CacheOpInterface>(*op).getMaxLengths(),
                             ValueRange{zero, b.index(1)});
    if (op.getPlan() && !op.getAncestors())
      describeByPlan();
    else
      describeRows(offsets);
    facts = {positions, lengths};
    if (op.getAncestors())
      llvm::append_values(facts, bases, paths);
    int64_t heads = cast<ShapedType>(op.getQ().getType()).getDimSize(1);
    group = heads / type.getHeads();
    f32 = b.getF32Type();
    int64_t dynamic = ShapedType::kDynamic;
    perScore = RankedTensorType::get({dynamic, heads, dynamic}, f32);
    perRow = RankedTensorType::get({dynamic, heads}, f32);
  }

  SmallVector<Value> withFacts(SmallVector<Value> inputs) {
    llvm::append_range(inputs, facts);
    return inputs;
  }

  using Maps = SmallVector<SmallVector<AffineExpr>>;
  Maps andRows(Maps maps) {
    maps.append(facts.size(), {t});
    return maps;
  }

  Value emptyScores() {
    return tensor::EmptyOp::create(b, perScore, ValueRange{numRows, longest});
  }

  Value makeScores() {
    // score = scale * q . k, capped; -inf where the row does not see the key.
    Value queries = op.getProducts() ? roundedQueries() : op.getQ();
    Value dots =
        generic({queries, sequences}, {{t, h, d}, {t}},
                filled(perScore, {numRows, longest}, 0), {t, h, s}, /*loops=*/4,
                [&](Emitter &b, ValueRange args) -> Value {
                  Value key = load(b, /*plane=*/0, args[1], 2, 3);
                  Value product =
                      arith::MulFOp::create(b, b.toF32(args[0]), key);
                  return arith::AddFOp::create(b, args[2], product);
                });
    return generic(
        withFacts({dots}), andRows({{t, h, s}}), emptyScores(), {t, h, s}, 3,
        [&](Emitter &b, ValueRange args) -> Value {
          Value score = arith::MulFOp::create(
              b, args[0], b.constant(f32, op.getScale().convertToDouble()));
          if (op.getSoftcap()) {
            Value cap = b.constant(f32, op.getSoftcap()->convertToDouble());
            Value ratio = arith::DivFOp::create(b, score, cap);
            score =
                arith::MulFOp::create(b, cap, math::TanhOp::create(b, ratio));
          }
          // One after the other: the order of arguments is the compiler's.
          Value nothing = b.constant(f32, -INFINITY);
          return b.select(sees(b, args.drop_front(1)), score, nothing);
        });
  }

  Value largestOf(Value scores) {
    Value largest =
        generic({scores}, {{t, h, s}}, filled(perRow, {numRows}, -INFINITY),
                {t, h}, 3, [&](Emitter &b, ValueRange args) -> Value {
                  return arith::MaximumFOp::create(b, args[0], args[1]);
                });
    if (!op.getSinks())
      return largest;
    // A sink is one more logit, whether the row sees a key or not.
    return generic({largest, op.getSinks()}, {{t, h}, {h}},
                   tensor::EmptyOp::create(b, perRow, ValueRange{numRows}),
                   {t, h}, 2, [&](Emitter &b, ValueRange args) -> Value {
                     return arith::MaximumFOp::create(b, args[0], args[1]);
                   });
  }

  /// weight = exp(score - largest), 0 where the row does not see the key.
  Value makeWeights(Value scores, Value largest) {
    Value leaves;
    if (op.getProducts())
      leaves = largestOfLeaves(scores);
    return generic(
        withFacts({scores, largest}), andRows({{t, h, s}, {t, h}}),
        emptyScores(), {t, h, s}, 3, [&](Emitter &b, ValueRange args) -> Value {
          auto power = [&](Value score, Value base) -> Value {
            return math::ExpOp::create(b,
                                       arith::SubFOp::create(b, score, base));
          };
          Value weight;
          if (leaves) {
            Value leaf = leafLargest(b, leaves);
            weight =
                arith::MulFOp::create(b, roundedWeight(b, power(args[0], leaf)),
                                      power(leaf, args[1]));
          } else {
            weight = power(args[0], args[1]);
          }
          return b.select(sees(b, args.drop_front(2)), weight,
                          b.constant(f32, 0));
        });
  }

  Value sumsOf(Value weights, Value largest) {
    Value initial = filled(perRow, {numRows}, 0);
    if (op.getSinks())
      initial =
          generic({op.getSinks(), largest}, {{h}, {t, h}},
                  tensor::EmptyOp::create(b, perRow, ValueRange{numRows}),
                  {t, h}, 2, [&](Emitter &b, ValueRange args) -> Value {
                    Value below = arith::SubFOp::create(b, args[0], args[1]);
                    return b.select(b.isNothing(args[1]), b.constant(f32, 0),
                                    math::ExpOp::create(b, below));
                  });
    return generic({weights}, {{t, h, s}}, initial, {t, h}, 3,
                   [&](Emitter &b, ValueRange args) -> Value {
                     return arith::AddFOp::create(b, args[0], args[1]);
                   });
  }

  Value makeResult(Value weights, Value sums) {
    // out = (sum of weight * v) / (sum of weights), 0 when there is nothing.
    // A latent row is its own value.
    int64_t plane = type.isLatent() ? 0 : 1;
    auto perElement = perRow.clone(
        {ShapedType::kDynamic, perRow.getDimSize(1), type.getValueDim()}, f32);
    Value products =
        generic(withFacts({weights, sequences}), andRows({{t, h, s}, {t}}),
                filled(perElement, {numRows}, 0), {t, h, d}, 4,
                [&](Emitter &b, ValueRange args) -> Value {
                  Value value = b.select(sees(b, args.drop_front(2)),
                                         load(b, plane, args[1], 2, 3),
                                         b.constant(f32, 0));
                  Value product = arith::MulFOp::create(b, args[0], value);
                  return arith::AddFOp::create(b, args.back(), product);
                });
    auto resultType = op.getResult().getType();
    SmallVector<Value> resultSizes;
    for (int64_t i = 0; i < 3; ++i)
      if (resultType.isDynamicDim(i))
        resultSizes.push_back(b.dim(op.getQ(), i));
    // The dimensions of this one are (t, h, d).
    return generic({products, sums}, {{t, h, s}, {t, h}},
                   tensor::EmptyOp::create(b, resultType, resultSizes),
                   {t, h, s}, 3, [&](Emitter &b, ValueRange args) -> Value {
                     Value none =
                         arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                               args[1], b.constant(f32, 0));
                     Value mean = arith::DivFOp::create(b, args[0], args[1]);
                     return b.fromF32(b.select(none, b.constant(f32, 0), mean),
                                      resultType.getElementType());
                   });
  }

  /// lse = largest + log(sum), -inf when there is nothing.
  Value makeLse(Value largest, Value sums) {
    auto lseType = op.getLse().getType();
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < 2; ++i)
      if (lseType.isDynamicDim(i))
        sizes.push_back(b.dim(op.getQ(), i));
    return generic({largest, sums}, {{t, h}, {t, h}},
                   tensor::EmptyOp::create(b, lseType, sizes), {t, h}, 2,
                   [&](Emitter &b, ValueRange args) -> Value {
                     Value log = math::LogOp::create(b, args[1]);
                     return b.select(b.isNothing(args[0]),
                                     b.constant(f32, -INFINITY),
                                     arith::AddFOp::create(b, args[0], log));
                   });
  }

  //===--- Products of 8 bits: docs/reference/products.md
  //---------------------------===//

  /// Rounded to nearest even to what f8E4M3FN holds; f32 again.
  static Value rounded(Emitter &b, Value x) {
    return b.toF32(b.fromF32(x, Float8E4M3FNType::get(b.getContext())));
  }

  /// Each row times the power of two that takes its largest element to [128,
  /// 256), rounded, divided by it.
  Value roundedQueries() {
    auto q = cast<RankedTensorType>(op.getQ().getType());
    auto perRow = q.clone(q.getShape().drop_back(), f32);
    SmallVector<Value> sizes;
    if (q.isDynamicDim(0))
      sizes.push_back(numRows);
    Value largest =
        generic({op.getQ()}, {{t, h, s}}, filled(perRow, sizes, 0), {t, h}, 3,
                [&](Emitter &b, ValueRange args) -> Value {
                  Value magnitude = math::AbsFOp::create(b, b.toF32(args[0]));
                  return arith::MaximumFOp::create(b, args[1], magnitude);
                });
    return generic(
        {op.getQ(), largest}, {{t, h, s}, {t, h}},
        tensor::EmptyOp::create(b, q.clone(f32), sizes), {t, h, s}, 3,
        [&](Emitter &b, ValueRange args) -> Value {
          auto number = [&](int64_t value) -> Value {
            return arith::ConstantIntOp::create(b, value, 32);
          };
          // 2^(e - 127), of the least normal number at least; NaN where the
          // row holds something that is not finite.
          auto power = [&](Value e) -> Value {
            Value bits = arith::ShLIOp::create(b, e, number(23));
            return arith::BitcastOp::create(b, f32, bits);
          };
          Value bits = arith::BitcastOp::create(b, b.getI32Type(), args[1]);
          Value exponent = arith::ShRUIOp::create(b, bits, number(23));
          Value finite = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                               exponent, number(255));
          exponent = arith::MaxUIOp::create(b, exponent, number(8));
          Value factor =
              power(arith::SubIOp::create(b, number(127 + 127 + 7), exponent));
          Value inverse = power(arith::SubIOp::create(b, exponent, number(7)));
          Value x = arith::MulFOp::create(b, b.toF32(args[0]), factor);
          x = arith::MulFOp::create(b, rounded(b, x), inverse);
          return b.select(finite, x, b.constant(f32, NAN));
        });
  }

  /// The largest score that a row sees of 128 keys at absolute positions:
  /// [T, Hq, leaves].
  Value largestOfLeaves(Value scores) {
    Value length = b.index(plan::GpuLeaf);
    Value leaves = b.div(b.add(longest, b.index(plan::GpuLeaf - 1)), length);
    int64_t dynamic = ShapedType::kDynamic;
    int64_t heads = cast<ShapedType>(op.getQ().getType()).getDimSize(1);
    auto perLeaf = RankedTensorType::get({dynamic, heads, dynamic}, f32);
    // Says how many keys a leaf has, nothing else.
    Value keys =
        tensor::EmptyOp::create(b, ArrayRef<int64_t>{plan::GpuLeaf}, f32);
    return generic({keys}, {{d}}, filled(perLeaf, {numRows, leaves}, -INFINITY),
                   {t, h, s}, 4, [&](Emitter &b, ValueRange args) -> Value {
                     Value at[4];
                     for (int64_t i = 0; i < 4; ++i)
                       at[i] = linalg::IndexOp::create(b, i);
                     // Beyond the last key, that one again.
                     Value key = b.minimum(b.add(b.mul(at[2], length), at[3]),
                                           b.sub(longest, b.index(1)));
                     Value score = tensor::ExtractOp::create(
                         b, scores, ValueRange{at[0], at[1], key});
                     return arith::MaximumFOp::create(b, args[1], score);
                   });
  }
  /// The largest score of the leaf of this iteration's row and key.
  static Value leafLargest(Emitter &b, Value leaves) {
    Value row = linalg::IndexOp::create(b, 0);
    Value head = linalg::IndexOp::create(b, 1);
    Value key = linalg::IndexOp::create(b, 2);
    return tensor::ExtractOp::create(
        b, leaves, ValueRange{row, head, b.div(key, b.index(plan::GpuLeaf))});
  }
  /// A weight of at most 1, in steps of f8E4M3FN times 2^-8.
  Value roundedWeight(Emitter &b, Value weight) {
    Value large = arith::MulFOp::create(b, weight, b.constant(f32, 256));
    return arith::MulFOp::create(b, rounded(b, large),
                                 b.constant(f32, 1.0 / 256));
  }

  Value generic(ValueRange inputs, ArrayRef<SmallVector<AffineExpr>> inputMaps,
                Value output, ArrayRef<AffineExpr> outputMap, unsigned loops,
                function_ref<Value(Emitter &, ValueRange)> body) {
    return kv::generic(b, inputs, inputMaps, output, outputMap, loops, body);
  }

  Value filled(RankedTensorType type, ValueRange sizes, double value) {
    Value empty = tensor::EmptyOp::create(b, type, sizes);
    Value scalar = b.constant(type.getElementType(), value);
    return linalg::FillOp::create(b, scalar, empty).getResult(0);
  }

  /// For each row its sequence, its position, and how many keys its sequence
  /// has with this step's. Rows of no sequence have no keys.
  void describeRows(Value offsets) {
    auto rowType =
        RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
    Value empty = tensor::EmptyOp::create(b, rowType, ValueRange{numRows});
    Value nothing = arith::ConstantIntOp::create(b, 0, 32);
    Value blank = linalg::FillOp::create(b, nothing, empty).getResult(0);
    Value cacheLengths = cast<CacheOpInterface>(*op).getCacheLengths();
    SmallVector<Value> blanks(3, blank);
    if (op.getAncestors()) {
      auto pathType =
          RankedTensorType::get({ShapedType::kDynamic}, b.getI64Type());
      Value empty = tensor::EmptyOp::create(b, pathType, ValueRange{numRows});
      Value none = arith::ConstantIntOp::create(b, 0, 64);
      blanks.push_back(blank);
      blanks.push_back(linalg::FillOp::create(b, none, empty).getResult(0));
    }
    Value length;
    auto facts = forEachRow(
        b, offsets, cacheLengths, blanks,
        [&](Emitter &b, const StepSequence &sequence) {
          Value own = op.getKvRowOffsets();
          Value next = b.add(sequence.index, b.index(1));
          length = own ? b.add(sequence.cached,
                               b.sub(b.extractIndex(own, next),
                                     b.extractIndex(own, sequence.index)))
                       : sequence.length(b);
        },
        [&](Emitter &b, const StepRow &row) {
          SmallVector<Value> facts = {row.sequence.index, row.position, length};
          if (Value tree = op.getAncestors()) {
            Value word = tensor::ExtractOp::create(b, tree, row.index);
            TreeKeys keys = treeKeys(
                b, op.getMask(), placeInTree(b, row.sequence, row.index, word));
            facts = {row.sequence.index, keys.first, keys.end, keys.base,
                     keys.path};
          }
          SmallVector<Value> next;
          for (auto [fact, into] : llvm::zip_equal(facts, row.carried)) {
            if (isa<IndexType>(fact.getType()))
              fact = b.asI32(fact);
            next.push_back(tensor::InsertOp::create(b, fact, into, row.index));
          }
          return next;
        });
    sequences = facts[0];
    positions = facts[1];
    lengths = facts[2];
    if (op.getAncestors()) {
      bases = facts[3];
      paths = facts[4];
    }
  }

  /// Reads from the plan, for each row: its sequence, the first key that it
  /// sees, and their end. A row that the plan does not have sees none.
  void describeByPlan() {
    auto rowType =
        RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
    Value planned = b.dim(op.getPlan(), 0);
    Value empty = tensor::EmptyOp::create(b, rowType, ValueRange{numRows});
    Value nothing = arith::ConstantIntOp::create(b, 0, 32);
    Value blank = linalg::FillOp::create(b, nothing, empty).getResult(0);
    auto columnAt = [&](int64_t at) -> Value {
      Value column = b.index(at);
      auto loop = scf::ForOp::create(
          b, zero, b.minimum(planned, numRows), b.index(1), blank,
          [&](OpBuilder &nested, Location loc, Value row, ValueRange carried) {
            Emitter b(loc, nested);
            Value fact = tensor::ExtractOp::create(b, op.getPlan(),
                                                   ValueRange{row, column});
            Value next =
                tensor::InsertOp::create(b, fact, carried.front(), row);
            scf::YieldOp::create(b, next);
          });
      return loop.getResult(0);
    };
    sequences = columnAt(0);
    positions = columnAt(2);
    lengths = columnAt(3);
  }

  /// Whether the row of this iteration sees key s (loop 2).
  Value sees(Emitter &b, ValueRange facts) {
    Value position = facts[0], length = facts[1];
    Value key = linalg::IndexOp::create(b, 2);
    auto asIndex = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
    };
    if (op.getPlan() || op.getAncestors()) {
      Value begun = b.lessOrEqual(asIndex(position), key);
      Value seen = b.both(begun, b.less(key, asIndex(length)));
      if (!op.getAncestors())
        return seen;
      Value base = asIndex(facts[2]), zero = b.index(0);
      Value before = b.less(key, base);
      Value behind = b.select(before, zero, b.sub(key, base));
      // Beyond the tree nothing is seen.
      behind = b.minimum(behind, b.index(KV_TREE_ROWS - 1));
      Value shown =
          arith::OrIOp::create(b, before, isOnPath(b, facts[3], behind));
      return b.both(seen, shown);
    }
    Value owned = b.less(key, asIndex(length));
    Value at = asIndex(position);
    auto notAfter = [&] {
      return b.both(
          owned, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, key, at));
    };
    Value window = b.index(op.getMask().getWindow());
    auto inWindow = [&](Value also) {
      return b.both(also, b.less(at, b.add(key, window)));
    };
    auto inChunk = [&](Value also) {
      return b.both(also, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                b.div(key, window),
                                                b.div(at, window)));
    };
    switch (op.getMask().getKind()) {
    case MaskKind::None:
      return owned;
    case MaskKind::Causal:
      return notAfter();
    case MaskKind::Sliding:
      return inWindow(notAfter());
    case MaskKind::SlidingNoncausal:
      return inWindow(owned);
    case MaskKind::Chunked:
      return inChunk(owned);
    case MaskKind::ChunkedCausal:
      return inChunk(notAfter());
    }
    llvm_unreachable("a mask without a meaning");
  }

  /// Element (key of loop `keyLoop`, element of loop `elementLoop`) of this
  /// iteration's head, as f32.
  Value load(Emitter &b, int64_t plane, Value sequence, unsigned keyLoop,
             unsigned elementLoop) {
    Value key = linalg::IndexOp::create(b, keyLoop);
    Value head = linalg::IndexOp::create(b, 1);
    Value element = linalg::IndexOp::create(b, elementLoop);
    Value row = arith::IndexCastUIOp::create(b, b.getIndexType(), sequence);
    return cache.load(b, cache.readPlace(b, row, key), b.index(plane), layer,
                      b.div(head, b.index(group)), element);
  }

  AttentionOp op;
  Emitter &b;
  CacheAccess cache;
  CollectionType type;
  AffineExpr t, h, s, d;
  Type f32;
  int64_t group = 1;
  RankedTensorType perScore, perRow;
  Value zero, numRows, layer, longest;
  // With a plan `positions` are the first keys that the rows see, `lengths` the
  // ends.
  Value sequences, positions, lengths;
  SmallVector<Value> facts; // what sees() takes beside the key
  Value bases, paths;       // of trees, whose positions are first keys
};
} // namespace

static SmallVector<Value> decompose(Emitter &b, AttentionOp op) {
  return AttentionDecomposer(b, op).run();
}

void kv::attachAttentionDecompositions(MLIRContext *context) {
  StoreOp::attachInterface<Decomposition<StoreOp, decompose>>(*context);
  AttentionOp::attachInterface<Decomposition<AttentionOp, decompose>>(*context);
}
