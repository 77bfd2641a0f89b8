//===- Binding.cpp - Arguments of entries, in C ---------------------------===//

#include "SessionHandles.h"

#include <algorithm>

using namespace kv;
using namespace kv::capi;

Expected<void> KvInvocation::put(int index, const KvTensorView &view,
                                 bool onHost, std::shared_ptr<void> owner) {
  BoundSlot &slot = slots[index];
  if (slot.owner)
    if (Expected<void> done = wait(); !done)
      return done;
  if (onHost)
    invocation.bindHost(index, view);
  else
    invocation.bind(index, view);
  slot.view = view;
  slot.owner = std::move(owner);
  return {};
}

Expected<void> KvInvocation::bind(std::string_view name,
                                  const KvTensorView &view, bool onHost,
                                  std::shared_ptr<void> owner) {
  Expected<int> found = invocation.slot(name);
  if (!found)
    return std::unexpected(found.error());
  BoundSlot &slot = slots[*found];
  const Argument &argument = *slot.argument;
  if (view.dtype != static_cast<int64_t>(argument.dtype))
    return refuse(invocation.entry(), name, "the tensor has the element type ",
                  dtypeName(static_cast<DType>(view.dtype)), ", expected ",
                  dtypeName(argument.dtype));
  if (static_cast<size_t>(view.rank) != argument.shape.size())
    return refuse(invocation.entry(), name, "the tensor has rank ", view.rank,
                  ", expected ", argument.shape.size());
  if (argument.host && !onHost)
    return refuse(invocation.entry(), name,
                  "the tensor lies on a device, expected host memory");
  if (Expected<void> done = put(*found, view, onHost, std::move(owner)); !done)
    return done;
  slot.given = true;
  return {};
}

Expected<void> KvInvocation::bindImported(std::string_view name,
                                          const DLTensor &tensor,
                                          std::shared_ptr<void> owner) {
  Expected<int> slot = invocation.slot(name);
  if (!slot)
    return std::unexpected(slot.error());
  Expected<ImportedTensor> imported =
      importTensor(tensor, slots[*slot].argument->dtype, model.device());
  if (!imported)
    return refuse(invocation.entry(), name, imported.error().message);
  return bind(name, imported->view, imported->onHost, std::move(owner));
}

int32_t kvInvocationBind(KvInvocation *invocation, const char *name,
                         int32_t dtype, const int64_t *shape, int32_t rank,
                         void *data) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationBind", invocation);
    KV_REQUIRE("kvInvocationBind", name);
    if (rank < 0 || rank > KV_MAX_RANK || (rank > 0 && !shape))
      return invalid("kvInvocationBind: ", name, ": rank ", rank,
                     rank < 0 || rank > KV_MAX_RANK
                         ? concat(", allowed: 0 to ", KV_MAX_RANK)
                         : ", and shape is null");
    return give(
        invocation->bind(name,
                         makeView(data, static_cast<DType>(dtype),
                                  std::span(shape, static_cast<size_t>(rank))),
                         /*onHost=*/true, nullptr));
  });
}

template <class Managed>
static int32_t bindManaged(KvInvocation &invocation, const char *name,
                           Managed *tensor, bool owned) {
  // Set once it is bound: a failure leaves the tensor to the caller.
  auto taken = std::make_shared<bool>(false);
  std::shared_ptr<void> owner(tensor, [taken](void *given) {
    auto *own = static_cast<Managed *>(given);
    if (*taken && own->deleter)
      own->deleter(own);
  });
  Expected<void> bound =
      invocation.bindImported(name, tensor->dl_tensor, std::move(owner));
  *taken = owned && bound;
  return give(bound);
}

int32_t kvInvocationBindDLPack(KvInvocation *invocation, const char *name,
                               DLManagedTensor *tensor, int32_t owned) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationBindDLPack", invocation);
    KV_REQUIRE("kvInvocationBindDLPack", name);
    KV_REQUIRE("kvInvocationBindDLPack", tensor);
    return bindManaged(*invocation, name, tensor, owned != 0);
  });
}

int32_t kvInvocationBindDLPackVersioned(KvInvocation *invocation,
                                        const char *name,
                                        DLManagedTensorVersioned *tensor,
                                        int32_t owned) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationBindDLPackVersioned", invocation);
    KV_REQUIRE("kvInvocationBindDLPackVersioned", name);
    KV_REQUIRE("kvInvocationBindDLPackVersioned", tensor);
    if (tensor->version.major != 1)
      return invalid("kvInvocationBindDLPackVersioned: ", name,
                     ": a tensor of DLPack ", tensor->version.major, ".",
                     tensor->version.minor, ", allowed: 1.x");
    Expected<int> slot = invocation->invocation.slot(name);
    if (!slot)
      return fail(slot.error());
    constexpr uint64_t ReadOnly = 1;
    ArgumentKind kind = invocation->slots[*slot].argument->kind;
    if ((tensor->flags & ReadOnly) &&
        (kind == ArgumentKind::Output || kind == ArgumentKind::Blocks ||
         kind == ArgumentKind::Scales))
      return give(Expected<void>(
          refuse(invocation->invocation.entry(), name,
                 "the tensor is read-only, and the entry writes to it")));
    return bindManaged(*invocation, name, tensor, owned != 0);
  });
}

//===----------------------------------------------------------------------===//
// A manager's inputs
//===----------------------------------------------------------------------===//

Expected<void> KvInvocation::setManager(const KvManager &given, int32_t index) {
  const Entry &entry = invocation.entry();
  std::span<const Device> devices = given->devices();
  if (index < 0 || static_cast<size_t>(index) >= devices.size())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "kvInvocationSetManager: "
                     "device ",
                     index, ", allowed: 0 to ", devices.size() - 1);
  const Device &place = devices[index], &own = model.device();
  // CPU devices share one memory.
  if (place.kind != own.kind ||
      (place.kind != Device::Kind::CPU && place.index != own.index))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "kvInvocationSetManager: the "
                     "manager's device ",
                     index, " is ", place.str(), ", the session runs on ",
                     own.str());
  constexpr ArgumentKind Kinds[] = {
      ArgumentKind::Blocks, ArgumentKind::CacheLengths,
      ArgumentKind::LookupTable, ArgumentKind::MaxLengths,
      ArgumentKind::Scales};
  decltype(caches) found;
  for (const KVCacheParams &one : given->params().params) {
    if (Expected<void> fits = one.validate(entry); !fits)
      return fits;
    std::ranges::transform(Kinds, found.emplace_back().begin(), [&](auto kind) {
      const Argument *argument = entry.findInput(kind, one.name);
      return argument ? static_cast<int>(argument - entry.inputs.data()) : -1;
    });
  }
  if (Expected<void> done = wait(); !done)
    return done;
  manager = given;
  managerDevice = index;
  caches = std::move(found);
  return {};
}

Expected<void> KvInvocation::bindCaches() {
  if (!manager)
    return {};
  auto inputs = latestInputs(*manager, managerDevice);
  if (!inputs)
    return std::unexpected(inputs.error());
  for (size_t i = 0; i < caches.size(); ++i) {
    const RaggedKVCacheInputs &one = (*inputs)[i];
    const KvTensorView *views[] = {&one.blocks, &one.cacheLengths,
                                   &one.lookupTable, &one.maxLengths,
                                   &one.scales};
    for (size_t component = 0; component < std::size(views); ++component)
      if (int slot = caches[i][component]; slot >= 0) {
        if (Expected<void> done =
                put(slot, *views[component], /*onHost=*/false, nullptr);
            !done)
          return done;
        slots[slot].given = true;
      }
  }
  return {};
}

int32_t kvInvocationSetManager(KvInvocation *invocation,
                               const KvManager *manager, int32_t index) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationSetManager", invocation);
    KV_REQUIRE("kvInvocationSetManager", manager);
    return give(invocation->setManager(*manager, index));
  });
}
