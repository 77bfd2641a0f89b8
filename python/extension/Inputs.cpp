//===- Inputs.cpp - The cache arguments of a step -------------------------===//

#include "Buffers.h"
#include "Managers.h"

using namespace kv::python;

static const KvManager *managerOf(const RuntimeInputs &own) {
  const Manager &manager = nb::cast<const Manager &>(own.manager);
  if (manager.generation != own.generation)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          "these inputs are of an earlier step: the manager has written later "
          "ones to their memory");
  return manager.handle;
}

/// None where the collection has no such component.
template <int32_t Component>
static nb::object component(const RuntimeInputs &own) {
  const KvManager *manager = managerOf(own);
  auto view = get<KvTensorView>([&](auto *out) {
    return kvManagerGetInput(manager, own.device, own.collection, Component,
                             out);
  });
  if (view.rank == 0)
    return nb::none();
  auto *tensor = get<DLManagedTensor *>([&](auto *out) {
    return kvManagerGetInputDLPack(manager, own.device, own.collection,
                                   Component, out);
  });
  return nb::cast(Buffer::take(tensor, view.dtype));
}

static bool isCacheEmpty(const RuntimeInputs &own) {
  const KvManager *manager = managerOf(own);
  return get<int32_t>([&](auto *out) {
           return kvManagerIsCacheEmpty(manager, own.device, out);
         }) != 0;
}

void kv::python::bindInputs(nb::module_ &module) {
  constexpr auto &blocks = component<KV_COMPONENT_BLOCKS>;
  nb::class_<RuntimeInputs>(
      module, "RaggedKVCacheInputs",
      "The cache arguments of one collection on one device for one step, in "
      "the manager's memory.\n\nA sequence of four or, with scales, five "
      "buffers: blocks, cache_lengths, lookup_table,\nmax_lengths, kv_scales.")
      .def_prop_ro("blocks", blocks, nb::sig("def blocks(self) -> Buffer"),
                   "[pages, planes, layers, page, heads, dim], in the order of "
                   "the layout.")
      .def_prop_ro("kv_blocks", blocks,
                   nb::sig("def kv_blocks(self) -> Buffer"), "As blocks.")
      .def_prop_ro("cache_lengths", component<KV_COMPONENT_CACHE_LENGTHS>,
                   nb::sig("def cache_lengths(self) -> Buffer"),
                   "int32 [B]: tokens in the cache before the step.")
      .def_prop_ro("lookup_table", component<KV_COMPONENT_LOOKUP_TABLE>,
                   nb::sig("def lookup_table(self) -> Buffer"),
                   "int32 [B, pitch]: page ids, 0 where there is none; "
                   "continuous: int32 [B], slots.")
      .def_prop_ro("max_lengths", component<KV_COMPONENT_MAX_LENGTHS>,
                   nb::sig("def max_lengths(self) -> Buffer"),
                   "int32 [steps, 2], on the host: the most new tokens of a "
                   "sequence, and the most tokens of\none with them.")
      .def_prop_ro("kv_scales", component<KV_COMPONENT_SCALES>,
                   nb::sig("def kv_scales(self) -> Buffer | None"),
                   "The scales of quantised blocks, or None.")
      .def_prop_ro("is_cache_empty", &isCacheEmpty,
                   "Whether no sequence has tokens in the cache.")
      .def_ro("device_index", &RuntimeInputs::device,
              "replica * devices of a replica + shard")
      .def_ro("collection", &RuntimeInputs::collection)
      .def("__len__",
           [](const RuntimeInputs &own) {
             return component<KV_COMPONENT_SCALES>(own).is_none() ? 4 : 5;
           })
      .def("__getitem__", [](const RuntimeInputs &own, int64_t index) {
        int64_t count = component<KV_COMPONENT_SCALES>(own).is_none() ? 4 : 5;
        if (index < 0)
          index += count;
        if (index < 0 || index >= count)
          throw nb::index_error();
        constexpr nb::object (*Components[])(const RuntimeInputs &) = {
            component<KV_COMPONENT_BLOCKS>,
            component<KV_COMPONENT_CACHE_LENGTHS>,
            component<KV_COMPONENT_LOOKUP_TABLE>,
            component<KV_COMPONENT_MAX_LENGTHS>,
            component<KV_COMPONENT_SCALES>};
        return Components[index](own);
      });
}
