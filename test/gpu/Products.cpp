//===- Products.cpp - Whether a product's rows depend on each other -------===//
//
// Deterministic products choose an algorithm for 64 rows and use it for any
// number (runtime/cuda/Matmul.cpp). Here is asked whether cuBLASLt takes that,
// and whether a row then has the same bits whatever is beside it.
//
//===----------------------------------------------------------------------===//

#include "ProductRun.h"
#include "Suite.h"

#include <cstring>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

class Products final : public Suite {
public:
  Products(Gpu &gpu, const SuiteOptions &options) : gpu(gpu) {
    KvDType bf16 = KV_DTYPE_BF16, f16 = KV_DTYPE_F16, f32 = KV_DTYPE_F32;
    if (options.small) {
      counts = {1, 7, 64, 65, 130};
      shapes = {{bf16, bf16, 48, 64}, {f16, f32, 40, 96}};
      return;
    }
    counts = {1, 7, 16, 63, 64, 65, 128, 1000, 4096, 8192};
    shapes = {{bf16, bf16, 4096, 4096},  {bf16, bf16, 6144, 4096},
              {bf16, bf16, 14336, 4096}, {bf16, bf16, 4096, 14336},
              {bf16, f32, 32000, 4096},  {bf16, bf16, 576, 576},
              {f16, f16, 4096, 4096},    {f16, f32, 4096, 4096}};
  }

  std::vector<Row> rows() override {
    std::vector<Row> rows;
    for (const ProductShape &shape : shapes)
      rows.push_back(
          {shape.name(), 1 + 1e-9 * double(counts.back()) * shape.n * 10});
    return rows;
  }

  Result run(const std::string &row) override {
    for (const ProductShape &shape : shapes)
      if (shape.name() == row)
        return run(shape);
    return Result::failed("there is no such product");
  }

private:
  Result run(const ProductShape &shape) {
    auto made = ProductRun::create(gpu, shape, counts.back(), true);
    if (!made)
      return Result::failed(made.error().message);
    ProductRun &product = **made;
    constexpr int64_t Period = ProductRun::PeriodRows;
    if (auto done = product.run(Period); !done)
      return Result::failed(done.error().message);
    std::vector<char> expected = product.read(Period);
    for (int64_t m : counts) {
      if (auto done = product.run(m); !done)
        return Result::failed(std::to_string(m) +
                              " rows: " + done.error().message);
      if (std::string why = product.checkSamples(m); !why.empty())
        return Result::failed(why);
      std::vector<char> got = product.read(m);
      size_t bytes = got.size() / m;
      for (int64_t r = 0; r < m; ++r)
        if (std::memcmp(&got[r * bytes], &expected[r % Period * bytes], bytes))
          return Result::failed("row " + std::to_string(r) + " of " +
                                std::to_string(m) +
                                " has other bits than among 64 rows");
    }
    return {};
  }

  Gpu &gpu;
  std::vector<int64_t> counts;
  std::vector<ProductShape> shapes;
};

} // namespace

std::unique_ptr<Suite>
kv::cuda::test::makeProducts(Gpu &gpu, const SuiteOptions &options) {
  return std::make_unique<Products>(gpu, options);
}
