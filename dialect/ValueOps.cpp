//===- ValueOps.cpp - Operations that touch no cache ----------------------===//

#include "OpSyntax.h"
#include "Verification.h"

using namespace mlir;
using namespace kv;

ParseResult kv::parseValueTypes(OpAsmParser &parser, Type &x, Type &positions,
                                Type &freqs, Type &out, Type &result) {
  if (parser.parseType(x) || parser.parseComma() ||
      parser.parseType(positions) || parser.parseComma() ||
      parser.parseType(freqs))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("outs")))
    return parser.parseType(out);
  result = x;
  return success();
}

void kv::printValueTypes(OpAsmPrinter &p, Operation *op, Type x, Type positions,
                         Type freqs, Type out, Type result) {
  p << x << ", " << positions << ", " << freqs;
  if (out)
    p << " outs " << out;
}

ParseResult kv::parseMergeTypes(OpAsmParser &parser, Type &a, Type &aLse,
                                Type &b, Type &bLse, Type &out, Type &outLse,
                                Type &result, Type &lse) {
  auto parsePair = [&](Type &rows, Type &logarithms) -> ParseResult {
    return failure(parser.parseType(rows) || parser.parseComma() ||
                   parser.parseType(logarithms));
  };
  if (parsePair(a, aLse))
    return failure();
  b = a;
  bLse = aLse;
  if (succeeded(parser.parseOptionalKeyword("and")) && parsePair(b, bLse))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("outs")))
    return parsePair(out, outLse);
  result = a;
  lse = aLse;
  return success();
}

void kv::printMergeTypes(OpAsmPrinter &p, Operation *op, Type a, Type aLse,
                         Type b, Type bLse, Type out, Type outLse, Type result,
                         Type lse) {
  p << a << ", " << aLse;
  if (a != b || aLse != bLse)
    p << " and " << b << ", " << bLse;
  if (out)
    p << " outs " << out << ", " << outLse;
}

LogicalResult MergeOp::verify() {
  if (failed(verifyForm(*this, {getOut(), getOutLse()}, {getResult(), getLse()},
                        /*required=*/2)))
    return failure();
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  for (auto [name, rows, lse] :
       {std::tuple<StringRef, Value, Value>("a", getA(), getALse()),
        {"b", getB(), getBLse()}})
    if (failed(verifyCompatibleShape(shapeOf(rows).drop_back(), shapeOf(lse))))
      return emitOpError() << "'" << name << "_lse' must be [T, Hq] of '"
                           << name << "', " << rows.getType() << ", not "
                           << lse.getType();
  if (failed(verifyCompatibleShape(shapeOf(getA()), shapeOf(getB()))))
    return emitOpError() << "sides must be alike, not " << getA().getType()
                         << " and " << getB().getType();
  Type out = formType(getOut(), getResult());
  Type outLse = formType(getOutLse(), getLse());
  if (failed(verifyCompatibleShape(out, getA().getType())) ||
      failed(verifyCompatibleShape(outLse, getALse().getType())))
    return emitOpError() << "result must be like 'a' and 'a_lse', "
                         << getA().getType() << " and " << getALse().getType()
                         << ", not " << out << " and " << outLse;
  return success();
}

LogicalResult RopeOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  auto positions = cast<ShapedType>(getPositions().getType());
  bool perAngle = positions.getRank() == 2;
  if (perAngle) {
    int64_t tokens[] = {positions.getDimSize(1)};
    positions = positions.clone(ArrayRef<int64_t>(tokens));
  }
  if (failed(
          verifySameRows(*this, "x", getX().getType(), "positions", positions)))
    return failure();
  Type out = formType(getOut(), getResult());
  if (failed(verifyCompatibleShape(out, getX().getType())) ||
      getElementTypeOrSelf(out) != getElementTypeOrSelf(getX()))
    return emitOpError() << "result must be like x, " << getX().getType()
                         << ", not " << out;
  int64_t width = cast<ShapedType>(getFreqs().getType()).getDimSize(1);
  int64_t dim = cast<ShapedType>(getX().getType()).getDimSize(2);
  if (ShapedType::isDynamic(width) || ShapedType::isDynamic(dim))
    return emitOpError("the head dimension and the width of freqs must be "
                       "static");
  if (width < 2 || width % 2 != 0 || width > dim)
    return emitOpError() << "freqs must hold pairs for at most the head "
                            "dimension "
                         << dim << ", not " << width << " numbers";
  if (perAngle &&
      cast<ShapedType>(getPositions().getType()).getDimSize(0) != width / 2)
    return emitOpError() << "positions must be [T], or [" << width / 2
                         << ", T]: one of each angle, not "
                         << getPositions().getType();
  return success();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  Type out = formType(getOut(), getResult());
  auto x = cast<ShapedType>(getX().getType());
  if (failed(verifyCompatibleShape(out, x)) ||
      getElementTypeOrSelf(out) != x.getElementType())
    return emitOpError() << "result must be like x, " << x << ", not " << out;
  int64_t width = x.getShape().back();
  if (ShapedType::isDynamic(width) || width < 1)
    return emitOpError() << "rows of x must have a static width of at least 1, "
                            "not those of "
                         << x;
  auto weight = cast<ShapedType>(getWeight().getType());
  if (weight.getDimSize(0) != width)
    return emitOpError() << "weight must have the " << width
                         << " elements of a row, not " << weight;
  if (failed(verifyNumber(*this, "eps", getEps(), Sign::NotNegative)))
    return failure();
  return verifyNumber(*this, "offset", getOffset(), Sign::Any);
}

LogicalResult SampleOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  auto logits = cast<ShapedType>(getLogits().getType());
  constexpr int64_t kMost = (1 << 24) - 1;
  int64_t width = logits.getDimSize(1);
  if (ShapedType::isDynamic(width) || width < 1 || width > kMost)
    return emitOpError() << "logits must be [R, V] with a static V of 1 to "
                         << kMost << ", not " << logits;
  Type out = formType(getOut(), getResult());
  for (auto [name, type] :
       {std::pair<StringRef, Type>("temperature", getTemperature().getType()),
        {"top_k", getTopK().getType()},
        {"top_p", getTopP().getType()},
        {"min_p", getMinP().getType()},
        {"seed", getSeed().getType()},
        {"index", getIndex().getType()},
        {"result", out}})
    if (failed(verifySameRows(*this, "logits", logits, name, type)))
      return failure();
  return success();
}

LogicalResult RouteOp::verify() {
  if (failed(verifyForm(*this, {getOutExperts(), getOutShares()},
                        {getExperts(), getShares()}, /*required=*/2)))
    return failure();
  auto logits = cast<ShapedType>(getLogits().getType());
  auto experts = cast<ShapedType>(formType(getOutExperts(), getExperts()));
  auto shares = cast<ShapedType>(formType(getOutShares(), getShares()));
  int64_t most = logits.getDimSize(1), choices = experts.getDimSize(1);
  if (ShapedType::isDynamic(most))
    return emitOpError() << "logits must be [T, E] with a static E, not "
                         << logits;
  if (choices < 1 || choices > most)
    return emitOpError() << "experts must be [T, C] with a static C of 1 to "
                         << most << ", not " << experts;
  if (failed(verifyCompatibleShape(experts.getShape(), shares.getShape())) ||
      shares.getDimSize(1) != choices)
    return emitOpError() << "shares must be [T, " << choices
                         << "] like experts, not " << shares;
  if (getBy())
    if (auto by = cast<ShapedType>(getBy().getType());
        by.getDimSize(1) != most ||
        failed(verifyCompatibleShape(by.getShape(), logits.getShape())))
      return emitOpError() << "by must be like the logits, " << logits
                           << ", not " << by;
  return verifySameRows(*this, "logits", logits, "experts", experts);
}

LogicalResult KeepGroupsOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  auto out = cast<ShapedType>(formType(getOut(), getResult()));
  int64_t columns = x.getDimSize(1), groups = getGroups();
  if (failed(verifyCompatibleShape(out, x)) || out.getDimSize(1) != columns)
    return emitOpError() << "result must be like x, " << x << ", not " << out;
  if (groups < 1 || ShapedType::isDynamic(columns) || columns < 1 ||
      columns % groups)
    return emitOpError() << "x must be [T, E] with a static E, a multiple of "
                            "the "
                         << groups << " groups, not " << x;
  if (int64_t keep = getKeep(); keep < 1 || keep > groups)
    return emitOpError() << "keeps " << keep << " of " << groups
                         << " groups, allowed are 1 to " << groups;
  if (int64_t best = getBest(); best < 1 || best > columns / groups)
    return emitOpError() << "adds up the " << best
                         << " best elements of a group, allowed are 1 to the "
                         << columns / groups << " that it has";
  return success();
}
