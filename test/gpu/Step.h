//===- Step.h - The attention of a step on a GPU ----------------*- C++ -*-===//
//
// As the runtime runs it: the decode kernel, the prefill kernel, or both, over
// a paged cache of noise.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_STEP_H
#define KV_TEST_GPU_STEP_H

#include "Gpu.h"
#include "Noise.h"
#include "kernels/cuda/parameters/KernelTable.h"

namespace kv::cuda::test {

struct Lengths {
  int32_t cached, added;
};

/// The kernel that copies tiles, by so many blocks a part, and is launched
/// instead of `plain` where this device has it; null: there is none.
const AttentionKernel *tileKernelOf(const AttentionKernel &plain,
                                    int partBlocks = 1);
/// The one that is launched instead of both in steps of drafts, with tile
/// copies or without; or null.
const AttentionKernel *draftKernelOf(const AttentionKernel &plain, bool tiles);

/// Sequences of a step, and how their cache lies. Causal.
struct StepShape {
  std::string lengths; // as names say it: "64x8191+1"
  std::vector<Lengths> sequences;
  /// Of a row of DeviceKernels.def; f8p: with products of 8 bits.
  std::string type = "bf16";
  int heads = 8, group = 4, dim = 128, page = 16;
  bool headsFirst = false; // layout hnd, else nhd
  int vDim = 0;            // of a latent cache; 0: not latent
  bool tiles = true;       // as the runtime does it; else without tile copies

  int valueDim() const { return vDim ? vDim : dim; }
  bool eightBitProducts() const { return type == "f8p"; }
  std::string name() const;
  int64_t tokens() const;
  int64_t longestRows() const; // packed, of a sequence
  /// Those that run it on this device; none: it has no such kernels.
  std::vector<const AttentionKernel *> kernels() const;
  int64_t columns() const; // of the lookup table
  /// Bytes of K and V that the rows need, each once.
  double keyBytes() const;
  /// Additions and multiplications of scores and values that the mask lets be.
  double operations() const;
};

/// `count` sequences, each with `cached` keys and `added` rows.
StepShape uniform(int count, int cached, int added);

/// Device memory until the end of a row.
class Buffers {
public:
  explicit Buffers(Gpu &gpu) : gpu(gpu) {}
  ~Buffers();
  Buffers(const Buffers &) = delete;
  void *make(size_t bytes, unsigned char byte);
  /// `p.count` elements of noise; sets p.out.
  void *makeNoise(NoiseParams &p);
  template <class T> T *copyOf(const std::vector<T> &data) {
    void *copy = make(data.size() * sizeof(T), 0);
    gpu.copyIn(copy, data.data(), data.size() * sizeof(T));
    return static_cast<T *>(copy);
  }

private:
  Gpu &gpu;
  std::vector<void *> all;
};

class Step {
public:
  /// A kernel of the step with its arguments; without a plan before plan().
  struct Launch {
    const AttentionKernel *kernel;
    TileParams params; // of which only kernels that copy tiles take all
  };

  /// The cache's pages are in random order, page 0 is nobody's.
  Step(Gpu &gpu, const StepShape &shape);

  /// Why this device cannot run the first of the kernels that it cannot; empty:
  /// it can run all.
  std::string whyLeftOut() const;
  /// Cuts the step into `parts`, or into as many as run at once.
  void plan(int parts = 0);
  /// Queues the step.
  void launch();
  /// Queues kv_plan for each kernel, into memory of its own.
  void launchPlans();
  /// Why what kv_plan gives is not the host's plan; empty: it is.
  std::string checkPlans();

  /// [token][query head][valueDim()], as bits; [token][query head].
  std::vector<uint16_t> readOut() const;
  std::vector<float> readLse() const;

  /// The place of an element in the cache.
  int64_t place(int64_t sequence, int plane, int64_t position, int head) const;

  const StepShape shape;
  std::vector<Launch> launches;
  /// An element of the cache is multiplied by element place / dim * groups +
  /// its group of scaleNoise, where there are groups.
  NoiseParams cacheNoise{}, queryNoise{}, scaleNoise{};
  int groups = 0;
  std::vector<int32_t> cached, offsets, table;
  int32_t *deviceTable, *deviceCached, *deviceOffsets, *deviceLengths;

private:
  struct HostPlan {
    std::vector<kv::plan::Header> header;
    std::vector<kv::plan::Tile> tiles;
    std::vector<kv::plan::Cut> cuts;
  };
  void fillCache(int64_t pages);
  void setParams(int64_t columns);
  HostPlan hostPlan(const Launch &launch) const;

  Gpu &gpu;
  Buffers buffers;
  std::unique_ptr<Buffers> planBuffers;
  std::vector<PlanParams> planParams; // of launchPlans()
  CacheView cache{};
  void *out;
  float *lse;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_STEP_H
