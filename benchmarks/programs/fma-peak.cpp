//===- fma-peak.cpp - How fast this machine multiplies and adds -----------===//
//
// fma-peak THREADS: prints in GFLOP/s how fast so many threads do fused
// multiply-adds of f32 in registers, two operations each: the best of seven
// samples. The roof of what computes more than it reads.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif
using Lanes = float __attribute__((vector_size(4 * kLanes)));

constexpr int kChains = 12; // more than latency times units
constexpr long kSteps = 20'000'000;

static Lanes chains() {
  Lanes sums[kChains] = {}, factor = {}, term = {};
  factor += 0.999f;
  term += 0.001f;
  for (long i = 0; i < kSteps; ++i)
    for (Lanes &sum : sums) {
      sum = sum * factor + term;
      // Kept in registers, and each step made.
      asm volatile("" : "+v"(sum));
    }
  for (int k = 1; k < kChains; ++k)
    sums[0] += sums[k];
  return sums[0];
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) {
    std::fprintf(stderr, "usage: fma-peak THREADS\n");
    return 2;
  }
  std::vector<Lanes> sums(threads);
  double best = 0;
  for (int sample = 0; sample < 7; ++sample) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([&, t] { sums[t] = chains(); });
    for (std::thread &worker : workers)
      worker.join();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * kLanes * kChains * kSteps * threads /
                              seconds.count());
  }
  std::printf("%.1f\n", best / 1e9);
  return 0;
}
