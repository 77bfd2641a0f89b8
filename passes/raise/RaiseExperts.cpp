//===- RaiseExperts.cpp - Rows times the matrices that they chose ---------===//
//
// A graph without a cache computes a mixture of experts row by row. The graph
// copies the matrices that a row has chosen, multiplies them by the row element
// by element, and sums. These three operations are one product. Their indexing
// maps say what each of them reads.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEEXPERTS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;
using linalg::GenericOp;

namespace {
/// Loops of all three operations: rows, choices, and two of a matrix.
constexpr unsigned Loops = 4;

/// sum over `summed` of x[row, choice or 0, ...] * w[e, ...]
struct RoutedProduct {
  GenericOp sum, factors, matrices;
  Value x;
  AffineMap xMap;         // results are loops, or 0 for a dimension that is 1
  tensor::ExtractOp read; // of the weight, in `matrices`
  unsigned summed;        // 2 or 3
};

bool isParallel(GenericOp op) {
  return op && op.getNumLoops() == Loops && !op.getNumReductionLoops() &&
         op.getNumResults() == 1 &&
         op.getIndexingMapsArray().back().isIdentity();
}

/// The element that a generic's own operand gives, read by its identity map or
/// by any.
Value operandOf(GenericOp op, Value scalar, AffineMap &map) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return {};
  map = op.getIndexingMapsArray()[argument.getArgNumber()];
  return op.getDpsInputs()[argument.getArgNumber()];
}

Value yieldedBy(GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0);
}

/// The sum of a loop of a matrix, which begins at zero, of one tensor.
GenericOp factorsOf(GenericOp sum, unsigned &summed) {
  if (sum.getNumLoops() != Loops || sum.getNumReductionLoops() != 1 ||
      sum.getNumResults() != 1 || sum.getNumDpsInputs() != 1)
    return {};
  SmallVector<unsigned> reduced;
  sum.getReductionDims(reduced);
  summed = reduced[0];
  if (summed < 2)
    return {};
  AffineExpr t, c, n;
  bindDims(sum.getContext(), t, c);
  n = getAffineDimExpr(5 - summed, sum.getContext());
  auto maps = sum.getIndexingMapsArray();
  auto fill = sum.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto add = yieldedBy(sum).getDefiningOp<arith::AddFOp>();
  Block *body = sum.getBody();
  if (!maps[0].isIdentity() ||
      maps[1] != AffineMap::get(Loops, 0, {t, c, n}, sum.getContext()) ||
      !fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || !add ||
      !llvm::is_contained(add->getOperands(), Value(body->getArgument(0))) ||
      !llvm::is_contained(add->getOperands(), Value(body->getArgument(1))))
    return {};
  return sum.getDpsInputs()[0].getDefiningOp<GenericOp>();
}

/// Element [e, loop 2, loop 3] of a weight, where e is computed from integers
/// of the row and the choice.
tensor::ExtractOp readBy(GenericOp matrices) {
  Value yielded = yieldedBy(matrices);
  if (auto wide = yielded.getDefiningOp<arith::ExtFOp>())
    yielded = wide.getIn();
  auto read = yielded.getDefiningOp<tensor::ExtractOp>();
  if (!read || read->getBlock() != matrices.getBody() ||
      read.getIndices().size() != 3 || !isa<BlockArgument>(read.getTensor()) ||
      matrices.getNumDpsInputs() != 1)
    return {};
  for (unsigned i : {1, 2}) {
    auto loop = read.getIndices()[i].getDefiningOp<linalg::IndexOp>();
    if (!loop || loop.getDim() != i + 1)
      return {};
  }
  AffineMap map = matrices.getIndexingMapsArray()[0];
  if (map != AffineMap::getMultiDimIdentityMap(Loops, matrices.getContext())
                 .getMajorSubMap(2))
    return {};
  // e is made of nothing else.
  SmallVector<Value> open = {read.getIndices()[0]};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == matrices.getBody()->getArgument(0))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || (op->getBlock() == matrices.getBody()
                    ? !isa<arith::ArithDialect>(op->getDialect())
                    : !matchPattern(value, m_Constant())))
      return {};
    if (op->getBlock() == matrices.getBody())
      llvm::append_range(open, op->getOperands());
  }
  return read;
}

std::optional<RoutedProduct> match(GenericOp sum) {
  RoutedProduct product;
  product.sum = sum;
  product.factors = factorsOf(sum, product.summed);
  if (!isParallel(product.factors))
    return std::nullopt;
  auto multiply = yieldedBy(product.factors).getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    AffineMap map;
    Value matrices = operandOf(product.factors, multiply->getOperand(i), map);
    if (!matrices || !map.isIdentity())
      continue;
    product.matrices = matrices.getDefiningOp<GenericOp>();
    if (!isParallel(product.matrices) ||
        !(product.read = readBy(product.matrices)))
      continue;
    product.x =
        operandOf(product.factors, multiply->getOperand(1 - i), product.xMap);
    if (product.x)
      break;
  }
  if (!product.x)
    return std::nullopt;
  // x has rows, perhaps choices, and the summed dimension, in this order. Its
  // other dimensions are 1.
  auto xType = cast<RankedTensorType>(product.x.getType());
  SmallVector<unsigned> loops;
  for (auto [d, expr] : llvm::enumerate(product.xMap.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(dim.getPosition());
    else if (loops.empty() || xType.getDimSize(d) != 1)
      return std::nullopt;
  }
  if (loops != SmallVector<unsigned>{0, product.summed} &&
      loops != SmallVector<unsigned>{0, 1, product.summed})
    return std::nullopt;
  return product;
}

/// x without the dimensions that are read at 0, which are 1.
Value rowsOf(OpBuilder &b, RoutedProduct product) {
  auto type = cast<RankedTensorType>(product.x.getType());
  SmallVector<ReassociationIndices> groups;
  for (auto [d, expr] : llvm::enumerate(product.xMap.getResults())) {
    if (isa<AffineDimExpr>(expr))
      groups.emplace_back();
    groups.back().push_back(d);
  }
  if (static_cast<int64_t>(groups.size()) == type.getRank())
    return product.x;
  return tensor::CollapseShapeOp::create(b, product.sum.getLoc(), product.x,
                                         groups);
}

/// The numbers of the experts, i32 [rows, choices].
Value expertsOf(OpBuilder &b, RoutedProduct product) {
  GenericOp matrices = product.matrices;
  Location loc = matrices.getLoc();
  Value ids = matrices.getDpsInputs()[0];
  Value to = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, ids),
                                     b.getI32Type());
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  return GenericOp::create(
             b, loc, to.getType(), ids, to, maps, loops,
             [&](OpBuilder &inner, Location loc, ValueRange arguments) {
               IRMapping mapping;
               mapping.map(matrices.getBody()->getArgument(0), arguments[0]);
               for (Operation &op : matrices.getBody()->without_terminator())
                 if (isa<arith::ArithDialect>(op.getDialect()) &&
                     llvm::all_of(op.getOperands(), [&](Value operand) {
                       return mapping.contains(operand) ||
                              operand.getParentBlock() != matrices.getBody();
                     }))
                   inner.clone(op, mapping);
               Value expert =
                   mapping.lookupOrDefault(product.read.getIndices()[0]);
               linalg::YieldOp::create(
                   inner, loc,
                   arith::IndexCastOp::create(inner, loc, inner.getI32Type(),
                                              expert)
                       .getResult());
             })
      .getResult(0);
}

/// The weight [E, ...] as [E N, K].
Value weightOf(OpBuilder &b, RoutedProduct product) {
  tensor::ExtractOp read = product.read;
  Location loc = product.sum.getLoc();
  Value weight = read.getTensor();
  auto type = cast<RankedTensorType>(weight.getType());
  if (product.summed == 2) {
    int64_t shape[] = {type.getDimSize(0), type.getDimSize(2),
                       type.getDimSize(1)};
    Value to = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    weight = linalg::TransposeOp::create(b, loc, weight, to,
                                         ArrayRef<int64_t>{0, 2, 1})
                 ->getResult(0);
  }
  return tensor::CollapseShapeOp::create(
      b, loc, weight, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
}

struct RaiseExperts : kv::impl::KVRaiseExpertsBase<RaiseExperts> {
  void runOnOperation() override {
    SmallVector<RoutedProduct> products;
    llvm::DenseMap<Value, size_t> reads;
    getOperation().walk([&](GenericOp op) {
      if (std::optional<RoutedProduct> product = match(op)) {
        products.push_back(*product);
        ++reads[product->read.getTensor()];
      }
    });
    for (RoutedProduct &product : products) {
      tensor::ExtractOp read = product.read;
      auto weight = cast<BlockArgument>(read.getTensor());
      auto type = dyn_cast<RankedTensorType>(weight.getType());
      auto sums = cast<RankedTensorType>(product.sum->getResult(0).getType());
      auto x = cast<RankedTensorType>(product.x.getType());
      // Sums without a kernel, or with other readers, stay.
      if (!type || !type.hasStaticShape() || !sums.getElementType().isF32() ||
          !x.getElementType().isF32() ||
          ShapedType::isDynamic(sums.getDimSize(1)) ||
          sums.getDimSize(2) % kPackedRows != 0 ||
          llvm::range_size(weight.getUses()) != reads.lookup(weight))
        continue;
      OpBuilder b(product.sum);
      Value rows = rowsOf(b, product), experts = expertsOf(b, product);
      OperationState state(product.sum.getLoc(),
                           ExpertMatmulOp::getOperationName());
      ExpertMatmulOp::build(b, state, TypeRange(sums), rows,
                            ValueRange(weightOf(b, product)), experts,
                            /*outs=*/ValueRange(), /*formats=*/ArrayAttr());
      Operation *made = b.create(state);
      remark::passed(product.sum.getLoc(), raiseRemark("Experts"))
          << remark::add("rows of {0} experts, of which each row chooses {1}",
                         type.getDimSize(0), sums.getDimSize(1));
      ++numProducts;
      GenericOp parts[] = {product.sum, product.factors, product.matrices};
      parts[0].getResult(0).replaceAllUsesWith(made->getResult(0));
      for (GenericOp part : parts)
        if (part.use_empty())
          part.erase();
    }
  }
};
} // namespace
