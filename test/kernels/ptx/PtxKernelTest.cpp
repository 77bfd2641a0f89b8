//===- PtxKernelTest.cpp - What executed PTX gave -------------------------===//

#include "PtxBackend.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "test/kernels/attention/AttentionCase.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

bool isMade(std::string_view kernel) {
  const std::string &chip = PtxRecord::get().chip;
  std::string_view only = kernels::onlyChipOf(kernel);
  if (!only.empty())
    return only == "sm_" + chip;
  return chip == "80" || chip == "90a" ||
         !PtxRecord::get().fileOf(kernel).empty();
}

/// Says behind all tests what was executed.
class Summary : public testing::Environment {
  void TearDown() override {
    PtxRecord &record = PtxRecord::get();
    if (std::getenv("KV_PTX_EVERY_ROW"))
      for (const KernelLaunch &kernel : KernelLaunches)
        EXPECT_TRUE(!isMade(kernel.name) ||
                    record.kernels.contains(kernel.name))
            << kernel.name << " was not executed";
    record.countForms();
    record.mutants.print();
    for (const auto &[name, tally] : record.kernels)
      std::printf("%s: %d launches, %d with the body's bits, %d hurried\n",
                  name.c_str(), tally.launches, tally.equal, tally.hurried);
    std::printf("compute_%s: %zu of %zu forms executed\n", record.chip.c_str(),
                record.executed.size(), record.contained.size());
    for (const std::string &form : record.contained)
      if (!record.executed.contains(form))
        std::printf("  not executed: %s\n", form.c_str());
  }
};

const auto *Added = testing::AddGlobalTestEnvironment(new Summary);

} // namespace

// A case of a kernel without a file is left out. So here the files are counted:
// those of a chip that the build has images for are there, and all that they
// contain is modelled.
TEST(PtxKernels, AllAreTranslated) {
  PtxRecord &record = PtxRecord::get();
  int translated = 0;
  for (const KernelLaunch &kernel : KernelLaunches) {
    if (!isMade(kernel.name))
      continue;
    SCOPED_TRACE(kernel.name);
    try {
      record.programOf(kernel.name);
      ++translated;
    } catch (const kv::ptx::Error &error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(translated, 50);
}

// As little as makes all rings of tiles begin again: for many schedules.
TEST(PtxKernels, SmallUnits) {
  for (const AttentionKernel &kernel : TileKernels) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{300, 2}};
    c.parts = 2;
    EXPECT_TRUE(check(kernel, c)) << kernel.name << ", " << c;
  }
}
