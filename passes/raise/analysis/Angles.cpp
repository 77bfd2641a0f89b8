//===- Angles.cpp - What positions and weights alone decide ---------------===//

#include "Angles.h"

#include "kv/Dialect/KV.h"
#include "kv/Dialect/StoredWeight.h"

using namespace mlir;
using namespace kv;

/// The operations of computed.py.
static bool isComputable(Operation *op) {
  static constexpr StringLiteral kNames[] = {
      "arith.addf",   "arith.addi",       "arith.divf", "arith.extf",
      "arith.extsi",  "arith.index_cast", "arith.mulf", "arith.muli",
      "arith.negf",   "arith.sitofp",     "arith.subf", "arith.subi",
      "arith.truncf", "arith.uitofp",     "math.cos",   "math.exp",
      "math.powf",    "math.rsqrt",       "math.sin",   "math.sqrt"};
  Type type = op->getResult(0).getType();
  return llvm::is_contained(kNames, op->getName().getStringRef()) &&
         (type.isF32() || type.isF64() || type.isIndex() ||
          type.isInteger(32) || type.isInteger(64));
}

static StringAttr weightOf(Value value) {
  return argumentAttr(value, KVDialect::getWeightAttrName());
}

bool Angles::isAngle(ExprId id) {
  auto found = known.find(id);
  if (found != known.end())
    return found->second;
  const Expr &expr = elements.expressions()[id];
  auto areAngles = [&] {
    return llvm::all_of(expr.operands,
                        [&](ExprId each) { return isAngle(each); });
  };
  bool result;
  if (expr.kind != Expr::Kind::Operation)
    result = expr.kind == Expr::Kind::Float || expr.linear.isConstant();
  else if (expr.tensor && expr.tensor == rowPositions)
    result = elements.expressions()[expr.operands[0]].linear ==
             Linear{0, {1, 0, 0, 0}};
  else if (expr.tensor)
    result = weightOf(expr.tensor) && areAngles();
  else
    result = !expr.isReduction && isComputable(expr.op) && areAngles();
  return known[id] = result;
}

/// Expressions of all columns as one, whose numbers are lists where columns
/// differ; null if more differs.
Attribute Angles::tree(ArrayRef<ExprId> columns) const {
  const std::deque<Expr> &all = elements.expressions();
  const Expr &first = all[columns[0]];
  Builder b(function.getContext());
  SmallVector<Attribute> node;
  auto nameOf = [](const Expr &expr) {
    return expr.op ? expr.op->getName().getStringRef() : StringRef();
  };
  bool areAlike = llvm::all_of(columns, [&](ExprId id) {
    const Expr &each = all[id];
    return each.kind == first.kind && each.tensor == first.tensor &&
           nameOf(each) == nameOf(first) &&
           each.operands.size() == first.operands.size();
  });
  if (!areAlike)
    return {};
  if (first.kind != Expr::Kind::Operation) {
    SmallVector<Attribute> numbers;
    bool isFloat = first.kind == Expr::Kind::Float;
    Type type = isFloat ? Type(b.getF64Type()) : b.getI64Type();
    for (ExprId id : columns)
      numbers.push_back(
          isFloat
              ? Attribute(b.getFloatAttr(type, all[id].value.convertToDouble()))
              : b.getIntegerAttr(type, all[id].linear.constant));
    if (llvm::all_equal(numbers))
      numbers.resize(1);
    bool isWide = &first.value.getSemantics() == &APFloat::IEEEdouble();
    StringRef name = !isFloat ? "i64" : isWide ? "f64" : "f32";
    return b.getArrayAttr({b.getStringAttr("number"), b.getStringAttr(name),
                           b.getArrayAttr(numbers)});
  }
  if (first.tensor == rowPositions && rowPositions)
    return b.getStrArrayAttr({"position"});
  if (first.tensor) {
    node = {b.getStringAttr("weight"), weightOf(first.tensor)};
  } else {
    std::string type;
    llvm::raw_string_ostream(type) << first.op->getResult(0).getType();
    node = {b.getStringAttr(nameOf(first)), b.getStringAttr(type)};
  }
  for (size_t i = 0; i < first.operands.size(); ++i) {
    SmallVector<ExprId> operands;
    for (ExprId id : columns)
      operands.push_back(all[id].operands[i]);
    node.push_back(tree(operands));
    if (!node.back())
      return {};
  }
  return b.getArrayAttr(node);
}

Value Angles::table(ArrayRef<ExprId> columns, int64_t rows) {
  Value &table = tables[columns.vec()];
  if (table)
    return table;
  SmallVector<ExprId> each[2];
  for (auto [i, id] : llvm::enumerate(columns))
    each[i % 2].push_back(id);
  Attribute even = tree(each[0]), odd = tree(each[1]);
  if (!even || !odd || rows < 1)
    return {};
  Builder b(function.getContext());
  auto type = RankedTensorType::get(
      {rows, static_cast<int64_t>(columns.size())}, b.getF32Type());
  std::string name = "computed." + std::to_string(tables.size() - 1);
  unsigned place = function.getNumArguments();
  if (failed(function.insertArgument(
          place, type,
          b.getDictionaryAttr(
              {b.getNamedAttr(KVDialect::getWeightAttrName(),
                              b.getStringAttr(name)),
               b.getNamedAttr(kComputedAttrName, b.getArrayAttr({even, odd}))}),
          function.getLoc())))
    return {};
  return table = function.getArgument(place);
}
