//===- Specs.cpp - Specs of caches, and sizes that follow from them -------===//

#include "Specs.h"

#include <algorithm>

using namespace kv::python;

/// A setter of a field of a number type.
#define FIELD(member)                                                          \
  {#member, [](auto &target, nb::handle value, const char *keyword) {          \
     target.member = castTo<decltype(target.member)>(value, keyword);          \
   }}

Spec::Spec(const nb::list &given, const nb::kwargs &fields) {
  for (nb::handle one : given) {
    KvCollectionSpec &collection = collections.emplace_back();
    nb::kwargs own;
    for (auto [key, value] : nb::borrow<nb::dict>(one)) {
      if (std::string_view(nb::borrow<nb::str>(key).c_str()) == "name")
        names.push_back(castTo<std::string>(value, "name"));
      else
        own[key] = value;
    }
    if (names.size() == collections.size())
      collection.name = names.back().c_str();
    setFields<KvCollectionSpec>(
        collection, own, "a collection",
        {FIELD(strategy), FIELD(dtype), FIELD(layers), FIELD(heads), FIELD(dim),
         FIELD(page), FIELD(vDim), FIELD(layout), FIELD(scaleDType),
         FIELD(scaleGroup), FIELD(window), FIELD(pageLayers)});
  }
  setFields<KvCacheSpec>(spec, fields, "a spec",
                         {FIELD(enablePrefixCaching), FIELD(numDevices),
                          FIELD(dataParallelDegree), FIELD(speculativeMethod),
                          FIELD(numDraftTokens), FIELD(connector),
                          FIELD(hostSwapSpaceGB)});
  spec.collections = collections.data();
  spec.numCollections = static_cast<int32_t>(collections.size());
}

static nb::tuple shapeOf(const int64_t (&shape)[6]) {
  return nb::make_tuple(shape[0], shape[1], shape[2], shape[3], shape[4],
                        shape[5]);
}

static nb::list listOf(KvSymbolicInputs *given) {
  std::unique_ptr<KvSymbolicInputs, decltype(&kvSymbolicInputsDestroy)> list(
      given, &kvSymbolicInputsDestroy);
  nb::list devices;
  for (int32_t d = 0; d < kvSymbolicInputsNumDevices(given); ++d) {
    nb::list inputs;
    auto count = get<int32_t>(
        [&](auto *out) { return kvSymbolicInputsCount(given, d, out); });
    for (int32_t i = 0; i < count; ++i)
      inputs.append(argumentOf(get<KvArgument>(
          [&](auto *out) { return kvSymbolicInputsGet(given, d, i, out); })));
    devices.append(inputs);
  }
  return devices;
}

nb::list kv::python::symbolicInputsOf(const KvManager *manager, int32_t devices,
                                      int64_t layers) {
  return listOf(get<KvSymbolicInputs *>([&](auto *out) {
    return kvManagerSymbolicInputs(manager, devices, layers, out);
  }));
}

/// What `Get` says of a spec with these numbers.
template <auto Get, typename... Given>
static int64_t ask(const Spec &own, Given... given) {
  return get<int64_t>([&](auto *out) { return Get(&own.spec, given..., out); });
}

/// The same of steps of a limited size.
template <auto Get, typename... Given>
static int64_t limited(const Spec &own, Given... given, int32_t steps,
                       int64_t chunk) {
  KvStepLimits limits = {steps, chunk};
  return ask<Get>(own, given..., &limits);
}

template <auto Get> static int64_t unlimited(const Spec &own, int64_t given) {
  return ask<Get>(own, given, nullptr);
}

static void defineShapes(nb::class_<Spec> &spec) {
  spec.def(nb::init<const nb::list &, const nb::kwargs &>(),
           nb::arg("collections"), nb::arg("fields"),
           nb::sig(
               "def __init__(self, collections: list[dict[str, typing.Any]], "
               "**fields: typing.Any) -> None"))
      .def("page_size", &ask<kvPageSize>)
      .def("bytes_per_page", &ask<kvBytesPerPage>)
      .def("bytes_per_block", &ask<kvBytesPerBlock>)
      .def("bytes_per_record", &ask<kvBytesPerRecord>)
      .def("tensor_parallel_degree", &ask<kvTensorParallelDegree>)
      .def("draft_slots", &ask<kvDraftSlots>)
      .def("replicates_kv_across_tp",
           [](const Spec &own) {
             return get<int32_t>([&](auto *out) {
                      return kvReplicatesKVAcrossTP(&own.spec, out);
                    }) != 0;
           })
      .def(
          "block_shape",
          [](const Spec &own, int32_t index, int64_t count) {
            int64_t shape[6];
            check(kvBlockShape(&own.spec, index, count, shape));
            return shapeOf(shape);
          },
          nb::arg("index"), nb::arg("count"))
      .def(
          "scale_shape",
          [](const Spec &own, int32_t index, int64_t count) {
            int64_t shape[6];
            check(kvScaleShape(&own.spec, index, count, shape));
            return shapeOf(shape);
          },
          nb::arg("index"), nb::arg("count"))
      .def(
          "symbolic_inputs",
          [](const Spec &own, const std::string &prefix, int64_t layers) {
            return listOf(get<KvSymbolicInputs *>([&](auto *out) {
              return kvSymbolicInputs(&own.spec, prefix.c_str(), layers, out);
            }));
          },
          nb::arg("prefix"), nb::arg("layers") = 0);
}

static void defineEstimates(nb::class_<Spec> &spec) {
  spec.def("paged_host_pages",
           &ask<kvPagedHostPages, int64_t, int64_t, int64_t>,
           nb::arg("max_batch_size"), nb::arg("pages"), nb::arg("most_bytes"))
      .def("paged_num_blocks",
           &limited<kvPagedNumBlocks, int64_t, int64_t, int64_t>,
           nb::arg("max_batch_size"), nb::arg("max_seq_len"),
           nb::arg("available_cache_memory"), nb::arg("max_steps") = 0,
           nb::arg("max_chunk_tokens") = 0)
      .def("paged_estimated_memory_size",
           &limited<kvPagedEstimatedMemorySize, int64_t, int64_t, int64_t>,
           nb::arg("max_batch_size"), nb::arg("max_seq_len"),
           nb::arg("available_cache_memory"), nb::arg("max_steps") = 0,
           nb::arg("max_chunk_tokens") = 0)
      .def("paged_infer_optimal_batch_size",
           &ask<kvPagedInferOptimalBatchSize, int64_t, int64_t>,
           nb::arg("max_seq_len"), nb::arg("available_cache_memory"))
      .def("paged_max_supported_sequence_length",
           &limited<kvPagedMaxSupportedSequenceLength, int64_t>,
           nb::arg("memory_available"), nb::arg("max_steps") = 0,
           nb::arg("max_chunk_tokens") = 0)
      .def("continuous_estimated_memory_size",
           &unlimited<kvContinuousEstimatedMemorySize>,
           nb::arg("max_batch_size"))
      .def("continuous_infer_optimal_batch_size",
           &unlimited<kvContinuousInferOptimalBatchSize>,
           nb::arg("available_cache_memory"))
      .def("null_estimated_memory_size",
           &ask<kvNullEstimatedMemorySize, int64_t, int64_t, int64_t>,
           nb::arg("max_batch_size"), nb::arg("max_seq_len"),
           nb::arg("available_cache_memory"))
      .def("null_infer_optimal_batch_size",
           &ask<kvNullInferOptimalBatchSize, int64_t, int64_t>,
           nb::arg("max_seq_len"), nb::arg("available_cache_memory"));
}

void kv::python::bindSpecs(nb::module_ &module) {
  nb::class_<Spec> spec(module, "Spec",
                        "What caches are, as the C interface takes it: "
                        "kvmlir.KVCacheParams makes it.");
  defineShapes(spec);
  defineEstimates(spec);
  module.def(
      "shard_heads",
      [](int64_t heads, int64_t degree, bool replicate) {
        return get<int64_t>([&](auto *out) {
          return kvShardHeads(heads, degree, replicate, out);
        });
      },
      nb::arg("heads"), nb::arg("degree"), nb::arg("replicate") = false,
      "KV heads of one of `degree` devices.");
}
