//===- JsonFields.h - The fields of a line's object -------------*- C++ -*-===//

#ifndef KV_TOOLS_JSONFIELDS_H
#define KV_TOOLS_JSONFIELDS_H

#include "kv/Runtime/Base/Error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace kv {

/// A value as messages show it: cut if it is long.
inline std::string show(const nlohmann::json &value) {
  std::string text =
      value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  constexpr size_t Most = 40;
  if (text.size() <= Most)
    return text;
  size_t cut = Most;
  while (cut > 0 && (text[cut] & 0xC0) == 0x80)
    --cut; // not within a character
  return text.substr(0, cut) + "...";
}

/// The JSON of a line. Error: why it is not certain, without a subject.
inline Expected<nlohmann::json> parseLine(std::string_view text) {
  using nlohmann::json;
  constexpr int MostDepth = 64; // show() goes down to the innermost value
  bool isDeep = false;
  std::set<std::string> names;
  std::string twice;
  auto look = [&](int depth, json::parse_event_t event, json &value) {
    isDeep |= depth > MostDepth;
    if (depth == 1 && event == json::parse_event_t::key &&
        !names.insert(value.get<std::string>()).second)
      twice = show(value);
    return !isDeep;
  };
  json line = json::parse(text, look, /*allow_exceptions=*/false);
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
  };
  if (isDeep)
    return refuse("is nested deeper than ", MostDepth, " levels");
  if (line.is_discarded())
    return refuse("is not valid JSON: one object a line is needed");
  if (!line.is_object())
    return refuse("is ", show(line), ", a JSON object is needed");
  if (!twice.empty())
    return refuse("has the field ", twice, " twice");
  return line;
}

/// Reads the fields of one object; the first fault is kept.
class Fields {
public:
  Fields(const nlohmann::json &object, std::string subject)
      : object(object), subject(std::move(subject)) {}

  const std::string &fault() const { return message; }

  template <class... Parts> void fail(const Parts &...parts) {
    if (message.empty())
      message = concat(subject, ": ", parts...);
  }

  /// Null if the field is absent.
  const nlohmann::json *find(const char *name) const {
    auto at = object.find(name);
    return at == object.end() ? nullptr : &*at;
  }

  template <class Integer>
  void integer(const char *name, Integer &result,
               Integer most = std::numeric_limits<Integer>::max()) {
    const nlohmann::json *value = find(name);
    if (!value)
      return;
    if (std::optional<uint64_t> number = natural(*value);
        number && std::cmp_less_equal(*number, most))
      result = static_cast<Integer>(*number);
    else
      fail(name, " is ", show(*value), ", allowed: an integer from 0 to ",
           most);
  }

  void tokens(const char *name, std::vector<int32_t> &result) {
    const nlohmann::json *value = find(name);
    if (!value)
      return;
    if (!value->is_array())
      return fail(name, " is ", show(*value),
                  ", allowed: an array of token ids");
    result.reserve(value->size());
    for (const nlohmann::json &token : *value) {
      std::optional<uint64_t> number = natural(token);
      if (!number || !std::in_range<int32_t>(*number))
        return fail(name, "[", result.size(), "] is ", show(token),
                    ", allowed: an integer from 0 to ", INT32_MAX);
      result.push_back(static_cast<int32_t>(*number));
    }
  }

  void number(const char *name, double &result, bool (*allowed)(double),
              std::string_view range) {
    const nlohmann::json *value = find(name);
    if (!value)
      return;
    double number = value->is_number() ? value->get<double>() : NAN;
    if (std::isfinite(number) && allowed(number))
      result = number;
    else
      fail(name, " is ", show(*value), ", allowed: a number ", range);
  }

  /// A text, or null where that is allowed.
  void text(const char *name, std::optional<std::string> &result,
            bool allowsNull = false) {
    const nlohmann::json *value = find(name);
    if (!value || (allowsNull && value->is_null()))
      return;
    if (value->is_string())
      result = value->get<std::string>();
    else
      fail(name, " is ", show(*value), ", allowed: a string");
  }

private:
  static std::optional<uint64_t> natural(const nlohmann::json &value) {
    if (value.is_number_unsigned())
      return value.get<uint64_t>();
    if (value.is_number_integer() && value.get<int64_t>() >= 0)
      return value.get<uint64_t>();
    return std::nullopt;
  }

  const nlohmann::json &object;
  std::string subject;
  std::string message;
};

} // namespace kv

#endif // KV_TOOLS_JSONFIELDS_H
