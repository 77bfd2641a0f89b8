//===- Ranks.h - kv-run under mpirun ----------------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_RANKS_H
#define KV_TOOLS_KVRUN_RANKS_H

#include "Options.h"

#include "kv/Runtime/Device/Communicator.h"
#include "kv/Runtime/Device/Device.h"
#include "kv/Runtime/Session/Manifest.h"

namespace kv::run {

/// The ranks that compute with this process; null where mpirun has started
/// none. Errors: several processes with an artifact for one, or the other way
/// round; an option that several ranks do not take; those of Communicator;
/// different files on the ranks.
Expected<std::shared_ptr<Communicator>> openRanks(const Options &options);

/// The device of this process. Errors: no such device; with several ranks,
/// --devices that do not give each of this machine a GPU of its own.
Expected<Device> deviceOfRank(const Options &options,
                              const Communicator *ranks);

/// Threads of one rank: the cores of its machine, shared out.
unsigned threadsOfRank(const Options &options, const Communicator *ranks);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_RANKS_H
