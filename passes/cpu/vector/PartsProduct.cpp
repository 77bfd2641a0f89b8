//===- PartsProduct.cpp - Products of f32 by a matrix unit ----------------===//

#include "PartsProduct.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kRows = MatrixUnit::tileRows, kDepth = MatrixUnit::tileDepth;

void kv::storeParts(VectorEmitter &b, ValueRange numbers, Value to, Value row,
                    Value step) {
  auto i32 = VectorType::get({kLanes}, b.getI32Type());
  auto i16 = VectorType::get({2 * kLanes}, b.getI16Type());
  auto all = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(i32, Attribute(b.getI32IntegerAttr(value))));
  };
  SmallVector<int64_t> upper;
  for (int64_t lane = 1; lane < 4 * kLanes; lane += 2)
    upper.push_back(lane);
  SmallVector<Value> rest(numbers);
  for (int64_t part = 0; part < kParts; ++part) {
    SmallVector<Value> halves;
    for (Value &number : rest) {
      // To the nearest number of bf16, the larger of two.
      Value bits = arith::BitcastOp::create(b, i32, number);
      bits = arith::AddIOp::create(b, bits, all(0x8000));
      halves.push_back(vector::BitCastOp::create(b, i16, bits));
      bits = arith::AndIOp::create(b, bits, all(~0xffff));
      number = b.minus(number, arith::BitcastOp::create(b, b.floats(), bits));
    }
    Value at[] = {row, step, b.index(part), b.index(0)};
    vector::StoreOp::create(
        b, vector::ShuffleOp::create(b, halves[0], halves[1], upper), to, at);
  }
}

/// From one row of a buffer to the next.
static int64_t bytesOfRow(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.getNumElements() / type.getDimSize(0) *
         type.getElementTypeBitWidth() / 8;
}

void PartsProduct::multiply(VectorEmitter &b, int64_t tiles, int64_t width,
                            Value row, Value outRow, TileRange columns,
                            TileRange steps, Value goesOn) const {
  Value zero = b.index(0);
  auto forEachSum = [&](VectorEmitter &b, Value column, auto &&fn) {
    for (int64_t r = 0; r < tiles; ++r)
      for (int64_t c = 0; c < width; ++c) {
        Value place = b.mul(b.add(column, c), b.index(kRows));
        fn(r * width + c, ValueRange{b.add(outRow, r * kRows), place});
      }
  };
  // Two columns at a time, for which there are tiles.
  auto addStep = [&](VectorEmitter &b, Value column, Value step) {
    for (int64_t c = 0; c < width; c += 2) {
      for (int64_t i = 0; i < 2; ++i)
        MatrixUnit::load(b, MatrixUnit::firstWeights + i, weights,
                         {b.sub(b.add(column, c + i), firstColumn),
                          b.sub(step, firstStep), zero, zero},
                         2 * kDepth);
      for (int64_t part = 0; part < kParts; ++part)
        for (int64_t r = 0; r < tiles; ++r) {
          int64_t tile = MatrixUnit::firstRows + r;
          MatrixUnit::load(b, tile, rows,
                           {b.add(row, r * kRows), step, b.index(part), zero},
                           bytesOfRow(rows));
          for (int64_t i = 0; i < 2; ++i)
            MatrixUnit::multiply(b, r * width + c + i, tile,
                                 MatrixUnit::firstWeights + i);
        }
    }
  };
  b.forEach(
      columns.first, columns.end, width, [&](VectorEmitter &b, Value column) {
        for (int64_t sum = 0; sum < tiles * width; ++sum)
          MatrixUnit::zero(b, sum);
        b.when(goesOn, [&](VectorEmitter &b) {
          forEachSum(b, column, [&](int64_t sum, ValueRange at) {
            MatrixUnit::load(b, sum, out, at, bytesOfRow(out));
          });
        });
        b.forEach(steps.first, steps.end, 1, [&](VectorEmitter &b, Value step) {
          addStep(b, column, step);
        });
        forEachSum(b, column, [&](int64_t sum, ValueRange at) {
          MatrixUnit::store(b, sum, out, at, bytesOfRow(out));
        });
      });
}
