//===- LaunchFormer.h - Turns computations into launches --------*- C++ -*-===//
//
// The launches that kv-form-launches makes of each operation. The pass has the
// order, and finds a new overload by itself. Each `toLaunch` is in the file of
// its subject: FormCacheLaunches.cpp, FormRowLaunches.cpp,
// FormProductLaunches.cpp, FormMatchedLaunches.cpp. An overload fails with an
// error that says what there are kernels for, or leaves the operation to
// `isHostCode` at the end.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_LAUNCHFORMER_H
#define KV_PASSES_CUDA_LAUNCHFORMER_H

#include "ExpertLaunches.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <set>

namespace kv {

struct ElementProgram;
struct FunctionCall;
struct LaunchMatch;

class LaunchFormer {
public:
  explicit LaunchFormer(mlir::ModuleOp module) : module(module) {}

  llvm::LogicalResult toLaunch(PositionsOp op);
  /// Keys and values have one type.
  llvm::LogicalResult toLaunch(StoreOp op);
  /// Queries have the kernel's type, and so has the result.
  llvm::LogicalResult toLaunch(AttentionOp op);
  llvm::LogicalResult toLaunch(CopyPagesOp op);
  llvm::LogicalResult toLaunch(LoadOp op);
  llvm::LogicalResult toLaunch(UpdateOp op);
  llvm::LogicalResult toLaunch(StateReadOp op);
  llvm::LogicalResult toLaunch(StateWriteOp op);
  llvm::LogicalResult toLaunch(StateConvolutionOp op);
  llvm::LogicalResult toLaunch(StateScanOp op);
  /// Each of the two results that is used becomes a launch.
  llvm::LogicalResult toLaunch(MergeOp op);

  llvm::LogicalResult toLaunch(GatherOp op);
  llvm::LogicalResult toLaunch(RopeOp op);
  llvm::LogicalResult toLaunch(RmsNormOp op);
  llvm::LogicalResult toLaunch(SampleOp op);

  llvm::LogicalResult toLaunch(RouteOp op);
  llvm::LogicalResult toLaunch(KeepGroupsOp op);
  /// Each product by itself, of rows that are rounded once a type.
  llvm::LogicalResult toLaunch(ExpertMatmulOp op);
  /// Products of quantised weights: each one by itself, with rows that are
  /// rounded once.
  llvm::LogicalResult toLaunch(MatmulOp op);
  /// Rows of a quantised table.
  llvm::LogicalResult toLaunch(DequantizeOp op);

  llvm::LogicalResult toLaunch(mlir::linalg::LinalgOp op);
  /// Forms launches of the elementwise computations that are left, from the
  /// last on, so that parts of others have no uses any more.
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
                 RuntimeFunction callee, mlir::Value made);
  /// `made`, by `callee`, is a result of an operation that goes.
  void replaceResult(Emitter &b, mlir::Value result, RuntimeFunction callee,
                     mlir::Value made);
  /// The operation becomes one launch, which makes all its results.
  void replace(mlir::Operation *op, const FunctionCall &call);
  /// A remark on an operation that makes tensors of `type`; null if it makes
  /// none.
  void remarkLaunch(mlir::Operation *op, RuntimeFunction callee,
                    mlir::Type type = {});

  /// A cast that a kernel asks for.
  mlir::Value castFor(Emitter &b, mlir::Value tensor, mlir::Type element,
                      llvm::StringRef why);
  /// Whether a kernel can move the tensor's rows.
  static bool isMoved(mlir::Value tensor);
  /// Whether rows of all tensors can be moved in chunks.
  llvm::LogicalResult checkRows(mlir::Operation *op, RuntimeFunction callee,
                                mlir::ValueRange tensors);
  /// Whether a kernel multiplies rows by a weight into a result: `tensors`.
  llvm::LogicalResult checkMatmul(mlir::linalg::GenericOp op,
                                  mlir::ValueRange tensors);
  /// Rows that are multiplied have the weight's type, whatever it costs of f32;
  /// another type that the module asks for would be something else. i8 is for
  /// quantised weights only.
  llvm::LogicalResult checkActivations(mlir::Operation *op, mlir::Type weight);

  mlir::ModuleOp module;
  std::set<std::string> images;
  ExpertOrders orders;
  /// The names of generics before they were generalised.
  llvm::DenseMap<mlir::Operation *, llvm::StringRef> names;
  int64_t numLaunches = 0;
};

} // namespace kv

#endif // KV_PASSES_CUDA_LAUNCHFORMER_H
