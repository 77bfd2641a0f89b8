//===- VectorEmitter.h - Vector code on buffers -----------------*- C++ -*-===//
//
// Vectors have 16 lanes of f32 whatever the target: a narrower machine computes
// them in parts. So the order of every sum, and with it every bit, is the same
// on all machines.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_VECTOR_VECTOREMITTER_H
#define KV_PASSES_CPU_VECTOR_VECTOREMITTER_H

#include "passes/common/Emitter.h"

namespace kv {

/// Lanes of a vector.
constexpr int64_t kLanes = 16;

/// Short names for loops, arithmetic and memory accesses of vector code.
/// Members that take floats take a scalar or a vector.
class VectorEmitter : public Emitter {
public:
  using Emitter::Emitter;

  /// A loop from `low` to `high`; returns what the last iteration made of
  /// `initial`.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value low, mlir::Value high, int64_t step,
       mlir::ValueRange initial,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(
           VectorEmitter &, mlir::Value, mlir::ValueRange)>
           body);
  /// An innermost loop, which is never unrolled, because its sums need all
  /// registers.
  llvm::SmallVector<mlir::Value>
  innerLoop(mlir::Value low, mlir::Value high, int64_t step,
            mlir::ValueRange initial,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(
                VectorEmitter &, mlir::Value, mlir::ValueRange)>
                body);
  void forEach(mlir::Value low, mlir::Value high, int64_t step,
               llvm::function_ref<void(VectorEmitter &, mlir::Value)> body);
  void when(mlir::Value condition,
            llvm::function_ref<void(VectorEmitter &)> body);

  // Indices. A difference may be negative: clamp() takes the sign into account.
  mlir::Value add(mlir::Value a, int64_t b);
  using Emitter::add;
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value clamp(mlir::Value a, int64_t low, int64_t high);
  mlir::Value divideUp(mlir::Value a, int64_t b);
  mlir::Value divideUp(mlir::Value a, mlir::Value b);
  mlir::Value roundDown(mlir::Value a, int64_t multiple);
  mlir::Value roundUp(mlir::Value a, int64_t multiple);

  // Floats.
  mlir::VectorType floats(int64_t count = kLanes);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value splat(double value);
  mlir::Value zeros(int64_t lanes);
  /// A constant of the type of `other`.
  mlir::Value like(mlir::Value other, double value);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value times(mlir::Value a, mlir::Value b);
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value minus(mlir::Value a, mlir::Value b);
  /// b where it is greater than a, or else a: a NaN in b is left out.
  mlir::Value greaterOf(mlir::Value a, mlir::Value b);
  mlir::Value isEqual(mlir::Value a, double b);
  /// 2^x for x <= 0, with an error of at most 1 ulp: exactly 1 for 0, and 0
  /// below -126. NaN for NaN.
  mlir::Value powerOfTwo(mlir::Value x);

  // Lanes.
  /// One vector of as many lanes as there are vectors, a power of two and no
  /// more than their lanes: the sum of the lanes of each. Always in one order:
  /// lane i and lane i + 8, then i + 4, i + 2 and i + 1.
  mlir::Value sumLanes(llvm::ArrayRef<mlir::Value> vectors);
  mlir::Value sumLanes(mlir::Value vector);
  mlir::Value greatestLane(mlir::Value vector);
  mlir::Value slice(mlir::Value vector, int64_t first, int64_t count);

  // Memory.
  mlir::Value extent(mlir::Value buffer, int64_t dimension);
  mlir::Value loadScalar(mlir::Value buffer, mlir::ValueRange at);
  void storeScalar(mlir::Value value, mlir::Value buffer, mlir::ValueRange at);
  /// An unsigned element of 32 bits as an index.
  mlir::Value loadIndex(mlir::Value buffer, mlir::ValueRange at);
  /// `count` elements as f32, and zeros in the other lanes of `lanes`.
  mlir::Value loadLanes(mlir::Value buffer, mlir::ValueRange at,
                        int64_t count = kLanes, int64_t lanes = kLanes);
  /// The first `count` lanes as elements of the buffer.
  void storeLanes(mlir::Value vector, mlir::Value buffer, mlir::ValueRange at,
                  int64_t count = kLanes);
  /// A buffer on the stack. Only where it is executed once a call.
  mlir::Value stack(llvm::ArrayRef<int64_t> shape, mlir::Type element);

private:
  mlir::Value powersOfTwo(mlir::Value scales);
  mlir::Value shuffle(mlir::Value a, mlir::Value b,
                      llvm::ArrayRef<int64_t> lanes);
  mlir::Value halves(llvm::ArrayRef<mlir::Value> vectors, int64_t width,
                     int64_t which);
};

} // namespace kv

#endif // KV_PASSES_CPU_VECTOR_VECTOREMITTER_H
