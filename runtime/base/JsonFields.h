//===- JsonFields.h - Checked access to untrusted JSON ----------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_JSONFIELDS_H
#define KV_RUNTIME_BASE_JSONFIELDS_H

#include "kv/Runtime/Base/Error.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <set>

namespace kv {

/// A value as messages show it: cut if it is long.
inline std::string printJson(const nlohmann::json &value) {
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

/// The object of an untrusted text. Error: why it is none, without a subject.
inline Expected<nlohmann::json> parseObject(std::string_view text) {
  using nlohmann::json;
  constexpr int MostDepth = 64; // dump() goes down to the innermost value
  bool isDeep = false;
  std::set<std::string> names;
  std::string twice;
  auto look = [&](int depth, json::parse_event_t event, json &value) {
    isDeep |= depth > MostDepth;
    if (depth == 1 && event == json::parse_event_t::key &&
        !names.insert(value.get<std::string>()).second)
      twice = printJson(value);
    return !isDeep;
  };
  json object = json::parse(text, look, /*allow_exceptions=*/false);
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
  };
  if (isDeep)
    return refuse("is nested deeper than ", MostDepth, " levels");
  if (object.is_discarded())
    return refuse("is not valid JSON, an object is needed");
  if (!object.is_object())
    return refuse("is ", printJson(object), ", an object is needed");
  if (!twice.empty())
    return refuse("has the field ", twice, " twice");
  return object;
}

/// nullopt if `value` is not an integer of 64 bits.
inline std::optional<int64_t> asInteger(const nlohmann::json &value) {
  if (!value.is_number_integer())
    return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return value.get<int64_t>();
}

/// Reads the fields of one document and keeps the first error, so that callers
/// check once, at the end. A field that is wrong is read as an empty value.
class JsonFields {
public:
  explicit JsonFields(std::string source) : source(std::move(source)) {}

  bool failed() const { return error.has_value(); }
  const std::optional<Error> &firstError() const { return error; }

  template <class... Parts> void fail(const Parts &...parts) {
    if (!error)
      error = Error{KV_STATUS_INVALID_ARGUMENT, concat(source, ": ", parts...)};
  }

  /// The field, or null; a required field that is missing is an error.
  const nlohmann::json *find(const nlohmann::json &object,
                             const std::string &where, const char *field,
                             bool required = true) {
    auto it = object.find(field);
    if (it != object.end())
      return &*it;
    if (required)
      fail(where, field, " is missing");
    return nullptr;
  }

  std::string text(const nlohmann::json &object, const std::string &where,
                   const char *field, bool required = true,
                   std::string fallback = {}) {
    const nlohmann::json *value = find(object, where, field, required);
    if (!value)
      return fallback;
    if (value->is_string())
      return value->get<std::string>();
    fail(where, field, " is ", printJson(*value), ", expected a string");
    return fallback;
  }

  int64_t integer(const nlohmann::json &object, const std::string &where,
                  const char *field, int64_t least, bool required = true) {
    const nlohmann::json *value = find(object, where, field, required);
    if (!value)
      return 0;
    std::optional<int64_t> number = asInteger(*value);
    if (number && *number >= least)
      return *number;
    fail(where, field, " is ", printJson(*value), ", expected an integer of ",
         least, " or more");
    return 0;
  }

  bool boolean(const nlohmann::json &object, const std::string &where,
               const char *field) {
    const nlohmann::json *value = find(object, where, field, false);
    if (!value)
      return false;
    if (value->is_boolean())
      return value->get<bool>();
    fail(where, field, " is ", printJson(*value), ", expected true or false");
    return false;
  }

  /// Calls fn(element, "field[i].") for each object of an array.
  template <class Fn>
  void objects(const nlohmann::json &object, const std::string &where,
               const char *field, Fn &&fn) {
    const nlohmann::json *value = find(object, where, field);
    if (!value)
      return;
    if (!value->is_array()) {
      fail(where, field, " is ", printJson(*value), ", expected an array");
      return;
    }
    for (size_t i = 0; i < value->size() && !failed(); ++i) {
      std::string inner = concat(where, field, "[", i, "]");
      if ((*value)[i].is_object())
        fn((*value)[i], inner + ".");
      else
        fail(inner, " is ", printJson((*value)[i]), ", expected an object");
    }
  }

private:
  std::string source;
  std::optional<Error> error;
};

} // namespace kv

#endif // KV_RUNTIME_BASE_JSONFIELDS_H
