//===- SampleCase.h - Rows of logits and how they are drawn from -*- C++
//-*-===//

#ifndef KV_TEST_KERNELS_MOVERS_SAMPLECASE_H
#define KV_TEST_KERNELS_MOVERS_SAMPLECASE_H

#include "kv/Kernels/Sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace kv::cuda::test {

struct SampleCase {
  /// Logits are drawn, or repeat `values`.
  explicit SampleCase(int width, std::vector<float> values = {})
      : width(width), values(std::move(values)) {}

  int rows() const { return int(choices.size()); }

  std::vector<float> makeRow() {
    std::vector<float> row(width);
    for (int i = 0; i < width; ++i)
      row[i] = values.empty() ? float(int(random() % 16001) - 8000) / 1000
                              : values[i % values.size()];
    return row;
  }
  void add(const sampling::Choice &choice) { add(choice, makeRow()); }
  void add(const sampling::Choice &choice, const std::vector<float> &row) {
    choices.push_back(choice);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  int32_t drawByCpu(int row) const {
    sampling::RowSampler sampler;
    return sampler.sample({logits.data() + size_t(row) * width, size_t(width)},
                          choices[row]);
  }

  int width;
  std::vector<float> values, logits;
  std::vector<sampling::Choice> choices; // of each row
  std::mt19937 random{1};
};

/// The choices of a case as the kernel takes them.
struct SampleLists {
  explicit SampleLists(const SampleCase &c) {
    for (const sampling::Choice &choice : c.choices) {
      temperature.push_back(choice.temperature);
      topP.push_back(choice.topP);
      minP.push_back(choice.minP);
      topK.push_back(choice.topK);
      index.push_back(int32_t(choice.index));
      seed.push_back(int64_t(choice.seed));
    }
  }
  std::vector<float> temperature, topP, minP;
  std::vector<int32_t> topK, index;
  std::vector<int64_t> seed;
};

/// What each token's share of many draws should be: the definition in double,
/// by sorting.
inline std::vector<double> exactShares(const std::vector<float> &row,
                                       const sampling::Choice &choice) {
  std::vector<int> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int a, int b) {
    return row[a] != row[b] ? row[a] > row[b] : a < b;
  });
  if (choice.topK > 0 && size_t(choice.topK) < order.size())
    order.resize(choice.topK);
  std::vector<double> shares(row.size());
  double sum = 0;
  for (int token : order)
    sum += shares[token] =
        std::exp((double(row[token]) - row[order[0]]) / choice.temperature);
  double before = 0, kept = 0;
  for (int token : order) {
    double share = shares[token];
    if ((choice.topP < 1 && before >= choice.topP * sum) || share < choice.minP)
      shares[token] = 0;
    before += share;
    kept += shares[token];
  }
  for (double &share : shares)
    share /= kept;
  return shares;
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_MOVERS_SAMPLECASE_H
