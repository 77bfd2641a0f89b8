//===- Open.cpp - What libkv_mpi.so exports -------------------------------===//

#include "MpiCommunicator.h"
#include "runtime/device/LoadMpi.h"

using namespace kv;

extern "C" __attribute__((visibility("default"))) Communicator *
// A symbol's name, as C has it. NOLINTNEXTLINE(readability-identifier-naming)
kv_open_communicator(uint32_t interfaceVersion,
                     const Communicator::Options *options, Error *error) {
  if (interfaceVersion != MpiInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_mpi.so has the interface ", MpiInterfaceVersion,
                     ", the runtime ", interfaceVersion)};
    return nullptr;
  }
  Expected<std::unique_ptr<MpiCommunicator>> opened =
      MpiCommunicator::open(*options);
  if (opened)
    return opened->release();
  *error = opened.error();
  return nullptr;
}
