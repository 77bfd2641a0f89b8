//===- Backend.cpp - A CUDA device ----------------------------------------===//

#include "Backend.h"
#include "Context.h"
#include "Module.h"

#include <algorithm>
#include <cstring>
#include <sched.h>

using namespace kv;
using namespace kv::cuda;
using driver::Result;

static constexpr Result OutOfMemory = 2, NotReady = 600;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::string Backend::describe(Result result, std::string_view call) const {
  const char *text = nullptr;
  api.getErrorString(result, &text);
  return concat(call, ": ", text ? text : "unknown error", " (", result, ")");
}

std::unexpected<Error> Backend::fail(Result result,
                                     std::string_view call) const {
  return makeError(result == OutOfMemory ? KV_STATUS_OUT_OF_MEMORY
                                         : KV_STATUS_INTERNAL,
                   describe(result, call));
}

Expected<void> Backend::query() {
  char name[256] = {};
  if (Result r = api.deviceGetName(name, sizeof name - 1, handle))
    return fail(r, "cuDeviceGetName");
  device.name = name;
  std::pair<int, int *> attributes[] = {
      {driver::AttributeMultiprocessors, &device.multiprocessors},
      {driver::AttributeMajor, &device.major},
      {driver::AttributeMinor, &device.minor},
      {driver::AttributeSharedBytes, &device.sharedBytes},
      {driver::AttributeBlocks, &device.blocks}};
  for (auto [attribute, value] : attributes)
    if (Result r = api.deviceGetAttribute(value, attribute, handle))
      return fail(r, "cuDeviceGetAttribute");
  if (Result r = api.deviceTotalMem(&device.memoryBytes, handle))
    return fail(r, "cuDeviceTotalMem");
  return {};
}

Expected<std::unique_ptr<Backend>> Backend::open(int index,
                                                 const driver::Driver *given) {
  Expected<const driver::Driver *> loaded = given;
  if (!given)
    loaded = driver::loadDriver();
  if (!loaded)
    return std::unexpected(loaded.error());
  std::unique_ptr<Backend> made(new Backend(**loaded));
  const driver::Driver &api = made->api;
  if (Result r = api.init(0))
    return made->fail(r, "cuInit");
  int count = 0;
  if (Result r = api.deviceGetCount(&count))
    return made->fail(r, "cuDeviceGetCount");
  if (index >= count)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "this machine has ", count,
                     " CUDA device", count == 1 ? "" : "s");
  if (Result r = api.deviceGet(&made->handle, index))
    return made->fail(r, "cuDeviceGet");
  if (Expected<void> known = made->query(); !known)
    return std::unexpected(known.error());
  if (Result r = api.primaryContextRetain(&made->context, made->handle))
    return made->fail(r, "cuDevicePrimaryCtxRetain");
  made->enter();
  for (Queue *each : {&made->queue, &made->aside})
    if (Expected<void> opened = made->open(*each); !opened)
      return std::unexpected(opened.error());
  if (Expected<void> sound = made->status(); !sound)
    return std::unexpected(sound.error());
  return made;
}

Expected<void> Backend::open(Queue &made) {
  if (Result r = api.streamCreate(&made.stream, driver::StreamNonBlocking))
    return fail(r, "cuStreamCreate");
  for (driver::Event &event : made.events)
    if (Result r = api.eventCreate(&event, driver::EventNoTiming))
      return fail(r, "cuEventCreate");
  return {};
}

void Backend::close(Queue &made) {
  if (made.stream)
    api.streamSynchronize(made.stream);
  for (driver::Event event : made.events)
    if (event)
      api.eventDestroy(event);
  if (made.stream)
    api.streamDestroy(made.stream);
}

Backend::~Backend() {
  if (!context)
    return;
  enter();
  close(aside);
  close(queue);
  api.primaryContextRelease(handle);
}

std::string Backend::description() const {
  return concat(device.name, " (sm_", device.major, device.minor, ")");
}

/// Enough for the activations of thousands of tokens and for the pieces of
/// attention plans.
size_t Backend::defaultArenaBytes() const {
  return std::min(device.memoryBytes / 16, size_t(2) << 30);
}

bool Backend::check(Result result, std::string_view call) {
  if (result == 0)
    return true;
  if (!failure)
    failure = fail(result, call).error();
  return false;
}

void Backend::enter() {
  check(api.contextSetCurrent(context), "cuCtxSetCurrent");
}

Expected<void> Backend::status() const {
  if (failure)
    return std::unexpected(*failure);
  return {};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<void *> Backend::allocate(size_t bytes, bool zeroed) {
  enter();
  driver::Pointer data = 0;
  if (Result r = api.memAlloc(&data, bytes))
    return fail(r, concat(bytes, " bytes asked for"));
  auto *result = reinterpret_cast<void *>(data);
  if (zeroed)
    zero(result, bytes);
  return result;
}

void Backend::free(void *data, size_t) {
  enter();
  // Queued work may still use the memory.
  (void)synchronize();
  check(api.memFree(address(data)), "cuMemFree");
}

Expected<void *> Backend::allocatePinned(size_t bytes) {
  enter();
  void *data = nullptr;
  if (Result r = api.memHostAlloc(&data, bytes, driver::HostPortable))
    return fail(r, concat(bytes, " bytes of pinned memory asked for"));
  std::memset(data, 0, bytes);
  return data;
}

void Backend::freePinned(void *data, size_t) {
  enter();
  (void)synchronize();
  check(api.memFreeHost(data), "cuMemFreeHost");
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

void Backend::copyToDevice(void *target, const void *source, size_t bytes) {
  enter();
  check(api.memcpyHtoDAsync(address(target), source, bytes, queue.stream),
        "cuMemcpyHtoDAsync");
}

void Backend::copyToHost(void *target, const void *source, size_t bytes) {
  enter();
  check(api.memcpyDtoHAsync(target, address(source), bytes, queue.stream),
        "cuMemcpyDtoHAsync");
}

void Backend::copyOnDevice(void *target, const void *source, size_t bytes) {
  enter();
  check(api.memcpyDtoDAsync(address(target), address(source), bytes,
                            queue.stream),
        "cuMemcpyDtoDAsync");
}

void Backend::zero(void *target, size_t bytes) {
  enter();
  check(api.memsetD8Async(address(target), 0, bytes, queue.stream),
        "cuMemsetD8Async");
}

void Backend::copyBatch(std::span<const MemoryCopy> copies) {
  enter();
  copyBatch(copies, queue.stream);
}

void Backend::copyBatch(std::span<const MemoryCopy> copies,
                        driver::Stream stream) {
  if (copies.empty())
    return;
  if (!api.memcpyBatchAsync) {
    for (const MemoryCopy &copy : copies)
      check(api.memcpyAsync(address(copy.target), address(copy.source),
                            copy.bytes, stream),
            "cuMemcpyAsync");
    return;
  }
  targets.clear();
  sources.clear();
  sizes.clear();
  for (const MemoryCopy &copy : copies) {
    targets.push_back(address(copy.target));
    sources.push_back(address(copy.source));
    sizes.push_back(copy.bytes);
  }
  driver::CopyAttributes attributes = {};
  attributes.sourceOrder = driver::SourceInStreamOrder;
  size_t first = 0;
  check(api.memcpyBatchAsync(targets.data(), sources.data(), sizes.data(),
                             copies.size(), &attributes, &first, 1, stream),
        "cuMemcpyBatchAsync");
}

uint64_t Backend::mark(Queue &on) {
  ++on.marks;
  check(api.eventRecord(on.event(on.marks), on.stream), "cuEventRecord");
  return on.marks;
}

uint64_t Backend::mark() {
  enter();
  return mark(queue);
}

Expected<void> Backend::wait(uint64_t mark) {
  enter();
  if (mark)
    waitFor(queue.event(mark));
  return status();
}

void Backend::waitFor(driver::Event event) {
  if (!mayWait) {
    check(api.eventSynchronize(event), "cuEventSynchronize");
    return;
  }
  auto begin = std::chrono::steady_clock::now();
  for (uint32_t turn = 1;; ++turn) {
    Result result = api.eventQuery(event);
    if (result != NotReady) {
      check(result, "cuEventQuery");
      return;
    }
    if (turn % 64)
      continue;
    // With as many ranks as cores, the one that is waited for may need this
    // one.
    sched_yield();
    Expected<void> allowed = mayWait(std::chrono::steady_clock::now() - begin);
    if (allowed)
      continue;
    if (!failure)
      failure = allowed.error();
    return;
  }
}

Expected<void> Backend::synchronize() {
  enter();
  // A wait with an end first.
  if (mayWait)
    waitFor(queue.event(mark(queue)));
  for (Queue *each : {&queue, &aside})
    if (each == &queue || each->marks > 0)
      check(api.streamSynchronize(each->stream), "cuStreamSynchronize");
  return status();
}

//===----------------------------------------------------------------------===//
// The second queue
//===----------------------------------------------------------------------===//

uint64_t Backend::copyAside(std::span<const MemoryCopy> copies, bool after) {
  enter();
  if (after)
    check(api.streamWaitEvent(aside.stream, queue.event(mark(queue)), 0),
          "cuStreamWaitEvent");
  copyBatch(copies, aside.stream);
  return mark(aside);
}

void Backend::followAside(uint64_t mark) {
  enter();
  if (mark > aside.done)
    check(api.streamWaitEvent(queue.stream, aside.event(mark), 0),
          "cuStreamWaitEvent");
}

bool Backend::isAsideDone(uint64_t mark) {
  enter();
  if (mark <= aside.done)
    return true;
  Result result = api.eventQuery(aside.event(mark));
  if (result == NotReady)
    return false;
  // A queue that has failed is not waited for.
  check(result, "cuEventQuery");
  aside.done = mark;
  return true;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<DeviceModule>>
Backend::load(const std::vector<KernelImage> &images) {
  enter();
  return Module::load(*this, images);
}

Expected<std::unique_ptr<DeviceContext>>
Backend::createContext(const DeviceContextOptions &options) {
  enter();
  return Context::create(*this, options);
}
