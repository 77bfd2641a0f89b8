//===- Communicator.cpp - Processes that compute together -----------------===//

#include "kv/Runtime/Device/Communicator.h"
#include "LoadMpi.h"
#include "runtime/base/LoadSymbol.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace kv;

Expected<std::unique_ptr<Communicator>>
Communicator::open(const Options &options) {
  return openFromLibrary<Communicator, OpenCommunicator>(
      "libkv_mpi.so", "KV_MPI_LIBRARY", "kv_open_communicator",
      "several ranks need libkv_mpi.so, which is built where Open MPI is "
      "installed",
      MpiInterfaceVersion, &options);
}

int Communicator::launchedRanks() {
  for (const char *variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *text = std::getenv(variable)) {
      int ranks = 0;
      std::string_view view(text);
      auto [end, error] =
          std::from_chars(view.data(), view.data() + view.size(), ranks);
      if (error == std::errc() && end == view.data() + view.size() && ranks > 0)
        return ranks;
    }
  return 1;
}

Expected<void> kv::gatherShards(Communicator *ranks,
                                std::span<const std::byte> x, size_t shard,
                                size_t size, size_t copies, std::byte *out,
                                std::vector<std::byte> &scratch) {
  size_t count = ranks ? static_cast<size_t>(ranks->size()) : 1;
  size_t runs = x.size() / shard;
  auto gather = [&](std::span<std::byte> all) -> Expected<void> {
    if (ranks)
      return ranks->gather(x, all);
    std::ranges::copy(x, all.begin());
    return {};
  };
  // One run of whole shards lies in `out` as the ranks give it.
  if (runs == 1 && copies == 1 && size == count * shard)
    return gather({out, size});
  scratch.resize(count * x.size());
  if (Expected<void> done = gather(scratch); !done)
    return done;
  for (size_t rank = 0; rank < count; rank += copies) {
    size_t first = rank / copies * shard;
    if (first >= size)
      break;
    size_t bytes = std::min(shard, size - first);
    const std::byte *from = scratch.data() + rank * x.size();
    for (size_t run = 0; run < runs; ++run)
      std::memcpy(out + run * size + first, from + run * shard, bytes);
  }
  return {};
}
