//===- Figures.cpp - What managers tell of reservations and of themselves -===//

#include "Common.h"

#include <algorithm>

using namespace kv::python;

static constexpr int64_t KvMetrics::*Counts[] = {
    &KvMetrics::inputTokens,      &KvMetrics::cachedTokens,
    &KvMetrics::evictedPages,     &KvMetrics::refusals,
    &KvMetrics::peakUsedPages,    &KvMetrics::loadedPages,
    &KvMetrics::storedPages,      &KvMetrics::diskPagesRead,
    &KvMetrics::diskPagesWritten, &KvMetrics::storePagesRead,
    &KvMetrics::storePagesWritten};

static void setRates(KvMetrics &own) {
  own.promptTokens = own.inputTokens + own.cachedTokens;
  own.cacheHitRate = own.promptTokens == 0
                         ? 0
                         : static_cast<double>(own.cachedTokens) /
                               static_cast<double>(own.promptTokens);
}

static void makeMetrics(KvMetrics *own, int64_t inputTokens,
                        int64_t cachedTokens, int64_t loaded, int64_t stored,
                        int64_t diskWritten, int64_t diskRead, int64_t evicted,
                        int64_t refusals, int64_t peak, int64_t storeWritten,
                        int64_t storeRead) {
  new (own) KvMetrics{.inputTokens = inputTokens,
                      .cachedTokens = cachedTokens,
                      .evictedPages = evicted,
                      .refusals = refusals,
                      .peakUsedPages = peak,
                      .promptTokens = 0,
                      .cacheHitRate = 0,
                      .loadedPages = loaded,
                      .storedPages = stored,
                      .diskPagesRead = diskRead,
                      .diskPagesWritten = diskWritten,
                      .storePagesRead = storeRead,
                      .storePagesWritten = storeWritten};
  setRates(*own);
}

static KvMetrics addMetrics(const KvMetrics &one, const KvMetrics &other) {
  KvMetrics sum = one;
  for (auto member : Counts)
    sum.*member += other.*member;
  setRates(sum);
  return sum;
}

static void bindAllocations(nb::module_ &module) {
  nb::class_<KvAllocation>(module, "Allocation", "What a reservation took.")
      .def_ro(
          "cached_tokens", &KvAllocation::cachedTokens,
          "Tokens of the prefix that was found, which need not be computed.")
      .def_ro("new_pages", &KvAllocation::newPages,
              "Pages that were reserved, without those that were found.")
      .def("__repr__", [](const KvAllocation &own) {
        return nb::str("Allocation(cached_tokens={}, new_pages={})")
            .format(own.cachedTokens, own.newPages);
      });
  nb::class_<KvAllocationPlan>(module, "AllocationPlan",
                               "What a reservation would take.")
      .def_ro("cached_tokens", &KvAllocationPlan::cachedTokens,
              "Tokens of the prefix that would be found.")
      .def_ro("pages", &KvAllocationPlan::pages,
              "Pages that would have to be free.")
      .def_prop_ro(
          "fits", [](const KvAllocationPlan &own) { return own.fits != 0; },
          "Whether alloc() would succeed now.");
}

static void bindMetrics(nb::module_ &module) {
  nb::class_<KvMetrics>(module, "KVCacheMetrics",
                        "What a manager has counted since it was made, or "
                        "since reset_metrics().")
      .def("__init__", &makeMetrics, nb::arg("input_tokens") = 0,
           nb::arg("cache_tokens") = 0, nb::arg("h2d_blocks_copied") = 0,
           nb::arg("d2h_blocks_copied") = 0, nb::arg("disk_blocks_written") = 0,
           nb::arg("disk_blocks_read") = 0, nb::kw_only(),
           nb::arg("evicted_pages") = 0, nb::arg("refusals") = 0,
           nb::arg("peak_used_pages") = 0, nb::arg("store_blocks_written") = 0,
           nb::arg("store_blocks_read") = 0,
           "Figures of the caller's own, to add to others.")
      .def("__add__", &addMetrics, nb::arg("other"), nb::is_operator(),
           "Figures of both. Peaks are added as well.")
      .def_ro("input_tokens", &KvMetrics::inputTokens,
              "Active tokens of successful reservations.")
      .def_ro("cached_tokens", &KvMetrics::cachedTokens,
              "Tokens that the prefix cache saved.")
      .def_ro("cache_tokens", &KvMetrics::cachedTokens, "As cached_tokens.")
      .def_ro("prompt_tokens", &KvMetrics::promptTokens,
              "input_tokens + cached_tokens.")
      .def_ro("cache_hit_rate", &KvMetrics::cacheHitRate,
              "cached_tokens / prompt_tokens, 0.0 to 1.0.")
      .def_ro("evicted_pages", &KvMetrics::evictedPages,
              "Cached pages that gave way to others.")
      .def_ro("refusals", &KvMetrics::refusals,
              "Reservations that did not fit.")
      .def_ro("peak_used_pages", &KvMetrics::peakUsedPages,
              "The most pages held at a time; the sum of the replicas' peaks.")
      .def_ro("loaded_pages", &KvMetrics::loadedPages,
              "Copied from host memory to the devices.")
      .def_ro("stored_pages", &KvMetrics::storedPages,
              "Copied from the devices to host memory.")
      .def_ro("h2d_blocks_copied", &KvMetrics::loadedPages, "As loaded_pages.")
      .def_ro("d2h_blocks_copied", &KvMetrics::storedPages, "As stored_pages.")
      .def_ro("disk_blocks_read", &KvMetrics::diskPagesRead,
              "Records read from a disk.")
      .def_ro("disk_blocks_written", &KvMetrics::diskPagesWritten,
              "Records written to a disk.")
      .def_ro("store_blocks_read", &KvMetrics::storePagesRead,
              "Records read from a store.")
      .def_ro("store_blocks_written", &KvMetrics::storePagesWritten,
              "Records written to a store.")
      .def("__eq__",
           [](const KvMetrics &a, nb::handle other) {
             if (!nb::isinstance<KvMetrics>(other))
               return false;
             const KvMetrics &b = nb::cast<const KvMetrics &>(other);
             return std::ranges::all_of(
                 Counts, [&](auto count) { return a.*count == b.*count; });
           })
      .def("__repr__", [](const KvMetrics &own) {
        return nb::str("KVCacheMetrics(input_tokens={}, cached_tokens={}, "
                       "evicted_pages={}, refusals={}, peak_used_pages={})")
            .format(own.inputTokens, own.cachedTokens, own.evictedPages,
                    own.refusals, own.peakUsedPages);
      });
}

void kv::python::bindFigures(nb::module_ &module) {
  bindAllocations(module);
  bindMetrics(module);
}
