//===- RequestStream.h - Requests from a file or a pipe ---------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_REQUESTSTREAM_H
#define KV_TOOLS_KVRUN_REQUESTSTREAM_H

#include "AnswerWriter.h"
#include "tools/LineBuffer.h"

#include "kv/Runtime/Serving/TextGenerator.h"

#include <deque>
#include <functional>

namespace kv::run {

/// Reads JSON lines from a descriptor: what is there already is taken at once,
/// what comes later joins the requests that run. Bad lines are answered here.
class RequestStream : public RequestSource {
public:
  /// Neither owns nor closes `file`. `writer` answers bad lines.
  RequestStream(int file, bool dumpsLogits) : file(file), dumps(dumpsLogits) {}

  void setWriter(AnswerWriter &answers) { writer = &answers; }
  /// While nothing is there to read, `serve` is called whenever `descriptor` is
  /// readable, by the thread that waits.
  void setIdle(int descriptor, std::function<void()> serve) {
    idleDescriptor = descriptor;
    serveIdle = std::move(serve);
  }

  /// Reads to the end now: for what needs all requests beforehand.
  void readAll();
  const std::deque<GenerationRequest> &all() const { return requests; }

  void poll(bool wait,
            std::vector<const GenerationRequest *> &arrived) override;

  int64_t numBad() const { return answeredBad; }
  /// The errno by which reading ended before the end; 0: it did not.
  int readError() const { return failed; }

private:
  /// Takes what can be read; blocks for something when `wait`. False at the
  /// end.
  bool read(bool wait);
  void parseLine(std::string_view text, bool isTooLong);

  int file;
  int idleDescriptor = -1;
  std::function<void()> serveIdle;
  bool dumps;
  AnswerWriter *writer = nullptr;
  bool ended = false;
  int failed = 0;
  LineBuffer lines;
  int64_t line = 0;
  std::deque<GenerationRequest> requests; // never moved
  size_t given = 0;
  std::vector<BadRequest> bad;
  int64_t answeredBad = 0;
};

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_REQUESTSTREAM_H
