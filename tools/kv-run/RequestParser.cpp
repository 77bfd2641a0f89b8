//===- RequestParser.cpp - JSON lines to requests -------------------------===//

#include "RequestParser.h"

#include "tools/JsonFields.h"

using namespace kv;
using namespace kv::run;
using nlohmann::json;

namespace {

constexpr const char *FieldNames[] = {
    "id",     "tokens", "max_new_tokens", "temperature", "top_k",
    "top_p",  "min_p",  "seed",           "stop_tokens", "arrival_step",
    "logits", "salt",   "priority",       "keep_seconds"};

} // namespace

std::expected<GenerationRequest, BadRequest>
kv::run::parseRequest(std::string_view text, int64_t line, bool dumpsLogits) {
  auto bad = [&](const auto &...parts) {
    return std::unexpected(
        BadRequest{std::nullopt, concat("line ", line, parts...)});
  };
  Expected<json> parsed = parseObject(text);
  if (!parsed)
    return bad(" ", parsed.error().message);
  const json &object = *parsed;
  auto id = object.find("id");
  if (id == object.end())
    return bad(": the field id is missing");
  if (!id->is_string())
    return bad(": id is ", printJson(*id), ", allowed: a string");

  GenerationRequest request;
  request.id = id->get<std::string>();
  Fields fields(object, concat("request ", request.id));
  for (const auto &[name, value] : object.items())
    if (std::ranges::find(FieldNames, name) == std::end(FieldNames)) {
      std::string known;
      for (const char *field : FieldNames)
        known += concat(known.empty() ? "" : ", ", field);
      fields.fail("unknown field ", printJson(json(name)),
                  ", allowed: ", known);
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
      fields.fail("logits is ", printJson(*logits),
                  ", allowed: \"none\", \"digest\"");
  }
  request.promptLogits = dumpsLogits;
  fields.text("salt", request.salt);
  int64_t priority = request.retention.priority;
  fields.integer("priority", priority, int64_t(Retention::Highest));
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
