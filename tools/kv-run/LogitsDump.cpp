//===- LogitsDump.cpp - The file of --dump-logits -------------------------===//

#include "LogitsDump.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

Expected<std::unique_ptr<LogitsDump>>
LogitsDump::create(const std::string &path,
                   const std::deque<GenerationRequest> &requests,
                   int64_t vocabSize) {
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path,
                     ": cannot be written: ", std::strerror(errno));
  std::unique_ptr<LogitsDump> dump(new LogitsDump(path, file, vocabSize));
  int64_t rows = 0;
  for (const GenerationRequest &request : requests) {
    dump->firstRow[&request] = rows;
    rows += static_cast<int64_t>(request.tokens.size());
  }
  int64_t bytes = rows * vocabSize * static_cast<int64_t>(sizeof(float));
  if (::ftruncate(file, bytes) != 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path, ": cannot hold ", bytes,
                     " bytes: ", std::strerror(errno));
  return dump;
}

LogitsDump::~LogitsDump() { ::close(file); }

void LogitsDump::write(const GenerationRequest &request, int64_t position,
                       std::span<const float> row) {
  writeAt(firstRow.at(&request) + position, row);
}

void LogitsDump::clear(const GenerationRequest &request) {
  std::vector<float> zeros(vocabSize);
  int64_t first = firstRow.at(&request);
  for (size_t i = 0; i < request.tokens.size(); ++i)
    writeAt(first + static_cast<int64_t>(i), zeros);
}

void LogitsDump::writeAt(int64_t row, std::span<const float> values) {
  const char *data = reinterpret_cast<const char *>(values.data());
  size_t left = values.size_bytes();
  off_t offset = row * vocabSize * static_cast<int64_t>(sizeof(float));
  while (left > 0 && status) {
    ssize_t count = ::pwrite(file, data, left, offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      status = makeError(KV_STATUS_INTERNAL, path,
                         ": cannot be written: ", std::strerror(errno));
      return;
    }
    data += count;
    left -= count;
    offset += count;
  }
}
