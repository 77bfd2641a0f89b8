//===- Driver.cpp - The driver's functions --------------------------------===//
//
// By the symbols of runtime/cuda/driver/Driver.def.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/driver/Driver.h"
#include "Kernels.h"
#include "kernels/block/TensorMap.h"

#include <cstdlib>
#include <cstring>

using namespace kv::fake;

#define EXPORT extern "C" __attribute__((visibility("default")))

using Pointer = unsigned long long;

namespace {

struct FakeEvent {
  FakeStream *stream = nullptr;
  int64_t after = 0; // operations of the stream that lie before it
};

State &state() { return State::get(); }

/// As CUDA_VISIBLE_DEVICES=n,...: devices before it are not there.
int firstDevice() {
  const char *text = std::getenv("KV_FAKE_CUDA_FIRST");
  return text ? std::atoi(text) : 0;
}

void *host(Pointer pointer) { return reinterpret_cast<void *>(pointer); }

/// Where a copy reads or writes: the device, pinned or any other memory.
enum class Place { Device, Pinned, Pageable };

Place placeOf(const void *data, size_t bytes) {
  if (state().memory.find(data).bytes)
    return Place::Device;
  return state().isPinned(data, bytes) ? Place::Pinned : Place::Pageable;
}

Status outside(const char *call, const void *data, size_t bytes) {
  if (state().memory.holds(data, bytes))
    return Success;
  return state().problem(InvalidValue, std::string(call) + " of " +
                                           std::to_string(bytes) +
                                           " bytes leaves device memory");
}

/// Queues target = source. Pageable sources are read now, as a driver does;
/// pageable targets are waited for.
Status copy(const char *call, void *target, const void *source, size_t bytes,
            void *stream) {
  if (state().device < 0)
    return InvalidContext;
  Place to = placeOf(target, bytes), from = placeOf(source, bytes);
  if (to == Place::Device)
    if (Status status = outside(call, target, bytes))
      return status;
  if (from == Place::Device)
    if (Status status = outside(call, source, bytes))
      return status;
  if (to == Place::Device && from == Place::Device) {
    auto *a = static_cast<const char *>(target);
    auto *b = static_cast<const char *>(source);
    if (a < b + bytes && b < a + bytes)
      return state().problem(InvalidValue,
                             std::string(call) + ": source and target overlap");
  }
  if (from == Place::Pageable || to == Place::Pageable)
    if (Status status = state().checkNoCapture(call))
      return status;
  if (from == Place::Pageable) {
    ++state().counters.pageableCopies;
    auto *begin = static_cast<const char *>(source);
    state().enqueue(stream,
                    [=, data = std::vector<char>(begin, begin + bytes)] {
                      std::memcpy(target, data.data(), bytes);
                      return Success;
                    });
    return Success;
  }
  state().enqueue(stream, [=] {
    // The allocation may have gone meanwhile.
    if ((to == Place::Device && outside(call, target, bytes)) ||
        (from == Place::Device && outside(call, source, bytes)))
      return LaunchFailed;
    std::memcpy(target, source, bytes);
    return Success;
  });
  if (to != Place::Pageable)
    return Success;
  ++state().counters.pageableCopies;
  auto &all = *static_cast<FakeStream *>(stream);
  return state().runUntil(all, all.total());
}

Status counted(const char *call, void *target, const void *source, size_t bytes,
               void *stream) {
  if (Status status = state().checkStream(call, stream))
    return status;
  ++state().counters.copies;
  state().trace(std::string(call) + " " + std::to_string(bytes));
  return copy(call, target, source, bytes, stream);
}

} // namespace

//===--- Devices ----------------------------------------------------------===//

EXPORT int cuInit(unsigned) { return Success; }
EXPORT int cuDriverGetVersion(int *version) {
  *version = 13000;
  return Success;
}
EXPORT int cuDeviceGetCount(int *count) {
  *count = int(std::size(Devices)) - firstDevice();
  return Success;
}
EXPORT int cuDeviceGet(int *device, int index) {
  *device = index + firstDevice();
  return Success;
}
EXPORT int cuDeviceGetName(char *name, int bytes, int device) {
  std::strncpy(name, Devices[device].name, bytes);
  return Success;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const DeviceModel &model = Devices[device];
  switch (attribute) {
  case 106:
    *value = MostBlocks;
    return Success;
  case 38:
    *value = 1 << 20;
    return Success;
  case 16:
    *value = model.multiprocessors;
    return Success;
  case 75:
    *value = model.major;
    return Success;
  case 76:
    *value = model.minor;
    return Success;
  case 97:
    *value = model.sharedBytes;
    return Success;
  }
  return InvalidValue;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(1) << 30;
  return Success;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = reinterpret_cast<void *>(intptr_t(device) + 1);
  return Success;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return Success; }
EXPORT int cuCtxSetCurrent(void *context) {
  state().device = int(reinterpret_cast<intptr_t>(context)) - 1;
  return Success;
}
EXPORT int cuGetErrorString(int status, const char **text) {
  *text = status == InvalidValue     ? "invalid argument"
          : status == OutOfMemory    ? "out of memory"
          : status == InvalidImage   ? "device kernel image is invalid"
          : status == NoBinaryForGpu ? "no kernel image is available for "
                                       "execution on the device"
          : status == InvalidPtx     ? "a PTX JIT compilation failed"
          : status == LaunchFailed   ? "unspecified launch failure"
          : status == CaptureUnsupported
              ? "operation not permitted when stream is capturing"
              : "an error of the fake driver";
  return Success;
}

//===--- Memory -----------------------------------------------------------===//

EXPORT int cuMemAlloc_v2(Pointer *pointer, size_t bytes) {
  if (Status status = state().checkNoCapture("cuMemAlloc"))
    return status;
  ++state().counters.allocations;
  state().trace("alloc " + std::to_string(bytes));
  if (state().device < 0)
    return InvalidContext;
  if (bytes == 0)
    return state().problem(InvalidValue, "an allocation of 0 bytes");
  *pointer =
      reinterpret_cast<Pointer>(state().memory.allocate(bytes, state().device));
  return *pointer ? Success : OutOfMemory;
}
EXPORT int cuMemFree_v2(Pointer pointer) {
  if (Status status = state().checkNoCapture("cuMemFree"))
    return status;
  ++state().counters.allocations;
  state().trace("free");
  Status status = state().run();
  if (!state().memory.free(host(pointer)))
    return state().problem(InvalidValue, "device memory is freed that is not "
                                         "allocated, or was freed before");
  return status;
}
EXPORT int cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ++state().counters.allocations;
  state().trace("alloc host " + std::to_string(bytes));
  *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*pointer)
    return OutOfMemory;
  std::memset(*pointer, 0xff, bytes);
  state().pinned[static_cast<char *>(*pointer)] = bytes;
  return Success;
}
EXPORT int cuMemFreeHost(void *pointer) {
  ++state().counters.allocations;
  state().trace("free host");
  Status status = state().run();
  if (!state().pinned.erase(static_cast<char *>(pointer)))
    return state().problem(InvalidValue, "pinned memory is freed that is not "
                                         "allocated, or was freed before");
  std::free(pointer);
  return status;
}

//===--- Copies -----------------------------------------------------------===//

EXPORT int cuMemcpyHtoDAsync_v2(Pointer target, const void *source,
                                size_t bytes, void *stream) {
  if (Status status = outside("cuMemcpyHtoDAsync", host(target), bytes))
    return status;
  return counted("cuMemcpyHtoDAsync", host(target), source, bytes, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *target, Pointer source, size_t bytes,
                                void *stream) {
  if (Status status = outside("cuMemcpyDtoHAsync", host(source), bytes))
    return status;
  return counted("cuMemcpyDtoHAsync", target, host(source), bytes, stream);
}
EXPORT int cuMemcpyDtoDAsync_v2(Pointer target, Pointer source, size_t bytes,
                                void *stream) {
  for (Pointer end : {target, source})
    if (Status status = outside("cuMemcpyDtoDAsync", host(end), bytes))
      return status;
  return counted("cuMemcpyDtoDAsync", host(target), host(source), bytes,
                 stream);
}
EXPORT int cuMemcpyAsync(Pointer target, Pointer source, size_t bytes,
                         void *stream) {
  return counted("cuMemcpyAsync", host(target), host(source), bytes, stream);
}
EXPORT int cuMemcpyBatchAsync_v2(Pointer *targets, Pointer *sources,
                                 size_t *sizes, size_t count,
                                 const void *attributes, size_t *indices,
                                 size_t numAttributes, void *stream) {
  if (Status status = state().checkStream("cuMemcpyBatchAsync", stream))
    return status;
  if (!attributes || numAttributes != 1 || indices[0] != 0)
    return state().problem(InvalidValue,
                           "cuMemcpyBatchAsync: its attributes are wrong");
  ++state().counters.copies;
  state().trace("cuMemcpyBatchAsync " + std::to_string(count));
  // In any order: the last first.
  for (size_t i = count; i-- > 0;)
    if (Status status = copy("cuMemcpyBatchAsync", host(targets[i]),
                             host(sources[i]), sizes[i], stream))
      return status;
  return Success;
}
EXPORT int cuMemsetD8Async(Pointer target, unsigned char value, size_t bytes,
                           void *stream) {
  if (Status status = state().checkStream("cuMemsetD8Async", stream))
    return status;
  if (Status status = outside("cuMemsetD8Async", host(target), bytes))
    return status;
  state().trace("cuMemsetD8Async " + std::to_string(bytes));
  state().enqueue(stream, [=] {
    if (outside("cuMemsetD8Async", host(target), bytes))
      return LaunchFailed;
    std::memset(host(target), value, bytes);
    return Success;
  });
  return Success;
}

//===--- Tensor maps ------------------------------------------------------===//

/// Keeps the description itself: the emulator copies by it.
EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                  void *data, const uint64_t *sizes,
                                  const uint64_t *strides, const unsigned *box,
                                  const unsigned *steps, int interleave,
                                  int swizzle, int promotion, int fill) {
  auto wrong = [&](const std::string &what) {
    return state().problem(InvalidValue, "cuTensorMapEncodeTiled: " + what);
  };
  if (reinterpret_cast<uintptr_t>(map) % alignof(kv::cuda::TensorMap))
    return wrong("the map is not aligned to 128 bytes");
  // What kernels copy: see TensorDescription.
  if (type != 1 || rank != kv::cuda::TileDims || interleave != 0 ||
      (swizzle != 0 && swizzle != 3) || promotion < 0 || promotion > 3 ||
      fill != 0)
    return wrong(
        "not four dimensions of 16-bit elements, plain or swizzled by 128 "
        "bytes");
  kv::cuda::TensorDescription tensor{data, {}, {}, {}, swizzle == 0};
  for (int d = 0; d < kv::cuda::TileDims; ++d) {
    if (steps[d] != 1)
      return wrong("a step between elements is not 1");
    tensor.sizes[d] = sizes[d];
    tensor.box[d] = box[d];
    if (d > 0)
      tensor.strides[d - 1] = strides[d - 1];
  }
  if (const char *problem = kv::cuda::problemOf(tensor))
    return wrong(problem);
  if (reinterpret_cast<uintptr_t>(data) % 16)
    return wrong("the tensor is not aligned to 16 bytes");
  if (!state().memory.find(data).bytes)
    return wrong("the tensor is not in device memory");
  ++state().counters.tensorMaps;
  kv::cuda::TensorMap described = kv::cuda::describedMap(tensor);
  std::memcpy(map, &described, sizeof(described));
  return Success;
}

//===--- Streams and events -----------------------------------------------===//

EXPORT int cuStreamCreate(void **stream, unsigned) {
  if (state().device < 0)
    return InvalidContext;
  static int created = 0;
  *stream = state().streams.emplace_back(
      new FakeStream{state().device, created++ % 2 == 1});
  return Success;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  std::erase(state().streams, stream);
  delete static_cast<FakeStream *>(stream);
  return Success;
}
EXPORT int cuStreamSynchronize(void *stream) {
  if (Status status = state().checkNoCapture("cuStreamSynchronize"))
    return status;
  ++state().counters.synchronizations;
  state().trace("synchronize");
  auto &all = *static_cast<FakeStream *>(stream);
  return state().runUntil(all, all.total());
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned) {
  if (Status status = state().checkStream("cuStreamWaitEvent", stream))
    return status;
  auto *of = static_cast<FakeEvent *>(event);
  if (of->stream)
    static_cast<FakeStream *>(stream)->operations.push_back(
        {{}, of->stream, of->after});
  return Success;
}
EXPORT int cuEventCreate(void **event, unsigned) {
  *event = new FakeEvent;
  return Success;
}
EXPORT int cuEventDestroy_v2(void *event) {
  delete static_cast<FakeEvent *>(event);
  return Success;
}
EXPORT int cuEventRecord(void *event, void *stream) {
  if (Status status = state().checkStream("cuEventRecord", stream))
    return status;
  auto *on = static_cast<FakeStream *>(stream);
  *static_cast<FakeEvent *>(event) = {on, on->total()};
  return Success;
}
EXPORT int cuEventSynchronize(void *event) {
  if (Status status = state().checkNoCapture("cuEventSynchronize"))
    return status;
  ++state().counters.synchronizations;
  state().trace("synchronize event");
  auto *of = static_cast<FakeEvent *>(event);
  return of->stream ? state().runUntil(*of->stream, of->after) : Success;
}
EXPORT int cuEventQuery(void *event) {
  if (Status status = state().checkNoCapture("cuEventQuery"))
    return status;
  auto *of = static_cast<FakeEvent *>(event);
  if (!of->stream || of->stream->done >= of->after)
    return Success;
  if (of->stream->isAside)
    return NotReady;
  Status status = state().runOne(*of->stream);
  return of->stream->done >= of->after ? status : NotReady;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 1;
  return Success;
}

//===--- Modules and launches ---------------------------------------------===//

EXPORT int cuModuleLoadData(void **module, const void *image) {
  if (Status status = state().checkNoCapture("cuModuleLoadData"))
    return status;
  if (state().device < 0)
    return InvalidContext;
  FakeModule loaded;
  if (Status status = loadModule(image, Devices[state().device], loaded))
    return status;
  *module = new FakeModule(std::move(loaded));
  return Success;
}
EXPORT int cuModuleUnload(void *module) {
  delete static_cast<FakeModule *>(module);
  return Success;
}
EXPORT int cuModuleGetFunction(void **function, void *module,
                               const char *name) {
  auto *from = static_cast<FakeModule *>(module);
  std::optional<FakeFunction> found = findFunction(*from, name);
  if (!found)
    return NotFound;
  // A handful a test: they stay, as a driver's do until their module goes.
  static std::deque<FakeFunction> &functions = *new std::deque<FakeFunction>;
  *function = &functions.emplace_back(*found);
  return Success;
}
EXPORT int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes,
                                void *module, const char *name) {
  void *found = findVariable(*static_cast<FakeModule *>(module), name);
  if (!found)
    return NotFound;
  *address = reinterpret_cast<uintptr_t>(found);
  *bytes = sizeof(void *);
  return Success;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                       void *function,
                                                       int threads,
                                                       size_t sharedBytes) {
  if (state().device < 0)
    return InvalidContext;
  *blocks = blocksOf(*static_cast<FakeFunction *>(function),
                     Devices[state().device], threads, int(sharedBytes));
  return Success;
}
EXPORT int
cuOccupancyMaxActiveClusters(int *clusters, void *function,
                             const kv::cuda::driver::LaunchConfig *config) {
  const DeviceModel &device = Devices[state().device];
  const kv::cuda::driver::LaunchAttribute *cluster = config->attributes;
  if (device.major < 9 || config->count != 1 ||
      cluster->id != kv::cuda::driver::LaunchClusters)
    return state().problem(InvalidValue, "cuOccupancyMaxActiveClusters: its "
                                         "attributes have another form");
  *clusters = clustersOf(*static_cast<FakeFunction *>(function), device,
                         int(config->blockX), int(config->sharedBytes),
                         cluster->value[0]);
  return Success;
}
EXPORT int cuFuncLoad(void *) { return Success; }
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  if (attribute == 9 && value <= 100)
    return Success;
  if (attribute != 8 || value > Devices[state().device].sharedBytes)
    return state().problem(InvalidValue, "cuFuncSetAttribute " +
                                             std::to_string(attribute) +
                                             " to " + std::to_string(value));
  static_cast<FakeFunction *>(function)->sharedBytes = value;
  return Success;
}
static Status launchAt(void *function, unsigned gridX, unsigned gridY,
                       unsigned gridZ, unsigned blockX, unsigned blockY,
                       unsigned blockZ, unsigned sharedBytes, void *stream,
                       void **params, void **extra, bool early,
                       int cluster = 1) {
  // Where in such a buffer an argument lies, only the image says.
  if (extra)
    return state().problem(InvalidValue,
                           "cuLaunchKernel: its arguments are a packed buffer, "
                           "allowed: kernelParams");
  if (!params || !params[0] || gridY != 1 || gridZ != 1 || blockY != 1 ||
      blockZ != 1)
    return state().problem(InvalidValue,
                           "cuLaunchKernel: its grid or arguments "
                           "have another form");
  return launch(*static_cast<FakeFunction *>(function), gridX, blockX,
                sharedBytes, params, stream, early, cluster);
}
EXPORT int cuLaunchKernelEx(const kv::cuda::driver::LaunchConfig *config,
                            void *function, void **params, void **extra) {
  if (Status status = state().checkStream("cuLaunchKernelEx", config->stream))
    return status;
  const kv::cuda::driver::LaunchAttribute *early = config->attributes,
                                          *cluster = early + 1;
  bool clusters = config->count == 2;
  if (config->count < 1 || config->count > 2 ||
      early->id != kv::cuda::driver::LaunchMayBeginEarly ||
      early->value[0] != 1 ||
      (clusters && (cluster->id != kv::cuda::driver::LaunchClusters ||
                    cluster->value[0] < 1 || cluster->value[0] > 8 ||
                    cluster->value[1] != 1 || cluster->value[2] != 1 ||
                    config->gridX % unsigned(cluster->value[0]))) ||
      state().device < 0 || Devices[state().device].major < 9)
    return state().problem(
        InvalidValue, "cuLaunchKernelEx: its attributes have another form");
  return launchAt(function, config->gridX, config->gridY, config->gridZ,
                  config->blockX, config->blockY, config->blockZ,
                  config->sharedBytes, config->stream, params, extra,
                  /*early=*/true, clusters ? cluster->value[0] : 1);
}
EXPORT int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned sharedBytes, void *stream,
                          void **params, void **extra) {
  if (Status status = state().checkStream("cuLaunchKernel", stream))
    return status;
  return launchAt(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                  sharedBytes, stream, params, extra, /*early=*/false);
}
