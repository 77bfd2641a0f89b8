//===- RequestStream.cpp - Requests from a file or a pipe -----------------===//

#include "RequestStream.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

bool RequestStream::read(bool wait) {
  auto take = [&](std::string_view text, bool isTooLong) {
    parseLine(text, isTooLong);
  };
  while (!ended) {
    // A descriptor of -1 is passed over.
    pollfd ready[] = {{file, POLLIN, 0}, {idleDescriptor, POLLIN, 0}};
    int count = ::poll(ready, 2, wait ? -1 : 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (ready[1].revents)
      serveIdle();
    if (!ready[0].revents && count >= 0) {
      if (wait)
        continue;
      return true;
    }
    char chunk[1 << 16];
    ssize_t bytes = ::read(file, chunk, sizeof chunk);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes <= 0) {
      ended = true;
      failed = bytes < 0 ? errno : 0;
      lines.finish(take);
      break;
    }
    bool hasLine = lines.append({chunk, static_cast<size_t>(bytes)}, take);
    wait = wait && !hasLine; // Half a line is nothing yet.
  }
  return false;
}

void RequestStream::parseLine(std::string_view text, bool isTooLong) {
  ++line;
  if (isTooLong) {
    bad.push_back({std::nullopt, concat("line ", line, " has more than ",
                                        LineBuffer::Most, " bytes")});
    return;
  }
  if (text.find_first_not_of(" \t\r") == std::string_view::npos)
    return;
  if (auto request = parseRequest(text, line, dumps))
    requests.push_back(std::move(*request));
  else
    bad.push_back(std::move(request.error()));
}

void RequestStream::readAll() {
  while (read(/*wait=*/true))
    ;
}

void RequestStream::poll(bool wait,
                         std::vector<const GenerationRequest *> &arrived) {
  do {
    read(wait && given == requests.size());
    for (const BadRequest &request : bad)
      writer->bad(request);
    answeredBad += static_cast<int64_t>(bad.size());
    if (!bad.empty())
      writer->stepDone();
    bad.clear();
  } while (wait && !ended && given == requests.size());
  for (; given < requests.size(); ++given)
    arrived.push_back(&requests[given]);
}
