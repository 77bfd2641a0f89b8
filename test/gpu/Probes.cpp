//===- Probes.cpp - mma.sync beside what few chips have -------------------===//
//
// And how many bits of a sum each of them keeps, of bf16 and of f8E4M3FN. What
// is published of the chips (FusedSum.h) is said where a GPU has it otherwise.
//
//===----------------------------------------------------------------------===//

#include "Probes.h"
#include "Step.h"
#include "Suite.h"
#include "test/kernels/Backend.h"
#include "test/kernels/attention/EightBits.h"

#include <cmath>
#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// What is multiplied: elements of which two or one have 16 bits.
bool isOfBytes(std::string_view kernel) { return kernel.ends_with("_e4m3"); }
const char *chainFor(std::string_view kernel) {
  return isOfBytes(kernel) ? "kv_test_chain_e4m3" : "kv_test_chain";
}

/// How a kernel's chip is known to sum. That differs for the same kernel on
/// several chips, but not by the bits of its results.
FusedSum publishedSum(std::string_view kernel) {
  bool isGroups = kernel.starts_with("kv_test_wgmma");
  return fusedSumOf(
      isGroups ? 90 : 120,
      isGroups ? MatrixInstruction::Wgmma : MatrixInstruction::Mma,
      isOfBytes(kernel) ? MatrixElement::F8E4M3 : MatrixElement::Bf16);
}
/// Whether it has the bits of mma.sync's chain, or of its own product of
/// swapped operands.
bool hasPublishedBits(std::string_view kernel) { return !isOfBytes(kernel); }

/// a [rows][k] and the transpose of b [columns][k], k in steps of 16 bits, and
/// their product by one of the kernels.
class Probe {
public:
  Probe(Gpu &gpu, int columns, int k, bool bytes)
      : gpu(gpu), buffers(gpu), columns(columns), pairs(k),
        k(bytes ? k * 2 : k), bytes(bytes) {
    int32_t type = bytes ? KV_DTYPE_F8E4M3FN : KV_DTYPE_BF16;
    a = {nullptr, int64_t(ProbeRows) * this->k, int64_t(1) << 40, 3, type, 0};
    b = {nullptr, int64_t(columns) * this->k, int64_t(1) << 40, 4, type, 0};
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
                  pairs,
                  swapDescriptor};
    gpu.launch(kernel, 1, &p);
    gpu.copyOut(out.data(), p.out, out.size() * 4);
    return out;
  }

  /// Whether these are the sums, but for their rounding.
  bool isProduct(const std::vector<float> &out, const FusedSum &fused) const {
    std::vector<float> terms(k);
    for (int row = 0; row < ProbeRows; ++row)
      for (int column = 0; column < columns; ++column) {
        double sum = 0, size = 0;
        for (int i = 0; i < k; ++i) {
          terms[i] = element(a, int64_t(row) * k + i) *
                     element(b, int64_t(column) * k + i);
          sum += terms[i];
          size += std::fabs(terms[i]);
        }
        double most = size * 1e-5 + 1e-6;
        addLosses(fused, terms, 1, &most);
        if (!(std::fabs(out[row * columns + column] - sum) <= most))
          return false;
      }
    return true;
  }

private:
  float element(const NoiseParams &p, int64_t i) const {
    float x = noiseAt(p, i);
    return bytes ? widen(narrow<F8E4M3>(x)) : widen(narrow<Bf16>(x));
  }

  Gpu &gpu;
  Buffers buffers;
  NoiseParams a, b;
  int columns, pairs, k;
  bool bytes;
};

/// One product of 2^16 and one of 2^(16 - d) for d of 0 to 23: how many bits of
/// the sum there are, the larger one's first among them. `apart`: the smaller
/// one is in the step before.
template <class T>
int bitsOfSum(Gpu &gpu, const char *kernel, bool swapped, bool apart) {
  constexpr int Columns = 64, Step = 32 / sizeof(T);
  int k = apart ? 2 * Step : Step, large = apart ? Step : 1;
  std::vector<T> a(ProbeRows * k, narrow<T>(0)), b(Columns * k, narrow<T>(0));
  for (int i = 0; i < ProbeRows; ++i) {
    a[i * k + large] = narrow<T>(256);
    a[i * k] = narrow<T>(std::exp2(float(8 - i % 8)));
  }
  for (int i = 0; i < Columns; ++i) {
    b[i * k + large] = narrow<T>(256);
    b[i * k] = narrow<T>(std::exp2(float(8 - i % 3 * 8)));
  }
  Buffers buffers(gpu);
  std::vector<float> out(ProbeRows * Columns);
  ProbeParams p{reinterpret_cast<const uint16_t *>(buffers.copyOf(a)),
                reinterpret_cast<const uint16_t *>(buffers.copyOf(b)),
                static_cast<float *>(buffers.make(out.size() * 4, 0xff)),
                Columns,
                k * int(sizeof(T)) / 2,
                swapped};
  gpu.launch(kernel, 1, &p);
  gpu.copyOut(out.data(), p.out, out.size() * 4);
  int bits = 0;
  while (bits < 24 && out[bits % 8 * Columns + bits / 8] > 65536)
    ++bits;
  return bits;
}

/// "equal bits" or how many differ, and whether that is as published.
std::string compareBits(const std::vector<float> &x,
                        const std::vector<float> &y, bool published) {
  size_t differ = 0;
  for (size_t i = 0; i < x.size(); ++i)
    differ += bitsAs<uint32_t>(x[i]) != bitsAs<uint32_t>(y[i]);
  std::string text = differ ? std::to_string(differ) + " of " +
                                  std::to_string(x.size()) + " differ"
                            : "equal bits";
  if (published != (differ == 0))
    text += published ? "; published: equal bits" : "; published: they differ";
  return text;
}

struct ProbeRow {
  const char *name;
  const char *kernel;
  int columns, k;
  enum { Chain, Transposed, Bits } against;
};

/// Compared with mma.sync's chain on the same numbers; or with its own product
/// of swapped operands; or asked for the bits of its sums.
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
    {"tensor memory, 128 rows, one step", "kv_test_tensor_128", 64, 16,
     ProbeRow::Chain},
    {"tensor memory, 128 rows, 8 steps", "kv_test_tensor_128", 64, 128,
     ProbeRow::Chain},
    {"tensor memory, 128 rows, 64 steps", "kv_test_tensor_128", 64, 1024,
     ProbeRow::Chain},
    {"tensor memory, 64 rows, 64 steps", "kv_test_tensor_64", 64, 1024,
     ProbeRow::Chain},
    {"tensor memory, operands swapped", "kv_test_tensor_64", 64, 1024,
     ProbeRow::Transposed},
    {"e4m3 wgmma n64, one step", "kv_test_wgmma_e4m3", 64, 16, ProbeRow::Chain},
    {"e4m3 wgmma n64, 4 steps", "kv_test_wgmma_e4m3", 64, 64, ProbeRow::Chain},
    {"bits of a sum, mma.sync", "kv_test_chain", 64, 64, ProbeRow::Bits},
    {"bits of a sum, wgmma", "kv_test_wgmma_64", 64, 64, ProbeRow::Bits},
    {"bits of a sum, tensor memory", "kv_test_tensor_128", 64, 64,
     ProbeRow::Bits},
    {"bits of a sum, e4m3 mma.sync", "kv_test_chain_e4m3", 64, 64,
     ProbeRow::Bits},
    {"bits of a sum, e4m3 wgmma", "kv_test_wgmma_e4m3", 64, 64, ProbeRow::Bits},
};

class Probes final : public Suite {
public:
  explicit Probes(Gpu &gpu) : gpu(gpu) {}

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    for (const ProbeRow &row : ProbeRowTable)
      if (canRun(row.kernel))
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
    bool bytes = isOfBytes(row.kernel);
    Probe probe(gpu, row.columns, row.k, bytes);
    // Which of a descriptor's two offsets is called leading is itself a
    // question.
    bool swapped = false;
    std::vector<float> got = probe.run(row.kernel);
    const FusedSum fused = publishedSum(row.kernel);
    if (!probe.isProduct(got, fused)) {
      swapped = true;
      got = probe.run(row.kernel, swapped);
      if (!probe.isProduct(got, fused))
        return Result::failed("the probe's layout is wrong: this is not the "
                              "product");
    }
    std::string note = swapped ? "; the descriptor's offsets are swapped" : "";
    if (row.against == ProbeRow::Bits) {
      auto bits = [&](bool apart) {
        return bytes ? bitsOfSum<F8E4M3>(gpu, row.kernel, swapped, apart)
                     : bitsOfSum<Bf16>(gpu, row.kernel, swapped, apart);
      };
      int within = bits(false), before = bits(true), published = fused.kept + 1;
      if (within != published || before != published)
        note += "; published: " + std::to_string(published) + " of both";
      return {true, std::to_string(within) + " beside a product of its step, " +
                        std::to_string(before) + " of the sum before it" +
                        note};
    }
    if (row.against == ProbeRow::Chain) {
      std::vector<float> chain = probe.run(chainFor(row.kernel));
      if (!probe.isProduct(chain, publishedSum(chainFor(row.kernel))))
        return Result::failed("mma.sync's chain is not the product");
      return {true,
              compareBits(chain, got, hasPublishedBits(row.kernel)) + note};
    }
    std::vector<float> other = probe.run(row.kernel, swapped, true),
                       turned(other.size());
    for (int i = 0; i < ProbeRows; ++i)
      for (int j = 0; j < row.columns; ++j)
        turned[i * row.columns + j] = other[j * row.columns + i];
    return {true, compareBits(got, turned, /*published=*/true) + note};
  }

  Gpu &gpu;
};

} // namespace

std::unique_ptr<Suite> kv::cuda::test::makeProbes(Gpu &gpu) {
  return std::make_unique<Probes>(gpu);
}
