//===- StateCase.h - Recurrent layers in double precision -------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_MOVERS_STATECASE_H
#define KV_TEST_KERNELS_MOVERS_STATECASE_H

#include "kernels/cuda/parameters/States.h"

#include <cmath>
#include <random>
#include <vector>

namespace kv::cuda::test {

/// A step of several sequences on the second of two layers of seven states, as
/// it may come: in place, from one to another, from the null state, from and to
/// numbers that name none; sequences without rows.
struct StateStep {
  static constexpr int States = 8, Layers = 2, Layer = 1;

  std::vector<int32_t> offsets = {0, 6, 6, 7, 9, 12},
                       lengths = {3, 4, 0, 20, 1},
                       table = {3, 3, 4, 5, 0, 1, 6, 0, -9, 2};
  int heads, dim;
  std::vector<float> blocks; // [States, Layers, heads, dim]

  StateStep(int heads, int dim, uint32_t seed)
      : heads(heads), dim(dim),
        blocks(numbers(size_t(States) * Layers * heads * dim, seed, 1)) {}

  static std::vector<float> numbers(size_t count, uint32_t seed, float scale) {
    std::mt19937 random(seed);
    std::vector<float> made(count);
    for (float &x : made)
      x = float(int(random() % 4001) - 2000) / 2000 * scale;
    return made;
  }

  int sequences() const { return int(lengths.size()); }
  int tokens() const { return offsets.back(); }
  size_t stride() const { return size_t(Layers) * heads * dim; }
  /// Where the layer's state of that number begins.
  size_t at(int id) const {
    return id * stride() + size_t(Layer) * heads * dim;
  }
  static bool isState(int id) { return id > 0 && id < States; }

  /// What sequence b begins with.
  std::vector<double> begun(int b) const {
    std::vector<double> state(size_t(heads) * dim);
    if (int id = table[b * 2]; isState(id))
      std::copy_n(&blocks[at(id)], state.size(), state.begin());
    return state;
  }

  template <class Run> StatesView view(Run &run, std::vector<float> &written) {
    return {run.out(written) + size_t(Layer) * heads * dim,
            int64_t(stride()),
            dim,
            States,
            heads,
            dim,
            run.in(table),
            2,
            KV_DTYPE_F32};
  }
  template <class Run> kv::plan::Batch batch(Run &run) {
    return {run.in(lengths), run.in(offsets), sequences(), tokens(),
            /*capacity=*/0};
  }
};

/// A scan of so many tokens.
struct ScanCase {
  int keyHeads, perKey, keyDim, valueDim;
  bool delta, skips;
  std::vector<float> q, k, v, decay, strength, skip;

  ScanCase(int keyHeads, int perKey, int keyDim, int valueDim, bool delta,
           bool skips, int tokens)
      : keyHeads(keyHeads), perKey(perKey), keyDim(keyDim), valueDim(valueDim),
        delta(delta), skips(skips) {
    float unit = 1 / std::sqrt(float(keyDim));
    q = StateStep::numbers(size_t(tokens) * keys(), 1, 1);
    k = StateStep::numbers(size_t(tokens) * keys(), 2, 2 * unit);
    v = StateStep::numbers(size_t(tokens) * values(), 3, 1);
    decay = StateStep::numbers(size_t(tokens) * heads(), 4, 0.2f);
    strength = StateStep::numbers(size_t(tokens) * heads(), 5, 0.4f);
    for (float &x : decay)
      x += 0.8f;
    for (float &x : strength)
      x += 0.5f;
    skip = StateStep::numbers(heads(), 6, 1);
  }

  int heads() const { return keyHeads * perKey; }
  int keys() const { return keyHeads * keyDim; }
  int values() const { return heads() * valueDim; }
  int stateDim() const { return keyDim * valueDim; }

  /// Token t of one sequence, in double precision.
  void step(std::vector<double> &state, int t, double *out) const {
    for (int h = 0; h < heads(); ++h)
      for (int p = 0; p < valueDim; ++p) {
        const float *key = &k[size_t(t) * keys() + h / perKey * keyDim];
        const float *query = &q[size_t(t) * keys() + h / perKey * keyDim];
        double *s = &state[size_t(h) * stateDim() + p];
        double d = decay[t * heads() + h],
               value = v[size_t(t) * values() + h * valueDim + p],
               write = value;
        for (int n = 0; delta && n < keyDim; ++n)
          write -= d * s[n * valueDim] * key[n];
        write *= strength[t * heads() + h];
        double sum = skips ? value * skip[h] : 0;
        for (int n = 0; n < keyDim; ++n) {
          s[n * valueDim] = d * s[n * valueDim] + key[n] * write;
          sum += s[n * valueDim] * query[n];
        }
        out[h * valueDim + p] = sum;
      }
  }

  template <class Run>
  StateScanParams params(Run &run, StateStep &step, std::vector<float> &blocks,
                         std::vector<float> &out) const {
    return {step.view(run, blocks),
            step.batch(run),
            run.in(q),
            run.in(k),
            run.in(v),
            run.in(decay),
            run.in(strength),
            skips ? run.in(skip) : nullptr,
            run.out(out),
            keys(),
            keys(),
            values(),
            heads(),
            heads(),
            values(),
            heads(),
            perKey,
            keyDim,
            valueDim,
            delta};
  }
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_MOVERS_STATECASE_H
