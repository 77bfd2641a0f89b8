//===- PtxBackend.cpp - The PTX of kernels on a CPU -----------------------===//

#include "PtxBackend.h"
#include "Mutation.h"
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
  if (record.hurry) {
    options.schedule = Schedule::Random;
    options.seed = record.hurry++;
  }
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

class PtxBackend final : public MachineBackend {
public:
  explicit PtxBackend(const MachineOptions &options)
      : MachineBackend(options), body(options), seed(options.seed) {}

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
  std::vector<std::string> reports() override {
    std::vector<std::string> all = machine.reports();
    for (std::string &report : all)
      report += ", seed " + std::to_string(seed);
    return all;
  }

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
  uint32_t seed;
  std::vector<Region> written;
};

} // namespace

void PtxBackend::launch(std::string_view name, int blocks, const void *params,
                        int cluster) {
  auto runBody = [&](Machine &machine) {
    if (!runInstruction(machine, name, blocks, params))
      runTwin(machine, name, blocks * cluster, params, cluster);
  };
  PtxRecord &record = PtxRecord::get();
  if (!record.mutated.empty() && record.mutated != name)
    return runBody(machine); // other kernels are as they are
  std::optional<Hurry> hurry;
  if (record.hurry)
    hurry.emplace(1 + seed % 16);
  keep(&Region::before);
  runBody(body);
  keep(&Region::after);
  for (const Region &region : written)
    std::memcpy(region.memory, region.before.data(), region.before.size());
  PtxTally &tally = record.kernels[std::string(name)];
  ++tally.launches;
  record.run(machine, name, blocks * cluster, cluster, params);
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
  hurry = std::atoi(given("KV_PTX_HURRY", "0"));
  std::string mutant = given("KV_PTX_MUTANT", "");
  if (size_t comma = mutant.find(','); comma != mutant.npos) {
    mutated = mutant.substr(0, comma);
    remembers = true;
    mostBranches = 1 << 16;
    change = [this, seed = std::stoul(mutant.substr(comma + 1))](
                 ptx::Kernel &kernel) {
      if (seed && kernel.name == mutated)
        mutation = ptx::test::mutate(kernel, seed);
    };
  }
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
  std::string_view mutated = record.mutated;
  size_t types = mutated.rfind('_', mutated.rfind('_') - 1);
  return (mutated.empty() || kernel.ends_with(mutated.substr(types))) &&
         !record.fileOf(kernel).empty();
}

std::unique_ptr<Backend>
kv::cuda::test::makeBackend(const MachineOptions &options) {
  return std::make_unique<PtxBackend>(optionsOf(options));
}
