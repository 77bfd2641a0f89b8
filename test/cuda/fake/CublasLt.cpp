//===- CublasLt.cpp - cuBLASLt's functions --------------------------------===//
//
// By the symbols of runtime/cuda/driver/CublasLt.def. An algorithm is a number
// of parts that a sum over k is split into: one where reductions are excluded,
// else two for few columns, so that a caller who lets m choose can see its bits
// change.
//
//===----------------------------------------------------------------------===//

#include "State.h"
#include "kernels/block/Numbers.h"
#include "runtime/cuda/driver/Driver.h"

#include <cstring>

using namespace kv::fake;
namespace lt = kv::cuda::driver;
using kv::cuda::Bf16;
using kv::cuda::F16;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int InvalidArgument = 7, NotSupported = 15;
constexpr uint64_t Magic = 0x6b766c74;

struct FakeLayout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t batchStride = 0;
};
struct FakeDescriptor {
  int32_t transposed = 0;
};
struct FakePreference {
  size_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

size_t elementBytes(int type) { return type == lt::TypeF32 ? 4 : 2; }

float loadElement(const void *data, int type, int64_t at) {
  if (type == lt::TypeBf16)
    return kv::cuda::widen(static_cast<const Bf16 *>(data)[at]);
  if (type == lt::TypeF16)
    return kv::cuda::widen(static_cast<const F16 *>(data)[at]);
  return static_cast<const float *>(data)[at];
}

void storeElement(void *data, int type, int64_t at, float value) {
  if (type == lt::TypeBf16)
    static_cast<Bf16 *>(data)[at] = kv::cuda::narrow<Bf16>(value);
  else if (type == lt::TypeF16)
    static_cast<F16 *>(data)[at] = kv::cuda::narrow<F16>(value);
  else
    static_cast<float *>(data)[at] = value;
}

/// d = transpose(a) * b, all column-major.
void multiply(const void *a, const FakeLayout &la, const void *b,
              const FakeLayout &lb, void *d, const FakeLayout &ld,
              uint64_t parts) {
  // Widened once: a test's products are small, but not that small.
  std::vector<float> left(la.rows * la.columns), right(la.rows);
  for (uint64_t i = 0; i < la.columns; ++i)
    for (uint64_t k = 0; k < la.rows; ++k)
      left[i * la.rows + k] = loadElement(a, la.type, i * la.leading + k);
  for (uint64_t j = 0; j < lb.columns; ++j) {
    for (uint64_t k = 0; k < lb.rows; ++k)
      right[k] = loadElement(b, lb.type, j * lb.leading + k);
    for (uint64_t i = 0; i < la.columns; ++i) {
      float total = 0;
      for (uint64_t part = 0; part < parts; ++part) {
        float sum = 0;
        for (uint64_t k = part * la.rows / parts;
             k < (part + 1) * la.rows / parts; ++k)
          sum += left[i * la.rows + k] * right[k];
        total += sum;
      }
      storeElement(d, ld.type, j * ld.leading + i, total);
    }
  }
}

/// The bytes from a matrix's first element to its last.
size_t extent(const FakeLayout &layout) {
  if (layout.rows == 0 || layout.columns == 0)
    return 0;
  return ((layout.columns - 1) * layout.leading + layout.rows +
          (layout.batch - 1) * layout.batchStride) *
         elementBytes(layout.type);
}

} // namespace

EXPORT int cublasLtCreate(void **handle) {
  *handle = new int;
  return 0;
}
EXPORT int cublasLtDestroy(void *handle) {
  delete static_cast<int *>(handle);
  return 0;
}
EXPORT int cublasLtMatmulDescCreate(void **descriptor, int compute, int scale) {
  if (compute != lt::ComputeF32 || scale != lt::TypeF32)
    return NotSupported;
  *descriptor = new FakeDescriptor;
  return 0;
}
EXPORT int cublasLtMatmulDescDestroy(void *descriptor) {
  delete static_cast<FakeDescriptor *>(descriptor);
  return 0;
}
EXPORT int cublasLtMatmulDescSetAttribute(void *descriptor, int attribute,
                                          const void *value, size_t bytes) {
  if (attribute != lt::DescriptorTransA || bytes != sizeof(int32_t))
    return InvalidArgument;
  std::memcpy(&static_cast<FakeDescriptor *>(descriptor)->transposed, value,
              bytes);
  return 0;
}
EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  *layout = new FakeLayout{type, rows, columns, leading};
  return 0;
}
EXPORT int cublasLtMatrixLayoutDestroy(void *layout) {
  delete static_cast<FakeLayout *>(layout);
  return 0;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute,
                                            const void *value, size_t bytes) {
  auto *to = static_cast<FakeLayout *>(layout);
  if (attribute == lt::LayoutBatch && bytes == sizeof to->batch) {
    std::memcpy(&to->batch, value, bytes);
    return 0;
  }
  if (bytes != 8)
    return InvalidArgument;
  if (attribute == lt::LayoutBatchStride)
    std::memcpy(&to->batchStride, value, bytes);
  else if (attribute == lt::LayoutColumns)
    std::memcpy(&to->columns, value, bytes);
  else if (attribute == lt::LayoutLeading)
    std::memcpy(&to->leading, value, bytes);
  else
    return InvalidArgument;
  return 0;
}
EXPORT int cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = new FakePreference;
  return 0;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void *preference) {
  delete static_cast<FakePreference *>(preference);
  return 0;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute,
                                                const void *value,
                                                size_t bytes) {
  auto *to = static_cast<FakePreference *>(preference);
  int matrix = attribute - lt::PreferenceAlignmentA;
  if (attribute == lt::PreferenceWorkspace && bytes == sizeof to->workspace)
    std::memcpy(&to->workspace, value, bytes);
  else if (attribute == lt::PreferenceReductions &&
           bytes == sizeof to->reductions)
    std::memcpy(&to->reductions, value, bytes);
  else if (matrix >= 0 && matrix < 4 && bytes == sizeof(uint32_t))
    std::memcpy(&to->alignment[matrix], value, bytes);
  else
    return InvalidArgument;
  return 0;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *a, void *b,
                                          void *, void *, void *preference,
                                          int wanted, lt::Heuristic *found,
                                          int *count) {
  State &state = State::get();
  ++state.counters.heuristics;
  state.trace("heuristic");
  auto &given = *static_cast<FakePreference *>(preference);
  auto &right = *static_cast<FakeLayout *>(b);
  *count = wanted > 0;
  if (wanted < 1)
    return InvalidArgument;
  *found = {};
  uint64_t parts = given.reductions && right.columns <= 16 ? 2 : 1;
  found->algorithm.data[0] = Magic;
  found->algorithm.data[1] = parts;
  found->algorithm.data[2] = static_cast<FakeLayout *>(a)->rows;
  found->algorithm.data[3] = given.alignment[0];
  // The parts of split sums lie in the workspace: more columns, more of it.
  found->algorithm.data[4] = given.reductions ? right.columns : UINT64_MAX;
  found->workspaceBytes = given.workspace;
  return 0;
}

EXPORT int cublasLtMatmul(void *, void *descriptor, const void *alpha,
                          const void *a, void *la, const void *b, void *lb,
                          const void *beta, const void *c, void *lc, void *d,
                          void *ld, const lt::Algorithm *algorithm,
                          void *workspace, size_t workspaceBytes,
                          void *stream) {
  State &state = State::get();
  auto &left = *static_cast<FakeLayout *>(la);
  auto &right = *static_cast<FakeLayout *>(lb);
  auto &out = *static_cast<FakeLayout *>(ld);
  auto wrong = [&](std::string what) {
    state.problem(InvalidValue, "cublasLtMatmul: " + what);
    return InvalidArgument;
  };
  float one, zero;
  std::memcpy(&one, alpha, sizeof one);
  std::memcpy(&zero, beta, sizeof zero);
  if (state.checkStream("cublasLtMatmul", stream))
    return InvalidArgument;
  if (one != 1 || zero != 0 || c != d || lc != ld ||
      static_cast<FakeDescriptor *>(descriptor)->transposed != lt::Transposed)
    return wrong("it is asked for something else than a product");
  if (left.rows != right.rows || out.rows != left.columns ||
      out.columns != right.columns || left.type != right.type ||
      left.batch != right.batch || out.batch != right.batch)
    return wrong("the shapes or types do not fit");
  if (!algorithm || algorithm->data[0] != Magic ||
      algorithm->data[2] != left.rows)
    return wrong("the algorithm is of another product");
  if (right.columns > algorithm->data[4])
    return wrong("the algorithm was chosen for fewer columns");
  if (!state.memory.holds(workspace, workspaceBytes))
    return wrong("the workspace is not device memory");
  for (const void *data : {a, b, static_cast<const void *>(d)})
    if (reinterpret_cast<uintptr_t>(data) % algorithm->data[3])
      return wrong("an operand is not aligned as the algorithm needs");
  ++state.counters.products;
  state.trace("product " + std::to_string(right.columns) + " " +
              std::to_string(left.columns) + " " + std::to_string(left.rows));
  // The layouts are the caller's, who may change them.
  state.enqueue(stream, [=, left = left, right = right, out = out,
                         parts = algorithm->data[1], &state] {
    if (!state.memory.holds(a, extent(left)) ||
        !state.memory.holds(b, extent(right)) ||
        !state.memory.holds(d, extent(out)))
      return state.problem(LaunchFailed, "cublasLtMatmul leaves device memory");
    auto matrix = [](const void *data, const FakeLayout &layout, int i) {
      return static_cast<const char *>(data) +
             i * layout.batchStride * int64_t(elementBytes(layout.type));
    };
    for (int i = 0; i < out.batch; ++i)
      multiply(matrix(a, left, i), left, matrix(b, right, i), right,
               const_cast<char *>(matrix(d, out, i)), out, parts);
    return Success;
  });
  return 0;
}
