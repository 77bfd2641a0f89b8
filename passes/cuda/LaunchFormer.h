//===- LaunchFormer.h - Turns computations into launches --------*- C++ -*-===//
//
// What kv-form-launches does with each operation; the pass says in which order.
// Each `convert` is in the file of its subject: FormCacheLaunches.cpp,
// FormRowLaunches.cpp, FormProductLaunches.cpp, FormMatchedLaunches.cpp. One
// fails with an error that says what there are kernels for, or leaves what
// `isHostCode` judges at the end.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_LAUNCHFORMER_H
#define KV_PASSES_CUDA_LAUNCHFORMER_H

#include "ExpertLaunches.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <set>

namespace kv {

struct ElementProgram;
struct LaunchMatch;

class LaunchFormer {
public:
  explicit LaunchFormer(mlir::ModuleOp module) : module(module) {}

  llvm::LogicalResult convert(PositionsOp op);
  /// Keys and values have one type.
  llvm::LogicalResult convert(StoreOp op);
  /// Queries have the kernel's type, and so has the result.
  llvm::LogicalResult convert(AttentionOp op);
  /// Its two results by a launch each, where they are used.
  llvm::LogicalResult convert(MergeOp op);

  llvm::LogicalResult convert(GatherOp op);
  llvm::LogicalResult convert(RopeOp op);
  llvm::LogicalResult convert(RmsNormOp op);
  llvm::LogicalResult convert(SampleOp op);

  llvm::LogicalResult convert(RouteOp op);
  llvm::LogicalResult convert(KeepGroupsOp op);
  /// Each product by itself, of rows that are rounded once a type.
  llvm::LogicalResult convert(ExpertMatmulOp op);
  /// Of quantised weights: each product by itself, of rows that are rounded
  /// once.
  llvm::LogicalResult convert(MatmulOp op);
  /// Rows of a quantised table.
  llvm::LogicalResult convert(DequantizeOp op);

  llvm::LogicalResult convert(mlir::linalg::LinalgOp op);
  /// What is left of elementwise computations, from the last on: parts of
  /// others are used no more.
  llvm::LogicalResult formElementwise();

  /// The beginning of an error on what no kernel computes.
  mlir::InFlightDiagnostic noKernel(mlir::Operation *op);

  /// The names of the device code that attentions need.
  const std::set<std::string> &attentionCode() const { return images; }
  int64_t launches() const { return numLaunches; }

private:
  llvm::LogicalResult replace(mlir::linalg::GenericOp op,
                              const LaunchMatch &match);
  llvm::LogicalResult replace(mlir::linalg::GenericOp op,
                              const ElementProgram &program);
  /// `made`, by `callee`, is the result of a generic, which goes.
  void replaceBy(mlir::linalg::GenericOp op, mlir::OpResult result,
                 llvm::StringRef callee, mlir::Value made);
  /// `made`, by `callee`, is a result of an operation that goes.
  void replaceResult(Emitter &b, mlir::Value result, llvm::StringRef callee,
                     mlir::Value made);
  void remarkLaunch(mlir::Operation *op, llvm::StringRef callee,
                    mlir::Type type);

  /// A cast that a kernel asks for.
  mlir::Value castFor(Emitter &b, mlir::Value tensor, mlir::Type element,
                      llvm::StringRef why);
  /// Whether a kernel can move the tensor's rows.
  static bool isMoved(mlir::Value tensor);
  /// Whether rows of all tensors can be moved in chunks.
  llvm::LogicalResult checkRows(mlir::Operation *op, llvm::StringRef callee,
                                mlir::ValueRange tensors);
  /// Rows that are multiplied have the weight's type, whatever it costs of f32;
  /// another type that the module asks for would be something else. i8 is for
  /// quantised weights only.
  llvm::LogicalResult checkActivations(mlir::Operation *op, mlir::Type weight);

  mlir::ModuleOp module;
  std::set<std::string> images;
  ExpertOrders orders;
  /// What generics were before they were generalised.
  llvm::DenseMap<mlir::Operation *, llvm::StringRef> names;
  int64_t numLaunches = 0;
};

} // namespace kv

#endif // KV_PASSES_CUDA_LAUNCHFORMER_H
