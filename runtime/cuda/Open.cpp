//===- Open.cpp - What libkv_cuda.so exports ------------------------------===//

#include "Backend.h"

using namespace kv;
using namespace kv::cuda;

extern "C" __attribute__((visibility("default"))) DeviceBackend *
kv_open_device(uint32_t interfaceVersion, int index, Error *error) {
  if (interfaceVersion != DeviceInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_cuda.so has the interface ", DeviceInterfaceVersion,
                     ", the runtime ", interfaceVersion)};
    return nullptr;
  }
  Expected<std::unique_ptr<Backend>> opened = Backend::open(index);
  if (opened)
    return opened->release();
  *error = opened.error();
  return nullptr;
}
