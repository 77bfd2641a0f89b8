//===- Gpu.cpp - A GPU and the images in a folder -------------------------===//

#include "Gpu.h"
#include "../../kernels/cuda/KernelTable.h"
#include "../kernels/InstructionBodies.h"
#include "Ceilings.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

struct Gpu::Api {
#define KV_VERIFY_DRIVER(member, symbol, ...) int (*member)(__VA_ARGS__);
#include "Driver.def"
};

// Of CUdevice_attribute and CUfunction_attribute.
enum : int {
  AttributeMultiprocessors = 16,
  AttributeL2Bytes = 38,
  AttributeMajor = 75,
  AttributeMinor = 76,
  AttributeSharedBytes = 97,
  FunctionSharedBytes = 8,
};

/// More than any L2 cache.
static constexpr size_t FlushedBytes = size_t(256) << 20;

Expected<std::unique_ptr<Gpu>> Gpu::open(std::string folder) {
  const char *given = std::getenv("KV_CUDA_DRIVER");
  void *library = dlopen(given ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "there is no CUDA driver: ", dlerror());
  std::unique_ptr<Gpu> gpu(new Gpu);
  gpu->api = std::make_unique<Api>();
  gpu->folder = std::move(folder);
  std::string missing;
#define KV_VERIFY_DRIVER(member, symbol, ...)                                  \
  gpu->api->member =                                                           \
      reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(library, #symbol));         \
  if (!gpu->api->member)                                                       \
    missing = #symbol;
#include "Driver.def"
  if (!missing.empty())
    return makeError(KV_STATUS_UNSUPPORTED,
                     "the CUDA driver is too old: it has no ", missing);
  const Api &api = *gpu->api;
  int count = 0, device = 0;
  if (api.init(0) || api.deviceGetCount(&count) || !count)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "there is a CUDA driver, but no CUDA device");
  char name[256] = {};
  size_t bytes = 0;
  void *context = nullptr;
  gpu->check(api.driverGetVersion(&gpu->driverVersion), "cuDriverGetVersion");
  gpu->check(api.deviceGet(&device, 0), "cuDeviceGet");
  gpu->check(api.deviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  gpu->check(api.deviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  gpu->name = name;
  gpu->memoryBytes = bytes;
  auto attribute = [&](int which) {
    int value = 0;
    gpu->check(api.deviceGetAttribute(&value, which, device),
               "cuDeviceGetAttribute");
    return value;
  };
  gpu->major = attribute(AttributeMajor);
  gpu->minor = attribute(AttributeMinor);
  gpu->multiprocessors = attribute(AttributeMultiprocessors);
  gpu->sharedBytes = attribute(AttributeSharedBytes);
  gpu->l2Bytes = attribute(AttributeL2Bytes);
  gpu->check(api.primaryContextRetain(&context, device),
             "cuDevicePrimaryCtxRetain");
  gpu->check(api.contextSetCurrent(context), "cuCtxSetCurrent");
  gpu->check(api.streamCreate(&gpu->queue, 1), "cuStreamCreate");
  for (void *&event : gpu->events)
    gpu->check(api.eventCreate(&event, 0), "cuEventCreate");
  return gpu;
}

Gpu::~Gpu() = default; // the process ends with the context

void Gpu::check(int result, const char *call) {
  if (!result)
    return;
  const char *text = nullptr;
  if (api->getErrorString(result, &text) || !text)
    text = "an unknown error";
  std::fprintf(stderr, "gpu-verify: %s: %s (%d)\n", call, text, result);
  std::exit(ExitFailed);
}

static DevicePointer address(const void *data) {
  return reinterpret_cast<DevicePointer>(data);
}

void *Gpu::allocate(size_t bytes) {
  DevicePointer data = 0;
  check(api->memAlloc(&data, bytes ? bytes : 1), "cuMemAlloc");
  return reinterpret_cast<void *>(data);
}
void Gpu::free(void *data) { check(api->memFree(address(data)), "cuMemFree"); }

void Gpu::copyIn(void *to, const void *from, size_t bytes) {
  synchronize();
  if (bytes)
    check(api->memcpyHtoD(address(to), from, bytes), "cuMemcpyHtoD");
}
void Gpu::copyOut(void *to, const void *from, size_t bytes) {
  synchronize();
  if (bytes)
    check(api->memcpyDtoH(to, address(from), bytes), "cuMemcpyDtoH");
}
void Gpu::fill(void *data, unsigned char byte, size_t bytes) {
  if (bytes)
    check(api->memsetD8Async(address(data), byte, bytes, queue),
          "cuMemsetD8Async");
}
void Gpu::synchronize() {
  check(api->streamSynchronize(queue), "cuStreamSynchronize");
}

/// The image that this device takes.
void *Gpu::moduleOf(const std::string &image) {
  auto [found, isNew] = modules.try_emplace(image);
  if (!isNew)
    return found->second;
  const char *kind = sm() == 90   ? ".sm_90a.cubin"
                     : major == 8 ? ".sm_80.cubin"
                                  : ".compute_80.ptx";
  std::string path = folder + "/" + image + kind;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) {
    std::fprintf(stderr, "gpu-verify: %s is missing or empty\n", path.c_str());
    std::exit(ExitUsage);
  }
  check(api->moduleLoadData(&found->second, text.c_str()), "cuModuleLoadData");
  return found->second;
}

const Gpu::Kernel &Gpu::find(std::string_view name) {
  if (auto found = kernels.find(name); found != kernels.end())
    return found->second;
  Kernel kernel{};
  std::string image;
  if (const KernelLaunch *known = findKernel(name)) {
    bool attention = name.starts_with("kv_attention_");
    image = "kv-cuda/" + (attention ? std::string(name) : "kv_movers");
    kernel = {nullptr, known->threads, known->sharedBytes(sm()),
              known->paramBytes};
  } else if (name == "kv_test_read" || name == "kv_test_copy") {
    image = "kv-verify/kv_ceilings";
    kernel = {nullptr, CeilingThreads, 0, sizeof(CeilingParams)};
  } else {
    image = "kv-verify/kv_instructions";
    kernel = {nullptr, InstructionThreads, InstructionSharedBytes,
              sizeof(InstructionParams)};
  }
  void *module = moduleOf(image);
  std::string symbol(name);
  check(api->moduleGetFunction(&kernel.function, module, symbol.c_str()),
        "cuModuleGetFunction");
  check(api->funcSetAttribute(kernel.function, FunctionSharedBytes,
                              kernel.sharedBytes),
        "cuFuncSetAttribute");
  return kernels.emplace(symbol, kernel).first->second;
}

void Gpu::launch(std::string_view name, int blocks, const void *params) {
  const Kernel &kernel = find(name);
  size_t bytes = kernel.paramBytes;
  // CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
  void *extra[] = {reinterpret_cast<void *>(1), const_cast<void *>(params),
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  check(api->launchKernel(kernel.function, blocks, 1, 1, kernel.threads, 1, 1,
                          kernel.sharedBytes, queue, nullptr, extra),
        "cuLaunchKernel");
}

std::vector<float> Gpu::time(int repeats, const std::function<void()> &work) {
  if (!flushed)
    flushed = allocate(FlushedBytes);
  std::vector<float> times(repeats);
  for (int i = -3; i < repeats; ++i) {
    fill(flushed, i & 0xff, FlushedBytes);
    check(api->eventRecord(events[0], queue), "cuEventRecord");
    work();
    check(api->eventRecord(events[1], queue), "cuEventRecord");
    check(api->eventSynchronize(events[1]), "cuEventSynchronize");
    if (i >= 0)
      check(api->eventElapsedTime(&times[i], events[0], events[1]),
            "cuEventElapsedTime");
  }
  return times;
}
