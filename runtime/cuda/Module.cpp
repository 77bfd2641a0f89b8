//===- Module.cpp - An artifact's kernels on a GPU ------------------------===//

#include "Module.h"

#include <atomic>
#include <charconv>
#include <map>

using namespace kv;
using namespace kv::cuda;

/// The number in the name of a chip: 80 of "sm_80", 90 of "sm_90a" and of
/// "compute_90"; 0 if there is none.
static int architecture(std::string_view chip) {
  int number = 0;
  size_t begin = chip.find('_') + 1; // 0 if there is none
  std::from_chars(chip.data() + begin, chip.data() + chip.size(), number);
  return number;
}

/// How well code for `chip` suits a GPU; larger is better, and 0 means that it
/// does not run. Machine code for exactly this GPU is better than PTX, and PTX
/// for a later chip is better than PTX for an earlier one.
static int suitability(std::string_view chip, const DeviceInfo &device) {
  int number = architecture(chip);
  // Machine code runs on later chips of its generation, unless it uses what
  // only one has ("sm_90a").
  if (chip.starts_with("sm_"))
    return number / 10 == device.major &&
                   (chip.ends_with('a') ? number % 10 == device.minor
                                        : number % 10 <= device.minor)
               ? 1000 + number
               : 0;
  bool runs = chip.starts_with("compute_") && !chip.ends_with('a') &&
              number <= device.major * 10 + device.minor;
  return runs ? number : 0;
}

Expected<std::unique_ptr<DeviceModule>>
Module::load(Backend &backend, const std::vector<KernelImage> &images) {
  std::map<std::string, std::vector<const KernelImage *>> byName;
  for (const KernelImage &image : images)
    byName[image.name].push_back(&image);
  std::unique_ptr<Module> module(new Module(backend));
  for (const auto &[name, rows] : byName) {
    const KernelImage *best = nullptr;
    int most = 0;
    std::string chips;
    for (const KernelImage *row : rows) {
      chips += concat(chips.empty() ? "" : ", ", row->chip);
      if (int suits = suitability(row->chip, backend.info()); suits > most) {
        most = suits;
        best = row;
      }
    }
    if (!best && kernels::isOptional(name))
      continue;
    if (!best)
      return makeError(KV_STATUS_UNSUPPORTED, "kernel image ", name,
                       " is there for ", chips, ", this GPU is ",
                       backend.description(),
                       ": compile the model for this chip");
    if (Expected<void> added = module->add(*best); !added)
      return makeError(added.error().code, "kernel image ", name, " (",
                       best->chip, "): ", added.error().message);
  }
  if (Expected<void> sound = backend.status(); !sound)
    return std::unexpected(sound.error());
  return module;
}

Module::Module(Backend &backend)
    : serial([] {
        static std::atomic<uint64_t> made = 0;
        return ++made;
      }()),
      backend(backend) {}

Module::~Module() {
  backend.enter();
  // Queued entries may still use the module.
  backend.check(backend.driver().streamSynchronize(backend.stream()),
                "cuStreamSynchronize");
  for (driver::Module module : modules)
    backend.check(backend.driver().moduleUnload(module), "cuModuleUnload");
}

Expected<void> Module::add(const KernelImage &image) {
  bool movers = image.name == kernels::MoversImage;
  const KernelLaunch *own = findKernel(image.name);
  if (!movers && !own)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "this runtime knows no kernel of this name: compile the "
                     "model again");
  driver::Module loaded = nullptr;
  // The driver wants PTX as NUL-terminated text, which c_str() is.
  if (int r = backend.driver().moduleLoadData(&loaded, image.code.c_str()))
    return backend.fail(r, "cuModuleLoadData");
  modules.push_back(loaded);
  int sm = shapesOfChip(architecture(image.chip));
  if (!movers)
    return addKernel(loaded, own - KernelLaunches.data(), sm);
  for (size_t row = FirstMover; row < FirstTile; ++row)
    if (Expected<void> added = addKernel(loaded, row, sm); !added)
      return added;
  return {};
}

Expected<void> Module::addKernel(driver::Module from, size_t row, int sm) {
  const driver::Driver &api = backend.driver();
  const KernelLaunch &launch = KernelLaunches[row];
  std::string name(launch.name);
  int bytes = launch.sharedBytes(sm), most = backend.info().sharedBytes;
  if (bytes > most)
    return makeError(KV_STATUS_UNSUPPORTED, name, " needs ", bytes,
                     " bytes of shared memory a block, ", backend.description(),
                     " has ", most);
  driver::Function function = nullptr;
  if (api.moduleGetFunction(&function, from, name.c_str()))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "it has no kernel ", name,
                     ": compile the model again");
  // Loads the function now, since the driver could otherwise do so at its first
  // launch, in the middle of a step.
  if (api.funcLoad)
    backend.check(api.funcLoad(function), "cuFuncLoad");
  backend.check(
      api.funcSetAttribute(function, driver::FunctionSharedBytes, bytes),
      "cuFuncSetAttribute");
  // Attention keeps nothing in the first-level cache, of which an SM's shared
  // memory is taken.
  if (row < FirstMover || row >= FirstTile)
    backend.check(api.funcSetAttribute(function, driver::FunctionCarveout, 100),
                  "cuFuncSetAttribute");
  int blocks = 0;
  if (backend.check(api.occupancy(&blocks, function, launch.threads, bytes),
                    "cuOccupancyMaxActiveBlocksPerMultiprocessor") &&
      blocks < 1)
    return makeError(KV_STATUS_UNSUPPORTED, "an SM of ", backend.description(),
                     " cannot run a block of ", name);
  kernels[row] = {function, sm, blocks};
  if (launch.cluster > 1 && api.occupancyClusters)
    return countClusters(kernels[row], launch, bytes);
  return {};
}

Expected<void> Module::countClusters(LoadedKernel &kernel,
                                     const KernelLaunch &launch, int bytes) {
  driver::LaunchAttribute cluster = {
      driver::LaunchClusters, {launch.cluster, 1, 1}, {}};
  driver::LaunchConfig config{.gridX = unsigned(launch.cluster),
                              .blockX = unsigned(launch.threads),
                              .sharedBytes = unsigned(bytes),
                              .stream = backend.stream(),
                              .attributes = &cluster,
                              .count = 1};
  if (backend.check(backend.driver().occupancyClusters(
                        &kernel.clusters, kernel.function, &config),
                    "cuOccupancyMaxActiveClusters") &&
      kernel.clusters < 1)
    return makeError(KV_STATUS_UNSUPPORTED, backend.description(),
                     " cannot run a cluster of ", launch.cluster, " blocks of ",
                     launch.name);
  return {};
}
