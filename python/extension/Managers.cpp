//===- Managers.cpp - The calls of cache managers -------------------------===//

#include "Managers.h"
#include "Sessions.h"

#include <nanobind/ndarray.h>

using namespace kv::python;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// C takes a negative replica for no certain one.
static void checkReplica(int32_t replica, const char *name,
                         const char *others) {
  if (replica < 0)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          std::string(name) + " is " + std::to_string(replica) +
              ", allowed: " + others + "0 or more");
}

static void claim(Manager &own, nb::handle id, std::optional<int32_t> replica) {
  IdUse use(id);
  if (replica)
    checkReplica(*replica, "replica_idx", "None, or ");
  check(kvManagerClaim(own.handle, use.value(), replica.value_or(-1)));
  if (use.value() >= FirstNamedId) {
    uint64_t number = use.value();
    own.claims.emplace(number, std::move(use));
  }
}

static bool contains(const Manager &own, nb::handle id) {
  return get<int32_t>([&](auto *out) {
           return kvManagerContains(own.handle, findId(id), out);
         }) != 0;
}

static void release(Manager &own, nb::handle id) {
  uint64_t number = findId(id);
  check(kvManagerRelease(own.handle, number));
  if (number >= FirstNamedId)
    own.claims.erase(number);
}

static nb::list reqBlocks(const Manager &own, nb::handle id, int64_t first) {
  const int32_t *pages = nullptr;
  int64_t count = 0;
  check(kvManagerGetReqBlocks(own.handle, findId(id), &pages, &count));
  first = std::clamp<int64_t>(first, 0, count);
  nb::list result = nb::steal<nb::list>(PyList_New(count - first));
  for (int64_t i = first; i < count; ++i)
    PyList_SetItem(result.ptr(), i - first, PyLong_FromLong(pages[i]));
  return result;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static KvAllocation alloc(Manager &own, Context &context, int32_t steps) {
  KvAllocation allocation = {};
  int32_t status =
      kvManagerAlloc(own.handle, context.request, steps, &allocation);
  if (status != KV_STATUS_OK) [[unlikely]]
    raise(status, allocation.refusal);
  return allocation;
}

static bool maybeReserve(Manager &own, Context &context, int32_t steps) {
  KvAllocation allocation = {};
  int32_t status =
      kvManagerAlloc(own.handle, context.request, steps, &allocation);
  if (status == KV_STATUS_OK)
    return true;
  if (allocation.refusal == KV_REFUSAL_INVALID ||
      allocation.refusal == KV_REFUSAL_NONE)
    raise(status);
  return false;
}

static int64_t allocBatch(Manager &own, nb::handle contexts, int32_t steps) {
  int64_t cached = 0;
  for (KvRequest *request : own.batch.read(contexts)) {
    KvAllocation allocation = {};
    int32_t status = kvManagerAlloc(own.handle, request, steps, &allocation);
    if (status != KV_STATUS_OK) [[unlikely]]
      raise(status, allocation.refusal);
    cached += allocation.cachedTokens;
  }
  return cached;
}

static nb::list runtimeInputs(nb::handle self, nb::handle contexts,
                              int32_t steps) {
  Manager &own = nb::cast<Manager &>(self);
  const auto &requests = own.batch.read(contexts);
  check(kvManagerRuntimeInputs(own.handle, requests.data(),
                               static_cast<int64_t>(requests.size()), steps));
  ++own.generation;
  own.batchSize = static_cast<int32_t>(requests.size());
  nb::list result;
  int32_t devices = kvManagerNumDevices(own.handle);
  for (int32_t device = 0; device < devices; ++device)
    for (int32_t i = 0; i < own.collections; ++i)
      result.append(RuntimeInputs{nb::borrow(self), device, i, own.generation});
  return result;
}

static void increment(Manager &own, nb::handle offsets) {
  Tokens read(offsets);
  check(kvManagerIncrementCacheLengths(own.handle, read.data(), read.size()));
}

static void acceptPath(Manager &own, Context &context, nb::handle path) {
  Tokens read(path);
  check(kvManagerAcceptPath(own.handle, context.request, read.data(),
                            read.size()));
}

static void step(Manager &own, nb::handle contexts) {
  const auto &requests = own.batch.read(contexts);
  check(kvManagerStep(own.handle, requests.data(),
                      static_cast<int64_t>(requests.size())));
}

static nb::object splits(Manager &own, nb::handle contexts) {
  const auto &requests = own.batch.read(contexts);
  size_t count = kvManagerNumReplicas(own.handle) + 1;
  auto *values = new int64_t[count];
  nb::capsule owner(values, [](void *given) noexcept {
    delete[] static_cast<int64_t *>(given);
  });
  check(kvManagerGetDataParallelSplits(own.handle, requests.data(),
                                       static_cast<int64_t>(requests.size()),
                                       values));
  return nb::ndarray<int64_t, nb::numpy, nb::ndim<1>>(values, {count}, owner)
      .cast();
}

static std::vector<int32_t> explain(const Manager &own,
                                    const Context &context) {
  int64_t count = 0;
  check(kvManagerExplain(own.handle, context.request, nullptr, 0, &count));
  std::vector<int32_t> reasons(count);
  check(kvManagerExplain(own.handle, context.request, reasons.data(), count,
                         &count));
  return reasons;
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

using ManagerClass = nb::class_<Manager>;

static constexpr const char *Id = "request_id";

template <auto Get> static auto figure(const Manager &own) {
  return Get(own.handle);
}

template <auto Do> static void call(Manager &own) { check(Do(own.handle)); }

static void defineClaims(ManagerClass &manager) {
  manager
      .def(nb::init<const Spec &, const nb::kwargs &>(), nb::arg("spec"),
           nb::arg("options"),
           nb::sig("def __init__(self, spec: Spec, **options: typing.Any) -> "
                   "None"))
      .def("__init__", &makeManagerOf, nb::arg("model"), nb::arg("options"),
           nb::sig("def __init__(self, model: LoadedModel, **options: "
                   "typing.Any) -> None"))
      .def("claim", &claim, nb::arg(Id), nb::arg("replica_idx") = nb::none(),
           nb::sig("def claim(self, request_id: str | int, replica_idx: int | "
                   "None = None) -> None"),
           "Starts to track a request, on a replica. Raises ValueError: it is "
           "claimed already; there\nare several replicas and none is given.")
      .def("external_claim", &claim, nb::arg(Id),
           nb::arg("replica_idx") = nb::none(),
           nb::sig("def external_claim(self, request_id: str | int, "
                   "replica_idx: int | None = None) -> None"),
           "The older name of claim().")
      .def("contains", &contains, nb::arg(Id),
           nb::sig("def contains(self, request_id: str | int) -> bool"),
           "Whether the request is tracked.")
      .def("release", &release, nb::arg(Id),
           nb::sig("def release(self, request_id: str | int) -> None"),
           "Releases a request's pages and stops tracking it. Raises "
           "ValueError if it is not claimed.")
      .def("alloc", &alloc, nb::arg("data"), nb::arg("num_steps") = 1,
           "Takes over the longest cached prefix, and reserves pages for the "
           "active tokens and\nnum_steps - 1 more. Raises "
           "InsufficientBlocksError, having changed nothing.")
      .def("maybe_reserve", &maybeReserve, nb::arg("data"),
           nb::arg("num_steps") = 1,
           "alloc(), but False instead of InsufficientBlocksError.")
      .def("alloc_batch", &allocBatch, nb::arg("batch"),
           nb::arg("num_steps") = 1,
           nb::sig("def alloc_batch(self, batch: "
                   "typing.Sequence[TextGenerationContext], num_steps: int = "
                   "1) -> int"),
           "alloc() for each context in order; the cached tokens of all. Where "
           "one fails, those before\nit keep their pages.");
}

static void definePlans(ManagerClass &manager) {
  manager
      .def(
          "probe",
          [](const Manager &own, const Context &context, int32_t steps) {
            return get<KvAllocationPlan>([&](auto *out) {
              return kvManagerProbe(own.handle, context.request, steps, out);
            });
          },
          nb::arg("data"), nb::arg("num_steps") = 1,
          "What alloc() would take; changes nothing. The request need not be "
          "claimed.")
      .def("_explain_codes", &explain, nb::arg("data"));
}

static void defineSteps(ManagerClass &manager) {
  manager
      .def("get_runtime_inputs", &runtimeInputs, nb::arg("batch"),
           nb::arg("num_steps") = 1,
           nb::sig("def get_runtime_inputs(self, batch: "
                   "typing.Sequence[TextGenerationContext], num_steps: int = "
                   "1) -> list[RaggedKVCacheInputs]"),
           "The cache arguments of a step over the batch: one for each device "
           "and collection, replica\nby replica. The batch is in the order of "
           "its requests' replicas.")
      .def("fetch", &runtimeInputs, nb::arg("batch"), nb::arg("num_steps") = 1,
           nb::sig("def fetch(self, batch: "
                   "typing.Sequence[TextGenerationContext], num_steps: int = "
                   "1) -> list[RaggedKVCacheInputs]"),
           "The older name of get_runtime_inputs().")
      .def("_increment_offsets", &increment, nb::arg("row_offsets"),
           nb::sig("def _increment_offsets(self, row_offsets: typing.Any) -> "
                   "None"))
      .def("accept_path", &acceptPath, nb::arg("data"), nb::arg("path"),
           nb::sig("def accept_path(self, data: TextGenerationContext, "
                   "path: typing.Any) -> None"),
           "After a step whose active tokens were nodes of a tree of drafts: "
           "those at these indices, which ascend, are processed; the others "
           "are no longer the request's.")
      .def("step", &step, nb::arg("batch"),
           nb::sig("def step(self, batch: "
                   "typing.Sequence[TextGenerationContext]) -> None"),
           "Commits the newly full pages of requests that have advanced: equal "
           "prefixes find them.")
      .def("_splits", &splits, nb::arg("batch"),
           nb::sig("def _splits(self, batch: "
                   "typing.Sequence[TextGenerationContext]) -> "
                   "kvmlir.types.Array"));
}

static void defineRequests(ManagerClass &manager) {
  manager
      .def("get_req_blocks", &reqBlocks, nb::arg(Id), nb::arg("first") = 0,
           nb::sig("def get_req_blocks(self, request_id: str | int, first: int "
                   "= 0) -> list[int]"),
           "The request's page ids, in order, from the one with the index "
           "`first` on.")
      .def(
          "get_replica",
          [](const Manager &own, const Context &context) {
            return get<int32_t>([&](auto *out) {
              return kvManagerGetReplica(own.handle, context.use.value(), out);
            });
          },
          nb::arg("context"), "The replica on which the request is claimed.")
      .def(
          "get_or_recommend_replica",
          [](const Manager &own, const Context &context) {
            return get<int32_t>([&](auto *out) {
              return kvManagerGetOrRecommendReplica(own.handle, context.request,
                                                    out);
            });
          },
          nb::arg("context"),
          "The replica on which the request is claimed or, if it is not, the "
          "one that suits it best.")
      .def(
          "fork",
          [](Manager &own, nb::handle source, const Context &fork,
             int64_t tokens) {
            check(kvManagerFork(own.handle, findId(source), fork.use.value(),
                                tokens));
            if (PyUnicode_Check(fork.id.ptr()))
              own.claims.emplace(fork.use.value(), IdUse(fork.id));
          },
          nb::arg("source"), nb::arg("context"), nb::arg("tokens"),
          nb::sig("def fork(self, source: str | int, context: "
                  "TextGenerationContext, tokens: int) -> None"),
          "Claims the context's request with the first tokens of another one, "
          "whose pages it shares.")
      .def(
          "truncate",
          [](Manager &own, nb::handle id, int64_t tokens) {
            check(kvManagerTruncate(own.handle, findId(id), tokens));
          },
          nb::arg(Id), nb::arg("tokens"),
          nb::sig("def truncate(self, request_id: str | int, tokens: int) -> "
                  "None"),
          "Gives back the pages behind the first tokens.");
}

static void defineUpkeep(ManagerClass &manager) {
  manager
      .def(
          "prefetch",
          [](Manager &own, const Context &context) {
            return get<int64_t>([&](auto *out) {
              return kvManagerPrefetch(own.handle, context.request, out);
            });
          },
          nb::arg("data"),
          "Brings the prefix of a request that is not claimed from host memory "
          "and disk to the devices,\nand waits for it. The tokens of it that "
          "are there then.")
      .def(
          "wait_for_loads",
          [](Manager &own, double seconds) {
            return get<int32_t>([&](auto *out) {
                     return kvManagerWaitForLoads(
                         own.handle, static_cast<int64_t>(seconds * 1e9), out);
                   }) != 0;
          },
          nb::arg("seconds"),
          "Waits until a page that an alloc() waits for has come, but not "
          "longer. False: none has, or\nnone was on its way.")
      .def("synchronize", &call<kvManagerSynchronize>, "Waits for the devices.")
      .def(
          "set_time",
          [](Manager &own, int64_t nanoseconds) {
            check(kvManagerSetTime(own.handle, nanoseconds));
          },
          nb::arg("nanoseconds"),
          "Of any clock that never goes back: priorities whose duration is "
          "over end.")
      .def("check", &call<kvManagerCheck>,
           "Compares all bookkeeping; raises at the first contradiction.")
      .def("reset_metrics", &call<kvManagerResetMetrics>,
           "Counts from 0 again.")
      .def("reset_prefix_cache", &call<kvManagerResetPrefixCache>,
           "Forgets all cached prefixes; running requests keep their pages.")
      .def(
          "_symbolic_inputs",
          [](const Manager &own, int32_t devices, int64_t layers) {
            return symbolicInputsOf(own.handle, devices, layers);
          },
          nb::arg("devices") = 0, nb::arg("layers") = 0);
}

static void definePages(ManagerClass &manager) {
  manager
      .def(
          "blocks_for",
          [](const Manager &own, int64_t tokens) {
            return get<int64_t>([&](auto *out) {
              return kvManagerBlocksFor(own.handle, tokens, out);
            });
          },
          nb::arg("tokens"), "Most pages of a request of so many tokens.")
      .def(
          "num_free_blocks_of",
          [](const Manager &own, int32_t replica) {
            checkReplica(replica, "replica", "");
            return get<int64_t>([&](auto *out) {
              return kvManagerNumFreeBlocks(own.handle, replica, out);
            });
          },
          nb::arg("replica"),
          "Pages of one replica that no request holds, cached ones included.")
      .def_prop_ro(
          "num_free_blocks",
          [](const Manager &own) {
            return get<int64_t>([&](auto *out) {
              return kvManagerNumFreeBlocks(own.handle, -1, out);
            });
          },
          "Pages that no request holds, cached ones included.")
      .def_prop_ro("free_blocks_pct", &figure<kvManagerFreeBlocksPct>,
                   "num_free_blocks / total_num_pages: 0.0 to 1.0.")
      .def_prop_ro("used_blocks_pct", &figure<kvManagerUsedBlocksPct>,
                   "Pages that requests hold, as a fraction: 0.0 to 1.0.")
      .def_prop_ro("total_num_pages", &figure<kvManagerTotalNumPages>,
                   "Usable pages of all replicas.")
      .def_prop_ro("num_pages_per_replica",
                   &figure<kvManagerNumPagesPerReplica>,
                   "Usable pages of each replica.")
      .def_prop_ro("total_num_host_pages", &figure<kvManagerTotalNumHostPages>,
                   "Pages of host memory behind the devices' pages.")
      .def_prop_ro("host_committed_block_pct",
                   &figure<kvManagerHostCommittedBlockPct>,
                   "The fraction of them that has content: 0.0 to 1.0.")
      .def_prop_ro(
          "metrics_port", &figure<kvManagerMetricsPort>,
          "Of the option `metrics`, chosen where that says 0; 0 without it.")
      .def_prop_ro("num_replicas", &figure<kvManagerNumReplicas>);
}

static void defineFigures(ManagerClass &manager) {
  manager.def_prop_ro("max_seq_len", &figure<kvManagerMaxSeqLen>, "Tokens.")
      .def_prop_ro("payload_bytes_per_token",
                   &figure<kvManagerPayloadBytesPerToken>,
                   "Of TextGenerationContext.set_payload(): 8 for the token "
                   "and for each of cached_logprobs. 0: none\nare kept.")
      .def_prop_ro("pool_bytes", &figure<kvManagerPoolBytes>,
                   "Bytes on all devices.")
      .def_prop_ro("host_bytes", &figure<kvManagerHostBytes>,
                   "Bytes of host memory beside them.")
      .def_prop_ro(
          "device_names",
          [](const Manager &own) {
            std::vector<std::string> names;
            names.reserve(kvManagerNumDevices(own.handle));
            for (int32_t i = 0; i < kvManagerNumDevices(own.handle); ++i)
              names.emplace_back(get<const char *>([&](auto *out) {
                return kvManagerGetDevice(own.handle, i, out);
              }));
            return names;
          },
          "Replica by replica, shard by shard.")
      .def_prop_ro(
          "metrics",
          [](const Manager &own) {
            return get<KvMetrics>([&](auto *out) {
              return kvManagerGetMetrics(own.handle, out);
            });
          },
          "What was counted since the manager was made, or since "
          "reset_metrics().");
}

void kv::python::bindManagers(nb::module_ &module) {
  ManagerClass manager(module, "Manager",
                       "What all cache managers do: kvmlir.KVCacheManager.");
  defineClaims(manager);
  definePlans(manager);
  defineSteps(manager);
  defineRequests(manager);
  defineUpkeep(manager);
  definePages(manager);
  defineFigures(manager);
}
