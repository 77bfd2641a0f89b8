//===- NixlTransport.h - Reads by NIXL --------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_NIXLTRANSPORT_H
#define KV_RUNTIME_TRANSPORT_NIXLTRANSPORT_H

#include "Transport.h"

#include <unordered_map>

namespace kv {

namespace nixl {

// Types that the C interface names, declared by ourselves.
using Agent = struct AgentObject *;
using Params = struct ParamsObject *;
using MemList = struct MemListObject *;
using Backend = struct BackendObject *;
using OptArgs = struct OptArgsObject *;
using RegList = struct RegListObject *;
using TransferList = struct TransferListObject *;
using Transfer = struct TransferObject *;

struct AgentConfig {
  bool progressThread;
  bool listenThread;
  int listenPort;
  int threadSync; // 0 none, 1 strict, 2 readers and writer
  unsigned workers;
  uint64_t progressDelay, listenDelay; // microseconds
  bool telemetry;
};

inline constexpr int Success = 0, InProgress = 1; // errors are below 0
inline constexpr int HostMemory = 0;              // DRAM
inline constexpr int ReadOperation = 0;

/// The functions of Nixl.def.
struct Functions {
#define KV_NIXL(name, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "Nixl.def"
};

/// Errors: the library cannot be loaded, with what to install; it lacks a
/// function.
Expected<const Functions *> load();

} // namespace nixl

class NixlTransport final : public Transport {
public:
  static Expected<std::unique_ptr<NixlTransport>> open();
  ~NixlTransport() override;

  Expected<void> add(std::span<std::byte> memory) override;
  Expected<std::string> address() override;
  Expected<Peer> connect(const std::string &address) override;
  void disconnect(Peer peer) override;
  Expected<Read> read(Peer peer, std::span<const Part> parts) override;
  State state(Read read) override;
  void forget(Read read) override;

private:
  explicit NixlTransport(const nixl::Functions &api) : api(api) {}

  Expected<nixl::TransferList> listOf(std::span<const Part> parts,
                                      bool isRemote) const;

  const nixl::Functions &api;
  nixl::Agent agent = nullptr;
  nixl::Backend backend = nullptr;
  nixl::OptArgs useBackend = nullptr;
  std::unordered_map<Peer, std::string> peers; // agents' names
  std::unordered_map<Read, nixl::Transfer> reads;
  Peer nextPeer = 0;
  Read nextRead = 0;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_NIXLTRANSPORT_H
