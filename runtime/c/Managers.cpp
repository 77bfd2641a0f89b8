//===- Managers.cpp - Cache managers in C ---------------------------------===//

#include "Handles.h"

#include "kv/Runtime/Engine/CommandLog.h"

using namespace kv;
using namespace kv::capi;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

namespace {

/// Passes the commands of one replica on, a line each.
class CommandListener : public CommandSink {
public:
  CommandListener(const KvManagerOptions &options, int32_t replica)
      : function(options.command), context(options.commandContext),
        replica(replica) {}

  void command(const Command &command) override {
    writer.clear();
    writer.command(command);
    std::string line = writer.text();
    line.pop_back(); // the end of the line
    function(context, replica, line.c_str());
  }

private:
  void (*function)(void *, int32_t, const char *);
  void *context;
  int32_t replica;
  CommandWriter writer;
};

} // namespace

/// Errors: an option without the one that it needs, a number or a device that
/// is none. Ranges are the manager's business.
static Expected<ManagerSetup> readOptions(const KvManagerOptions &options) {
  struct : KvManagerOptions {
    bool nothing = true;
  } given = {options};
  ManagerSetup setup;
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "kvManagerCreate: ", parts...);
  };
  // An empty text asks for nothing.
#define DROP_TEXT(name, ...)                                                   \
  if (given.name && !*given.name)                                              \
    given.name = nullptr;
#define DROP_NUMBER(...)
#define DROP_COUNT(...)
#define DROP_SWITCH(...)
#define DROP_CHOICE(...)
#define DROP_OTHER(...)
#define KV_OPTION(kind, ...) DROP_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
#define READ(name, place, needed, value)                                       \
  if (given.name) {                                                            \
    if (!given.needed)                                                         \
      return refuse(#name " is given, and no " #needed);                       \
    setup.place = decltype(setup.place)(value);                                \
  }
#define READ_NUMBER(name, type, place, ...)                                    \
  READ(name, place, nothing, given.name)
#define READ_COUNT READ_NUMBER
#define READ_SWITCH(name, place, flag, needed, sentence)                       \
  READ(name, place, needed, 1)
#define READ_TEXT(name, place, flag, needed, sentence)                         \
  READ(name, place, needed, given.name)
#define READ_CHOICE(name, place, first, second, flag, needed, sentence)        \
  if (given.name < 0 || given.name > 2)                                        \
    return refuse(#name " is ", given.name,                                    \
                  ", allowed: 0 (none), 1 (" first "), 2 (" second ")");       \
  READ(name, place, needed, given.name)
#define READ_OTHER(...)
#define KV_OPTION(kind, ...) READ_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
  if (given.numDevices < 0 || (given.numDevices > 0 && !given.devices))
    return refuse(given.numDevices, " devices",
                  given.numDevices < 0 ? ", allowed: 0 or more" : " at null");
  for (int32_t i = 0; given.devices && i < given.numDevices; ++i) {
    if (!given.devices[i])
      return makeError(KV_STATUS_INVALID_ARGUMENT, "device ", i, " is null");
    Expected<Device> device = Device::parse(given.devices[i]);
    if (!device)
      return std::unexpected(device.error());
    setup.devices.push_back(*device);
  }
  if (given.warn)
    setup.warn = listener(given.warn, given.warnContext);
  return setup;
}

int32_t kvManagerCreate(const KvCacheSpec *spec,
                        const KvManagerOptions *options, KvManager **manager) {
  return guarded([&] {
    KV_REQUIRE("kvManagerCreate", options);
    KV_REQUIRE("kvManagerCreate", manager);
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    Expected<ManagerSetup> read = readOptions(*options);
    if (!read)
      return fail(read.error());
    auto state = std::make_shared<KvManager::State>();
    int64_t replicas = options->command ? params->dataParallelDegree() : 0;
    for (int32_t replica = 0; replica < replicas; ++replica)
      state->logs.push_back(
          std::make_unique<CommandListener>(*options, replica));
    if (Expected<void> opened = state->open(
            *params, std::move(*read),
            options->note ? listener(options->note, options->noteContext)
                          : nullptr);
        !opened)
      return fail(opened.error());
    for (const Device &device : state->manager->devices())
      state->devices.push_back(device.str());
    *manager = new KvManager{std::move(state)};
    return int32_t(KV_STATUS_OK);
  });
}

void kvManagerDestroy(KvManager *manager) { delete manager; }

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

int32_t kvManagerClaim(KvManager *manager, uint64_t id, int32_t replica) {
  return guarded([&] {
    KV_REQUIRE("kvManagerClaim", manager);
    return give((*manager)->claim(id, replica < 0 ? std::nullopt
                                                  : std::optional(replica)));
  });
}

int32_t kvManagerContains(const KvManager *manager, uint64_t id,
                          int32_t *contains) {
  return guarded([&] {
    KV_REQUIRE("kvManagerContains", manager);
    KV_REQUIRE("kvManagerContains", contains);
    *contains = (*manager)->contains(id);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerRelease(KvManager *manager, uint64_t id) {
  return guarded([&] {
    KV_REQUIRE("kvManagerRelease", manager);
    return give((*manager)->release(id));
  });
}

int32_t kvManagerGetReplica(const KvManager *manager, uint64_t id,
                            int32_t *replica) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetReplica", manager);
    KV_REQUIRE("kvManagerGetReplica", replica);
    return give((*manager)->getReplica(id), replica);
  });
}

int32_t kvManagerGetOrRecommendReplica(const KvManager *manager,
                                       const KvRequest *request,
                                       int32_t *replica) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetOrRecommendReplica", manager);
    KV_REQUIRE("kvManagerGetOrRecommendReplica", request);
    KV_REQUIRE("kvManagerGetOrRecommendReplica", replica);
    *replica = (*manager)->getOrRecommendReplica(request->context);
    return int32_t(KV_STATUS_OK);
  });
}

/// Calls fn(batch); refuses null pointers.
template <class Fn>
static int32_t withBatch(const char *function, const KvManager *manager,
                         const KvRequest *const *batch, int64_t count,
                         Fn &&fn) {
  return guarded([&] {
    KV_REQUIRE(function, manager);
    if (count < 0 || (count > 0 && !batch))
      return invalid(function, ": a batch of ", count,
                     count < 0 ? ", allowed: 0 or more" : " at null");
    auto &contexts = manager->state->batch;
    contexts.clear();
    for (int64_t i = 0; i < count; ++i) {
      if (!batch[i])
        return invalid(function, ": request ", i, " of the batch is null");
      contexts.push_back(&batch[i]->context);
    }
    return fn(ContextBatch(contexts));
  });
}

int32_t kvManagerGetDataParallelSplits(const KvManager *manager,
                                       const KvRequest *const *batch,
                                       int64_t count, int64_t *splits) {
  return withBatch("kvManagerGetDataParallelSplits", manager, batch, count,
                   [&](ContextBatch contexts) {
                     KV_REQUIRE("kvManagerGetDataParallelSplits", splits);
                     auto made = (*manager)->getDataParallelSplits(contexts);
                     if (!made)
                       return fail(made.error());
                     std::ranges::copy(*made, splits);
                     return int32_t(KV_STATUS_OK);
                   });
}

int32_t kvManagerGetReqBlocks(const KvManager *manager, uint64_t id,
                              const int32_t **pages, int64_t *count) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetReqBlocks", manager);
    KV_REQUIRE("kvManagerGetReqBlocks", pages);
    KV_REQUIRE("kvManagerGetReqBlocks", count);
    Expected<std::span<const int32_t>> held = (*manager)->getReqBlocks(id);
    if (!held)
      return fail(held.error());
    *pages = held->data();
    *count = static_cast<int64_t>(held->size());
    return int32_t(KV_STATUS_OK);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int32_t kvManagerAlloc(KvManager *manager, KvRequest *request, int32_t steps,
                       KvAllocation *allocation) {
  return guarded([&] {
    KV_REQUIRE("kvManagerAlloc", manager);
    KV_REQUIRE("kvManagerAlloc", request);
    KV_REQUIRE("kvManagerAlloc", allocation);
    auto made = (*manager)->alloc(request->context, steps);
    if (made) {
      request->reserved = request->context.length();
      *allocation = {made->cachedTokens, made->newPages, KV_REFUSAL_NONE};
      return int32_t(KV_STATUS_OK);
    }
    allocation->refusal =
        KV_REFUSAL_WAIT + static_cast<int32_t>(made.error().reason);
    return fail(made.error().error);
  });
}

int32_t kvManagerProbe(const KvManager *manager, const KvRequest *request,
                       int32_t steps, KvAllocationPlan *plan) {
  return guarded([&] {
    KV_REQUIRE("kvManagerProbe", manager);
    KV_REQUIRE("kvManagerProbe", request);
    KV_REQUIRE("kvManagerProbe", plan);
    Expected<AllocationPlan> made = (*manager)->probe(request->context, steps);
    if (!made)
      return fail(made.error());
    *plan = {made->cachedTokens, made->pages, made->fits};
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerRuntimeInputs(KvManager *manager,
                               const KvRequest *const *batch, int64_t count,
                               int32_t steps) {
  return withBatch("kvManagerRuntimeInputs", manager, batch, count,
                   [&](ContextBatch contexts) {
                     return give((*manager)->runtimeInputs(contexts, steps),
                                 &manager->state->inputs);
                   });
}

int32_t kvManagerIncrementCacheLengths(KvManager *manager,
                                       const int32_t *rowOffsets,
                                       int64_t count) {
  return guarded([&] {
    KV_REQUIRE("kvManagerIncrementCacheLengths", manager);
    if (count < 0 || (count > 0 && !rowOffsets))
      return invalid("kvManagerIncrementCacheLengths: ", count, " row offsets",
                     count < 0 ? ", allowed: 0 or more" : " at null");
    return give((*manager)->incrementCacheLengths(
        manager->state->inputs,
        std::span(rowOffsets, static_cast<size_t>(count))));
  });
}

int32_t kvManagerAcceptPath(KvManager *manager, KvRequest *request,
                            const int32_t *path, int64_t count) {
  return guarded([&] {
    KV_REQUIRE("kvManagerAcceptPath", manager);
    KV_REQUIRE("kvManagerAcceptPath", request);
    if (count < 0 || (count > 0 && !path))
      return invalid("kvManagerAcceptPath: ", count, " indices",
                     count < 0 ? ", allowed: 0 or more" : " at null");
    std::span<const int32_t> nodes(path, static_cast<size_t>(count));
    TextGenerationContext &context = request->context;
    if (Expected<void> done = (*manager)->acceptPath(context, nodes); !done)
      return fail(done.error());
    auto first = request->tokens.begin() + context.processed();
    for (int64_t depth = 0; depth < count; ++depth)
      first[depth] = first[nodes[depth]];
    int64_t active = context.active();
    request->tokens.erase(first + count, first + active);
    context.accept(count, request->tokens);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerStep(KvManager *manager, const KvRequest *const *batch,
                      int64_t count) {
  return withBatch(
      "kvManagerStep", manager, batch, count,
      [&](ContextBatch contexts) { return give((*manager)->step(contexts)); });
}
