//===- Gpu.cpp - A GPU and the images in a folder -------------------------===//

#include "Gpu.h"
#include "VerifyKernels.h"
#include "kernels/cuda/parameters/KernelTable.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

/// CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
static constexpr int AttributeL2Bytes = 38;

/// More than any L2 cache; of a small device a part of its memory.
static size_t flushedBytes(const Gpu &gpu) {
  return std::min<size_t>(size_t(256) << 20, gpu.memoryBytes / 64);
}

Expected<std::unique_ptr<Gpu>> Gpu::open(std::string folder, bool watchdog) {
  Expected<const driver::Driver *> loaded = driver::loadDriver();
  if (!loaded)
    return std::unexpected(loaded.error());
  const driver::Driver &api = **loaded;
  int count = 0, device = 0;
  if (api.init(0) || api.deviceGetCount(&count) || !count)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "there is a CUDA driver, but no CUDA device");
  std::unique_ptr<Gpu> gpu(new Gpu(api));
  gpu->folder = std::move(folder);
  gpu->watched = watchdog;
  char name[256] = {};
  size_t bytes = 0;
  driver::Context context = nullptr;
  if (api.driverGetVersion)
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
  gpu->major = attribute(driver::AttributeMajor);
  gpu->minor = attribute(driver::AttributeMinor);
  gpu->multiprocessors = attribute(driver::AttributeMultiprocessors);
  gpu->sharedBytes = attribute(driver::AttributeSharedBytes);
  int l2 = 0; // stays so where it is not known
  if (!api.deviceGetAttribute(&l2, AttributeL2Bytes, device))
    gpu->l2Bytes = l2;
  gpu->check(api.primaryContextRetain(&context, device),
             "cuDevicePrimaryCtxRetain");
  gpu->check(api.contextSetCurrent(context), "cuCtxSetCurrent");
  gpu->check(api.streamCreate(&gpu->queue, driver::StreamNonBlocking),
             "cuStreamCreate");
  for (driver::Event &event : gpu->events)
    gpu->check(api.eventCreate(&event, 0), "cuEventCreate");
  return gpu;
}

void Gpu::check(int result, const char *call) {
  if (!result)
    return;
  const char *text = nullptr;
  if (api.getErrorString(result, &text) || !text)
    text = "an unknown error";
  std::fprintf(stderr, "gpu-verify: %s: %s (%d)\n", call, text, result);
  for (const std::string &sentence : watchdog.sentences())
    std::fprintf(stderr, "gpu-verify: %s\n", sentence.c_str());
  // Nothing is tidied up: it would ask the GPU.
  std::_Exit(ExitFailed);
}

static driver::Pointer address(const void *data) {
  return reinterpret_cast<driver::Pointer>(data);
}

TensorMap Gpu::encode(const TensorDescription &tensor) {
  TensorMap map;
  check(encodeTensor(api, tensor, map), "cuTensorMapEncodeTiled");
  return map;
}

void *Gpu::allocate(size_t bytes) {
  driver::Pointer data = 0;
  check(api.memAlloc(&data, bytes ? bytes : 1), "cuMemAlloc");
  return reinterpret_cast<void *>(data);
}
void Gpu::free(void *data) { check(api.memFree(address(data)), "cuMemFree"); }

void Gpu::copyIn(void *to, const void *from, size_t bytes) {
  if (bytes)
    check(api.memcpyHtoDAsync(address(to), from, bytes, queue),
          "cuMemcpyHtoDAsync");
  synchronize();
}
void Gpu::copyOut(void *to, const void *from, size_t bytes) {
  if (bytes)
    check(api.memcpyDtoHAsync(to, address(from), bytes, queue),
          "cuMemcpyDtoHAsync");
  synchronize();
}
void Gpu::fill(void *data, unsigned char byte, size_t bytes) {
  if (bytes)
    check(api.memsetD8Async(address(data), byte, bytes, queue),
          "cuMemsetD8Async");
}
void Gpu::synchronize() {
  check(api.streamSynchronize(queue), "cuStreamSynchronize");
}

int Image::sm() const {
  return chip.empty()
             ? 80
             : shapesOfChip(std::atoi(chip.data() + chip.find('_') + 1));
}

/// The name of the image with a kernel; empty: there is no such kernel.
static std::string imageNameOf(std::string_view kernel) {
  if (const VerifyKernel *own = findVerifyKernel(kernel))
    return "kv-verify/" + std::string(own->image);
  if (!findKernel(kernel))
    return "";
  bool attention =
      kernel.starts_with("kv_attention_") || kernel.starts_with("kv_latent_");
  return "kv-cuda/" + std::string(attention ? kernel : kernels::MoversImage);
}

const Image &Gpu::imageOf(std::string_view kernel) {
  std::string name = imageNameOf(kernel);
  auto [found, isNew] = images.try_emplace(name);
  if (!isNew || name.empty())
    return found->second;
  auto take = [&](const std::string &name, std::string_view chip,
                  const char *kind) {
    std::string path =
        folder + "/" + name + "." + std::string(chip) + "." + kind;
    if (found->second.path.empty() && std::filesystem::exists(path))
      found->second = {path, chip};
  };
  if (watched)
    take(std::string(name).insert(name.find('/'), "-watchdog"), chip(),
         "cubin");
  if (!chip().empty())
    take(name, chip(), "cubin");
  if (major >= 8)
    take(name, "compute_80", "ptx");
  return found->second;
}

driver::Module Gpu::moduleOf(const Image &image) {
  auto [found, isNew] = modules.try_emplace(image.path);
  if (!isNew)
    return found->second;
  std::ifstream file(image.path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  check(api.moduleLoadData(&found->second, text.c_str()), "cuModuleLoadData");
  if (watched)
    check(watchdog.attach(found->second, queue), "cuModuleGetGlobal");
  return found->second;
}

const Gpu::Kernel &Gpu::find(std::string_view name) {
  if (auto found = kernels.find(name); found != kernels.end())
    return found->second;
  std::string symbol(name);
  const Image &image = imageOf(name);
  if (image.path.empty()) {
    std::fprintf(stderr, "gpu-verify: there is no image with %s\n",
                 symbol.c_str());
    std::_Exit(ExitUsage);
  }
  Kernel kernel{};
  if (const KernelLaunch *known = findKernel(name))
    kernel = {nullptr, known->threads, known->sharedBytes(image.sm())};
  else if (const VerifyKernel *known = findVerifyKernel(name))
    kernel = {nullptr, known->threads, known->sharedBytes};
  driver::Module module = moduleOf(image);
  check(api.moduleGetFunction(&kernel.function, module, symbol.c_str()),
        "cuModuleGetFunction");
  check(api.funcSetAttribute(kernel.function, driver::FunctionSharedBytes,
                             kernel.sharedBytes),
        "cuFuncSetAttribute");
  return kernels.emplace(symbol, kernel).first->second;
}

int Gpu::blocksPerSM(std::string_view name) {
  const Kernel &kernel = find(name);
  int blocks = 0;
  check(api.occupancy(&blocks, kernel.function, kernel.threads,
                      kernel.sharedBytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

void Gpu::launch(std::string_view name, int blocks, const void *params,
                 int cluster) {
  if (cluster > 1 && launchesEarly(name))
    return launchEarly(name, blocks, params, cluster);
  const Kernel &kernel = find(name);
  launched.emplace(name);
  void *arguments[] = {const_cast<void *>(params)};
  check(api.launchKernel(kernel.function, blocks, 1, 1, kernel.threads, 1, 1,
                         kernel.sharedBytes, queue, arguments, nullptr),
        "cuLaunchKernel");
}

std::vector<float> Gpu::time(int repeats, const std::function<void()> &work) {
  if (!api.eventElapsedTime) {
    std::fputs("gpu-verify: the driver has no cuEventElapsedTime\n", stderr);
    std::_Exit(ExitFailed);
  }
  size_t bytes = flushedBytes(*this);
  if (!flushed) {
    flushed = allocate(bytes);
    fill(flushed, 1, bytes);
  }
  CeilingParams flush{flushed, flushed, int64_t(bytes / 16)};
  std::vector<float> times(repeats);
  for (int i = -3; i < repeats; ++i) {
    launch("kv_test_flush", multiprocessors * 4, &flush);
    check(api.eventRecord(events[0], queue), "cuEventRecord");
    work();
    check(api.eventRecord(events[1], queue), "cuEventRecord");
    check(api.eventSynchronize(events[1]), "cuEventSynchronize");
    if (i >= 0)
      check(api.eventElapsedTime(&times[i], events[0], events[1]),
            "cuEventElapsedTime");
  }
  return times;
}

double Gpu::clock() {
  if (!clocks)
    clocks = static_cast<uint64_t *>(allocate(2 * sizeof(uint64_t)));
  ClockParams p{clocks, 200'000};
  launch("kv_test_clock", 1, &p);
  uint64_t passed[2] = {}; // cycles, nanoseconds
  copyOut(passed, clocks, sizeof(passed));
  return passed[1] ? 1000.0 * double(passed[0]) / double(passed[1]) : 0;
}
