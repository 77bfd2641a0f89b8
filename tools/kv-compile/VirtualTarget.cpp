//===- VirtualTarget.cpp - Compiling for a machine that is not here -------===//

#include "VirtualTarget.h"

#include "kv/Runtime/Manager/NullKVCacheManager.h"

using namespace kv;

std::string kv::checkOnVirtualDevice(const std::filesystem::path &artifact,
                                     const std::string &target) {
  Device device{Device::Kind::Virtual, 0, target};
  Expected<Manifest> manifest = Manifest::readFile(artifact);
  if (!manifest)
    return manifest.error().message;
  for (const Collection &collection : manifest->collections) {
    Expected<std::unique_ptr<NullKVCacheManager>> manager =
        NullKVCacheManager::create(
            KVCacheParams::fromCollection(collection),
            {.devices = {device}, .maxSeqLen = manifest->model.maxSeqLen});
    if (!manager)
      return manager.error().message;
    // An entry need not take every collection.
    for (const Entry &entry : manifest->entries)
      if (entry.findInput(ArgumentKind::Blocks, collection.name))
        if (Expected<void> valid =
                (*manager)->params().params[0].validate(entry);
            !valid)
          return valid.error().message;
  }
  return {};
}
