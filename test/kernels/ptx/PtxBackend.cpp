//===- PtxBackend.cpp - The PTX of kernels on a CPU -----------------------===//

#include "PtxBackend.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "kernels/cuda/twins/Twins.h"
#include "kernels/emulator/base/Hurry.h"
#include "test/kernels/instructions/InstructionTwins.h"

#include <algorithm>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

MachineOptions optionsOf(MachineOptions options) {
  PtxRecord &record = PtxRecord::get();
  options.chip = record.chipNumber();
  options.sm = shapesOfChip(options.chip);
  return options;
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

bool mayDiffer(std::string_view kernel) {
  return std::ranges::any_of(OtherBits, [&](const OtherKernel &other) {
    return other.name == kernel;
  });
}

/// The kernels of one body: such differ in types and head dimensions alone.
auto familyOf(const AttentionKernel &kernel) {
  return std::tuple(kernels::onlyChipOf(kernel.name), kernel.tiles,
                    kernel.drafts, kernel.vDim != 0, kernel.partBlocks,
                    kernel.eightBitProducts, kernel.cache == kernel.query);
}

/// In how many schedules of its family's `schedules` a kernel runs.
int shareOf(std::string_view name, int schedules) {
  auto own = std::ranges::find(TileKernels, name, &AttentionKernel::name);
  if (own == std::end(TileKernels))
    return schedules;
  return int(kv::plan::ceilDivide(
      schedules, std::ranges::count(TileKernels, familyOf(*own), familyOf)));
}

class PtxBackend final : public MachineBackend {
public:
  explicit PtxBackend(const MachineOptions &options)
      : MachineBackend(options), options(options), body(options) {}

  void *give(const void *data, size_t bytes, Access access) override {
    char *memory =
        static_cast<char *>(MachineBackend::give(data, bytes, access));
    body.global().allow(data, bytes, access);
    regions.push_back({memory, bytes, access, {}, {}});
    return memory;
  }
  void launch(std::string_view name, int blocks, const void *params,
              int cluster) override;

private:
  struct Region {
    char *memory;
    size_t bytes;
    Access access;
    std::vector<char> before, after; // the body, of what is written
  };
  void keep(std::vector<char> Region::*where) {
    for (Region &region : regions)
      if (region.access == Access::Write)
        (region.*where).assign(region.memory, region.memory + region.bytes);
  }
  void restore() {
    for (const Region &region : regions)
      std::ranges::copy(region.before, region.memory);
  }
  /// Whether what was written has the body's bits.
  bool isEqual() const {
    return std::ranges::all_of(regions, [](const Region &region) {
      return std::equal(region.after.begin(), region.after.end(),
                        region.memory);
    });
  }
  /// Runs the PTX where the body ran. False, and a report: it gives other bits.
  bool runTexts(Machine &machine, std::string_view name, int blocks,
                int cluster, const void *params) {
    restore();
    PtxRecord::get().run(machine, name, blocks, cluster, params);
    bool equal = isEqual();
    if (!equal && !mayDiffer(name))
      machine.report("the PTX of " + std::string(name) +
                     " gives other bits than its body");
    return equal;
  }
  /// In so many schedules in which asynchronous work completes early.
  void hurry(int schedules, std::string_view name, int blocks, int cluster,
             const void *params);

  MachineOptions options;
  Machine body;
  std::vector<Region> regions;
};

} // namespace

void PtxBackend::hurry(int schedules, std::string_view name, int blocks,
                       int cluster, const void *params) {
  PtxRecord &record = PtxRecord::get();
  for (int i = 0; i < schedules && machine.reports().empty(); ++i) {
    MachineOptions hurried = options;
    hurried.schedule = Schedule::Random;
    hurried.seed = record.seed++;
    Machine other(hurried);
    for (const Region &region : regions)
      other.global().allow(region.memory, region.bytes, region.access);
    Hurry early(1 + hurried.seed % 16);
    runTexts(other, name, blocks, cluster, params);
    for (const std::string &report : other.reports())
      machine.report(report + ", seed " + std::to_string(hurried.seed));
    ++record.kernels.find(name)->second.hurried;
  }
}

void PtxBackend::launch(std::string_view name, int blocks, const void *params,
                        int cluster) {
  auto runBody = [&](Machine &machine) {
    if (!runInstruction(machine, name, blocks, params))
      runTwin(machine, name, blocks * cluster, params, cluster);
  };
  PtxRecord &record = PtxRecord::get();
  bool isMutated = record.mutants.kernel == name;
  if (!record.mutants.kernel.empty() && !isMutated)
    return runBody(machine); // other kernels are as they are
  keep(&Region::before);
  runBody(body);
  keep(&Region::after);
  auto runPtx = [&] {
    return runTexts(machine, name, blocks * cluster, cluster, params);
  };
  if (isMutated)
    record.mutants.tryAll(record, [&] {
      runPtx();
      return machine.reports().empty() ? "" : machine.reports()[0];
    });
  PtxTally &tally = record.kernels[std::string(name)];
  tally.equal += runPtx();
  bool isFirst = tally.launches++ == 0;
  if (record.hurried && record.hasRoles(name))
    hurry(isFirst ? shareOf(name, record.hurried) : 1, name, blocks * cluster,
          cluster, params);
}

PtxRecord &PtxRecord::get() {
  static PtxRecord record;
  return record;
}

PtxRecord::PtxRecord() {
  auto given = [](const char *name, const char *otherwise) {
    const char *text = std::getenv(name);
    return text ? text : otherwise;
  };
  folder = given("KV_PTX_ROOT", KV_BINARY_DIR);
  chip = given("KV_PTX_CHIP", "80");
  traces = true;
  hurried = std::atoi(given("KV_PTX_HURRY", "0"));
  seed = std::atoi(given("KV_PTX_SEED", "1"));
}

bool PtxRecord::hasRoles(std::string_view kernel) const {
  auto found = programs.find(kernel);
  return found != programs.end() && found->second && found->second->hasRoles;
}

void PtxRecord::countForms() {
  for (const auto &[name, program] : programs)
    if (program)
      program->countForms(contained, executed);
}

/// Of a run with a mistake, kernels with the types and the head dimension of
/// the one that has it: cases compare them with one another.
bool kv::cuda::test::canRun(std::string_view kernel) {
  const PtxRecord &record = PtxRecord::get();
  std::string_view mutated = record.mutants.kernel;
  size_t types = mutated.rfind('_', mutated.rfind('_') - 1);
  return (mutated.empty() || kernel.ends_with(mutated.substr(types))) &&
         !record.fileOf(kernel).empty();
}

std::unique_ptr<Backend>
kv::cuda::test::makeBackend(const MachineOptions &options) {
  return std::make_unique<PtxBackend>(optionsOf(options));
}
