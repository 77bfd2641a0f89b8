//===- CommandInterpreter.cpp - Runs a command log ------------------------===//

#include "kv/Runtime/Engine/CommandInterpreter.h"

#include <algorithm>

using namespace kv;

CommandInterpreter::CommandInterpreter(CacheEngine &engine,
                                       int32_t maxSequences)
    : engine(engine), slots(maxSequences) {}

/// Keeps the first `length` tokens and the images that begin there.
void CommandInterpreter::SlotState::cut(int64_t length) {
  if (length >= 0 && length < static_cast<int64_t>(tokens.size()))
    tokens.resize(length);
  while (!images.empty() && images.back().begin >= length) {
    images.pop_back();
    hashes.pop_back();
  }
}

void CommandInterpreter::SlotState::pointToHashes() {
  for (size_t image = 0; image < images.size(); ++image)
    images[image].hash = hashes[image];
}

CommandInterpreter::Outcome CommandInterpreter::adopt(Expected<Sequence> opened,
                                                      SlotState prompt) {
  if (!opened)
    return {.refused = opened.error()};
  int32_t slot = opened->slot();
  slots[slot] = std::move(prompt);
  slots[slot].sequence = std::move(*opened);
  return {.opened = slot};
}

static bool isOfSequence(Command::Kind kind) {
  return kind == Command::KeepState ||
         (kind != Command::Open && kind != Command::BeginStep &&
          kind < Command::CompleteStep);
}

/// Checks the fields that are counts of tokens.
static Expected<void> checkCounts(const Command &command) {
  int counts = command.kind == Command::Reserve     ? 3
               : command.kind == Command::Image     ? 2
               : command.kind == Command::KeepState ? 1
                                                    : 0;
  for (int64_t number : {command.a, command.b, command.c})
    if (counts-- > 0 && number < 0)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", number,
                       " tokens of sequence ", command.sequence,
                       ", allowed: 0 or more");
  return {};
}

static CommandInterpreter::Outcome answer(const Expected<void> &done) {
  if (done)
    return {};
  return {.refused = done.error()};
}

Expected<CommandInterpreter::Outcome>
CommandInterpreter::execute(const Command &command) {
  if (!isOfSequence(command.kind))
    return executeOnEngine(command);
  if (!isOpen(command.sequence))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: sequence ",
                     command.sequence, " is not open");
  int64_t length = promptLength(command.sequence);
  if (command.prompt < 0 || command.prompt > length)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "command log: ", command.prompt, " tokens of a prompt of ",
                     length);
  if (Expected<void> valid = checkCounts(command); !valid)
    return std::unexpected(valid.error());
  return executeOnSequence(command, slots[command.sequence]);
}

CommandInterpreter::Outcome
CommandInterpreter::executeOnSequence(const Command &command, SlotState &slot) {
  Sequence &own = slot.sequence;
  Prompt passed = prompt(command.sequence, command.prompt);
  switch (command.kind) {
  case Command::SetRetention:
    return answer(engine.setRetention(own, command.retention));
  case Command::Tokens:
    slot.tokens.insert(slot.tokens.end(), command.tokens.begin(),
                       command.tokens.end());
    return {};
  case Command::Image:
    slot.hashes.emplace_back(command.scope.salt.value_or(""));
    slot.images.push_back(
        {command.a, std::min(command.b, INT64_MAX - command.a), {}});
    slot.pointToHashes();
    return {};
  case Command::Reserve:
    return {.plan =
                engine.reserve(own, passed, CacheEngine::Demand::of(command))};
  case Command::Commit:
    return answer(engine.commit(own, passed, command.a));
  case Command::Fork: {
    SlotState copy;
    copy.tokens = slot.tokens;
    copy.hashes = slot.hashes;
    copy.images = slot.images;
    copy.pointToHashes();
    copy.cut(command.a);
    return adopt(engine.fork(own, command.a, command.retention),
                 std::move(copy));
  }
  case Command::Truncate: {
    Expected<void> done = engine.truncate(own, command.a);
    if (done)
      slot.cut(command.a);
    return answer(done);
  }
  case Command::Release:
    own.release();
    return {};
  case Command::Join:
    return answer(engine.join(own, static_cast<Ticket>(command.a)));
  default:
    engine.keepState(own, command.a, command.b != 0);
    return {};
  }
}

Expected<CommandInterpreter::Outcome>
CommandInterpreter::executeOnEngine(const Command &command) {
  switch (command.kind) {
  case Command::Open:
    return adopt(engine.open(command.scope, command.retention), SlotState());
  case Command::BeginStep: {
    Expected<CacheEngine::Step> step = engine.beginStep();
    if (!step)
      return Outcome{.refused = step.error()};
    return Outcome{.step = *step};
  }
  case Command::CompleteStep:
    return answer(engine.completeStep(static_cast<Ticket>(command.a)));
  case Command::CompleteAll:
    engine.completeAllSteps();
    return Outcome{};
  case Command::Reset:
    engine.resetPrefixes();
    return Outcome{};
  case Command::Time:
    return answer(engine.setTime(command.a));
  default:
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: command ",
                     int(command.kind), " is not known");
  }
}

Expected<void> CommandInterpreter::run(std::string_view log) {
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.empty() || line.starts_with('#'))
      continue;
    Expected<ParsedCommand> parsed = parseCommand(line);
    if (!parsed)
      return std::unexpected(parsed.error());
    if (Expected<Outcome> done = execute(parsed->command); !done)
      return std::unexpected(done.error());
  }
  return {};
}
