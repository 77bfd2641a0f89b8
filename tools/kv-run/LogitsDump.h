//===- LogitsDump.h - The file of --dump-logits -----------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_LOGITSDUMP_H
#define KV_TOOLS_KVRUN_LOGITSDUMP_H

#include "kv/Runtime/Serving/GenerationRequest.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace kv::run {

/// Raw f32 rows [prompt positions, vocab] of each request, in request order,
/// whatever order they are computed in. A failed request's rows are zero.
class LogitsDump {
public:
  /// `requests` must not move. Errors name the file.
  static Expected<std::unique_ptr<LogitsDump>>
  create(const std::string &path, const std::deque<GenerationRequest> &requests,
         int64_t vocabSize);
  ~LogitsDump();

  void write(const GenerationRequest &request, int64_t position,
             std::span<const float> row);
  /// Zeroes the rows of a request that failed after it had some.
  void clear(const GenerationRequest &request);

  /// The first error of any write.
  const Expected<void> &result() const { return status; }

private:
  LogitsDump(std::string path, int file, int64_t vocabSize)
      : path(std::move(path)), file(file), vocabSize(vocabSize) {}

  void writeAt(int64_t row, std::span<const float> values);

  std::string path;
  int file;
  int64_t vocabSize;
  std::unordered_map<const GenerationRequest *, int64_t> firstRow;
  Expected<void> status;
};

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_LOGITSDUMP_H
