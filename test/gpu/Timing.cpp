//===- Timing.cpp - How long kernels take ---------------------------------===//

#include "Peer.h"
#include "ProductRun.h"
#include "Shapes.h"
#include "Suite.h"

#include <algorithm>
#include <dlfcn.h>
#include <map>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

class Timings final : public Suite {
public:
  Timings(Gpu &gpu, const SuiteOptions &options)
      : gpu(gpu), small(options.small) {
    // The fake driver has no times: a few shapes try the suite out.
    for (const StepShape &shape : stepShapes(small, !small, !small)) {
      add("attention " + shape.name(), [=, this] { return attention(shape); });
      for (const std::string &peer : options.peers)
        if (shape.type == "bf16" && !shape.headsFirst && shape.dim == 128 &&
            !shape.vDim)
          add("peer " + peer.substr(0, peer.find('=')) + " " + shape.name(),
              [=, this] { return this->peer(shape, peer); });
    }
    std::vector<StepShape> planned{uniform(64, 8191, 1), uniform(1, 0, 8192),
                                   mixedShape(32, 8191)};
    std::vector<StepShape> stored{uniform(64, 1023, 1), uniform(4, 0, 1024),
                                  uniform(8, 0, 2048)};
    std::vector<int64_t> counts{1, 64, 2048};
    std::vector<ProductShape> products{
        {KV_DTYPE_BF16, KV_DTYPE_BF16, 6144, 4096},
        {KV_DTYPE_BF16, KV_DTYPE_BF16, 14336, 4096},
        {KV_DTYPE_BF16, KV_DTYPE_BF16, 4096, 14336}};
    if (small) {
      planned = {uniform(2, 300, 1)};
      stored = {with(uniform(2, 20, 3), [](StepShape &s) { s.heads = 1; })};
      counts = {3};
      products = {{KV_DTYPE_BF16, KV_DTYPE_BF16, 48, 64}};
    }
    for (const StepShape &shape : planned)
      add("plan " + shape.name(), [=, this] { return plan(shape); });
    for (const StepShape &shape : stored)
      add("rope + store " + shape.name(), [=, this] { return store(shape); });
    for (const ProductShape &shape : products)
      for (int64_t m : counts)
        for (bool deterministic : {false, true})
          add(shape.name() + " m " + std::to_string(m) +
                  (deterministic ? " deterministic" : ""),
              [=, this] { return product(shape, m, deterministic); });
  }

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    for (const std::string &name : names)
      rows.push_back({name, 0.7});
    return rows;
  }

  Result run(const std::string &row) override {
    auto found = bodies.find(row);
    return found == bodies.end() ? Result::failed("there is no such row")
                                 : found->second();
  }

private:
  using Body = std::function<Result()>;
  void add(const std::string &name, Body body) {
    names.push_back(name);
    bodies[name] = std::move(body);
  }

  /// The median, the quickest and the slowest of some calls, and the clock that
  /// is left behind; `seconds` gets the median.
  Result timed(const std::function<void()> &work, double &seconds) {
    std::vector<float> times = gpu.time(small ? 2 : 20, work);
    seconds = median(times) / 1000;
    auto [least, most] = std::minmax_element(times.begin(), times.end());
    return {true,
            "",
            {{"time", "us", seconds * 1e6},
             {"least", "us", *least * 1e3},
             {"most", "us", *most * 1e3},
             {"clock", "MHz", gpu.clock()}}};
  }

  Result attention(const StepShape &shape) {
    Step step(gpu, shape);
    if (std::string why = step.whyLeftOut(); !why.empty())
      return {true, "left out: " + why};
    step.plan();
    double seconds;
    Result result = timed([&] { step.launch(); }, seconds);
    // With many query heads a latent cache's rows are read often, not once.
    bool decodes = shape.tokens() == int64_t(shape.sequences.size()) &&
                   !(shape.vDim && shape.group > 16);
    if (decodes)
      result.measurements.push_back(
          {"K and V read once", "GB/s", shape.keyBytes() / seconds / 1e9,
           Baseline::ReadCeiling,
           shape.keyBytes() >= 256e6 ? std::optional(0.88) : std::nullopt});
    else if (!shape.vDim && shape.longestRows() <= 64)
      // Of drafts and other few rows: as much is read, and more multiplied.
      result.measurements.push_back({"K and V read once", "GB/s",
                                     shape.keyBytes() / seconds / 1e9,
                                     Baseline::ReadCeiling});
    else
      result.measurements.push_back(
          {"operations", "TFLOP/s", shape.operations() / seconds / 1e12,
           Baseline::MultiplyCeiling,
           gpu.chip() == "sm_90a" ? std::optional(0.42) : std::nullopt});
    return result;
  }

  Result peer(const StepShape &shape, const std::string &peer) {
    void *library =
        dlopen(peer.substr(peer.find('=') + 1).c_str(), RTLD_NOW | RTLD_LOCAL);
    using Function = int (*)(const KvPeerAttention *, void *);
    auto call =
        library ? reinterpret_cast<Function>(dlsym(library, "kvPeerAttention"))
                : nullptr;
    if (!call)
      return Result::failed(dlerror());
    const Lengths &all = shape.sequences[0];
    if (std::any_of(shape.sequences.begin(), shape.sequences.end(),
                    [&](const Lengths &s) {
                      return s.cached != all.cached || s.added != all.added;
                    }))
      return {true, "left out: sequences of different lengths"};
    Step step(gpu, shape);
    const AttentionParams &p = step.launches[0].params;
    KvPeerAttention problem{p.q,
                            p.out,
                            p.cache.data,
                            static_cast<const char *>(p.cache.data) +
                                p.cache.planeStride * 2,
                            p.cache.pageStride,
                            step.deviceTable,
                            step.deviceLengths,
                            step.deviceOffsets,
                            p.batch.sequences,
                            all.added,
                            all.cached + all.added,
                            p.tableColumns,
                            shape.heads,
                            shape.group,
                            shape.dim,
                            shape.page,
                            p.cache.pages,
                            p.scale};
    if (call(&problem, gpu.stream()))
      return {true, "left out: it does not take this shape"};
    double seconds;
    return timed([&] { call(&problem, gpu.stream()); }, seconds);
  }

  Result plan(const StepShape &shape) {
    Step step(gpu, shape);
    step.plan();
    step.launchPlans(); // allocates
    double seconds;
    return timed([&] { step.launchPlans(); }, seconds);
  }

  /// Rope of q and k, and the store of k and v: a step's two movers of rows.
  Result store(const StepShape &shape) {
    Step step(gpu, shape);
    Buffers buffers(gpu);
    const AttentionParams &p = step.launches[0].params;
    int heads = shape.heads * (shape.group + 1), dim = shape.dim;
    int64_t tokens = shape.tokens(), row = int64_t(heads + shape.heads) * dim;
    NoiseParams noise{nullptr, tokens * row, tokens * row, 9, KV_DTYPE_BF16, 0};
    void *rows = buffers.makeNoise(noise);
    std::vector<int32_t> positions;
    for (const Lengths &s : shape.sequences)
      for (int i = 0; i < s.added; ++i)
        positions.push_back(s.cached + i);
    int32_t length = int32_t(p.batch.capacity);
    NoiseParams angles{nullptr, int64_t(length) * dim, int64_t(length) * dim,
                       10,      KV_DTYPE_F32,          0};
    RopeParams rope{rows,
                    rows,
                    row,
                    dim,
                    row,
                    dim,
                    int32_t(tokens),
                    heads,
                    dim,
                    dim,
                    buffers.copyOf(positions),
                    static_cast<const float *>(buffers.makeNoise(angles)),
                    length,
                    false,
                    KV_DTYPE_BF16,
                    KV_DTYPE_BF16,
                    /*errors=*/nullptr};
    const auto *k =
        static_cast<const uint16_t *>(rows) + shape.heads * shape.group * dim;
    StoreParams store{p.cache,
                      0,
                      p.table,
                      p.tablePitch,
                      p.tableColumns,
                      p.batch,
                      shape.heads,
                      dim,
                      k,
                      k + shape.heads * dim,
                      row,
                      dim,
                      row,
                      dim,
                      KV_DTYPE_BF16,
                      KV_DTYPE_BF16};
    int blocks = gpu.multiprocessors * 8;
    double seconds;
    Result result = timed(
        [&] {
          gpu.launch("kv_rope", blocks, &rope);
          gpu.launch("kv_store", blocks, &store);
        },
        seconds);
    // Read and written: q, k; then k, v. Angles are read as well.
    double bytes = tokens * (2.0 * heads * dim * 2 + dim * 4.0 +
                             2.0 * 2 * shape.heads * dim * 2);
    result.measurements.push_back(
        {"read and written", "GB/s", bytes / seconds / 1e9,
         Baseline::CopyCeiling,
         tokens >= 4096 ? std::optional(0.85) : std::nullopt});
    return result;
  }

  Result product(const ProductShape &shape, int64_t m, bool deterministic) {
    auto made = ProductRun::create(gpu, shape, m, deterministic);
    if (!made)
      return Result::failed(made.error().message);
    auto milliseconds = (*made)->time(m, small ? 2 : 100);
    if (!milliseconds)
      return Result::failed(milliseconds.error().message);
    double seconds = *milliseconds / 1000;
    return {
        true,
        "the L2 cache was not flushed",
        {{"time", "us", seconds * 1e6},
         {"clock", "MHz", gpu.clock()},
         {"operations", "TFLOP/s",
          2.0 * double(m) * double(shape.n) * double(shape.k) / seconds / 1e12,
          Baseline::MultiplyCeiling}}};
  }

  Gpu &gpu;
  bool small;
  std::vector<std::string> names;
  std::map<std::string, Body> bodies;
};

} // namespace

std::unique_ptr<Suite>
kv::cuda::test::makeTimings(Gpu &gpu, const SuiteOptions &options) {
  return std::make_unique<Timings>(gpu, options);
}
