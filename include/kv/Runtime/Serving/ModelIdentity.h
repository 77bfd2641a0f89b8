//===- ModelIdentity.h - Which files compute pages --------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_MODELIDENTITY_H
#define KV_RUNTIME_SERVING_MODELIDENTITY_H

#include "kv/Runtime/Session/Manifest.h"

#include <optional>
#include <string>

namespace kv {

/// The names under which pages of a model are kept and exchanged, the same for
/// every program that serves it. Each file is read whole, once, when a name
/// first needs it.
class ModelIdentity {
public:
  ModelIdentity(std::string artifact, std::string weights)
      : artifact{std::move(artifact), {}}, weights{std::move(weights), {}} {}

  /// For TierOptions::model: what a page holds depends on the code that has
  /// computed it and on every weight. Error: a file cannot be read.
  Expected<std::string> ofPages();
  /// For PeerConnector::Options::model: the facts that decide the bits of a
  /// page, except the collection's type: the weights, and how products are
  /// rounded. Page sizes and processors may differ. `manifest` is the
  /// artifact's. Error: the weights cannot be read.
  Expected<std::string> ofPeers(const Manifest &manifest);

private:
  struct File {
    std::string path;
    std::optional<std::string> digest;
  };
  static Expected<std::string> digestOf(File &file);

  File artifact, weights;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_MODELIDENTITY_H
