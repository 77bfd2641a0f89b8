//===- Inputs.cpp - Runtime inputs in C -----------------------------------===//

#include "Dlpack.h"
#include "Handles.h"

using namespace kv;
using namespace kv::capi;

template <class... Parts>
static std::unexpected<Error> badInput(const Parts &...parts) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, "input: ", parts...);
}

Expected<std::span<const RaggedKVCacheInputs>>
capi::latestInputs(const KvManager &manager, int32_t device) {
  const KvManager::State &state = *manager.state;
  if (state.inputs.empty())
    return badInput("no runtime inputs have been made");
  size_t collections = manager->params().params.size();
  size_t devices = state.inputs.size() / collections;
  if (device < 0 || static_cast<size_t>(device) >= devices)
    return badInput("device ", device, ", allowed: 0 to ", devices - 1);
  return state.inputs.subspan(device * collections, collections);
}

/// The view of a component. Errors: those of latestInputs(); there is no such
/// collection or component.
static Expected<KvTensorView> findInput(const KvManager &manager,
                                        int32_t device, int32_t collection,
                                        int32_t component) {
  auto found = latestInputs(manager, device);
  if (!found)
    return std::unexpected(found.error());
  if (collection < 0 || static_cast<size_t>(collection) >= found->size())
    return badInput("collection ", collection, ", allowed: 0 to ",
                    found->size() - 1);
  const RaggedKVCacheInputs &one = (*found)[collection];
  switch (component) {
  case KV_COMPONENT_BLOCKS:
    return one.blocks;
  case KV_COMPONENT_CACHE_LENGTHS:
    return one.cacheLengths;
  case KV_COMPONENT_LOOKUP_TABLE:
    return one.lookupTable;
  case KV_COMPONENT_MAX_LENGTHS:
    return one.maxLengths;
  case KV_COMPONENT_SCALES:
    return one.scales;
  }
  return badInput("component ", component, ", allowed: 0 to ",
                  int(KV_COMPONENT_SCALES));
}

int32_t kvManagerGetInput(const KvManager *manager, int32_t device,
                          int32_t collection, int32_t component,
                          KvTensorView *view) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetInput", manager);
    KV_REQUIRE("kvManagerGetInput", view);
    return give(findInput(*manager, device, collection, component), view);
  });
}

int32_t kvManagerIsCacheEmpty(const KvManager *manager, int32_t device,
                              int32_t *isEmpty) {
  return guarded([&] {
    KV_REQUIRE("kvManagerIsCacheEmpty", manager);
    KV_REQUIRE("kvManagerIsCacheEmpty", isEmpty);
    auto found = latestInputs(*manager, device);
    if (!found)
      return fail(found.error());
    // All collections of a device have the same lengths.
    *isEmpty = found->front().isCacheEmpty;
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerGetInputDLPack(const KvManager *manager, int32_t device,
                                int32_t collection, int32_t component,
                                DLManagedTensor **tensor) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetInputDLPack", manager);
    KV_REQUIRE("kvManagerGetInputDLPack", tensor);
    Expected<KvTensorView> view =
        findInput(*manager, device, collection, component);
    if (!view)
      return fail(view.error());
    if (view->rank == 0)
      return invalid("input: collection ", collection, " has no scales");
    return give(exportTensor(*view, (*manager)->devices()[device],
                             component == KV_COMPONENT_MAX_LENGTHS,
                             manager->state),
                tensor);
  });
}
