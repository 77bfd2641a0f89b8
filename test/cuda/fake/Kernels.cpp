//===- Kernels.cpp - Modules and launches of the fake driver --------------===//

#include "Kernels.h"
#include "FakeDriver.h"
#include "Planted.h"
#include "kernels/cuda/twins/Twins.h"
#include "kernels/emulator/base/Earlier.h"
#include "test/gpu/VerifyKernels.h"
#include "test/gpu/VerifyTwins.h"
#include "test/kernels/ptx/PtxTexts.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstring>
#include <elf.h>
#include <memory>
#include <set>
#include <utility>

using namespace kv::fake;

static constexpr int CudaMachine = 190, NewAbi = 8;

static Status loadCubin(const Elf64_Ehdr &header, const DeviceModel &device,
                        FakeModule &module) {
  State &state = State::get();
  auto *bytes = reinterpret_cast<const char *>(&header);
  if (header.e_machine != CudaMachine)
    return state.problem(InvalidImage, "an ELF file that is no cubin");
  size_t size = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i)
    if (sections[i].sh_type != SHT_NOBITS)
      size =
          std::max(size, size_t(sections[i].sh_offset + sections[i].sh_size));
  int chip = header.e_ident[EI_ABIVERSION] >= NewAbi
                 ? header.e_flags >> 8 & 0xff
                 : header.e_flags & 0xff;
  if (chip / 10 != device.major || chip % 10 > device.minor)
    return state.problem(NoBinaryForGpu,
                         "a cubin of sm_" + std::to_string(chip) +
                             " for a device of compute capability " +
                             std::to_string(device.major) + "." +
                             std::to_string(device.minor));
  module = {std::string(bytes, size), chip, kv::cuda::readImage({bytes, size})};
  return Success;
}

Status kv::fake::loadModule(const void *image, const DeviceModel &device,
                            FakeModule &module) {
  State &state = State::get();
  auto *text = static_cast<const char *>(image);
  if (std::memcmp(text, ELFMAG, SELFMAG) == 0)
    return loadCubin(*static_cast<const Elf64_Ehdr *>(image), device, module);
  const char *target = std::strstr(text, ".target sm_");
  if (!target)
    return state.problem(InvalidPtx, "neither a cubin nor PTX");
  int chip = std::atoi(target + std::strlen(".target sm_"));
  if (chip > device.major * 10 + device.minor)
    return state.problem(InvalidPtx, "PTX of sm_" + std::to_string(chip) +
                                         " for an earlier chip");
  module = {text, chip, {}};
  return Success;
}

static bool hasSymbol(const std::string &image, const std::string &name) {
  auto inName = [](char c) { return std::isalnum(c) || c == '_'; };
  for (size_t at = image.find(name); at != image.npos;
       at = image.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !inName(image[at - 1])) &&
        (end == image.size() || !inName(image[end])))
      return true;
  }
  return false;
}

static std::optional<kv::cuda::KernelLaunch>
findLaunch(const std::string &name) {
  if (const kv::cuda::KernelLaunch *own = kv::cuda::findKernel(name))
    return *own;
  const auto *tests = kv::cuda::test::findVerifyKernel(name);
  if (!tests)
    return {};
  return kv::cuda::KernelLaunch{tests->name,        tests->threads,
                                tests->sharedBytes, tests->sharedBytes,
                                tests->sharedBytes, tests->argument};
}

std::optional<FakeFunction> kv::fake::findFunction(const FakeModule &module,
                                                   const std::string &name) {
  auto launch = findLaunch(name);
  if (!launch || !hasSymbol(module.image, name))
    return {};
  FakeFunction function{*launch, {}, module.chip, module.watchdog};
  auto described =
      std::ranges::find(module.kernels, name, &kv::cuda::ImageKernel::name);
  if (described != module.kernels.end())
    function.image = *described;
  return function;
}

void *kv::fake::findVariable(FakeModule &module, const std::string &name) {
  if (name != kv::cuda::WatchdogSymbol || !hasSymbol(module.image, name))
    return nullptr;
  State &state = State::get();
  if (!module.watchdog)
    module.watchdog = static_cast<kv::cuda::WatchdogReport **>(
        state.memory.allocate(sizeof(*module.watchdog), state.device));
  return module.watchdog;
}

int kv::fake::blocksOf(const FakeFunction &function, const DeviceModel &device,
                       int threads, int sharedBytes) {
  int registers = 32;
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, budget,     \
                            ...)                                               \
  if (function.kernel.name == "kv_attention_" #kind "_" #type "_" #dim)        \
    registers = (budget + 7) / 8 * 8;
#define KV_TILE_KERNEL(type, query, cache, scales, dim, budget)                \
  if (function.kernel.name == "kv_attention_tiles_" #type "_" #dim)            \
    registers = (budget + 7) / 8 * 8;
#define KV_BYTE_TILE_KERNEL(type, query, cache, dim, budget)                   \
  if (function.kernel.name == "kv_attention_tiles_" #type "_" #dim)            \
    registers = (budget + 7) / 8 * 8;
#define KV_DRAFT_KERNEL(type, query, cache, scales, dim, budget, ...)          \
  if (function.kernel.name == "kv_attention_drafts_" #type "_" #dim)           \
    registers = (budget + 7) / 8 * 8;
#define KV_DRAFT_TILE_KERNEL(type, query, cache, scales, dim, budget, ...)     \
  if (function.kernel.name == "kv_attention_draft_tiles_" #type "_" #dim)      \
    registers = (budget + 7) / 8 * 8;
#define KV_BYTE_KERNEL(kind, type, query, cache, dim, budget, ...)             \
  if (function.kernel.name == "kv_attention_" #kind "_" #type "_" #dim)        \
    registers = (budget + 7) / 8 * 8;
#define KV_TENSOR_KERNEL(type, query, cache, dim, budget)                      \
  if (function.kernel.name == "kv_attention_tensor_" #type "_" #dim)           \
    registers = (budget + 7) / 8 * 8;
#define KV_LATENT_TENSOR_KERNEL(type, query, cache, dim, vDim, budget)         \
  if (function.kernel.name == "kv_latent_tensor_" #type "_" #dim)              \
    registers = (budget + 7) / 8 * 8;
#define KV_LATENT_TILE_KERNEL(type, query, cache, dim, vDim, budget)           \
  if (function.kernel.name == "kv_latent_tiles_" #type "_" #dim)               \
    registers = (budget + 7) / 8 * 8;
#define KV_LATENT_PAIR_KERNEL(type, query, cache, dim, vDim, budget)           \
  if (function.kernel.name == "kv_latent_pairs_" #type "_" #dim)               \
    registers = (budget + 7) / 8 * 8;
#define KV_LATENT_KERNEL(kind, type, query, cache, dim, vDim, budget, ...)     \
  if (function.kernel.name == "kv_latent_" #kind "_" #type "_" #dim)           \
    registers = (budget + 7) / 8 * 8;
#define KV_MOVER_KERNEL(mover, parameters, budget, ...)                        \
  if (function.kernel.name == "kv_" #mover)                                    \
    registers = (budget + 7) / 8 * 8;
#include "kv/ABI/DeviceKernels.def"
  // Each block takes a KiB more than it asks for.
  return std::min({MostBlocks, device.threads / threads,
                   device.allSharedBytes / (sharedBytes + 1024),
                   (64 << 10) / (registers * threads)});
}

static int mostClusters = INT_MAX;
void kv::fake::limitClusters(int most) { mostClusters = most; }

int kv::fake::clustersOf(const FakeFunction &function,
                         const DeviceModel &device, int threads,
                         int sharedBytes, int cluster) {
  int blocks = blocksOf(function, device, threads, sharedBytes);
  return std::min(mostClusters, device.multiprocessors * blocks / cluster);
}

/// The PTX of a chip's kernels, of the build that KV_FAKE_CUDA_PTX names; null:
/// the variable is not set, and twins run.
static kv::cuda::test::PtxTexts *textsOf(int chip) {
  static const char *folder = std::getenv("KV_FAKE_CUDA_PTX");
  if (!folder)
    return nullptr;
  static std::map<int, kv::cuda::test::PtxTexts> all;
  bool hasOwn = chip == 90 || chip == 100;
  return &all.try_emplace(chip, folder,
                          std::to_string(chip) + (hasOwn ? "a" : ""))
              .first->second;
}

/// Runs the twin, or the PTX. It may touch the allocations that its arguments
/// point into, on the device or pinned: a GPU reaches both by the same address.
static Status runKernel(const FakeFunction &function,
                        const kv::cuda::MachineOptions &options, int blocks,
                        int cluster, const std::vector<char> &params) {
  const kv::cuda::KernelLaunch &kernel = function.kernel;
  State &state = State::get();
  kv::cuda::Machine machine(options);
  std::set<const void *> allowed;
  for (size_t at = 0; at + sizeof(void *) <= params.size();
       at += sizeof(void *)) {
    const void *word;
    std::memcpy(&word, params.data() + at, sizeof word);
    DeviceMemory::Range range = state.memory.find(word);
    if (!range.bytes)
      range = state.findPinned(word);
    if (range.bytes && allowed.insert(range.begin).second)
      machine.global().allow(range.begin, range.bytes, kv::cuda::Access::Write);
  }
  Planted planted(kernel.name);
  if (planted.hangs(function.watchdog))
    return state.problem(LaunchFailed,
                         std::string(kernel.name) + ": its watchdog traps");
  const void *given = planted.before(machine, params);
  if (kv::cuda::test::PtxTexts *texts = textsOf(function.chip))
    texts->run(machine, kernel.name, blocks, cluster, given);
  else if (!kv::cuda::runTwin(machine, kernel.name, blocks, given, cluster))
    kv::cuda::test::runVerifyTwin(machine, kernel.name, blocks, given);
  planted.after();
  if (planted.fails())
    return state.problem(LaunchFailed,
                         std::string(kernel.name) + ": a planted failure");
  if (machine.reports().empty())
    return Success;
  return state.problem(LaunchFailed,
                       std::string(kernel.name) + ": " + machine.reports()[0]);
}

/// Lets the launch begin before the kernel before it. If it comes to no wait,
/// that was all of it.
static void addEarlyRun(Work &work, const std::string &kernel) {
  auto ended = std::make_shared<std::optional<Status>>();
  work.early = [run = work.run, ended, kernel] {
    kv::cuda::EarlyRun early(Planted(kernel).ignoresWaits());
    Status status = run();
    if (!early.hasWaited())
      *ended = status;
  };
  work.run = [run = work.run, ended] {
    // A graph's work runs many times.
    if (std::optional<Status> status = std::exchange(*ended, std::nullopt))
      return *status;
    return run();
  };
}

Status kv::fake::launch(const FakeFunction &function, unsigned blocks,
                        unsigned threads, unsigned sharedBytes,
                        void **arguments, void *stream, bool early,
                        int cluster) {
  State &state = State::get();
  const kv::cuda::KernelLaunch &kernel = function.kernel;
  auto wrong = [&](const char *what, int64_t given, int64_t wanted) {
    return state.problem(InvalidValue,
                         std::string(kernel.name) + " is launched with " +
                             std::to_string(given) + " " + what +
                             ", needed: " + std::to_string(wanted));
  };
  if (blocks == 0)
    return wrong("blocks", blocks, 1);
  if (int(threads) != kernel.threads)
    return wrong("threads", threads, kernel.threads);
  if (int(sharedBytes) != kernel.sharedBytes(function.sm()))
    return wrong("bytes of shared memory", sharedBytes,
                 kernel.sharedBytes(function.sm()));
  if (int(sharedBytes) > function.sharedBytes)
    return wrong("bytes of shared memory that it did not ask for", sharedBytes,
                 function.sharedBytes);
  if (std::string problem =
          function.image ? problemOf(*function.image, kernel.argument) : "";
      !problem.empty())
    return state.problem(InvalidValue,
                         std::string(kernel.name) + ": " + problem);
  if (early && !kv::cuda::hasClusters(function.sm()))
    return state.problem(InvalidValue,
                         std::string(kernel.name) +
                             " may begin early, and its code waits for nobody");
  ++state.counters.launches;
  state.counters.earlyLaunches += early;
  state.counters.clusterLaunches += cluster > 1;
  state.trace("launch " + std::string(kernel.name) + " " +
              std::to_string(blocks) +
              (cluster > 1 ? " in clusters of " + std::to_string(cluster)
                           : std::string()));
  auto *bytes = static_cast<const char *>(arguments[0]);
  // Products are the device's, also of PTX.
  const DeviceModel &device = Devices[state.device];
  const kv::cuda::MachineOptions options = {
      .sm = function.sm(), .chip = device.major * 10 + device.minor};
  Work work{
      .run =
          [function, blocks, cluster, options,
           copy = std::vector<char>(bytes, bytes + kernel.argument.bytes)] {
            return runKernel(function, options, int(blocks), cluster, copy);
          },
      .letsLaterBegin = kv::cuda::hasClusters(function.sm())};
  if (early)
    addEarlyRun(work, std::string(kernel.name));
  state.enqueue(stream, std::move(work));
  return Success;
}
