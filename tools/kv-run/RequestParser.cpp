//===- RequestParser.cpp - JSON lines to requests -------------------------===//

#include "RequestParser.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace kv;
using namespace kv::run;
using nlohmann::json;

namespace {

/// A value as messages show it: cut if it is long.
std::string show(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  constexpr size_t Most = 40;
  if (text.size() <= Most)
    return text;
  size_t cut = Most;
  while (cut > 0 && (text[cut] & 0xC0) == 0x80)
    --cut; // not within a character
  return text.substr(0, cut) + "...";
}

/// Reads the fields of one object; the first fault is kept.
class Fields {
public:
  Fields(const json &object, std::string subject)
      : object(object), subject(std::move(subject)) {}

  const std::string &fault() const { return message; }

  template <class... Parts> void fail(const Parts &...parts) {
    if (message.empty())
      message = concat(subject, ": ", parts...);
  }

  /// Null if the field is absent.
  const json *find(const char *name) const {
    auto at = object.find(name);
    return at == object.end() ? nullptr : &*at;
  }

  template <class Integer> void integer(const char *name, Integer &result) {
    const json *value = find(name);
    if (!value)
      return;
    if (std::optional<uint64_t> number = natural(*value);
        number && std::in_range<Integer>(*number))
      result = static_cast<Integer>(*number);
    else
      fail(name, " is ", show(*value), ", allowed: an integer from 0 to ",
           std::numeric_limits<Integer>::max());
  }

  void tokens(const char *name, std::vector<int32_t> &result) {
    const json *value = find(name);
    if (!value)
      return;
    if (!value->is_array())
      return fail(name, " is ", show(*value),
                  ", allowed: an array of token ids");
    result.reserve(value->size());
    for (const json &token : *value) {
      std::optional<uint64_t> number = natural(token);
      if (!number || !std::in_range<int32_t>(*number))
        return fail(name, "[", result.size(), "] is ", show(token),
                    ", allowed: an integer from 0 to ", INT32_MAX);
      result.push_back(static_cast<int32_t>(*number));
    }
  }

  void number(const char *name, double &result, bool (*allowed)(double),
              std::string_view range) {
    const json *value = find(name);
    if (!value)
      return;
    double number = value->is_number() ? value->get<double>() : NAN;
    if (std::isfinite(number) && allowed(number))
      result = number;
    else
      fail(name, " is ", show(*value), ", allowed: a number ", range);
  }

private:
  static std::optional<uint64_t> natural(const json &value) {
    if (value.is_number_unsigned())
      return value.get<uint64_t>();
    if (value.is_number_integer() && value.get<int64_t>() >= 0)
      return value.get<uint64_t>();
    return std::nullopt;
  }

  const json &object;
  std::string subject;
  std::string message;
};

constexpr const char *FieldNames[] = {
    "id",     "tokens", "max_new_tokens", "temperature", "top_k",
    "top_p",  "min_p",  "seed",           "stop_tokens", "arrival_step",
    "logits", "salt",   "priority",       "keep_seconds"};

} // namespace

std::expected<GenerationRequest, BadRequest>
kv::run::parseRequest(std::string_view text, int64_t line, bool dumpsLogits) {
  std::string where = concat("line ", line);
  auto bad = [&](const auto &...parts) {
    return std::unexpected(BadRequest{std::nullopt, concat(where, parts...)});
  };
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded())
    return bad(" is not valid JSON: one object a line is needed");
  if (!object.is_object())
    return bad(" is ", show(object), ", a JSON object is needed");
  auto id = object.find("id");
  if (id == object.end())
    return bad(": the field id is missing");
  if (!id->is_string())
    return bad(": id is ", show(*id), ", allowed: a string");

  GenerationRequest request;
  request.id = id->get<std::string>();
  Fields fields(object, concat("request ", request.id));
  for (const auto &[name, value] : object.items())
    if (std::ranges::find(FieldNames, name) == std::end(FieldNames)) {
      std::string known;
      for (const char *field : FieldNames)
        known += concat(known.empty() ? "" : ", ", field);
      fields.fail("unknown field ", show(json(name)), ", allowed: ", known);
    }
  if (!fields.find("tokens"))
    fields.fail("the field tokens is missing");
  fields.tokens("tokens", request.tokens);
  if (request.tokens.empty())
    fields.fail("tokens is empty, at least one is needed");
  fields.integer("max_new_tokens", request.maxNewTokens);
  fields.number(
      "temperature", request.sampling.temperature,
      [](double value) { return value >= 0; }, "of at least 0");
  fields.integer("top_k", request.sampling.topK);
  fields.number(
      "top_p", request.sampling.topP,
      [](double value) { return value > 0 && value <= 1; },
      "above 0 and at most 1");
  fields.number(
      "min_p", request.sampling.minP,
      [](double value) { return value >= 0 && value <= 1; }, "from 0 to 1");
  fields.integer("seed", request.sampling.seed);
  fields.tokens("stop_tokens", request.stopTokens);
  fields.integer("arrival_step", request.arrivalStep);
  if (const json *logits = fields.find("logits")) {
    request.digests = *logits == "digest";
    if (!request.digests && *logits != "none")
      fields.fail("logits is ", show(*logits),
                  ", allowed: \"none\", \"digest\"");
  }
  request.promptLogits = dumpsLogits;
  if (const json *salt = fields.find("salt")) {
    if (salt->is_string())
      request.salt = salt->get<std::string>();
    else
      fields.fail("salt is ", show(*salt), ", allowed: a string");
  }
  int64_t priority = request.retention.priority;
  fields.integer("priority", priority);
  if (priority > Retention::Highest)
    fields.fail("priority is ", priority, ", allowed: 0 to ",
                int(Retention::Highest));
  request.retention.priority = static_cast<uint8_t>(priority);
  double seconds = 0;
  constexpr double MostSeconds = 4000; // of the manager's ticks of a second
  fields.number(
      "keep_seconds", seconds,
      [](double value) { return value >= 0 && value <= MostSeconds; },
      "from 0 to 4000");
  request.retention.duration = static_cast<int64_t>(seconds * 1e9);
  if (!fields.fault().empty())
    return std::unexpected(BadRequest{request.id, fields.fault()});
  return request;
}
