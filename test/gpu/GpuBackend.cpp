//===- GpuBackend.cpp - Kernels on a GPU ----------------------------------===//

#include "GpuBackend.h"
#include "VerifyKernels.h"
#include "kernels/cuda/parameters/KernelTable.h"

#include <algorithm>
#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

static constexpr size_t GuardBytes = 256;
static constexpr unsigned char GuardByte = 0xa5;

static Gpu *current = nullptr;
void kv::cuda::test::setGpu(Gpu *gpu) { current = gpu; }
Gpu &kv::cuda::test::currentGpu() { return *current; }
std::unique_ptr<Backend> kv::cuda::test::makeBackend(const MachineOptions &) {
  return std::make_unique<GpuBackend>(*current);
}

std::string kv::cuda::test::whyLeftOut(std::string_view kernel) {
  const Image &image = current->imageOf(kernel);
  if (const VerifyKernel *own = findVerifyKernel(kernel)) {
    if (!own->chips.empty() && !own->isFor(image.chip))
      return "it is for " + std::string(own->chips);
  } else if (const KernelLaunch *known = findKernel(kernel)) {
    std::string_view only = kernels::onlyChipOf(kernel);
    if (!only.empty() && only != current->chip())
      return "it is for " + std::string(only);
    // Where there is no image, none may fit.
    int sm = image.path.empty() ? Image{"", current->chip()}.sm() : image.sm();
    if (int bytes = known->sharedBytes(sm); bytes > current->sharedBytes)
      return "its blocks need more than the " +
             std::to_string(current->sharedBytes) +
             " bytes of shared memory that this device's have";
  }
  return image.path.empty() ? "no image of it is here that this device takes"
                            : "";
}

bool kv::cuda::test::canRun(std::string_view kernel) {
  return whyLeftOut(kernel).empty();
}

GpuBackend::~GpuBackend() {
  for (const Block &block : blocks)
    gpu.free(block.memory);
}

char *GpuBackend::allocate(size_t bytes, const void *original) {
  auto *memory = static_cast<char *>(gpu.allocate(bytes + 2 * GuardBytes));
  blocks.push_back({memory, bytes, original});
  gpu.fill(memory, GuardByte, GuardBytes);
  gpu.fill(memory + GuardBytes + bytes, GuardByte, GuardBytes);
  return memory + GuardBytes;
}

void *GpuBackend::give(const void *data, size_t bytes, Access access) {
  char *given = allocate(bytes, access == Access::Read ? data : nullptr);
  gpu.copyIn(given, data, bytes);
  return given;
}

TensorMap GpuBackend::encode(const TensorDescription &tensor) {
  return gpu.encode(tensor);
}

void *GpuBackend::givePool(const void *data, size_t bytes, size_t from,
                           size_t used) {
  char *given = allocate(bytes, nullptr);
  gpu.fill(given, 0xff, bytes);
  gpu.copyIn(given + from, static_cast<const char *>(data) + from, used);
  return given;
}

void GpuBackend::take(void *data, const void *given, size_t bytes) {
  gpu.copyOut(data, given, bytes);
}

void GpuBackend::launch(std::string_view name, int count, const void *params,
                        int cluster) {
  gpu.launch(name, count, params, cluster);
}

std::vector<std::string> GpuBackend::reports() {
  for (const Block &block : blocks) {
    std::vector<unsigned char> bytes(
        block.original ? block.bytes + 2 * GuardBytes : GuardBytes);
    auto isGuard = [](unsigned char byte) { return byte == GuardByte; };
    auto guardHolds = [&](size_t from) {
      gpu.copyOut(bytes.data(), block.memory + from, GuardBytes);
      return std::all_of(bytes.begin(), bytes.begin() + GuardBytes, isGuard);
    };
    if (!guardHolds(0) || !guardHolds(GuardBytes + block.bytes))
      problems.push_back("something beside a buffer of " +
                         std::to_string(block.bytes) + " bytes is overwritten");
    if (!block.original)
      continue;
    gpu.copyOut(bytes.data(), block.memory + GuardBytes, block.bytes);
    if (std::memcmp(bytes.data(), block.original, block.bytes))
      problems.push_back("a buffer of " + std::to_string(block.bytes) +
                         " bytes that is only read is overwritten");
  }
  return problems;
}
