//===- Inputs.cpp - Runtime inputs in C -----------------------------------===//

#include "Handles.h"

#include <dlpack/dlpack.h>

using namespace kv;
using namespace kv::capi;

template <class... Parts>
static std::unexpected<Error> badInput(const Parts &...parts) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, "input: ", parts...);
}

/// The latest inputs of a collection on a device. Errors: none were made, or
/// there is no such device or collection.
static Expected<const RaggedKVCacheInputs *>
findInputs(const KvManager &manager, int32_t device, int32_t collection) {
  const KvManager::State &state = *manager.state;
  if (state.inputs.empty())
    return badInput("no runtime inputs have been made");
  int64_t collections = static_cast<int64_t>(manager->params().params.size());
  int64_t devices = static_cast<int64_t>(state.inputs.size()) / collections;
  if (device < 0 || device >= devices)
    return badInput("device ", device, ", allowed: 0 to ", devices - 1);
  if (collection < 0 || collection >= collections)
    return badInput("collection ", collection, ", allowed: 0 to ",
                    collections - 1);
  return &state.inputs[device * collections + collection];
}

/// The view of a component. Errors: as above, or there is no such component.
static Expected<KvTensorView> findInput(const KvManager &manager,
                                        int32_t device, int32_t collection,
                                        int32_t component) {
  Expected<const RaggedKVCacheInputs *> found =
      findInputs(manager, device, collection);
  if (!found)
    return std::unexpected(found.error());
  const RaggedKVCacheInputs &one = **found;
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
    // All collections of a device have the same lengths.
    Expected<const RaggedKVCacheInputs *> found =
        findInputs(*manager, device, 0);
    if (!found)
      return fail(found.error());
    *isEmpty = (*found)->isCacheEmpty;
    return int32_t(KV_STATUS_OK);
  });
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {

/// What a DLPack tensor of ours owns: its shape, and a share of the manager.
struct SharedTensor {
  DLManagedTensor tensor = {};
  KvTensorView view = {};
  std::shared_ptr<KvManager::State> state;
};

DLDataType dlpackType(DType dtype) {
  auto bits = static_cast<uint8_t>(8 * dtypeBytes(dtype));
  switch (dtype) {
  case DType::BF16:
    return {kDLBfloat, bits, 1};
  case DType::F32:
  case DType::F16:
    return {kDLFloat, bits, 1};
  case DType::I8:
  case DType::I32:
  case DType::I64:
    return {kDLInt, bits, 1};
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E8M0FNU:
    break; // DLPack 0.6 has no f8.
  }
  return {kDLUInt, bits, 1};
}

/// CPU devices share one host, and DLPack numbers hosts. What a GPU has queued
/// is waited for: who gets the tensor knows nothing of the queue.
Expected<DLDevice> dlpackDevice(const Device &device, bool onHost) {
  if (onHost || device.kind != Device::Kind::CUDA)
    return DLDevice{kDLCPU, 0};
  if (Expected<void> done = (*device.backend())->synchronize(); !done)
    return std::unexpected(done.error());
  return DLDevice{kDLCUDA, device.index};
}

} // namespace

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
    auto shared = std::make_unique<SharedTensor>();
    shared->view = *view;
    shared->state = manager->state;
    Expected<DLDevice> place = dlpackDevice(
        (*manager)->devices()[device], component == KV_COMPONENT_MAX_LENGTHS);
    if (!place)
      return fail(place.error());
    shared->tensor.dl_tensor = {.data = view->data,
                                .device = *place,
                                .ndim = static_cast<int>(view->rank),
                                .dtype =
                                    dlpackType(static_cast<DType>(view->dtype)),
                                .shape = shared->view.sizes,
                                .strides = shared->view.strides,
                                .byte_offset = 0};
    shared->tensor.manager_ctx = shared.get();
    shared->tensor.deleter = [](DLManagedTensor *self) {
      delete static_cast<SharedTensor *>(self->manager_ctx);
    };
    *tensor = &shared.release()->tensor;
    return int32_t(KV_STATUS_OK);
  });
}
