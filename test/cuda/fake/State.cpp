//===- State.cpp - What the fake driver knows -----------------------------===//

#include "State.h"

#include <cstdlib>
#include <unistd.h>
#include <utility>

using namespace kv::fake;

const DeviceModel kv::fake::Devices[6] = {
    {"Fake 9.0", 9, 0, 2, 232448, 2048, 228 << 10},
    {"Fake 9.0 wide", 9, 0, 5, 232448, 2048, 228 << 10},
    {"Fake 8.6", 8, 6, 2, 101376, 1536, 100 << 10},
    {"Fake 12.0", 12, 0, 2, 101376, 1536, 100 << 10},
    {"Fake 7.5", 7, 5, 2, 65536, 1024, 64 << 10},
    {"Fake 10.0", 10, 0, 2, 232448, 2048, 228 << 10}};

State::State() {
  if (const char *path = std::getenv("KV_FAKE_CUDA_TRACE"))
    traceFile = std::fopen(path, "a");
}

State &State::get() {
  // Never destroyed: the runtime's devices live as long as the process.
  static State &state = *new State;
  return state;
}

Status State::problem(Status status, std::string text) {
  std::fprintf(stderr, "fake CUDA driver: %s\n", text.c_str());
  trace("problem " + text);
  problems.push_back(std::move(text));
  return status;
}

void State::trace(const std::string &line) {
  if (!traceFile)
    return;
  std::fprintf(traceFile, "%s\n", line.c_str());
  std::fflush(traceFile);
}

void State::advance(FakeStream &stream, int64_t number) {
  while (stream.done < number)
    advanceOne(stream);
}

void State::advanceOne(FakeStream &stream) {
  FakeStream::Operation &operation = stream.operations.front();
  if (operation.other)
    advance(*operation.other, operation.after);
  // After a failure a real device does nothing any more.
  if (operation.work.run && failure == Success) {
    if (operation.work.letsLaterBegin && stream.operations.size() > 1 &&
        stream.operations[1].work.early)
      stream.operations[1].work.early();
    Status status = operation.work.run();
    if (status == NotReady) {
      // Somebody else may need this core for what is waited for.
      usleep(20);
      return;
    }
    failure = status;
  }
  stream.operations.pop_front();
  ++stream.done;
}

Status State::runOne(FakeStream &stream) {
  DeviceMemory::Access access(memory);
  advanceOne(stream);
  return failure;
}

Status State::runUntil(FakeStream &stream, int64_t number) {
  if (stream.done < number) {
    DeviceMemory::Access access(memory);
    advance(stream, number);
  }
  return failure;
}

Status State::run() {
  for (FakeStream *stream : streams)
    runUntil(*stream, stream->total());
  return failure;
}

void State::runAside() {
  for (FakeStream *stream : streams)
    while (stream->isAside && !stream->operations.empty()) {
      const FakeStream::Operation &next = stream->operations.front();
      if (next.other && next.other->done < next.after)
        break;
      runUntil(*stream, stream->done + 1);
    }
}

int64_t State::queued() const {
  int64_t sum = 0;
  for (const FakeStream *stream : streams)
    sum += int64_t(stream->operations.size());
  return sum;
}

DeviceMemory::Range State::findPinned(const void *address) const {
  auto *at = static_cast<const char *>(address);
  auto it = pinned.upper_bound(at);
  if (it == pinned.begin())
    return {nullptr, 0};
  --it;
  if (at >= it->first + it->second)
    return {nullptr, 0};
  return {const_cast<char *>(it->first), it->second};
}

bool State::isPinned(const void *data, size_t bytes) const {
  DeviceMemory::Range range = findPinned(data);
  return range.bytes &&
         static_cast<const char *>(data) + bytes <= range.begin + range.bytes;
}

Status State::checkStream(const char *call, void *stream) {
  int own = stream ? static_cast<FakeStream *>(stream)->device : -1;
  if (own >= 0 && own == device)
    return Success;
  return problem(InvalidContext,
                 std::string(call) + ": the stream is of device " +
                     std::to_string(own) + ", the current context of " +
                     std::to_string(device));
}

Status State::checkNoCapture(const char *call) {
  for (const FakeStream *stream : streams)
    if (stream->captured)
      return problem(CaptureUnsupported,
                     std::string(call) + " while a stream is captured");
  return Success;
}

Counters kv::fake::counters() { return State::get().counters; }
std::vector<std::string> kv::fake::takeProblems() {
  return std::exchange(State::get().problems, {});
}
void kv::fake::forgetFailure() { State::get().forgetFailure(); }
int64_t kv::fake::bytesInUse() { return State::get().memory.bytesInUse(); }
int64_t kv::fake::pending() { return State::get().queued(); }
void kv::fake::runAside() { State::get().runAside(); }
