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

void kv::python::bindSpecs(nb::module_ &module) {
  using Figure = int32_t (*)(const KvCacheSpec *, int64_t *);
  auto figure = [](Figure function) {
    return [function](const Spec &own) {
      return get<int64_t>([&](auto *out) { return function(&own.spec, out); });
    };
  };
  nb::class_<Spec>(module, "Spec",
                   "What caches are, as the C interface takes it: "
                   "kvmlir.KVCacheParams makes it.")
      .def(nb::init<const nb::list &, const nb::kwargs &>(),
           nb::arg("collections"), nb::arg("fields"),
           nb::sig(
               "def __init__(self, collections: list[dict[str, typing.Any]], "
               "**fields: typing.Any) -> None"))
      .def("page_size", figure(kvPageSize))
      .def("bytes_per_page", figure(kvBytesPerPage))
      .def("bytes_per_block", figure(kvBytesPerBlock))
      .def("bytes_per_record", figure(kvBytesPerRecord))
      .def("tensor_parallel_degree", figure(kvTensorParallelDegree))
      .def("draft_slots", figure(kvDraftSlots))
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
          nb::arg("prefix"), nb::arg("layers") = 0)
      .def(
          "paged_host_pages",
          [](const Spec &own, int64_t batch, int64_t pages, int64_t bytes) {
            return get<int64_t>([&](auto *out) {
              return kvPagedHostPages(&own.spec, batch, pages, bytes, out);
            });
          },
          nb::arg("max_batch_size"), nb::arg("pages"), nb::arg("most_bytes"))
      .def(
          "paged_num_blocks",
          [](const Spec &own, int64_t batch, int64_t seq, int64_t memory,
             int32_t steps, int64_t chunk) {
            KvStepLimits limits = {steps, chunk};
            return get<int64_t>([&](auto *out) {
              return kvPagedNumBlocks(&own.spec, batch, seq, memory, &limits,
                                      out);
            });
          },
          nb::arg("max_batch_size"), nb::arg("max_seq_len"),
          nb::arg("available_cache_memory"), nb::arg("max_steps") = 0,
          nb::arg("max_chunk_tokens") = 0)
      .def(
          "paged_estimated_memory_size",
          [](const Spec &own, int64_t batch, int64_t seq, int64_t memory,
             int32_t steps, int64_t chunk) {
            KvStepLimits limits = {steps, chunk};
            return get<int64_t>([&](auto *out) {
              return kvPagedEstimatedMemorySize(&own.spec, batch, seq, memory,
                                                &limits, out);
            });
          },
          nb::arg("max_batch_size"), nb::arg("max_seq_len"),
          nb::arg("available_cache_memory"), nb::arg("max_steps") = 0,
          nb::arg("max_chunk_tokens") = 0)
      .def(
          "paged_infer_optimal_batch_size",
          [](const Spec &own, int64_t seq, int64_t memory) {
            return get<int64_t>([&](auto *out) {
              return kvPagedInferOptimalBatchSize(&own.spec, seq, memory, out);
            });
          },
          nb::arg("max_seq_len"), nb::arg("available_cache_memory"))
      .def(
          "paged_max_supported_sequence_length",
          [](const Spec &own, int64_t memory, int32_t steps, int64_t chunk) {
            KvStepLimits limits = {steps, chunk};
            return get<int64_t>([&](auto *out) {
              return kvPagedMaxSupportedSequenceLength(&own.spec, memory,
                                                       &limits, out);
            });
          },
          nb::arg("memory_available"), nb::arg("max_steps") = 0,
          nb::arg("max_chunk_tokens") = 0)
      .def(
          "continuous_estimated_memory_size",
          [](const Spec &own, int64_t batch) {
            return get<int64_t>([&](auto *out) {
              return kvContinuousEstimatedMemorySize(&own.spec, batch, nullptr,
                                                     out);
            });
          },
          nb::arg("max_batch_size"))
      .def(
          "continuous_infer_optimal_batch_size",
          [](const Spec &own, int64_t memory) {
            return get<int64_t>([&](auto *out) {
              return kvContinuousInferOptimalBatchSize(&own.spec, memory,
                                                       nullptr, out);
            });
          },
          nb::arg("available_cache_memory"))
      .def(
          "null_estimated_memory_size",
          [](const Spec &own, int64_t batch, int64_t seq, int64_t memory) {
            return get<int64_t>([&](auto *out) {
              return kvNullEstimatedMemorySize(&own.spec, batch, seq, memory,
                                               out);
            });
          },
          nb::arg("max_batch_size"), nb::arg("max_seq_len"),
          nb::arg("available_cache_memory"))
      .def(
          "null_infer_optimal_batch_size",
          [](const Spec &own, int64_t seq, int64_t memory) {
            return get<int64_t>([&](auto *out) {
              return kvNullInferOptimalBatchSize(&own.spec, seq, memory, out);
            });
          },
          nb::arg("max_seq_len"), nb::arg("available_cache_memory"));

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
