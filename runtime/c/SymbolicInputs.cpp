//===- SymbolicInputs.cpp - What a graph takes, in C ----------------------===//

#include "Handles.h"

using namespace kv;
using namespace kv::capi;

/// Null stands for those of the spec.
static Expected<std::optional<int64_t>> readLayers(int64_t layers) {
  if (layers < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "symbolic inputs: ", layers,
                     " layers, allowed: 1 or more, or 0 for those of the spec");
  return layers ? std::optional(layers) : std::nullopt;
}

int32_t kvManagerSymbolicInputs(const KvManager *manager, int32_t devices,
                                int64_t layers, KvSymbolicInputs **list) {
  return guarded([&] {
    KV_REQUIRE("kvManagerSymbolicInputs", manager);
    KV_REQUIRE("kvManagerSymbolicInputs", list);
    Expected<std::optional<int64_t>> read = readLayers(layers);
    if (!read)
      return fail(read.error());
    int64_t most = (*manager)->params().numDevices();
    if (devices < 0 || devices > most)
      return invalid("symbolic inputs: ", devices, " devices, allowed: 1 to ",
                     most, ", or 0 for all");
    *list = new KvSymbolicInputs{(*manager)->symbolicInputs(
        devices ? std::optional(devices) : std::nullopt, *read)};
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvSymbolicInputs(const KvCacheSpec *spec, const char *prefix,
                         int64_t layers, KvSymbolicInputs **list) {
  return guarded([&] {
    KV_REQUIRE("kvSymbolicInputs", list);
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    Expected<std::optional<int64_t>> read = readLayers(layers);
    if (!read)
      return fail(read.error());
    *list = new KvSymbolicInputs{
        {params->symbolicInputs(prefix ? prefix : "", *read)}};
    return int32_t(KV_STATUS_OK);
  });
}

void kvSymbolicInputsDestroy(KvSymbolicInputs *list) { delete list; }

int32_t kvSymbolicInputsNumDevices(const KvSymbolicInputs *list) {
  return figure("kvSymbolicInputsNumDevices", "list", list,
                [](const KvSymbolicInputs &own) {
                  return static_cast<int32_t>(own.devices.size());
                });
}

static int32_t checkDevice(const KvSymbolicInputs &list, int32_t device) {
  int64_t devices = static_cast<int64_t>(list.devices.size());
  if (device >= 0 && device < devices)
    return KV_STATUS_OK;
  return invalid("symbolic input: device ", device, ", allowed: 0 to ",
                 devices - 1);
}

int32_t kvSymbolicInputsCount(const KvSymbolicInputs *list, int32_t device,
                              int32_t *count) {
  return guarded([&] {
    KV_REQUIRE("kvSymbolicInputsCount", list);
    KV_REQUIRE("kvSymbolicInputsCount", count);
    if (int32_t status = checkDevice(*list, device))
      return status;
    *count = static_cast<int32_t>(list->devices[device].size());
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvSymbolicInputsGet(const KvSymbolicInputs *list, int32_t device,
                            int32_t index, KvArgument *input) {
  return guarded([&] {
    KV_REQUIRE("kvSymbolicInputsGet", list);
    KV_REQUIRE("kvSymbolicInputsGet", input);
    if (int32_t status = checkDevice(*list, device))
      return status;
    const std::vector<Argument> &arguments = list->devices[device];
    if (index < 0 || index >= static_cast<int64_t>(arguments.size()))
      return invalid("symbolic input ", index, ", allowed: 0 to ",
                     arguments.size() - 1);
    *input = toC(arguments[index]);
    return int32_t(KV_STATUS_OK);
  });
}
