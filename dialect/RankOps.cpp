//===- RankOps.cpp - Operations of several processes ----------------------===//

#include "Verification.h"

using namespace mlir;
using namespace kv;

int64_t GatherOp::getInner() {
  ArrayRef<int64_t> shape = cast<ShapedType>(getX().getType()).getShape();
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(getDim() + 1))
    inner *= size;
  return inner;
}

LogicalResult GatherOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  int64_t dim = getDim(), shard = getShard(), size = getSize();
  int64_t ranks = getRanks(), copies = getCopies();
  if (dim < 0 || dim >= x.getRank())
    return emitOpError() << "dim must be one of x, " << x << ", not " << dim;
  if (ranks < 1 || copies < 1 || ranks % copies != 0)
    return emitOpError() << "ranks must be a positive multiple of copies, not "
                         << ranks << " of " << copies;
  if (shard < 1 || size < 1 || size > ranks / copies * shard)
    return emitOpError() << "size must be 1 to the " << ranks / copies
                         << " different shards of " << shard << ", not "
                         << size;
  if (!x.isDynamicDim(dim) && x.getDimSize(dim) % shard != 0)
    return emitOpError() << "dimension " << dim << " of x, " << x
                         << ", must hold shards of " << shard;
  for (int64_t d = dim + 1; d < x.getRank(); ++d)
    if (x.isDynamicDim(d))
      return emitOpError() << "dimensions of x after " << dim
                           << " must be static, not those of " << x;
  SmallVector<int64_t> shape(x.getShape());
  if (!x.isDynamicDim(dim))
    shape[dim] = shape[dim] / shard * size;
  auto expected = RankedTensorType::get(shape, x.getElementType());
  auto out = cast<ShapedType>(formType(getOut(), getResult()));
  if (out.getElementType() != x.getElementType() ||
      failed(verifyCompatibleShape(out.getShape(), shape)))
    return emitOpError() << "result must be like " << expected << ", not "
                         << out;
  return success();
}
