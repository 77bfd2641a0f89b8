//===- Tiers.cpp - Host memory, disk and store behind kv-run's caches -----===//

#include "Tiers.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace kv;
using namespace kv::run;

Expected<std::string> kv::run::digestFile(const std::string &path) {
  std::vector<char> part(size_t(1) << 20);
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  std::ifstream file(path, std::ios::binary);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) ||
         file.gcount() > 0)
    XXH3_128bits_update(&state, part.data(),
                        static_cast<size_t>(file.gcount()));
  if (!file.eof())
    return makeError(KV_STATUS_INVALID_ARGUMENT, path, ": ",
                     std::strerror(errno));
  XXH128_hash_t digest = XXH3_128bits_digest(&state);
  return concat(digest.high64, ".", digest.low64);
}

/// What a page holds depends on the code that has computed it and on every
/// weight.
static Expected<std::string> identify(const std::string &artifact,
                                      const std::string &weights) {
  std::string text;
  for (const std::string &path : {artifact, weights}) {
    Expected<std::string> digest = digestFile(path);
    if (!digest)
      return digest;
    text += *digest + " ";
  }
  return text;
}

Expected<void> kv::run::chooseTiers(const Options &options, int64_t pages,
                                    MultiKVCacheParams &params,
                                    PagedKVCacheManager::TierOptions &tiers) {
  bool hasDisk = !options.diskDirectory.empty();
  bool hasStore = !options.store.empty();
  if (!hasDisk && !hasStore && !options.hostPages && options.role.empty())
    return {};
  const char *option = hasDisk             ? "--disk-dir"
                       : hasStore          ? "--store"
                       : options.hostPages ? "--host-pages"
                                           : "--role";
  if (!params.params[0].geometry.isPaged())
    return makeError(KV_STATUS_INVALID_ARGUMENT, option,
                     " is given, the artifact's cache has no pages");
  if (!options.prefixCache)
    return makeError(KV_STATUS_INVALID_ARGUMENT, option,
                     " is given, and --no-prefix-cache");
  constexpr int64_t MostBytes = int64_t(512) << 20;
  PoolLayout layout = PoolLayout::of(params);
  int64_t bytes = layout.recordBytes(), parts = layout.stateParts();
  // What peers may read is in host memory, so all that the devices have is.
  int64_t states =
      options.snapshots < 0
          ? 4 * options.maxBatch
          : 2 * options.maxBatch + options.snapshots * options.replicas;
  int64_t most = pages * options.replicas + parts * states;
  int64_t hostPages = options.hostPages.value_or(
      options.role == "prefill"
          ? most
          : std::clamp<int64_t>(MostBytes / bytes, 1 + parts, most));
  for (KVCacheParams &one : params.params) {
    one.connector =
        hasDisk || hasStore ? KVConnector::Tiered : KVConnector::Host;
    one.hostSwapSpaceGB =
        std::ldexp(static_cast<double>(hostPages * bytes), -30);
  }
  tiers.asynchronous = true; // other requests go on
  if (!hasDisk && !hasStore)
    return {};
  Expected<std::string> model = identify(options.artifact, options.weights);
  if (!model)
    return std::unexpected(model.error());
  tiers.diskDirectory = options.diskDirectory;
  tiers.diskBytes = options.diskBytes;
  tiers.blockStoreEndpoint = options.store;
  tiers.model = std::move(*model);
  return {};
}
