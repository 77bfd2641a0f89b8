//===- Figures.cpp - What managers tell of reservations and of themselves -===//

#include "Common.h"

using namespace kv::python;

void kv::python::bindFigures(nb::module_ &module) {
  nb::class_<KvAllocation>(module, "Allocation", "What a reservation took.")
      .def_ro(
          "cached_tokens", &KvAllocation::cachedTokens,
          "Tokens of the prefix that was found, which need not be computed.")
      .def_ro("new_pages", &KvAllocation::newPages)
      .def("__repr__", [](const KvAllocation &own) {
        return nb::str("Allocation(cached_tokens={}, new_pages={})")
            .format(own.cachedTokens, own.newPages);
      });
  nb::class_<KvAllocationPlan>(module, "AllocationPlan",
                               "What a reservation would take.")
      .def_ro("cached_tokens", &KvAllocationPlan::cachedTokens)
      .def_ro("pages", &KvAllocationPlan::pages,
              "Pages that would have to be free.")
      .def_prop_ro("fits",
                   [](const KvAllocationPlan &own) { return own.fits != 0; });
  nb::class_<KvMetrics>(module, "KVCacheMetrics",
                        "What a manager has counted since it was made, or "
                        "since reset_metrics().")
      .def_ro("input_tokens", &KvMetrics::inputTokens,
              "Active tokens of successful reservations.")
      .def_ro("cached_tokens", &KvMetrics::cachedTokens,
              "Tokens that the prefix cache saved.")
      .def_ro("cache_tokens", &KvMetrics::cachedTokens, "As cached_tokens.")
      .def_ro("prompt_tokens", &KvMetrics::promptTokens,
              "input_tokens + cached_tokens.")
      .def_ro("cache_hit_rate", &KvMetrics::cacheHitRate,
              "cached_tokens / prompt_tokens, 0.0 to 1.0.")
      .def_ro("evicted_pages", &KvMetrics::evictedPages)
      .def_ro("refusals", &KvMetrics::refusals,
              "Reservations that did not fit.")
      .def_ro("peak_used_pages", &KvMetrics::peakUsedPages)
      .def_ro("loaded_pages", &KvMetrics::loadedPages,
              "Copied from host memory to the devices.")
      .def_ro("stored_pages", &KvMetrics::storedPages,
              "Copied from the devices to host memory.")
      .def_ro("h2d_blocks_copied", &KvMetrics::loadedPages, "As loaded_pages.")
      .def_ro("d2h_blocks_copied", &KvMetrics::storedPages, "As stored_pages.")
      .def_ro("disk_blocks_read", &KvMetrics::diskPagesRead)
      .def_ro("disk_blocks_written", &KvMetrics::diskPagesWritten)
      .def_ro("store_blocks_read", &KvMetrics::storePagesRead)
      .def_ro("store_blocks_written", &KvMetrics::storePagesWritten)
      .def("__eq__",
           [](const KvMetrics &a, nb::handle other) {
             if (!nb::isinstance<KvMetrics>(other))
               return false;
             const KvMetrics &b = nb::cast<const KvMetrics &>(other);
             return a.inputTokens == b.inputTokens &&
                    a.cachedTokens == b.cachedTokens &&
                    a.evictedPages == b.evictedPages &&
                    a.refusals == b.refusals &&
                    a.peakUsedPages == b.peakUsedPages &&
                    a.loadedPages == b.loadedPages &&
                    a.storedPages == b.storedPages &&
                    a.diskPagesRead == b.diskPagesRead &&
                    a.diskPagesWritten == b.diskPagesWritten &&
                    a.storePagesRead == b.storePagesRead &&
                    a.storePagesWritten == b.storePagesWritten;
           })
      .def("__repr__", [](const KvMetrics &own) {
        return nb::str("KVCacheMetrics(input_tokens={}, cached_tokens={}, "
                       "evicted_pages={}, refusals={}, peak_used_pages={})")
            .format(own.inputTokens, own.cachedTokens, own.evictedPages,
                    own.refusals, own.peakUsedPages);
      });
}
