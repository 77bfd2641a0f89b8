//===- Weights.h - Weights as the entries want them -------------*- C++ -*-===//

#ifndef KV_RUNTIME_WEIGHTS_H
#define KV_RUNTIME_WEIGHTS_H

#include "kv/Runtime/Buffer.h"
#include "kv/Runtime/Manifest.h"
#include "kv/Runtime/Safetensors.h"
#include "kv/Runtime/ThreadPool.h"

#include <functional>
#include <map>

namespace kv {

/// packed[n / 16][k][n % 16] = weight[n][k], for elements of `bytes` bytes.
/// `weight` may be unaligned.
void packN16K(Executor &executor, const void *weight, void *packed, int64_t n,
              int64_t k, size_t bytes);

/// The inverse.
void unpackN16K(Executor &executor, const void *packed, void *weight, int64_t n,
                int64_t k, size_t bytes);

/// The weights of a model: views into the mapped file, or copies, packed as the
/// entries want them and on the device.
class Weights {
public:
  /// Errors name the tensor and both sides. `log` may be empty.
  static Expected<Weights>
  load(const Manifest &manifest, const std::filesystem::path &path,
       const Device &device, Executor &executor,
       const std::function<void(std::string_view)> &log);

  /// The tensor behind a weight argument; null if it is not of `manifest`.
  const KvTensorView *find(const Argument &weight) const;
  size_t bytes() const { return total; }

private:
  std::optional<SafetensorsFile> file; // keeps the mapping
  std::vector<Buffer> copies;
  /// By name, then layout: tied weights may be wanted in two.
  std::map<std::pair<std::string, std::string>, KvTensorView> views;
  size_t total = 0;
};

} // namespace kv

#endif // KV_RUNTIME_WEIGHTS_H
