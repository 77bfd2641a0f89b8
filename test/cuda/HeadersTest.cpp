//===- HeadersTest.cpp - Our declarations against CUDA's own --------------===//
//
// Compiled where the headers are. Function types are compared by their shape:
// the size of every parameter, and whether it is a pointer.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/driver/Nccl.h"

#include <cublasLt.h>
#include <cuda.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

#include <gtest/gtest.h>
#include <type_traits>

namespace own = kv::cuda::driver;
namespace nccl = kv::cuda::nccl;

template <class T, class U>
constexpr bool sameParameter =
    sizeof(T) == sizeof(U) && alignof(T) == alignof(U) &&
    std::is_pointer_v<T> == std::is_pointer_v<U>;

template <class F, class G> constexpr bool sameShape = false;
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
constexpr bool sameShape<R (*)(A...), S (*)(B...)> =
    sizeof(R) == sizeof(S) && (sameParameter<A, B> && ...);

#define KV_DRIVER(member, symbol, ...)                                         \
  static_assert(sameShape<decltype(own::Driver::member), decltype(&::symbol)>, \
                #symbol);
#include "runtime/cuda/driver/Driver.def"
#define KV_CUBLASLT(member, symbol, ...)                                       \
  static_assert(                                                               \
      sameShape<decltype(own::CublasLt::member), decltype(&::symbol)>,         \
      #symbol);
#include "runtime/cuda/driver/CublasLt.def"

#define KV_SAME(OWN, CUDAS)                                                    \
  static_assert(static_cast<int64_t>(OWN) == static_cast<int64_t>(CUDAS))
/// A field lies at the same place.
#define KV_SAME_AT(OWN, FIELD, CUDAS, THEIRS)                                  \
  static_assert(offsetof(OWN, FIELD) == offsetof(CUDAS, THEIRS))
KV_SAME(own::AttributeMultiprocessors,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
KV_SAME(own::AttributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
KV_SAME(own::AttributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
KV_SAME(own::AttributeSharedBytes,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
KV_SAME(own::FunctionSharedBytes,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
KV_SAME(own::AttributeBlocks,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
KV_SAME(own::FunctionCarveout,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
KV_SAME(own::CaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
KV_SAME(own::StreamNonBlocking, CU_STREAM_NON_BLOCKING);
KV_SAME(own::EventNoTiming, CU_EVENT_DISABLE_TIMING);
KV_SAME(own::HostPortable, CU_MEMHOSTALLOC_PORTABLE);
KV_SAME(own::SourceInStreamOrder, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
KV_SAME(own::TensorUint16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
KV_SAME(own::TensorPlain, CU_TENSOR_MAP_INTERLEAVE_NONE);
KV_SAME(own::TensorNoSwizzle, CU_TENSOR_MAP_SWIZZLE_NONE);
KV_SAME(own::TensorSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
KV_SAME(own::TensorFetch256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
KV_SAME(own::TensorZeros, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(sizeof(own::TensorMapWords) == sizeof(CUtensorMap) &&
              alignof(own::TensorMapWords) == alignof(CUtensorMap));
static_assert(sizeof(own::CopyAttributes) == sizeof(CUmemcpyAttributes));
KV_SAME_AT(own::CopyAttributes, source, CUmemcpyAttributes, srcLocHint);
KV_SAME_AT(own::CopyAttributes, target, CUmemcpyAttributes, dstLocHint);
KV_SAME_AT(own::CopyAttributes, flags, CUmemcpyAttributes, flags);

KV_SAME(own::LaunchMayBeginEarly,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
KV_SAME(own::LaunchClusters, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
KV_SAME_AT(own::LaunchAttribute, value, CUlaunchAttribute, value.clusterDim.x);
static_assert(sizeof(own::LaunchAttribute) == sizeof(CUlaunchAttribute));
KV_SAME_AT(own::LaunchAttribute, value, CUlaunchAttribute,
           value.programmaticStreamSerializationAllowed);
static_assert(sizeof(own::LaunchConfig) == sizeof(CUlaunchConfig));
KV_SAME_AT(own::LaunchConfig, sharedBytes, CUlaunchConfig, sharedMemBytes);
KV_SAME_AT(own::LaunchConfig, stream, CUlaunchConfig, hStream);
KV_SAME_AT(own::LaunchConfig, attributes, CUlaunchConfig, attrs);
KV_SAME_AT(own::LaunchConfig, count, CUlaunchConfig, numAttrs);

static_assert(sizeof(own::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(own::Heuristic) ==
              sizeof(cublasLtMatmulHeuristicResult_t));
KV_SAME_AT(own::Heuristic, workspaceBytes, cublasLtMatmulHeuristicResult_t,
           workspaceSize);
KV_SAME_AT(own::Heuristic, state, cublasLtMatmulHeuristicResult_t, state);
KV_SAME(own::TypeF32, CUDA_R_32F);
KV_SAME(own::TypeF16, CUDA_R_16F);
KV_SAME(own::TypeBf16, CUDA_R_16BF);
KV_SAME(own::ComputeF32, CUBLAS_COMPUTE_32F);
KV_SAME(own::Transposed, CUBLAS_OP_T);
KV_SAME(own::DescriptorTransA, CUBLASLT_MATMUL_DESC_TRANSA);
KV_SAME(own::LayoutColumns, CUBLASLT_MATRIX_LAYOUT_COLS);
KV_SAME(own::LayoutLeading, CUBLASLT_MATRIX_LAYOUT_LD);
KV_SAME(own::PreferenceWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
KV_SAME(own::PreferenceReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
KV_SAME(own::PreferenceAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
KV_SAME(own::PreferenceAlignmentA + 3,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

#if __has_include(<nccl.h>)
#define KV_NCCL(result, member, symbol, ...)                                   \
  static_assert(sameShape<decltype(nccl::Nccl::member), decltype(&::symbol)>,  \
                #symbol);
#include "runtime/cuda/driver/Nccl.def"
KV_SAME(nccl::InProgress, ncclInProgress);
KV_SAME(nccl::Int8, ncclInt8);
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
KV_SAME_AT(nccl::CommConfig, magic, ncclConfig_t, magic);
KV_SAME_AT(nccl::CommConfig, version, ncclConfig_t, version);
KV_SAME_AT(nccl::CommConfig, blocking, ncclConfig_t, blocking);

TEST(Headers, NcclConfig) {
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  nccl::CommConfig ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_LE(ours.version, theirs.version);
  EXPECT_LT(ours.size, theirs.size);
}
#endif
