//===- ModelIdentity.cpp - Which files compute pages ----------------------===//

#include "kv/Runtime/Serving/ModelIdentity.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

using namespace kv;

Expected<std::string> ModelIdentity::digestOf(File &file) {
  if (file.digest)
    return *file.digest;
  std::vector<char> part(size_t(1) << 20);
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  std::ifstream bytes(file.path, std::ios::binary);
  while (bytes.read(part.data(), static_cast<std::streamsize>(part.size())) ||
         bytes.gcount() > 0)
    XXH3_128bits_update(&state, part.data(),
                        static_cast<size_t>(bytes.gcount()));
  if (!bytes.eof())
    return makeError(KV_STATUS_INVALID_ARGUMENT, file.path, ": ",
                     std::strerror(errno));
  XXH128_hash_t digest = XXH3_128bits_digest(&state);
  file.digest = concat(digest.high64, ".", digest.low64);
  return *file.digest;
}

Expected<std::string> ModelIdentity::ofPages() {
  std::string text;
  for (File *file : {&artifact, &weights}) {
    Expected<std::string> digest = digestOf(*file);
    if (!digest)
      return digest;
    text += *digest + " ";
  }
  return text;
}

Expected<std::string> ModelIdentity::ofPeers(const Manifest &manifest) {
  Expected<std::string> digest = digestOf(weights);
  if (!digest)
    return digest;
  // Products of rounded rows by AMX have an order of their own.
  bool ownOrder =
      !manifest.activations.empty() && manifest.targetCpu.ends_with("amx");
  return concat(manifest.model.name, " of weights ", *digest, " on ",
                manifest.targetKind, ownOrder ? " with amx" : "",
                manifest.activations.empty() ? "" : ", activations ",
                manifest.activations);
}
