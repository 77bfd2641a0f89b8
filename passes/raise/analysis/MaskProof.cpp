//===- MaskProof.cpp - What a mask is, for all positions ------------------===//
//
// The proof compares a mask with known masks at the points of MaskPoints.h,
// which decide for all positions.
//
// A mask of numbers may compute with positions as well, linearly: on a cell it
// is a number and a multiple of each of q, k and T. The multiples of k must be
// equal on all cells that show a key.
//
//===----------------------------------------------------------------------===//

#include "MaskProof.h"

#include "MaskAtoms.h"
#include "MaskPoints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace kv;

namespace {
/// A value of an expression at a point, and how much of it is a multiple of q,
/// k and T, wherever its comparisons have the same results.
struct Number {
  bool isFloat = false;
  int64_t integer = 0;
  APFloat value = APFloat(0.0);
  std::array<double, 3> slopes = {0, 0, 0};

  double number() const { return isFloat ? value.convertToDouble() : integer; }
  void addSlopes(const Number &other, double factor) {
    for (size_t i = 0; i < 3; ++i)
      if (other.slopes[i] != 0)
        slopes[i] += factor * other.slopes[i];
  }
};

/// Computes expressions at points, exactly as the operations would.
class Evaluator {
public:
  Evaluator(const std::deque<Expr> &all, ExprId root) : all(all), root(root) {
    mark(root);
  }

  Number at(const Point &point) {
    values.resize(root + 1);
    for (ExprId id : order)
      values[id] = compute(all[id], point);
    return values[root];
  }

private:
  void mark(ExprId id) {
    if (!seen.insert(id).second)
      return;
    for (ExprId each : all[id].operands)
      mark(each);
    order.push_back(id);
  }

  Number compute(const Expr &expr, const Point &point) {
    Number result;
    if (expr.kind == Expr::Kind::Integer) {
      result.integer = expr.linear.constant;
      for (size_t i = 0; i < 3; ++i) {
        result.integer += expr.linear.coefficients[i] * point[i];
        result.slopes[i] = expr.linear.coefficients[i];
      }
      return result;
    }
    if (expr.kind == Expr::Kind::Float) {
      result.isFloat = true;
      result.value = expr.value;
      return result;
    }
    Operation *op = expr.op;
    auto in = [&](size_t i) -> const Number & {
      return values[expr.operands[i]];
    };
    if (isa<arith::SelectOp>(op))
      return in(0).integer ? in(1) : in(2);
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      APInt a(64, in(0).integer, true), b(64, in(1).integer, true);
      result.integer = arith::applyCmpPredicate(compare.getPredicate(), a, b);
      return result;
    }
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      result.integer = arith::applyCmpPredicate(compare.getPredicate(),
                                                in(0).value, in(1).value);
      return result;
    }
    Type type = op->getResult(0).getType();
    if (isConversion(op) || isa<arith::AddFOp, arith::AddIOp, arith::SubFOp,
                                arith::SubIOp, arith::NegFOp>(op))
      result.addSlopes(in(0), isa<arith::NegFOp>(op) ? -1 : 1);
    if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op))
      result.addSlopes(in(1), isa<arith::SubFOp, arith::SubIOp>(op) ? -1 : 1);
    if (isa<arith::MulFOp, arith::MulIOp>(op)) {
      result.addSlopes(in(0), in(1).number());
      result.addSlopes(in(1), in(0).number());
    }
    if (isa<arith::DivFOp>(op))
      result.addSlopes(in(0), 1 / in(1).number());
    if (auto floatType = dyn_cast<FloatType>(type)) {
      computeFloat(op, floatType, expr, result);
      return result;
    }
    int64_t a = in(0).integer, b = expr.operands.size() > 1 ? in(1).integer : 0;
    if (isa<arith::AndIOp>(op))
      result.integer = a & b;
    else if (isa<arith::OrIOp>(op))
      result.integer = a | b;
    else if (isa<arith::XOrIOp>(op))
      result.integer = a ^ b;
    else if (isa<arith::AddIOp>(op))
      result.integer = a + b;
    else if (isa<arith::SubIOp>(op))
      result.integer = a - b;
    else if (isa<arith::MulIOp>(op))
      result.integer = a * b;
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op))
      result.integer = a / b; // of a position, by a number that is positive
    else if (isa<arith::FPToSIOp>(op))
      result.integer = static_cast<int64_t>(in(0).number());
    else if (isa<arith::ExtSIOp>(op) &&
             op->getOperand(0).getType().isInteger(1))
      result.integer = -a;
    else
      result.integer = a;
    if (type.isInteger(1))
      result.integer &= 1;
    return result;
  }

  void computeFloat(Operation *op, FloatType type, const Expr &expr,
                    Number &result) {
    auto in = [&](size_t i) -> const Number & {
      return values[expr.operands[i]];
    };
    result.isFloat = true;
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto round = APFloat::rmNearestTiesToEven;
    auto set = [&](double value) {
      bool loses;
      result.value = APFloat(value);
      result.value.convert(semantics, round, &loses);
    };
    if (isa<arith::UIToFPOp, arith::SIToFPOp>(op)) {
      int64_t integer = in(0).integer;
      // A truth value that is a signed number is 0 or -1.
      if (isa<arith::SIToFPOp>(op) && op->getOperand(0).getType().isInteger(1))
        integer = -integer;
      result.value = APFloat(semantics);
      result.value.convertFromAPInt(APInt(64, integer, true), true, round);
      return;
    }
    if (std::optional<double> value = unary(op, in(0).number()))
      return set(*value);
    if (isa<math::PowFOp>(op))
      return set(std::pow(in(0).number(), in(1).number()));
    result.value = in(0).value;
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      bool loses;
      result.value.convert(semantics, round, &loses);
    } else if (isa<arith::NegFOp>(op)) {
      result.value.changeSign();
    } else if (isa<arith::AddFOp>(op)) {
      result.value.add(in(1).value, round);
    } else if (isa<arith::SubFOp>(op)) {
      result.value.subtract(in(1).value, round);
    } else if (isa<arith::MulFOp>(op)) {
      result.value.multiply(in(1).value, round);
    } else if (isa<arith::DivFOp>(op)) {
      result.value.divide(in(1).value, round);
    } else if (isa<arith::MaximumFOp>(op)) {
      result.value = llvm::maximum(in(0).value, in(1).value);
    } else {
      result.value = llvm::minimum(in(0).value, in(1).value);
    }
  }

  const std::deque<Expr> &all;
  ExprId root;
  llvm::DenseSet<ExprId> seen;
  SmallVector<ExprId> order;
  std::vector<Number> values;
};

bool shows(const Number &number) {
  if (!number.isFloat)
    return number.integer != 0;
  return !(number.number() < -1e30);
}

/// The number that a head's mask adds to a key that it shows.
struct Added {
  std::array<double, 3> slopes = {0, 0, 0};
  double rest = 0, rounding = 1e-5;

  /// Whether it adds the same at another point.
  bool operator==(const Added &other) const {
    return slopes == other.slopes &&
           std::abs(rest - other.rest) <= rounding + other.rounding;
  }
  AddedNumber number() const {
    return {slopes[1], slopes[0], slopes[2],
            std::abs(rest) > rounding ? rest : 0};
  }
  static std::optional<Added> of(const Number &number, const Point &point) {
    Added added;
    if (!number.isFloat)
      return added;
    added.slopes = number.slopes;
    added.rest = number.number();
    for (size_t i = 0; i < 3; ++i) {
      added.rest -= added.slopes[i] * point[i];
      added.rounding += 1e-6 * std::abs(added.slopes[i] * point[i]);
    }
    added.rounding += 1e-6 * std::abs(added.rest);
    // Far below what hides a key, at any position.
    bool isSmall = std::abs(added.rest) < 1e12;
    for (double slope : added.slopes)
      isSmall &= std::abs(slope) < 1e6;
    return isSmall ? std::optional(added) : std::nullopt;
  }
};

struct MaskCandidate {
  MaskKind kind;
  int64_t window;

  bool shows(int64_t q, int64_t k) const {
    return k <= q &&
           (kind == MaskKind::Causal ||
            (kind == MaskKind::ChunkedCausal ? q / window == k / window
                                             : q - k < window));
  }
};
} // namespace

static std::string pointText(const Point &point) {
  return "the query at " + std::to_string(point[0]) + " and the key at " +
         std::to_string(point[1]) + " of " + std::to_string(point[2]) +
         " tokens";
}

namespace {
/// What one attention's mask shows and adds.
class MaskProof {
public:
  MaskProof(const Graph &graph, Operation *attention, Value mask)
      : graph(graph), attention(attention), mask(mask), elements(graph),
        atoms(elements.expressions()) {}

  FailureOr<MaskFacts> run() {
    if (failed(findRoots()) || failed(choosePoints()))
      return failure();
    SmallVector<MaskCandidate> candidates = {{MaskKind::Causal, 0}};
    for (int64_t constant : atoms.constants)
      if (constant > 0 && constant < (int64_t(1) << 31))
        candidates.push_back({MaskKind::Sliding, constant});
    if (atoms.chunk)
      candidates.push_back({MaskKind::ChunkedCausal, atoms.chunk});
    SmallVector<std::optional<Point>> wrong(candidates.size());
    for (ExprId root : roots)
      if (failed(evaluate(root, candidates, wrong)))
        return failure();
    for (auto [candidate, at] : llvm::zip(candidates, wrong))
      if (!at)
        return factsOf(candidate);
    return attention->emitOpError("kv-raise: its mask is neither causal nor a "
                                  "window nor chunks: see ")
           << pointText(*wrong.front())
           << "; kv.attention has no other that only looks back";
  }

private:
  InFlightDiagnostic refuse(const Obstacle &why) {
    InFlightDiagnostic error =
        attention->emitOpError("kv-raise: cannot prove what its mask shows");
    if (why.op)
      error.attachNote(why.op->getLoc())
          << '\'' << why.op->getName() << "': " << why.reason;
    return error;
  }

  /// What each head's mask is computed by.
  LogicalResult findRoots() {
    Obstacle obstacle;
    auto type = cast<RankedTensorType>(mask.getType());
    for (int64_t head = 0; head < type.getDimSize(0); ++head) {
      std::optional<ExprId> root = elements.element(
          mask, {elements.integer({head}), elements.integer({0, {1, 0, 0}}),
                 elements.integer({0, {0, 1, 0}})});
      if (!root)
        return refuse(elements.obstacle);
      rootOf.push_back(*root);
      if (roots.insert(*root) && !atoms.collect(*root, obstacle))
        return refuse(obstacle);
    }
    return success();
  }

  LogicalResult choosePoints() {
    std::set<int64_t> constants;
    for (int64_t constant : atoms.constants)
      constants.insert({constant - 1, constant, constant + 1});
    if (constants.size() > 40)
      return refuse({attention, "compares with too many constants"});
    if (!atoms.chunk) {
      points = chains(constants, graph.maxLength);
      return success();
    }
    if (atoms.comparesLength)
      return refuse({attention, "compares the length beside chunks"});
    auto some = chunkPoints(constants, atoms.chunk, graph.maxLength);
    if (!some)
      return refuse(
          {attention, "compares with numbers far above its chunks of " +
                          std::to_string(atoms.chunk)});
    points = std::move(*some);
    return success();
  }

  /// Compares a root with the candidates at all points. Keeps what it adds.
  LogicalResult evaluate(ExprId root, ArrayRef<MaskCandidate> candidates,
                         MutableArrayRef<std::optional<Point>> wrong) {
    Evaluator evaluator(elements.expressions(), root);
    std::optional<Added> same;
    for (const Point &point : points) {
      Number number = evaluator.at(point);
      bool shown = shows(number);
      if (shown && point[1] > point[0])
        return attention->emitOpError("kv-raise: its mask shows later tokens, ")
               << pointText(point) << ": no cache can have them";
      for (auto [candidate, at] : llvm::zip(candidates, wrong))
        if (!at && candidate.shows(point[0], point[1]) != shown)
          at = point;
      if (!shown)
        continue;
      std::optional<Added> added = Added::of(number, point);
      if (!added || (same && !(*same == *added)))
        return attention->emitOpError("kv-raise: its mask adds a number at ")
               << pointText(point) << " that is not linear in the positions";
      if (!same)
        same = added;
    }
    if (same)
      addedBy[root] = same->number();
    return success();
  }

  MaskFacts factsOf(const MaskCandidate &candidate) {
    MaskFacts facts{MaskAttr::get(attention->getContext(), candidate.kind,
                                  candidate.window)};
    if (llvm::any_of(addedBy, [](auto &each) {
          const AddedNumber &a = each.second;
          return a.key != 0 || a.query != 0 || a.length != 0 || a.rest != 0;
        }))
      for (ExprId root : rootOf)
        facts.added.push_back(addedBy.lookup(root));
    return facts;
  }

  const Graph &graph;
  Operation *attention;
  Value mask;
  Elements elements;
  Atoms atoms;
  SmallVector<ExprId> rootOf; // by head
  llvm::SetVector<ExprId> roots;
  std::set<Point> points;
  llvm::DenseMap<ExprId, AddedNumber> addedBy;
};
} // namespace

FailureOr<MaskFacts> kv::proveMask(const Graph &graph, Operation *attention,
                                   Value mask) {
  return MaskProof(graph, attention, mask).run();
}
