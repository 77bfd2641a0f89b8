//===- MatrixUnit.cpp - Tiles of AMX --------------------------------------===//

#include "MatrixUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kv;

static void call(VectorEmitter &b, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

static Value tileNumber(VectorEmitter &b, int64_t tile) {
  return arith::ConstantIntOp::create(b, tile, 8);
}

static Value asI64(VectorEmitter &b, Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

/// Where the element of the buffer, of constant strides, is.
static Value addressOf(VectorEmitter &b, Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto parts = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value place = parts.getOffset();
  for (auto [index, stride] : llvm::zip_equal(at, parts.getStrides()))
    place = b.add(place, b.mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address =
      b.add(base, b.mul(place, b.index(type.getElementTypeBitWidth() / 8)));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::IntToPtrOp::create(b, pointer, asI64(b, address));
}

MatrixUnit::MatrixUnit(VectorEmitter &b)
    : configuration(b.stack({64}, b.getI8Type())) {}

void MatrixUnit::configure(VectorEmitter &b, Value rows, int64_t rowBytes) {
  // Palette 1; from byte 16 on the bytes of a row of each tile, 16 bits each;
  // from 48 on its rows, 8 bits each.
  SmallVector<APInt> bytes(64, APInt(8, 0));
  bytes[0] = 1;
  for (int64_t tile = 0; tile < 8; ++tile) {
    bool isRows = tile >= firstRows && tile < firstWeights;
    bytes[16 + 2 * tile] = isRows ? rowBytes : 64;
    // A row of weights has four bytes for each column.
    bytes[48 + tile] = tile < firstWeights ? tileRows : rowBytes / 4;
  }
  auto all = VectorType::get({64}, b.getI8Type());
  Value zero = b.index(0);
  vector::StoreOp::create(
      b, arith::ConstantOp::create(b, DenseElementsAttr::get(all, bytes)),
      configuration, zero);
  auto some = VectorType::get({firstWeights}, b.getI8Type());
  Value number = arith::TruncIOp::create(b, b.getI8Type(), asI64(b, rows));
  vector::StoreOp::create(b, vector::BroadcastOp::create(b, some, number),
                          configuration, b.index(48));
  call(b, "llvm.x86.ldtilecfg", addressOf(b, configuration, zero));
}

void MatrixUnit::release(VectorEmitter &b) {
  call(b, "llvm.x86.tilerelease", ValueRange());
}

void MatrixUnit::zero(VectorEmitter &b, int64_t tile) {
  call(b, "llvm.x86.tilezero", tileNumber(b, tile));
}

void MatrixUnit::load(VectorEmitter &b, int64_t tile, Value buffer,
                      ValueRange at, int64_t stride) {
  call(b, "llvm.x86.tileloadd64",
       {tileNumber(b, tile), addressOf(b, buffer, at),
        arith::ConstantIntOp::create(b, stride, 64)});
}

void MatrixUnit::store(VectorEmitter &b, int64_t tile, Value buffer,
                       ValueRange at, int64_t stride) {
  call(b, "llvm.x86.tilestored64",
       {tileNumber(b, tile), addressOf(b, buffer, at),
        arith::ConstantIntOp::create(b, stride, 64)});
}

void MatrixUnit::multiply(VectorEmitter &b, int64_t sum, int64_t rows,
                          int64_t weights) {
  call(b, "llvm.x86.tdpbf16ps",
       {tileNumber(b, sum), tileNumber(b, rows), tileNumber(b, weights)});
}

void MatrixUnit::multiplyBytes(VectorEmitter &b, int64_t sum, int64_t rows,
                               int64_t weights) {
  call(b, "llvm.x86.tdpbssd",
       {tileNumber(b, sum), tileNumber(b, rows), tileNumber(b, weights)});
}
