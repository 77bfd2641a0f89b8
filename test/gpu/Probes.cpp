//===- Probes.cpp - mma.sync and wgmma side by side -----------------------===//

#include "Probes.h"
#include "Step.h"
#include "Suite.h"

#include <cmath>
#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// a [rows][k] and the transpose of b [columns][k], and their product by one of
/// the kernels.
class Probe {
public:
  Probe(Gpu &gpu, int columns, int k)
      : gpu(gpu), buffers(gpu), columns(columns), k(k) {
    a = {nullptr, int64_t(ProbeRows) * k, int64_t(1) << 40,
         3,       KV_DTYPE_BF16,          0};
    b = {nullptr, int64_t(columns) * k, int64_t(1) << 40, 4, KV_DTYPE_BF16, 0};
    buffers.makeNoise(a);
    buffers.makeNoise(b);
  }

  std::vector<float> run(const char *kernel, bool swapDescriptor = false,
                         bool swapOperands = false) {
    std::vector<float> out(ProbeRows * columns);
    ProbeParams p{static_cast<const uint16_t *>(swapOperands ? b.out : a.out),
                  static_cast<const uint16_t *>(swapOperands ? a.out : b.out),
                  static_cast<float *>(buffers.make(out.size() * 4, 0xff)),
                  columns,
                  k,
                  swapDescriptor};
    gpu.launch(kernel, 1, &p);
    gpu.copyOut(out.data(), p.out, out.size() * 4);
    return out;
  }

  /// Whether these are the sums, but for their rounding.
  bool isProduct(const std::vector<float> &out) const {
    for (int row = 0; row < ProbeRows; ++row)
      for (int column = 0; column < columns; ++column) {
        double sum = 0, size = 0;
        for (int i = 0; i < k; ++i) {
          double product = double(element(a, int64_t(row) * k + i)) *
                           element(b, int64_t(column) * k + i);
          sum += product;
          size += std::fabs(product);
        }
        if (!(std::fabs(out[row * columns + column] - sum) <=
              size * 1e-5 + 1e-6))
          return false;
      }
    return true;
  }

private:
  static float element(const NoiseParams &p, int64_t i) {
    return widen(narrow<Bf16>(noiseAt(p, i)));
  }

  Gpu &gpu;
  Buffers buffers;
  NoiseParams a, b;
  int columns, k;
};

/// "equal bits" or how many differ.
std::string compareBits(const std::vector<float> &x,
                        const std::vector<float> &y) {
  size_t differ = 0;
  for (size_t i = 0; i < x.size(); ++i)
    differ += bitsAs<uint32_t>(x[i]) != bitsAs<uint32_t>(y[i]);
  return differ ? std::to_string(differ) + " of " + std::to_string(x.size()) +
                      " differ"
                : "equal bits";
}

struct ProbeRow {
  const char *name;
  const char *kernel;
  int columns, k;
  enum { Chain, Transposed } against;
};

/// Compared with mma.sync's chain on the same numbers; the last with its own
/// product of swapped operands.
constexpr ProbeRow ProbeRowTable[] = {
    {"wgmma n64, one step", "kv_test_wgmma_64", 64, 16, ProbeRow::Chain},
    {"wgmma n64, 8 steps", "kv_test_wgmma_64", 64, 128, ProbeRow::Chain},
    {"wgmma n64, 64 steps", "kv_test_wgmma_64", 64, 1024, ProbeRow::Chain},
    {"wgmma n8, 64 steps", "kv_test_wgmma_8", 8, 1024, ProbeRow::Chain},
    {"wgmma n256, 64 steps", "kv_test_wgmma_256", 256, 1024, ProbeRow::Chain},
    {"wgmma of shared memory, 64 steps", "kv_test_wgmma_shared", 64, 1024,
     ProbeRow::Chain},
    {"wgmma n64, operands swapped", "kv_test_wgmma_64", 64, 1024,
     ProbeRow::Transposed},
    {"mma.sync, operands swapped", "kv_test_chain", 64, 1024,
     ProbeRow::Transposed},
};

class Probes final : public Suite {
public:
  explicit Probes(Gpu &gpu) : gpu(gpu) {}

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    for (const ProbeRow &row : ProbeRowTable)
      if (gpu.sm() == 90 || std::string_view(row.kernel) == "kv_test_chain")
        rows.push_back({row.name, 0.5});
    return rows;
  }

  Result run(const std::string &name) override {
    for (const ProbeRow &row : ProbeRowTable)
      if (name == row.name)
        return run(row);
    return Result::failed("there is no such probe");
  }

private:
  Result run(const ProbeRow &row) {
    Probe probe(gpu, row.columns, row.k);
    // Which of a descriptor's two offsets is called leading is itself a
    // question.
    bool swapped = false;
    std::vector<float> got = probe.run(row.kernel);
    if (!probe.isProduct(got)) {
      swapped = true;
      got = probe.run(row.kernel, swapped);
      if (!probe.isProduct(got))
        return Result::failed("the probe's layout is wrong: this is not the "
                              "product");
    }
    std::string note = swapped ? "; the descriptor's offsets are swapped" : "";
    if (row.against == ProbeRow::Chain) {
      std::vector<float> chain = probe.run("kv_test_chain");
      if (!probe.isProduct(chain))
        return Result::failed("mma.sync's chain is not the product");
      return {true, compareBits(chain, got) + note};
    }
    std::vector<float> other = probe.run(row.kernel, swapped, true),
                       turned(other.size());
    for (int i = 0; i < ProbeRows; ++i)
      for (int j = 0; j < row.columns; ++j)
        turned[i * row.columns + j] = other[j * row.columns + i];
    return {true, compareBits(got, turned) + note};
  }

  Gpu &gpu;
};

} // namespace

std::unique_ptr<Suite> kv::cuda::test::makeProbes(Gpu &gpu) {
  return std::make_unique<Probes>(gpu);
}
