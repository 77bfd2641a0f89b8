//===- Ranks.cpp - kv-run under mpirun ------------------------------------===//

#include "Ranks.h"

#include "kv/Runtime/Serving/RankedRunner.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

using namespace kv;
using namespace kv::run;

/// A digest of a file's size, its beginning and its end: files of other models
/// differ there, and the middle of a large one takes long to read.
static Expected<uint64_t> digestEnds(const std::string &path) {
  constexpr std::streamoff Most = std::streamoff(1) << 20;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff size = file ? std::streamoff(file.tellg()) : 0;
  std::vector<char> part(static_cast<size_t>(std::min(size, Most)));
  XXH64_hash_t digest = XXH3_64bits(&size, sizeof size);
  for (std::streamoff at : {std::streamoff(0), size - std::ssize(part)}) {
    file.seekg(at);
    file.read(part.data(), std::ssize(part));
    digest = XXH3_64bits_withSeed(part.data(), part.size(), digest);
  }
  if (!file)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path, ": ",
                     std::strerror(errno));
  return digest;
}

static Expected<void> checkFiles(const Options &options, Communicator &ranks) {
  for (const std::string &path : {options.artifact, options.weights}) {
    Expected<uint64_t> digest = digestEnds(path);
    if (!digest)
      return std::unexpected(digest.error());
    if (Expected<void> same = checkAgreement(ranks, path, *digest); !same)
      return same;
  }
  return {};
}

Expected<std::shared_ptr<Communicator>>
kv::run::openRanks(const Options &options) {
  Expected<Manifest> manifest = Manifest::readFile(options.artifact);
  if (!manifest)
    return std::unexpected(manifest.error());
  int64_t wanted = manifest->ranks, launched = Communicator::launchedRanks();
  if (wanted != launched)
    return makeError(KV_STATUS_UNSUPPORTED, options.artifact, " is for ",
                     wanted, wanted == 1 ? " rank" : " ranks", ", ", launched,
                     launched == 1 ? " is running: start 'mpirun -n "
                                   : " are running: start 'mpirun -n ",
                     wanted,
                     " kv-run ...', or compile with --ranks=", launched);
  if (wanted == 1)
    return nullptr;
  if (const char *flag = options.tierFlag())
    return makeError(KV_STATUS_UNSUPPORTED, flag, " is given, and ", wanted,
                     " ranks: they keep no pages beside their caches");
  if (!options.draft.empty())
    return makeError(KV_STATUS_UNSUPPORTED, "--draft is given, and ", wanted,
                     " ranks, allowed: 1");
  Expected<std::unique_ptr<Communicator>> opened = Communicator::open(
      {.limit = std::chrono::milliseconds(
           static_cast<int64_t>(options.rankTimeout * 1e3))});
  if (!opened)
    return std::unexpected(opened.error());
  if (Expected<void> same = checkFiles(options, **opened); !same)
    return std::unexpected(same.error());
  return std::shared_ptr<Communicator>(std::move(*opened));
}

/// One GPU a rank: NCCL takes none for two.
static Expected<Device> deviceOf(const std::vector<std::string> &devices,
                                 const Communicator &ranks) {
  std::vector<Device> parsed;
  for (const std::string &name : devices) {
    Expected<Device> one = Device::parse(name);
    if (!one)
      return makeError(one.error().code, "--devices: ", one.error().message);
    if (one->kind != Device::Kind::CUDA)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "--devices names ", name,
                       ", allowed: GPUs, such as cuda:0,cuda:1");
    if (std::ranges::find(parsed, *one) != parsed.end())
      return makeError(KV_STATUS_INVALID_ARGUMENT, "--devices names ", name,
                       " twice: each rank needs a GPU of its own");
    parsed.push_back(std::move(*one));
  }
  if (std::ssize(parsed) != ranks.localSize())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--devices names ",
                     std::ssize(parsed),
                     parsed.size() == 1 ? " GPU, " : " GPUs, ",
                     ranks.localSize(), " ranks run on this machine");
  return parsed[static_cast<size_t>(ranks.localRank())];
}

Expected<Device> kv::run::deviceOfRank(const Options &options,
                                       const Communicator *ranks) {
  if (!options.devices.empty()) {
    if (!ranks)
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       "--devices is given, and one rank: name its GPU with "
                       "--device");
    return deviceOf(options.devices, *ranks);
  }
  Expected<Device> device =
      Device::parse(options.device.empty() ? "cpu" : options.device);
  if (!device)
    return makeError(device.error().code, "--device: ", device.error().message);
  if (ranks && device->kind == Device::Kind::CUDA)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--device is ", device->str(),
                     ", and ", ranks->size(),
                     " ranks: give each rank of this machine a GPU with "
                     "--devices, such as cuda:0,cuda:1");
  return device;
}

unsigned kv::run::threadsOfRank(const Options &options,
                                const Communicator *ranks) {
  if (options.threads || !ranks)
    return options.threads;
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return std::max(1u, cores / static_cast<unsigned>(ranks->localSize()));
}
