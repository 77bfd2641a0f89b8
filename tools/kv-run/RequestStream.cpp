//===- RequestStream.cpp - Requests from a file or a pipe -----------------===//

#include "RequestStream.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

bool RequestStream::read(bool wait) {
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
      if (!buffer.empty())
        parseLine(buffer);
      buffer.clear();
      break;
    }
    buffer.append(chunk, static_cast<size_t>(bytes));
    size_t start = 0;
    for (size_t end; (end = buffer.find('\n', start)) != std::string::npos;
         start = end + 1)
      parseLine(std::string_view(buffer).substr(start, end - start));
    buffer.erase(0, start);
    wait = wait && start == 0; // Half a line is nothing yet.
  }
  return false;
}

void RequestStream::parseLine(std::string_view text) {
  ++line;
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
