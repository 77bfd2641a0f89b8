//===- MpiCommunicator.cpp - Ranks by MPI ---------------------------------===//

#include "MpiCommunicator.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sched.h>
#include <thread>

using namespace kv;

using Clock = std::chrono::steady_clock;

/// Open MPI loads plugins that look for its symbols in the whole process, and
/// this library was loaded for itself alone.
static void showMpiToPlugins() {
  Dl_info mpi;
  if (dladdr(reinterpret_cast<void *>(&MPI_Init_thread), &mpi) && mpi.dli_fname)
    dlopen(mpi.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

Expected<void> MpiCommunicator::check(int result, const char *what) {
  if (result == MPI_SUCCESS)
    return {};
  broken = true;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  return makeError(KV_STATUS_INTERNAL, "MPI, ", what, ": ",
                   std::string_view(text, static_cast<size_t>(length)));
}

Expected<std::unique_ptr<MpiCommunicator>>
MpiCommunicator::open(const Options &options) {
  int ready = 0;
  MPI_Initialized(&ready);
  if (ready)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "this process has ranks, or had them: MPI begins once");
  showMpiToPlugins();
  std::unique_ptr<MpiCommunicator> made(new MpiCommunicator(options));
  int provided = 0;
  if (Expected<void> begun = made->check(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
          "its beginning");
      !begun)
    return std::unexpected(begun.error());
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &made->self);
  MPI_Comm_size(MPI_COMM_WORLD, &made->count);
  MPI_Comm here;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, made->self,
                          MPI_INFO_NULL, &here) == MPI_SUCCESS) {
    MPI_Comm_size(here, &made->local);
    MPI_Comm_rank(here, &made->localSelf);
    MPI_Comm_free(&here);
  }
  return made;
}

MpiCommunicator::~MpiCommunicator() {
  // MPI_Finalize would wait for ranks that are gone.
  if (!broken)
    MPI_Finalize();
}

void MpiCommunicator::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

Expected<void> MpiCommunicator::waitAll(const char *what) {
  Clock::time_point end = Clock::now() + longest;
  int done = 0;
  for (uint32_t turn = 0; !done; ++turn) {
    if (Expected<void> tested =
            check(MPI_Testall(static_cast<int>(requests.size()),
                              requests.data(), &done, MPI_STATUSES_IGNORE),
                  what);
        !tested)
      return tested;
    if (done)
      return {};
    // With as many threads as cores, the rank that is waited for may need this
    // core.
    if (turn > 64)
      sched_yield();
    if (turn % 64 == 63 && Clock::now() > end)
      break;
  }
  if (done)
    return {};
  return late(missingRanks());
}

std::unexpected<Error> MpiCommunicator::late(std::string_view missing) {
  broken = true;
  return makeError(KV_STATUS_INTERNAL, "rank ", missing,
                   " did not answer rank ", self, " within ",
                   static_cast<int64_t>(longest.count()), " ms");
}

std::string MpiCommunicator::missingRanks() {
  // Receives come first. Who has sent may not have taken what it was sent,
  // since it waits for the same missing rank.
  std::string missing;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i == numReceives && !missing.empty())
      break;
    int complete = 1;
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Request_get_status(requests[i], &complete, MPI_STATUS_IGNORE);
    if (!complete)
      missing += concat(missing.empty() ? "" : ", ", peers[i]);
  }
  return missing;
}

Expected<void> MpiCommunicator::gather(std::span<const std::byte> mine,
                                       std::span<std::byte> all) {
  if (mine.size() > INT_MAX)
    return makeError(KV_STATUS_UNSUPPORTED, "ranks exchange at most ", INT_MAX,
                     " bytes at once, not ", mine.size());
  int bytes = static_cast<int>(mine.size()), tag = nextTag();
  requests.clear();
  peers.clear();
  for (int peer = 0; peer < count; ++peer)
    if (Expected<void> begun =
            peer == self ? Expected<void>()
                         : check(MPI_Irecv(all.data() + peer * mine.size(),
                                           bytes, MPI_BYTE, peer, tag,
                                           MPI_COMM_WORLD, addRequest(peer)),
                                 "an exchange");
        !begun)
      return begun;
  numReceives = requests.size();
  if (Expected<void> begun = sendToOthers(mine, tag, "an exchange"); !begun)
    return begun;
  if (bytes)
    std::memcpy(all.data() + self * mine.size(), mine.data(), mine.size());
  return waitAll("an exchange");
}

MPI_Request *MpiCommunicator::addRequest(int peer) {
  peers.push_back(peer);
  return &requests.emplace_back(MPI_REQUEST_NULL);
}

Expected<void> MpiCommunicator::sendToOthers(std::span<const std::byte> bytes,
                                             int tag, const char *what) {
  for (int peer = 0; peer < count; ++peer)
    if (peer != self)
      if (Expected<void> begun = check(
              MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                        peer, tag, MPI_COMM_WORLD, addRequest(peer)),
              what);
          !begun)
        return begun;
  return {};
}

/// Between steps the next message comes at once. While rank 0 has no requests,
/// the others look for one now and then and leave the cores alone.
Expected<void> MpiCommunicator::waitForMessage(std::vector<std::byte> &message,
                                               int tag, Wait wait) {
  constexpr auto Busy = std::chrono::milliseconds(50);
  constexpr auto Nap = std::chrono::milliseconds(1);
  Clock::time_point begun = Clock::now();
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status = {};
  for (int there = 0; !there;) {
    if (Expected<void> probed =
            check(MPI_Improbe(0, tag, MPI_COMM_WORLD, &there, &found, &status),
                  "a broadcast");
        !probed)
      return probed;
    if (there)
      break;
    Clock::duration waited = Clock::now() - begun;
    if (wait == Wait::Limited && waited > longest)
      return late("0");
    if (waited < Busy)
      sched_yield();
    else
      std::this_thread::sleep_for(Nap);
  }
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  message.resize(static_cast<size_t>(bytes));
  requests.assign(1, MPI_REQUEST_NULL);
  peers.assign(1, 0);
  if (Expected<void> received = check(
          MPI_Imrecv(message.data(), bytes, MPI_BYTE, &found, requests.data()),
          "a broadcast");
      !received)
    return received;
  return waitAll("a broadcast");
}

Expected<void> MpiCommunicator::broadcast(std::vector<std::byte> &message,
                                          Wait wait) {
  if (message.size() > INT_MAX)
    return makeError(KV_STATUS_UNSUPPORTED, "ranks exchange at most ", INT_MAX,
                     " bytes at once, not ", message.size());
  int tag = nextTag();
  if (self != 0)
    return waitForMessage(message, tag, wait);
  requests.clear();
  peers.clear();
  numReceives = 0;
  if (Expected<void> begun = sendToOthers(message, tag, "a broadcast"); !begun)
    return begun;
  return waitAll("a broadcast");
}
