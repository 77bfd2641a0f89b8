//===- SampledRows.cpp - Some rows of a step in double precision ----------===//

#include "SampledRows.h"
#include "test/kernels/attention/EightBits.h"

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

struct Sample {
  int64_t sequence;
  int64_t added; // which of its new tokens
  int head;      // a KV head
};

/// A query head's softmax, without the division by `sum`.
struct Row {
  std::vector<double> scores, out, size, squares;
  double maximum = -INFINITY, sum = 0, sumOfSquares = 0;
  /// Of weights of 8 bits: the largest score of each leaf; what f32's errors,
  /// where they round a weight otherwise, and the chip's sums may change of the
  /// result and of the sum; and what those may lose of any score.
  std::vector<double> maxima, slack;
  double sumSlack = 0, scoreLoss = 0;
};

template <class Query, class Cache> class Checker {
public:
  explicit Checker(const Step &step)
      : step(step), s(step.shape), out(step.readOut()), lse(step.readLse()) {
    if (s.eightBitProducts())
      byteSum = byteSumOf(s.kernels().front()->name);
  }

  std::string check(const Sample &sample) const {
    int64_t position = s.sequences[sample.sequence].cached + sample.added;
    int64_t token = step.offsets[sample.sequence] + sample.added;
    std::vector<Row> rows(s.group);
    std::vector<float> queries(s.group * s.dim), x(s.dim);
    int64_t first = (token * s.heads + sample.head) * s.group;
    for (size_t i = 0; i < queries.size(); ++i)
      queries[i] = element<Query>(step.queryNoise, first * s.dim + i);
    for (int g = 0; g < s.group && s.eightBitProducts(); ++g)
      roundQuery(&queries[g * s.dim], s.dim);
    for (int64_t key = 0; key <= position; ++key) {
      load(sample, 0, key, x);
      for (int g = 0; g < s.group; ++g) {
        const float *query = &queries[g * s.dim];
        double score = 0;
        for (int d = 0; d < s.dim; ++d)
          score += double(query[d]) * x[d];
        rows[g].scores.push_back(score / std::sqrt(double(s.dim)));
        if (s.eightBitProducts())
          rows[g].scoreLoss = std::fmax(
              rows[g].scoreLoss, scoreLoss(byteSum, query, x.data(), s.dim) /
                                     std::sqrt(double(s.dim)));
        rows[g].maximum = std::fmax(rows[g].maximum, rows[g].scores.back());
        if (key % EightBitLeaf == 0)
          rows[g].maxima.push_back(-INFINITY);
        rows[g].maxima.back() =
            std::fmax(rows[g].maxima.back(), rows[g].scores.back());
      }
    }
    for (Row &row : rows)
      row.out = row.size = row.squares = row.slack =
          std::vector<double>(s.valueDim());
    std::vector<LeafLosses> losses(s.group, {byteSum, s.valueDim()});
    for (int64_t key = 0; key <= position; ++key) {
      load(sample, s.vDim ? 0 : 1, key, x);
      for (int g = 0; g < s.group; ++g) {
        Row &row = rows[g];
        double weight = std::exp(row.scores[key] - row.maximum), slack = 0;
        if (s.eightBitProducts()) {
          // What scores lose is among the errors below.
          RoundedWeight rounded = roundedWeight(key, row.scores[key],
                                                row.maxima[key / EightBitLeaf],
                                                row.maximum, /*loss=*/0, slack);
          losses[g].add(key, rounded, x.data());
          weight = rounded.value();
        }
        row.sumSlack += slack;
        row.sum += weight;
        row.sumOfSquares += weight * weight;
        for (int d = 0; d < s.valueDim(); ++d) {
          double value = weight * x[d];
          row.out[d] += value;
          row.size[d] += std::fabs(value);
          row.squares[d] += value * value;
          row.slack[d] += slack * std::fabs(x[d]);
        }
      }
    }
    for (int g = 0; g < s.group; ++g) {
      losses[g].endLeaf();
      rows[g].sumSlack += losses[g].sum;
      for (int d = 0; d < s.valueDim(); ++d)
        rows[g].slack[d] += losses[g].values[d];
      if (std::string why = compare(rows[g], first + g); !why.empty())
        return s.name() + ": sequence " + std::to_string(sample.sequence) +
               ", new token " + std::to_string(sample.added) + ", query head " +
               std::to_string(sample.head * s.group + g) + ": " + why;
    }
    return "";
  }

private:
  /// Half the distance of two neighbours of 1, and as many times the root of
  /// the sum of squares of such errors as no sum should exceed.
  static constexpr double Unit = std::is_same_v<Query, F16> ? 0x1p-11 : 0x1p-8;
  static constexpr double Deviations = 5;

  template <class T> static float element(const NoiseParams &p, int64_t i) {
    return widen(narrow<T>(noiseAt(p, i)));
  }

  void load(const Sample &sample, int plane, int64_t key,
            std::vector<float> &x) const {
    int64_t at = step.place(sample.sequence, plane, key, sample.head);
    for (int d = 0; d < s.dim; ++d)
      x[d] = element<Cache>(step.cacheNoise, at + d);
    for (int d = 0; step.groups && d < s.dim; ++d)
      x[d] *= noiseAt(step.scaleNoise,
                      at / s.dim * step.groups + d * step.groups / s.dim);
  }

  /// What weights and sums may be off by, as a part of them.
  struct Errors {
    double weight; // of each weight, independently
    double sum;    // of the sum of all magnitudes
    double score;  // of a score, in units
  };
  Errors errorsOf(const Row &row) const {
    // What f32 loses of scores and sums.
    double slack = 4e-6 * (1 + std::fabs(row.maximum));
    if (!s.eightBitProducts())
      return {Unit, slack, 4 * slack};
    // Weights are rounded in the truth. But where the chip's sums lose some of
    // a score, some weights are rounded to a neighbour, which is an eighth away
    // at most: as many more of them as it is nearer. A weight's score and its
    // leaf's largest one differ by two losses at most, and on average by less
    // than one.
    double score = row.scoreLoss + slack;
    return {std::sqrt(score * (score + 0x1p-3)), slack, score};
  }

  std::string compare(const Row &row, int64_t index) const {
    Errors errors = errorsOf(row);
    double expected = row.maximum + std::log(row.sum);
    double bound =
        Deviations * errors.weight * std::sqrt(row.sumOfSquares) / row.sum +
        row.sumSlack / row.sum + errors.score;
    if (!(std::fabs(lse[index] - expected) <= bound))
      return "lse " + describe(lse[index], expected, bound);
    for (int d = 0; d < s.valueDim(); ++d) {
      expected = row.out[d] / row.sum;
      bound = Unit * std::fabs(expected) +
              (Deviations * errors.weight * std::sqrt(row.squares[d]) +
               errors.sum * row.size[d] + row.slack[d] +
               row.sumSlack * std::fabs(expected)) /
                  row.sum +
              1e-6;
      float got = widen(Query{out[index * s.valueDim() + d]});
      if (!(std::fabs(got - expected) <= bound))
        return "element " + std::to_string(d) + " is " +
               describe(got, expected, bound);
    }
    return "";
  }

  static std::string describe(double got, double expected, double bound) {
    char text[96];
    std::snprintf(text, sizeof(text), "%.7g, expected %.7g +- %.2g", got,
                  expected, bound);
    return text;
  }

  const Step &step;
  const StepShape &s;
  std::vector<uint16_t> out;
  std::vector<float> lse;
  FusedSum byteSum = byteSumOf("");
};

std::vector<Sample> chooseSamples(const StepShape &shape, int count) {
  std::mt19937 random(7);
  std::vector<int64_t> withRows;
  for (size_t b = 0; b < shape.sequences.size(); ++b)
    if (shape.sequences[b].added)
      withRows.push_back(b);
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    int64_t sequence = i == 0   ? withRows.front()
                       : i == 1 ? withRows.back()
                                : withRows[random() % withRows.size()];
    int64_t rows = shape.sequences[sequence].added;
    int64_t added = i == 0 ? 0 : i == 1 ? rows - 1 : random() % rows;
    samples.push_back({sequence, added, int(random() % shape.heads)});
  }
  return samples;
}

template <class Query, class Cache>
std::string checkAll(const Step &step, int count, int threads) {
  Checker<Query, Cache> checker(step);
  std::vector<Sample> samples = chooseSamples(step.shape, count);
  std::vector<std::string> problems(samples.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < samples.size();)
      problems[i] = checker.check(samples[i]);
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i)
      others.emplace_back(work);
    work();
  }
  for (const std::string &problem : problems)
    if (!problem.empty())
      return problem;
  return "";
}

} // namespace

std::string kv::cuda::test::checkSampledRows(const Step &step, int count,
                                             int threads) {
  switch (step.cacheNoise.type) {
  case KV_DTYPE_F8E4M3FN:
    return checkAll<Bf16, F8E4M3>(step, count, threads);
  case KV_DTYPE_F8E5M2:
    return checkAll<Bf16, F8E5M2>(step, count, threads);
  case KV_DTYPE_I8:
    return checkAll<Bf16, I8>(step, count, threads);
  case KV_DTYPE_F16:
    return checkAll<F16, F16>(step, count, threads);
  default:
    return checkAll<Bf16, Bf16>(step, count, threads);
  }
}
