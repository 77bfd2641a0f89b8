//===- EngineHarness.cpp - Engine, model and memory in step ---------------===//

#include "EngineHarness.h"

#include <algorithm>

using namespace kv;
using namespace kv::test;

using Verdict = CacheEngine::Verdict;

static uint64_t constantTag(uint64_t, uint64_t, std::span<const int32_t>) {
  return 1;
}
static uint64_t weakTag(uint64_t, uint64_t parent,
                        std::span<const int32_t> tokens) {
  return uint64_t((tokens[0] + parent) & 3) << 62;
}

CacheEngine::Options kv::test::optionsOf(uint32_t word) {
  auto below = [&](uint32_t limit) {
    uint32_t value = word % limit;
    word /= limit;
    return static_cast<int32_t>(value);
  };
  CacheEngine::Options options;
  options.pageSize = std::array{2, 1, 3, 4, 16}[below(5)];
  options.numPages = std::array{9, 3, 6, 14, 24, 40, 64, 1}[below(8)];
  CacheGroup window = CacheGroup::slidingWindow(options.pageSize + 1 +
                                                below(2 * options.pageSize));
  CacheGroup zeroed = {.zeroFill = true};
  switch (below(10)) {
  default:
    break;
  case 3:
    options.groups = {CacheGroup::full(), window};
    break;
  case 4:
    options.groups = {window};
    break;
  case 5:
    options.groups = {window, zeroed};
    break;
  case 6:
    options.groups = {CacheGroup::full(), CacheGroup::full(), window};
    break;
  case 7:
    options.groups = {zeroed};
    break;
  case 8: // bands of a window beside those of full layers
    options.groups = {window,
                      window,
                      window,
                      window,
                      window,
                      window,
                      CacheGroup::full(),
                      CacheGroup::full(),
                      CacheGroup::slidingWindow(options.pageSize)};
    break;
  case 9: // bands of windows only
    zeroed.window = window.window;
    options.groups = {window, window, window, zeroed, zeroed,
                      window, window, window, window, window};
    break;
  }
  if (options.groups.size() > 4)
    options.numPages *= 3;
  options.tagFunction = std::array<TagFunction, 4>{nullptr, nullptr, weakTag,
                                                   constantTag}[below(4)];
  options.maxSequences = 2 + below(5);
  options.maxOpenSteps = 1 + below(3);
  options.prefixCaching = below(8) != 7;
  options.maxPageOps = below(4) == 3 ? options.groups.size() : 0;
  options.key = 42;
  options.retentionTick = 10;
  options.keepReplaced =
      std::ranges::all_of(options.groups, &CacheGroup::isFull) && below(2);
  // A sequence may be longer than a pool of windows only.
  options.maxTokens = int64_t(options.pageSize) * (options.numPages + 2);
  return options;
}

EngineHarness::EngineHarness(const CacheEngine::Options &wanted,
                             uint64_t shuffle)
    : options(wanted), made(std::move(*CacheEngineImpl::create(wanted))),
      interpreter(*made, wanted.maxSequences),
      model(wanted, made->maxTokens() / wanted.pageSize), random(shuffle),
      memory(size_t(wanted.numPages + 1) * wanted.pageSize),
      computed(wanted.maxSequences), engineId(wanted.numPages),
      born(wanted.numPages), owner(wanted.numPages + 1, -1),
      lookups(wanted.groups.size()) {
  if (options.maxPageOps == 0)
    model.options.maxPageOps = options.maxSequences * options.groups.size();
  int64_t pitch = made->maxTokens() / options.pageSize;
  for (LookupTable &lookup : lookups) {
    tables.emplace_back(options.maxSequences * pitch);
    if (!lookup.create(tables.back().data(), options.maxSequences, pitch))
      std::abort();
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

int32_t EngineHarness::pick(uint32_t word) const {
  for (int32_t i = 0; i < options.maxSequences; ++i)
    if (int32_t slot = (word + i) % options.maxSequences;
        interpreter.isOpen(slot))
      return slot;
  return -1;
}

/// Images cannot be cut: their rest would have to be the same ever after.
int64_t EngineHarness::outsideImages(int32_t slot, int64_t tokens) const {
  for (const ImageSpan &image : interpreter.prompt(slot).images)
    if (image.begin < tokens && tokens < image.begin + image.length)
      return image.begin;
  return tokens;
}

std::string EngineHarness::append(int32_t slot, uint32_t count, uint32_t word) {
  int64_t length = interpreter.promptLength(slot);
  std::vector<int32_t> tokens;
  if (word % 16 == 0) {
    int64_t size = 1 + word / 16 % (2 * options.pageSize);
    std::string fault =
        execute({.kind = Command::Image,
                 .sequence = slot,
                 .a = length,
                 .b = size,
                 .scope = {.salt = word / 16 % 3 ? "cat" : "dog"}});
    if (!fault.empty())
      return fault;
    tokens.assign(size, 0);
  } else {
    // Two letters, mostly the first: many shared prefixes.
    for (uint32_t i = 0; i < count; ++i) {
      word = word * 1664525 + 1013904223;
      tokens.push_back((word >> 20) % (3 * options.pageSize) == 0);
    }
  }
  return execute({.kind = Command::Tokens, .sequence = slot, .tokens = tokens});
}

std::string EngineHarness::reserve(int32_t slot, uint32_t word) {
  int64_t length = interpreter.promptLength(slot);
  uint32_t size = options.pageSize;
  uint32_t kind = word % 8, more = word / 8 % 512, extra = word / 4096;
  int64_t processed = interpreter.sequence(slot).processedTokens();
  return execute(
      {.kind = Command::Reserve,
       .sequence = slot,
       .a = kind < 4   ? length
            : kind < 6 ? processed + more % (2 * size + 2)
                       : length + more % size,
       .b = extra % 4 == 0 ? 1 + more % (3 * size) : INT64_MAX,
       .c = extra % 5 == 0 ? more % size : 0,
       // Now and then no hit, or one of a few pages at most.
       .d = extra % 16 == 1   ? 0
            : extra % 16 == 2 ? 2 + more % 4
                              : 1,
       // Without the last tokens, which then are drafts.
       .prompt = kind == 7 ? std::max(processed, length - more % 40) : length});
}

/// Commits some of what has been computed.
std::string EngineHarness::compute(int32_t slot, uint32_t word) {
  int64_t processed = interpreter.sequence(slot).processedTokens();
  int64_t left = computed[slot] - processed;
  if (left <= 0)
    return {};
  int64_t some = word % 4 ? left : 1 + word / 4 % left;
  return execute({.kind = Command::Commit,
                  .sequence = slot,
                  .a = processed + some,
                  .prompt = interpreter.promptLength(slot)});
}

/// Priorities on both sides of the default, some for a while.
Retention EngineHarness::retentionOf(uint32_t word) const {
  auto priority = [](uint32_t from) {
    return static_cast<uint8_t>(Retention::Default - 2 + from % 5);
  };
  auto duration = [](uint32_t from) -> int64_t {
    return from % 4 == 0 ? 0 : from % 64 == 1 ? 40'940 : from / 4 % 16 * 5;
  };
  return {.priority = priority(word),
          .prefixTokens = word / 8 % (3 * options.pageSize),
          .prefixPriority = priority(word / 16),
          .duration = duration(word / 32),
          .prefixDuration = duration(word / 64)};
}

std::string EngineHarness::completeStep(uint32_t which) {
  if (inFlight.empty())
    return {};
  Ticket ticket = std::next(inFlight.begin(), which % inFlight.size())->first;
  return execute(
      {.kind = Command::CompleteStep, .a = static_cast<int64_t>(ticket)});
}

std::string EngineHarness::beginStep(uint32_t members) {
  std::string fault = execute({.kind = Command::BeginStep});
  for (int32_t of = 0; of < options.maxSequences; ++of)
    if (fault.empty() && members >> of & 1 && interpreter.isOpen(of) &&
        !inFlight.empty())
      fault = execute({.kind = Command::Join,
                       .sequence = of,
                       .a = static_cast<int64_t>(inFlight.rbegin()->first)});
  return fault;
}

std::string EngineHarness::openSequence(uint32_t word) {
  Retention retention;
  if (word % 4 == 0)
    retention = retentionOf(word / 4);
  Scope scope;
  if (word / 512 % 8 == 0)
    scope.salt = "tenant";
  else if (word / 512 % 8 == 1)
    scope.adapter = "tenant";
  std::string fault =
      execute({.kind = Command::Open, .scope = scope, .retention = retention});
  int32_t opened = -1;
  for (int32_t of = 0; of < options.maxSequences; ++of)
    if (interpreter.isOpen(of) && interpreter.promptLength(of) == 0)
      opened = of;
  if (!fault.empty() || opened < 0)
    return fault;
  return append(opened, 1 + word % (5 * options.pageSize), word | 1);
}

std::string EngineHarness::wholeRequest(int32_t slot, uint32_t word) {
  std::string fault = reserve(slot, 0);
  if (fault.empty())
    fault = beginStep(1u << slot);
  if (fault.empty())
    fault = compute(slot, word | 1);
  if (fault.empty() && word % 4)
    fault = completeStep(word);
  if (fault.empty() && word / 4 % 4 == 0)
    fault = execute({.kind = Command::Release, .sequence = slot});
  return fault;
}

std::string EngineHarness::step(uint32_t word) {
  uint32_t operation = word % 32, rest = word / 32;
  int32_t slot = pick(rest % 64);
  rest /= 64; // 21 bits
  if (slot < 0 || operation < 4)
    return openSequence(rest);
  switch (operation) {
  case 4:
  case 5:
    return append(slot, 1 + rest % (2 * options.pageSize), rest / 4);
  case 6:
  case 7:
  case 8:
  case 9:
  case 10:
    return reserve(slot, rest);
  case 11:
  case 12:
  case 13:
    return beginStep(rest);
  case 14:
  case 15:
  case 16:
    return compute(slot, rest);
  case 17:
  case 18: {
    int64_t processed = interpreter.sequence(slot).processedTokens();
    ++coverage.forks;
    return execute(
        {.kind = Command::Fork,
         .sequence = slot,
         .a = outsideImages(slot, rest % 4 ? rest / 4 % (processed + 1)
                                           : processed)});
  }
  case 19:
  case 20: {
    int64_t processed = interpreter.sequence(slot).processedTokens();
    ++coverage.truncations;
    return execute({.kind = Command::Truncate,
                    .sequence = slot,
                    .a = outsideImages(
                        slot, rest % 4 ? processed - rest / 4 % (processed + 1)
                                       : processed)});
  }
  case 21:
  case 22:
  case 23:
    return execute({.kind = Command::Release, .sequence = slot});
  case 24:
  case 25:
  case 26:
    return completeStep(rest);
  case 27:
    if (rest % 8 == 0) {
      ++coverage.resets;
      return execute({.kind = Command::Reset});
    }
    if (rest % 8 == 1)
      return execute({.kind = Command::CompleteAll});
    if (rest % 8 < 5) {
      // Now and then beyond every limit, and back, which is refused.
      int64_t more = rest / 8 % 64 == 0   ? 100'000
                     : rest / 8 % 64 == 1 ? -1
                                          : rest / 512 % 40;
      return execute({.kind = Command::Time, .a = model.time + more});
    }
    return execute({.kind = Command::SetRetention,
                    .sequence = slot,
                    .retention = retentionOf(rest / 8)});
  default:
    return wholeRequest(slot, rest);
  }
}

std::string EngineHarness::completeEach() {
  std::string fault;
  while (!inFlight.empty() && fault.empty())
    fault = execute({.kind = Command::CompleteStep,
                     .a = static_cast<int64_t>(inFlight.begin()->first)});
  return fault;
}

//===----------------------------------------------------------------------===//
// Running and comparing
//===----------------------------------------------------------------------===//

/// Looks at entries of the engine's arrays, where they are counted.
static int64_t &countedAccesses() {
#ifdef KV_COUNT_ACCESSES
  return detail::accesses;
#else
  static int64_t none;
  return none;
#endif
}

std::string EngineHarness::execute(const Command &command) {
  ++commands;
  if (recorder)
    recorder->command(command);
  uint64_t before = command.kind == Command::Reserve ? fingerprint() : 0;
  const EngineMetrics &metrics = made->metrics();
  auto committed = [&] {
    return metrics.committedPages + metrics.twinPages +
           metrics.uncommittedPages;
  };
  int64_t work = workBefore(command), nodes = made->index().size(),
          commits = committed();
  countedAccesses() = 0;
  Expected<CommandInterpreter::Outcome> outcome = interpreter.execute(command);
  int64_t accesses = countedAccesses();
  if (!outcome)
    return outcome.error().message;
  // What it was about, and nodes that went because nothing was left below them.
  if (outcome->plan)
    work += options.groups.size() *
            (5 * int64_t(outcome->plan->hitPages) + outcome->plan->newPages);
  if (command.kind == Command::Commit)
    work = nullPages(command.sequence) - work +
           (committed() - commits) * options.groups.size();
  work += static_cast<int64_t>(outcome->step.ops.size());
  work += std::max<int64_t>(nodes - made->index().size(), 0);
  coverage.accesses += accesses;
  // However large the pool and long the context, a few looks at each group; a
  // page that leaves a list can move a dozen others of two chunks. Tags that
  // collide have no bound: each is compared.
  if (options.tagFunction == nullptr &&
      accesses > (command.kind == Command::Reset ? 400 : 34) +
                     6 * options.groups.size() + 32 * work)
    return concat("a command on ", work, " pages looked at ", accesses,
                  " entries");
  if (outcome->plan && !outcome->plan->fits() && fingerprint() != before)
    return "a failed reservation changed something";
  std::string fault = apply(command, *outcome);
  return fault.empty() ? compare() : fault;
}

int64_t EngineHarness::nullPages(int32_t slot) const {
  int64_t count = 0;
  for (int32_t group = 0; group < options.groups.size(); ++group)
    count +=
        std::ranges::count(interpreter.sequence(slot).pages(group), NullPage);
  return count;
}

/// Pages that a command is about, as far as that is known before it.
int64_t EngineHarness::workBefore(const Command &command) const {
  int32_t slot = command.sequence;
  int64_t numGroups = options.groups.size();
  switch (command.kind) {
  case Command::Reserve: // what is looked up, of which a hit may take nothing
    return command.d && interpreter.sequence(slot).pages().empty()
               ? numGroups * (command.prompt / options.pageSize)
               : 0;
  case Command::Commit: // what windows have passed, to compare with later
    return nullPages(slot);
  case Command::Fork:
  case Command::Truncate:
  case Command::Release:
    return numGroups *
           static_cast<int64_t>(interpreter.sequence(slot).pages().size());
  case Command::CompleteStep:
  case Command::CompleteAll:
    return made->pool().numDeferred();
  case Command::Time:
  case Command::Reset: {
    // Slots of the wheel, and what is in them.
    const PagePool &pool = made->pool();
    Tick to = command.kind == Command::Time ? command.a / options.retentionTick
                                            : pool.now() + PriorityLimits::Most;
    int64_t limited = 0;
    for (PageId page = 1; page <= pool.numTotal(); ++page)
      limited += pool.limit(page) != 0 && pool.limit(page) <= to;
    return limited + std::min(to - pool.now(), PriorityLimits::Most + 32) / 32;
  }
  default:
    return 0;
  }
}

static std::string mustRefuse(const CommandInterpreter::Outcome &outcome,
                              bool refuse) {
  if (refuse == outcome.refused.has_value())
    return {};
  return refuse ? "the engine does what it should refuse"
                : concat("refused: ", outcome.refused->message);
}

void EngineHarness::applyOpen(const Command &command, int32_t opened) {
  model.open(opened,
             concat(std::string(command.scope.salt.value_or("-")), ",",
                    std::string(command.scope.adapter.value_or("-"))),
             command.retention);
  computed[opened] = 0;
}

std::string EngineHarness::applyReserve(const Command &command,
                                        const CacheEngine::Plan &plan) {
  int32_t slot = command.sequence;
  CacheEngine::Plan expected =
      model.reserve(slot, interpreter.prompt(slot, command.prompt),
                    CacheEngine::Demand::of(command));
  ++coverage.refused[static_cast<int>(plan.verdict)];
  if (plan.fits()) {
    coverage.hits += plan.hitPages;
    coverage.revived += plan.revivedPages;
    computed[slot] =
        std::max(computed[slot], interpreter.sequence(slot).processedTokens());
  }
  if (plan.verdict != expected.verdict || plan.hitPages != expected.hitPages ||
      plan.newPages != expected.newPages ||
      plan.revivedPages != expected.revivedPages)
    return concat("verdict ", int(plan.verdict), ", ", plan.hitPages, " hits, ",
                  plan.newPages, " new, ", plan.revivedPages,
                  " revived; expected ", int(expected.verdict), ", ",
                  expected.hitPages, ", ", expected.newPages, ", ",
                  expected.revivedPages);
  return {};
}

std::string
EngineHarness::applyJoin(const Command &command,
                         const CommandInterpreter::Outcome &outcome) {
  int32_t slot = command.sequence;
  EngineModel::Request &request = model.requests[slot];
  Ticket ticket = static_cast<Ticket>(command.a);
  bool refuse =
      !model.isOpen(ticket) || request.borrows || model.waits(request);
  if (refuse)
    return mustRefuse(outcome, true);
  request.stamp = std::max(request.stamp, ticket);
  // What the step computes: tokens that are known, and drafts.
  Prompt prompt = interpreter.prompt(slot);
  const Sequence &sequence = interpreter.sequence(slot);
  int64_t end = int64_t(request.held) * options.pageSize;
  for (int32_t group = 0; group < options.groups.size(); ++group)
    for (PageId page : sequence.pages(group))
      if (page != NullPage)
        inFlight[ticket].set(page);
  for (int64_t at = request.processed; at < end; ++at)
    for (int32_t group = 0; group < options.groups.size(); ++group)
      memory[size_t(sequence.pages(group)[at / options.pageSize]) *
                 options.pageSize +
             at % options.pageSize] =
          at < prompt.length() ? value(prompt, at, group) : -1;
  computed[slot] = std::max(computed[slot], std::min(end, prompt.length()));
  for (int32_t of = 0; of < options.maxSequences; ++of)
    if (std::string fault = readBack(of); !fault.empty())
      return fault;
  return mustRefuse(outcome, false);
}

/// Does the same to the model; compares what was answered.
std::string EngineHarness::apply(const Command &command,
                                 const CommandInterpreter::Outcome &outcome) {
  int32_t slot = command.sequence;
  auto mustRefuse = [&](bool refuse) { return ::mustRefuse(outcome, refuse); };
  bool full = std::ranges::all_of(model.requests, &EngineModel::Request::open);
  switch (command.kind) {
  case Command::Open:
    if (!full && outcome.opened >= 0)
      applyOpen(command, outcome.opened);
    return mustRefuse(full);
  case Command::SetRetention:
    model.requests[slot].retention = command.retention;
    return mustRefuse(false);
  case Command::Tokens:
  case Command::Image:
    return {};
  case Command::Reserve:
    return applyReserve(command, *outcome.plan);
  case Command::Commit:
    if (outcome.refused)
      return mustRefuse(false);
    model.commit(slot, interpreter.prompt(slot, command.prompt), command.a);
    return {};
  case Command::Fork: {
    bool refuse = full || !model.canKeep(model.requests[slot], command.a);
    if (!refuse && outcome.opened >= 0) {
      model.fork(slot, outcome.opened, command.a, command.retention);
      computed[outcome.opened] = command.a;
    }
    return mustRefuse(refuse);
  }
  case Command::Truncate: {
    bool refuse = !model.canKeep(model.requests[slot], command.a);
    if (!refuse) {
      model.truncate(slot, command.a);
      computed[slot] = std::min(computed[slot], command.a);
    }
    return mustRefuse(refuse);
  }
  case Command::Release:
    model.release(slot);
    return {};
  case Command::KeepState: // there are no recurrent layers here
    return {};
  case Command::BeginStep: {
    bool refuse = !model.canBegin();
    if (!refuse)
      model.begin();
    std::string fault = mustRefuse(refuse);
    return fault.empty() && !refuse ? runStep(outcome.step) : fault;
  }
  case Command::Join:
    return applyJoin(command, outcome);
  case Command::CompleteStep: {
    Ticket ticket = static_cast<Ticket>(command.a);
    bool refuse = !model.isOpen(ticket);
    if (!refuse) {
      model.complete(ticket);
      inFlight.erase(ticket);
    }
    return mustRefuse(refuse);
  }
  case Command::CompleteAll:
    for (const auto &[ticket, pages] : inFlight)
      model.complete(ticket);
    inFlight.clear();
    return {};
  case Command::Reset:
    model.reset();
    return {};
  case Command::Time: {
    bool refuse = command.a < model.time;
    if (!refuse)
      coverage.ended += model.setTime(command.a);
    return mustRefuse(refuse);
  }
  }
  return {};
}

/// The operations of a step, in any order.
std::string EngineHarness::runStep(const CacheEngine::Step &step) {
  PageSet &pages = inFlight[step.ticket];
  std::vector<PageOp> ops(step.ops.begin(), step.ops.end());
  std::ranges::shuffle(ops, random);
  size_t size = options.pageSize;
  for (const PageOp &op : ops) {
    pages.set(op.target);
    if (op.kind == PageOp::Copy) {
      ++coverage.copies;
      pages.set(op.source);
      std::copy_n(&memory[op.source * size], size, &memory[op.target * size]);
    } else {
      std::fill_n(&memory[op.target * size], size, 0);
    }
  }
  for (int32_t slot = 0; slot < options.maxSequences; ++slot)
    if (std::string fault = readBack(slot); !fault.empty())
      return fault;
  return {};
}

/// What a layer of a group writes at a position: token and image, no position.
int32_t EngineHarness::value(const Prompt &prompt, int64_t position,
                             int32_t group) const {
  int32_t result = prompt.tokens[position] * 32 + group;
  for (const ImageSpan &image : prompt.images)
    if (image.begin <= position && position < image.begin + image.length)
      result += static_cast<int32_t>(position - image.begin + 1) * 1000 +
                image.hash[0] * 1000000;
  return result;
}

std::string EngineHarness::readBack(int32_t slot) const {
  // A copy that waits for the next step has not been made yet.
  if (!interpreter.isOpen(slot) || model.requests[slot].stamp > model.opened)
    return {};
  const Sequence &sequence = interpreter.sequence(slot);
  Prompt prompt = interpreter.prompt(slot);
  for (int32_t group = 0; group < options.groups.size(); ++group)
    for (int64_t at =
             options.groups[group].skippable(sequence.processedTokens());
         at < sequence.processedTokens(); ++at) {
      PageId page = sequence.pages(group)[at / options.pageSize];
      if (page == NullPage ||
          memory[size_t(page) * options.pageSize + at % options.pageSize] !=
              value(prompt, at, group))
        return concat("sequence ", slot, " reads another's token at ", at,
                      " in page ", page, " of group ", group);
    }
  return {};
}

std::string EngineHarness::compare() {
  const PagePool &pool = made->pool();
  if (pool.numBlank() != model.count(EngineModel::Blank) ||
      pool.numCached() != model.count(EngineModel::Cached) ||
      pool.numDeferred() != model.count(EngineModel::Deferred))
    return concat(pool.numBlank(), " blank, ", pool.numCached(), " cached, ",
                  pool.numDeferred(), " deferred pages; expected ",
                  model.count(EngineModel::Blank), ", ",
                  model.count(EngineModel::Cached), ", ",
                  model.count(EngineModel::Deferred));
  coverage.deferred += pool.numDeferred() > 0;
  coverage.evictions = made->metrics().evictedPages;
  coverage.twins = made->metrics().twinPages;
  if (coverage.evictions != model.evictions)
    return concat(coverage.evictions, " evictions, expected ", model.evictions);
  for (size_t page = 0; page < born.size(); ++page)
    if (born[page] != model.pages[page].born) {
      born[page] = model.pages[page].born;
      engineId[page] = NullPage;
    }
  for (int32_t slot = 0; slot < options.maxSequences; ++slot) {
    const EngineModel::Request &request = model.requests[slot];
    if (interpreter.isOpen(slot) != request.open)
      return concat("sequence ", slot, " is open in one only");
    if (!request.open)
      continue;
    const Sequence &sequence = interpreter.sequence(slot);
    if (sequence.processedTokens() != request.processed ||
        sequence.committedPages() != request.committed)
      return concat("sequence ", slot, " has processed ",
                    sequence.processedTokens(), " tokens and committed ",
                    sequence.committedPages(), " pages, expected ",
                    request.processed, " and ", request.committed);
    for (int32_t group = 0; group < options.groups.size(); ++group) {
      std::span<const PageId> row = sequence.pages(group);
      const std::vector<int> &expected = request.rows[group];
      if (row.size() != expected.size())
        return concat("sequence ", slot, " has ", row.size(),
                      " pages, expected ", expected.size());
      for (size_t at = 0; at < row.size(); ++at) {
        if ((row[at] == NullPage) != (expected[at] < 0))
          return concat("sequence ", slot, ": a window is wrong at page ", at);
        coverage.passed += row[at] == NullPage;
        if (row[at] == NullPage)
          continue;
        int page = expected[at];
        if (owner[row[at]] == page && engineId[page] == row[at])
          continue;
        // New since the last command: nobody else's, nor a running step's.
        if (int old = owner[row[at]];
            old >= 0 && engineId[old] == row[at] &&
            model.pages[old].state != EngineModel::Blank)
          return concat("page ", row[at], " is given to two");
        for (const auto &[ticket, pages] : inFlight)
          if (pages[row[at]] &&
              at * options.pageSize >= static_cast<size_t>(request.processed))
            return concat("page ", row[at], " of step ", ticket,
                          " is given away");
        owner[row[at]] = page;
        engineId[page] = row[at];
      }
    }
  }
  std::vector<int> order = model.cached();
  size_t next = 0;
  bool same = true;
  pool.eviction().visit([&](PageId page) {
    same &= next < order.size() && engineId[order[next++]] == page;
    return same;
  });
  if (!same)
    return "pages will be evicted in another order than expected";
  return made->check();
}

/// Everything that a failed call must leave alone.
uint64_t EngineHarness::fingerprint() const {
  uint64_t hash = 0;
  auto add = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  };
  const PagePool &pool = made->pool();
  for (PageId page = 1; page <= pool.numTotal(); ++page) {
    const PageRecord &record = pool.record(page);
    add(record.holds);
    add(record.node);
    add(record.stamp);
    add(record.position);
    add(record.priority * 256 + record.state);
    add(record.limit);
    add(uint64_t(record.earlier) << 32 | record.later);
  }
  pool.eviction().visit([&](PageId page) {
    add(page);
    return true;
  });
  for (int32_t slot = 0; slot < options.maxSequences; ++slot) {
    if (!interpreter.isOpen(slot))
      continue;
    const Sequence &sequence = interpreter.sequence(slot);
    add(sequence.processedTokens());
    add(sequence.committedPages());
    for (int32_t group = 0; group < options.groups.size(); ++group)
      for (PageId page : sequence.pages(group))
        add(page);
  }
  const EngineMetrics &metrics = made->metrics();
  for (const Counter *count :
       {&metrics.promptPages, &metrics.hitPages, &metrics.newPages,
        &metrics.evictedPages, &metrics.committedPages, &metrics.copiedPages})
    add(*count);
  return hash;
}

std::string EngineHarness::runtimeInputs() {
  std::string inputs;
  auto add = [&](const void *data, size_t bytes) {
    inputs.append(static_cast<const char *>(data), bytes);
  };
  int64_t pitch = made->maxTokens() / options.pageSize;
  for (int32_t slot = 0; slot < options.maxSequences; ++slot) {
    if (!interpreter.isOpen(slot))
      continue;
    const Sequence &sequence = interpreter.sequence(slot);
    int64_t length = sequence.processedTokens();
    add(&length, sizeof(length));
    for (int32_t group = 0; group < options.groups.size(); ++group) {
      lookups[group].update(slot, sequence, group);
      add(&tables[group][slot * pitch], pitch * sizeof(PageId));
      // What changed is all that was to be written.
      std::span<const PageId> pages = sequence.pages(group);
      if (!std::ranges::equal(
              pages,
              std::span(tables[group]).subspan(slot * pitch, pages.size())))
        inputs += "a table is not its sequence's";
    }
  }
  return inputs;
}
