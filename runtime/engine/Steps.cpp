//===- Steps.cpp - Begins and completes steps -----------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

Expected<CacheEngine::Step> CacheEngineImpl::beginStep() {
  if (!steps.canOpen())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache engine: ", steps.numOpen(),
                     " steps are open, allowed: ", steps.maxOpen());
  Ticket ticket = steps.open();
  std::span<const PageOp> batch(issued.begin(), numOps);
  std::copy_n(operations.begin(), numOps, issued.begin());
  for (const PageOp &op : batch)
    pages.clearWriter(op.target);
  numOps = numCopies = 0;
  if (options.log)
    options.log->command({.kind = Command::BeginStep});
  if (options.events && options.events->wantsAll())
    announceAll();
  return Step{ticket, batch};
}

/// Whether a queued copy still reads the page that the sequence writes next.
/// For example, a fork waits for a copy of the page that this sequence,
/// truncated since, is about to overwrite.
bool CacheEngineImpl::comesTooEarly(const SequenceState &state) const {
  if (state.processed % options.pageSize == 0)
    return false;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    PageId tail = row(state, group)[state.processed / options.pageSize];
    if (pages.record(tail).stamp > steps.lastOpened())
      return true;
  }
  return false;
}

Expected<void> CacheEngineImpl::refuseJoin(const SequenceState &state,
                                           Ticket ticket) const {
  if (!steps.isOpen(ticket))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: step ", ticket,
                     " is not open");
  if (state.borrowsTail)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: sequence ",
                     state.slot,
                     " shares its last page, a reservation comes "
                     "before its next step");
  if (lacksState(state))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: sequence ",
                     state.slot,
                     " has no place for its new state, a reservation comes "
                     "before its next step");
  return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: sequence ",
                   state.slot,
                   " has page operations that come with the next step, step ",
                   ticket, " is too early");
}

Expected<void> CacheEngineImpl::completeStep(Ticket ticket) {
  if (!steps.isOpen(ticket))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: step ", ticket,
                     " is not open");
  steps.complete(ticket);
  retire();
  if (options.log)
    options.log->command(
        {.kind = Command::CompleteStep, .a = static_cast<int64_t>(ticket)});
  return {};
}

void CacheEngineImpl::completeAllSteps() {
  for (Ticket ticket = steps.completedThrough() + 1;
       ticket <= steps.lastOpened(); ++ticket)
    steps.complete(ticket);
  retire();
  if (options.log)
    options.log->command({.kind = Command::CompleteAll});
}

void CacheEngineImpl::retire() {
  while (Ticket ticket = steps.retire())
    pages.complete(ticket);
}

Expected<void> CacheEngineImpl::setTime(int64_t nanoseconds) {
  constexpr int64_t Last = int64_t(1) << 62; // adding a duration fits 64 bits
  if (nanoseconds < time || nanoseconds > Last)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: the time is ",
                     nanoseconds, " ns, allowed: ", time, " to ", Last);
  time = nanoseconds;
  pages.advance(time / options.retentionTick);
  if (options.log)
    options.log->command({.kind = Command::Time, .a = time});
  return {};
}

void CacheEngineImpl::resetPrefixes() {
  ++epoch;
  pages.makeStale();
  states.forgetAll();
  if (options.log)
    options.log->command({.kind = Command::Reset});
  if (options.events)
    options.events->cleared();
}

/// Logs the tokens of the prompt that have not been logged, and the images that
/// begin among them.
void CacheEngineImpl::logPrompt(SequenceState &state, const Prompt &prompt) {
  if (prompt.length() <= state.loggedTokens)
    return;
  for (const ImageSpan &image : prompt.images)
    if (image.begin >= state.loggedTokens && image.begin < prompt.length())
      options.log->command({.kind = Command::Image,
                            .sequence = state.slot,
                            .a = image.begin,
                            .b = image.length,
                            .scope = {.salt = image.hash}});
  options.log->command({.kind = Command::Tokens,
                        .sequence = state.slot,
                        .tokens = prompt.tokens.subspan(state.loggedTokens)});
  state.loggedTokens = prompt.length();
}
