//===- CommandInterpreter.cpp - Runs a command log ------------------------===//

#include "kv/Runtime/Engine/CommandInterpreter.h"

#include <algorithm>

using namespace kv;

CommandInterpreter::CommandInterpreter(CacheEngine &engine,
                                       int32_t maxSequences)
    : engine(engine), slots(maxSequences) {}

/// Keeps the first `length` tokens and the images that begin there.
void CommandInterpreter::Slot::cut(int64_t length) {
  if (length >= 0 && length < static_cast<int64_t>(tokens.size()))
    tokens.resize(length);
  while (!images.empty() && images.back().begin >= length) {
    images.pop_back();
    hashes.pop_back();
  }
}

Expected<CommandInterpreter::Outcome>
CommandInterpreter::adopt(Expected<Sequence> opened, Slot prompt) {
  if (!opened)
    return Outcome{.refused = opened.error()};
  int32_t slot = opened->slot();
  slots[slot] = std::move(prompt);
  slots[slot].sequence = std::move(*opened);
  return Outcome{.opened = slot};
}

Expected<CommandInterpreter::Outcome>
CommandInterpreter::execute(const Command &command) {
  bool ofSequence =
      command.kind == Command::KeepState ||
      (command.kind != Command::Open && command.kind != Command::BeginStep &&
       command.kind < Command::CompleteStep);
  if (ofSequence && !isOpen(command.sequence))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: sequence ",
                     command.sequence, " is not open");
  Slot *slot = ofSequence ? &slots[command.sequence] : nullptr;
  if (slot && (command.prompt < 0 ||
               command.prompt > static_cast<int64_t>(slot->tokens.size())))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "command log: ", command.prompt, " tokens of a prompt of ",
                     slot->tokens.size());
  // Checks the fields of Reserve and Image, which are counts of tokens.
  auto counts = [&](std::initializer_list<int64_t> numbers) -> Expected<void> {
    for (int64_t number : numbers)
      if (number < 0)
        return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", number,
                         " tokens of sequence ", command.sequence,
                         ", allowed: 0 or more");
    return {};
  };
  auto answer = [](const Expected<void> &done) {
    return done ? Outcome{} : Outcome{.refused = done.error()};
  };
  switch (command.kind) {
  case Command::Open:
    return adopt(engine.open(command.scope, command.retention), Slot());
  case Command::SetRetention:
    return answer(engine.setRetention(slot->sequence, command.retention));
  case Command::Tokens:
    slot->tokens.insert(slot->tokens.end(), command.tokens.begin(),
                        command.tokens.end());
    return Outcome{};
  case Command::Image: {
    if (Expected<void> valid = counts({command.a, command.b}); !valid)
      return std::unexpected(valid.error());
    slot->hashes.emplace_back(command.scope.salt.value_or(""));
    slot->images.push_back(
        {command.a, std::min(command.b, INT64_MAX - command.a), {}});
    // The views point to the strings, which may have moved.
    for (size_t image = 0; image < slot->images.size(); ++image)
      slot->images[image].hash = slot->hashes[image];
    return Outcome{};
  }
  case Command::Reserve:
    if (Expected<void> valid = counts({command.a, command.b, command.c});
        !valid)
      return std::unexpected(valid.error());
    return Outcome{.plan = engine.reserve(
                       slot->sequence, prompt(command.sequence, command.prompt),
                       {.length = command.a,
                        .chunk = command.b,
                        .draft = command.c,
                        .reuse = command.d != 0})};
  case Command::Commit:
    return answer(engine.commit(
        slot->sequence, prompt(command.sequence, command.prompt), command.a));
  case Command::Fork: {
    Slot copy;
    copy.tokens = slot->tokens;
    copy.hashes = slot->hashes;
    copy.images = slot->images;
    for (size_t image = 0; image < copy.images.size(); ++image)
      copy.images[image].hash = copy.hashes[image];
    copy.cut(command.a);
    return adopt(engine.fork(slot->sequence, command.a, command.retention),
                 std::move(copy));
  }
  case Command::Truncate: {
    Expected<void> done = engine.truncate(slot->sequence, command.a);
    if (done)
      slot->cut(command.a);
    return answer(done);
  }
  case Command::Release:
    slot->sequence.release();
    return Outcome{};
  case Command::BeginStep: {
    Expected<CacheEngine::Step> step = engine.beginStep();
    if (!step)
      return Outcome{.refused = step.error()};
    return Outcome{.step = *step};
  }
  case Command::Join:
    return answer(engine.join(slot->sequence, static_cast<Ticket>(command.a)));
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
  case Command::KeepState:
    if (Expected<void> valid = counts({command.a}); !valid)
      return std::unexpected(valid.error());
    engine.keepState(slot->sequence, command.a, command.b != 0);
    return Outcome{};
  }
  return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: command ",
                   int(command.kind), " is not known");
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
