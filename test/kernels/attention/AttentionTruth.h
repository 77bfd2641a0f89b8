//===- AttentionTruth.h - What a case holds, and what is right --*- C++ -*-===//
//
// The elements of a case, and a softmax in double precision, two passes, by the
// definition of the masks. Neither depends on pages, layout, parts or sinks, so
// one truth serves all cases that differ in those only; it computes what is
// asked for, once.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_ATTENTION_ATTENTIONTRUTH_H
#define KV_TEST_KERNELS_ATTENTION_ATTENTIONTRUTH_H

#include "EightBits.h"
#include "kv/ABI/Context.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace kv::cuda::test {

template <class T, class Random> T randomElement(Random &random) {
  // Of different magnitudes, so that sums are rounded.
  float x = float(int(random() >> 4 & 0x1fffff) - 0x100000) / 0x80000;
  return narrow<T>(x / float(1 << (random() >> 8 & 3)));
}

/// Elements that have scales are of a larger size, by this power of two, and
/// their scales, which differ by up to 2^6, of a smaller one.
template <class T> inline constexpr int RawPower = 0;
template <> inline constexpr int RawPower<F8E4M3> = 7;
template <> inline constexpr int RawPower<F8E5M2> = 13;
template <> inline constexpr int RawPower<I8> = 5;
constexpr float MostScale = 8;

/// What a truth is about.
struct TruthShape {
  uint32_t seed;
  int heads, group, dim;
  int vDim; // of a latent cache; 0: not latent
  int mask;
  int64_t window;
  float scale;
  int groups = 0;                // scales of a row; 0: none
  bool powers = false;           // scales are powers of two
  bool eightBitProducts = false; // as docs/reference/products.md defines them
  FusedSum byteSum = byteSumOf(""); // of their sums

  int valueDim() const { return vDim ? vDim : dim; }
  bool operator==(const TruthShape &) const = default;
};

/// A row of the result without a sink, times `sum`; and how large what was
/// added is, times `sum` and without weights.
struct TrueRow {
  double maximum = -INFINITY, sum = 0;
  std::vector<double> out, size;
  /// Of weights of 8 bits that are almost half between two numbers, and of what
  /// a chip's sums lose: what the result and, in `sum`, the sum may be off by.
  std::vector<double> slack;
  double sumSlack = 0;
};
/// Those of the query heads of one KV head.
struct TrueRows {
  std::vector<TrueRow> rows;
  std::vector<double> plain;
};

template <class Query, class Cache> class AttentionTruth {
public:
  explicit AttentionTruth(const TruthShape &shape)
      : shape(shape), random(shape.seed * 7919) {}

  /// K (plane 0) or V of a position: a sequence is another's beginning. In a
  /// latent cache both begin with the same elements. Valid until a later
  /// position is asked for.
  const Cache *element(int64_t position, int plane, int head) {
    return &elements[place(position, plane, head)];
  }
  /// The scale of a group of a row, as a number and as a power's exponent.
  float scale(int64_t position, int plane, int head, int group) const {
    std::minstd_rand random(shape.seed * 31 +
                            ((position * 2 + plane) * shape.heads + head) *
                                shape.groups +
                            group + 1);
    random.discard(3);
    float mantissa = shape.powers ? 1 : 1 + float(random() >> 8 & 255) / 256;
    return std::ldexp(mantissa, int(random() >> 8) % 6 - 3 - RawPower<Cache>);
  }
  static int exponentOf(float power) { return std::ilogb(power) + 127; }
  /// [query head][dim]. Likewise a query depends on its position only.
  const std::vector<Query> &query(int64_t position) {
    std::vector<Query> &q = queries[position];
    if (q.empty()) {
      std::minstd_rand random(shape.seed * 104729 + position);
      for (int i = 0; i < shape.heads * shape.group * shape.dim; ++i)
        q.push_back(randomElement<Query>(random));
    }
    return q;
  }

  /// The rows of a KV head at `position` of a sequence of `length` tokens. Of
  /// a tree the keys from `base` on are those of `ancestors`, bit by bit, and
  /// the row's own.
  const TrueRows &rows(int64_t position, int64_t length, int head,
                       float softcap, int64_t base = INT64_MAX,
                       uint64_t ancestors = 0) {
    auto [at, isNew] =
        known.try_emplace({position, length, head, softcap, base, ancestors});
    if (isNew)
      compute(at->second, at->first);
    return at->second;
  }

  const TruthShape shape;

private:
  size_t place(int64_t position, int plane, int head) {
    size_t tokenElements = size_t(2) * shape.heads * shape.dim;
    for (size_t end = (position + 1) * tokenElements; elements.size() < end;) {
      size_t i = elements.size(), row = i / shape.dim;
      Cache element = randomElement<Cache>(random);
      float times = 1, most = 1;
      if (shape.groups) {
        element = narrow<Cache>(widen(randomElement<Bf16>(random)) *
                                std::ldexp(1.0f, RawPower<Cache>));
        times =
            scale(row / shape.heads / 2, row / shape.heads % 2,
                  row % shape.heads, i % shape.dim * shape.groups / shape.dim);
        most = std::ldexp(MostScale, -RawPower<Cache>);
      }
      elements.push_back(element);
      widened.push_back(widen(element) * times);
      sizes.push_back(std::fabs(widen(element)) * most);
    }
    if (shape.vDim)
      plane = 0;
    return position * tokenElements +
           (size_t(plane) * shape.heads + head) * shape.dim;
  }

  bool sees(int64_t position, int64_t key) const {
    switch (shape.mask) {
    case KV_MASK_CAUSAL:
      return key <= position;
    case KV_MASK_SLIDING:
      return key <= position && key > position - shape.window;
    case KV_MASK_CHUNKED:
      return key / shape.window == position / shape.window;
    case KV_MASK_SLIDING_NONCAUSAL:
      return key > position - shape.window;
    case KV_MASK_CHUNKED_CAUSAL:
      return key <= position && key / shape.window == position / shape.window;
    default:
      return true;
    }
  }

  /// A query as it is multiplied, of 8 bits divided by its power again.
  std::vector<float> multiplied(const Query *q) const {
    std::vector<float> x(shape.dim);
    for (int d = 0; d < shape.dim; ++d)
      x[d] = widen(q[d]);
    if (shape.eightBitProducts)
      roundQuery(x.data(), shape.dim);
    return x;
  }

  double product(const std::vector<float> &q, const float *k) const {
    constexpr int Together = 8; // sums that do not wait for each other
    double sums[Together] = {}, sum = 0;
    for (int d = 0; d < shape.dim; d += Together)
      for (int i = 0; i < Together; ++i)
        sums[i] += double(q[d + i]) * k[d + i];
    for (double part : sums)
      sum += part;
    return sum;
  }

  struct Key {
    int64_t position, length;
    int head;
    float softcap;
    int64_t base; // of a tree
    uint64_t ancestors;
    auto operator<=>(const Key &) const = default;
  };

  /// The keys that a row sees: of a tree, where its path stood alone.
  std::vector<int64_t> keysOf(const Key &row) const {
    std::vector<int64_t> path, keys;
    for (int64_t key = 0; key < row.length; ++key)
      if (key < row.base || key == row.position ||
          (key < row.position && row.ancestors >> (key - row.base) & 1))
        path.push_back(key);
    int64_t position = row.position;
    if (row.base != INT64_MAX)
      position = int64_t(path.size()) - 1;
    for (size_t i = 0; i < path.size(); ++i)
      if (sees(position, int64_t(i)))
        keys.push_back(path[i]);
    return keys;
  }

  void compute(TrueRows &rows, const Key &asked) {
    auto [position, length, head, softcap, base, ancestors] = asked;
    std::vector<int64_t> keys = keysOf(asked);
    place(length - 1, 0, 0); // no element moves from here on
    rows.plain.resize(shape.valueDim());
    for (int64_t key : keys) {
      const float *v = &sizes[place(key, 1, head)];
      for (int d = 0; d < shape.valueDim(); ++d)
        rows.plain[d] += v[d];
    }
    const Query *q = &query(position)[size_t(head) * shape.group * shape.dim];
    for (int h = 0; h < shape.group; ++h, q += shape.dim) {
      TrueRow row;
      std::vector<double> scores;
      std::vector<float> query = multiplied(q);
      double loss = 0; // of a score
      for (int64_t key : keys) {
        const float *k = &widened[place(key, 0, head)];
        if (shape.eightBitProducts)
          loss = std::max(
              loss, std::fabs(shape.scale) *
                        scoreLoss(shape.byteSum, query.data(), k, shape.dim));
        double score = product(query, k) * shape.scale;
        if (softcap > 0)
          score = softcap * std::tanh(score / softcap);
        scores.push_back(score);
        row.maximum = std::max(row.maximum, score);
      }
      row.out.resize(shape.valueDim());
      row.size.resize(shape.valueDim());
      row.slack.resize(shape.valueDim());
      double *out = row.out.data(), *size = row.size.data();
      std::map<int64_t, double> maxima; // of leaves
      for (size_t k = 0; k < keys.size() && shape.eightBitProducts; ++k) {
        double &maximum =
            maxima.try_emplace(keys[k] / EightBitLeaf, -INFINITY).first->second;
        maximum = std::max(maximum, scores[k]);
      }
      LeafLosses losses(shape.byteSum, shape.valueDim());
      for (size_t k = 0; k < keys.size(); ++k) {
        double weight = std::exp(scores[k] - row.maximum), slack = 0;
        const float *v = &widened[place(keys[k], 1, head)];
        if (shape.eightBitProducts) {
          RoundedWeight rounded =
              roundedWeight(keys[k], scores[k], maxima[keys[k] / EightBitLeaf],
                            row.maximum, loss, slack);
          losses.add(keys[k], rounded, v);
          weight = rounded.value();
        }
        row.sum += weight;
        row.sumSlack += slack;
        for (int d = 0; d < shape.valueDim(); ++d) {
          out[d] += weight * v[d];
          size[d] += weight * std::fabs(v[d]);
          row.slack[d] += slack * std::fabs(v[d]);
        }
      }
      losses.endLeaf();
      row.sumSlack += losses.sum;
      for (int d = 0; d < shape.valueDim() && row.sum > 0; ++d)
        row.slack[d] +=
            losses.values[d] + row.sumSlack * std::fabs(out[d]) / row.sum;
      rows.rows.push_back(std::move(row));
    }
  }

  std::minstd_rand random;
  std::vector<Cache> elements; // [position][plane][head][dim]
  std::vector<float> widened;
  std::vector<float> sizes; // with the largest scale that there is
  std::map<int64_t, std::vector<Query>> queries;
  std::map<Key, TrueRows> known;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_ATTENTION_ATTENTIONTRUTH_H
