//===- Functions.cpp - The table of a CUDA context ------------------------===//

#include "Views.h"

using namespace kv;
using namespace kv::cuda;

#define KV_TABLE_Host(Name, Result) ExecutionContext::functions().Name
#define KV_TABLE_Cpu(Name, Result)                                             \
  KV_MISPLACED(Name, Result, "a CPU", "a CUDA device")
#define KV_TABLE_Device(Name, Result) rows::Name
#define KV_TABLE_CpuAndDevice(Name, Result) rows::Name

const KvFunctionTable &Context::functions() const {
  static const KvFunctionTable table = {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  .Name = KV_TABLE_##Where(Name, Result),
#include "kv/ABI/Symbols.def"
  };
  return table;
}
