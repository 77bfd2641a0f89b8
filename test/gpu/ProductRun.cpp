//===- ProductRun.cpp - The runtime's products on a GPU -------------------===//

#include "ProductRun.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

static const char *typeName(KvDType type) {
  return type == KV_DTYPE_BF16 ? "bf16" : type == KV_DTYPE_F16 ? "f16" : "f32";
}

std::string ProductShape::name() const {
  return std::string("product ") + typeName(type) + " to " + typeName(outType) +
         " n " + std::to_string(n) + " k " + std::to_string(k);
}

Expected<std::unique_ptr<ProductRun>>
ProductRun::create(Gpu &gpu, const ProductShape &shape, int64_t rows,
                   bool deterministic) {
  std::unique_ptr<ProductRun> made(new ProductRun(gpu, shape));
  auto backend = Backend::open(0);
  if (!backend)
    return std::unexpected(backend.error());
  made->backend = std::move(*backend);
  auto matmuls = Matmuls::create(*made->backend, deterministic);
  if (!matmuls)
    return std::unexpected(matmuls.error());
  made->matmuls.emplace(std::move(*matmuls));
  int32_t type = shape.type;
  made->x = {nullptr, rows * shape.k, PeriodRows * shape.k, 5, type, 0};
  made->weight = {nullptr, shape.n * shape.k, shape.n * shape.k, 6, type, 0};
  made->buffers.makeNoise(made->x);
  made->buffers.makeNoise(made->weight);
  made->out = made->buffers.make(rows * shape.n * made->outBytes(), 0xff);
  gpu.synchronize();
  return made;
}

Expected<void> ProductRun::queue(int64_t m) {
  return matmuls->multiply({x.out, weight.out, out, m, shape.n, shape.k,
                            shape.k, shape.k, shape.n, shape.type,
                            shape.outType});
}

Expected<void> ProductRun::run(int64_t m) {
  gpu.fill(out, 0xff, m * shape.n * outBytes());
  gpu.synchronize();
  if (Expected<void> queued = queue(m); !queued)
    return queued;
  return backend->synchronize();
}

Expected<double> ProductRun::time(int64_t m, int repeats) {
  if (Expected<void> warm = run(m); !warm)
    return std::unexpected(warm.error());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    if (Expected<void> queued = queue(m); !queued)
      return std::unexpected(queued.error());
  if (Expected<void> done = backend->synchronize(); !done)
    return std::unexpected(done.error());
  std::chrono::duration<double, std::milli> passed =
      std::chrono::steady_clock::now() - begin;
  return passed.count() / repeats;
}

std::vector<char> ProductRun::read(int64_t m) const {
  std::vector<char> data(m * shape.n * outBytes());
  gpu.copyOut(data.data(), out, data.size());
  return data;
}

std::string ProductRun::checkSamples(int64_t m) const {
  std::vector<char> data = read(m);
  std::string why;
  withElement(shape.type, [&]<class T>(T) {
    withElement(shape.outType, [&]<class Out>(Out) {
      std::mt19937 random(11);
      for (int sample = 0; sample < 200 && why.empty(); ++sample) {
        int64_t row = random() % m, column = random() % shape.n;
        double sum = 0, size = 0;
        for (int64_t i = 0; i < shape.k; ++i) {
          double product =
              double(widen(narrow<T>(noiseAt(x, row * shape.k + i)))) *
              widen(narrow<T>(noiseAt(weight, column * shape.k + i)));
          sum += product;
          size += std::fabs(product);
        }
        Out element;
        std::memcpy(&element, &data[(row * shape.n + column) * sizeof(Out)],
                    sizeof(Out));
        double unit = sizeof(Out) == 4           ? 0
                      : std::is_same_v<Out, F16> ? 0x1p-10
                                                 : 0x1p-7;
        double got = widen(element);
        if (!(std::fabs(got - sum) <= unit * std::fabs(sum) + 1e-5 * size))
          why = "row " + std::to_string(row) + " of " + std::to_string(m) +
                ", column " + std::to_string(column) + " is " +
                std::to_string(got) + ", expected " + std::to_string(sum);
      }
    });
  });
  return why;
}
