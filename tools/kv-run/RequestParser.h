//===- RequestParser.h - JSON lines to requests -----------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_REQUESTPARSER_H
#define KV_TOOLS_KVRUN_REQUESTPARSER_H

#include "kv/Runtime/Serving/GenerationRequest.h"

#include <expected>
#include <optional>

namespace kv::run {

/// A line that is no request.
struct BadRequest {
  std::optional<std::string> id; // where the line has one
  std::string message;           // names the request, or else the line
};

/// Parses line number `line` (the first is 1). With `dumpsLogits`, prompt
/// logits are asked of the request.
std::expected<GenerationRequest, BadRequest>
parseRequest(std::string_view text, int64_t line, bool dumpsLogits);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_REQUESTPARSER_H
