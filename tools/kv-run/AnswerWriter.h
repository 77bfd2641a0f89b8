//===- AnswerWriter.h - Answers as JSON lines -------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_ANSWERWRITER_H
#define KV_TOOLS_KVRUN_ANSWERWRITER_H

#include "LogitsDump.h"
#include "RequestParser.h"

#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <cstdio>
#include <unordered_map>

namespace kv::run {

/// Figures of the statistics line in addition to the generator's own.
struct RunFigures {
  int64_t pagesTotal = 0;
  int64_t hostPages = 0;
  KVCacheMetrics cache = {};
  int64_t pageSize = 0;
  unsigned threads = 0;
  int64_t ranks = 1; // memory and weights are of rank 0
  double loadSeconds = 0;
  int64_t weightsBytes = 0;
  int64_t poolBytes = 0;
  int64_t peakRssBytes = 0;
  const PeerMetrics *peer = nullptr; // with --role
};

/// Writes docs/reference/requests.md's answers to a file, one line each, made
/// visible once a step.
class AnswerWriter : public GenerationSink {
public:
  /// `dump` may be null. Without `stream`, a request's tokens (and digests, as
  /// `logits_digests`) come with its finish line.
  AnswerWriter(std::FILE *file, bool stream, LogitsDump *dump)
      : file(file), stream(stream), dump(dump) {}

  void token(const GenerationRequest &request, int64_t index, int32_t token,
             std::optional<uint64_t> digest) override;
  void finished(const GenerationRequest &request, FinishReason reason,
                const GenerationCounts &counts) override;
  void failed(const GenerationRequest &request,
              std::string_view message) override;
  void promptLogits(const GenerationRequest &request, int64_t position,
                    std::span<const float> row) override;
  void stepDone() override;

  /// A line that never became a request.
  void bad(const BadRequest &request);
  void statistics(const GenerationStatistics &statistics,
                  const RunFigures &figures);

  /// Whether everything was written.
  bool good() const { return written; }

private:
  struct Held {
    std::vector<int32_t> tokens;
    std::vector<std::string> digests;
  };

  void write(std::string line);

  std::FILE *file;
  bool stream;
  LogitsDump *dump;
  bool written = true;
  std::unordered_map<const GenerationRequest *, Held> held;
};

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_ANSWERWRITER_H
