//===- ManagerInputs.h - What managers say that they give -------*- C++ -*-===//
//
// Without a header of the runtime: those are C++23, which MLIR's are not
// (kv_mlir_target).
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_MANAGER_MANAGERINPUTS_H
#define KV_TEST_UNIT_MANAGER_MANAGERINPUTS_H

#include "kv/ABI/CacheGeometry.h"

#include <string>
#include <vector>

namespace kv::test {

/// A dimension of an input: its symbol, or its size where that is empty.
struct InputDimension {
  std::string symbol;
  int64_t size = 0;
};

struct Input {
  std::string name;
  std::string kind; // "kv.blocks", ...
  KvDType dtype;
  bool host = false;
  std::vector<InputDimension> shape;
};

struct NamedCache {
  std::string name;
  CacheGeometry geometry;
};

/// What the caches' parameters say, of one device; what is wrong with them in
/// `problem`.
std::vector<Input> inputsOfParams(const NamedCache &cache,
                                  std::string &problem);

/// What one manager of the caches says, device by device; the same.
std::vector<std::vector<Input>>
inputsOfManager(const std::vector<NamedCache> &caches, int replicas, int shards,
                std::string &problem);

} // namespace kv::test

#endif // KV_TEST_UNIT_MANAGER_MANAGERINPUTS_H
