//===- PagedKVCacheManager.cpp - Pages for a batch of requests ------------===//

#include "kv/Runtime/PagedKVCacheManager.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

using namespace kv;

Expected<std::unique_ptr<PagedKVCacheManager>>
PagedKVCacheManager::create(const KVCacheParams &params,
                            const Options &options) {
  if (Expected<void> valid = params.validate(); !valid)
    return std::unexpected(valid.error());
  auto inRange = [](std::string_view name, int64_t value,
                    int64_t most) -> Expected<void> {
    if (value < 1 || value > most)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: ", name,
                       " is ", value, ", allowed: 1 to ", most);
    return {};
  };
  for (Expected<void> valid :
       {inRange("maxBatchSize", options.maxBatchSize, 1 << 20),
        inRange("maxSeqLen", options.maxSeqLen, INT32_MAX),
        // Tables hold i32, and one id is the null page's.
        inRange("numPages", options.numPages, INT32_MAX - 1),
        inRange("maxSteps", options.maxSteps, 1 << 20)})
    if (!valid)
      return std::unexpected(valid.error());
  if (__int128(options.numPages + 1) * params.bytesPerPage() > INT64_MAX)
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "cache manager: ", options.numPages, " pages of ",
                     params.bytesPerPage(),
                     " bytes are more than this machine can address");

  std::unique_ptr<PagedKVCacheManager> manager(
      new PagedKVCacheManager(params, options));
  Expected<std::unique_ptr<CacheEngine>> engine =
      CacheEngine::create({.numPages = static_cast<int32_t>(options.numPages),
                           .pageSize = static_cast<int32_t>(params.pageSize),
                           .maxSequences = options.maxBatchSize,
                           .maxTokens = options.maxSeqLen,
                           .prefixCaching = options.enablePrefixCaching,
                           .key = options.key});
  if (!engine)
    return std::unexpected(engine.error());
  manager->engine = std::move(*engine);
  auto create = [&](Buffer &buffer, DType dtype,
                    std::span<const int64_t> shape) -> Expected<void> {
    Expected<Buffer> made = Buffer::create(options.device, dtype, shape);
    if (!made)
      return std::unexpected(made.error());
    buffer = std::move(*made);
    return {};
  };
  int64_t batch = options.maxBatchSize;
  std::array<int64_t, 1> lengthsShape = {batch};
  std::array<int64_t, 2> tableShape = {batch, manager->pitch};
  std::array<int64_t, 2> maximaShape = {options.maxSteps, 2};
  // Buffers are zeroed when made, the null page with them.
  for (Expected<void> made :
       {create(manager->blocks, params.dtype,
               params.blockShape(options.numPages)),
        create(manager->cacheLengths, DType::I32, lengthsShape),
        create(manager->lookupTable, DType::I32, tableShape),
        create(manager->maxLengths, DType::I32, maximaShape)})
    if (!made)
      return std::unexpected(made.error());
  if (!manager->rows.create(manager->lookupTable.as<PageId>(), batch,
                            manager->pitch))
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "cache manager: no memory for a batch of ", batch);
  return manager;
}

PagedKVCacheManager::PagedKVCacheManager(const KVCacheParams &params,
                                         const Options &options)
    : cacheParams(params), options(options),
      maxPages(params.pagesFor(options.maxSeqLen)), pitch(tablePitch(maxPages)),
      slots(options.maxBatchSize),
      byId(std::bit_ceil(2 * static_cast<size_t>(options.maxBatchSize)), -1) {
  for (int32_t slot = options.maxBatchSize; slot-- > 0;)
    unusedSlots.push_back(slot);
}

int64_t PagedKVCacheManager::tablePitch(int64_t maxPages) {
  return (maxPages + 7) / 8 * 8 + 16;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

size_t PagedKVCacheManager::home(RequestId id) const {
  return (id * 0x9E3779B97F4A7C15ull >> 32) & (byId.size() - 1);
}

int32_t PagedKVCacheManager::findSlot(RequestId id) const {
  size_t mask = byId.size() - 1;
  for (size_t at = home(id); byId[at] >= 0; at = (at + 1) & mask)
    if (slots[byId[at]].id == id)
      return byId[at];
  return -1;
}

Error PagedKVCacheManager::unclaimed(RequestId id) const {
  return {KV_STATUS_INVALID_ARGUMENT,
          concat("request ", id, " is not claimed")};
}

Expected<void> PagedKVCacheManager::claim(RequestId id) {
  if (contains(id))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " is claimed already");
  if (unusedSlots.empty())
    return makeError(KV_STATUS_OUT_OF_MEMORY, "request ", id,
                     " cannot be claimed: all ", options.maxBatchSize,
                     " sequence slots are in use");
  Expected<Sequence> sequence = engine->open();
  if (!sequence)
    return std::unexpected(sequence.error());
  int32_t slot = unusedSlots.back();
  unusedSlots.pop_back();
  slots[slot].id = id;
  slots[slot].sequence = std::move(*sequence);
  size_t mask = byId.size() - 1;
  size_t at = home(id);
  while (byId[at] >= 0)
    at = (at + 1) & mask;
  byId[at] = slot;
  return checked();
}

Expected<void> PagedKVCacheManager::release(RequestId id) {
  int32_t slot = findSlot(id);
  if (slot < 0)
    return std::unexpected(unclaimed(id));
  slots[slot].sequence.release();
  size_t mask = byId.size() - 1;
  size_t hole = home(id);
  while (byId[hole] != slot)
    hole = (hole + 1) & mask;
  for (size_t at = (hole + 1) & mask; byId[at] >= 0; at = (at + 1) & mask) {
    size_t distance = (at - home(slots[byId[at]].id)) & mask;
    if (distance >= ((at - hole) & mask)) {
      byId[hole] = byId[at];
      hole = at;
    }
  }
  byId[hole] = -1;
  unusedSlots.push_back(slot);
  return checked();
}

Expected<std::span<const PageId>>
PagedKVCacheManager::getReqBlocks(RequestId id) const {
  int32_t slot = findSlot(id);
  if (slot < 0)
    return std::unexpected(unclaimed(id));
  return std::span<const PageId>(slots[slot].sequence.pages());
}

//===----------------------------------------------------------------------===//
// Reservation
//===----------------------------------------------------------------------===//

namespace {

/// `steps` steps store all tokens but the last one that they generate.
CacheEngine::Demand demand(const TextGenerationContext &context,
                           int32_t steps) {
  return {.length = context.length() + steps - 1,
          .chunk = context.activeLimit() + steps - 1,
          .reuse = context.reusesPrefix()};
}

} // namespace

Expected<CacheEngine::Plan>
PagedKVCacheManager::probe(const TextGenerationContext &context,
                           int32_t steps) const {
  int32_t slot = findSlot(context.id());
  if (slot < 0)
    return std::unexpected(unclaimed(context.id()));
  return engine->plan(slots[slot].sequence, context.tokens(),
                      demand(context, steps));
}

std::expected<Allocation, AllocationError>
PagedKVCacheManager::alloc(TextGenerationContext &context, int32_t steps) {
  using Reason = AllocationError::Reason;
  auto refuse = [&](Reason reason, KvStatus code, const auto &...parts) {
    counters.refusals += reason != Reason::Invalid;
    return std::unexpected(AllocationError{
        reason, {code, concat("request ", context.id(), parts...)}});
  };
  int32_t slot = findSlot(context.id());
  if (slot < 0)
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT,
                  " is not claimed");
  Sequence &sequence = slots[slot].sequence;
  if (steps < 1 || steps > options.maxSteps)
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT, ": ", steps,
                  " steps, allowed: 1 to ", options.maxSteps);
  if (context.active() < 1)
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT,
                  " has no token to compute");
  if (context.processed() != sequence.processedTokens())
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT, ": its context ",
                  "has processed ", context.processed(),
                  " tokens, its cache holds ", sequence.processedTokens(),
                  " (is a call of step missing?)");
  // Chunks do not matter here: the last one must fit as well.
  int64_t whole = context.length() + steps - 1;
  if (whole > options.maxSeqLen)
    return refuse(Reason::NeverFits, KV_STATUS_OUT_OF_RANGE, " needs room for ",
                  whole, " tokens, the longest sequence is ",
                  options.maxSeqLen);
  if (cacheParams.pagesFor(whole) > totalNumPages())
    return refuse(Reason::NeverFits, KV_STATUS_OUT_OF_MEMORY, " needs ",
                  cacheParams.pagesFor(whole), " pages of ",
                  cacheParams.pageSize, " tokens, the pool has ",
                  totalNumPages());

  CacheEngine::Demand wanted = demand(context, steps);
  CacheEngine::Plan plan = engine->reserve(sequence, context.tokens(), wanted);
  if (plan.verdict == CacheEngine::Verdict::Wait) {
    // Whoever calls is not executing: on a synchronous device all is over.
    completeStep();
    plan = engine->reserve(sequence, context.tokens(), wanted);
  }
  if (!plan.fits())
    return refuse(Reason::Full, KV_STATUS_OUT_OF_MEMORY, " needs ",
                  plan.newPages + plan.revivedPages, " more pages, ",
                  numFreeBlocks(), " of ", totalNumPages(), " are free");
  int64_t cached = sequence.processedTokens() - context.processed();
  context.skip(cached);
  counters.inputTokens += context.active();
  counters.cachedTokens += cached;
  counters.peakUsedPages =
      std::max(counters.peakUsedPages, engine->pool().numUsed());
  if (Expected<void> sound = checked(); !sound)
    return std::unexpected(AllocationError{Reason::Invalid, sound.error()});
  return Allocation{cached, plan.newPages};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Expected<RaggedKVCacheInputs> PagedKVCacheManager::runtimeInputs(
    std::span<const TextGenerationContext *const> batch, int32_t steps) {
  if (batch.size() > slots.size())
    return makeError(KV_STATUS_OUT_OF_RANGE, "a batch of ", batch.size(),
                     " requests, the cache manager takes at most ",
                     slots.size());
  if (steps < 1 || steps > options.maxSteps)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "runtime inputs of ", steps,
                     " steps, allowed: 1 to ", options.maxSteps);
  int64_t maxActive = 0, maxLength = 0;
  for (const TextGenerationContext *entry : batch) {
    const TextGenerationContext &context = *entry;
    int32_t slot = findSlot(context.id());
    if (slot < 0)
      return std::unexpected(unclaimed(context.id()));
    const Sequence &sequence = slots[slot].sequence;
    if (context.active() < 1)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                       " has no token to compute");
    if (context.processed() != sequence.processedTokens())
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                       ": its context has processed ", context.processed(),
                       " tokens, its cache holds ", sequence.processedTokens());
    int64_t length = context.processed() + context.active();
    int64_t needed = cacheParams.pagesFor(length + steps - 1);
    int64_t have = static_cast<int64_t>(sequence.pages().size());
    if (needed > have)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                       " needs ", needed, " pages for this step, ", have,
                       " are reserved (is a call of alloc missing?)");
    maxActive = std::max(maxActive, context.active());
    maxLength = std::max(maxLength, length);
  }
  if (openStep > 0)
    completeStep(); // its inputs are about to be overwritten
  Expected<CacheEngine::Step> begun = engine->beginStep();
  if (!begun)
    return std::unexpected(begun.error());
  openStep = begun->ticket;
  run(begun->ops);
  int32_t *lengths = cacheLengths.as<int32_t>();
  for (size_t row = 0; row < batch.size(); ++row) {
    Sequence &sequence = slots[findSlot(batch[row]->id())].sequence;
    if (Expected<void> joined = engine->join(sequence, openStep); !joined)
      return std::unexpected(joined.error());
    lengths[row] = static_cast<int32_t>(sequence.processedTokens());
    rows.update(static_cast<int64_t>(row), sequence);
  }
  int32_t *maxima = maxLengths.as<int32_t>();
  for (int32_t step = 0; step < steps; ++step) {
    maxima[2 * step] = static_cast<int32_t>(step == 0 ? maxActive : 1);
    maxima[2 * step + 1] = static_cast<int32_t>(maxLength + step);
  }
  int64_t count = static_cast<int64_t>(batch.size());
  return RaggedKVCacheInputs{
      .blocks = blocks.view(),
      .cacheLengths = makeView(lengths, DType::I32, {count}),
      .lookupTable =
          makeView(lookupTable.as<int32_t>(), DType::I32, {count, pitch}),
      .maxLengths = makeView(maxima, DType::I32, {steps, 2})};
}

Expected<void>
PagedKVCacheManager::step(std::span<const TextGenerationContext *const> batch) {
  Expected<void> result;
  for (const TextGenerationContext *context : batch) {
    int32_t slot = findSlot(context->id());
    if (slot < 0) {
      if (result)
        result = std::unexpected(unclaimed(context->id()));
      continue;
    }
    Sequence &sequence = slots[slot].sequence;
    int64_t room =
        static_cast<int64_t>(sequence.pages().size()) * cacheParams.pageSize;
    if (context->processed() < sequence.processedTokens() ||
        context->processed() > room) {
      if (result)
        result = makeError(
            KV_STATUS_INVALID_ARGUMENT, "request ", context->id(),
            ": its context has processed ", context->processed(),
            " tokens, allowed: ", sequence.processedTokens(), " to ", room);
      continue;
    }
    Expected<void> committed =
        engine->commit(sequence, context->tokens(), context->processed());
    if (!committed && result)
      result = committed;
  }
  if (openStep > 0)
    completeStep();
  if (result)
    result = checked();
  return result;
}

/// The device is done with the last step. Page operations that wait for one
/// are run too, so that no page waits any longer.
void PagedKVCacheManager::completeStep() {
  if (openStep == 0) {
    Expected<CacheEngine::Step> begun = engine->beginStep();
    if (!begun)
      return;
    run(begun->ops);
  }
  openStep = 0;
  engine->completeAllSteps();
}

void PagedKVCacheManager::run(std::span<const PageOp> ops) {
  size_t bytes = static_cast<size_t>(cacheParams.bytesPerPage());
  char *pages = blocks.as<char>();
  for (const PageOp &op : ops)
    if (op.kind == PageOp::Copy)
      std::memcpy(pages + op.target * bytes, pages + op.source * bytes, bytes);
    else
      std::memset(pages + op.target * bytes, 0, bytes);
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

KVCacheMetrics PagedKVCacheManager::metrics() const {
  KVCacheMetrics result = counters;
  result.evictedPages = engine->metrics().evictedPages - evictionsBefore;
  return result;
}

void PagedKVCacheManager::resetMetrics() {
  counters = {.peakUsedPages = engine->pool().numUsed()};
  evictionsBefore = engine->metrics().evictedPages;
}

Expected<void> PagedKVCacheManager::check() const {
  if (std::string fault = engine->check(); !fault.empty())
    return makeError(KV_STATUS_INTERNAL, "cache manager: ", fault);
  return {};
}

Expected<void> PagedKVCacheManager::checked() const {
  return options.enableRuntimeChecks ? check() : Expected<void>();
}
