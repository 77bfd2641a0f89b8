//===- CommandLog.cpp - Commands as text ----------------------------------===//

#include "kv/Runtime/Engine/CommandLog.h"

#include <array>
#include <charconv>

using namespace kv;

static constexpr std::array<std::string_view, 16> Names = {
    "open",        "retention", "tokens",  "image", "reserve", "commit",
    "fork",        "truncate",  "release", "begin", "join",    "complete",
    "synchronize", "reset",     "time",    "keep"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void addNumber(std::string &text, std::string_view name, int64_t value,
                      int64_t unsaid) {
  if (value != unsaid)
    text += concat(" ", name, "=", value);
}

static void addString(std::string &text, std::string_view name,
                      const std::optional<std::string_view> &value) {
  if (!value)
    return;
  text += concat(" ", name, "=");
  for (unsigned char byte : *value) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
}

void CommandWriter::command(const Command &command) {
  written += Names[command.kind];
  if (command.sequence >= 0)
    written += concat(" ", command.sequence);
  for (int32_t token : command.tokens)
    written += concat(" ", token);
  addNumber(written, "a", command.a, 0);
  addNumber(written, "b", command.b, 0);
  addNumber(written, "c", command.c, 0);
  addNumber(written, "d", command.d, 0);
  addNumber(written, "prompt", command.prompt, 0);
  addString(written, "model", command.scope.model);
  addString(written, "adapter", command.scope.adapter);
  addString(written, "salt", command.scope.salt);
  addNumber(written, "priority", command.retention.priority,
            Retention::Default);
  addNumber(written, "prefixTokens", command.retention.prefixTokens, 0);
  addNumber(written, "prefixPriority", command.retention.prefixPriority,
            Retention::Default);
  addNumber(written, "duration", command.retention.duration, 0);
  addNumber(written, "prefixDuration", command.retention.prefixDuration, 0);
  written += '\n';
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::optional<int64_t> toNumber(std::string_view text) {
  int64_t value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static std::optional<std::string> toBytes(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned char byte;
    const char *end = text.data() + at + 2;
    // Two digits are never too large: they are digits, or it stops before.
    if (std::from_chars(end - 2, end, byte, 16).ptr != end)
      return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  if (text.size() % 2 != 0)
    return std::nullopt;
  return bytes;
}

Expected<ParsedCommand> kv::parseCommand(std::string_view line) {
  auto nextWord = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
  };
  ParsedCommand parsed;
  parsed.strings.reserve(3); // the command points into them: no moves
  Command &command = parsed.command;
  std::string_view name = nextWord();
  size_t kind = 0;
  while (kind < Names.size() && Names[kind] != name)
    ++kind;
  if (kind == Names.size())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", name,
                     " is not a command");
  command.kind = static_cast<Command::Kind>(kind);
  auto bad = [&](std::string_view word) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", word,
                     " is not a field of ", name);
  };
  bool first = true;
  for (std::string_view word = nextWord(); !word.empty(); word = nextWord()) {
    size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      std::optional<int64_t> number = toNumber(word);
      if (!number || *number < INT32_MIN || *number > INT32_MAX ||
          (!first && command.kind != Command::Tokens))
        return bad(word);
      if (first)
        command.sequence = static_cast<int32_t>(*number);
      else
        parsed.tokens.push_back(static_cast<int32_t>(*number));
      first = false;
      continue;
    }
    std::string_view field = word.substr(0, equals);
    std::string_view value = word.substr(equals + 1);
    if (std::optional<std::string_view> *text =
            field == "model"     ? &command.scope.model
            : field == "adapter" ? &command.scope.adapter
            : field == "salt"    ? &command.scope.salt
                                 : nullptr) {
      std::optional<std::string> bytes = toBytes(value);
      if (!bytes || *text)
        return bad(word);
      parsed.strings.push_back(std::move(*bytes));
      *text = parsed.strings.back();
      continue;
    }
    std::optional<int64_t> number = toNumber(value);
    if (!number)
      return bad(word);
    bool isByte = *number >= 0 && *number <= UINT8_MAX;
    if (field == "a")
      command.a = *number;
    else if (field == "b")
      command.b = *number;
    else if (field == "c")
      command.c = *number;
    else if (field == "d")
      command.d = *number;
    else if (field == "prompt")
      command.prompt = *number;
    else if (field == "prefixTokens")
      command.retention.prefixTokens = *number;
    else if (field == "duration")
      command.retention.duration = *number;
    else if (field == "prefixDuration")
      command.retention.prefixDuration = *number;
    else if (field == "priority" && isByte)
      command.retention.priority = static_cast<uint8_t>(*number);
    else if (field == "prefixPriority" && isByte)
      command.retention.prefixPriority = static_cast<uint8_t>(*number);
    else
      return bad(word);
  }
  command.tokens = parsed.tokens;
  return parsed;
}
