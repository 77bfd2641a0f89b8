//===- IntegerDot.h - Sums of products of bytes ----------------*- C++ -*-===//
//
// A vector of weights holds four neighbouring elements of each of its lanes.
// IntegerDot multiplies it with four elements of each of several rows and sums
// lane by lane. The sums are exact, so that every instruction set gives the
// same ones.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_PRODUCTS_INTEGERDOT_H
#define KV_PASSES_CPU_PRODUCTS_INTEGERDOT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace kv {

/// The instructions that multiply bytes.
enum class DotKind {
  Generic, // extensions, multiplications and additions of i32
  AVX2,    // vpmaddubsw on 256 bits
  AVX512,  // the same on 512 bits
  VNNI,    // vpdpbusd on 512 bits
  AMX      // tdpbssd for many rows, VNNI for few
};

/// "generic", "avx2", "avx512", "vnni", "amx".
std::optional<DotKind> symbolizeDotKind(llvm::StringRef name);

/// Lanes of one vector: four bytes each.
constexpr int64_t dotLanes(DotKind kind) {
  return kind == DotKind::AVX2 ? 8 : 16;
}

class IntegerDot {
public:
  /// By vectors, not AMX. Of weights of at most `largest` in magnitude, signed
  /// or not, for `rows` rows whose elements are from -127 to 127.
  IntegerDot(DotKind kind, int64_t rows, int64_t largest, bool isSigned);

  /// Adds the products of `weights`, <4 x lanes x i8>, with the rows' elements:
  /// `elements` gives a row's four as an i32.
  void add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value weights,
           llvm::function_ref<mlir::Value(int64_t row)> elements);

  /// The sums of a row, <lanes x i32>. With bias() they are those of weights
  /// that are larger by this number.
  mlir::Value take(mlir::OpBuilder &b, mlir::Location loc, int64_t row);

  /// The number that is added to signed weights if the instruction takes
  /// unsigned ones.
  int64_t bias() const { return isSigned && kind == DotKind::VNNI ? 128 : 0; }

private:
  struct Sums {
    mlir::Value total;   // i32, null at first
    mlir::Value pairs;   // i16 sums that are not in the total, or null
    int64_t pending = 0; // products in each of the pairs
  };

  void flush(mlir::OpBuilder &b, mlir::Location loc, Sums &sums);

  DotKind kind;
  int64_t most; // vectors whose products a sum of pairs of i16 can hold
  bool isSigned;
  llvm::SmallVector<Sums> sums;
};

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_INTEGERDOT_H
