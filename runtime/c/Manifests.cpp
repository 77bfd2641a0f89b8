//===- Manifests.cpp - What an artifact says of itself, in C --------------===//

#include "SessionHandles.h"

using namespace kv;
using namespace kv::capi;

KvManifest::KvManifest(Manifest given) : manifest(std::move(given)) {
  for (const Collection &collection : manifest.collections) {
    const CacheGeometry &geometry = collection.geometry;
    collections.push_back({.name = collection.name.c_str(),
                           .strategy = static_cast<int32_t>(geometry.strategy),
                           .dtype = geometry.dtype,
                           .layers = geometry.layers,
                           .heads = geometry.heads,
                           .dim = geometry.dim,
                           .page = geometry.page,
                           .vDim = geometry.vDim,
                           .layout = static_cast<int32_t>(geometry.layout),
                           .scaleDType = geometry.scaleDType,
                           .scaleGroup = geometry.scaleGroup,
                           .window = geometry.window,
                           .pageLayers = geometry.pageLayers});
  }
  for (const std::string &chip : manifest.targetChips)
    chips.push_back(chip.c_str());
}

KvArgument capi::toC(const Argument &argument) {
  KvArgument result = {};
  result.name = argument.name.c_str();
  result.kind = argumentKindName(argument.kind).data();
  result.dtype = static_cast<int32_t>(argument.dtype);
  result.rank = static_cast<int32_t>(argument.shape.size());
  result.onHost = argument.host;
  for (size_t i = 0; i < argument.shape.size(); ++i) {
    const Dimension &dim = argument.shape[i];
    result.sizes[i] = dim.isStatic() ? dim.size : -1;
    result.symbols[i] = dim.isStatic() ? nullptr : dim.symbol.c_str();
  }
  if (!argument.collection.empty())
    result.collection = argument.collection.c_str();
  result.layout = argument.layout.c_str();
  return result;
}

int32_t kvManifestRead(const char *artifact, KvManifest **manifest) {
  return guarded([&] {
    KV_REQUIRE("kvManifestRead", artifact);
    KV_REQUIRE("kvManifestRead", manifest);
    Expected<Manifest> read = Manifest::readFile(artifact);
    if (!read)
      return fail(read.error());
    *manifest = new KvManifest(std::move(*read));
    return int32_t(KV_STATUS_OK);
  });
}

void kvManifestDestroy(KvManifest *manifest) { delete manifest; }

int32_t kvManifestGetInfo(const KvManifest *manifest, KvManifestInfo *info) {
  return guarded([&] {
    KV_REQUIRE("kvManifestGetInfo", manifest);
    KV_REQUIRE("kvManifestGetInfo", info);
    const Manifest &own = manifest->manifest;
    *info = {.abiVersion = own.abiVersion,
             .producer = own.producer.c_str(),
             .targetKind = own.targetKind.c_str(),
             .targetTriple = own.targetTriple.c_str(),
             .targetCpu = own.targetCpu.c_str(),
             .targetChips = manifest->chips.data(),
             .numTargetChips = static_cast<int32_t>(manifest->chips.size()),
             .modelName = own.model.name.c_str(),
             .modelArchitecture = own.model.architecture.c_str(),
             .modelVocabSize = own.model.vocabSize,
             .modelMaxSeqLen = own.model.maxSeqLen,
             .modelJson = own.model.json.c_str(),
             .numCollections = static_cast<int32_t>(own.collections.size()),
             .numEntries = static_cast<int32_t>(own.entries.size())};
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManifestGetCacheSpec(const KvManifest *manifest, KvCacheSpec *spec) {
  return guarded([&] {
    KV_REQUIRE("kvManifestGetCacheSpec", manifest);
    KV_REQUIRE("kvManifestGetCacheSpec", spec);
    *spec = {};
    spec->collections = manifest->collections.data();
    spec->numCollections = static_cast<int32_t>(manifest->collections.size());
    return int32_t(KV_STATUS_OK);
  });
}

/// The element of `list` at `index`. `what` is "entry" or the like.
template <class T>
static Expected<const T *> at(const std::vector<T> &list, int32_t index,
                              const auto &what) {
  if (index >= 0 && static_cast<size_t>(index) < list.size())
    return &list[index];
  return makeError(KV_STATUS_INVALID_ARGUMENT, what, " ", index, ", allowed: ",
                   list.empty() ? "none" : concat("0 to ", list.size() - 1));
}

int32_t kvManifestGetEntry(const KvManifest *manifest, int32_t index,
                           KvEntryInfo *entry) {
  return guarded([&] {
    KV_REQUIRE("kvManifestGetEntry", manifest);
    KV_REQUIRE("kvManifestGetEntry", entry);
    auto found = at(manifest->manifest.entries, index, "entry");
    if (!found)
      return fail(found.error());
    const Entry &own = **found;
    *entry = {.name = own.name.c_str(),
              .symbol = own.symbol.c_str(),
              .numInputs = static_cast<int32_t>(own.inputs.size()),
              .numOutputs = static_cast<int32_t>(own.outputs.size())};
    return int32_t(KV_STATUS_OK);
  });
}

/// An element of the entry's `list`, Entry::inputs or outputs.
static int32_t giveArgument(const char *function, const KvManifest *manifest,
                            const char *entry, int32_t index,
                            std::vector<Argument> Entry::*list,
                            const char *what, KvArgument *argument) {
  return guarded([&] {
    KV_REQUIRE(function, manifest);
    KV_REQUIRE(function, entry);
    KV_REQUIRE(function, argument);
    Expected<const Entry *> own = manifest->manifest.requireEntry(entry);
    if (!own)
      return fail(own.error());
    auto found = at((*own)->*list, index, concat("entry ", entry, ": ", what));
    if (!found)
      return fail(found.error());
    *argument = toC(**found);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManifestGetInput(const KvManifest *manifest, const char *entry,
                           int32_t index, KvArgument *input) {
  return giveArgument("kvManifestGetInput", manifest, entry, index,
                      &Entry::inputs, "input", input);
}

int32_t kvManifestGetOutput(const KvManifest *manifest, const char *entry,
                            int32_t index, KvArgument *output) {
  return giveArgument("kvManifestGetOutput", manifest, entry, index,
                      &Entry::outputs, "output", output);
}
