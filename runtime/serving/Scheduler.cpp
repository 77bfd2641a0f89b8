//===- Scheduler.cpp - Which requests take part in a step -----------------===//

#include "kv/Runtime/Serving/Scheduler.h"
#include "kv/Runtime/Manager/PoolLayout.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

using namespace kv;

ActiveRequest::ActiveRequest(const GenerationRequest &request, RequestId id,
                             int64_t maxTokens)
    : request(&request), tokens(request.tokens), context(id, tokens),
      maxTokens(maxTokens) {
  tokens.reserve(maxTokens);
  // A context of the tokens at their final address: reserve() may move them.
  context = TextGenerationContext(id, tokens);
  // Logits and hidden states exist for computed positions only.
  context.setReusesPrefix(!request.needsWholePrompt());
  context.setScope({.salt = request.salt});
  context.setRetention(request.retention);
}

void ActiveRequest::addDrafts(int64_t count) {
  if (count == 0)
    return;
  tokens.insert(tokens.end(), proposed.begin(), proposed.begin() + count);
  drafts = count;
  context.extend(tokens, drafts);
}

void ActiveRequest::dropDrafts() {
  tokens.resize(knownTokens());
  if (std::exchange(drafts, 0) > 0)
    context.dropDrafts();
}

/// Whether a refused reservation can succeed after other requests are released.
static bool isTransient(AllocationError::Reason reason) {
  return reason == AllocationError::Reason::Full ||
         reason == AllocationError::Reason::Wait;
}

Scheduler::Scheduler(KVCacheManager &manager, const Options &options)
    : manager(manager), options(options),
      reservesChunks(PoolLayout::of(manager.params()).hasWindow()) {
  running.reserve(options.maxBatch);
  batch.reserve(options.maxBatch);
}

Expected<void> Scheduler::canEverFit(const ActiveRequest &request) const {
  // The last generated token is never stored.
  int64_t stored = std::max(request.maxTokens - 1, request.promptTokens());
  int64_t pages = manager.blocksFor(stored);
  if (pages > manager.numPagesPerReplica())
    return makeError(
        KV_STATUS_OUT_OF_MEMORY, request.promptTokens(),
        " prompt tokens and up to ", request.maxTokens - request.promptTokens(),
        " new ones need ", pages, " pages of ", manager.params().pageSize(),
        " tokens, the cache has ", manager.numPagesPerReplica());
  return {};
}

bool Scheduler::canDraft(const MultiKVCacheParams &params) {
  return !PoolLayout::of(params).hasStates();
}

Expected<void> Scheduler::check(const Options &options,
                                const MultiKVCacheParams &params) {
  if (options.ngram > 0 && !canDraft(params))
    return makeError(KV_STATUS_UNSUPPORTED, "ngram is ", options.ngram,
                     ", allowed: 0, since the model's recurrent states cannot "
                     "go back to the accepted drafts");
  return {};
}

void Scheduler::add(ActiveRequest &request) {
  request.tenant = &tenants[request.request->tenant];
  ++request.tenant->requests;
  wait(request);
}

void Scheduler::wait(ActiveRequest &request) {
  auto place = [](const ActiveRequest *one) {
    return std::pair(one->request->priority, one->context.id());
  };
  Tenant &tenant = *request.tenant;
  std::deque<ActiveRequest *> &waiting = tenant.waiting;
  if (waiting.empty())
    tenant.computed = std::max(tenant.computed, level(request));
  waiting.insert(std::ranges::upper_bound(waiting, place(&request), {}, place),
                 &request);
}

int64_t Scheduler::level(const ActiveRequest &request) const {
  const ActiveRequest *oldest = nullptr;
  for (const auto &[name, tenant] : tenants)
    if (!tenant.waiting.empty()) {
      const ActiveRequest *first = tenant.waiting.front();
      if (first->request->priority <= request.request->priority &&
          (!oldest || first->context.id() < oldest->context.id()))
        oldest = first;
    }
  return oldest ? oldest->tenant->computed : lastLevel;
}

size_t Scheduler::numWaiting() const {
  size_t count = 0;
  for (const auto &[name, tenant] : tenants)
    count += tenant.waiting.size();
  return count;
}

std::span<ActiveRequest *const> Scheduler::schedule() {
  batch.clear();
  failed.clear();
  budget = options.maxBatchTokens;
  preempted = false;
  loading = 0;
  decodeOrContinue(/*decode=*/true);
  decodeOrContinue(/*decode=*/false);
  // After a preemption nothing is admitted: the preempted request might come
  // back at once, only to be preempted again.
  if (!preempted)
    admit();
  if (manager.numReplicas() > 1)
    groupByReplica();
  return batch;
}

void Scheduler::groupByReplica() {
  std::vector<ActiveRequest *> grouped;
  grouped.reserve(batch.size());
  for (int32_t replica = 0; replica < manager.numReplicas(); ++replica)
    std::ranges::copy_if(
        batch, std::back_inserter(grouped),
        [&](ActiveRequest *request) { return request->replica == replica; });
  batch.swap(grouped);
}

int64_t Scheduler::numRunning(int32_t replica) const {
  return std::ranges::count(running, replica, &ActiveRequest::replica);
}

ActiveRequest &Scheduler::newest(int32_t replica) const {
  return **std::ranges::find(running.rbegin(), running.rend(), replica,
                             &ActiveRequest::replica);
}

void Scheduler::decodeOrContinue(bool decode) {
  // Meanwhile requests only leave the list, and only at `at` or after it.
  for (size_t at = 0; at < running.size() && budget > 0;) {
    ActiveRequest &request = *running[at];
    if (request.decodes() != decode || reserve(request, budget))
      ++at;
  }
}

/// Makes a request whose pages are reserved and loaded part of the step.
void Scheduler::join(ActiveRequest &request, const Allocation &allocation) {
  if (request.cachedTokens < 0)
    request.cachedTokens =
        std::min(allocation.cachedTokens, request.promptTokens());
  if (!request.begun)
    request.begun = std::chrono::steady_clock::now();
  budget -= request.context.active();
  request.tenant->computed += request.context.active();
  batch.push_back(&request);
}

bool Scheduler::reserve(ActiveRequest &request, int64_t chunk) {
  if (request.decodes()) {
    // Running requests have room for a token each, and prompts for a chunk.
    int64_t left = std::max<int64_t>(std::ssize(running),
                                     (options.maxBatchTokens + 1) / 2);
    request.addDrafts(
        std::clamp<int64_t>(chunk - left, 0, std::ssize(request.proposed)));
  }
  request.context.limitActive(chunk);
  for (;;) {
    std::expected<Allocation, AllocationError> allocated =
        manager.alloc(request.context);
    if (allocated) {
      join(request, *allocated);
      return true;
    }
    if (request.drafts > 0) {
      request.dropDrafts();
      continue;
    }
    if (allocated.error().reason == AllocationError::Reason::Loading) {
      ++loading;
      return true;
    }
    if (!isTransient(allocated.error().reason) ||
        numRunning(request.replica) == 1) {
      fail(request, allocated.error().error.message);
      return false;
    }
    ActiveRequest &victim = newest(request.replica);
    preempt(victim);
    if (&victim == &request)
      return false;
  }
}

int64_t Scheduler::pagesAhead(const TextGenerationContext &context,
                              int64_t reserved) const {
  return reservesChunks
             ? manager.blocksFor(context.length()) - manager.blocksFor(reserved)
             : 0;
}

ActiveRequest *Scheduler::nextWaiting() const {
  auto place = [](const ActiveRequest &request) {
    return std::tuple(request.request->priority, request.tenant->computed,
                      request.context.id());
  };
  ActiveRequest *next = nullptr;
  for (const auto &[name, tenant] : tenants)
    if (!tenant.waiting.empty() &&
        (!next || place(*tenant.waiting.front()) < place(*next)))
      next = tenant.waiting.front();
  return next;
}

void Scheduler::admit() {
  while (budget > 0 &&
         static_cast<int32_t>(running.size()) < options.maxBatch) {
    ActiveRequest *next = nextWaiting();
    if (!next)
      return;
    ActiveRequest &request = *next;
    TextGenerationContext &context = request.context;
    context.limitActive(reservesChunks ? budget
                                       : TextGenerationContext::NoLimit);
    request.replica = manager.getOrRecommendReplica(context);
    if (Expected<void> claimed = manager.claim(context.id(), request.replica);
        !claimed) {
      if (claimed.error().code == KV_STATUS_OUT_OF_MEMORY && !running.empty())
        return; // until a slot of its replica is free again
      fail(request, claimed.error().message);
      continue;
    }
    // The whole prompt is reserved at once, or pages are left for its later
    // chunks, so that two prompts in chunks never wait for each other. A page
    // is left for each running request, too.
    Expected<AllocationPlan> plan = manager.probe(context);
    int64_t others = numRunning(request.replica), left = others;
    for (const ActiveRequest *other : running)
      if (other->replica == request.replica)
        left += pagesAhead(other->context, other->context.processed() +
                                               other->context.active());
    if (plan)
      left += pagesAhead(context,
                         std::min(plan->cachedTokens + context.activeLimit(),
                                  context.length()));
    bool crowds = plan && others > 0 &&
                  plan->pages + left > manager.numFreeBlocks(request.replica);
    if (crowds) {
      (void)manager.release(context.id());
      return;
    }
    std::expected<Allocation, AllocationError> allocated =
        manager.alloc(context);
    bool loads = !allocated &&
                 allocated.error().reason == AllocationError::Reason::Loading;
    if (!allocated && !loads) {
      (void)manager.release(context.id());
      if (isTransient(allocated.error().reason) && !running.empty())
        return;
      fail(request, allocated.error().error.message);
      continue;
    }
    request.tenant->waiting.pop_front();
    lastLevel = std::max(lastLevel, request.tenant->computed);
    running.insert(std::ranges::upper_bound(running, context.id(), {},
                                            [](ActiveRequest *other) {
                                              return other->context.id();
                                            }),
                   &request);
    if (loads) {
      ++loading;
      continue;
    }
    context.limitActive(budget);
    join(request, *allocated);
  }
}

void Scheduler::preempt(ActiveRequest &request) {
  leave(request);
  TextGenerationContext &context = request.context;
  context.rewind(context.processed());
  wait(request);
  preempted = true;
  ++preemptions;
}

void Scheduler::fail(ActiveRequest &request, std::string message) {
  finish(request);
  failed.push_back({&request, std::move(message)});
}

void Scheduler::finish(ActiveRequest &request) {
  std::erase(request.tenant->waiting, &request);
  leave(request);
  if (--request.tenant->requests == 0)
    tenants.erase(request.request->tenant);
}

void Scheduler::leave(ActiveRequest &request) {
  if (auto at = std::ranges::find(batch, &request); at != batch.end()) {
    budget += request.context.active();
    batch.erase(at);
  }
  request.dropDrafts();
  std::erase(running, &request);
  (void)manager.release(request.context.id());
}
