//===- ManagerEvents.cpp - Publishers for a paged manager -----------------===//

#include "kv/Runtime/Manager/ManagerEvents.h"

#include "kv/Runtime/Manager/PagedSizes.h"

using namespace kv;

Expected<std::vector<std::unique_ptr<EventPublisher>>>
kv::openEventPublishers(const MultiKVCacheParams &params,
                        const EventPublisher::Options &options) {
  // Its groups depend on the parameters alone.
  PagedSizes sizes(params, /*slots=*/1, /*maxSeqLen=*/1);
  std::vector<std::unique_ptr<EventPublisher>> publishers;
  for (int32_t replica = 0; replica < params.dataParallelDegree(); ++replica) {
    EventPublisher::Options own = options;
    own.endpoint = EventPublisher::endpointOf(options.endpoint, replica);
    own.replayEndpoint =
        EventPublisher::endpointOf(options.replayEndpoint, replica);
    own.rank = replica;
    own.pageSize = static_cast<int32_t>(params.pageSize());
    own.groups = CacheGroups(sizes.groups());
    own.recurrent = sizes.layout().hasStates();
    Expected<std::unique_ptr<EventPublisher>> opened =
        EventPublisher::open(own);
    if (!opened)
      return std::unexpected(opened.error());
    publishers.push_back(std::move(*opened));
  }
  return publishers;
}
