//===- PtxBackend.cpp - The PTX of kernels on a CPU -----------------------===//

#include "PtxBackend.h"
#include "Mutation.h"
#include "kernels/cuda/twins/Twins.h"
#include "test/gpu/VerifyKernels.h"
#include "test/kernels/instructions/InstructionTwins.h"

#include <algorithm>
#include <filesystem>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

int chipNumber() { return std::atoi(PtxRecord::get().chip.c_str()); }

MachineOptions ofChip(MachineOptions options) {
  options.chip = chipNumber();
  options.sm = shapesOfChip(options.chip);
  return options;
}

/// A kernel's launch but for its grid.
struct Shape {
  int threads, sharedBytes;
};
std::optional<Shape> shapeOf(std::string_view name) {
  if (const KernelLaunch *kernel = findKernel(name))
    return Shape{kernel->threads,
                 kernel->sharedBytes(shapesOfChip(chipNumber()))};
  if (const VerifyKernel *kernel = findVerifyKernel(name))
    return Shape{kernel->threads, kernel->sharedBytes};
  return {};
}

/// Kernels whose PTX gives other bits than the body, and why. The case itself
/// says what their numbers have to be.
struct OtherKernel {
  std::string_view name;
  const char *why;
};
constexpr const char *Functions = "nvcc's exponentials and logarithms",
                     *NaNs = "another NaN";
constexpr OtherKernel OtherBits[] = {{"kv_elementwise", Functions},
                                     {"kv_embedding", NaNs},
                                     {"kv_gate_rows", Functions},
                                     {"kv_merge_sides", Functions},
                                     {"kv_pair", Functions},
                                     {"kv_quant_embedding", NaNs},
                                     {"kv_rope", NaNs},
                                     {"kv_shares", Functions},
                                     {"kv_state_convolution", Functions},
                                     {"kv_test_larger_or_nan", NaNs},
                                     {"kv_test_widen_four_e5", NaNs},
                                     {"kv_test_widen_four_f8", NaNs}};

class PtxBackend final : public MachineBackend {
public:
  explicit PtxBackend(const MachineOptions &options)
      : MachineBackend(ofChip(options)), body(ofChip(options)) {}

  void *give(const void *data, size_t bytes, Access access) override {
    body.global().allow(data, bytes, access);
    void *memory = MachineBackend::give(data, bytes, access);
    if (access == Access::Write)
      written.push_back(
          {static_cast<char *>(memory), std::vector<char>(bytes), {}});
    return memory;
  }
  void launch(std::string_view name, int blocks, const void *params,
              int cluster) override;

private:
  struct Region {
    char *memory;
    std::vector<char> before, after; // the body
  };
  void keep(std::vector<char> Region::*where) {
    for (Region &region : written)
      (region.*where)
          .assign(region.memory, region.memory + region.before.size());
  }

  Machine body;
  std::vector<Region> written;
};

} // namespace

void PtxBackend::launch(std::string_view name, int blocks, const void *params,
                        int cluster) {
  std::optional<Shape> shape = shapeOf(name);
  if (!shape)
    return machine.report("there is no kernel " + std::string(name));
  keep(&Region::before);
  if (!runInstruction(body, name, blocks, params))
    runTwin(body, name, blocks * cluster, params, cluster);
  keep(&Region::after);
  for (const Region &region : written)
    std::memcpy(region.memory, region.before.data(), region.before.size());
  PtxTally &tally = PtxRecord::get().kernels[std::string(name)];
  ++tally.launches;
  try {
    ptx::Launch launch;
    launch.grid[0] = blocks * cluster;
    launch.block[0] = shape->threads;
    launch.sharedBytes = shape->sharedBytes;
    launch.cluster = cluster;
    launch.mostBranches = 1 << 24;
    ptx::run(machine, PtxRecord::get().programOf(name), launch, params);
  } catch (const ptx::Error &error) {
    machine.report(error.what());
  }
  bool equal = true;
  for (const Region &region : written)
    equal &=
        !std::memcmp(region.memory, region.after.data(), region.after.size());
  tally.equal += equal;
  if (!equal && std::ranges::none_of(OtherBits, [&](const OtherKernel &other) {
        return other.name == name;
      }))
    machine.report("the PTX of " + std::string(name) +
                   " gives other bits than its body");
}

PtxRecord &PtxRecord::get() {
  static PtxRecord record = [] {
    PtxRecord made;
    if (const char *chip = std::getenv("KV_PTX_CHIP"))
      made.chip = chip;
    return made;
  }();
  return record;
}

std::string PtxRecord::fileOf(std::string_view kernel) const {
  std::string ending = ".compute_" + chip + ".ptx";
  std::string module(kernel);
  std::string_view only;
  if (const VerifyKernel *own = findVerifyKernel(kernel)) {
    if (!own->isFor("sm_" + chip))
      return {};
    module = own->image;
  } else if (kernel.find("attention") == kernel.npos &&
             kernel.find("latent") == kernel.npos) {
    module = "kv_movers";
  } else {
    only = kernels::onlyChipOf(kernel);
  }
  if (!only.empty() && only != "sm_" + chip)
    return {};
  for (const char *folder : {"kernels/kv-cuda/ptx/", "lib/kv-cuda/",
                             "test/gpu/kv-verify/ptx/", "lib/kv-verify/"}) {
    const char *root = std::getenv("KV_PTX_ROOT");
    std::string file = std::string(root ? root : KV_BINARY_DIR) + "/" + folder +
                       module + ending;
    if (std::filesystem::exists(file))
      return file;
  }
  return {};
}

const ptx::Program &PtxRecord::programOf(std::string_view name) {
  auto &program = programs[std::string(name)];
  if (!program) {
    std::string file = fileOf(name);
    if (file.empty())
      throw ptx::Error("compute_" + chip, 0,
                       "no file has the kernel " + std::string(name));
    ptx::Module module = ptx::readModule(file);
    const ptx::Kernel *found = module.find(name);
    if (!found)
      throw ptx::Error(file, 0, "there is no kernel " + std::string(name));
    ptx::Kernel kernel = *found;
    if (const char *mutant = std::getenv("KV_PTX_MUTANT")) {
      std::string text = mutant;
      size_t comma = text.find(',');
      if (text.substr(0, comma) == kernel.name)
        mutation =
            ptx::test::mutate(kernel, std::stoul(text.substr(comma + 1)));
    }
    program = std::make_unique<ptx::Program>(module, kernel);
    program->traces = true;
  }
  return *program;
}

bool PtxRecord::hasExecuted(unsigned line) const {
  for (const auto &[name, program] : programs)
    for (size_t i = 0; program && i < program->executed.size(); ++i)
      if (program->executed[i] && program->operations[i].line == line)
        return true;
  return false;
}

void PtxRecord::countForms() {
  for (const auto &[name, program] : programs)
    if (program)
      program->countForms(contained, executed);
}

bool kv::cuda::test::canRun(std::string_view kernel) {
  return !PtxRecord::get().fileOf(kernel).empty();
}

std::unique_ptr<Backend>
kv::cuda::test::makeBackend(const MachineOptions &options) {
  return std::make_unique<PtxBackend>(options);
}
