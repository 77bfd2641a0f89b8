//===- PtxKernelTest.cpp - What executed PTX gave -------------------------===//

#include "PtxBackend.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace kv::cuda::test;

namespace {

/// Says behind all tests what was executed.
class Summary : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest &) override {
    PtxRecord &record = PtxRecord::get();
    record.countForms();
    for (const auto &[name, tally] : record.kernels)
      std::printf("%s: %d launches, %d with the body's bits\n", name.c_str(),
                  tally.launches, tally.equal);
    std::printf("compute_%s: %zu of %zu forms executed\n", record.chip.c_str(),
                record.executed.size(), record.contained.size());
    for (const std::string &form : record.contained)
      if (!record.executed.contains(form))
        std::printf("  not executed: %s\n", form.c_str());
  }
};

const bool Added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Summary);
  return true;
}();

} // namespace
