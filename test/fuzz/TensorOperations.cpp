//===- TensorOperations.cpp - Random operations around the cache ----------===//

#include "FunctionBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

namespace {

Value emptyLike(FunctionBuilder &f, RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(f.b, like, i));
  return tensor::EmptyOp::create(f.b, type, sizes);
}

bool rope(FunctionBuilder &f) {
  Value x = f.find(Role::Rows);
  if (!x) {
    CollectionType type = f.random.oneOf(f.module.collections);
    x = f.operand(Role::Rows,
                  f.rows(f.random.between(1, 4), type.getDim(), f.anyFloat()));
  }
  auto type = cast<RankedTensorType>(x.getType());
  int64_t pairs = type.getDimSize(2) / 2;
  if (pairs == 0)
    return false;
  int64_t width =
      2 * (f.random.percent(70) ? pairs : f.random.between(1, pairs));
  auto fits = [&](Type other) {
    int64_t size = cast<ShapedType>(other).getDimSize(0);
    return ShapedType::isDynamic(size) || type.isDynamicDim(0) ||
           size == type.getDimSize(0);
  };
  Value positions = f.find(Role::Positions, fits);
  if (!positions)
    positions = f.operand(Role::Positions,
                          f.tensor({type.getDimSize(0)}, f.b.getI32Type()));
  Value freqs = f.operand(Role::Freqs, f.tensor({64, width}, f.f32()));
  auto op =
      RopeOp::create(f.b, type, x, positions, freqs, /*out=*/Value(),
                     f.random.percent(50) ? f.b.getUnitAttr() : UnitAttr());
  f.define(op.getResult(), Role::Rows);
  return true;
}

bool merge(FunctionBuilder &f) {
  auto heads = [](Value value, int64_t at) {
    return cast<ShapedType>(value.getType()).getDimSize(at);
  };
  Value aLse = f.find(Role::Logarithms);
  if (!aLse)
    return false;
  auto like = [&](Type type) {
    auto shaped = cast<RankedTensorType>(type);
    return shaped.getElementType().isF32() &&
           shaped.getDimSize(1) == heads(aLse, 1) &&
           shaped.getDimSize(0) == heads(aLse, 0);
  };
  Value a = f.find(Role::Rows, like);
  // A side of a latent cache is narrower than its queries.
  Value bLse = f.find(Role::Logarithms, aLse.getType());
  if (!a || !bLse)
    return false;
  Value b = f.find(Role::Rows, a.getType());
  auto op = MergeOp::create(f.b, a.getType(), aLse.getType(), a, aLse, b, bLse,
                            /*out=*/Value(), /*out_lse=*/Value());
  f.define(op.getResult(), Role::Rows);
  f.define(op.getLse(), Role::Logarithms);
  return true;
}

/// [T, H, D] as [T, H * D].
bool flatten(FunctionBuilder &f) {
  Value x = f.find(Role::Rows, [](Type type) {
    return cast<ShapedType>(type).getElementType().isF32();
  });
  if (!x)
    return false;
  f.define(tensor::CollapseShapeOp::create(
               f.b, x, ArrayRef<ReassociationIndices>{{0}, {1, 2}}),
           Role::Flat);
  return true;
}

Value flat(FunctionBuilder &f) {
  if (Value found = f.find(Role::Flat))
    return found;
  return f.operand(Role::Flat, f.tensor({f.tokens(), 8}, f.f32()));
}

/// [T, N] as rows of some collection's heads, when N is that many.
void defineProduct(FunctionBuilder &f, Value product) {
  f.define(product, Role::Flat);
  auto type = cast<RankedTensorType>(product.getType());
  CollectionType cache = f.random.oneOf(f.module.collections);
  int64_t dim = cache.getDim();
  if (type.getDimSize(1) % dim != 0)
    return;
  auto rows =
      f.tensor({type.getDimSize(0), type.getDimSize(1) / dim, dim}, f.f32());
  SmallVector<OpFoldResult> sizes = {f.b.getIndexAttr(rows.getDimSize(0)),
                                     f.b.getIndexAttr(rows.getDimSize(1)),
                                     f.b.getIndexAttr(dim)};
  if (rows.isDynamicDim(0))
    sizes[0] = tensor::DimOp::create(f.b, product, 0).getResult();
  f.define(tensor::ExpandShapeOp::create(
               f.b, rows, product, ArrayRef<ReassociationIndices>{{0}, {1, 2}},
               sizes),
           Role::Rows);
}

/// A packed weight for `columns` columns; in half of the cases of a random
/// format, if `mayQuantise` and if that many columns are whole blocks.
std::pair<RankedTensorType, Attribute>
packedWeight(FunctionBuilder &f, int64_t columns, bool mayQuantise) {
  int64_t blocks = f.random.between(1, 3);
  if (mayQuantise && f.random.percent(50)) {
    auto kind =
        f.random.oneOf({QuantFormat::Q8_0, QuantFormat::Q4_0, QuantFormat::Q4_1,
                        QuantFormat::Q4_K, QuantFormat::Q6_K, QuantFormat::I8});
    if (columns > 0 && columns % sizesOf(kind).unit() == 0)
      return {f.tensor(packedShape(kind, blocks * kPackedRows, columns),
                       f.b.getI8Type()),
              QuantFormatAttr::get(f.b.getContext(), kind)};
  }
  return {f.tensor({blocks, columns, kPackedRows},
                   f.random.oneOf<Type>({f.f32(), f.b.getBF16Type()})),
          f.b.getUnitAttr()};
}

bool multiply(FunctionBuilder &f, bool mayQuantise) {
  Value x = flat(f);
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<Value> weights;
  SmallVector<Type> products;
  SmallVector<Attribute> formats;
  for (int64_t i = f.random.oneOf({1, 1, 2, 3}); i > 0; --i) {
    auto [weight, format] = packedWeight(f, type.getDimSize(1), mayQuantise);
    weights.push_back(f.operand(Role::Weight, weight));
    products.push_back(f.tensor(
        {type.getDimSize(0), weight.getDimSize(0) * kPackedRows}, f.f32()));
    formats.push_back(format);
  }
  bool dense = llvm::all_of(formats, llvm::IsaPred<UnitAttr>);
  auto op = MatmulOp::create(f.b, products, x, weights, /*outs=*/ValueRange(),
                             dense ? ArrayAttr() : f.b.getArrayAttr(formats));
  for (Value product : op.getProducts())
    defineProduct(f, product);
  return true;
}

bool matmul(FunctionBuilder &f) { return multiply(f, /*mayQuantise=*/false); }
bool quantisedMatmul(FunctionBuilder &f) {
  return multiply(f, /*mayQuantise=*/true);
}

/// The experts that rows choose, and what these make of the rows or of one row
/// a choice; in an executable module of numbers only.
bool experts(FunctionBuilder &f, bool mayQuantise) {
  Value logits = flat(f);
  auto type = mlir::cast<RankedTensorType>(logits.getType());
  int64_t count = type.getDimSize(1), tokens = type.getDimSize(0);
  if (count < 1 || count > 16)
    return false;
  Value x = logits;
  int64_t choices = f.random.between(1, std::min<int64_t>(count, 3));
  if (f.random.percent(50))
    if (Value rows = f.find(Role::Rows, [&](Type type) {
          auto shaped = mlir::cast<ShapedType>(type);
          return shaped.getElementType().isF32() &&
                 shaped.getDimSize(0) == tokens &&
                 shaped.getDimSize(1) <= count;
        })) {
      x = rows;
      choices = mlir::cast<ShapedType>(rows.getType()).getDimSize(1);
    }
  int64_t columns = mlir::cast<ShapedType>(x.getType()).getShape().back();
  // Experts by something else than what they share by.
  Value keys;
  if (f.random.percent(50)) {
    int64_t groups = f.random.oneOf<int64_t>({1, 2, count});
    if (count % groups)
      groups = 1;
    keys = KeepGroupsOp::create(f.b, type, logits, /*out=*/Value(), groups,
                                f.random.between(1, groups),
                                f.random.between(1, count / groups))
               .getResult();
  }
  auto perhaps = [&] {
    return f.random.percent(50) ? f.b.getUnitAttr() : UnitAttr();
  };
  auto route = RouteOp::create(
      f.b, f.tensor({tokens, choices}, f.b.getI32Type()),
      f.tensor({tokens, choices}, f.f32()), logits, /*out_experts=*/Value(),
      /*out_shares=*/Value(), keys, /*sigmoid=*/perhaps(),
      /*normalised=*/perhaps());
  SmallVector<Value> weights;
  SmallVector<Type> products;
  SmallVector<Attribute> formats;
  for (int64_t i = f.random.oneOf({1, 1, 2}); i > 0; --i) {
    auto [one, format] = packedWeight(f, columns, mayQuantise);
    int64_t blocks = one.getDimSize(0);
    SmallVector<int64_t> shape(one.getShape());
    shape[0] *= count;
    // As a front end writes it.
    if (isa<UnitAttr>(format) && f.random.percent(50))
      shape = {shape[0] * kPackedRows, columns};
    weights.push_back(
        f.operand(Role::Weight, f.tensor(shape, one.getElementType())));
    products.push_back(
        f.tensor({tokens, choices, blocks * kPackedRows}, f.f32()));
    formats.push_back(format);
  }
  bool dense = llvm::all_of(formats, llvm::IsaPred<UnitAttr>);
  auto op = ExpertMatmulOp::create(
      f.b, products, x, weights, route.getExperts(), /*outs=*/ValueRange(),
      dense ? ArrayAttr() : f.b.getArrayAttr(formats));
  for (Value product : op.getProducts())
    f.define(product, Role::Rows);
  f.define(route.getShares(), Role::Flat);
  return true;
}

bool denseExperts(FunctionBuilder &f) {
  return experts(f, /*mayQuantise=*/false);
}
bool quantisedExperts(FunctionBuilder &f) {
  return experts(f, /*mayQuantise=*/true);
}

/// Rows of a packed weight, by numbers that may lie outside.
bool dequantize(FunctionBuilder &f) {
  auto format =
      f.random.oneOf({QuantFormat::Q8_0, QuantFormat::Q4_1, QuantFormat::I8});
  int64_t rowCount = f.random.between(1, 2) * kPackedRows;
  int64_t columns = f.random.between(1, 2) * sizesOf(format).unit();
  Value weight =
      f.operand(Role::Weight, f.tensor(packedShape(format, rowCount, columns),
                                       f.b.getI8Type()));
  Value rows = f.operand(Role::Positions,
                         f.tensor({ShapedType::kDynamic}, f.b.getI32Type()));
  auto type = f.tensor({ShapedType::kDynamic, columns}, f.f32());
  auto op =
      DequantizeOp::create(f.b, type, weight, rows, /*out=*/Value(),
                           QuantFormatAttr::get(f.b.getContext(), format));
  defineProduct(f, op.getResult());
  return true;
}

/// What kv-pack-weights looks for, and some that it must leave alone.
bool linalgMatmul(FunctionBuilder &f) {
  Value x = flat(f);
  auto type = cast<RankedTensorType>(x.getType());
  int64_t n = f.random.oneOf({16, 32, 48, 8});
  auto weight = f.tensor({n, type.getDimSize(1)}, f.f32());
  auto result = f.tensor({type.getDimSize(0), n}, f.f32());
  Value zero = arith::ConstantOp::create(
      f.b, f.b.getF32FloatAttr(f.random.percent(90) ? 0 : 1));
  Value filled =
      linalg::FillOp::create(f.b, zero, emptyLike(f, result, x)).getResult(0);
  AffineExpr m, j, k;
  bindDims(f.b.getContext(), m, j, k);
  auto map = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(3, 0, {first, second}, f.b.getContext());
  };
  auto maps = f.b.getAffineMapArrayAttr({map(m, k), map(j, k), map(m, j)});
  auto op = linalg::MatmulOp::create(
      f.b, TypeRange{result}, ValueRange{x, f.operand(Role::Weight, weight)},
      ValueRange{filled},
      ArrayRef<NamedAttribute>{f.b.getNamedAttr("indexing_maps", maps)});
  defineProduct(f, op.getResult(0));
  return true;
}

/// a + b, element by element.
bool add(FunctionBuilder &f) {
  Role role = f.random.oneOf({Role::Rows, Role::Rows, Role::Flat});
  Value a = f.find(role, [](Type type) {
    return cast<ShapedType>(type).getElementType().isF32();
  });
  if (!a)
    return false;
  auto type = cast<RankedTensorType>(a.getType());
  Value b = f.find(role, type);
  AffineMap same = f.b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      f.b, TypeRange{type}, ValueRange{a, b}, ValueRange{emptyLike(f, type, a)},
      SmallVector<AffineMap>(3, same), iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value sum = arith::AddFOp::create(nested, loc, args[0], args[1]);
        linalg::YieldOp::create(nested, loc, sum);
      });
  f.define(op.getResult(0), role);
  return true;
}

/// A static number of tokens forgotten, or the other way round.
bool cast(FunctionBuilder &f) {
  Value x = f.find(f.random.oneOf({Role::Rows, Role::Offsets}));
  if (!x)
    return false;
  auto type = mlir::cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(type.getShape());
  bool isRows = f.roleOf(x) == Role::Rows;
  shape[0] = !type.isDynamicDim(0) ? ShapedType::kDynamic
             : isRows              ? f.module.tokens
                                   : f.module.sequences + 1;
  auto other = f.tensor(shape, type.getElementType());
  f.define(tensor::CastOp::create(f.b, other, x), f.roleOf(x));
  return true;
}

/// The first heads of rows, or rows with some heads replaced.
bool slice(FunctionBuilder &f) {
  Value x = f.find(Role::Rows);
  if (!x)
    return false;
  auto type = mlir::cast<RankedTensorType>(x.getType());
  int64_t heads = f.random.between(1, type.getDimSize(1));
  int64_t first = f.random.between(0, type.getDimSize(1) - heads);
  OpFoldResult rows = f.b.getIndexAttr(type.getDimSize(0));
  if (type.isDynamicDim(0))
    rows = tensor::DimOp::create(f.b, x, 0).getResult();
  SmallVector<OpFoldResult> offsets = {
      f.b.getIndexAttr(0), f.b.getIndexAttr(first), f.b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {rows, f.b.getIndexAttr(heads),
                                     f.b.getIndexAttr(type.getDimSize(2))};
  SmallVector<OpFoldResult> strides(3, f.b.getIndexAttr(1));
  auto part = f.tensor({type.getDimSize(0), heads, type.getDimSize(2)},
                       type.getElementType());
  if (f.random.percent(50)) {
    f.define(
        tensor::ExtractSliceOp::create(f.b, part, x, offsets, sizes, strides),
        Role::Rows);
    return true;
  }
  Value source = f.operand(Role::Rows, part);
  f.define(
      tensor::InsertSliceOp::create(f.b, source, x, offsets, sizes, strides),
      Role::Rows);
  return true;
}

const Production productions[] = {
    {"rope", 8, rope},
    {"merge", 8, merge},
    {"flatten", 4, flatten},
    {"matmul", 5, matmul},
    {"linalg.matmul", 5, linalgMatmul},
    // Random bytes are scales that are no numbers.
    {"quantised matmul", 5, quantisedMatmul, /*executable=*/false},
    {"dequantize", 3, dequantize, /*executable=*/false},
    {"experts", 5, denseExperts},
    {"quantised experts", 3, quantisedExperts, /*executable=*/false},
    {"add", 5, add},
    {"cast", 3, ::cast},
    // A slice that becomes a copy has no lowering in an artifact.
    {"slice", 3, slice, /*executable=*/false},
};
} // namespace

ArrayRef<Production> kv::fuzz::tensorProductions() { return productions; }
