//===- Cluster.cpp - Blocks that see one another --------------------------===//

#include "Cluster.h"
#include "Machine.h"

#include <cstring>

using namespace kv::cuda;

bool Cluster::knowsThreadOf(int thread, int rank) const {
  int first = rank * machine.threadsOfBlock();
  for (int t = first; t < first + machine.threadsOfBlock(); ++t)
    if (clocks.knows(thread, t, 1))
      return true;
  return false;
}

bool Cluster::touch(int thread, int rank) {
  auto refuse = [&](const std::string &why) {
    machine.report("thread " + std::to_string(thread) + " touches block " +
                   std::to_string(rank) + " of its cluster, " + why);
    return false;
  };
  if (rank < 0 || rank >= machine.clusterBlocks())
    return refuse("which has " + std::to_string(machine.clusterBlocks()));
  if (rank == machine.rankOf(thread))
    return true;
  if (machine.hasLeft(rank))
    return refuse("which has left");
  for (Touch &touch : touches)
    if (touch.thread == thread && touch.rank == rank) {
      touch.moment = clocks.now(thread);
      return true;
    }
  if (!knowsThreadOf(thread, rank)) // it goes on: here all have begun
    refuse("which it does not know to have begun");
  touches.push_back({thread, rank, clocks.now(thread)});
  return true;
}

void Cluster::store(int thread, int offset, int bytes, const void *source) {
  if (!machine.contains(thread, offset, bytes))
    return;
  machine.checkFinished(thread, source, bytes);
  if (machine.watches())
    words.write(thread, offset, bytes);
  std::memcpy(machine.sharedData() + offset, source, bytes);
}

void Cluster::finish() {
  for (const Touch &touch : touches) {
    // The block's last thread keeps what any of its threads knew at its end.
    bool known = false;
    int first = touch.rank * machine.threadsOfBlock();
    for (int t = first; t < first + machine.threadsOfBlock(); ++t)
      known |= clocks.knows(t, touch.thread, touch.moment);
    if (!known)
      return machine.report("block " + std::to_string(touch.rank) +
                            " of a cluster may leave before thread " +
                            std::to_string(touch.thread) + " touches it");
  }
}
