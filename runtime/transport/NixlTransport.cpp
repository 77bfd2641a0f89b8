//===- NixlTransport.cpp - Reads by NIXL ----------------------------------===//

#include "NixlTransport.h"

#include <cstdlib>
#include <random>

using namespace kv;
using namespace kv::nixl;

static std::unexpected<Error> failed(std::string_view what, int status) {
  return makeError(KV_STATUS_INTERNAL, "NIXL: ", what, " (status ", status,
                   ")");
}

Expected<std::unique_ptr<Transport>> Transport::openNixl() {
  return NixlTransport::open();
}

Expected<std::unique_ptr<NixlTransport>> NixlTransport::open() {
  Expected<const Functions *> api = nixl::load();
  if (!api)
    return std::unexpected(api.error());
  std::unique_ptr<NixlTransport> made(new NixlTransport(**api));
  // A name that no other process has.
  std::random_device entropy;
  std::string name = concat("kv-", entropy(), "-", entropy());
  // The thread serves peers while this process computes. The thread sleeps
  // until a message comes, and looks by itself at least this often.
  constexpr AgentConfig Config = {.progressThread = true,
                                  .listenThread = false,
                                  .listenPort = 0,
                                  .threadSync = 0,
                                  .workers = 1,
                                  .progressDelay = 1000,
                                  .listenDelay = 1000,
                                  .telemetry = false};
  const Functions &call = **api;
  if (int status =
          call.create_configured_agent(name.c_str(), &Config, &made->agent))
    return failed("no agent can be made", status);
  MemList memories = nullptr;
  Params params = nullptr;
  if (int status =
          call.get_plugin_params(made->agent, "UCX", &memories, &params))
    return failed("there is no plugin UCX", status);
  int status = call.create_backend(made->agent, "UCX", params, &made->backend);
  call.destroy_mem_list(memories);
  call.destroy_params(params);
  if (!status)
    status = call.create_opt_args(&made->useBackend);
  if (!status)
    status = call.opt_args_add_backend(made->useBackend, made->backend);
  if (status)
    return failed("the plugin UCX cannot be used", status);
  return made;
}

NixlTransport::~NixlTransport() {
  // A transfer in flight is not released: NIXL would free memory that UCX may
  // still use.
  while (!reads.empty() && state(reads.begin()->first) != State::UnderWay)
    forget(reads.begin()->first);
  if (useBackend)
    api.destroy_opt_args(useBackend);
  if (agent)
    api.destroy_agent(agent);
  if (backend)
    api.destroy_backend(backend);
}

Expected<void> NixlTransport::add(std::span<std::byte> memory) {
  RegList list = nullptr;
  int status = api.create_reg_dlist(HostMemory, &list);
  if (status)
    return failed("no list can be made", status);
  status =
      api.reg_dlist_add_desc(list, reinterpret_cast<uintptr_t>(memory.data()),
                             memory.size(), /*device=*/0, nullptr, 0);
  if (!status)
    status = api.register_mem(agent, list, useBackend);
  api.destroy_reg_dlist(list);
  if (status)
    return failed(concat(memory.size(), " bytes cannot be registered"), status);
  return {};
}

Expected<std::string> NixlTransport::address() {
  void *data = nullptr;
  size_t size = 0;
  if (int status = api.get_local_md(agent, &data, &size))
    return failed("the agent has no metadata", status);
  std::string bytes(static_cast<const char *>(data), size);
  std::free(data);
  return bytes;
}

Expected<Transport::Peer> NixlTransport::connect(const std::string &address) {
  char *name = nullptr;
  if (int status =
          api.load_remote_md(agent, address.data(), address.size(), &name))
    return failed("the peer's metadata cannot be loaded", status);
  peers.emplace(nextPeer, name);
  std::free(name);
  return nextPeer++;
}

void NixlTransport::disconnect(Peer peer) {
  auto at = peers.find(peer);
  (void)api.invalidate_remote_md(agent, at->second.c_str());
  peers.erase(at);
}

Expected<TransferList> NixlTransport::listOf(std::span<const Part> parts,
                                             bool isRemote) const {
  TransferList list = nullptr;
  int status = api.create_xfer_dlist(HostMemory, &list);
  for (const Part &part : parts)
    if (!status)
      status = api.xfer_dlist_add_desc(
          list, isRemote ? part.from : reinterpret_cast<uintptr_t>(part.to),
          part.bytes, /*device=*/0);
  if (!status)
    return list;
  if (list)
    api.destroy_xfer_dlist(list);
  return failed("no list can be made", status);
}

Expected<Transport::Read> NixlTransport::read(Peer peer,
                                              std::span<const Part> parts) {
  Expected<TransferList> local = listOf(parts, /*isRemote=*/false);
  if (!local)
    return std::unexpected(local.error());
  Expected<TransferList> remote = listOf(parts, /*isRemote=*/true);
  Transfer transfer = nullptr;
  int status = remote ? api.create_xfer_req(agent, ReadOperation, *local,
                                            *remote, peers.at(peer).c_str(),
                                            &transfer, useBackend)
                      : -1;
  api.destroy_xfer_dlist(*local);
  if (remote)
    api.destroy_xfer_dlist(*remote);
  if (status)
    return failed(concat("a read of ", parts.size(), " parts is refused"),
                  status);
  // An error here is one of the transfer: state() says so.
  (void)api.post_xfer_req(agent, transfer, /*options=*/nullptr);
  reads.emplace(nextRead, transfer);
  return nextRead++;
}

Transport::State NixlTransport::state(Read read) {
  int status = api.get_xfer_status(agent, reads.at(read));
  return status == Success      ? State::Done
         : status == InProgress ? State::UnderWay
                                : State::Failed;
}

void NixlTransport::forget(Read read) {
  auto at = reads.find(read);
  if (api.release_xfer_req(agent, at->second) == Success)
    (void)api.destroy_xfer_req(at->second);
  reads.erase(at);
}
