//===- RaisePipeline.cpp - kv-raise ---------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace kv;

static void simplify(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void kv::buildRaisePipeline(OpPassManager &pm,
                            const RaisePipelineOptions &options) {
  simplify(pm);
  pm.addPass(createKVRaiseShapes());
  simplify(pm);
  pm.addPass(createKVRaiseContractions());
  pm.addPass(createKVRaiseSizes());
  simplify(pm);
  pm.addPass(createKVRaiseIndices());
  pm.addPass(createKVRaiseLast());
  simplify(pm);
  pm.addPass(createKVRaiseSoftmax());
  simplify(pm);
  pm.addPass(createKVRaiseTokens());
  KVRaiseAttentionOptions attention;
  attention.dtypeName = options.dtype;
  attention.page = options.page;
  pm.addPass(createKVRaiseAttention(attention));
  pm.addPass(createKVRaisePositions());
  pm.addPass(createKVRaiseRows());
  simplify(pm);
  KVRaiseRotationsOptions rotations;
  rotations.tables = options.tables;
  pm.addPass(createKVRaiseRotations(rotations));
  pm.addPass(createKVRaiseProducts());
  pm.addPass(createKVRaiseExperts());
  simplify(pm);
  KVRaiseWeightsOptions weights;
  weights.dtypeName = options.weights;
  pm.addPass(createKVRaiseWeights(weights));
  pm.addPass(createKVRaiseForms());
  simplify(pm);
}

void kv::buildPlainPipeline(OpPassManager &pm) {
  simplify(pm);
  pm.addPass(createKVRaiseShapes());
  simplify(pm);
  pm.addPass(createKVRaiseSizes());
  simplify(pm);
  pm.addPass(createKVRaiseIndices());
  pm.addPass(createKVRaiseLast());
  simplify(pm);
  pm.addPass(createKVExpandAttention());
  simplify(pm);
  pm.addPass(createKVRaiseProducts());
  simplify(pm);
}

void kv::registerRaise() {
  registerKVRaisePasses();
  PassPipelineRegistration<RaisePipelineOptions>(
      "kv-raise", "a graph without a cache gets one, by proof",
      buildRaisePipeline);
  PassPipelineRegistration<>(
      "kv-plain", "a graph without a cache as an entry that has none",
      buildPlainPipeline);
}
