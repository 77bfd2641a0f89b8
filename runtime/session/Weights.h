//===- Weights.h - Weights as the entries want them -------------*- C++ -*-===//

#ifndef KV_RUNTIME_SESSION_WEIGHTS_H
#define KV_RUNTIME_SESSION_WEIGHTS_H

#include "kv/Runtime/Base/ThreadPool.h"
#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Session/Manifest.h"
#include "kv/Runtime/Session/Safetensors.h"

#include <functional>
#include <map>

namespace kv {

/// Packs a row-major weight [n, k] to the layout n16k, [n / 16, k, 16]:
/// packed[i / 16][j][i % 16] = weight[i][j]. Elements have `bytes` bytes; n is
/// a multiple of 16. `weight` may be unaligned.
void packN16K(Executor &executor, const void *weight, void *packed, int64_t n,
              int64_t k, size_t bytes);

/// The inverse of packN16K(). `packed` may be unaligned.
void unpackN16K(Executor &executor, const void *packed, void *weight, int64_t n,
                int64_t k, size_t bytes);

/// The weights of a model, which this object owns: views into the file
/// where the entries can use it as it is, and otherwise copies, on the device
/// and in the layout that the entries take.
class Weights {
public:
  /// Loads from the file `path` the weights that the entries of `manifest`
  /// take. `memory` is where those lie that a CPU can use as the file holds
  /// them, if it can use all of them so. Of weights that ranks share, only the
  /// rows of rank `rank` are read, and copied. `log` receives a sentence if
  /// weights had to be packed or unpacked; it may be empty. Errors: the file
  /// cannot be read; a weight is not in the file, or has another type, shape or
  /// layout there; no memory.
  static Expected<Weights>
  load(const Manifest &manifest, const std::filesystem::path &path,
       const Device &device, FileMemory memory, int rank, Executor &executor,
       const std::function<void(std::string_view)> &log);

  /// The tensor for a weight argument of an entry; null if `weight` is not of
  /// the manifest.
  const KvTensorView *find(const Argument &weight) const;
  /// Bytes of all weights, of this rank's shards where ranks share them.
  size_t bytes() const { return total; }

private:
  struct Loader;

  std::optional<SafetensorsFile> file; // what views point into
  std::vector<Buffer> copies;
  /// By name and layout: entries may take one weight in two layouts.
  std::map<std::pair<std::string, std::string>, KvTensorView> views;
  size_t total = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SESSION_WEIGHTS_H
