//===- Loading.h - The model of a run ---------------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_LOADING_H
#define KV_TOOLS_KVRUN_LOADING_H

#include "Options.h"

#include "kv/Runtime/Device/Communicator.h"
#include "kv/Runtime/Serving/ArtifactRunner.h"
#include "kv/Runtime/Serving/DraftModel.h"
#include "kv/Runtime/Serving/ManagerHost.h"
#include "kv/Runtime/Serving/RankedRunner.h"

namespace kv::run {

/// An artifact with bound weights, and what it is to be run with.
struct LoadedModel {
  InferenceSession session;
  Model model;
  ForwardSignature signature; // its caches as the options want them
  int64_t pages = 0; // usable ones of a replica; 0 if its cache has slots
  std::unique_ptr<ArtifactRunner> runner = nullptr;
  std::unique_ptr<DraftModel> draft = nullptr; // null: none
};

/// `ranks` may be null. Errors are what is wrong with the artifact, the weights
/// or an option, which they name.
Expected<LoadedModel> loadModel(const Options &options,
                                const std::shared_ptr<Communicator> &ranks);

/// The cache manager of a loaded model. `ranked`, which outlives it, passes
/// page operations on to other ranks, if there are any. Errors: those of
/// ManagerHost::open(); others name the option.
Expected<std::unique_ptr<ManagerHost>> openCaches(const Options &options,
                                                  LoadedModel &loaded,
                                                  RankedRunner &ranked,
                                                  bool hasRanks);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_LOADING_H
