//===- read-roof.cpp - How fast this machine reads memory -----------------===//
//
// read-roof THREADS [MEGABYTES]: prints in GB/s how fast so many threads read a
// buffer of that size (1024) again and again: the best of seven samples of at
// least a gigabyte, and of four distances of prefetch, none among them. The
// roof that memory-bound figures are given against; with the size of what they
// read it counts the caches in that hold it.
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

using Lanes = uint64_t __attribute__((vector_size(32)));

static Lanes sum(const char *data, size_t bytes, size_t ahead) {
  Lanes sums[8] = {};
  for (size_t i = 0; i < bytes; i += sizeof(sums)) {
    if (ahead)
      for (size_t line = 0; line < sizeof(sums); line += 64)
        __builtin_prefetch(data + i + ahead + line);
    auto *lanes = reinterpret_cast<const Lanes *>(data + i);
    for (size_t k = 0; k < 8; ++k)
      sums[k] += lanes[k];
  }
  for (size_t k = 1; k < 8; ++k)
    sums[0] += sums[k];
  return sums[0];
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  long long megabytes = argc > 2 ? std::atoll(argv[2]) : 1024;
  if (threads < 1 || megabytes < 1) {
    std::fprintf(stderr, "usage: read-roof THREADS [MEGABYTES]\n");
    return 2;
  }
  size_t bytes = static_cast<size_t>(megabytes) << 20;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("read-roof");
    return 1;
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *data = static_cast<char *>(memory);
  std::fill_n(data, bytes, 1);
  size_t share = bytes / threads / 4096 * 4096;
  size_t passes = (size_t(1) << 30) / bytes + 1;
  double best = 0;
  std::vector<Lanes> sums(threads);
  for (size_t ahead : {0, 1024, 4096, 8192})
    for (int sample = 0; sample < 7; ++sample) {
      auto start = std::chrono::steady_clock::now();
      std::vector<std::thread> workers;
      for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
          for (size_t pass = 0; pass < passes; ++pass)
            sums[t] += sum(data + t * share, share, ahead);
        });
      for (std::thread &worker : workers)
        worker.join();
      std::chrono::duration<double> seconds =
          std::chrono::steady_clock::now() - start;
      best = std::max(best, threads * share * passes / seconds.count() / 1e9);
    }
  // The sums are what keeps the reads from being left out.
  volatile uint64_t sink = sums[0][0];
  (void)sink;
  std::printf("%.1f\n", best);
  return 0;
}
