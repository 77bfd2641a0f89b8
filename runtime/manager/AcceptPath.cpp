//===- AcceptPath.cpp - What is accepted of a tree of drafts --------------===//
//
// A step stores the nodes of a tree one after the other. Of those on the
// accepted path each moves to its depth. None moves back to front, so that in
// the order of the path no node is overwritten before it has moved.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"

using namespace kv;

static Expected<void> checkPath(const TextGenerationContext &context,
                                std::span<const int32_t> path) {
  int64_t last = -1;
  for (int32_t node : path) {
    if (node <= last || node >= context.active())
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                       ": the accepted path has the index ", node, " behind ",
                       last, ", allowed: ascending ones from 0 to ",
                       context.active() - 1);
    last = node;
  }
  if (path.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                     ": the accepted path is empty, allowed: 1 to ",
                     context.active(), " of its active tokens");
  return {};
}

Expected<void>
ReplicatedKVCacheManager::acceptPath(const TextGenerationContext &context,
                                     std::span<const int32_t> path) {
  const RequestPlace *place = requests.find(context.id());
  if (!place)
    return std::unexpected(unclaimed(context.id()));
  Extent extent;
  look(std::span(place, 1), &extent);
  int64_t cached = context.processed();
  if (cached != extent.held || cached + context.active() > extent.room)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                     ": its context has processed ", cached, " tokens and has ",
                     context.active(), " active ones, its cache holds ",
                     extent.held, " and has room for ", extent.room);
  if (common.layout.hasStates())
    return makeError(KV_STATUS_UNSUPPORTED, "request ", context.id(),
                     ": a state cannot go back to the accepted path");
  if (Expected<void> valid = checkPath(context, path); !valid)
    return valid;
  const PoolLayout &layout = common.layout;
  for (size_t i = 0; i < layout.collections.size(); ++i) {
    const KVCacheParams &params = common.params.params[i];
    const PoolLayout::Table &table = layout.tables[layout.collections[i].table];
    int64_t size = params.geometry.isPaged() ? params.pageSize() : maxSeqLen();
    for (int32_t band = 0; band < table.bands; ++band) {
      auto placeOf = [&](int64_t position) -> CacheMemory::TokenPlace {
        int64_t page = params.geometry.isPaged() ? position / size : 0;
        return {pageAt(*place, table.firstGroup + band, page),
                position - page * size};
      };
      for (size_t depth = 0; depth < path.size(); ++depth)
        if (path[depth] != static_cast<int32_t>(depth))
          memories[place->replica].copyToken(
              static_cast<int32_t>(i), placeOf(cached + path[depth]),
              placeOf(cached + static_cast<int64_t>(depth)));
    }
  }
  return checked();
}
