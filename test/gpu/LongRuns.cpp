//===- LongRuns.cpp - Steps as long as real ones --------------------------===//

#include "SampledRows.h"
#include "Shapes.h"
#include "Suite.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

class LongRuns final : public Suite {
public:
  LongRuns(Gpu &gpu, const SuiteOptions &options)
      : gpu(gpu), small(options.small), shapes(stepShapes(small)) {}

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    for (const StepShape &shape : shapes) {
      // Double precision on the host, and results that are copied there.
      double longest = 0;
      for (const Lengths &s : shape.sequences)
        longest = std::max<double>(longest, s.cached + s.added);
      rows.push_back({shape.name(), 0.5 + 2.5 * longest / 32768 +
                                        3e-8 * double(shape.tokens()) *
                                            shape.heads * shape.group *
                                            shape.valueDim()});
    }
    markFirst(rows);
    return rows;
  }

  Result run(const std::string &row) override {
    auto shape =
        std::find_if(shapes.begin(), shapes.end(), [&](const StepShape &shape) {
          return shape.name() == row;
        });
    Step step(gpu, *shape);
    if (std::string why = step.whyLeftOut(); !why.empty())
      return {true, "left out: " + why};
    step.plan();
    if (std::string why = step.checkPlans(); !why.empty())
      return Result::failed(why);
    step.launch();
    gpu.synchronize();
    int threads = small ? 2 : std::max(1u, std::thread::hardware_concurrency());
    std::string why = checkSampledRows(step, small ? 6 : 24, threads);
    if (!why.empty())
      return Result::failed(why);
    return checkParts(step);
  }

private:
  /// The name of a kernel without its dimensions, and with what is alike of its
  /// type: a family has one text.
  static std::string familyOf(const AttentionKernel &kernel) {
    std::string name(kernel.name);
    name.resize(name.rfind('_'));
    size_t type = name.rfind('_') + 1;
    if (name[type] == 'b' || name.substr(type) == "f16")
      return name.substr(0, type) + "16";
    return name.substr(0, type) + "8" + name.substr(type + 2);
  }

  /// The quickest row of each family, of those that models have first.
  void markFirst(std::vector<Row> &rows) {
    auto order = [&](size_t i) {
      const StepShape &shape = shapes[i];
      bool isUsual = (shape.dim == 128 || shape.dim == 576) &&
                     shape.columns() * shape.page >= 2048;
      return std::pair(!isUsual, rows[i].seconds);
    };
    std::map<std::string, size_t> chosen;
    for (size_t i = 0; i < rows.size(); ++i)
      for (const AttentionKernel *kernel : shapes[i].kernels()) {
        if (!shapes[i].tiles)
          continue; // what the runtime has other kernels for
        auto [at, isNew] = chosen.try_emplace(familyOf(*kernel), i);
        if (!isNew && order(i) < order(at->second))
          at->second = i;
      }
    for (const auto &[family, row] : chosen)
      rows[row].isFirst = true;
  }

  /// No bit depends on how many parts there are.
  Result checkParts(Step &step) {
    std::vector<uint16_t> out = step.readOut();
    std::vector<float> lse = step.readLse();
    std::vector<int> counts{100, 132, 264};
    if (small) // with 9, units that are shared are merged by another kernel
      counts = {3, 9};
    for (int parts : counts) {
      step.plan(parts);
      step.launch();
      std::vector<uint16_t> other = step.readOut();
      auto at = std::mismatch(out.begin(), out.end(), other.begin()).first;
      if (at != out.end())
        return Result::failed("element " + std::to_string(at - out.begin()) +
                              " has other bits with " + std::to_string(parts) +
                              " parts");
      std::vector<float> sums = step.readLse();
      if (std::memcmp(lse.data(), sums.data(), lse.size() * sizeof(float)))
        return Result::failed("lse has other bits with " +
                              std::to_string(parts) + " parts");
    }
    return {};
  }

  Gpu &gpu;
  bool small;
  std::vector<StepShape> shapes;
};

} // namespace

std::unique_ptr<Suite>
kv::cuda::test::makeLongRuns(Gpu &gpu, const SuiteOptions &options) {
  return std::make_unique<LongRuns>(gpu, options);
}
