//===- Nccl.cpp - NCCL's functions ----------------------------------------===//
//
// By the symbols of runtime/cuda/driver/Nccl.def. Ranks are processes of one
// machine that meet in shared memory, which the unique id names. A gather is
// work on the caller's stream, captured as any other: it is not over before all
// ranks have given what is theirs, however long that takes, unless the
// communicator is aborted.
//
// KV_FAKE_NCCL_FAULT=order: what ranks 0 and 1 gave changes places; early: a
// rank gets what the others gave before, as if it had not waited for them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/driver/Nccl.h"
#include "State.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace kv::fake;
namespace nccl = kv::cuda::nccl;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int InvalidArgument = 4, InvalidUsage = 5, MostRanks = 16;
constexpr size_t SlotBytes = size_t(64) << 10;

/// Zero when it is made. A gather goes in pieces of SlotBytes: all give one,
/// all take it, and then the next one may be given.
struct Shared {
  std::atomic<int> attached;
  std::atomic<uint64_t> given[MostRanks], taken[MostRanks]; // pieces
  char slots[2][MostRanks][SlotBytes]; // of this piece and of the one before
};

struct Communicator {
  int rank, ranks;
  std::string name;
  Shared *shared;
  bool isAborted = false;
  uint64_t pieces = 0; // so far
  ~Communicator() { munmap(shared, sizeof(Shared)); }

  bool haveAll(std::atomic<uint64_t> (&counts)[MostRanks],
               uint64_t number) const {
    return std::all_of(counts, counts + ranks,
                       [&](auto &count) { return count >= number; });
  }
};

/// Work that is queued keeps it alive.
using Handle = std::shared_ptr<Communicator>;
Handle &of(nccl::Comm comm) { return *reinterpret_cast<Handle *>(comm); }

bool isPlanted(std::string_view fault) {
  const char *given = std::getenv("KV_FAKE_NCCL_FAULT");
  return given && given == fault;
}

/// One gather as it is executed. Copies begin anew: a graph's work is copied
/// for each of its launches.
struct Gather {
  Handle comm;
  const char *from;
  char *into;
  size_t bytes;
  size_t done = 0;
  bool hasGiven = false;

  Status operator()() {
    State &state = State::get();
    if (!state.memory.holds(from, bytes) ||
        !state.memory.holds(into, bytes * size_t(comm->ranks)))
      return state.problem(LaunchFailed, "ncclAllGather leaves device memory");
    while (done < bytes) {
      if (comm->isAborted)
        return LaunchFailed;
      Shared &shared = *comm->shared;
      size_t piece = std::min(SlotBytes, bytes - done);
      auto &slots = shared.slots[comm->pieces % 2];
      if (!hasGiven) {
        if (!comm->haveAll(shared.taken, comm->pieces))
          return NotReady;
        std::memcpy(slots[comm->rank], from + done, piece);
        shared.given[comm->rank] = comm->pieces + 1;
        hasGiven = true;
      }
      if (!comm->haveAll(shared.given, comm->pieces + 1))
        return NotReady;
      bool isEarly = isPlanted("early");
      for (int rank = 0; rank < comm->ranks; ++rank) {
        int place = rank < 2 && isPlanted("order") ? 1 - rank : rank;
        bool isOld = isEarly && rank != comm->rank;
        std::memcpy(into + size_t(place) * bytes + done,
                    isOld ? shared.slots[(comm->pieces + 1) % 2][rank]
                          : slots[rank],
                    piece);
      }
      shared.taken[comm->rank] = ++comm->pieces;
      hasGiven = false;
      done += piece;
    }
    return Success;
  }
};

} // namespace

EXPORT const char *ncclGetErrorString(int result) {
  return result == InvalidArgument ? "invalid argument"
         : result == InvalidUsage  ? "invalid usage"
                                   : "an error of the fake NCCL";
}

EXPORT int ncclGetUniqueId(nccl::UniqueId *id) {
  static int made = 0;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "/kv-fake-nccl-%d-%d",
                int(getpid()), made++);
  return 0;
}

EXPORT int ncclCommInitRankConfig(nccl::Comm *comm, int ranks,
                                  nccl::UniqueId id, int rank,
                                  nccl::CommConfig *config) {
  State &state = State::get();
  *comm = nullptr;
  if (!config || config->magic != 0xcafebeef || config->blocking != 0 ||
      rank < 0 || rank >= ranks || ranks > MostRanks || state.device < 0)
    return InvalidArgument;
  int file = shm_open(id.bytes, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)))
    return InvalidUsage;
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return InvalidUsage;
  Handle made(
      new Communicator{rank, ranks, id.bytes, static_cast<Shared *>(memory)});
  ++made->shared->attached;
  *comm = reinterpret_cast<nccl::Comm>(new Handle(std::move(made)));
  return nccl::InProgress;
}

EXPORT int ncclCommGetAsyncError(nccl::Comm comm, int *result) {
  Communicator &given = *of(comm);
  *result = nccl::InProgress;
  if (given.shared->attached < given.ranks)
    return 0;
  // All have it open: nobody needs its name.
  shm_unlink(given.name.c_str());
  *result = 0;
  return 0;
}

EXPORT int ncclCommAbort(nccl::Comm comm) {
  Communicator &given = *of(comm);
  given.isAborted = true;
  shm_unlink(given.name.c_str());
  State::get().trace("abort");
  delete &of(comm);
  return 0;
}

EXPORT int ncclCommDestroy(nccl::Comm comm) {
  delete &of(comm);
  return 0;
}

EXPORT int ncclAllGather(const void *from, void *into, size_t count, int type,
                         nccl::Comm comm, void *stream) {
  State &state = State::get();
  if (state.checkStream("ncclAllGather", stream))
    return InvalidUsage;
  Handle &handle = of(comm);
  if (type != nccl::Int8 || handle->shared->attached < handle->ranks ||
      !state.memory.holds(from, count) ||
      !state.memory.holds(into, count * size_t(handle->ranks))) {
    state.problem(InvalidValue, "ncclAllGather: its arguments are wrong");
    return InvalidArgument;
  }
  state.trace("gather " + std::to_string(count));
  state.enqueue(stream, Gather{handle, static_cast<const char *>(from),
                               static_cast<char *>(into), count});
  return 0;
}
