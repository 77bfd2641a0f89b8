//===- RespConnection.cpp - Commands and replies in time ------------------===//

#include "RespConnection.h"

#include <algorithm>
#include <cerrno>
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

/// Replies are told where hiredis has found them, in its buffer: a record is
/// copied once from there. Arrays are never asked for.
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
    return nullptr; // nobody has asked
  (*sink)(replies++, reply);
  return this; // any object that is not null
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
  Outcome moved = move(
      first, 0,
      [&](size_t, const RespReply &reply) {
        isIn &= reply.kind == Kind::Status;
      },
      deadline);
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

Outcome RespConnection::move(const RespCommands &commands, size_t mostBytes,
                             const OnReply &onReply,
                             Clock::time_point deadline) {
  constexpr size_t Piece = size_t(128) << 10;
  buffer.resize(Piece);
  sink = &onReply;
  replies = 0;
  expected = commands.count;
  size_t part = 0, sent = 0;
  // A server stops reading while nobody takes its replies, so both ways move.
  while (replies < expected) {
    bool writes = part < commands.parts.size();
    ssize_t written = writes ? writeSome(commands, part, sent) : 0;
    if (written < 0)
      return Outcome::Closed;
    ssize_t read = calls.read(context->fd, buffer.data(), buffer.size());
    if (read == 0)
      return Outcome::Closed;
    if (read < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
      return Outcome::Closed;
    if (read > 0) {
      redisReaderFeed(reader, buffer.data(), static_cast<size_t>(read));
      void *object = nullptr;
      do {
        object = nullptr;
        if (redisReaderGetReply(reader, &object) != REDIS_OK)
          return Outcome::Broken;
      } while (object);
      if (reader->len - reader->pos > mostBytes + Piece)
        return Outcome::Broken; // nothing that long was asked for
    }
    if (replies == expected)
      break;
    if (Clock::now() >= deadline)
      return Outcome::Late; // also if a few bytes come now and then
    // A read that was not filled has taken all that there was.
    bool isDry = read < static_cast<ssize_t>(buffer.size());
    if (written == 0 && isDry && !wait(part < commands.parts.size(), deadline))
      return Outcome::Late;
  }
  return reader->len == reader->pos ? Outcome::Done : Outcome::Broken;
}

Outcome RespConnection::exchange(const RespCommands &commands, size_t mostBytes,
                                 const OnReply &onReply,
                                 Clock::time_point deadline) {
  Outcome outcome = isOpen() ? Outcome::Done : open(deadline);
  if (outcome == Outcome::Done)
    outcome = move(commands, mostBytes, onReply, deadline);
  if (outcome != Outcome::Done)
    close();
  return outcome;
}
