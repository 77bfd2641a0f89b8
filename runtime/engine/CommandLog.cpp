//===- CommandLog.cpp - Commands as text ----------------------------------===//

#include "kv/Runtime/Engine/CommandLog.h"

#include <algorithm>
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

/// A word that is a number: the sequence, then its tokens.
static bool setNumber(ParsedCommand &parsed, std::string_view word,
                      bool isFirst) {
  std::optional<int64_t> number = toNumber(word);
  if (!number || *number < INT32_MIN || *number > INT32_MAX ||
      (!isFirst && parsed.command.kind != Command::Tokens))
    return false;
  if (isFirst)
    parsed.command.sequence = static_cast<int32_t>(*number);
  else
    parsed.tokens.push_back(static_cast<int32_t>(*number));
  return true;
}

static std::optional<std::string_view> *textField(Command &command,
                                                  std::string_view field) {
  return field == "model"     ? &command.scope.model
         : field == "adapter" ? &command.scope.adapter
         : field == "salt"    ? &command.scope.salt
                              : nullptr;
}

static bool setField(Command &command, std::string_view field, int64_t number) {
  const std::pair<std::string_view, int64_t *> wide[] = {
      {"a", &command.a},
      {"b", &command.b},
      {"c", &command.c},
      {"d", &command.d},
      {"prompt", &command.prompt},
      {"prefixTokens", &command.retention.prefixTokens},
      {"duration", &command.retention.duration},
      {"prefixDuration", &command.retention.prefixDuration}};
  for (auto [name, place] : wide)
    if (field == name) {
      *place = number;
      return true;
    }
  uint8_t *byte = field == "priority" ? &command.retention.priority
                  : field == "prefixPriority"
                      ? &command.retention.prefixPriority
                      : nullptr;
  if (!byte || number < 0 || number > UINT8_MAX)
    return false;
  *byte = static_cast<uint8_t>(number);
  return true;
}

/// `field=value`.
static bool setField(ParsedCommand &parsed, std::string_view field,
                     std::string_view value) {
  if (auto *text = textField(parsed.command, field)) {
    std::optional<std::string> bytes = toBytes(value);
    if (!bytes || *text)
      return false;
    parsed.strings.push_back(std::move(*bytes));
    *text = parsed.strings.back();
    return true;
  }
  std::optional<int64_t> number = toNumber(value);
  return number && setField(parsed.command, field, *number);
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
  size_t kind = std::ranges::find(Names, name) - Names.begin();
  if (kind == Names.size())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", name,
                     " is not a command");
  command.kind = static_cast<Command::Kind>(kind);
  bool isFirst = true;
  for (std::string_view word = nextWord(); !word.empty(); word = nextWord()) {
    size_t equals = word.find('=');
    bool isNumber = equals == std::string_view::npos;
    if (!(isNumber ? setNumber(parsed, word, isFirst)
                   : setField(parsed, word.substr(0, equals),
                              word.substr(equals + 1))))
      return makeError(KV_STATUS_INVALID_ARGUMENT, "command log: ", word,
                       " is not a field of ", name);
    isFirst &= !isNumber;
  }
  command.tokens = parsed.tokens;
  return parsed;
}
