//===- RespConnection.cpp - Commands and replies in time ------------------===//

#include "RespConnection.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

using namespace kv;

using Kind = RespReply::Kind;
using Outcome = RespConnection::Outcome;

//===----------------------------------------------------------------------===//
// The protocol
//===----------------------------------------------------------------------===//

void RespCommands::add(std::span<const std::string_view> arguments) {
  constexpr size_t Small = size_t(16) << 10;
  std::vector<const char *> texts;
  std::vector<size_t> sizes;
  for (std::string_view argument : arguments) {
    texts.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  char *made = nullptr;
  int bytes = redisFormatCommandArgv(&made, static_cast<int>(texts.size()),
                                     texts.data(), sizes.data());
  if (bytes < 0)
    throw std::bad_alloc();
  std::unique_ptr<char, Free> owned(made);
  size_t size = static_cast<size_t>(bytes);
  ++count;
  if (size > Small) {
    parts.push_back({std::move(owned), size, {}});
    return;
  }
  if (parts.empty() || parts.back().large)
    parts.emplace_back();
  parts.back().small.append(made, size);
}

/// Replies are told where hiredis has found them, in its buffer. Arrays are
/// never asked for.
redisReplyObjectFunctions RespConnection::functions() {
  redisReplyObjectFunctions made = {};
  made.createString = [](const redisReadTask *task, char *text, size_t size) {
    Kind kind = task->type == REDIS_REPLY_ERROR    ? Kind::Error
                : task->type == REDIS_REPLY_STATUS ? Kind::Status
                                                   : Kind::Text;
    return static_cast<RespConnection *>(task->privdata)
        ->accept({kind, 0, {text, size}});
  };
  made.createArray = [](const redisReadTask *, auto) -> void * {
    return nullptr;
  };
  made.createInteger = [](const redisReadTask *task, long long number) {
    return static_cast<RespConnection *>(task->privdata)
        ->accept({Kind::Number, number, {}});
  };
  made.createNil = [](const redisReadTask *task) {
    return static_cast<RespConnection *>(task->privdata)->accept({});
  };
  made.freeObject = [](void *) {};
  return made;
}

void *RespConnection::accept(const RespReply &reply) {
  if (replies == expected)
    return nullptr; // not asked for
  (*sink)(replies++, reply);
  return this; // any object that is not null
}

/// Gives hiredis bytes of one reply, which are its last if it `ends`.
bool RespConnection::feed(std::span<const char> bytes, bool ends) {
  size_t before = replies;
  redisReaderFeed(reader, bytes.data(), bytes.size());
  void *object = nullptr;
  if (redisReaderGetReply(reader, &object) != REDIS_OK)
    return false;
  return replies == before + (ends ? 1 : 0) && (object != nullptr) == ends;
}

/// A line is a whole reply, or the length of a text.
bool RespConnection::takeLine() {
  long long length = -1;
  bool isText = line[0] == '$';
  if (isText) {
    const char *end = line.data() + line.size() - 2;
    auto parsed = std::from_chars(line.data() + 1, end, length);
    if (parsed.ec != std::errc() || parsed.ptr != end || *end != '\r' ||
        length < -1 || length > static_cast<long long>(mostBytes))
      return false; // nothing that long was asked for
  }
  if (replies == expected)
    return false;
  if (!isText || length < 0)
    return feed(line, /*ends=*/true);
  auto bytes = static_cast<size_t>(length);
  rest = bytes + 2;
  place = texts ? texts->place(replies, bytes) : LongTexts::TextPlace();
  isPlaced = bytes > 0 && place.size() == bytes;
  return isPlaced || feed(line, /*ends=*/false);
}

/// Notes that `bytes` bytes have been read to their place.
void RespConnection::takePlaced(size_t bytes) {
  rest -= bytes;
  size_t head = std::min(bytes, place.head.size());
  place.head = place.head.subspan(head);
  if (bytes > head) {
    texts->arrived(place.body.first(bytes - head));
    place.body = place.body.subspan(bytes - head);
  }
}

bool RespConnection::take(std::span<const char> bytes) {
  constexpr size_t LongestLine = 4096;
  while (!bytes.empty()) {
    if (rest == 0) {
      auto end = std::ranges::find(bytes, '\n');
      bool isWhole = end != bytes.end();
      size_t taken = static_cast<size_t>(end - bytes.begin()) + isWhole;
      line.append(bytes.data(), taken);
      bytes = bytes.subspan(taken);
      if (line.size() > LongestLine || (isWhole && line.size() < 3))
        return false;
      if (isWhole && !takeLine())
        return false;
      if (isWhole)
        line.clear();
      continue;
    }
    bool isInside = isPlaced && rest > 2;
    size_t taken = std::min(bytes.size(), isInside ? rest - 2 : rest);
    if (isInside && !place.head.empty())
      taken = std::min(taken, place.head.size());
    if (isInside) {
      std::span<std::byte> to = place.head.empty() ? place.body : place.head;
      std::memcpy(to.data(), bytes.data(), taken);
      takePlaced(taken);
    } else if (isPlaced) {
      for (size_t i = 0; i < taken; ++i)
        if (bytes[i] != "\r\n"[2 - rest + i])
          return false;
      rest -= taken;
      if (rest == 0)
        (*sink)(replies++, {.kind = Kind::Text, .text = {}, .isPlaced = true});
    } else {
      rest -= taken;
      if (!feed(bytes.first(taken), rest == 0))
        return false;
    }
    bytes = bytes.subspan(taken);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The connection
//===----------------------------------------------------------------------===//

void RespConnection::close() {
  if (reader)
    redisReaderFree(reader);
  if (context)
    redisFree(context);
  reader = nullptr;
  context = nullptr;
}

bool RespConnection::wait(bool alsoToWrite, Clock::time_point deadline) {
  using std::chrono::milliseconds;
  for (;;) {
    auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd of = {.fd = context->fd,
                 .events =
                     static_cast<short>(POLLIN | (alsoToWrite ? POLLOUT : 0)),
                 .revents = 0};
    int ready = calls.wait(of, static_cast<int>(left.count()));
    if (ready > 0)
      return true; // the next read or write says what is wrong, if anything
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

Outcome RespConnection::open(Clock::time_point deadline) {
  static redisReplyObjectFunctions make = functions();
  context = calls.connect(address);
  if (!context || context->err)
    return Outcome::Closed;
  reader = redisReaderCreateWithFunctions(&make);
  if (!reader)
    return Outcome::Closed;
  reader->privdata = this;
  reader->maxbuf = 0; // its buffer is kept for the next record
  if (!wait(/*alsoToWrite=*/true, deadline))
    return Outcome::Late;
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(context->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ||
      error != 0)
    return Outcome::Closed;
  RespCommands first;
  if (!address.password.empty() && !address.user.empty())
    first.add({"AUTH", address.user, address.password});
  else if (!address.password.empty())
    first.add({"AUTH", address.password});
  if (address.db != 0)
    first.add({"SELECT", std::to_string(address.db)});
  bool isIn = true;
  const OnReply onReply = [&](size_t, const RespReply &reply) {
    isIn &= reply.kind == Kind::Status;
  };
  const OnReply *later = sink;
  LongTexts *places = texts;
  sink = &onReply;
  texts = nullptr;
  Outcome moved = move(first, deadline);
  sink = later;
  texts = places;
  return moved == Outcome::Done && !isIn ? Outcome::Refused : moved;
}

ssize_t RespConnection::writeSome(const RespCommands &commands, size_t &part,
                                  size_t &sent) {
  std::string_view rest = commands.parts[part].view().substr(sent);
  ssize_t moved = calls.write(context->fd, rest.data(), rest.size());
  if (moved < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
  sent += static_cast<size_t>(moved);
  if (sent == commands.parts[part].view().size()) {
    ++part;
    sent = 0;
  }
  return moved;
}

ssize_t RespConnection::readSome(size_t &wanted) {
  // A text with a place is read in pieces that fit the CPU's caches, where they
  // are summed up. Other bytes are read in small pieces, since a text with a
  // place may follow.
  constexpr size_t Most = size_t(256) << 10;
  bool isInside = isPlaced && rest > 2 && place.head.empty();
  wanted = isInside ? std::min(place.body.size(), Most) : buffer.size();
  void *to = isInside ? static_cast<void *>(place.body.data()) : buffer.data();
  return calls.read(context->fd, to, wanted);
}

Outcome RespConnection::move(const RespCommands &commands,
                             Clock::time_point deadline) {
  buffer.resize(size_t(16) << 10);
  line.clear();
  replies = rest = 0;
  isPlaced = false;
  expected = commands.count;
  size_t part = 0, sent = 0, wanted = 0;
  // A server stops reading while its replies are not taken, so this loop moves
  // both ways.
  while (replies < expected) {
    bool writes = part < commands.parts.size();
    ssize_t written = writes ? writeSome(commands, part, sent) : 0;
    if (written < 0)
      return Outcome::Closed;
    bool isInside = isPlaced && rest > 2 && place.head.empty();
    ssize_t read = readSome(wanted);
    if (read == 0)
      return Outcome::Closed;
    if (read < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
      return Outcome::Closed;
    if (read > 0 && isInside)
      takePlaced(static_cast<size_t>(read));
    else if (read > 0 && !take(std::span(buffer).first(size_t(read))))
      return Outcome::Broken;
    if (replies == expected)
      break;
    if (Clock::now() >= deadline)
      return Outcome::Late; // also if a few bytes come now and then
    // A read that was not filled has taken all that there was.
    bool isDry = read < static_cast<ssize_t>(wanted);
    if (written == 0 && isDry && !wait(part < commands.parts.size(), deadline))
      return Outcome::Late;
  }
  return line.empty() && rest == 0 ? Outcome::Done : Outcome::Broken;
}

Outcome RespConnection::exchange(const RespCommands &commands,
                                 size_t mostOfReply, const OnReply &onReply,
                                 Clock::time_point deadline,
                                 LongTexts *places) {
  mostBytes = mostOfReply;
  texts = places;
  sink = &onReply;
  Outcome outcome = isOpen() ? Outcome::Done : open(deadline);
  if (outcome == Outcome::Done)
    outcome = move(commands, deadline);
  if (outcome != Outcome::Done)
    close();
  return outcome;
}
