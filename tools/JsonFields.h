//===- JsonFields.h - The fields of a line's object -------------*- C++ -*-===//

#ifndef KV_TOOLS_JSONFIELDS_H
#define KV_TOOLS_JSONFIELDS_H

#include "runtime/base/JsonFields.h"

#include <cmath>
#include <utility>

namespace kv {

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
      fail(name, " is ", printJson(*value), ", allowed: an integer from 0 to ",
           most);
  }

  void tokens(const char *name, std::vector<int32_t> &result) {
    const nlohmann::json *value = find(name);
    if (!value)
      return;
    if (!value->is_array())
      return fail(name, " is ", printJson(*value),
                  ", allowed: an array of token ids");
    result.reserve(value->size());
    for (const nlohmann::json &token : *value) {
      std::optional<uint64_t> number = natural(token);
      if (!number || !std::in_range<int32_t>(*number))
        return fail(name, "[", result.size(), "] is ", printJson(token),
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
      fail(name, " is ", printJson(*value), ", allowed: a number ", range);
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
      fail(name, " is ", printJson(*value), ", allowed: a string");
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
