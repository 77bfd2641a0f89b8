//===- read-roof.cpp - How fast this machine reads memory -----------------===//
//
// read-roof THREADS [MEGABYTES]: prints the best of seven passes over a buffer
// of that size (1024) in GB/s. The roof that memory-bound figures are given
// against.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <vector>

static uint64_t sum(const uint64_t *data, size_t count) {
  uint64_t lanes[32] = {};
  for (size_t i = 0; i < count; i += 32)
    for (size_t lane = 0; lane < 32; ++lane)
      lanes[lane] += data[i + lane];
  uint64_t total = 0;
  for (uint64_t lane : lanes)
    total += lane;
  return total;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  size_t bytes = (argc > 2 ? std::atoll(argv[2]) : 1024) << 20;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (threads < 1 || memory == MAP_FAILED) {
    std::fprintf(stderr, "usage: read-roof THREADS [MEGABYTES]\n");
    return 2;
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *data = static_cast<uint64_t *>(memory);
  size_t count = bytes / sizeof(uint64_t), share = count / threads / 32 * 32;
  std::fill_n(data, count, 1);
  double best = 0;
  volatile uint64_t sink = 0;
  for (int pass = 0; pass < 7; ++pass) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    std::vector<uint64_t> sums(threads * 8);
    for (int t = 0; t < threads; ++t)
      workers.emplace_back(
          [&, t] { sums[t * 8] = sum(data + t * share, share); });
    for (std::thread &worker : workers)
      worker.join();
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    sink = sink + sums[0];
    best = std::max(best, threads * share * sizeof(uint64_t) / seconds / 1e9);
  }
  std::printf("%.1f\n", best);
  return 0;
}
