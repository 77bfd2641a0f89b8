//===- rank-exchange.cpp - What an exchange between ranks takes -----------===//
//
// mpirun -n N rank-exchange: for shards of several sizes the seconds of a
// gather by libkv_mpi.so, the least and the median of many, as rank 0 sees
// them.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Device/Communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace kv;

int main() {
  Expected<std::unique_ptr<Communicator>> ranks =
      Communicator::open({.limit = std::chrono::seconds(60)});
  if (!ranks) {
    std::fprintf(stderr, "rank-exchange: %s\n", ranks.error().message.c_str());
    return 1;
  }
  for (size_t bytes : {64, 1024, 4096, 16384, 65536, 262144, 1048576}) {
    std::vector<std::byte> mine(bytes), all(bytes * (*ranks)->size());
    std::vector<double> seconds;
    for (int round = 0; round < 300; ++round) {
      auto begin = std::chrono::steady_clock::now();
      if (Expected<void> done = (*ranks)->gather(mine, all); !done) {
        std::fprintf(stderr, "rank-exchange: %s\n",
                     done.error().message.c_str());
        return 1;
      }
      seconds.push_back(std::chrono::duration<double>(
                            std::chrono::steady_clock::now() - begin)
                            .count());
    }
    std::ranges::sort(seconds);
    if ((*ranks)->rank() == 0)
      std::printf("%zu\t%g\t%g\n", bytes, seconds.front(),
                  seconds[seconds.size() / 2]);
  }
}
