//===- RequestParser.h - JSON lines to requests -----------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_REQUESTPARSER_H
#define KV_TOOLS_KVRUN_REQUESTPARSER_H

#include "kv/Runtime/Serving/GenerationRequest.h"

#include <istream>

namespace kv::run {

/// A line that is no request.
struct BadRequest {
  std::optional<std::string> id; // where the line has one
  std::string message;           // names the request, or else the line
};

struct ParsedRequests {
  std::vector<GenerationRequest> requests;
  std::vector<BadRequest> bad;
};

/// Parses line number `line` (the first is 1). With `dumpsLogits`, prompt
/// logits are asked of the request.
std::expected<GenerationRequest, BadRequest>
parseRequest(std::string_view text, int64_t line, bool dumpsLogits);

/// Parses all lines; blank ones are skipped.
ParsedRequests parseRequests(std::istream &input, bool dumpsLogits);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_REQUESTPARSER_H
