//===- Variants.h - Every attention kernel by its properties ----*- C++ -*-===//

#ifndef KV_TEST_KERNELS_VARIANTS_H
#define KV_TEST_KERNELS_VARIANTS_H

#include "AttentionCase.h"

namespace kv::cuda::test {

enum class CacheType { Bf16, F16, F8 };

struct Variant {
  CacheType type;
  int dim;
  bool prefill;
};

/// Runs a case and compares it with the truth.
::testing::AssertionResult check(const Variant &variant,
                                 const AttentionCase &c);

template <class Query, class Cache>
::testing::AssertionResult checkTyped(const Variant &variant,
                                      const AttentionCase &c) {
  auto with = [&]<class Config>() {
    AttentionFixture<Config> fixture(c);
    return fixture.check(fixture.run());
  };
  switch (variant.dim + variant.prefill) {
  case 64:
    return with.template operator()<DecodeConfig<Query, Cache, 64>>();
  case 65:
    return with.template operator()<PrefillConfig<Query, Cache, 64>>();
  case 128:
    return with.template operator()<DecodeConfig<Query, Cache, 128>>();
  case 129:
    return with.template operator()<PrefillConfig<Query, Cache, 128>>();
  case 256:
    return with.template operator()<DecodeConfig<Query, Cache, 256>>();
  default:
    return with.template operator()<PrefillConfig<Query, Cache, 256>>();
  }
}

// One source file each.
::testing::AssertionResult checkBf16(const Variant &, const AttentionCase &);
::testing::AssertionResult checkF16(const Variant &, const AttentionCase &);
::testing::AssertionResult checkF8(const Variant &, const AttentionCase &);

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_VARIANTS_H
